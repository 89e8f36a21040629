"""The whole report of a run: its numbers and decision, the labels of its judges, and its ranking under other
weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from evenhand.compare.decision_json import encode_compare_decision, encode_decision_value
from evenhand.compare.run_decision import decide_run, read_run_looks
from evenhand.runs.columns import ColumnsBuilder
from evenhand.runs.run_record import RunEvalRecord, evaluate_run_records, read_run_eval_record
from evenhand.runs.summary import summarise_results, summarise_run_head
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.sensitivity import report_run_sensitivity
from evenhand.workflows.stores import StoreLike, open_user_store, with_user_store

Json = dict[str, Any]


@contextmanager
def open_report(store: StoreLike, run: str) -> Iterator[tuple[Json, Iterator[Json]]]:
    """The whole report of a run: its head, and its samples as long as the store is open."""
    with open_user_store(store) as opened:
        head, samples = load_run_report(opened, run)
        row = opened.find_run(run)
        yield (
            {**add_stored_label_agreement(opened, row, head), "sensitivity": report_run_sensitivity(opened, row)},
            samples,
        )


@with_user_store
def annotate_stored_run(store: Store, run: str) -> list[str]:
    """The failures of a run as GitHub Actions show them beside the change that made them."""
    from evenhand.report.ci_reports import format_github_annotations

    return list(format_github_annotations(*load_run_report(store, run)))


def add_stored_label_agreement(store: Store, run: Row, head: Json) -> Json:
    """The head as the labels that were taken in since put it: judges against people, and the fourth badge."""
    rows = list(store.labels(run["id"]))
    if not rows:
        return head
    from evenhand.calibrate.calibration import encode_human_label_points
    from evenhand.calibrate.human_agreement import measure_panel_human_agreement
    from evenhand.calibrate.labels import label_from_row
    from evenhand.compare.badges import human_aligned_verdict_badge
    from evenhand.runs.columns import load_run_table

    table, labels = load_run_table(store, run["id"]), [label_from_row(row) for row in rows]
    badge = encode_decision_value(human_aligned_verdict_badge(measure_panel_human_agreement(table, labels)))
    comparisons = [
        {**one, "badges": [badge if old["badge"] == badge["badge"] else old for old in one["badges"]]}
        for one in head["decision"]["comparisons"]
    ]
    decision = {**head["decision"], "comparisons": comparisons}
    return {**head, "decision": decision, "labels": encode_human_label_points(table, labels)}


def load_stored_head(store: Store, run: Row) -> Json:
    """The head of a run's report, worked out from its rows; the columns of a finished one are kept on the way."""
    setup = json.loads(run["setup"])
    frame = read_run_eval_record(setup["frame"])
    columns = ColumnsBuilder(list(frame.variants)) if run["state"] == "finished" else None
    summary = summarise_results(list(frame.variants), store.results(run["id"]), store.call_facts(run["id"]), columns)
    if columns is not None:
        store.save_columns(run["id"], columns.pack(store.samples(run["id"])))
        del columns  # A large run has many, and deciding takes room too.
    first = {position for tally in summary.tallies.values() for position in tally.first.values()}
    first |= {one.first for tally in summary.tallies.values() for one in tally.statements.values()}
    ids = store.sample_ids(run["id"], first)
    looks = read_run_looks(setup, summary.samples)
    # A run that was scored anew was settled by others.
    settled = run["state"] == "finished" and "rescored_from" not in setup
    early = looks is not None and looks.taken[-1] < looks.planned and settled
    stopping = None
    if looks is not None:
        used, look = looks.taken[-1], len(looks.taken)
        stopping = {
            "planned": looks.planned,
            "used": used,
            "look": look,
            "looks": list(looks.taken),
            "settled_early": early,
        }
    seconds = None
    if run["ended"] is not None:
        spent = datetime.fromisoformat(run["ended"]) - datetime.fromisoformat(run["started"])
        seconds = round(spent.total_seconds(), 1)
    kept = ("id", "name", "state", "started", "ended", "fingerprint", "seed", "keep", "taken_from")
    head = {
        "run": {
            **{name: run[name] for name in kept},
            "seconds": seconds,
            "fingerprints": dict(frame.fingerprints),
            "evenhand": setup["evenhand"],
            "python": setup["python"],
            "repeats": frame.repeats,
            "samples": summary.samples,
            "planned": setup.get("samples"),
        },
        "stopping": stopping,
        "decision": encode_compare_decision(decide_run(frame, summary, looks, stopped_early=early)),
        **summarise_run_head(frame, summary, ids),
    }
    return {**head, "consistency": _stored_consistency_json(store, run, frame, head)}


def load_run_report(store: Store, id: str) -> tuple[Json, Iterator[Json]]:
    """The report of a run: as it was when it ended, or, where it has not, as far as it has come."""
    from evenhand.report.report_data import build_report_data  # whoever decides only shows no texts

    run = store.find_run(id)
    if run["summary"] is not None and run["state"] != "running":
        return build_report_data(store, run, json.loads(run["summary"]))
    state = "running" if store.is_run_held(run) else "killed"
    return build_report_data(store, run, load_stored_head(store, {**run, "state": state}))


def _stored_consistency_json(store: Store, run: Row, frame: RunEvalRecord, head: Json) -> list[Json]:
    """How each variant stands against its own history; it never changes a score. A part of a run is no evaluation."""
    if run["state"] != "finished":
        return []
    this = {**run, "state": "finished", "summary": json.dumps(head), "ended": run["ended"] or run["started"]}
    others = [one for one in store.list_runs(frame.name) if one["id"] < run["id"]]
    found = {name: evaluate_run_records([*others, this], name)[-1].consistency for name in frame.variants}
    return [
        {"variant": name, "says": str(one), "strayed": [entry.criterion for entry in one.strayed] if one else []}
        for name, one in found.items()
    ]
