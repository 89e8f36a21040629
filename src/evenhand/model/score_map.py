"""A map from a judge's score on a criterion to what people would say, made for one way of asking."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evenhand.errors import Fault, InputError

MAPPED_DECIMALS = 4  # Of a mapped score: beyond, a map knows nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMap:
    """Points between which the map is straight, and beyond which it is level; it never falls.

    `fingerprint` is that of the judge asked about the rubric as it was when people's labels were held against it.
    """

    judge: str
    criterion: str
    fingerprint: str
    points: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        said, people = ([point[side] for point in self.points] for side in (0, 1))
        if not self.points or said != sorted(set(said)) or people != sorted(people):
            what = f"the map of {self.judge} on {self.criterion} must rise: {len(self.points)} points"
            raise InputError(Fault(what, "as in points: [[1, 1.4], [5, 4.6]]"))

    def map_score(self, score: Fraction) -> Fraction:
        """What people would say where the judge says this."""
        (first, lowest), (last, highest) = self.points[0], self.points[-1]
        if score <= first or score >= last:
            return lowest if score <= first else highest
        place = next(number for number, (said, _) in enumerate(self.points) if said >= score)
        (low, below), (high, above) = self.points[place - 1], self.points[place]
        exact = below + (above - below) * (score - low) / (high - low)
        return Fraction(round(exact * 10**MAPPED_DECIMALS), 10**MAPPED_DECIMALS)
