"""A run on people's scale: what people would say of all its outputs, by their labels on some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.calibrate.bound_labels import VOID_LABEL_SHAPE
from evenhand.calibrate.labelled_outputs import LabelledOutputs, collect_labelled_outputs
from evenhand.calibrate.labels import Label
from evenhand.calibrate.people_scale import PeopleScaleEstimate, estimate_on_people_scale
from evenhand.calibrate.trust import TrustGate, add_scores_to_labelled_outputs
from evenhand.files.codec import Codec
from evenhand.runs.columns import RunTable
from evenhand.workflows.trust import find_criterion_shares, list_trust_gates

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
    estimates: tuple[PeopleScaleEstimate, ...]


def measure_on_people_scale(table: RunTable, rubrics: Json, labels: Sequence[Label]) -> PeopleScale:
    """Means, pass rates and differences, from the labels of a run; `rubrics` are those that it keeps."""
    found = add_people_scores(table, rubrics, labels)
    return PeopleScale(
        labels=found.labels,
        raters=len(found.raters),
        outputs=len(found.ids),
        weighted=found.weight is not None,
        void=found.void,
        unbound=found.unbound,
        estimates=tuple(estimate_on_people_scale(table, found, find_verdict_gate(table, rubrics))),
    )


def add_people_scores(table: RunTable, rubrics: Json, labels: Sequence[Label]) -> LabelledOutputs:
    """The labelled outputs, with the score that people's answers come to."""
    span = table.frame.scale or (0.0, 1.0)
    found = collect_labelled_outputs(table, labels)
    return add_scores_to_labelled_outputs(found, table, find_criterion_shares(rubrics), span)


def find_verdict_gate(table: RunTable, rubrics: Json) -> TrustGate | None:
    """The gate that decides over an output; None where the run has none."""
    return next((gate for gate in list_trust_gates(table, rubrics, None) if gate.id == "verdict"), None)


def encode_people_scale(found: PeopleScale) -> dict[str, Any]:
    """The stable JSON of it."""
    return PEOPLE_SCALE_JSON.to_json(found)  # type: ignore[no-any-return]


PEOPLE_SCALE_JSON = Codec(shapes={Label: VOID_LABEL_SHAPE})
