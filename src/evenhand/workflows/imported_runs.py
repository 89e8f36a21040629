"""What is looked at when a run of somebody else is imported: whether it can be true, and commands can read it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from io import StringIO
from itertools import islice
from traceback import clear_frames
from typing import Any

from evenhand.errors import EvenhandError, Fault, StoreError
from evenhand.models.recording import model_reply_from_json
from evenhand.report.data_files import list_unfit_report_values
from evenhand.report.report_data import build_report_data
from evenhand.runs.imported_shapes import RESULT, SAMPLE, SETUP, list_wrong_shapes
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.runs.stored_judgments import find_run_rubric_for_tag, restore_run_rubric
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.wording import DAMAGED_STORE, read_kept_fraction
from evenhand.workflows.align_inputs import read_run_judge_options
from evenhand.workflows.audit import audit_run
from evenhand.workflows.report import add_label_agreement_for_user, load_run_report, load_user_report_head
from evenhand.workflows.sensitivity import report_sensitivity_for_user

Json = dict[str, Any]


def check_run_imported_by_user(store: Store, id: str, show: Callable[[Json], object] | None = None) -> None:
    """Work out from its rows what an imported run says of itself; one that cannot be read, or shown, is refused.

    `show` is what else shows the head of its report.
    """
    from evenhand.report.html.page_file import write_html

    try:
        row = store.find_run(id)
        refuse_imported_run_contradictions(store, row)
        head = load_user_report_head(store, row)
        shown, samples = build_report_data(store, row, head)
        with closing(samples):
            write_html(shown, _show_each_sample(shown, samples), StringIO())
        whole = refuse_unreadable_imported_run(store, row)
        if show is not None:
            show(whole)
        for call in store.calls(id):
            if call["reply"] is not None:
                model_reply_from_json(json.loads(call["reply"]))
        if row["summary"] is not None and json.loads(row["summary"]) != json.loads(to_stored_json(head)):
            store.replace_summary(id, to_stored_json(head))
    except Exception as problem:  # Whatever a stranger's file makes our readers stumble over.
        clear_frames(problem.__traceback__)  # What was being read is closed while the transaction is open.
        if isinstance(problem, StoreError):
            raise  # It says what is wrong with the file, or with the store itself.
        what = (
            _describe_unreadable_imported_run(store, id) or f"has rows that cannot be read ({type(problem).__name__})"
        )
        raise StoreError(Fault(what, "export the run again; nothing was changed here", where="the file")) from problem


def _describe_unreadable_imported_run(store: Store, id: str) -> str:
    """Which value of which row cannot be read, where its shape tells; what made a reader stumble does not say."""
    with suppress(Exception):
        setup = json.loads(store.find_run(id)["setup"])
        for wrong in _list_wrong_parts_of_imported_run(store, id, setup):
            return f"cannot be read: {wrong}"
    return ""


def _show_each_sample(head: Json, samples: Iterable[Json]) -> Iterator[Json]:
    from evenhand.report.html.sample_page import build_sample_report_page

    for one in samples:
        build_sample_report_page(head, one)
        yield one


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


def refuse_unreadable_imported_run(store: Store, run: Row) -> Json:
    """Rebuild what later commands rebuild: rubrics, judgments, tables, the audit and the weights; the report's head.

    What they refuse in words of their own, such as a run with too few samples, is no fault of the file.
    """
    setup = json.loads(run["setup"])
    for wrong in islice(_list_wrong_parts_of_imported_run(store, run["id"], setup), 1):
        raise _make_imported_run_error(f"is no run that Evenhand has written: {wrong}")
    with _allow_refusals():
        read_run_judge_options(setup, imported=run["imported"])
    for kept in (*setup["rubrics"].values(), *setup.get("scored_by", {}).values()):
        with _allow_refusals():
            restore_run_rubric(kept)
    for tag in setup["rubrics"]:
        with _allow_refusals():
            find_run_rubric_for_tag(setup, tag)
    head, samples = load_run_report(store, run["id"])
    for place in islice(list_unfit_report_values(head, samples), 1):
        raise _make_imported_run_error(f"is no run that Evenhand has written: {place} fits no table")
    head = {**add_label_agreement_for_user(store, run, head), "sensitivity": None}
    with _allow_refusals():
        audit_run(store, run["id"])
    with _allow_refusals():
        head["sensitivity"] = report_sensitivity_for_user(store, run)
    return head


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
    yield from list_wrong_shapes(setup, SETUP, "setup")
    if _has_lone_surrogates(setup):
        yield "setup holds half a character"
    known = set()
    for row in store.samples(id):
        known.add(row["id"])
        content = json.loads(row["content"])
        if content.get("id", row["id"]) != row["id"]:
            yield f"sample {row['id']!r} has another id in its content"
        yield from (f"{wrong} (sample {row['id']!r})" for wrong in list_wrong_shapes(content, SAMPLE))
    for label in store.labels(id):
        if label["sample"] not in known:
            yield f"a label is about sample {label['sample']!r}, which it does not have"
    for row in store.results(id):
        where = f"position {row['position']}, variant {row['variant']!r}"
        yield from (f"{wrong} ({where})" for wrong in list_wrong_shapes(json.loads(row["content"]), RESULT, "result"))


def _has_lone_surrogates(data: Json) -> bool:
    """Whether a text in it, or a name, is one that nothing could send; replies and outputs may hold some."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
