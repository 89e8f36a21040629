"""The whole report of a run: its numbers and decision, the labels of its judges, and its ranking under other
weights.
"""

from __future__ import annotations

import json
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from evenhand.compare.cascade import CascadeReport, correct_variant_means, measure_variants_through_cascade
from evenhand.compare.decision import encode_decision_value
from evenhand.compare.run_decision import decide_between_run_variants, list_looks_behind_verdict
from evenhand.errors import InputError
from evenhand.files.codec import Codec
from evenhand.files.private_files import open_private_text_file
from evenhand.runs.adjusted_scores import adjust_run_result_rows
from evenhand.runs.columns import RunColumnsBuilder
from evenhand.runs.notable import find_notable_run_samples, summarise_run_tags, summarise_run_ties
from evenhand.runs.run_record import (
    RunEvalRecord,
    count_run_record_seconds,
    evaluate_variant_in_run_records,
    read_run_eval_record,
)
from evenhand.runs.summary import RunSummary, summarise_results, summarise_run_composite, summarise_run_head
from evenhand.scoring.scores import Consistency
from evenhand.stats.multiple_tests import Looks
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.sensitivity import report_sensitivity_for_user
from evenhand.workflows.stores import StoreLike, open_user_store, with_opened_user_store

Json = dict[str, Any]


@contextmanager
def open_report(store: StoreLike, run: str) -> Iterator[tuple[Json, Iterator[Json]]]:
    """The whole report of a run: its head, and its samples as long as the store is open."""
    with open_user_store(store) as opened:
        head, samples = load_run_report(opened, run)
        row = opened.find_run(run)
        yield (
            {
                **add_label_agreement_for_user(opened, row, head),
                "sensitivity": report_sensitivity_for_user(opened, row),
            },
            samples,
        )


@with_opened_user_store
def load_labelled_run_head(store: Store, run: str) -> Json:
    """The head of a run's report with the labels that people gave since."""
    row = store.find_run(run)
    return add_label_agreement_for_user(store, row, load_run_report(store, row["id"])[0])


def open_user_report_file(part: Path, target: Path) -> TextIO:
    """A file to write a report to, for its owner alone; `target` is what it will take the place of."""
    return open_private_text_file(part, target)


@with_opened_user_store
def load_user_report_annotations(store: Store, run: str) -> list[str]:
    """The failures of a run as GitHub Actions show them beside the change that made them."""
    from evenhand.report.ci_reports import render_github_report_annotations

    return list(render_github_report_annotations(*load_run_report(store, run)))


def add_label_agreement_for_user(store: Store, run: Row, head: Json) -> Json:
    """The head as the labels that were taken in since put it: judges against people, and the fourth badge."""
    if not list(store.labels(run["id"])):
        return head
    from evenhand.calibrate.calibration import encode_human_label_points
    from evenhand.calibrate.human_agreement import measure_panel_human_agreement
    from evenhand.compare.shipping import grade_treatment_human_alignment
    from evenhand.runs.columns import load_run_columns
    from evenhand.runs.stored_judgments import find_scoring_rubrics
    from evenhand.workflows.people_scale import encode_people_scale, measure_run_on_people_scale
    from evenhand.workflows.run_labels import load_kept_labels

    table = load_run_columns(store, run["id"])
    labels = load_kept_labels(store, table)
    if not labels:
        return head
    rubrics = find_scoring_rubrics(json.loads(run["setup"]))
    scaled = encode_people_scale(measure_run_on_people_scale(table, rubrics, labels))
    badge = encode_decision_value(grade_treatment_human_alignment(measure_panel_human_agreement(table, labels)))
    comparisons = [
        {**one, "badges": [badge if old["badge"] == badge["badge"] else old for old in one["badges"]]}
        for one in head["decision"]["comparisons"]
    ]
    decision = {**head["decision"], "comparisons": comparisons}
    points = encode_human_label_points(table, labels)
    trust = _report_trust_json(store, run["id"], head)
    return {**head, "decision": decision, "labels": points, "people_scale": scaled, "trust": trust}


def _report_trust_json(store: Store, run: str, head: Json) -> Json | None:
    """How often the gates decide wrongly by the labels, with the passages on which judge and people differ.

    None where the run has no gate to hold against people.
    """
    from evenhand.report.report_data import add_passages_to_reported_disagreements, load_named_report_samples
    from evenhand.workflows.trust import encode_run_trust, measure_trust

    try:
        found = encode_run_trust(measure_trust(store, run))
    except InputError:
        return None
    samples = load_named_report_samples(store, run, [one["sample"] for one in found["differing"]], head)
    return {**found, "differing": add_passages_to_reported_disagreements(found["differing"], samples)}


encode_cascade_report = Codec().writer(CascadeReport)


def load_user_report_head(store: Store, run: Row, frame: RunEvalRecord | None = None) -> Json:
    """The head of a run's report, worked out from its rows; the columns of a finished one are kept on the way.

    `frame` is the eval that the run keeps, where it need not be read.
    """
    setup = json.loads(run["setup"])
    frame = frame or read_run_eval_record(setup["frame"])
    adjusts = run["state"] in ("finished", "stopped") and frame.composite.needs_all_outputs
    adjusted = adjust_run_result_rows(store, run["id"], frame) if adjusts else None
    columns = RunColumnsBuilder(list(frame.variants)) if run["state"] == "finished" else None
    models = {name: str(one["model"]) for name, one in setup.get("variants", {}).items() if one.get("model")}
    calls = store.call_facts(run["id"])
    summary = summarise_results(
        list(frame.variants), store.results(run["id"]), calls, columns, models, frame.composite.per
    )
    tags: dict[str, array[int]] = {}
    samples = _load_report_sample_tags(store.samples(run["id"]), tags)
    if columns is not None:
        store.save_columns(run["id"], columns.pack(samples))
        del columns  # A large run has many, and deciding takes room too.
    deque(samples, maxlen=0)  # Where nothing was packed, they are looked at for their tags alone.
    notable = find_notable_run_samples(frame, summary)
    first = _find_named_positions(summary, notable)
    ids = store.rows.sample_ids(run["id"], first) if first else {}
    looks = list_looks_behind_verdict(setup, summary.samples) if setup.get("until_decided") else None
    # A run that was scored anew was settled by others.
    settled = run["state"] == "finished" and "rescored_from" not in setup
    early = looks is not None and looks.taken[-1] < looks.planned and settled
    name_samples = partial(store.rows.sample_ids, run["id"])
    decision = decide_between_run_variants(frame, summary, looks, stopped_early=early, name_samples=name_samples)
    if run["state"] != "finished":  # Whoever stops a run when it looks good has not decided anything.
        decision = replace(decision, exit_code=1, next_step="Finish the run first: evenhand run EVAL --resume.")
    head = {
        "run": _user_report_run_json(run, setup, frame, summary.samples),
        "stopping": None if looks is None else _user_report_looks_json(looks, early=early),
        "composite": summarise_run_composite(frame, summary, adjusted),
        "decision": encode_decision_value(decision),
        **summarise_run_head(frame, summary, ids),
        "tags": summarise_run_tags(summary, tags) if tags else [],
        "notable": {
            kind: [{"sample": ids.get(one["position"], ""), **one} for one in some] for kind, some in notable.items()
        },
        "ties": summarise_run_ties(frame, summary) if any(one.get("ties") for one in frame.rubrics) else [],
    }
    # What recorded outputs had cost before the run is part of what they cost, and not of what the run did.
    recorded = [summary.tallies[name] for name, one in setup.get("variants", {}).items() if "recorded" in one]
    head["cost"]["recorded"] = float(sum((one.cost for one in recorded), Decimal(0))) if recorded else None
    cascades = any(tally.cascade for tally in summary.tallies.values())
    if cascades and (cascade := measure_variants_through_cascade(frame, summary.tallies, summary.calls)) is not None:
        head["cascade"] = encode_cascade_report(cascade)
        correct_variant_means(head["variants"], cascade)
    # A part of a run is no evaluation.
    consistency = _user_report_consistency_json(store, run, frame, head) if run["state"] == "finished" else []
    return {**head, "consistency": consistency}


def _find_named_positions(summary: RunSummary, notable: Mapping[str, Sequence[Json]]) -> set[int]:
    """Where something was met first, and the samples to look at: these are called by their names."""
    first = {position for tally in summary.tallies.values() for position in tally.first.values()}
    first |= {one["position"] for several in notable.values() for one in several}
    return first | {one.first for tally in summary.tallies.values() for one in tally.statements.values()}


def _user_report_looks_json(looks: Looks, *, early: bool) -> Json:
    """How far a run that stops once decided has looked."""
    taken = {"used": looks.taken[-1], "look": len(looks.taken), "looks": list(looks.taken)}
    return {"planned": looks.planned, **taken, "settled_early": early}


def _user_report_run_json(run: Row, setup: Json, frame: RunEvalRecord, samples: int) -> Json:
    """The run itself: when, how long, with what."""
    seconds = None
    if run["ended"] is not None:
        seconds = round(count_run_record_seconds(run, datetime.fromisoformat(run["ended"])), 1)
    kept = ("id", "name", "state", "started", "ended", "fingerprint", "seed", "keep", "taken_from")
    # The criteria on which each judge's scores were put on people's scale.
    maps = {one["name"]: list(one["maps"]) for one in setup.get("judges", ()) if one.get("maps")}
    return {
        **{name: run[name] for name in kept},
        "seconds": seconds,
        "fingerprints": dict(frame.fingerprints),
        "evenhand": setup["evenhand"],
        "python": setup["python"],
        "repeats": frame.repeats,
        "samples": samples,
        "planned": setup.get("samples"),
        "selection": setup.get("selection"),
        **({"maps": maps} if maps else {}),
    }


def _user_report_consistency_json(store: Store, run: Row, frame: RunEvalRecord, head: Json) -> list[Json]:
    """Each variant against its own history, which never changes a score."""
    held = dict.fromkeys(frame.variants, Consistency(n=0))
    earlier = [one for one in store.list_runs(frame.name) if one["id"] < run["id"]]
    if earlier:
        this = {**run, "summary": json.dumps(head), "ended": run["ended"] or run["started"]}
        held = {
            name: evaluate_variant_in_run_records([*earlier, this], name)[-1].consistency for name in frame.variants
        }
    return [
        {
            "variant": name,
            "says": str(one),
            "strayed": [entry.criterion for entry in one.strayed],
            **({"strayed_by": [str(entry) for entry in one.strayed]} if one.strayed else {}),
        }
        for name, one in held.items()
    ]


def _load_report_sample_tags(samples: Iterable[Row], found: dict[str, array[int]]) -> Iterator[Row]:
    """The samples as they are passed on, with their positions noted by tag."""
    for row in samples:
        if '"tags"' in row["content"]:  # Far quicker than reading all of them.
            for tag in json.loads(row["content"]).get("tags") or ():
                found.setdefault(tag, array("q")).append(row["position"])
        yield row


def load_run_report(store: Store, id: str) -> tuple[Json, Iterator[Json]]:
    """The report of a run: as it was when it ended, or, where it has not, as far as it has come."""
    from evenhand.report.report_data import build_report_data  # whoever decides only shows no texts

    run = store.find_run(id)
    if run["summary"] is not None and run["state"] != "running":
        head = json.loads(run["summary"])
    else:
        state = "running" if store.is_run_held(run) else "killed"
        head = load_user_report_head(store, {**run, "state": state})
    if run["imported"] is not None:  # The mark belongs to the store, not to what is kept of the run.
        head["run"]["imported"] = run["imported"]
    return build_report_data(store, run, head)
