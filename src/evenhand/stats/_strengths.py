"""The likeliest strengths of many tables of wins at once, and how sure they are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats

MOST_LEFT_OUT = 0.05
_MOST_STEPS, _MOST_HALVINGS, _SETTLED = 200, 60, 1e-10
_AT_ONCE = 100


def fitted(won: Floats) -> Floats:
    """Log-strengths that sum to 0, one row per table; each must be `finite_strengths`.

    The likelihood is concave: Newton's step, halved until the likelihood does not fall, always arrives.
    """
    size = won.shape[-1]
    games = won + np.swapaxes(won, 1, 2)
    strengths = np.zeros(won.shape[:2])
    likelihood = _likelihood(won, strengths)
    for _ in range(_MOST_STEPS):
        chance = _chance(strengths)
        gradient = (won - games * chance).sum(axis=2)
        spread = _laplacian(games * chance * (1 - chance))
        try:
            step = np.linalg.solve(spread + _anchor(spread), gradient[..., None])[..., 0]
        except np.linalg.LinAlgError:  # A prior so small that it holds nobody.
            break
        step -= step.mean(axis=1, keepdims=True)
        strengths, likelihood = _climbed(won, strengths, likelihood, step)
        if np.abs(step).max() < _SETTLED:
            return strengths
    raise InputError(Fault(f"the strengths of {size} competitors do not settle", "prior=1 holds them together"))


def covariance_of(won: Floats, strengths: Floats) -> Floats:
    """From the Fisher information, for strengths that sum to 0: the inverse within that plane."""
    chance = _chance(strengths[None])[0]
    spread = _laplacian(((won + won.T) * chance * (1 - chance))[None])[0]
    anchor = _anchor(spread[None])[0]
    size = len(won)
    inverse: Floats = np.linalg.inv(spread + anchor) - 1 / (anchor[0, 0] * size * size)
    return inverse


def finite_strengths(won: Floats) -> NDArray[np.bool_]:
    """For each table whether everyone can be reached from everyone by going from winners to losers."""
    finite: NDArray[np.bool_] = np.all(reach(won), axis=(1, 2))
    return finite


def reach(won: Floats) -> NDArray[np.bool_]:
    """Who comes to whom by going from winners to losers; everyone to himself."""
    size = won.shape[-1]
    reached = (won > 0) | np.eye(size, dtype=bool)
    for _ in range(max(1, size.bit_length())):
        reached = np.matmul(reached.astype(np.float32), reached.astype(np.float32)) > 0
    return reached


def bootstrapped(units: Floats, drawn: Floats, rng: np.random.Generator, resamples: int) -> tuple[Floats, int]:
    """The covariance of strengths over resamples of units, and how many of these had no finite strengths."""
    size = len(drawn)
    profiles, times = np.unique(units, axis=0, return_counts=True)
    found: list[Floats] = []
    for start in range(0, resamples, _AT_ONCE):
        counts = rng.multinomial(len(units), times / len(units), size=min(_AT_ONCE, resamples - start))
        won = (counts @ profiles).reshape(-1, size, size) + drawn
        kept = won[finite_strengths(won)]
        found += [fitted(kept)] if len(kept) else []
    strengths = np.concatenate(found) if found else np.empty((0, size))
    left_out = resamples - len(strengths)
    if left_out > MOST_LEFT_OUT * resamples:
        what = f"{left_out} of {resamples} resamples have someone who won or lost everything"
        raise InputError(Fault(what, "play more games, or give prior=1: one drawn game for every pair that met"))
    covariance: Floats = np.atleast_2d(np.cov(strengths.T))
    return covariance, left_out


def _climbed(won: Floats, strengths: Floats, before: Floats, step: Floats) -> tuple[Floats, Floats]:
    factor = np.ones(len(won))
    for _ in range(_MOST_HALVINGS):
        reached = strengths + factor[:, None] * step
        likelihood = _likelihood(won, reached)
        fell = likelihood < before - 1e-12 * np.abs(before)
        if not fell.any():
            break
        factor[fell] /= 2
    return reached, likelihood


def _likelihood(won: Floats, strengths: Floats) -> Floats:
    ahead = strengths[:, :, None] - strengths[:, None, :]
    likelihood: Floats = -(won * np.logaddexp(0.0, -ahead)).sum(axis=(1, 2))
    return likelihood


def _chance(strengths: Floats) -> Floats:
    ahead = strengths[:, :, None] - strengths[:, None, :]
    chance: Floats = np.exp(-np.logaddexp(0.0, -ahead))
    return chance


def _laplacian(weights: Floats) -> Floats:
    laplacian: Floats = np.eye(weights.shape[-1]) * weights.sum(axis=2)[..., None] - weights
    return laplacian


def _anchor(spread: Floats) -> Floats:
    """A constant as large as the information itself: it fixes the sum of strengths, which games tell nothing about."""
    size = spread.shape[-1]
    return np.broadcast_to((np.trace(spread, axis1=1, axis2=2) / size**2)[:, None, None], spread.shape)
