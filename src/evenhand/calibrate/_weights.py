"""Weights of judges: never negative, summing to 1, and drawn towards equal ones the more, the less is known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._labelled import Floats

LEAST_WEIGHT = 0.05  # A judge that counts for less is not worth asking.
_ROUNDS = 200


def fitted_weights(said: Floats, people: Floats, weight: Floats, shrink: float) -> Floats:
    """The weights under which the mean of the judges errs least.

    With weights w that sum to 1 the squared error is w'Cw, where C holds the mean product of every two judges' errors:
    each over the cells that both answered, so that a judge which is often silent is used for what it said. `shrink`
    blends C with equal, unrelated errors, under which equal weights are best.
    """
    error = np.where(np.isfinite(said), said - people[:, None], 0.0)
    there = np.isfinite(said) * weight[:, None]
    together = there.T @ np.isfinite(said)
    products = (error * weight[:, None]).T @ error
    known = together > 0
    blended = np.where(known, products / np.where(known, together, 1.0), products.sum() / max(together.sum(), 1e-300))
    typical = float(np.diag(blended).mean()) or 1.0
    return _kept(_least(_positive((1 - shrink) * blended + shrink * typical * np.eye(len(blended)), typical)))


def _positive(matrix: Floats, typical: float) -> Floats:
    """Means over different cells need not fit together: what is below 0 is lifted to a trifle."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    lifted: Floats = (vectors * np.maximum(values, 1e-6 * typical)) @ vectors.T
    return lifted


def _least(matrix: Floats) -> Floats:
    """Where w'Mw is least over weights that are not negative and sum to 1.

    The same as v'Mv/2 − Σv over v ≥ 0, then scaled (Lawson and Hanson's active set, by the normal equations).
    """
    size = len(matrix)
    active = np.zeros(size, dtype=bool)
    found = np.zeros(size)
    for _ in range(_ROUNDS):
        gain = np.where(active, -np.inf, 1 - matrix @ found)
        if gain.max() <= 1e-10:
            break
        active[int(gain.argmax())] = True
        found = _within(matrix, found, active)
    weights: Floats = found / found.sum()
    return weights


def _within(matrix: Floats, found: Floats, active: NDArray[np.bool_]) -> Floats:
    """The best point of the active judges; who would turn negative on the way there is dropped."""
    while True:
        aim = np.zeros_like(found)
        aim[active] = np.linalg.solve(matrix[np.ix_(active, active)], np.ones(int(active.sum())))
        below = active & (aim <= 0)
        if not below.any():
            return aim
        step = float((found[below] / (found[below] - aim[below])).min())
        found = found + step * (aim - found)
        active &= found > 1e-12


def _kept(weights: Floats) -> Floats:
    """Two decimals, and nobody who hardly counts: what is fitted is what a file can say."""
    kept = np.where(weights >= LEAST_WEIGHT, weights, 0.0)
    rounded: Floats = np.round(kept / kept.sum(), 2)
    whole: Floats = rounded / rounded.sum()
    return whole
