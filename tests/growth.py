"""How the time for a text grows with its length, told apart from what a busy machine adds."""

import time
from collections.abc import Callable


def is_within_times(
    work: Callable[[str], object],
    short: str,
    long: str,
    *,
    times: float,
    slack: float = 0.0,
    floor: float = 0.0,
    readings: int = 3,
) -> bool:
    """Whether the best reading of the long text is at most so many times the best of the short one, and the slack.

    A short text counts for the floor at least. The long one is read again only while it is above the bound.
    """
    most = times * max(floor, min(_seconds(work, short) for _ in range(readings))) + slack
    return any(_seconds(work, long) < most for _ in range(readings))


def _seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start
