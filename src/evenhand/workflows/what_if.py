"""What if weights, ceilings, thresholds and gates were others: a stored run answers at once; the rubric is saved."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock

from evenhand.compare.weight_changes import WeightMap, map_variant_wins_over_weights
from evenhand.compare.weighted_scores import ComparedWeightedScores, weigh_compared_criteria
from evenhand.compare.what_if import WhatIf, WhatIfColumns, compare_what_if, prepare_what_if_comparison
from evenhand.errors import Fault, InputError
from evenhand.files.rubric_writing import is_shipped_method, write_method_yaml, write_rubric_yaml
from evenhand.model.method import Ceiling
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Gate, Scale
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import (
    find_scoring_rubrics,
    refuse_run_without_scoring_rubric,
    restore_run_rubric,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction
from evenhand.workflows.rubric import save_user_rubric_text, save_user_rubric_texts
from evenhand.workflows.stores import with_opened_user_store

RUNS_KEPT = 3  # In memory: the columns of a hundred thousand outputs take some ten megabytes each.


@dataclass(slots=True)
class PreparedRun:
    """A run in memory, with what does not change between two questions."""

    columns: WhatIfColumns
    name: str
    weighed: ComparedWeightedScores | None
    positions: list[int]  # Of its samples in the store.


@dataclass(slots=True)
class WhatIfWorkflowRuns:
    """The runs that were asked last; finished runs do not change."""

    _kept: OrderedDict[tuple[str, ...], PreparedRun] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find_prepared_run(self, store: Store, row: Row) -> PreparedRun:
        """A run made ready, once."""
        key = (str(store.address), row["id"], row["ended"] or "")
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _load_run_for_what_if(store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


PREPARED_RUNS = WhatIfWorkflowRuns()


def _load_run_for_what_if(store: Store, row: Row) -> PreparedRun:
    if row["state"] != "finished":
        raise InputError(Fault(f"run {row['id']} is not finished ({row['state']})", "ask once it is finished"))
    setup = json.loads(row["setup"])
    if not setup["rubrics"]:
        raise InputError(Fault("the run has no rubric", "assertions alone decide: there are no weights to move"))
    if len(setup["rubrics"]) > 1:
        raise InputError(
            Fault("the run has several rubrics", "rescore it with one of them: evenhand runs rescore --tag")
        )
    refuse_run_without_scoring_rubric(setup)
    rubrics = find_scoring_rubrics(setup)
    (kept,) = rubrics.values()
    if kept["method"].get("dialogue") == "pairwise":
        raise InputError(Fault("the judges of this run compared outputs in pairs", "there are no scores to weigh"))
    if setup["how"].get("cascade") is not None:
        what = "the judges of this run are a cascade: with other numbers it would have passed on other outputs"
        raise InputError(Fault(what, "change the rubric, and run the eval again"))
    table = load_run_columns(store, row["id"])
    judges = {one["name"]: float(read_kept_fraction(one["weight"])) for one in setup["judges"]}
    rubric = restore_run_rubric(kept)
    weighed = weigh_compared_criteria(table, rubrics) if len(table.variants) > 1 else None
    positions = store.rows.list_positions(row["id"])
    return PreparedRun(prepare_what_if_comparison(table, rubric, judges), row["name"], weighed, positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWhatIf:
    """The answer, the numbers that were asked about, and those that are stored."""

    run: str
    name: str
    rubric: Rubric
    found: WhatIf
    controls: tuple[RubricControl, ...]
    stored: Mapping[str, float]
    beyond: int
    samples: tuple[str, ...]  # Ids of the flipped, in their order.
    positions: tuple[int, ...]


@with_opened_user_store
def ask_what_if_of_run(store: Store, run: str, changed: Mapping[str, str] | None = None) -> AskedWhatIf:
    """What a run comes to with some numbers of its rubric changed; by the names of `list_what_if_controls`."""
    row = store.find_run(run)
    prepared = PREPARED_RUNS.find_prepared_run(store, row)
    columns = prepared.columns
    rubric = change_rubric_by_controls(columns.rubric, changed or {})
    found = compare_what_if(columns, rubric)
    places = [one.place for one in found.flips]
    return AskedWhatIf(
        run=row["id"],
        name=prepared.name,
        rubric=rubric,
        found=found,
        controls=tuple(list_what_if_controls(rubric)),
        stored={one.name: one.value for one in list_what_if_controls(columns.rubric)},
        beyond=columns.beyond,
        samples=tuple(columns.table.samples[place] for place in places),
        positions=tuple(prepared.positions[place] for place in places),
    )


@with_opened_user_store
def save_what_if_rubric_file(
    store: Store, run: str, changed: Mapping[str, str], target: str, *, replace_file: bool = False
) -> list[str]:
    """Write the changed rubric to a new file, with a file of its method where that is changed; their names."""
    prepared = PREPARED_RUNS.find_prepared_run(store, store.find_run(run))
    stem = target.rpartition(".")[0] or target
    rubric = replace(change_rubric_by_controls(prepared.columns.rubric, changed), name=stem)
    if is_shipped_method(rubric.method):
        save_user_rubric_text(target, write_rubric_yaml(rubric, rubric.method.name), replace=replace_file)
        return [target]
    beside = f"{stem}-method.yaml"
    method = write_method_yaml(replace(rubric.method, name=f"{stem}-method"))
    save_user_rubric_texts({beside: method, target: write_rubric_yaml(rubric, beside)}, replace=replace_file)
    return [target, beside]


@with_opened_user_store
def map_weights_of_stored_run(store: Store, run: str, across: str = "", up: str = "") -> WeightMap | str:
    """Over which weights of two criteria each variant wins; where there is no map, why."""
    weighed = PREPARED_RUNS.find_prepared_run(store, store.find_run(run)).weighed
    if weighed is None:
        return "It takes two variants and two criteria with weights to map."
    if not len(weighed.values):
        return "No sample has a score of every variant: there is nothing to map."
    return map_variant_wins_over_weights(weighed, across, up)


MOST_CHANGED = 10**6  # No number of a rubric is larger.
LEAST_WEIGHT = 0.01
WEIGHT_DECIMALS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricControl:
    """One number of a rubric that can be moved."""

    name: str  # Of its field in a form.
    kind: str
    label: str
    value: float
    low: float
    high: float
    step: float  # How finely it is moved, from the low end on.


def list_what_if_controls(rubric: Rubric) -> Iterator[RubricControl]:
    """Every number that can be moved, by kind."""
    span = (float(rubric.method.scale.min), float(rubric.method.scale.max))
    most = max(1.0, 2 * max(float(one.weight) for one in rubric.criteria))
    # A weight of 0 is none. From one step on, whole numbers can be reached; from 0.01 on in steps of 0.1, they cannot.
    finest = LEAST_WEIGHT if min(one.weight for one in rubric.criteria) < 1 else _choose_what_if_control_step(most)
    for at, one in enumerate(rubric.criteria):
        if one.points is None:
            yield _make_what_if_control(f"weight-{at}", "Weights", one.id, one.weight, (finest, most), finest)
    for at, step in enumerate(rubric.method.steps):
        criterion = rubric.criterion(step.criterion) if isinstance(step, Ceiling) else None
        if isinstance(step, Ceiling) and criterion is not None:
            while_ = f"while {step.criterion} is below"
            yield _make_what_if_control(
                f"below-{at}", "Ceilings", while_, step.below, _find_what_if_control_ends(criterion.scale)
            )
            yield _make_what_if_control(f"at-{at}", "Ceilings", "the score is at most", step.at, span)
    gates = {gate.criterion: gate.min for gate in rubric.gates}
    for at, leaf in enumerate(rubric.leaves.values()):
        if not leaf.scale.yes_no:
            least = gates.get(leaf.id, leaf.scale.min)
            yield _make_what_if_control(
                f"gate-{at}", "Gates", f"{leaf.id} at least", least, _find_what_if_control_ends(leaf.scale)
            )
    for at, threshold in enumerate(rubric.method.verdicts):
        yield _make_what_if_control(f"verdict-{at}", "Verdicts", f"{threshold.verdict} from", threshold.from_, span)
    for at, grade in enumerate(rubric.method.grades):
        yield _make_what_if_control(f"grade-{at}", "Grades", f"{grade.grade} from", grade.from_, span)


def _make_what_if_control(
    name: str, kind: str, label: str, value: Fraction, ends: tuple[float, float], step: float | None = None
) -> RubricControl:
    low, high = ends
    fine = step or _choose_what_if_control_step(high - low)
    return RubricControl(name=name, kind=kind, label=label, value=float(value), low=low, high=high, step=fine)


def _choose_what_if_control_step(length: float) -> float:
    return 0.01 if length <= 2 else 0.1 if length <= 20 else 1.0


def _find_what_if_control_ends(scale: Scale) -> tuple[float, float]:
    return float(scale.min), float(scale.max)


def change_rubric_by_controls(rubric: Rubric, changed: Mapping[str, str]) -> Rubric:
    """A rubric with some of its numbers changed; what it refuses is told as it tells it."""
    given = {one.name: one for one in list_what_if_controls(rubric)}
    new = {name: _read_control_number(text) for name, text in changed.items() if name in given}
    # A third stands on a slider beside where it is: that is no change.
    new = {name: value for name, value in new.items() if abs(value - given[name].value) >= given[name].step / 2}
    if not new:
        return rubric
    criteria = list(rubric.criteria)
    weights = [new.get(f"weight-{at}", one.weight) for at, one in enumerate(criteria)]
    if (must := rubric.method.weights_sum_to) is not None and sum(weights) > 0:
        weights = _fit_weights_to_controls(weights, must)
    method = rubric.method
    for at, step in enumerate(method.steps):
        if isinstance(step, Ceiling):
            moved = replace(step, below=new.get(f"below-{at}", step.below), at=new.get(f"at-{at}", step.at))
            method = method.with_step(step, moved)
    method = replace(
        method,
        verdicts=tuple(
            replace(one, from_=new.get(f"verdict-{at}", one.from_)) for at, one in enumerate(method.verdicts)
        ),
        grades=tuple(replace(one, from_=new.get(f"grade-{at}", one.from_)) for at, one in enumerate(method.grades)),
    )
    return replace(
        rubric,
        method=method,
        criteria=tuple(replace(one, weight=weight) for one, weight in zip(criteria, weights, strict=True)),
        gates=tuple(_change_gates_by_controls(rubric, new)),
    )


def _fit_weights_to_controls(weights: Sequence[Fraction], must: Fraction) -> list[Fraction]:
    """Weights put in proportion, as decimals that a file can hold; the last one takes what is left of the sum."""
    total = sum(weights, Fraction(0))
    exact = [weight * must / total for weight in weights]
    first = [round(weight, WEIGHT_DECIMALS) for weight in exact[:-1]]
    last = must - sum(first, Fraction(0))
    return [*first, last] if min(*first, last) > 0 else exact


def _change_gates_by_controls(rubric: Rubric, new: Mapping[str, Fraction]) -> Iterator[Gate]:
    """A gate at the lowest level gates nothing: it goes, and one that is raised from there comes."""
    own = {gate.criterion: gate for gate in rubric.gates}
    for at, leaf in enumerate(rubric.leaves.values()):
        least = new.get(f"gate-{at}")
        if least is None:
            yield from [own[leaf.id]] if leaf.id in own else []
        elif least > leaf.scale.min:
            yield Gate(criterion=leaf.id, min=least)
    yield from (gate for gate in rubric.gates if gate.criterion not in rubric.leaves)


def _read_control_number(text: str) -> Fraction:
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(Fault(f"{text[:40]!r} is no number", "as in 0.35")) from None
    if abs(value) > MOST_CHANGED or len(text) > 40:
        raise InputError(Fault(f"{text[:40]} is too large a number", "as in 0.35"))
    return value
