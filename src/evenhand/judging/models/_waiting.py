"""How long to wait before asking again: what the server says, or longer and longer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from evenhand.judging.models._clock import Clock

_FIRST, _LONGEST = 0.5, 30.0


def asked_wait(headers: Mapping[str, str], wall: float) -> float | None:
    """The seconds a server asks to wait; None where it does not say, or says what cannot be."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        then: float = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return then - wall if then > wall else None


def next_wait(asked: float | None, retries: int, clock: Clock) -> float:
    """The wait before the next try: as asked and a little more, or doubled each time; spread out by chance."""
    if asked:
        return asked * (1 + 0.1 * clock.chance())
    return min(_LONGEST, _FIRST * 2.0 ** min(retries, 20)) * (1 + clock.chance()) / 2


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
