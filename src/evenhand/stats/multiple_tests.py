"""Several tests as one: Holm's adjustment of p-values, and Hotelling's T² over the layers of a paired comparison."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, Numbers, Undefined, find_array_magnitude, require_finite_array
from evenhand.stats.distributions import compute_f_tail

_HOTELLING = "Hotelling's T², paired"
_CONSTANT = 1e-12  # Spread below this share of the largest difference is rounding, not spread.
_COLLINEAR = 1e-8  # What is left of a layer beside the others, below this share of its spread, is rounding.


@dataclass(frozen=True, slots=True, kw_only=True)
class Holm:
    """Adjusted p-values in the order given; `n` counts the tests."""

    p: tuple[float, ...]
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hotelling:
    """The chance of mean differences this far from 0 in all layers together; `f` has `df` degrees of freedom."""

    t2: float
    f: float
    df: tuple[int, int]
    p: float
    estimates: Mapping[str, float]
    method: str
    n: int


def holm(ps: Numbers) -> Holm:
    """Holm's step-down adjustment: the chance of any false alarm among all tests stays below the level."""
    given: list[float] = require_finite_array(ps, "ps").tolist()
    wrong = [p for p in given if not 0 <= p <= 1]
    if wrong:
        raise InputError(Fault(f"p-values lie between 0 and 1, got {wrong[0]:g}"))
    adjusted = [0.0] * len(given)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        highest = max(highest, min(1.0, (len(given) - rank) * given[place]))
        adjusted[place] = highest
    return Holm(p=tuple(adjusted), method="Holm", n=len(given))


def hotelling_of(differences: Mapping[str, Numbers]) -> Hotelling | Undefined:
    """Whether several layers moved at all, from differences by layer that are one per independent unit.

    Undefined where a layer is constant or follows from the others.
    """
    layers, scales, table = _tabulate_hotelling_samples(differences)
    n, k = table.shape
    means = np.array([math.fsum(column) / n for column in table.T])
    deviations = table - means
    constant = np.ptp(table, axis=0) <= _CONSTANT * np.abs(table).max(axis=0)
    names = " and in ".join(name for name, at in zip(layers, constant, strict=True) if at)
    why = f"all differences are equal in {names}: test the other layers" if names else ""
    why = why or _explain_collinear_covariance(layers, deviations)
    if why:
        return Undefined(why=why, method=_HOTELLING, n=n)
    spread = np.sqrt((deviations**2).sum(axis=0) / (n - 1))
    # Each layer is divided by its own spread: points or percent make no difference to the last digits.
    standard, shift = deviations / spread, means / spread
    t2 = max(0.0, float(n * shift @ np.linalg.solve(standard.T @ standard / (n - 1), shift)))
    f = (n - k) / (k * (n - 1)) * t2
    estimates = dict(zip(layers, (scales * means).tolist(), strict=True))
    p = compute_f_tail(f, k, n - k)
    return Hotelling(t2=t2, f=f, df=(k, n - k), p=p, estimates=estimates, method=_HOTELLING, n=n)


def _tabulate_hotelling_samples(differences: Mapping[str, Numbers]) -> tuple[list[str], Floats, Floats]:
    """Return the layers, their scales, and samples by layers in these scales; sorted, so that order does not matter."""
    if not isinstance(differences, Mapping) or not all(isinstance(name, str) for name in differences):
        hint = "a dict from the names of layers to numbers"
        raise InputError(Fault("differences must be numbers by layer", hint))
    if not differences:
        raise InputError(Fault("there is no layer to compare", "give the differences of at least one"))
    layers = sorted(differences)
    columns = [require_finite_array(differences[name], name) for name in layers]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{name} {len(column)}" for name, column in zip(layers, columns, strict=True))
        raise InputError(Fault(f"the layers have different numbers of samples: {sizes}", "give those that all have"))
    table = np.column_stack(columns)
    if len(table) <= len(layers):
        what = f"{len(layers)} layers need at least {len(layers) + 1} samples, got {len(table)}"
        raise InputError(Fault(what, "score more samples, or test fewer layers"))
    scales = np.array([find_array_magnitude(column) for column in columns])
    return layers, scales, table[np.lexsort(table.T)] / scales


def _explain_collinear_covariance(layers: Sequence[str], deviations: Floats) -> str:
    """Name the first layer that follows from those before it, and from which of them."""
    unit = deviations / np.sqrt((deviations**2).sum(axis=0))
    for at in range(1, len(layers)):
        weights = np.linalg.lstsq(unit[:, :at], unit[:, at], rcond=None)[0]
        if np.abs(unit[:, at] - unit[:, :at] @ weights).max() > _COLLINEAR:
            continue
        others = [name for name, weight in zip(layers, weights, strict=False) if abs(weight) > _COLLINEAR]
        return f"the differences in {layers[at]} follow from those in {' and '.join(others)}: leave one of them out"
    return ""
