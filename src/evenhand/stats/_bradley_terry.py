"""Strengths from pairwise games: Bradley–Terry, where the odds of a win are the ratio of two strengths.

1. Bradley, Terry. Rank analysis of incomplete block designs. Biometrika 39, 1952.
2. Ford. Solution of a ranking problem from binary comparisons. American Mathematical Monthly 64, 1957. Finite strengths
   exist exactly where no group of competitors won every game against the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError, suggest_known_word
from evenhand.stats._arrays import MOST_RESAMPLES, Floats, checked_level, generator, of_kind, real, told, whole
from evenhand.stats._games import Games, won_by, won_by_unit
from evenhand.stats._strengths import bootstrapped, covariance_of, fitted, reach
from evenhand.stats._student import student_quantile

LEAST_CLUSTERS = 10
LEAST_RESAMPLES = 100
_PRIOR = "play more games, or give prior=1: one drawn game more for every pair that met"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """One competitor: the natural logarithm of its strength, where 0 is the mean of all; what it played and won."""

    name: str
    estimate: float
    low: float
    high: float
    standard_error: float
    games: int
    won: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """How likely one beats another, and where that may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BradleyTerry:
    """Strengths, the strongest first; `n` counts independent units: clusters, or games where there are none.

    `covariance` has its rows in the order of `strengths`, and an interval reaches `quantile` standard errors.
    `left_out` counts resamples that had no finite strengths.
    """

    strengths: tuple[Strength, ...]
    covariance: tuple[tuple[float, ...], ...]
    quantile: float
    level: float
    prior: float
    method: str
    n: int
    left_out: int

    def chance(self, one: str, other: str) -> Chance:
        """How likely `one` beats `other`."""
        i, j = self._place(one), self._place(other)
        ahead = self.strengths[i].estimate - self.strengths[j].estimate
        variance = self.covariance[i][i] + self.covariance[j][j] - 2 * self.covariance[i][j]
        away = self.quantile * math.sqrt(max(0.0, variance))
        estimate, low, high = (0.5 + math.tanh(odds / 2) / 2 for odds in (ahead, ahead - away, ahead + away))
        return Chance(estimate=estimate, low=low, high=high, level=self.level, method=self.method, n=self.n)

    def _place(self, name: str) -> int:
        names = [strength.name for strength in self.strengths]
        if not isinstance(name, str) or name not in names:
            raise InputError(
                Fault(f"{told(name)} played no game", suggest_known_word(name if isinstance(name, str) else "", names))
            )
        return names.index(name)


def bradley_terry(
    games: Games,
    *,
    level: float = 0.95,
    prior: float = 0.0,
    rng: np.random.Generator | None = None,
    resamples: int = 1000,
) -> BradleyTerry:
    """Log-strengths with intervals: from the Fisher information, or by resampling where games come in clusters.

    Clusters need `rng`. `prior` adds so many drawn games to every pair that met, which makes every strength finite.
    """
    alpha = checked_level(level)
    if real(prior, "prior", "0 or more games") < 0:
        raise InputError(Fault(f"prior must be 0 or more games, got {prior}"))
    names = of_kind(games, Games, "games", "Games(...), or from_rankings(...)").names
    won = won_by(games, names)
    drawn = np.where(won + won.T > 0, prior / 2, 0.0)
    _check_met(won, names)
    _check_finite(won + drawn, names)
    estimates = fitted((won + drawn)[None])[0]
    if games.clusters is None:
        spread = _by_information(won + drawn, estimates, alpha, len(games.won))
    else:
        spread = _by_resampling(games, drawn, alpha, rng, resamples)
    order = sorted(range(len(names)), key=lambda place: (-round(float(estimates[place]), 10), names[place]))
    return BradleyTerry(
        strengths=tuple(_strength(names[place], place, estimates, won, spread) for place in order),
        covariance=tuple(tuple(row) for row in spread.covariance[np.ix_(order, order)].tolist()),
        quantile=spread.quantile,
        level=level,
        prior=prior,
        method=spread.method,
        n=spread.n,
        left_out=spread.left_out,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    covariance: Floats
    quantile: float
    method: str
    n: int
    left_out: int = 0


def _check_met(won: Floats, names: Sequence[str]) -> None:
    if len(names) < 2:
        raise InputError(Fault("no game was played", "give at least one game between two competitors"))
    groups = _groups(reach((won + won.T)[None])[0], names)
    if len(groups) > 1:
        what = f"{len(groups)} groups never met: {'; '.join(map(', '.join, groups))}"
        raise InputError(Fault(what, "play games between them, or rank each group on its own"))


def _check_finite(won: Floats, names: Sequence[str]) -> None:
    """Refuse where some won every game against the rest: no strength is high enough for them."""
    reached = reach(won[None])[0]
    if reached.all():
        return
    equals = reached & reached.T
    above = reached.sum(axis=0) == equals.sum(axis=0)  # Nobody comes to them but those to whom they come too.
    below = reached.sum(axis=1) == equals.sum(axis=1)
    faults = [
        Fault(f"{', '.join(group)} {did} every game{' against the others' if len(group) > 1 else ''}", _PRIOR)
        for mask, did in ((above, "won"), (below, "lost"))
        for group in _groups(equals & mask, names)
    ]
    raise InputError(*faults)


def _groups(together: NDArray[np.bool_], names: Sequence[str]) -> list[list[str]]:
    """The names in groups, by a table of who belongs with whom; whoever belongs with nobody is left out."""
    rows = dict.fromkeys(tuple(row) for row in together.tolist())
    return [[name for name, belongs in zip(names, row, strict=True) if belongs] for row in rows if any(row)]


def _by_information(won: Floats, estimates: Floats, alpha: float, n: int) -> _Spread:
    return _Spread(
        covariance=covariance_of(won, estimates),
        quantile=NormalDist().inv_cdf(1 - alpha / 2),
        method="Bradley–Terry, Fisher information",
        n=n,
    )


def _by_resampling(
    games: Games, drawn: Floats, alpha: float, rng: np.random.Generator | None, resamples: int
) -> _Spread:
    if rng is None:
        hint = "give rng=np.random.default_rng(seed), so that clusters are resampled"
        raise InputError(Fault("the games come in clusters, so that their number tells too much", hint))
    generator(rng)
    resamples = whole(resamples, "resamples", MOST_RESAMPLES)
    if resamples < LEAST_RESAMPLES:
        raise InputError(Fault(f"{resamples} resamples are too few", f"{LEAST_RESAMPLES} or more"))
    units = won_by_unit(games, games.names)
    if len(units) < LEAST_CLUSTERS:
        what = f"{len(units)} clusters are too few to resample"
        raise InputError(Fault(what, f"it takes {LEAST_CLUSTERS} samples or rankings"))
    covariance, left_out = bootstrapped(units, drawn, rng, resamples)
    return _Spread(
        covariance=covariance,
        quantile=student_quantile(alpha / 2, len(units) - 1),
        method=f"Bradley–Terry, {resamples:,} resamples of clusters",
        n=len(units),
        left_out=left_out,
    )


def _strength(name: str, place: int, estimates: Floats, won: Floats, spread: _Spread) -> Strength:
    estimate, error = float(estimates[place]), math.sqrt(max(0.0, float(spread.covariance[place, place])))
    return Strength(
        name=name,
        estimate=estimate,
        low=estimate - spread.quantile * error,
        high=estimate + spread.quantile * error,
        standard_error=error,
        games=round(float(won[place].sum() + won[:, place].sum())),
        won=float(won[place].sum()),
    )
