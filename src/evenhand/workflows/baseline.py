"""Runs pinned under a name, for others to be compared with."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.store.store import Store
from evenhand.workflows.stores import with_opened_user_store


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A name and the run that it stands for."""

    name: str
    run: str
    eval: str
    at: str  # When it was set.
    imported: bool = False  # Whether the run was made elsewhere.


@with_opened_user_store
def set_baseline(store: Store, name: str, run: str) -> tuple[str, str | None]:
    """Pin a finished run under a name: the run that it stands for now, and the one before."""
    before = store.set_baseline(name, store.find_run(run)["id"])
    return store.find_baseline(name)["run"], before


@with_opened_user_store
def list_baselines(store: Store) -> list[Baseline]:
    """All of them, by name."""
    found = [(row, store.find_run(row["run"])) for row in store.rows.list_baselines()]
    return [
        Baseline(name=row["name"], run=run["id"], eval=run["name"], at=row["at"], imported=run["imported"] is not None)
        for row, run in found
    ]


@with_opened_user_store
def remove_baseline(store: Store, name: str) -> str:
    """Take a name away; the run that had it stays."""
    return store.remove_baseline(name)
