"""Which of several rubrics judges most like people, decided by nested cross-validation.

Inside, the rubric with the lowest error is chosen; outside, its error is measured on samples that had no part in the
choice. Folds share samples, so the gains of all folds are not independent, and a paired test of them alone accepts too
often, in simulations up to ten times. The whole selection is therefore repeated with labels dealt out anew among the
samples, which is exact for labels that say nothing about the outputs, whatever rubrics are compared [1].

1. Ojala, Garriga. Permutation tests for studying classifier performance. JMLR 11, 2010 (test 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.fitted_to_people import MAP_PRIOR_SAMPLES
from evenhand.stats.differences import difference_of
from evenhand.stats.rates import RateInterval, exact_share_interval

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FOLDS = 5
DEALS = 999  # How often labels are dealt out anew.
DEALS_AT_ONCE = 100
MISSING_ERROR = 0.5  # Of the scale: what a judge that does not answer is off by. Abstaining neither wins nor loses.
MOST_CHANCE = 0.05
_DIGITS = 9  # Errors that differ only beyond are equal, and the present rubric wins a tie.


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateAnswers:
    """What people and the judge said of the same outputs, question by question; NaN is what nobody said.

    `answers` has one layer per rubric, the present one first. Outputs of one `unit` are not independent.
    """

    people: Floats  # Outputs by questions.
    answers: Floats  # Rubrics by outputs by questions.
    unit: Integers
    variant: Integers
    low: Floats  # The ends of the scale of each question.
    high: Floats
    mappable: NDArray[np.bool_]  # Questions whose answers a map may move.

    @property
    def has_present_answers(self) -> bool:
        """Whether anything was answered by the present rubric."""
        return bool(np.isfinite(self.answers[0]).any())


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedSelection:
    """What was chosen and what it is worth. Errors are shares of the scale; `before` and `after` are outer ones.

    `chosen` is a place among the rubrics, 0 for the present one, one beyond the last for a calibration map of its
    answers. `chance` is that of a fall like this where labels say nothing, or where nothing became better.
    """

    chosen: int
    kept: bool
    before: RateInterval
    after: RateInterval
    fall: float
    chance: float
    errors: tuple[float, ...]  # Of every rubric and then the map, over all samples.
    picks: tuple[int, ...]  # What was chosen without each fold.
    samples: int


def select_rubric_by_nested_cv(
    data: CandidateAnswers, rng: np.random.Generator, *, deals: int = DEALS
) -> NestedSelection:
    """Choose inside, measure outside, and keep the choice only if the error falls by more than chance explains."""
    rows = _number_labelled_units(data)
    folds = rng.permutation(np.arange(rows.units) % min(FOLDS, rows.units))
    first = _select_rubric_in_label_folds(rows, folds, rows.people[None])
    observed = _studentise_alignment_gains(first.gains)[0]
    reached = 0
    for start in range(0, deals, DEALS_AT_ONCE):
        dealt = _deal_labels(rows, min(DEALS_AT_ONCE, deals - start), rng)
        reached += int(
            (
                _studentise_alignment_gains(_select_rubric_in_label_folds(rows, folds, dealt).gains)
                >= observed - 10.0**-_DIGITS
            ).sum()
        )
    gains, before = first.gains[0], first.before[0]
    dealt_chance = (1 + reached) / (1 + deals)
    chance = max(dealt_chance, _test_alignment_gains(gains, rng))
    chosen = int(first.totals[0].argmin())
    return NestedSelection(
        chosen=chosen,
        kept=chosen != 0 and chance <= MOST_CHANCE,
        before=_bound_alignment_error(before),
        after=_bound_alignment_error(before - gains),
        fall=float(gains.mean()),
        chance=chance,
        errors=tuple(float(one) / rows.units for one in first.totals[0]),
        picks=tuple(int(one) for one in first.picks[0]),
        samples=rows.units,
    )


@dataclass(frozen=True, slots=True)
class _NumberedRows:
    """The same data in order of unit and variant, with what every deal of labels shares."""

    people: Floats
    answers: Floats
    unit: Integers
    low: Floats
    high: Floats
    mappable: NDArray[np.bool_]
    units: int
    cells: Floats  # How many labelled answers each unit has.
    alike: tuple[Integers, ...]  # Rows by unit: of units that have labels for the same variants and questions.


@dataclass(frozen=True, slots=True)
class _FoldedSelection:
    """By deal: gains and errors of units, what each fold chose, and the sum of errors of every candidate."""

    gains: Floats
    before: Floats
    picks: Integers
    totals: Floats


def _number_labelled_units(data: CandidateAnswers) -> _NumberedRows:
    labelled = np.isfinite(data.people)
    kept = np.flatnonzero(labelled.any(axis=1))
    order = kept[np.lexsort((data.variant[kept], data.unit[kept]))]
    _, unit = np.unique(data.unit[order], return_inverse=True)
    units = int(unit.max()) + 1 if len(unit) else 0
    shapes: dict[bytes, list[Integers]] = {}
    for one in range(units):
        rows = np.flatnonzero(unit == one)
        mark = data.variant[order][rows].tobytes() + labelled[order][rows].tobytes()
        shapes.setdefault(mark, []).append(rows)
    return _NumberedRows(
        people=data.people[order],
        answers=data.answers[:, order],
        unit=unit,
        low=data.low,
        high=data.high,
        mappable=data.mappable,
        units=units,
        cells=np.bincount(unit, weights=labelled[order].sum(axis=1), minlength=units).astype(np.float64),
        alike=tuple(np.array(rows) for rows in shapes.values()),
    )


def _deal_labels(rows: _NumberedRows, deals: int, rng: np.random.Generator) -> Floats:
    """The labels dealt out anew among units that are labelled alike: all labels of a unit stay together."""
    source = np.tile(np.arange(len(rows.unit)), (deals, 1))
    for alike in rows.alike:
        dealt = rng.permuted(np.tile(np.arange(len(alike)), (deals, 1)), axis=1)
        source[:, alike.ravel()] = alike[dealt].reshape(deals, -1)
    return rows.people[source]


def _select_rubric_in_label_folds(rows: _NumberedRows, folds: Integers, people: Floats) -> _FoldedSelection:
    """Nested cross-validation under several deals of labels at once."""
    count = int(folds.max()) + 1
    fixed = np.stack([_sum_judge_errors_by_unit(rows, one[None], people) for one in rows.answers], axis=1)
    mapped, inside = _map_judge_in_label_folds(rows, folds, people)
    outside = np.concatenate([fixed, mapped[:, None]], axis=1)
    by_fold = fixed @ np.eye(count)[folds]
    train = by_fold.sum(axis=-1, keepdims=True) - by_fold
    picks = np.round(np.concatenate([train, inside[:, None]], axis=1), _DIGITS).argmin(axis=1)
    chosen = np.take_along_axis(outside, picks[:, None, folds], axis=1)[:, 0]
    gains = np.round(fixed[:, 0] - chosen, _DIGITS)
    return _FoldedSelection(gains, fixed[:, 0], picks, np.round(outside.sum(axis=-1), _DIGITS))


def _sum_judge_errors_by_unit(rows: _NumberedRows, said: Floats, people: Floats) -> Floats:
    """The mean error of each unit over its labelled answers, as a share of the scale; by deal."""
    errors = np.abs(said - people) / (rows.high - rows.low)
    errors = np.where(np.isnan(said), MISSING_ERROR, errors)
    cells = np.where(np.isfinite(people), errors, 0.0).sum(axis=-1)
    means: Floats = cells @ np.eye(rows.units)[rows.unit] / rows.cells
    return means


def _map_judge_in_label_folds(rows: _NumberedRows, folds: Integers, people: Floats) -> tuple[Floats, Floats]:
    """Errors of a map of the present answers: of each unit by a map fitted without its fold; and, for every fold, the
    sum over the others by maps that were fitted without either.
    """
    fold, count = folds[rows.unit], int(folds.max()) + 1
    outside = np.zeros((len(people), rows.units))
    inside = np.zeros((len(people), count))
    for left in range(count):
        errors = _sum_judge_errors_by_unit(rows, _map_judge_answers_to_people(rows, people, fold != left), people)
        outside[:, folds == left] = errors[:, folds == left]
        for other in range(count):
            if other != left:
                errors = _sum_judge_errors_by_unit(
                    rows, _map_judge_answers_to_people(rows, people, (fold != left) & (fold != other)), people
                )
                inside[:, left] += errors[:, folds == other].sum(axis=-1)
    return outside, inside


def _map_judge_answers_to_people(rows: _NumberedRows, people: Floats, fitted: NDArray[np.bool_]) -> Floats:
    """The present answers through a line fitted on some rows, as `calibrate` fits it; by deal."""
    said = np.broadcast_to(rows.answers[0], people.shape)
    used = fitted[:, None] & np.isfinite(said) & np.isfinite(people)
    many = used.sum(axis=1, keepdims=True)
    trust = many / (many + MAP_PRIOR_SAMPLES)
    some = np.maximum(many, 1)
    middle = np.where(used, said, 0.0).sum(axis=1, keepdims=True) / some
    gap = np.where(used, people - said, 0.0)
    centred = np.where(used, said - middle, 0.0)
    squares = (centred**2).sum(axis=1, keepdims=True)
    slope = (centred * gap).sum(axis=1, keepdims=True) / np.where(squares > 0, squares, 1.0)
    line = middle + trust * gap.sum(axis=1, keepdims=True) / some + np.maximum(0.0, 1 + trust * slope) * (said - middle)
    mapped: Floats = np.where(rows.mappable, np.clip(line, rows.low, rows.high), said)
    return mapped


def _studentise_alignment_gains(gains: Floats) -> Floats:
    """The sum of gains over the root of their squares, 0 where there is none: many changes alone impress nobody."""
    squares = (gains**2).sum(axis=-1)
    scaled: Floats = gains.sum(axis=-1) / np.sqrt(np.where(squares > 0, squares, 1.0))
    return scaled


def _test_alignment_gains(gains: Floats, rng: np.random.Generator) -> float:
    """The chance of gains like these, one-sided, if each were as likely a loss."""
    if len(gains) < 2 or not gains.any():
        return 1.0
    test = difference_of(gains, rng=rng, span=1.0)
    return test.p / 2 if test.estimate > 0 else 1 - test.p / 2


def _bound_alignment_error(errors: Floats) -> RateInterval:
    """The mean of shares with an interval that is too wide rather than too short: none varies more than 0 and 1."""
    return exact_share_interval(errors.clip(0.0, 1.0))
