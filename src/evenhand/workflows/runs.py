"""Housekeeping of stored runs: listed, shown, exported, imported with every row checked, and deleted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, Literal

from evenhand.errors import Fault, InputError, StoreError, make_unwritable_file_error, mark_errors_about_imports
from evenhand.files.private_files import open_private_bytes_file
from evenhand.runs.run_record import find_kept_result_composite
from evenhand.store.rows import Row
from evenhand.store.run_rows import CollectedRuns
from evenhand.store.store import Store
from evenhand.workflows.imported_runs import check_run_imported_by_user
from evenhand.workflows.report import load_run_report
from evenhand.workflows.run_batches import describe_run_batches
from evenhand.workflows.stores import StoreLike, open_user_store, refuse_run_kept_aside, with_opened_user_store

Json = dict[str, Any]
RunOrder = Literal["newest", "composite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRunListing:
    """One run in a list of them."""

    id: str
    name: str
    state: str
    started: str
    samples: int | None
    variants: tuple[str, ...]
    composites: Mapping[str, float | None]  # By variant.
    layers: tuple[str, ...]  # Those that the composites are of.
    computed: str  # How the composites were computed from them.
    verdict: str | None
    fingerprint: str
    selection: Json | None = None  # Which samples it was told to take; None for all.
    imported: bool = False  # Whether it was made elsewhere.
    batches: int = 0  # That are under way at its providers.

    @property
    def comparable_group(self) -> tuple[object, ...]:
        """Equal for runs whose composites can be ranked: of one eval, scored in one way, over the same selection."""
        return self.name, self.fingerprint, self.layers, json.dumps(self.selection, sort_keys=True)

    @property
    def best_composite(self) -> float:
        """The highest of its variants, by which runs are ranked; below all others where there is none."""
        return max((one for one in self.composites.values() if one is not None), default=-inf)


@with_opened_user_store
def list_runs(store: Store, name: str | None = None, *, sort: RunOrder = "newest") -> list[UserRunListing]:
    """All runs, or those of one eval: the newest first, or those whose best variant has the highest composite.

    By composite, runs that can be compared stand together, and those with the highest one come first.
    """
    live = store.batches.count_live()
    listed = [load_run_listing(row, held=store.is_run_held(row)) for row in store.list_runs(name)]
    found = [replace(one, batches=live[one.id].batches) if one.id in live else one for one in listed]
    if sort == "newest":
        return found
    groups: dict[tuple[object, ...], list[UserRunListing]] = {}
    for one in sorted(found, key=lambda one: -one.best_composite):
        groups.setdefault(one.comparable_group, []).append(one)
    return [one for several in groups.values() for one in several]


@with_opened_user_store
def find_run_listing(store: Store, run: str) -> UserRunListing:
    """One run as a list shows it."""
    row = store.find_run(run)
    return load_run_listing(row, held=store.is_run_held(row))


def load_run_listing(row: Row, *, held: bool) -> UserRunListing:
    """A row that says running and that no process works on was killed; one that cannot be read says so."""
    try:
        return _read_user_run_listing(row, held=held)
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
        return UserRunListing(
            id=row["id"],
            name=row["name"],
            state="unreadable",
            started=row["started"],
            samples=None,
            variants=(),
            composites={},
            layers=(),
            computed="",
            verdict=None,
            fingerprint=row["fingerprint"],
            imported=row["imported"] is not None,
        )


def _read_user_run_listing(row: Row, *, held: bool) -> UserRunListing:
    summary = json.loads(row["summary"]) if row["summary"] else None
    variants = summary["variants"] if summary else ()
    state = row["state"] if row["state"] != "running" or held else "killed"
    layers, computed = find_kept_result_composite(summary)
    return UserRunListing(
        id=row["id"],
        name=row["name"],
        state=state,
        started=row["started"],
        samples=summary["run"]["samples"] if summary else None,
        variants=tuple(str(one["name"]) for one in variants),
        composites={str(one["name"]): _read_user_run_listing_mean(one.get("composite")) for one in variants},
        layers=layers,
        computed=computed,
        verdict=summary["decision"]["verdict"] if summary and state in ("finished", "stopped") else None,
        fingerprint=row["fingerprint"],
        selection=json.loads(row["setup"]).get("selection"),
        imported=row["imported"] is not None,
    )


def _read_user_run_listing_mean(composite: Json | None) -> float | None:
    mean = composite["mean"] if composite else None
    return None if mean is None else float(mean)


@with_opened_user_store
def load_run_head(store: Store, run: str) -> Json:
    """The head of a run's report, as it was when the run ended."""
    return load_run_report(store, run)[0]


@with_opened_user_store
def describe_run_under_way(store: Store, run: str) -> str:
    """What a run has under way in batches and how to wait for it, in words; "" where nothing is."""
    id = store.find_run(run)["id"]
    waits = describe_run_batches(store, id)
    return f"{waits}; evenhand runs watch {id} waits for them" if waits else ""


@with_opened_user_store
def load_run_setup(store: Store, run: str) -> Json:
    """What a run was told: its eval file, rubrics, prompts, judges, variants."""
    row = store.find_run(run)
    mark = {} if row["imported"] is None else {"imported": row["imported"]}  # As in the head of its report.
    return {**mark, "source": row["source"], **json.loads(row["setup"]), **mark}


@with_opened_user_store
def is_run_imported(store: Store, run: str) -> bool:
    """Whether a run was made elsewhere."""
    return store.find_run(run)["imported"] is not None


@with_opened_user_store
def export_run(store: Store, run: str, output: str | None, stdout: BinaryIO) -> str:
    """Write a run with all that belongs to it to a file, or to standard output; its id."""
    row = store.find_run(run)
    id: str = row["id"]
    refuse_run_kept_aside(row)  # It has replies and no samples: nobody could import it.
    try:
        with nullcontext(stdout) if output is None else open_private_bytes_file(Path(output)) as stream:
            store.export_run(id, stream)
    except OSError as problem:
        raise make_unwritable_file_error(output or "standard output", problem) from None
    return id


def import_run(
    store: StoreLike,
    file: str,
    stdin: BinaryIO | None = None,
    *,
    trust_replies: bool = False,
    baseline: str | None = None,
    show: Callable[[Json], object] | None = None,
) -> str:
    """Take in a run that was exported to a file, or comes on standard input ("-"), as a guest; its id.

    Other runs use its replies only where they are trusted. `baseline` is a name to pin it under. A run that `show`
    cannot show, given the head of its report, is refused.
    """
    try:
        with (
            nullcontext(stdin or BytesIO()) if file == "-" else Path(file).open("rb") as stream,
            open_user_store(store, create=True) as opened,
            mark_errors_about_imports(),  # Apart: a run that is refused is no guest.
        ):
            with opened.begin_transaction() as guarded:  # Nobody sees a run that was not checked, however this ends.
                id = guarded.import_run(stream, trust_replies=trust_replies)
                check_run_imported_by_user(guarded, id, show)
                if baseline is not None:
                    guarded.set_baseline(baseline, id)
            return id
    except OSError as problem:
        raise InputError(Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=file)) from None
    except StoreError as error:
        name = "standard input" if file == "-" else file
        named = (replace(fault, where=name) if fault.where == "the file" else fault for fault in error.faults)
        raise StoreError(*named) from None


def delete_runs(store: StoreLike, runs: Sequence[str], *, pinned: bool = False) -> Iterator[str]:
    """Remove runs with all that belongs to them; the id of each as soon as it is gone. `pinned` takes baselines too."""
    with open_user_store(store) as opened:
        for id in [opened.find_run(run)["id"] for run in runs]:
            opened.delete_run(id, pinned=pinned)
            yield id


@with_opened_user_store
def collect_unfinished_runs(store: Store, days: int) -> CollectedRuns:
    """Remove runs that were never finished and have not moved for so many days, and give back their room."""
    return store.collect_garbage(timedelta(days=days))
