"""The given columns, checked once, and one chunk of them with the value of each criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InputError
from evenhand.model import Answers, Ceiling, Criterion, CriterionScore, LayerMean, Rubric, Scale
from evenhand.scoring._column import Bools, Column, leaf_column, linear


class Table:
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
        self.scores = {id: _numbers(id, column) for id, column in scores.items()}
        masked = {id: column for id, column in scores.items() if isinstance(column, np.ma.MaskedArray)}
        self.missing = {id: np.ma.getmaskarray(column) for id, column in masked.items()}
        self.found = {
            "red_flags": _statements(red_flags, [flag.id for flag in rubric.red_flags]),
            "bonuses": _statements(bonuses, [bonus.id for bonus in rubric.bonuses]),
        }
        first = next(iter(self.scores.values()))
        self.rows = first.shape[0] if first.ndim else 0
        self.unsafe = None if unsafe is None else _booleans("unsafe", unsafe)
        given = [*self.scores.values(), *self.found["red_flags"].values(), *self.found["bonuses"].values()]
        given += [] if self.unsafe is None else [self.unsafe]
        if any(column.ndim != 1 or len(column) != self.rows for column in given):
            raise InputError(f"every column needs one dimension and {self.rows:,} rows, like the first")

    def answers(self, row: int) -> Answers:
        """One row in the form that the exact path takes."""
        scores: dict[str, CriterionScore] = {}
        for id, column in self.scores.items():
            gone = id in self.missing and self.missing[id][row]
            scores[id] = _read(self.rubric.leaves[id].scale, None if gone else column[row].item())
        return Answers(
            id=str(row),
            scores=scores,
            red_flags={id: "" for id, column in self.found["red_flags"].items() if column[row]},
            bonuses={id: "" for id, column in self.found["bonuses"].items() if column[row]},
            unsafe="unsafe" if self.unsafe is not None and self.unsafe[row] else None,
        )


@dataclass(slots=True)
class Case:
    """One chunk: the value of each criterion, and which rows are incomplete or need the exact path."""

    table: Table
    rows: slice
    values: dict[str, Column] = field(default_factory=dict)
    missing: dict[str, Bools] = field(default_factory=dict)
    incomplete: Bools = field(init=False)
    odd: Bools = field(init=False)

    def __post_init__(self) -> None:
        count = self.rows.stop - self.rows.start
        self.incomplete = np.zeros(count, dtype=bool)
        self.odd = np.zeros(count, dtype=bool)
        layers = isinstance(self.rubric.method.steps[0], LayerMean)
        for id, leaf in self.rubric.leaves.items():
            if id in self.table.scores:
                self._read_leaf(leaf)
            elif not layers:
                self.values[id] = Column.constant(count, leaf.scale.min)
                self.missing[id] = np.ones(count, dtype=bool)
                self.incomplete[:] = True
        for criterion in self.rubric.criteria:
            self._fold(criterion)
        for id in _looked_at(self.rubric):
            if id not in self.values:  # An absent layer: a gate on it is not known to have passed.
                self.values[id] = Column.constant(count, Fraction(0))
                self.missing[id] = np.ones(count, dtype=bool)
                self.incomplete[:] = True

    @property
    def rubric(self) -> Rubric:
        """The rubric the table is scored under."""
        return self.table.rubric

    def unanswered(self, id: str) -> Bools | np.bool_:
        """The rows in which a criterion, or one below it, has no answer."""
        criterion = self.rubric.criterion(id)
        below = [self.missing[leaf.id] for leaf in criterion.leaves() if leaf.id in self.missing] if criterion else []
        return np.logical_or.reduce(below) if below else np.bool_(False)

    def present(self) -> list[Criterion]:
        """The criteria that have values."""
        return [criterion for criterion in self.rubric.criteria if self._is_present(criterion)]

    def _is_present(self, criterion: Criterion) -> bool:
        return criterion.id in self.values and any(leaf.id in self.table.scores for leaf in criterion.leaves())

    def statements(self, name: str) -> list[tuple[Fraction | None, Bools]]:
        """Each statement's own amount, and the rows in which it was found."""
        known = {statement.id: statement.amount for statement in getattr(self.rubric, name)}
        return [(known[id], column[self.rows]) for id, column in self.table.found[name].items()]

    def _read_leaf(self, leaf: Criterion) -> None:
        numbers = self.table.scores[leaf.id][self.rows]
        column, unreadable, odd = leaf_column(numbers, leaf.scale)
        gone = self.table.missing.get(leaf.id)
        if gone is not None:
            unreadable = gone[self.rows] if unreadable is None else unreadable | gone[self.rows]
        self.values[leaf.id] = column
        if odd is not None:
            self.odd |= odd
        if unreadable is not None:
            self.missing[leaf.id] = unreadable
            self.incomplete |= unreadable

    def _fold(self, criterion: Criterion) -> None:
        for child in criterion.children:
            self._fold(child)
        if criterion.children and all(child.id in self.values for child in criterion.children):
            total = sum((child.weight for child in criterion.children), Fraction(0))
            terms = [(child.weight / total, child.scale, self.values[child.id]) for child in criterion.children]
            self.values[criterion.id] = put_onto(criterion.scale, terms)


def _looked_at(rubric: Rubric) -> list[str]:
    """The criteria that gates and ceilings look at."""
    steps = [step.criterion for step in rubric.method.steps if isinstance(step, Ceiling)]
    return [*(gate.criterion for gate in rubric.all_gates()), *steps]


def _statements(given: Mapping[str, ArrayLike], known: list[str]) -> dict[str, Bools]:
    unknown = [id for id in given if id not in known]
    if unknown:
        raise InputError(f"the rubric has no statement {', '.join(unknown)}")
    return {id: _booleans(id, column) for id, column in given.items()}


def _numbers(id: str, column: ArrayLike) -> NDArray[np.generic]:
    numbers = np.asarray(np.ma.getdata(column))
    if numbers.dtype.kind not in "biuf":
        raise InputError(f"the column {id!r} must hold numbers, got {numbers.dtype} (mask what is missing)")
    return numbers


def _booleans(id: str, column: ArrayLike) -> Bools:
    found = np.asarray(np.ma.getdata(column))
    if found.dtype.kind != "b" or np.ma.is_masked(column):
        raise InputError(f"the column {id!r} must hold true and false without gaps, got {found.dtype}")
    return found


def _read(scale: Scale, answer: object) -> CriterionScore:
    if not scale.bands or answer is None:
        return scale.read(answer)
    numbers = Scale(min=scale.min, max=scale.max, integers=True)
    return numbers.read(answer)


def put_onto(scale: Scale, terms: list[tuple[Fraction, Scale, Column]]) -> Column:
    """A sum of criteria by share, each put from its own scale onto a common one."""
    span = scale.max - scale.min
    stretched = [(share * span / (own.max - own.min), column) for share, own, column in terms]
    shift = sum((share * (scale.min - own.min * span / (own.max - own.min)) for share, own, _ in terms), Fraction(0))
    return linear(stretched, shift)
