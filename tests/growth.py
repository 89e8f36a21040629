"""How the time for a text grows with its length, told apart from what a busy machine adds."""

import time
from collections.abc import Callable

TRIES = 9  # Only what is too slow, or disturbed each time, takes more than one.


def is_within_times(work: Callable[[str], object], short: str, long: str, *, times: float, slack: float) -> bool:
    """Whether the long text takes at most so many times as long as the short one, and some seconds of slack."""
    most = times * min(_seconds(work, short) for _ in range(3)) + slack
    return any(_seconds(work, long) <= most for _ in range(TRIES))


def _seconds(work: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    work(text)
    return time.process_time() - start
