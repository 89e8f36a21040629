"""Judges that remember when they were asked and how many at once, to be held against the limits of a run."""

import asyncio
import time
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from tests.models.server import Seen
from tests.runs.chaos.judges import Asked, Judges, marks_in


@dataclass
class WatchedJudges(Judges):
    """The same judges, watched."""

    times: list[float] = field(default_factory=list)
    answered: Counter[Asked] = field(default_factory=Counter)
    at_once: int = 0
    most_at_once: int = 0

    def forget(self) -> None:
        """Begin to count anew; nobody may be connected any more."""
        self.sitting()
        self.times.clear()
        self.answered.clear()
        self.most_at_once = 0

    async def _behave(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        self.times.append(time.monotonic())
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await super()._behave(seen, writer)
            self.answered[seen.json["model"], marks_in(seen.json)] += 1
        finally:
            self.at_once -= 1


def find_excess(times: list[float], per_minute: float) -> float:
    """By how many requests a rate was exceeded, in the worst of all windows of time."""
    worst, least = 0.0, 0.0
    for number, at in enumerate(times):  # Requests beyond the rate since the moment when they were fewest.
        ahead = number - at * per_minute / 60
        least = ahead if number == 0 else min(least, ahead)
        worst = max(worst, ahead + 1 - least)
    return worst


def find_rate(times: list[float], since: float) -> float:
    """Requests a second from some moment on."""
    late = times[bisect_right(times, since) :]
    return (len(late) - 1) / (late[-1] - late[0])
