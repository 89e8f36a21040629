"""Moments and lengths of time: as files write them, and as a contest keeps them; what is wrong is a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

from evenhand.errors import ContestError, Fault

# Far enough from both ends of the calendar that no zone and no period leads beyond it.
FIRST_YEAR, LAST_YEAR = 1970, 2999
LONGEST = timedelta(days=36_525)
MOMENT = "as in 2026-12-01T18:00:00+01:00"
LENGTH = "as in 3 days, 48 h, 90 min, 30 s or 1 week"

_UNITS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "day": 86_400, "week": 604_800}
_LENGTH = re.compile(r"(?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<unit>[a-z]*)")


def moment_in(text: str, name: str, faults: list[Fault]) -> datetime | None:
    """The moment written in a field, in ISO 8601 with its time zone."""
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        faults.append(Fault(f"{name} must be a time in ISO 8601, got {_short(text)}", MOMENT, (name,)))
        return None
    wrong = list(moment_faults(moment, name))
    if _is_date(text):
        wrong = [Fault(f"{name} {text} has no time of day", f"as in {moment.date()}T18:00:00+01:00", (name,))]
    faults += wrong
    return None if wrong else moment


def kept_moment(moment: datetime, name: str) -> datetime:
    """A moment as a contest keeps it: its offset is a number, no rule that makes an hour come twice or not at all.

    A day added to it is 24 hours, and it is the same when it is read again from what was written.
    """
    faults = list(moment_faults(moment, name))
    if faults:
        raise ContestError(*faults)
    offset = moment.utcoffset()
    assert offset is not None
    return moment.replace(tzinfo=timezone(offset), fold=0)


def moment_faults(moment: datetime, name: str) -> Iterator[Fault]:
    """That its zone is missing, or that it lies where no calendar can be trusted."""
    written = moment.isoformat()
    if moment.tzinfo is None or moment.utcoffset() is None:
        yield Fault(f"{name} {written} has no time zone", f"as in {written}Z or {written}+01:00", (name,))
    elif not FIRST_YEAR <= moment.year <= LAST_YEAR:
        yield Fault(f"{name} must be from {FIRST_YEAR} to {LAST_YEAR}, got {written}", "", (name,))


def length_in(text: str, name: str, faults: list[Fault]) -> timedelta | None:
    """The length of time written in a field: a number and its unit."""
    found = _LENGTH.fullmatch(text.strip().lower())
    if found is None:
        faults.append(Fault(f"{name} must be a length of time, got {_short(text)}", LENGTH, (name,)))
        return None
    unit = found["unit"]
    seconds = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"))
    if seconds is None:
        what = f"has an unknown unit, {_short(unit)}" if unit else f"{found['number']} has no unit"
        faults.append(Fault(f"{name} {what}", LENGTH, (name,)))
        return None
    length = Fraction(found["number"]) * seconds
    if abs(length) > LONGEST.total_seconds():
        faults.append(Fault(f"{name} is beyond the {LONGEST.days:,} days allowed", "", (name,)))
        return None
    return timedelta(microseconds=round(length * 1_000_000))


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")
