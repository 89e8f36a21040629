"""The arithmetic of each step over columns."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from evenhand.model import (
    SHARE,
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
from evenhand.scoring._column import Column, linear
from evenhand.scoring._column_case import Case, put_onto


def run_columns(case: Case) -> Column:
    """The steps of the method, in order."""
    value: Column | None = None
    for step in case.rubric.method.steps:
        value = COLUMN_FUNCTIONS[type(step)](step, value, case)
    assert value is not None
    return value


def _weighted_sum(_step: WeightedSum, _value: None, case: Case) -> Column:
    return linear([(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria])


def _weighted_mean(step: WeightedMean | LayerMean, _value: None, case: Case) -> Column:
    present = case.present()
    total = sum((criterion.weight for criterion in present), Fraction(0))
    if step.onto is None:
        return linear([(criterion.weight / total, case.values[criterion.id]) for criterion in present])
    return put_onto(step.onto, [(c.weight / total, c.scale, case.values[c.id]) for c in present])


def _points_share(_step: PointsShare, _value: None, case: Case) -> Column:
    points = [(c.points or Fraction(0), c) for c in case.rubric.criteria]
    possible = sum((worth for worth, _ in points if worth > 0), Fraction(0))
    return put_onto(SHARE, [(worth / possible, c.scale, case.values[c.id]) for worth, c in points])


def _ceiling(step: Ceiling, value: Column, case: Case) -> Column:
    return value.at_most(step.at, case.values[step.criterion].below(step.below))


def _shortfall(step: Shortfall, value: Column, case: Case) -> Column:
    for criterion in case.rubric.criteria:
        if criterion.fixed:
            own = case.values[criterion.id]
            short = own.below(step.below)
            if short.any():
                value = value.times_where(short, own, 1 / step.below)
    return value


def _deduct(step: Deduct, value: Column, case: Case) -> Column:
    return value.plus(_total(step, case), -1)


def _add(step: Add, value: Column, case: Case) -> Column:
    return value.plus(_total(step, case), 1)


def _cap(step: Cap, value: Column, case: Case) -> Column:
    return value if case.table.unsafe is None else value.at_most(step.at, case.table.unsafe[case.rows])


def _clamp(step: Clamp, value: Column, _case: Case) -> Column:
    return value.clamped(step.min, step.max)


def _round(step: Round, value: Column, _case: Case) -> Column:
    return value.rounded(step.decimals)


def _panel(_step: Panel, value: Column, _case: Case) -> Column:
    """One set of answers per row: there is nobody to join."""
    return value


COLUMN_FUNCTIONS: dict[type[Step], Callable[[Any, Any, Case], Column]] = {
    WeightedSum: _weighted_sum,
    WeightedMean: _weighted_mean,
    LayerMean: _weighted_mean,
    PointsShare: _points_share,
    Ceiling: _ceiling,
    Shortfall: _shortfall,
    Deduct: _deduct,
    Add: _add,
    Cap: _cap,
    Clamp: _clamp,
    Round: _round,
    Panel: _panel,
}


def _total(step: Deduct | Add, case: Case) -> Column:
    amounts = [(step.each if own is None else own, found) for own, found in case.statements(step.for_)]
    count = len(case.incomplete)
    if not amounts:
        return Column.constant(count, Fraction(0))
    return linear([(amount, Column(found.astype(np.int64), 1, 1)) for amount, found in amounts]).clamped(
        None, step.most
    )
