"""Housekeeping of stored contests: listed, loaded and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.store.database import NO_CONTESTS
from evenhand.workflows.contest_log import load_contest_record
from evenhand.workflows.stores import StoreLike, open_user_store

__all__ = ["NO_CONTESTS", "ContestListing", "delete_contests", "list_contests", "load_contest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestListing:
    """One contest in a list of them."""

    id: str
    task: str
    state: str
    winner: str | None
    started: str
    ended: str | None


def list_contests(store: StoreLike, name: str | None = None) -> list[ContestListing]:
    """All contests, or those of one task, newest first."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        listed = []
        for row in opened.contests.list_contests(name):
            running = row["state"] == "running"
            # A row that says running and that no process works on was killed.
            state = "killed" if running and not opened.contests.is_contest_held(row) else row["state"]
            winner = json.loads(row["summary"])["winner"] if row["summary"] and not running else None
            times = {"started": row["started"], "ended": row["ended"]}
            listed.append(ContestListing(id=row["id"], task=row["name"], state=state, winner=winner, **times))
        return listed


def load_contest(store: StoreLike, contest: str) -> dict[str, Any]:
    """The stable JSON of a contest: by its id, the beginning of one, "latest" or "latest:NAME"."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        return load_contest_record(opened, contest)


def delete_contests(store: StoreLike, contests: Sequence[str]) -> Iterator[str]:
    """Remove contests with all that belongs to them; the id of each as soon as it is gone."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        for id in [opened.contests.find_contest(contest)["id"] for contest in contests]:
            opened.contests.delete_contest(id)
            yield id
