"""Bradley and Terry's model: how strong each of several contestants is, from who was preferred to whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    Floats,
    compute_interval_alpha,
    number_clusters_of_array,
    require_array_sequence,
    require_statistic_choice,
    require_statistic_number,
    require_statistic_type,
)
from evenhand.stats.distributions import student_quantile

_MOST_STEPS = 100
_CONVERGED = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestantStrength:
    """A contestant against the reference: log odds of being preferred with their interval, and as a share."""

    name: str
    log_odds: float
    low: float
    high: float
    preferred: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry:
    """The strengths of all contestants, in the order given; `n` counts independent clusters of games."""

    strengths: tuple[ContestantStrength, ...]
    level: float
    method: str
    n: int


def bradley_terry(
    games: Sequence[tuple[str, str, float]],
    *,
    contestants: Sequence[str],
    reference: str,
    clusters: Sequence[int],
    level: float = 0.95,
) -> BradleyTerry:
    """Strengths from games (first, second, share of the first: 1 won, 0.5 tied, 0 lost); those of a cluster count as
    one. Every two contestants get one more tie, so that who never lost is not infinitely strong.
    """
    alpha = compute_interval_alpha(level)
    names = _require_bradley_terry_contestants(contestants, reference)
    played = [_require_bradley_terry_game(game, names) for game in require_array_sequence(games, "games")]
    unit = number_clusters_of_array(clusters, len(played), "clusters")
    ids = np.unique(unit)
    if len(ids) < 2:
        raise InputError(Fault("strengths need games of at least 2 clusters", "one cluster is one observation"))
    design, shares = _build_bradley_terry_games(played, names, reference)
    ties = [(one, other, 0.5) for place, one in enumerate(names) for other in names[place + 1 :]]
    prior = _build_bradley_terry_games(ties, names, reference)[0]
    theta = np.zeros(design.shape[1])
    for _ in range(_MOST_STEPS):
        slope, curve = _compute_log_likelihood_slopes(
            np.vstack([design, prior]), np.append(shares, [0.5] * len(prior)), theta
        )
        step = np.linalg.solve(curve, slope.sum(axis=0))
        theta = theta + step
        if np.abs(step).max() < _CONVERGED:
            break
    slope, curve = _compute_log_likelihood_slopes(design, shares, theta)
    _, whole = _compute_log_likelihood_slopes(np.vstack([design, prior]), np.append(shares, [0.5] * len(prior)), theta)
    inverse = np.linalg.inv(whole)
    each = np.zeros((len(ids), design.shape[1]))
    np.add.at(each, unit, slope)
    robust = inverse @ (each.T @ each) @ inverse * len(ids) / (len(ids) - 1)
    # Games that all end alike have no spread among them: then the model's own error stands, which they do have.
    error = np.sqrt(np.maximum(np.diag(robust), np.diag(inverse)))
    reach = student_quantile(alpha / 2, len(ids) - 1) * error
    own = dict(zip((name for name in names if name != reference), zip(theta, reach, strict=True), strict=True))
    return BradleyTerry(
        strengths=tuple(_build_log_odds_interval(name, *own.get(name, (0.0, 0.0))) for name in names),
        level=level,
        method="Bradley–Terry, one tie added to every pair; the larger of robust and model error, t",
        n=len(ids),
    )


def _require_bradley_terry_contestants(contestants: object, reference: object) -> list[str]:
    names = [
        require_statistic_type(one, str, "a contestant", "a name")
        for one in require_array_sequence(contestants, "contestants")
    ]
    require_statistic_choice(reference, names, "reference")
    if len(set(names)) != len(names) or len(names) < 2:
        raise InputError(Fault("strengths need two contestants or more, each once", "name every variant once"))
    return names


def _require_bradley_terry_game(game: object, names: Sequence[str]) -> tuple[str, str, float]:
    """A game (first, second, share of the first) between two of the contestants."""
    hint = "two contestants, and 1 for the first, 0 for the second, 0.5 for a tie"
    parts = require_array_sequence(game, "a game", hint)
    if len(parts) != 3:
        raise InputError(Fault(f"a game has 3 parts, got {len(parts)}", hint))
    first, second = (require_statistic_choice(one, names, "contestant") for one in parts[:2])
    share = require_statistic_number(parts[2], "the share of a game", hint)
    if first == second or not 0 <= share <= 1:
        raise InputError(Fault(f"{first!r} against {second!r} with a share of {share:g} is no game", hint))
    return first, second, share


def _build_bradley_terry_games(
    games: Sequence[tuple[str, str, float]], contestants: Sequence[str], reference: str
) -> tuple[Floats, Floats]:
    """One row per game: 1 for the first contestant, −1 for the second, none for the reference."""
    places = {name: place for place, name in enumerate(one for one in contestants if one != reference)}
    design = np.zeros((len(games), len(places)))
    for row, (first, second, _) in enumerate(games):
        for name, sign in ((first, 1.0), (second, -1.0)):
            if name in places:
                design[row, places[name]] = sign
    return design, np.array([share for _, _, share in games], dtype=np.float64)


def _compute_log_likelihood_slopes(design: Floats, shares: Floats, theta: Floats) -> tuple[Floats, Floats]:
    """What each game says about each strength, and how sharply they all do."""
    expected = 1 / (1 + np.exp(-design @ theta))
    return design * (shares - expected)[:, None], (design * (expected * (1 - expected))[:, None]).T @ design


def _build_log_odds_interval(name: str, log_odds: float, reach: float) -> ContestantStrength:
    low, high = float(log_odds - reach), float(log_odds + reach)
    preferred = 1 / (1 + math.exp(-log_odds))
    return ContestantStrength(name=name, log_odds=float(log_odds), low=low, high=high, preferred=preferred)
