"""A stretch of time laid over a stretch of the chart's width, to scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evenhand.report.html._axis import Axis, Tick

MINUTE, HOUR, DAY = 60, 3600, 86400
STEPS = (
    1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
    2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """From one moment to another."""

    begin: datetime
    end: datetime
    axis: Axis

    @classmethod
    def of(cls, begin: datetime, end: datetime, *, left: float, right: float) -> Calendar:
        """The calendar of a stretch; one moment gets a minute about it."""
        if end <= begin:
            begin, end = begin - timedelta(seconds=30), begin + timedelta(seconds=30)
        axis = Axis(low=0, high=(end - begin).total_seconds(), left=left, right=right)
        return cls(begin=begin, end=end, axis=axis)

    def at(self, when: datetime) -> float:
        """The place of a moment; what lies outside stands at the edge."""
        return self.axis.at((when - self.begin).total_seconds())

    def holds(self, when: datetime) -> bool:
        """Whether a moment lies inside."""
        return self.begin <= when <= self.end

    def ticks(self, most: int = 5) -> tuple[Tick, ...]:
        """Round moments, at most `most` of them."""
        step = next(step for step in _steps() if self.axis.high / step <= most)
        midnight = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=self.begin.tzinfo)
        first = math.ceil((self.begin - midnight).total_seconds() / step)
        moments = (midnight + timedelta(seconds=step * (first + number)) for number in range(most + 1))
        return tuple(Tick(self.at(when), _label(when, step)) for when in moments if self.holds(when))


def _steps() -> Iterator[int]:
    yield from STEPS
    step = STEPS[-1]
    while True:
        step *= 2
        yield step


def _label(when: datetime, step: int) -> str:
    """As much as tells one tick from the next."""
    if step < MINUTE:
        return f"{when:%H:%M:%S}"
    if step < DAY and (when.hour or when.minute):
        return f"{when:%H:%M}"
    return f"{when.day} {when:%b}" if step < 182 * DAY else f"{when:%b %Y}"
