"""Moments and lengths of time in files: read as they are written, refused where they could mean something else."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.task import parse_contest_duration, parse_contest_moment
from evenhand.errors import Fault

ZONES = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-12-01", "at 2026-12-01 has no time of day (as in 2026-12-01T18:00:00+01:00)"),
        ("20261201", "at 20261201 has no time of day (as in 2026-12-01T18:00:00+01:00)"),
        ("2026-12-01T18:00", "at 2026-12-01T18:00:00 has no time zone (as in 2026-12-01T18:00:00Z or "),
        ("tomorrow", "at must be a time in ISO 8601, got 'tomorrow' (as in 2026-12-01T18:00:00+01:00)"),
        ("2026-13-01T18:00Z", "at must be a time in ISO 8601, got '2026-13-01T18:00Z'"),
        ("1969-12-31T18:00Z", "at must be from 1970 to 2999, got 1969-12-31T18:00:00+00:00"),
        ("9999-12-31T23:59:59-12:00", "at must be from 1970 to 2999"),
    ],
)
def test_a_moment_that_could_mean_another_is_refused(text: str, told: str) -> None:
    """An hour decides who was late: nothing is guessed, and the hint is a text that works."""
    faults: list[Fault] = []

    moment = parse_contest_moment(text, "at", faults)

    assert moment is None
    assert str(faults[0]).removeprefix("at: ").startswith(told)
    assert faults[0].path == ("at",)


@given(st.datetimes(datetime(1970, 1, 2), datetime(2999, 12, 30), timezones=ZONES))
def test_every_moment_is_read_as_it_is_written(moment: datetime) -> None:
    """To the microsecond, in any zone."""
    faults: list[Fault] = []

    read = parse_contest_moment(moment.isoformat(), "at", faults)

    assert (read, faults) == (moment, [])


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("3 days", timedelta(days=3)),
        ("1 day", timedelta(days=1)),
        ("48 h", timedelta(hours=48)),
        ("1 hour", timedelta(hours=1)),
        ("90 min", timedelta(minutes=90)),
        ("90min", timedelta(minutes=90)),
        ("2 minutes", timedelta(minutes=2)),
        ("30 s", timedelta(seconds=30)),
        ("30 Seconds", timedelta(seconds=30)),
        ("1 week", timedelta(weeks=1)),
        ("1.5 weeks", timedelta(days=10.5)),
        ("0 s", timedelta()),
    ],
)
def test_a_length_of_time_is_a_number_and_a_unit(text: str, length: timedelta) -> None:
    """As people write it."""
    faults: list[Fault] = []

    assert (parse_contest_duration(text, "period", faults), faults) == (length, [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3", "period 3 has no unit"),
        ("3 m", "period has an unknown unit, 'm'"),
        ("3 months", "period has an unknown unit, 'months'"),
        ("days", "period must be a length of time, got 'days'"),
        ("1 day 12 h", "period must be a length of time, got '1 day 12 h'"),
        ("1e9 days", "period must be a length of time, got '1e9 days'"),
        ("999999999999 weeks", "period is beyond the 36,525 days allowed"),
    ],
)
def test_a_length_of_time_that_says_too_little_is_refused(text: str, told: str) -> None:
    """A month is no length, and m may be one."""
    faults: list[Fault] = []

    assert parse_contest_duration(text, "period", faults) is None
    assert faults[0].what == told
    assert faults[0].hint in ("", "as in 3 days, 48 h, 90 min, 30 s or 1 week")
