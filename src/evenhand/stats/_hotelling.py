"""Hotelling's T², paired: whether several layers moved at all, tested as one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._agreement import Undefined
from evenhand.stats._arrays import Floats, Numbers, finite, size_of
from evenhand.stats._difference import unit_differences
from evenhand.stats._student import f_tail

_METHOD = "Hotelling's T², paired"
_CONSTANT = 1e-12  # Spread below this share of the largest difference is rounding, not spread.
_COLLINEAR = 1e-8  # What is left of a layer beside the others, below this share of its spread, is rounding.


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


def paired_hotelling(
    treatment: Mapping[str, Numbers], control: Mapping[str, Numbers], *, clusters: Sequence[int] | None = None
) -> Hotelling | Undefined:
    """Scores by layer of two variants on the same samples; undefined where a layer says nothing of its own."""
    _check_layers(treatment, "treatment")
    _check_layers(control, "control")
    if set(treatment) != set(control):
        apart = ", ".join(sorted(set(treatment) ^ set(control)))
        raise InputError(Fault(f"only one side has {apart}", "give both sides the same layers"))
    return hotelling_of({name: unit_differences(treatment[name], control[name], clusters) for name in treatment})


def hotelling_of(differences: Mapping[str, Numbers]) -> Hotelling | Undefined:
    """The same for differences by layer that are already one per independent unit."""
    layers, sizes, table = _table(differences)
    n, k = table.shape
    means = np.array([math.fsum(column) / n for column in table.T])
    deviations = table - means
    why = _constant(layers, table) or _collinear(layers, deviations)
    if why:
        return Undefined(why=why, method=_METHOD, n=n)
    spread = np.sqrt((deviations**2).sum(axis=0) / (n - 1))
    standard, shift = deviations / spread, means / spread
    # Layers measured by their own spread: points or percent make no difference to the last digits.
    t2 = max(0.0, float(n * shift @ np.linalg.solve(standard.T @ standard / (n - 1), shift)))
    f = (n - k) / (k * (n - 1)) * t2
    estimates = dict(zip(layers, (sizes * means).tolist(), strict=True))
    return Hotelling(t2=t2, f=f, df=(k, n - k), p=f_tail(f, k, n - k), estimates=estimates, method=_METHOD, n=n)


def _table(differences: Mapping[str, Numbers]) -> tuple[list[str], Floats, Floats]:
    """Layers, their sizes, and samples by layers in these sizes; in an order of their own, whatever they come in."""
    _check_layers(differences, "differences")
    if not differences:
        raise InputError(Fault("there is no layer to compare", "give the differences of at least one"))
    layers = sorted(differences)
    columns = [finite(differences[name], name) for name in layers]
    if len({len(column) for column in columns}) > 1:
        told = ", ".join(f"{name} {len(column)}" for name, column in zip(layers, columns, strict=True))
        raise InputError(Fault(f"the layers have different numbers of samples: {told}", "give those that all have"))
    table = np.column_stack(columns)
    if len(table) <= len(layers):
        what = f"{len(layers)} layers need at least {len(layers) + 1} samples, got {len(table)}"
        raise InputError(Fault(what, "score more samples, or test fewer layers"))
    sizes = np.array([size_of(column) for column in columns])
    return layers, sizes, table[np.lexsort(table.T)] / sizes


def _check_layers(given: object, what: str) -> None:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(Fault(f"{what} must be numbers by layer", "a dict from the names of layers to numbers"))


def _constant(layers: Sequence[str], table: Floats) -> str:
    still = np.ptp(table, axis=0) <= _CONSTANT * np.abs(table).max(axis=0)
    names = [name for name, at in zip(layers, still, strict=True) if at]
    return f"all differences are equal in {' and in '.join(names)}: test the other layers" if names else ""


def _collinear(layers: Sequence[str], deviations: Floats) -> str:
    """The first layer that follows from those before it, and from which of them."""
    unit = deviations / np.sqrt((deviations**2).sum(axis=0))
    for at in range(1, len(layers)):
        weights = np.linalg.lstsq(unit[:, :at], unit[:, at], rcond=None)[0]
        if np.abs(unit[:, at] - unit[:, :at] @ weights).max() > _COLLINEAR:
            continue
        others = [name for name, weight in zip(layers, weights, strict=False) if abs(weight) > _COLLINEAR]
        return f"the differences in {layers[at]} follow from those in {' and '.join(others)}: leave one of them out"
    return ""
