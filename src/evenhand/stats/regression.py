"""Least squares over independent units: coefficients, the bias towards longer outputs, and scores at equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.stats.arrays import (
    ClusterLabels,
    Floats,
    Numbers,
    UnitNumbers,
    compute_interval_alpha,
    find_array_magnitude,
    number_clusters_of_array,
    quote_statistic_argument,
    require_array_sequence,
    require_finite_array,
    require_statistic_count,
    require_statistic_number,
    subtract_group_means,
)
from evenhand.stats.correlation import standardize_for_correlation
from evenhand.stats.distributions import student_quantile

LEAST_LENGTH_UNITS = 10
LEAST_SPREAD_WITHOUT_UNIT = 0.05  # With less, slope and interval tell of one sample and of none of the others.
_CONSTANT = 1e-9  # Spread below this share of the largest value is rounding, not spread.
_UNITS_AT_ONCE = 10_000  # Left out in turn: all of a large run at once would take a tenth of its memory.
_SINGULAR = 1e-10
_SMALLEST_COLUMN = 1e-150  # Something divided by it is still a number.


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient and where it may lie."""

    estimate: float
    low: float
    high: float

    def times(self, factor: float) -> Coefficient:
        """The same in another unit."""
        return Coefficient(estimate=self.estimate * factor, low=self.low * factor, high=self.high * factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """Points per 100 characters with an interval; `n` counts independent units, `outputs` what was used.

    `explained` is the share of the variance of scores that goes with length, between outputs of one sample where
    samples were given. `alone` counts outputs that had no other of their sample to be compared with.
    """

    slope: float
    low: float
    high: float
    level: float
    correlation: float
    explained: float
    method: str
    n: int
    outputs: int
    alone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlledVariant:
    """One variant: its mean score as given and at equal length, and its typical (geometric mean) length.

    The differences are those to the control, None for the control itself.
    """

    variant: str
    length: float
    before: float
    after: float
    difference_before: Coefficient | None
    difference_after: Coefficient | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlled:
    """Scores as if every output had the typical length; `per_doubling` is what twice the length adds.

    `scores` has the order of what was given, and is not held to the scale: a short output with the top score may come
    out above it.
    """

    scores: tuple[float, ...]
    per_doubling: Coefficient
    length: float
    variants: tuple[LengthControlledVariant, ...]
    level: float
    method: str
    n: int


def coefficients(
    columns: Sequence[Floats], y: Floats, units: UnitNumbers, alpha: float, absorbed: int = 0
) -> tuple[Coefficient, ...] | None:
    """Every column's coefficient with Student's interval by the jackknife; None where they cannot be told apart.

    The jackknife over whole units assumes neither equal spread nor independent rows within a unit. Where a few rows lie
    far out it is too small, so that the larger of its error and the usual one decides. `absorbed` counts means that
    were subtracted before.
    """
    given, y, units = _require_regressor_columns(columns, y, units)
    y_scale, scales = find_array_magnitude(y), [float(np.abs(column).max()) or 1.0 for column in given]
    table, y = np.stack([column / scale for column, scale in zip(given, scales, strict=True)], axis=1), y / y_scale
    spare = len(y) - len(scales) - require_statistic_count(absorbed, "absorbed")
    if spare < 1:
        raise InputError(Fault(f"{len(y)} rows are too few for {len(y) - spare} coefficients", "score more samples"))
    squares, products = _sum_regression_products_by_unit(table, y, units)
    total, moments, n = squares.sum(axis=0), products.sum(axis=0), len(squares)
    parts = [slice(first, first + _UNITS_AT_ONCE) for first in range(0, n, _UNITS_AT_ONCE)]
    if any(_is_any_singular(total - squares[some]) for some in parts):
        return None
    fit, spread = np.linalg.solve(total, moments), np.zeros(len(scales))
    for some in parts:
        without = np.linalg.solve(total - squares[some], (moments - products[some])[..., None])[..., 0]
        spread += ((without - fit) ** 2).sum(axis=0)
    jackknife = (n - 1) / n * spread
    residuals = y - table @ fit
    usual = np.diag(np.linalg.inv(total)) * (residuals @ residuals) / spare
    reach = student_quantile(require_statistic_number(alpha, "alpha") / 2, n - 1) * np.sqrt(
        np.maximum(jackknife, usual)
    )
    return tuple(
        Coefficient(estimate=float(one), low=float(one - away), high=float(one + away)).times(y_scale / scale)
        for one, away, scale in zip(fit, reach, scales, strict=True)
    )


def _is_any_singular(matrices: Floats) -> bool:
    spectrum = np.linalg.eigvalsh(matrices)
    return bool((spectrum[:, 0] <= _SINGULAR * spectrum[:, -1]).any())


def length_bias(
    scores: Numbers,
    lengths: Numbers,
    *,
    clusters: ClusterLabels | None = None,
    groups: ClusterLabels | None = None,
    level: float = 0.95,
) -> LengthBias:
    """How scores rise with length in characters; `groups` names each output's sample and compares within samples.

    Without `groups` hard prompts, which get long answers and low scores, look like an effect of length.
    """
    y, x = _check_length_regression(scores, lengths)
    design = _build_length_regression_design(len(y), groups, clusters)
    _check_regressor_spread(y, x, design)
    y, x = design.center(y), design.center(x)
    _refuse_single_length(x, design)
    found = coefficients([*design.intercept, x], y, design.units, compute_interval_alpha(level), design.absorbed)
    if found is None:  # What one sample alone says was refused: the rest is rounding.
        raise InputError(Fault("lengths differ too little to tell", "score outputs of more different lengths"))
    slope = found[-1].times(100)
    correlation = math.fsum(standardize_for_correlation(x) * standardize_for_correlation(y))
    return LengthBias(
        slope=slope.estimate,
        low=slope.low,
        high=slope.high,
        level=level,
        correlation=min(1.0, max(-1.0, correlation)),
        explained=min(1.0, correlation**2),
        method=f"least squares{design.scope}, jackknife",
        n=design.n,
        outputs=len(y),
        alone=design.alone,
    )


def length_controlled(
    scores: Numbers,
    lengths: Numbers,
    variants: Sequence[str],
    *,
    control: str,
    groups: ClusterLabels | None = None,
    clusters: ClusterLabels | None = None,
    level: float = 0.95,
) -> LengthControlled:
    """Take out of every score what regression on the logarithm of length puts there, variants held apart.

    The logarithm, because a hundred characters more are much for a short answer and nothing for a long one, and because
    a few very long outputs would dominate a straight line. Variants are held apart, and samples where `groups` names
    them, so that a better variant that happens to write more keeps what it is better by.
    """
    alpha, (y, length) = compute_interval_alpha(level), _check_length_regression(scores, lengths)
    if length.min(initial=1.0) < 1:
        what = f"output {int(length.argmin())} is empty: there is no longer and shorter to it"
        raise InputError(Fault(what, "leave out empty outputs, and count them"))
    x = np.log(length)
    names, variant = _number_regression_groups(variants, len(y), control)
    design = _build_length_regression_design(len(y), groups, clusters)
    _check_regressor_spread(y, x, design)
    rows = [variant == place for place in range(len(names))]
    before, after, slope = _fit_length_regression(y, x, rows[1:], design, alpha)
    adjusted = y - slope.estimate * (x - x.mean())
    return LengthControlled(
        scores=tuple(adjusted.tolist()),
        per_doubling=slope.times(math.log(2)),
        length=math.exp(float(x.mean())),
        variants=tuple(
            LengthControlledVariant(
                variant=name,
                length=math.exp(float(x[own].mean())),
                before=float(y[own].mean()),
                after=float(adjusted[own].mean()),
                difference_before=difference,
                difference_after=controlled,
            )
            for name, own, difference, controlled in zip(names, rows, before, after, strict=True)
        ),
        level=level,
        method=f"least squares on log length{design.scope}, jackknife",
        n=design.n,
    )


def _require_regressor_columns(
    columns: Sequence[Floats], y: Floats, units: UnitNumbers
) -> tuple[list[Floats], Floats, UnitNumbers]:
    given = [require_finite_array(column, "a column") for column in require_array_sequence(columns, "columns")]
    rows, codes = require_finite_array(y, "y"), require_finite_array(units, "units")
    if not given or not len(rows) or {len(rows)} != {len(codes), *map(len, given)}:
        raise InputError(Fault("the columns, y and units differ in length, or are empty", "one entry per row in each"))
    if (codes % 1).any() or codes.min() < 0 or codes.max() >= len(rows):
        raise InputError(Fault("units must be whole numbers from 0", "one per row, equal where rows belong together"))
    if any(0 < np.abs(column).max() < _SMALLEST_COLUMN for column in given):
        hint = f"give it in a unit that makes it {_SMALLEST_COLUMN:g} or more"
        raise InputError(Fault("a column is too small to compute with", hint))
    return given, rows, codes.astype(np.int64)


def _sum_regression_products_by_unit(table: Floats, y: Floats, units: UnitNumbers) -> tuple[Floats, Floats]:
    n, size = int(units.max()) + 1, table.shape[1]
    squares, products = np.empty((n, size, size)), np.empty((n, size))
    for i in range(size):
        products[:, i] = np.bincount(units, weights=table[:, i] * y, minlength=n)
        for j in range(size):
            squares[:, i, j] = np.bincount(units, weights=table[:, i] * table[:, j], minlength=n)
    return squares, products


def _check_length_regression(scores: Numbers, lengths: Numbers) -> tuple[Floats, Floats]:
    y, x = require_finite_array(scores, "scores"), require_finite_array(lengths, "lengths")
    if len(x) != len(y):
        raise InputError(Fault(f"{len(x)} lengths for {len(y)} scores", "one length per score"))
    if len(x) and x.min() < 0:
        raise InputError(Fault(f"a length cannot be {x.min():g}", "count characters"))
    return y, x


@dataclass(frozen=True, slots=True, kw_only=True)
class _LengthRegressionDesign:
    """Which rows are compared with which, and which are independent; single outputs of a sample are left out."""

    kept: NDArray[np.bool_]
    groups: UnitNumbers | None
    units: UnitNumbers

    @property
    def n(self) -> int:
        return int(self.units.max()) + 1

    @property
    def alone(self) -> int:
        return int((~self.kept).sum())

    @property
    def absorbed(self) -> int:
        return 0 if self.groups is None else int(self.groups.max()) + 1

    @property
    def scope(self) -> str:
        return "" if self.groups is None else " within samples"

    @property
    def intercept(self) -> list[Floats]:
        # Leaving out a sample moves the mean of all rows, which must therefore be fitted; within samples it does not.
        return [np.ones(len(self.units))] if self.groups is None else []

    def center(self, values: Floats) -> Floats:
        """Return the rows that are used, less the mean of their sample, or of all."""
        used = values[self.kept]
        return used - used.mean() if self.groups is None else subtract_group_means(used, self.groups)


def _build_length_regression_design(
    rows: int, groups: ClusterLabels | None, clusters: ClusterLabels | None
) -> _LengthRegressionDesign:
    kept = np.ones(rows, dtype=bool)
    sample = None if groups is None else number_clusters_of_array(groups, rows, "groups")
    if sample is not None:
        kept = np.bincount(sample)[sample] > 1 if rows else kept
        sample = sample[kept]
    cluster = None if clusters is None else number_clusters_of_array(clusters, rows, "clusters")[kept]
    used = int(kept.sum())
    units = number_clusters_of_array(_find_independent_regression_units(sample, cluster, used), used, "units")
    n = int(units.max()) + 1 if len(units) else 0
    if n < LEAST_LENGTH_UNITS:
        which = "" if sample is None else " with two outputs or more"
        few, verb = ("sample", "is") if n == 1 else ("samples", "are")
        raise InputError(Fault(f"{n} independent {few}{which} {verb} too few", f"it takes {LEAST_LENGTH_UNITS}"))
    sample = None if sample is None else number_clusters_of_array(sample, len(sample), "groups")
    return _LengthRegressionDesign(kept=kept, groups=sample, units=units)


def _find_independent_regression_units(
    sample: UnitNumbers | None, cluster: UnitNumbers | None, rows: int
) -> UnitNumbers:
    """Return the coarser of the two divisions: only whole samples are independent, and only whole clusters."""
    if sample is None or cluster is None:
        known = sample if cluster is None else cluster
        return np.arange(rows, dtype=np.int64) if known is None else known
    pairs = np.unique(np.stack([sample, cluster]), axis=1).shape[1]
    if pairs == len(np.unique(sample)):
        return cluster
    if pairs == len(np.unique(cluster)):
        return sample
    raise InputError(Fault("groups and clusters cut across each other", "leave clusters out: samples are independent"))


def _check_regressor_spread(y: Floats, x: Floats, design: _LengthRegressionDesign) -> None:
    hint = "there is nothing that length could explain"
    if np.abs(design.center(x)).max() <= _CONSTANT * np.abs(x).max():
        what = "all outputs have the same length" if design.groups is None else "no sample has outputs of two lengths"
        raise InputError(Fault(what, hint))
    if np.abs(design.center(y)).max() <= _CONSTANT * np.abs(y).max():
        raise InputError(Fault(f"all scores are the same{design.scope}", hint))


def _refuse_single_length(x: Floats, design: _LengthRegressionDesign) -> None:
    """Refuse lengths, less their means, that lie in one unit nearly alone: its leverage is near 1.

    Without that unit the slope rests on the little that is left, so the jackknife's interval would be as wide as that
    is small, whatever the scores are.
    """
    scaled = x / np.abs(x).max()
    squares, sums = (np.bincount(design.units, weights=one) for one in (scaled**2, scaled))
    rows = np.bincount(design.units)
    moved = sums**2 / np.maximum(len(x) - rows, 1) if design.groups is None else 0.0  # The mean of the others moves.
    largest = float(((squares + moved) / squares.sum()).max())
    if largest > 1 - LEAST_SPREAD_WITHOUT_UNIT:
        alone = "one sample alone differs in length"
        much = f"one sample makes up {largest * 100:.3g}% of the differences in length"
        raise InputError(Fault(alone if largest > 1 - _SINGULAR else much, "score outputs of more different lengths"))


def _number_regression_groups(variants: Sequence[str], rows: int, control: str) -> tuple[list[str], UnitNumbers]:
    """Return the names, the control first, and for every row its place among them."""
    number_clusters_of_array(variants, rows, "variants")
    if not all(isinstance(name, str) for name in variants):
        raise InputError(Fault("variants must be names", "one per score"))
    known = set(variants)
    if not isinstance(control, str) or control not in known:
        hint = suggest_known_word_in_error(control if isinstance(control, str) else "", known)
        raise InputError(Fault(f"no output is of the control {quote_statistic_argument(control)}", hint))
    names = [control, *sorted(known - {control})]
    place = {name: number for number, name in enumerate(names)}
    return names, np.array([place[name] for name in variants], dtype=np.int64)


def _fit_length_regression(
    y: Floats, x: Floats, treatments: Sequence[NDArray[np.bool_]], design: _LengthRegressionDesign, alpha: float
) -> tuple[list[Coefficient | None], list[Coefficient | None], Coefficient]:
    """Return the leads of control (None) and treatments as given and at equal length, and the slope of length."""
    columns = [*design.intercept, *(design.center(own.astype(np.float64)) for own in treatments)]
    scores, units, absorbed = design.center(y), design.units, design.absorbed
    before = coefficients(columns, scores, units, alpha, absorbed) if columns else ()
    if before is None:
        raise InputError(Fault("a variant has outputs of one sample only", "score more samples with every variant"))
    after = coefficients([*columns, design.center(x)], scores, units, alpha, absorbed)
    if after is None:
        what = "lengths differ between variants only: what length does cannot be told from what the variant does"
        raise InputError(Fault(what, "score more samples, or compare without control of length"))
    first, last = len(design.intercept), len(columns)
    return [None, *before[first:last]], [None, *after[first:last]], after[-1]
