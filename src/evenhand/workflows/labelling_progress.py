"""How far labelling is: how many more labels give which width, trust at the gate, and whether a person agrees with
themselves; and the labels of a run as a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.calibrate.labels import Label
from evenhand.calibrate.next_labels import (
    FIRST_ROUND,
    ExpectedWidth,
    RaterConsistency,
    expect_widths_with_more_labels,
    measure_rater_consistency,
)
from evenhand.calibrate.people_scale import estimate_on_people_scale, list_people_sides
from evenhand.errors import InputError
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import find_scoring_rubrics
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction
from evenhand.workflows.people_scale import add_people_scores_to_run, find_run_verdict_gate
from evenhand.workflows.run_labels import load_kept_labels
from evenhand.workflows.stores import with_opened_user_store
from evenhand.workflows.trust import RunTrust, measure_trust

MORE_SAMPLES = (10, 20, 50, 100, 200, 500)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabellingProgress:
    """What the labels of a run come to by now.

    `widths` has, for each number of labelled samples more, what intervals on people's scale would be; it begins with
    0 more, where there are intervals already.
    """

    run: str
    labels: int
    raters: tuple[str, ...]
    cannot_say: int
    outputs: int
    widths: Mapping[int, tuple[ExpectedWidth, ...]]
    trust: RunTrust | None
    no_trust: str
    consistency: RaterConsistency | None


@with_opened_user_store
def measure_labelling_progress(store: Store, run: str, rater: str) -> LabellingProgress:
    """Where the labels of a run stand, and how consistent one person is."""
    row = store.find_run(run)
    table, rubrics = load_run_columns(store, row["id"]), find_scoring_rubrics(json.loads(row["setup"]))
    labels = load_kept_labels(store, table)
    answers = store.labelling.list_answers(row["id"])
    found = add_people_scores_to_run(table, rubrics, labels) if labels else None
    estimates = list(estimate_on_people_scale(list_people_sides(table, found, find_run_verdict_gate(table, rubrics))))
    most = max((one.outputs - one.labelled for one in estimates), default=0)
    steps = [0, *(more for more in MORE_SAMPLES if more < most), *([most] if most > 0 else [])]
    trust, no_trust = _try_measuring_labelling_trust(store, row)
    return LabellingProgress(
        run=row["id"],
        labels=len(labels),
        raters=tuple(sorted({one.rater for one in labels})),
        cannot_say=sum(
            score is None for one in answers if one["round"] == FIRST_ROUND for _, score in _list_labelling_scores(one)
        ),
        outputs=len({(one.sample, one.variant) for one in labels}),
        widths={more: tuple(expect_widths_with_more_labels(estimates, more)) for more in steps[:6]},
        trust=trust,
        no_trust=no_trust,
        consistency=_measure_labelling_consistency(rubrics, [one for one in answers if one["rater"] == rater]),
    )


def _try_measuring_labelling_trust(store: Store, row: Row) -> tuple[RunTrust | None, str]:
    try:
        return measure_trust(store, row["id"]), ""
    except InputError as error:
        return None, error.faults[0].what


def _measure_labelling_consistency(rubrics: Mapping[str, Any], answers: list[Row]) -> RaterConsistency | None:
    """None before anything was answered a second time."""
    first = {
        (one["batch"], one["place"]): dict(_list_labelling_scores(one))
        for one in answers
        if one["round"] == FIRST_ROUND
    }
    pairs = [
        (id, first[one["batch"], one["place"]].get(id), score)
        for one in answers
        if one["round"] != FIRST_ROUND and (one["batch"], one["place"]) in first
        for id, score in _list_labelling_scores(one)
    ]
    spans = {id: Fraction(1) for id, _, _ in pairs} | dict(_list_labelling_spans(rubrics))
    return measure_rater_consistency(pairs, spans) if pairs else None


def _list_labelling_spans(rubrics: Mapping[str, Any]) -> Iterator[tuple[str, Fraction]]:
    for rubric in rubrics.values():
        waiting = list(rubric["criteria"])
        while waiting:
            one = waiting.pop()
            waiting += one["children"]
            yield one["id"], read_kept_fraction(one["scale"]["max"]) - read_kept_fraction(one["scale"]["min"])


def _list_labelling_scores(answer: Row) -> Iterator[tuple[str, Fraction | None]]:
    for id, score in json.loads(answer["content"])["scores"].items():
        yield id, None if score is None else read_kept_fraction(score)


@with_opened_user_store
def export_label_file(store: Store, run: str) -> str:
    """The labels that are kept with a run, one line each, as `calibrate`, `trust` and `labels check` read them.

    A note stands in the first line of its answer; what somebody could not say is a line without a score.
    """
    row = store.find_run(run)
    labels = load_kept_labels(store, load_run_columns(store, row["id"]))
    answers = [one for one in store.labelling.list_answers(row["id"]) if one["round"] == FIRST_ROUND]
    notes = {
        (one["sample"], one["variant"], one["rater"]): note
        for one in answers
        if (note := json.loads(one["content"])["note"])
    }
    lines = []
    for label in labels:
        note = notes.pop((label.sample, label.variant, label.rater), "")
        lines.append({**_write_exported_label_line(label), **({"note": note} if note else {})})
    for one in answers:
        place = {"sample": one["sample"], "variant": one["variant"]}
        for id, score in _list_labelling_scores(one):
            if score is None:
                lines.append({**place, "criterion": id, "rater": one["rater"], "score": None, "at": one["at"]})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write_exported_label_line(label: Label) -> dict[str, Any]:
    score = label.score
    told = {
        "sample": label.sample,
        "variant": label.variant or None,
        "criterion": label.criterion,
        "rater": label.rater,
        "score": int(score) if score.denominator == 1 else float(score),
        "at": label.at,
        "output": label.output,
        "batch": label.batch,
        "chance": None if label.chance is None else float(label.chance),
        "schema": label.schema,
    }
    return {name: value for name, value in told.items() if value is not None}
