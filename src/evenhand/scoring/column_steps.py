"""The arithmetic of each step over one chunk of criterion columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InputError
from evenhand.model.criterion import Criterion
from evenhand.model.rubric import Rubric
from evenhand.model.scale import SHARE, CriterionScore, Scale
from evenhand.model.scorecard import Answers
from evenhand.model.steps import (
    Add,
    Cap,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Round,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)
from evenhand.scoring.exact_column import BooleanArray, ExactColumn, read_criterion_column, sum_weighted_columns


def run_column_steps(case: ColumnChunk) -> ExactColumn:
    """The steps of the method, in order."""
    value: ExactColumn | None = None
    for step in case.rubric.method.steps:
        value = COLUMN_STEP_FUNCTIONS[type(step)](step, value, case)
    assert value is not None
    return value


def _apply_weighted_sum_columns(_step: WeightedSum, _value: None, case: ColumnChunk) -> ExactColumn:
    return sum_weighted_columns([(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria])


def _apply_weighted_mean_columns(step: WeightedMean | LayerMean, _value: None, case: ColumnChunk) -> ExactColumn:
    present = case.present_criteria()
    total = sum((criterion.weight for criterion in present), Fraction(0))
    if step.onto is None:
        return sum_weighted_columns([(criterion.weight / total, case.values[criterion.id]) for criterion in present])
    return rescale_score_columns(step.onto, [(c.weight / total, c.scale, case.values[c.id]) for c in present])


def _apply_points_share_columns(_step: PointsShare, _value: None, case: ColumnChunk) -> ExactColumn:
    points = [(c.points or Fraction(0), c) for c in case.rubric.criteria]
    possible = sum((worth for worth, _ in points if worth > 0), Fraction(0))
    return rescale_score_columns(SHARE, [(worth / possible, c.scale, case.values[c.id]) for worth, c in points])


def _apply_ceiling_columns(step: Ceiling, value: ExactColumn, case: ColumnChunk) -> ExactColumn:
    return value.at_most(step.at, case.values[step.criterion].below(step.below))


def _apply_shortfall_columns(step: Shortfall, value: ExactColumn, case: ColumnChunk) -> ExactColumn:
    for criterion in case.rubric.criteria:
        if criterion.fixed:
            own = case.values[criterion.id]
            short = own.below(step.below)
            if short.any():
                value = value.times_where(short, own, 1 / step.below)
    return value


def _apply_deduct_columns(step: Deduct, value: ExactColumn, case: ColumnChunk) -> ExactColumn:
    return value.plus(_sum_statement_columns(step, case), -1)


def _apply_add_columns(step: Add, value: ExactColumn, case: ColumnChunk) -> ExactColumn:
    return value.plus(_sum_statement_columns(step, case), 1)


def _apply_cap_columns(step: Cap, value: ExactColumn, case: ColumnChunk) -> ExactColumn:
    return value if case.table.unsafe is None else value.at_most(step.at, case.table.unsafe[case.rows])


def _apply_clamp_columns(step: Clamp, value: ExactColumn, _case: ColumnChunk) -> ExactColumn:
    return value.clamped(step.min, step.max)


def _apply_round_columns(step: Round, value: ExactColumn, _case: ColumnChunk) -> ExactColumn:
    return value.rounded(step.decimals)


def _apply_panel_columns(_step: Panel, value: ExactColumn, _case: ColumnChunk) -> ExactColumn:
    """One set of answers per row: there is nobody to join."""
    return value


def _sum_statement_columns(step: Deduct | Add, case: ColumnChunk) -> ExactColumn:
    amounts = [(step.each if own is None else own, found) for own, found in case.statements(step.for_)]
    count = len(case.incomplete)
    if not amounts:
        return ExactColumn.constant(count, Fraction(0))
    return sum_weighted_columns(
        [(amount, ExactColumn(found.astype(np.int64), 1, 1)) for amount, found in amounts]
    ).clamped(None, step.most)


class CriterionTable:
    """The given columns, checked once."""

    def __init__(
        self,
        rubric: Rubric,
        scores: Mapping[str, ArrayLike],
        red_flags: Mapping[str, ArrayLike],
        bonuses: Mapping[str, ArrayLike],
        unsafe: ArrayLike | None,
    ) -> None:
        self.rubric = rubric
        unknown = [id for id in scores if id not in rubric.leaves]
        if unknown or not scores:
            raise InputError(f"columns are named after criteria: {', '.join(rubric.leaves)}; got {', '.join(unknown)}")
        self.scores = {id: _check_number_column(id, column) for id, column in scores.items()}
        masked = {id: column for id, column in scores.items() if isinstance(column, np.ma.MaskedArray)}
        self.missing = {id: np.ma.getmaskarray(column) for id, column in masked.items()}
        self.found = {
            "red_flags": _read_statement_columns(red_flags, [flag.id for flag in rubric.red_flags]),
            "bonuses": _read_statement_columns(bonuses, [bonus.id for bonus in rubric.bonuses]),
        }
        first = next(iter(self.scores.values()))
        self.rows = first.shape[0] if first.ndim else 0
        self.unsafe = None if unsafe is None else _check_boolean_column("unsafe", unsafe)
        given = [*self.scores.values(), *self.found["red_flags"].values(), *self.found["bonuses"].values()]
        given += [] if self.unsafe is None else [self.unsafe]
        if any(column.ndim != 1 or len(column) != self.rows for column in given):
            raise InputError(f"every column needs one dimension and {self.rows:,} rows, like the first")

    def read_row_answers(self, row: int) -> Answers:
        """One row in the form that the exact path takes."""
        scores: dict[str, CriterionScore] = {}
        for id, column in self.scores.items():
            gone = id in self.missing and self.missing[id][row]
            scores[id] = _read_row_score(self.rubric.leaves[id].scale, None if gone else column[row].item())
        return Answers(
            id=str(row),
            scores=scores,
            red_flags={id: "" for id, column in self.found["red_flags"].items() if column[row]},
            bonuses={id: "" for id, column in self.found["bonuses"].items() if column[row]},
            unsafe="unsafe" if self.unsafe is not None and self.unsafe[row] else None,
        )


@dataclass(slots=True)
class ColumnChunk:
    """One chunk: the value of each criterion, and which rows are incomplete or need the exact path."""

    table: CriterionTable
    rows: slice
    values: dict[str, ExactColumn] = field(default_factory=dict)
    missing: dict[str, BooleanArray] = field(default_factory=dict)
    incomplete: BooleanArray = field(init=False)
    odd: BooleanArray = field(init=False)

    def __post_init__(self) -> None:
        count = self.rows.stop - self.rows.start
        self.incomplete = np.zeros(count, dtype=bool)
        self.odd = np.zeros(count, dtype=bool)
        layers = isinstance(self.rubric.method.steps[0], LayerMean)
        for id, leaf in self.rubric.leaves.items():
            if id in self.table.scores:
                self._read_leaf(leaf)
            elif not layers:
                self.values[id] = ExactColumn.constant(count, leaf.scale.min)
                self.missing[id] = np.ones(count, dtype=bool)
                self.incomplete[:] = True
        for criterion in self.rubric.criteria:
            self._fold_child_columns(criterion)
        for id in _list_limiting_criteria(self.rubric):
            if id not in self.values:  # An absent layer: a gate on it is not known to have passed.
                self.values[id] = ExactColumn.constant(count, Fraction(0))
                self.missing[id] = np.ones(count, dtype=bool)
                self.incomplete[:] = True

    @property
    def rubric(self) -> Rubric:
        """The rubric the table is scored under."""
        return self.table.rubric

    def unanswered(self, id: str) -> BooleanArray | np.bool_:
        """The rows in which a criterion, or one below it, has no answer."""
        criterion = self.rubric.criterion(id)
        below = [self.missing[leaf.id] for leaf in criterion.leaves() if leaf.id in self.missing] if criterion else []
        return np.logical_or.reduce(below) if below else np.bool_(False)

    def present_criteria(self) -> list[Criterion]:
        """The criteria that have values."""
        return [criterion for criterion in self.rubric.criteria if self._is_present(criterion)]

    def _is_present(self, criterion: Criterion) -> bool:
        return criterion.id in self.values and any(leaf.id in self.table.scores for leaf in criterion.leaves())

    def statements(self, name: str) -> list[tuple[Fraction | None, BooleanArray]]:
        """Each statement's own amount, and the rows in which it was found."""
        known = {statement.id: statement.amount for statement in getattr(self.rubric, name)}
        return [(known[id], column[self.rows]) for id, column in self.table.found[name].items()]

    def _read_leaf(self, leaf: Criterion) -> None:
        numbers = self.table.scores[leaf.id][self.rows]
        column, unreadable, odd = read_criterion_column(numbers, leaf.scale)
        gone = self.table.missing.get(leaf.id)
        if gone is not None:
            unreadable = gone[self.rows] if unreadable is None else unreadable | gone[self.rows]
        self.values[leaf.id] = column
        if odd is not None:
            self.odd |= odd
        if unreadable is not None:
            self.missing[leaf.id] = unreadable
            self.incomplete |= unreadable

    def _fold_child_columns(self, criterion: Criterion) -> None:
        for child in criterion.children:
            self._fold_child_columns(child)
        if criterion.children and all(child.id in self.values for child in criterion.children):
            total = sum((child.weight for child in criterion.children), Fraction(0))
            terms = [(child.weight / total, child.scale, self.values[child.id]) for child in criterion.children]
            self.values[criterion.id] = rescale_score_columns(criterion.scale, terms)


def _list_limiting_criteria(rubric: Rubric) -> list[str]:
    """The criteria that gates and ceilings look at."""
    steps = [step.criterion for step in rubric.method.steps if isinstance(step, Ceiling)]
    return [*(gate.criterion for gate in rubric.all_gates()), *steps]


def _read_statement_columns(given: Mapping[str, ArrayLike], known: list[str]) -> dict[str, BooleanArray]:
    unknown = [id for id in given if id not in known]
    if unknown:
        raise InputError(f"the rubric has no statement {', '.join(unknown)}")
    return {id: _check_boolean_column(id, column) for id, column in given.items()}


def _check_number_column(id: str, column: ArrayLike) -> NDArray[np.generic]:
    numbers = np.asarray(np.ma.getdata(column))
    if numbers.dtype.kind not in "biuf":
        raise InputError(f"the column {id!r} must hold numbers, got {numbers.dtype} (mask what is missing)")
    return numbers


def _check_boolean_column(id: str, column: ArrayLike) -> BooleanArray:
    found = np.asarray(np.ma.getdata(column))
    if found.dtype.kind != "b" or np.ma.is_masked(column):
        raise InputError(f"the column {id!r} must hold true and false without gaps, got {found.dtype}")
    return found


def _read_row_score(scale: Scale, answer: object) -> CriterionScore:
    if not scale.bands or answer is None:
        return scale.read(answer)
    numbers = Scale(min=scale.min, max=scale.max, integers=True)
    return numbers.read(answer)


def rescale_score_columns(scale: Scale, terms: list[tuple[Fraction, Scale, ExactColumn]]) -> ExactColumn:
    """A sum of criteria by share, each put from its own scale onto a common one."""
    span = scale.max - scale.min
    stretched = [(share * span / (own.max - own.min), column) for share, own, column in terms]
    shift = sum((share * (scale.min - own.min * span / (own.max - own.min)) for share, own, _ in terms), Fraction(0))
    return sum_weighted_columns(stretched, shift)


COLUMN_STEP_FUNCTIONS: dict[type[Step], Callable[[Any, Any, ColumnChunk], ExactColumn]] = {
    WeightedSum: _apply_weighted_sum_columns,
    WeightedMean: _apply_weighted_mean_columns,
    LayerMean: _apply_weighted_mean_columns,
    PointsShare: _apply_points_share_columns,
    Ceiling: _apply_ceiling_columns,
    Shortfall: _apply_shortfall_columns,
    Deduct: _apply_deduct_columns,
    Add: _apply_add_columns,
    Cap: _apply_cap_columns,
    Clamp: _apply_clamp_columns,
    Round: _apply_round_columns,
    Panel: _apply_panel_columns,
}
