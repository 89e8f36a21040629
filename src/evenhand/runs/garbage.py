"""Python's search for garbage while runs are under way: less often, as a run leaves little that needs it."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_PER_SEARCH = 10_000  # New ones between two searches. Python's own figure, 700, is a tenth of a run's CPU.
_LOCK = threading.Lock()
_BEFORE: list[tuple[int, int, int]] = []  # One for each run under way; the first is what the process had.


@contextmanager
def collect_garbage_less_often() -> Iterator[None]:
    """Until the last of several that overlap is over; a process that searches less often already is left alone."""
    with _LOCK:
        _BEFORE.append(gc.get_threshold())
        first, *older = _BEFORE[0]
        if 0 < first < OBJECTS_PER_SEARCH:
            gc.set_threshold(OBJECTS_PER_SEARCH, *older)
    try:
        yield
    finally:
        with _LOCK:
            before = _BEFORE[0]
            _BEFORE.pop()
            if not _BEFORE:
                gc.set_threshold(*before)
