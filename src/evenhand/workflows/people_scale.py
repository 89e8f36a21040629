"""A run on people's scale: what people would say of all its outputs, by their labels on some of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.calibrate.labelled_outputs import LabelledOutputs, collect_labelled_outputs
from evenhand.calibrate.labels import VOID_LABEL_JSON, Label, describe_label_binding
from evenhand.calibrate.people_scale import PeopleScaleEstimate, PeopleSide, estimate_on_people_scale, list_people_sides
from evenhand.calibrate.trust import TrustGate, add_scores_to_labelled_outputs
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.runs.stored_judgments import find_scoring_rubrics
from evenhand.store.store import Store
from evenhand.workflows.compare_sides import UserRunSide
from evenhand.workflows.run_labels import keep_labels_with_run, load_kept_labels, load_labels_from_file
from evenhand.workflows.trust import find_criterion_shares_of_run, list_run_gates_to_trust

if TYPE_CHECKING:
    from evenhand.workflows.run import RunResult

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleScale:
    """The estimates, and what they rest on; `weighted` where outputs were drawn with unequal chances."""

    labels: int
    raters: int
    outputs: int
    weighted: bool
    void: tuple[Label, ...]
    unbound: int
    notes: tuple[str, ...]  # Which labels do not count, and how many are bound to no text.
    estimates: tuple[PeopleScaleEstimate, ...]


def measure_run_on_people_scale(table: RunTable, rubrics: Json, labels: Sequence[Label]) -> PeopleScale:
    """Means, pass rates and differences, from the labels of a run; `rubrics` are those that it keeps."""
    found = add_people_scores_to_run(table, rubrics, labels)
    return PeopleScale(
        labels=len(labels) - len(found.void),
        raters=len(found.raters),
        outputs=len(found.ids),
        weighted=found.weight is not None,
        void=found.void,
        unbound=found.unbound,
        notes=tuple(describe_label_binding(found.void, found.unbound)),
        estimates=tuple(
            estimate_on_people_scale(list_people_sides(table, found, find_run_verdict_gate(table, rubrics)))
        ),
    )


def compare_runs_on_people_scale(store: Store, sides: Sequence[UserRunSide]) -> PeopleScale | None:
    """The same for sides of a comparison, the control first, by the labels kept with their runs; None without any."""
    runs: dict[str, LabelledOutputs | None] = {}
    labels = 0
    for side in sides:
        if side.run["id"] not in runs:
            kept = load_kept_labels(store, side.member.table)
            labels += len(kept)
            rubrics = find_scoring_rubrics(json.loads(side.run["setup"]))
            runs[side.run["id"]] = add_people_scores_to_run(side.member.table, rubrics, kept) if kept else None
    found = [one for one in runs.values() if one is not None]
    if not found:
        return None
    compared = [
        PeopleSide(
            name=side.name,
            variant=side.member.variant,
            table=side.member.table,
            labelled=runs[side.run["id"]],
            gate=find_run_verdict_gate(side.member.table, find_scoring_rubrics(json.loads(side.run["setup"]))),
        )
        for side in sides
    ]
    return PeopleScale(
        labels=labels,
        raters=len({rater for one in found for rater in one.raters}),
        outputs=sum(len(one.ids) for one in found),
        weighted=any(one.weight is not None for one in found),
        void=(),
        unbound=(unbound := sum(one.unbound for one in found)),
        notes=tuple(describe_label_binding((), unbound)),
        estimates=tuple(estimate_on_people_scale(compared)),
    )


def add_people_scale_to_run(store: Store, ran: RunResult, labels: Path) -> RunResult:
    """The result with its scores on people's scale; the labels are kept with the run, which stays as it is.

    Labels that cannot be taken leave the result as it was, with the error: what was paid for is shown all the same.
    """
    row = store.find_run(ran.id)
    table = load_run_columns(store, row["id"])
    try:
        given = load_labels_from_file(labels, table)
        found = measure_run_on_people_scale(table, find_scoring_rubrics(json.loads(row["setup"])), given)
    except InputError as error:
        return replace(ran, labels_refused=error)
    keep_labels_with_run(store, table, given)
    return replace(ran, head={**ran.head, "people_scale": encode_people_scale(found)})


def add_people_scores_to_run(table: RunTable, rubrics: Json, labels: Sequence[Label]) -> LabelledOutputs:
    """The labelled outputs, with the score that people's answers come to."""
    span = table.frame.scale or (0.0, 1.0)
    found = collect_labelled_outputs(table, labels)
    return add_scores_to_labelled_outputs(found, table, find_criterion_shares_of_run(rubrics), span)


def find_run_verdict_gate(table: RunTable, rubrics: Json) -> TrustGate | None:
    """The gate that decides over an output; None where the run has none, or its method gives no verdict."""
    verdicts = table.marks.get("verdict")
    if verdicts is None or not (verdicts >= 0).any():
        return None
    return next((gate for gate in list_run_gates_to_trust(table, rubrics, None) if gate.id == "verdict"), None)


def encode_people_scale(found: PeopleScale) -> dict[str, Any]:
    """The stable JSON of it."""
    return VOID_LABEL_JSON.to_json(found)  # type: ignore[no-any-return]
