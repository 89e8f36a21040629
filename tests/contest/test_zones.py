"""Time zones: a contest goes by moments, whatever the clocks of its authors do at night."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.events import (
    ChallengeResolved,
    ContestCreated,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    SubmissionScored,
    contest_event_from_json,
    contest_event_json,
    make_submission_received_event,
)
from evenhand.contest.machine import apply_contest_event
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge, Submission, Task, normalize_contest_moment
from evenhand.errors import ContestError
from tests.contest.building import Contest, checked, hour, scored, submission, task

# Clocks that jump: by an hour, by half an hour, over a whole day, and one that never does.
PLACES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC")
zones = st.sampled_from([ZoneInfo(name) for name in PLACES])
moments = st.datetimes(datetime(1971, 1, 1), datetime(2998, 1, 1))
BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
NOON = datetime(2026, 10, 24, 12, tzinfo=BERLIN)  # The night after it has the hour from two to three twice.

WITH_A_TIME: dict[str, Callable[[datetime], Task | Submission | Challenge | ContestEvent]] = {
    "task": lambda at: task(deadline=at),
    "submission": lambda at: replace(submission("a"), at=at),
    "challenge": lambda at: Challenge(by="a", at=at, reason="no"),
    "created": lambda at: ContestCreated(at=at, task=task()),
    "gate_checked": lambda at: GateChecked(at=at, submission="a", checks=()),
    "scored": lambda at: SubmissionScored(at=at, submission="a", judgments=()),
    "deadline_reached": lambda at: DeadlineReached(at=at, deadline="submissions"),
    "ranked": lambda at: FinalistsRanked(at=at, judgments=()),
    "resolved": lambda at: ChallengeResolved(at=at, judgments=()),
}


@given(moments, zones, st.sampled_from([0, 1]), st.integers(0, 99))
def test_a_moment_is_kept_with_its_offset_and_without_the_rules_of_its_zone(
    moment: datetime, zone: ZoneInfo, fold: int, hours: int
) -> None:
    """On the clock that was written; so many hours later are so many hours later, also when it is read again."""
    given, length = moment.replace(tzinfo=zone, fold=fold), timedelta(hours=hours)

    kept = normalize_contest_moment(given, "at")

    assert kept.isoformat() == given.isoformat()
    assert kept.astimezone(UTC) == given.astimezone(UTC)
    assert (kept + length).astimezone(UTC) == kept.astimezone(UTC) + length
    assert (datetime.fromisoformat(kept.isoformat()) + length).isoformat() == (kept + length).isoformat()


@given(st.lists(st.tuples(st.integers(0, 40 * 60), zones), min_size=5, max_size=5))
def test_a_contest_over_a_night_in_which_clocks_are_set_back_is_rebuilt_as_it_was(
    drawn: list[tuple[int, ZoneInfo]],
) -> None:
    """Each on the clock of another place: what is later is taken as later, and the period has all its hours."""
    minutes = sorted(minute for minute, _ in drawn)
    ats = [
        (NOON.astimezone(UTC) + timedelta(minutes=minute)).astimezone(zone)
        for minute, (_, zone) in zip(minutes, drawn, strict=True)
    ]
    log: list[ContestEvent] = [
        ContestCreated(at=ats[0], task=task(deadline=ats[4], challenge_period=timedelta(days=1))),
        make_submission_received_event(replace(submission("a"), at=ats[1])),
        replace(checked("a"), at=ats[2]),
        replace(scored("a", 80), at=ats[3]),
        DeadlineReached(at=ats[4], deadline="submissions"),
    ]

    live, again = ContestState(), ContestState()
    for event in log:
        live, _ = apply_contest_event(live, event)
        again, _ = apply_contest_event(again, contest_event_from_json(contest_event_json(event)))

    assert live == again
    assert live.period_ends is not None
    assert live.period_ends.isoformat() == str(again.period_ends).replace(" ", "T")
    assert live.period_ends - NOON.astimezone(UTC) == timedelta(minutes=minutes[-1], days=1)


def test_a_day_of_challenges_has_24_hours() -> None:
    """On the clock of a place that sets it back in that night, it ends an hour earlier than it began."""
    midnight = datetime(2026, 11, 1, 0, 30, tzinfo=NEW_YORK)
    contest = Contest(deadline=midnight, challenge_period=timedelta(days=1)).enters("a", 1, 80)

    contest.happen(DeadlineReached(at=midnight, deadline="submissions"))

    assert contest.state.period_ends == datetime(2026, 11, 2, 4, 30, tzinfo=UTC)


def test_in_the_hour_that_comes_twice_the_second_time_is_the_later_one() -> None:
    """A clock shows 01:50 before it shows 01:10 again."""
    twice = datetime(2026, 11, 1, 1, tzinfo=NEW_YORK)
    contest = Contest().happen(make_submission_received_event(replace(submission("a"), at=twice.replace(minute=50))))

    contest.happen(make_submission_received_event(replace(submission("b"), at=twice.replace(minute=10, fold=1))))

    assert list(contest.state.entries) == ["a", "b"]


@pytest.mark.parametrize("made", WITH_A_TIME.values(), ids=WITH_A_TIME)
@pytest.mark.parametrize(
    ("at", "told"),
    [
        (hour(1).replace(tzinfo=None), "has no time zone (as in 2026-11-01T01:00:00Z or 2026-11-01T01:00:00+01:00)"),
        (datetime(3000, 1, 1, tzinfo=UTC), "must be from 1970 to 2999, got 3000-01-01T00:00:00+00:00"),
        (datetime.max.replace(tzinfo=BERLIN), "must be from 1970 to 2999, got 9999-12-31T23:59:59.999999+01:00"),
        (datetime.min.replace(tzinfo=ZoneInfo("Pacific/Apia")), "must be from 1970 to 2999, got 0001-01-01"),
    ],
)
def test_a_time_that_no_contest_can_go_by_is_refused_at_birth(
    made: Callable[[datetime], object], at: datetime, told: str
) -> None:
    """Then nothing can run off the end of the calendar later, in the middle of a contest."""
    with pytest.raises(ContestError) as refused:
        made(at)

    assert told in str(refused.value)


@pytest.mark.parametrize("made", WITH_A_TIME.values(), ids=WITH_A_TIME)
def test_every_time_of_a_contest_is_kept_by_its_offset(made: Callable[[datetime], object]) -> None:
    """Of a task, a submission, a challenge and of every event."""
    value = made(NOON)

    kept = getattr(value, "at", None) or getattr(value, "deadline", None)

    assert isinstance(kept, datetime)
    assert not isinstance(kept.tzinfo, ZoneInfo)
    assert kept.isoformat() == "2026-10-24T12:00:00+02:00"
