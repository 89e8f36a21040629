"""May this judge gate a release? The gates of a run held against people's labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.calibrate.bound_labels import VOID_LABEL_SHAPE
from evenhand.calibrate.labelled_outputs import collect_labelled_outputs
from evenhand.calibrate.labels import SCORE_QUESTION, Label
from evenhand.calibrate.trust import (
    MOST_ERRORS,
    CriterionShares,
    DirectionTrust,
    GateTrust,
    TrustGate,
    add_scores_to_labelled_outputs,
    hold_directions_against_people,
    hold_gate_against_people,
    require_trust_limit,
)
from evenhand.compare.decide import DEFAULT_LAYER_GATE
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.files.codec import Codec
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.store.store import Store
from evenhand.wording import format_number
from evenhand.workflows.run_labels import load_kept_labels, load_labels_from_file
from evenhand.workflows.stores import with_opened_user_store

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrust:
    """The gates of a run, the one that decides over an output first, and the directions of its differences."""

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

    @property
    def exit_code(self) -> int:
        """0 where the first gate may gate, both ways."""
        return 0 if self.gates[0].answer == "may gate" else 1


@with_opened_user_store
def measure_trust(
    store: Store, run: str, labels: Path | None = None, *, least: Fraction | None = None, most: float = MOST_ERRORS
) -> RunTrust:
    """How often the gates of a run decide wrongly, by the labels in a file or, without one, those kept with the run.

    `least` is one more gate, on the score. `most` is the share of wrong decisions that is borne.
    """
    row = store.find_run(run)
    table, setup = load_run_columns(store, row["id"]), json.loads(row["setup"])
    given = _load_trust_labels(store, table, labels)
    span = table.frame.scale or (0.0, 1.0)
    found = collect_labelled_outputs(table, given)
    labelled = add_scores_to_labelled_outputs(found, table, find_criterion_shares(setup["rubrics"]), span)
    gates = list(list_trust_gates(table, setup["rubrics"], least))
    if not gates:
        raise InputError(Fault("the run has no gate to hold against people", "name one: --min-score NUMBER"))
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
    )


def encode_run_trust(found: RunTrust) -> dict[str, Any]:
    """The stable JSON of it, with the answer of the first gate on top."""
    return {"answer": found.gates[0].answer, **TRUST_JSON.to_json(found)}


TRUST_JSON = Codec(shapes={Label: VOID_LABEL_SHAPE})


def _load_trust_labels(store: Store, table: RunTable, labels: Path | None) -> tuple[Label, ...]:
    if labels is not None:
        return load_labels_from_file(labels, table)
    kept = load_kept_labels(store, table)
    if not kept:
        raise InputError(Fault(f"no labels are kept with run {table.run}", "name a file: --labels labels.jsonl"))
    return kept


def list_trust_gates(table: RunTable, rubrics: Json, least: Fraction | None) -> Iterator[TrustGate]:
    """What decides over an output, and then each criterion that can fail it by itself."""
    required = dict(_list_required_criteria(rubrics))
    if least is not None:
        about = f"score at least {format_number(float(least))}"
        yield TrustGate(id="min-score", about=about, least={SCORE_QUESTION: float(least)})
    elif (gate := _find_score_gate(table)) is not None:
        about = f"score at least {format_number(gate)}{', required criteria met' if required else ''}"
        yield TrustGate(id="verdict", about=about, least={SCORE_QUESTION: gate, **required})
    for id, smallest in required.items():
        yield TrustGate(id=id, about=f"{id} at least {format_number(smallest)}", least={id: smallest})


def _find_score_gate(table: RunTable) -> float | None:
    """The gate of the rubric layer on the scale of the score; None where rubrics do not share one."""
    span, rubrics = table.frame.scale, table.frame.rubrics
    own = {one.get("judge_gate") for one in rubrics}
    if span is None or len(own) != 1:
        return None
    gate = table.frame.gates.get("judge") or Fraction(own.pop() or DEFAULT_LAYER_GATE)
    return span[0] + (span[1] - span[0]) * float((gate - 1) / 4)


def _list_required_criteria(rubrics: Json) -> Iterator[tuple[str, float]]:
    for key, rubric in rubrics.items():
        named = {name_sample_rubric_criterion(key, one["criterion"]): one["min"] for one in rubric["gates"]}
        yield from ((id, float(Fraction(smallest))) for id, smallest in named.items())
        for one in rubric["criteria"]:
            id = name_sample_rubric_criterion(key, one["id"])
            if one["required_min_score"] is not None:
                yield id, float(Fraction(one["required_min_score"]))
            elif one["required"] and one["scale"]["yes_no"]:
                yield id, 1.0


def find_criterion_shares(rubrics: Json) -> CriterionShares:
    """Weights and scales where the score is nothing but a weighted mean of one list of criteria; else empty."""
    only = next(iter(rubrics.values())) if len(rubrics) == 1 else None
    if only is None or not _is_plain_weighted_mean(only):
        return {}
    key = next(iter(rubrics))
    return {
        name_sample_rubric_criterion(key, one["id"]): (
            float(Fraction(one["weight"])),
            float(Fraction(one["scale"]["min"])),
            float(Fraction(one["scale"]["max"])),
        )
        for one in only["criteria"]
    }


def _is_plain_weighted_mean(rubric: Json) -> bool:
    first, *rest = rubric["method"]["steps"]
    moved = [step for step in rest if not step.keys() & {"aggregate", "min", "max"}]
    nested = any(one["children"] or one["points"] is not None for one in rubric["criteria"])
    return "onto" in first and not moved and not nested and not rubric["red_flags"] and not rubric["bonuses"]
