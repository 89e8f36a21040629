"""Housekeeping of stored runs: listed, shown, exported, imported with every row checked, and deleted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from io import BytesIO, StringIO
from itertools import islice
from math import inf
from pathlib import Path
from traceback import clear_frames
from typing import Any, BinaryIO, Literal

from evenhand.errors import EvenhandError, Fault, InputError, StoreError, make_unwritable_file_error
from evenhand.files.private_files import open_private_bytes_file
from evenhand.models.recording import model_reply_from_json
from evenhand.report.report_data import build_report_data
from evenhand.runs.imported_shapes import JUDGMENT, RESULT, SAMPLE, SHOWN_RUBRIC, list_wrong_shapes
from evenhand.runs.run_record import RunEvalRecord, find_kept_result_composite, read_run_eval_record
from evenhand.runs.stored_judgments import find_run_rubric_for_tag, restore_run_rubric
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.run_rows import CollectedRuns
from evenhand.store.store import Store
from evenhand.wording import DAMAGED_STORE, read_kept_fraction
from evenhand.workflows.audit import audit_run
from evenhand.workflows.report import add_label_agreement_for_user, load_run_report, load_user_report_head
from evenhand.workflows.run_batches import describe_run_batches
from evenhand.workflows.sensitivity import report_sensitivity_for_user
from evenhand.workflows.stores import StoreLike, open_user_store, with_opened_user_store

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
    id: str = store.find_run(run)["id"]
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
) -> str:
    """Take in a run that was exported to a file, or comes on standard input ("-"), as a guest; its id.

    Other runs use its replies only where they are trusted. `baseline` is a name to pin it under.
    """
    try:
        with (
            nullcontext(stdin or BytesIO()) if file == "-" else Path(file).open("rb") as stream,
            open_user_store(store, create=True) as opened,
        ):
            with opened.begin_transaction() as guarded:  # Nobody sees a run that was not checked, however this ends.
                id = guarded.import_run(stream, trust_replies=trust_replies)
                _summarise_run_imported_by_user(guarded, id)
            if baseline is not None:
                opened.set_baseline(baseline, id)
            return id
    except OSError as problem:
        raise InputError(Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=file)) from None
    except StoreError as error:
        name = "standard input" if file == "-" else file
        named = (replace(fault, where=name) if fault.where == "the file" else fault for fault in error.faults)
        raise StoreError(*named) from None


def _summarise_run_imported_by_user(store: Store, id: str) -> None:
    """Work out from its rows what an imported run says of itself; one that cannot be read, or shown, is refused."""
    from evenhand.report.html.page_file import write_html

    try:
        row = store.find_run(id)
        refuse_imported_run_contradictions(store, row)
        head = load_user_report_head(store, row)
        shown, samples = build_report_data(store, row, head)
        with closing(samples):
            write_html(shown, _show_each_sample(shown, samples), StringIO())
        refuse_unreadable_imported_run(store, row)
        for call in store.calls(id):
            if call["reply"] is not None:
                model_reply_from_json(json.loads(call["reply"]))
        if row["summary"] is not None and json.loads(row["summary"]) != json.loads(to_stored_json(head)):
            store.replace_summary(id, to_stored_json(head))
    except Exception as problem:  # Whatever a stranger's file makes our readers stumble over.
        clear_frames(problem.__traceback__)  # What was being read is closed while the transaction is open.
        if isinstance(problem, StoreError):
            raise  # It says what is wrong with the file, or with the store itself.
        what = f"has rows that cannot be read ({type(problem).__name__})"
        raise StoreError(Fault(what, "export the run again; nothing was changed here", where="the file")) from problem


def _show_each_sample(head: Json, samples: Iterable[Json]) -> Iterator[Json]:
    from evenhand.report.html.sample_page import build_sample_report_page

    for one in samples:
        build_sample_report_page(head, one)
        yield one


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


LOWEST, HIGHEST = Fraction(1), Fraction(5)


def refuse_imported_run_contradictions(store: Store, run: Row) -> None:
    """Refuse a run whose samples, results and scores cannot all be true."""
    setup = json.loads(run["setup"])
    frame = read_run_eval_record(setup["frame"])
    ids = {row["position"]: row["id"] for row in store.samples(run["id"])}
    if len(set(ids.values())) != len(ids):
        raise _make_imported_run_error("has a sample twice")
    whole = run["state"] == "finished" and setup.get("until_decided") is None
    _refuse_imported_run_sample_count(setup.get("samples"), len(ids), run["state"], whole=whole)
    found = set()
    for row in store.results(run["id"]):
        where = f"sample {ids.get(row['position'], row['position'])!r}, variant {row['variant']!r}"
        if row["position"] not in ids or row["variant"] not in frame.variants or row["repeat"] >= frame.repeats:
            raise _make_imported_run_error(f"has a result that belongs to nothing in it ({where})")
        found.add((row["position"], row["variant"], row["repeat"]))
        if why := _find_imported_run_contradiction(row, json.loads(row["content"]), frame):
            raise _make_imported_run_error(f"has a result whose {why} ({where})")
    due = len(ids) * len(frame.variants) * frame.repeats
    if whole and len(found) != due:
        raise _make_imported_run_error(f"has {len(found)} results of a finished run with {due}")


def _refuse_imported_run_sample_count(told: object, there: int, state: str, *, whole: bool) -> None:
    if type(told) is not int:
        if told is not None or state == "finished":
            raise _make_imported_run_error("does not say how many samples its run had")
    elif there > told or (whole and there != told):
        raise _make_imported_run_error(f"has {there} samples, and its run is said to have had {told}")


def _find_imported_run_contradiction(row: Row, content: Json, frame: RunEvalRecord) -> str:
    """What in a result does not follow from the rest of it; empty where all does."""
    composite = None if row["composite"] is None else read_kept_fraction(row["composite"])
    if (row["state"] == "scored") != (composite is not None):
        return "state does not fit its composite"
    if composite is not None and row["number"] != float(composite):
        return "number is not its composite"
    shown = {"layers": content["layers"], "composite": row["composite"]}
    plain = content.get("unadjusted") or shown
    if plain is not shown and not frame.composite.needs_all_outputs:
        return "composite was adjusted, and its eval adjusts none"
    for one in (shown, plain):
        if any(not LOWEST <= score <= HIGHEST for score in _read_imported_run_layers(one).values()):
            return "layers are not on 1 to 5"
    known = _read_imported_run_layers(plain)
    if (plain["composite"] is None) != (composite is None) or (composite is not None and not known):
        return "composite does not fit its layers"
    if composite is None:
        return ""
    rubrics = {one["name"]: one for one in frame.rubrics}
    own = (rubrics.get(content["rubric"]) or {}).get("layer_weights") or {}
    given = frame.composite.weights or {name: read_kept_fraction(one) for name, one in own.items()}
    weights = {name: given.get(name, Fraction(1)) for name in known}
    mean = sum((weights[name] * one for name, one in known.items()), Fraction(0)) / sum(weights.values())
    return "composite is not the mean of its layers" if mean != read_kept_fraction(plain["composite"]) else ""


def _read_imported_run_layers(scores: Json) -> dict[str, Fraction]:
    return {name: read_kept_fraction(one) for name, one in scores["layers"].items() if one is not None}


def _make_imported_run_error(what: str) -> StoreError:
    return StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))


def refuse_unreadable_imported_run(store: Store, run: Row) -> None:
    """Rebuild what later commands rebuild: rubrics, judgments, the audit and the weights of a run.

    What they refuse in words of their own, such as a run with too few samples, is no fault of the file.
    """
    setup = json.loads(run["setup"])
    for kept in (*setup["rubrics"].values(), *setup.get("scored_by", {}).values()):
        with _allow_refusals():
            restore_run_rubric(kept)
    for tag in setup["rubrics"]:
        with _allow_refusals():
            find_run_rubric_for_tag(setup, tag)
    for wrong in islice(_list_wrong_parts_of_imported_run(store, run["id"], setup), 1):
        what = f"is no run that Evenhand has written: {wrong}"
        raise _make_imported_run_error(what)
    add_label_agreement_for_user(store, run, load_run_report(store, run["id"])[0])
    with _allow_refusals():
        audit_run(store, run["id"])
    with _allow_refusals():
        report_sensitivity_for_user(store, run)


@contextmanager
def _allow_refusals() -> Iterator[None]:
    """Let pass what a command refuses in words of its own, but no number that nobody here has written."""
    try:
        yield
    except EvenhandError as problem:
        if isinstance(problem, StoreError) and any(one.hint == DAMAGED_STORE for one in problem.faults):
            raise _make_imported_run_error(f"cannot be read: {problem.faults[0].what}") from None


def _list_wrong_parts_of_imported_run(store: Store, id: str, setup: Json) -> Iterator[str]:
    """What in its rows is not of the shape, or not about the samples, that a run of ours has."""
    for wrong in list_wrong_shapes(setup["frame"]["rubrics"], [SHOWN_RUBRIC], "rubrics"):
        yield f"{wrong} has another type"
    known = set()
    for row in store.samples(id):
        known.add(row["id"])
        content = json.loads(row["content"])
        if content.get("id", row["id"]) != row["id"]:
            yield f"sample {row['id']!r} has another id in its content"
        yield from (f"{wrong} of sample {row['id']!r} has another type" for wrong in list_wrong_shapes(content, SAMPLE))
    for label in store.labels(id):
        if label["sample"] not in known:
            yield f"a label is about sample {label['sample']!r}, which it does not have"
    for row in store.results(id):
        where = f"position {row['position']}, variant {row['variant']!r}"
        yield from (f"{wrong} ({where})" for wrong in _list_wrong_parts_of_imported_result(json.loads(row["content"])))


def _list_wrong_parts_of_imported_result(content: Json) -> Iterator[str]:
    yield from (f"{wrong} of a result has another type" for wrong in list_wrong_shapes(content, RESULT))
    for one in content["judgments"]:
        yield from (f"{wrong} of a judgment has another type" for wrong in list_wrong_shapes(one, JUDGMENT))
        yield from (f"a judgment lacks {name}" for name in ("judge", "criterion", "exact") if name not in one)
        if one.get("exact") is not None:
            read_kept_fraction(one["exact"])
