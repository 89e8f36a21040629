"""What if weights, ceilings, thresholds and gates were others: a stored run answers at once; the rubric is saved."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from threading import Lock
from typing import Any

from evenhand.compare.weight_map import WeightMap, choose_map_axes, map_variant_wins_over_weights
from evenhand.compare.weighted_scores import (
    ComparedWeightedScores,
    weigh_compared_criteria,
    weigh_compared_criteria_by,
)
from evenhand.compare.what_if import WhatIf, WhatIfColumns, compare_what_if, prepare_what_if_comparison
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.files.rubric_writing import is_shipped_method, write_method_yaml, write_rubric_yaml
from evenhand.model.method import Ceiling, Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion, Gate
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import (
    find_run_rubric_for_tag,
    find_scoring_rubrics,
    refuse_run_without_scoring_rubric,
    restore_run_rubric,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.rubric import save_user_rubric_text, save_user_rubric_texts
from evenhand.workflows.stores import with_opened_user_store

MAPS_KEPT = 32  # Of each run: a map does not change while only the weights of its axes do.
RUNS_KEPT = 3  # In memory: the columns of a hundred thousand outputs take some ten megabytes each.
MOST_CHANGED = 10**6  # No number of a rubric is larger.
LEAST_WEIGHT = 0.01
WEIGHT_DECIMALS = 6
CriterionPath = tuple[int, ...]  # Places from the top of the tree down.


@dataclass(slots=True)
class PreparedRun:
    """A run in memory, with what does not change between two questions."""

    columns: WhatIfColumns
    name: str
    weighed: ComparedWeightedScores | None
    positions: list[int]  # Of its samples in the store.
    maps: dict[tuple[Any, ...], WeightMap] = field(default_factory=dict)


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


def can_ask_what_if(row: Row) -> bool:
    """Whether a run is one that can be asked, as far as its setup tells."""
    try:
        _refuse_what_if(row, json.loads(row["setup"]))
    except InputError:
        return False
    return True


def _refuse_what_if(row: Row, setup: Mapping[str, Any]) -> None:
    id, rubrics = row["id"], setup["rubrics"]
    if row["state"] != "finished":
        raise InputError(Fault(f"run {id} is not finished ({row['state']})", "ask once it is finished"))
    if not rubrics:
        what = "the run has no rubric: assertions alone decide, and there are no weights to move"
        raise InputError(Fault(what, "add a rubric to the eval, and run it again"))
    if len(rubrics) > 1:
        hint = f"change one of them, and evenhand runs rescore {id} --tag TAG --rubric FILE"
        raise InputError(Fault("the run has several rubrics, each for its own samples", hint))
    refuse_run_without_scoring_rubric(setup)
    (kept,) = find_scoring_rubrics(setup).values()
    if kept["method"].get("dialogue") == PAIRWISE:
        what = "the judges of this run compared outputs in pairs: there are no scores to weigh"
        raise InputError(Fault(what, "run the eval with a rubric whose method scores each output, such as council"))
    if setup["how"].get("cascade") is not None:
        what = "the judges of this run are a cascade: with other numbers it would have passed on other outputs"
        raise InputError(Fault(what, "change the rubric, and run the eval again"))


def _load_run_for_what_if(store: Store, row: Row) -> PreparedRun:
    setup = json.loads(row["setup"])
    _refuse_what_if(row, setup)
    rubrics = find_scoring_rubrics(setup)
    ((tag, kept),) = rubrics.items()
    asked = find_run_rubric_for_tag(setup, tag)
    table = load_run_columns(store, row["id"])
    rubric = restore_run_rubric(kept)
    weighed = weigh_compared_criteria(table, rubrics, asked={tag: asked}) if len(table.variants) > 1 else None
    positions = store.rows.list_positions(row["id"])
    return PreparedRun(prepare_what_if_comparison(table, rubric, asked), row["name"], weighed, positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWhatIf:
    """The answer, the numbers that were asked about, and those that are stored."""

    run: str
    name: str
    rubric: Rubric
    found: WhatIf
    controls: tuple[RubricControl, ...]
    stored: Mapping[str, float]
    shares: Mapping[str, tuple[float, float]]  # What each leaf weighs in the whole: asked about, and stored.
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
    before = list_leaf_shares(columns.rubric)
    return AskedWhatIf(
        run=row["id"],
        name=prepared.name,
        rubric=rubric,
        found=found,
        controls=tuple(list_what_if_controls(rubric)),
        stored={one.name: one.value for one in list_what_if_controls(columns.rubric)},
        shares={id: (share, before[id]) for id, share in list_leaf_shares(rubric).items()},
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
def map_weights_of_stored_run(
    store: Store, run: str, across: str = "", up: str = "", changed: Mapping[str, str] | None = None
) -> WeightMap | str:
    """Over which weights of two criteria each variant wins, all other numbers as changed; where there is no map, why.

    The axes are the heaviest criteria as stored, so that they stay while weights are moved.
    """
    prepared = PREPARED_RUNS.find_prepared_run(store, store.find_run(run))
    weighed = prepared.weighed
    if weighed is None:
        return "It takes two variants and two criteria with weights to map."
    if not len(weighed.values):
        return "No sample has a score of every variant: there is nothing to map."
    x, y = (weighed.parts[at] for at in choose_map_axes(weighed, across, up))
    rubric = change_rubric_by_controls(prepared.columns.rubric, changed or {})
    shares = list_leaf_shares(rubric)
    rest = [share for id, share in shares.items() if id not in (x, y)]
    key = (x, y, rubric.method.steps, *(round(share / sum(rest), 9) for share in rest))
    found = prepared.maps.get(key)
    if found is None:
        prepared.maps = dict(list(prepared.maps.items())[-MAPS_KEPT:])
        found = map_variant_wins_over_weights(weigh_compared_criteria_by(weighed, rubric, shares), x, y)
        prepared.maps[key] = found
    return found


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
    yield from _list_weight_controls(rubric.criteria)
    for at, step in enumerate(rubric.method.steps):
        criterion = rubric.criterion(step.criterion) if isinstance(step, Ceiling) else None
        if isinstance(step, Ceiling) and criterion is not None:
            ends = (float(criterion.scale.min), float(criterion.scale.max))
            while_ = f"while {step.criterion} is below"
            yield _make_what_if_control(f"below-{at}", "Ceilings", while_, step.below, ends)
            yield _make_what_if_control(f"at-{at}", "Ceilings", "the score is at most", step.at, span)
    for at, one in enumerate(_list_all_criteria(rubric.criteria)):
        yield _make_gate_control(f"gate-{at}", one, find_effective_gate(rubric, one.id))
    for at, threshold in enumerate(rubric.method.verdicts):
        yield _make_what_if_control(f"verdict-{at}", "Verdicts", f"{threshold.verdict} from", threshold.from_, span)
    for at, grade in enumerate(rubric.method.grades):
        yield _make_what_if_control(f"grade-{at}", "Grades", f"{grade.grade} from", grade.from_, span)


def list_leaf_shares(rubric: Rubric) -> dict[str, float]:
    """What each leaf weighs in the whole, as a share; points that are taken off count by their size."""
    shares: dict[str, float] = {}

    def walk(criteria: Sequence[Criterion], above: Fraction) -> None:
        total = sum((abs(_read_worth(one)) for one in criteria), Fraction(0))
        for one in criteria:
            share = above * abs(_read_worth(one)) / total
            if one.children:
                walk(one.children, share)
            else:
                shares[one.id] = float(share)

    walk(rubric.criteria, Fraction(1))
    return shares


def find_effective_gate(rubric: Rubric, criterion: str) -> Fraction | None:
    """The highest level that gates ask of a criterion, wherever the rubric says so; None where none does."""
    return max((gate.min for gate in rubric.all_gates if gate.criterion == criterion), default=None)


def change_rubric_by_controls(rubric: Rubric, changed: Mapping[str, str]) -> Rubric:
    """A rubric with some of its numbers changed; what it refuses is told as it tells it."""
    given = {one.name: one for one in list_what_if_controls(rubric)}
    new = {name: _read_control_number(text) for name, text in changed.items() if name in given}
    # A third stands on a slider beside where it is: that is no change.
    new = {name: value for name, value in new.items() if abs(value - given[name].value) >= given[name].step / 2}
    if not new:
        return rubric
    criteria = _change_weights(rubric.criteria, new)
    must = rubric.method.weights_sum_to
    if must is not None and sum(one.weight for one in criteria) > 0:
        fitted = _fit_weights_to_controls([one.weight for one in criteria], must)
        criteria = tuple(replace(one, weight=weight) for one, weight in zip(criteria, fitted, strict=True))
    every = _list_all_criteria(rubric.criteria)
    levels = {one.id: new[f"gate-{at}"] for at, one in enumerate(every) if f"gate-{at}" in new}
    return replace(
        rubric,
        method=_change_method(rubric.method, new),
        criteria=_change_required(criteria, levels),
        gates=tuple(_change_gates(rubric, every, levels)),
    )


def _list_all_criteria(criteria: Sequence[Criterion]) -> list[Criterion]:
    """Nodes before what is below them."""
    return [found for one in criteria for found in (one, *_list_all_criteria(one.children))]


def _read_worth(criterion: Criterion) -> Fraction:
    return criterion.weight if criterion.points is None else criterion.points


def _name_weight_control(path: CriterionPath) -> str:
    return "-".join(("weight", *map(str, path)))


def _list_weight_controls(
    criteria: Sequence[Criterion], path: CriterionPath = (), parent: str = ""
) -> Iterator[RubricControl]:
    """Weights, or points, of criteria that stand beside each other, then of those below each of them."""
    sizes = [abs(_read_worth(one)) for one in criteria]
    most = max(1.0, 2 * float(max(sizes)))
    # A weight of 0 is none. From one step on, whole numbers can be reached; from 0.01 on in steps of 0.1, they cannot.
    finest = LEAST_WEIGHT if min(sizes) < 1 else _choose_what_if_control_step(most)
    for at, one in enumerate(criteria):
        worth = _read_worth(one)
        kind = "Weights" if one.points is None else "Points"
        label = f"{one.id} (in {parent})" if parent else one.id
        ends = (finest, most) if worth > 0 else (-most, -finest)
        yield _make_what_if_control(_name_weight_control((*path, at)), kind, label, worth, ends, finest)
    for at, one in enumerate(criteria):
        if one.children:
            yield from _list_weight_controls(one.children, (*path, at), one.id)


def _make_gate_control(name: str, criterion: Criterion, least: Fraction | None) -> RubricControl:
    """From the lowest level on, which gates nothing."""
    scale = criterion.scale
    value = scale.min if least is None else least
    whole = scale.integers and value.denominator == 1
    label = f"{criterion.id} must be yes" if scale.yes_no else f"{criterion.id} at least"
    ends = (float(scale.min), float(scale.max))
    return _make_what_if_control(name, "Gates", label, value, ends, 1.0 if whole else None)


def _make_what_if_control(
    name: str, kind: str, label: str, value: Fraction, ends: tuple[float, float], step: float | None = None
) -> RubricControl:
    low, high = ends
    fine = step or _choose_what_if_control_step(high - low)
    return RubricControl(name=name, kind=kind, label=label, value=float(value), low=low, high=high, step=fine)


def _choose_what_if_control_step(length: float) -> float:
    return 0.01 if length <= 2 else 0.1 if length <= 20 else 1.0


def _change_weights(
    criteria: Sequence[Criterion], new: Mapping[str, Fraction], path: CriterionPath = ()
) -> tuple[Criterion, ...]:
    changed = []
    for at, one in enumerate(criteria):
        here = (*path, at)
        worth = new.get(_name_weight_control(here), _read_worth(one))
        own: dict[str, Any] = {"weight": worth} if one.points is None else {"points": worth}
        changed.append(replace(one, **own, children=_change_weights(one.children, new, here)))
    return tuple(changed)


def _fit_weights_to_controls(weights: Sequence[Fraction], must: Fraction) -> list[Fraction]:
    """Weights put in proportion, as decimals that a file can hold; the last one takes what is left of the sum."""
    total = sum(weights, Fraction(0))
    exact = [weight * must / total for weight in weights]
    first = [round(weight, WEIGHT_DECIMALS) for weight in exact[:-1]]
    last = must - sum(first, Fraction(0))
    return [*first, last] if min(*first, last) > 0 else exact


def _change_method(method: Method, new: Mapping[str, Fraction]) -> Method:
    for at, step in enumerate(method.steps):
        if isinstance(step, Ceiling):
            moved = replace(step, below=new.get(f"below-{at}", step.below), at=new.get(f"at-{at}", step.at))
            method = method.with_step(step, moved)
    verdicts = (replace(one, from_=new.get(f"verdict-{at}", one.from_)) for at, one in enumerate(method.verdicts))
    grades = (replace(one, from_=new.get(f"grade-{at}", one.from_)) for at, one in enumerate(method.grades))
    return replace(method, verdicts=tuple(verdicts), grades=tuple(grades))


def _is_gated_by_itself(criterion: Criterion) -> bool:
    """Whether a criterion says itself what it asks for: `required_min_score`, or `required` of a yes/no one."""
    return criterion.required_min_score is not None or (criterion.required and criterion.scale.yes_no)


def _change_required(criteria: Sequence[Criterion], levels: Mapping[str, Fraction]) -> tuple[Criterion, ...]:
    """A gate that stands with its criterion is changed there; at the lowest level it goes."""
    changed = []
    for one in criteria:
        own: dict[str, Any] = {}
        if one.id in levels and _is_gated_by_itself(one):
            least = levels[one.id] if levels[one.id] > one.scale.min else None
            own = {"required": least is not None} if one.scale.yes_no else {"required_min_score": least}
        changed.append(replace(one, **own, children=_change_required(one.children, levels)))
    return tuple(changed)


def _change_gates(rubric: Rubric, every: Sequence[Criterion], levels: Mapping[str, Fraction]) -> Iterator[Gate]:
    """A gate at the lowest level gates nothing: it goes, and one that is raised from there comes."""
    yield from (gate for gate in rubric.gates if gate.criterion not in levels)
    for one in every:
        least = levels.get(one.id)
        if least is not None and least > one.scale.min and not _is_gated_by_itself(one):
            yield Gate(criterion=one.id, min=least)


def _read_control_number(text: str) -> Fraction:
    try:
        value = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(Fault(f"{text[:40]!r} is no number", "as in 0.35")) from None
    if abs(value) > MOST_CHANGED or len(text) > 40:
        raise InputError(Fault(f"{text[:40]} is too large a number", "as in 0.35"))
    return value
