"""May this judge gate a release? The gates of a run held against people's labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.calibrate.labelled_outputs import LabelledOutputs, collect_labelled_outputs
from evenhand.calibrate.labels import SCORE_QUESTION, VOID_LABEL_SHAPE, Label
from evenhand.calibrate.people_scale import (
    LabelDisagreement,
    ReliabilityCurve,
    find_label_disagreements,
    measure_reliability_curves,
)
from evenhand.calibrate.trust import (
    MOST_ERRORS,
    CriterionShares,
    DirectionTrust,
    GateTrust,
    TrustGate,
    add_scores_to_labelled_outputs,
    hold_directions_against_people,
    hold_gate_against_people,
    list_gate_error_lines,
    phrase_trust_answer,
    phrase_trust_in_direction,
    phrase_trust_next_step,
    require_trust_limit,
)
from evenhand.compare.decide import DEFAULT_LAYER_GATE
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.runs.stored_judgments import find_scoring_rubrics
from evenhand.store.store import Store
from evenhand.wording import format_number, read_kept_fraction, word_criterion
from evenhand.workflows.run_labels import LabelSource, load_run_labels, make_no_run_labels_error
from evenhand.workflows.stores import with_opened_user_store

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrust:
    """The gates of a run, the one that decides over an output first, and the directions of its differences.

    `curves` and `differing` show where judge and people part: by score, and by output.
    """

    run: str
    name: str
    most: float
    labels: int
    raters: int
    outputs: int
    void: tuple[Label, ...]  # Not counted: their output has changed since.
    unbound: int  # Labels that do not say which text they are about.
    weighted: bool  # Whether outputs were drawn with unequal chances, which are weighed back.
    gates: tuple[GateTrust, ...]
    directions: tuple[DirectionTrust, ...]
    curves: tuple[ReliabilityCurve, ...]
    differing: tuple[LabelDisagreement, ...]
    imported: bool = False  # Whether the run was made elsewhere.

    @property
    def exit_code(self) -> int:
        """0 where the first gate may gate, both ways."""
        return 0 if self.gates[0].answer == "may gate" else 1


@with_opened_user_store
def measure_trust(
    store: Store, run: str, labels: LabelSource = None, *, least: Fraction | None = None, most: float = MOST_ERRORS
) -> RunTrust:
    """How often the gates of a run decide wrongly, by the labels in a file or, without one, those kept with the run.

    `least` is one more gate, on the score. `most` is the share of wrong decisions that is borne.
    """
    held = load_labelled_gates(store, run, labels, least=least)
    table, labelled, found, gates, span = held.table, held.labelled, held.found, held.gates, held.span
    limit = require_trust_limit(most)
    return RunTrust(
        run=table.run,
        name=table.frame.name,
        most=limit,
        labels=found.labels,
        raters=len(found.raters),
        outputs=len(found.ids),
        void=found.void,
        unbound=found.unbound,
        weighted=found.weight is not None,
        gates=tuple(hold_gate_against_people(labelled, gate, limit) for gate in gates),
        directions=tuple(hold_directions_against_people(labelled, table, span)),
        curves=tuple(measure_reliability_curves(labelled, _find_least_asked_of_run_gates(gates), span)),
        differing=tuple(find_label_disagreements(labelled, span)),
        imported=table.imported,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledGates:
    """A run with its labels and gates: `found` as people labelled it, `labelled` with the score of each output."""

    table: RunTable
    setup: dict[str, Any]
    found: LabelledOutputs
    labelled: LabelledOutputs
    gates: tuple[TrustGate, ...]
    span: tuple[float, float]


def load_labelled_gates(
    store: Store, run: str, labels: LabelSource = None, *, least: Fraction | None = None
) -> LabelledGates:
    """The labelled outputs of a run, and the gates to hold against people; refused where there is nothing to hold."""
    row = store.find_run(run)
    table, setup = load_run_columns(store, row["id"]), json.loads(row["setup"])
    rubrics = find_scoring_rubrics(setup)
    given = load_run_labels(store, table, labels)
    if labels is None and not given:
        raise make_no_run_labels_error(table.run)
    span = table.frame.scale or (0.0, 1.0)
    if least is not None and not span[0] <= least <= span[1]:
        what = f"{float(least):g} is outside the scale of the run's scores"
        raise InputError(Fault(what, f"{span[0]:g} to {span[1]:g}", where="--min-score"))
    found = collect_labelled_outputs(table, given)
    if not found.judges:
        raise InputError(Fault("no judge answered anything in this run", "labels are held against judges' answers"))
    labelled = add_scores_to_labelled_outputs(found, table, find_criterion_shares_of_run(rubrics), span)
    gates = tuple(list_run_gates_to_trust(table, rubrics, least))
    if not gates:
        raise InputError(Fault("the run has no gate to hold against people", "name one: --min-score NUMBER"))
    return LabelledGates(table=table, setup=setup, found=found, labelled=labelled, gates=gates, span=span)


TRUST_JSON = Codec(shapes={Label: VOID_LABEL_SHAPE, RunTrust: JsonShape(fields={"imported": JsonField(sparse=True)})})


def encode_run_trust(found: RunTrust) -> dict[str, Any]:
    """The stable JSON of it, with the answer of the first gate on top, in a word and in sentences."""
    first, values = found.gates[0], TRUST_JSON.to_json(found)
    for direction, value in zip(found.directions, values["directions"], strict=True):
        value["says"] = phrase_trust_in_direction(direction)
    return {
        "answer": first.answer,
        "says": phrase_trust_answer(first, found.most),
        "reasons": list_gate_error_lines(first),
        "next_step": phrase_trust_next_step(first, found.most),
        **values,
    }


def list_run_gates_to_trust(table: RunTable, rubrics: Json, least: Fraction | None) -> Iterator[TrustGate]:
    """What decides over an output, and then each criterion that can fail it by itself."""
    required, nodes = dict(_list_criteria_required_by_run(rubrics)), dict(_list_nodes_of_run(rubrics))
    if least is not None:
        about = f"score at least {format_number(float(least))}"
        yield TrustGate(id="min-score", about=about, least={SCORE_QUESTION: float(least)})
    elif (gate := _find_score_gate_of_run(table)) is not None:
        about = f"score at least {format_number(gate)}{', required criteria met' if required else ''}"
        yield TrustGate(id="verdict", about=about, least={SCORE_QUESTION: gate, **required}, nodes=nodes)
    for id, smallest in required.items():
        about = f"{word_criterion(id)} at least {format_number(smallest)}"
        yield TrustGate(id=id, about=about, least={id: smallest}, nodes=nodes)


def _find_least_asked_of_run_gates(gates: Sequence[TrustGate]) -> dict[str, float]:
    """What the gates ask for, by question; where two look at one, the first."""
    return {question: least for gate in reversed(gates) for question, least in gate.least.items()}


def _find_score_gate_of_run(table: RunTable) -> float | None:
    """The gate of the rubric layer on the scale of the score; None where rubrics do not share one."""
    span, rubrics = table.frame.scale, table.frame.rubrics
    own = {one.get("judge_gate") for one in rubrics}
    if span is None or len(own) != 1:
        return None
    gate = table.frame.gates.get("judge") or read_kept_fraction(own.pop() or DEFAULT_LAYER_GATE)
    return span[0] + (span[1] - span[0]) * float((gate - 1) / 4)


def _list_criteria_required_by_run(rubrics: Json) -> Iterator[tuple[str, float]]:
    for key, rubric in rubrics.items():
        named = {name_sample_rubric_criterion(key, one["criterion"]): one["min"] for one in rubric["gates"]}
        yield from ((id, float(read_kept_fraction(smallest))) for id, smallest in named.items())
        for one in _list_run_leaves(rubric["criteria"]):
            id = name_sample_rubric_criterion(key, one["id"])
            if one["required_min_score"] is not None:
                yield id, float(read_kept_fraction(one["required_min_score"]))
            elif one["required"] and one["scale"]["yes_no"]:
                yield id, 1.0


def _list_run_leaves(criteria: Sequence[Json]) -> Iterator[Json]:
    for one in criteria:
        yield from _list_run_leaves(one["children"]) if one["children"] else [one]


def _list_nodes_of_run(rubrics: Json) -> Iterator[tuple[str, tuple[float, Mapping[str, float]]]]:
    """The nodes of trees, each as a sum over the criteria below it that are answered."""
    for key, rubric in rubrics.items():
        waiting = list(rubric["criteria"])
        while waiting:
            one = waiting.pop()
            waiting += one["children"]
            if one["children"]:
                yield name_sample_rubric_criterion(key, one["id"]), _fold_run_node(key, one)


def _fold_run_node(key: str, node: Json) -> tuple[float, Mapping[str, float]]:
    """A mean by weight, each child put from its own scale onto that of the node."""
    if not node["children"]:
        return 0.0, {name_sample_rubric_criterion(key, node["id"]): 1.0}
    low, high = _read_run_scale_ends(node)
    total = sum(float(read_kept_fraction(one["weight"])) for one in node["children"])
    constant = low
    factors: dict[str, float] = {}
    for one in node["children"]:
        own_low, own_high = _read_run_scale_ends(one)
        by = float(read_kept_fraction(one["weight"])) / total * (high - low) / (own_high - own_low)
        below, parts = _fold_run_node(key, one)
        constant += by * (below - own_low)
        factors |= {id: by * factor for id, factor in parts.items()}
    return constant, factors


def _read_run_scale_ends(criterion: Json) -> tuple[float, float]:
    scale = criterion["scale"]
    return float(read_kept_fraction(scale["min"])), float(read_kept_fraction(scale["max"]))


def find_criterion_shares_of_run(rubrics: Json) -> CriterionShares:
    """Weights and scales where the score is nothing but a weighted mean of one list of criteria; else empty."""
    only = next(iter(rubrics.values())) if len(rubrics) == 1 else None
    if only is None or not _has_run_plain_weighted_mean(only):
        return {}
    key = next(iter(rubrics))
    return {
        name_sample_rubric_criterion(key, one["id"]): (
            float(read_kept_fraction(one["weight"])),
            float(read_kept_fraction(one["scale"]["min"])),
            float(read_kept_fraction(one["scale"]["max"])),
        )
        for one in only["criteria"]
    }


def _has_run_plain_weighted_mean(rubric: Json) -> bool:
    first, *rest = rubric["method"]["steps"]
    moved = [step for step in rest if not step.keys() & {"aggregate", "min", "max"}]
    nested = any(one["children"] or one["points"] is not None for one in rubric["criteria"])
    return "onto" in first and not moved and not nested and not rubric["red_flags"] and not rubric["bonuses"]
