"""Games between competitors: who met whom, and who won."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Floats, Numbers, finite, sequence
from evenhand.stats._groups import numbered

Ranking = Sequence[str | tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Games:
    """Game by game: 1 in `won` where the first won, 0 where the second did, 0.5 for a tie, or what lies between.

    Several judges of one sample are several games of one cluster. Without `clusters` all games are independent.
    """

    first: Sequence[str]
    second: Sequence[str]
    won: Sequence[float]
    clusters: Sequence[int] | None = None

    def __post_init__(self) -> None:
        columns = {"first": self.first, "second": self.second, "won": self.won}
        if self.clusters is not None:
            columns["clusters"] = self.clusters
        if len({len(sequence(column, name, "one entry per game")) for name, column in columns.items()}) > 1:
            raise InputError(Fault("the columns of the games differ in length", "one entry per game in each"))
        for game, (one, other) in enumerate(zip(self.first, self.second, strict=True)):
            if _name(one, f"game {game}") == _name(other, f"game {game}"):
                raise InputError(Fault(f"in game {game} {one!r} meets itself", "name two competitors"))
        preferences_of(self.won, "won")
        if self.clusters is not None:
            numbered(self.clusters, len(self.won), "clusters")

    @property
    def names(self) -> list[str]:
        """All who played, sorted."""
        return sorted({*self.first, *self.second})


def preferences_of(values: Numbers, what: str) -> Floats:
    """Numbers between 0 and 1, or a refusal that names the first that is none."""
    array = finite(values, what)
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        hint = "1 for the first, 0 for the second, 0.5 for a tie"
        raise InputError(Fault(f"{what}[{wrong[0]}] is {array[wrong[0]]:g}, not between 0 and 1", hint))
    return array


def from_rankings(rankings: Sequence[Ranking]) -> Games:
    """Every ranking, best first, as games between all whom it names; names in a tuple share a place.

    The games of one ranking hang together, so that each ranking is a cluster.
    """
    rows: list[tuple[str, str, float, int]] = []
    for number, ranking in enumerate(sequence(rankings, "rankings")):
        placed = _placed(ranking, number)
        rows += [
            (one, other, 0.5 if place == lower else 1.0, number)
            for (one, place), (other, lower) in combinations(placed, 2)
        ]
    first, second, won, clusters = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Games(first=first, second=second, won=won, clusters=clusters)


def won_by(games: Games, names: Sequence[str]) -> Floats:
    """How much each won of each: a row for the winner, a column for the loser."""
    size = len(names)
    return _totals(games, names, np.zeros(len(games.won), dtype=np.int64), 1).reshape(size, size)


def won_by_unit(games: Games, names: Sequence[str]) -> Floats:
    """The same for every cluster, one row each, in an order of their own, whatever clusters are called."""
    unit = np.arange(len(games.won)) if games.clusters is None else numbered(games.clusters, len(games.won), "clusters")
    totals = _totals(games, names, unit, int(unit.max()) + 1)
    ordered: Floats = totals[np.lexsort(totals.T[::-1])]
    return ordered


def _placed(ranking: Ranking, number: int) -> list[tuple[str, int]]:
    if isinstance(ranking, str):
        raise InputError(Fault(f"ranking {number} is one text, {ranking!r}", "give a list of names, best first"))
    where = f"ranking {number}"
    placed = [
        (_name(name, where), place)
        for place, at in enumerate(sequence(ranking, where, "give a list of names, best first"))
        for name in (at if isinstance(at, tuple | list | set | frozenset) else (at,))
    ]
    if len({name for name, _ in placed}) < len(placed):
        raise InputError(Fault(f"ranking {number} names a competitor twice", "every name has one place"))
    if len(placed) < 2:
        raise InputError(Fault(f"ranking {number} names {len(placed)} competitor", "leave it out, and count it"))
    return placed


def _name(name: object, where: str) -> str:
    if isinstance(name, str):
        return name
    raise InputError(Fault(f"{where} has a competitor whose name is no text but {type(name).__name__}", "name them"))


def _totals(games: Games, names: Sequence[str], unit: NDArray[np.int64], units: int) -> Floats:
    place = {name: number for number, name in enumerate(names)}
    first = np.array([place[name] for name in games.first], dtype=np.int64)
    second = np.array([place[name] for name in games.second], dtype=np.int64)
    won, size = finite(games.won, "won"), len(names)
    cell = np.concatenate([first * size + second, second * size + first]) + np.tile(unit, 2) * size * size
    share = np.concatenate([won, 1 - won])
    order = np.lexsort((share, cell))  # One order of adding up, whatever order the games come in.
    totals = np.bincount(cell[order], weights=share[order], minlength=units * size * size)
    return totals.astype(np.float64).reshape(units, size * size)
