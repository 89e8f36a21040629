"""Where a value stands on a chart: shares of its width, so that a chart fits any screen without its text shrinking."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from evenhand.report.html._figures import short


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on the axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A stretch of numbers laid over a stretch of the chart's width, in per cent."""

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def around_zero(cls, *values: float, left: float, right: float) -> Self:
        """An axis with 0 in its middle that holds all the values."""
        reach = 1.08 * max(map(abs, values), default=0.0) or 1.0
        return cls(low=-reach, high=reach, left=left, right=right)

    @classmethod
    def holding(cls, *values: float, left: float, right: float) -> Self:
        """An axis from the lowest to the highest of the values, with some room about a value that stands alone."""
        low, high = min(values), max(values)
        room = 0.0 if high - low > 1e-9 * max(abs(low), abs(high)) else 0.1 * abs(low) or 0.5
        return cls(low=low - room, high=high + room, left=left, right=right)

    def at(self, value: float) -> float:
        """The place of a value; what lies outside stands at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 2)

    def ticks(self, most: int = 5, *, whole: bool = False) -> tuple[Tick, ...]:
        """Round numbers inside the stretch, at most `most` of them; whole ones where things are counted."""
        least = max((self.high - self.low) / most, 1.0 if whole else 0.0)
        step = next(step for step in _steps(least) if self._inside(step) <= most)
        first = math.ceil(self.low / step - 1e-9)
        values = [(first + number) * step for number in range(self._inside(step))]
        return tuple(Tick(self.at(value), short(value + 0.0) or "") for value in values)

    def _inside(self, step: float) -> int:
        return math.floor(self.high / step + 1e-9) - math.ceil(self.low / step - 1e-9) + 1


def _steps(least: float) -> list[float]:
    magnitude = 10.0 ** math.floor(math.log10(least))
    return [round(factor * magnitude, 12) for factor in (1, 2, 5, 10, 20, 50)]
