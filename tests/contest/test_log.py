"""The log is all there is: what is written down gives the same state, the same record, and loses nothing."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.events import (
    EVENT_KINDS,
    ContestCreated,
    ContestEvent,
    FinalistsRanked,
    SubmissionReceived,
    SubmissionScored,
    contest_event_from_json,
    contest_event_json,
    contest_task_from_json,
    contest_task_json,
)
from evenhand.contest.machine import apply_contest_event, rebuild_contest_state
from evenhand.contest.record import encode_contest_state
from evenhand.contest.state import ContestState
from evenhand.contest.task import find_contest_author_fault
from evenhand.errors import ContestError
from evenhand.model.sample import GuardFinding
from evenhand.model.scale import MISSING_KINDS, Missing, Scored
from evenhand.model.scorecard import AnswerSpread, Evidence, Judgment
from tests.contest.building import START, Contest, dimensions, hour, scored, submission, task
from tests.contest.test_worked_contests import CONTESTS, WORKED
from tests.contest.worked_endings import ranked

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = texts.filter(lambda text: not find_contest_author_fault(text))
places = st.integers(0, 10**15)
fractions = st.fractions(0, 100)
zones = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
times = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=zones)
scores = st.one_of(
    st.builds(Scored, fractions, st.sampled_from([None, "A", "C"]), texts),
    st.builds(Missing, st.sampled_from(MISSING_KINDS), texts),
)
judgments = st.builds(
    Judgment,
    judge=names,
    output=names,
    criterion=names,
    score=scores,
    reason=texts,
    evidence=st.lists(st.builds(Evidence, texts, places, places), max_size=2).map(tuple),
    absent=st.lists(texts, max_size=2).map(tuple),
    feedback=texts,
    spread=st.none() | st.builds(AnswerSpread, n=places, sd=st.floats(0, 9), how=st.just("replies")),
)
findings = st.builds(GuardFinding, guard=texts, rule=texts, says=texts, text=texts, start=places, end=places)
shown = st.dictionaries(names, st.lists(names).map(tuple), max_size=2)


def again(event: ContestEvent) -> ContestEvent:
    """As it is read from what was written."""
    return contest_event_from_json(json.loads(json.dumps(contest_event_json(event))))


@given(times, st.lists(judgments, max_size=2).map(tuple), shown)
def test_judgments_are_kept_to_the_last_word(
    at: datetime, said: tuple[Judgment, ...], shown: Mapping[str, tuple[str, ...]]
) -> None:
    """Fractions exactly, the spread of several replies, and a reason of the score that is not that of the judgment."""
    event = FinalistsRanked(at=at, judgments=said, shown=shown)

    assert again(event) == event


def test_a_log_from_before_absences_were_stated_is_read() -> None:
    """Nothing was stated then."""
    event = scored("a", 70)
    written = json.loads(json.dumps(contest_event_json(event)))
    for one in written["judgments"]:
        del one["absent"]

    assert contest_event_from_json(written) == event


@given(times, names, names, texts, st.none() | names, st.lists(findings, max_size=2).map(tuple))
def test_submissions_are_kept_to_the_last_word(
    at: datetime, id: str, author: str, text: str, revises: str | None, found: tuple[GuardFinding, ...]
) -> None:
    """Whatever somebody wrote, with what a guard found in it."""
    given = replace(submission("a"), id=id, author=author, at=at, text=text, revises=revises)
    event = SubmissionReceived(submission=given, findings=found)

    assert again(event) == event


@given(
    name=names,
    description=names,
    reward=texts,
    deadline=times,
    challenge_period=st.timedeltas(timedelta(), timedelta(days=999)),
    revisions=st.none() | st.integers(0, 9),
    acceptance=st.lists(names, min_size=1, max_size=3).map(tuple),
    weights=st.just({"j": Fraction(1, 3)}),
)
def test_tasks_are_kept_to_the_last_word(**changes: Any) -> None:
    """A third is a third, and a microsecond is not lost."""
    given = task(**changes)

    assert contest_task_from_json(json.loads(json.dumps(contest_task_json(given)))) == given
    assert again(ContestCreated(at=START, task=given)) == ContestCreated(at=START, task=given)


def test_dimensions_are_the_same_whoever_named_them() -> None:
    """A judge that generates them does not know the task's name; the log does."""
    given = task(name="market", dimensions=replace(dimensions(), name="generated"))

    assert given.dimensions == replace(dimensions(), name="market")
    assert contest_task_from_json(contest_task_json(given)) == given


def test_a_task_may_be_written_down_before_its_dimensions_are_known() -> None:
    """And in the mode that needs no deadline."""
    given = task("fastest_first", deadline=None, dimensions=None)

    assert contest_task_from_json(json.loads(json.dumps(contest_task_json(given)))) == given


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.claim)
def test_the_log_gives_the_state_and_the_record_again(worked: Any) -> None:
    """After every event: the state is rebuilt from what was written, from nothing else, in the same order."""
    contest = worked.contest()
    state = ContestState()

    for event, known in zip(contest.log, contest.states[1:], strict=True):
        state, _ = apply_contest_event(state, again(event))
        assert state == known
        assert list(state.entries) == list(known.entries)

    assert encode_contest_state([again(one) for one in contest.log]) == encode_contest_state(contest.log)


def test_the_worked_contests_have_every_kind_of_event() -> None:
    """So that none is left out of what is written down and read."""
    assert {event.kind for contest in CONTESTS for event in contest().log} == set(EVENT_KINDS)


def test_rebuilding_refuses_a_log_that_cannot_be() -> None:
    """An event that is there twice was written by two at once."""
    contest = Contest().comes("a", 1)

    with pytest.raises(ContestError, match="there is a submission 'a' already"):
        rebuild_contest_state([*contest.log, contest.log[-1]])


def test_the_record_has_the_fields_that_were_promised() -> None:
    """It is what others read: a field that goes missing breaks them."""
    contest = ranked()

    found = contest.record

    assert list(found) == [
        "task", "mode", "state", "winner", "period_ends", "payment", "decision", "dimensions", "submissions", "events",
        "effects",
    ]  # fmt: skip
    assert list(found["submissions"][0]) == [
        "id", "author", "status", "rank", "score", "feedback", "at", "revises", "why",
    ]  # fmt: skip
    assert found["period_ends"] == hour(15).isoformat()
    assert found["dimensions"][3] == {"id": "clarity", "asks": "clarity?", "weight": 0.25, "fixed": False}
    assert [one["number"] for one in found["events"]] == list(range(len(contest.log)))
    assert [one["event"] for one in found["events"]] == [event.kind for event in contest.log]
    assert {one["effect"] for one in found["effects"]} == {
        "ask_gate", "ask_individual", "ask_horizontal", "tell_submitter",
    }  # fmt: skip
    assert found["effects"][0] == {
        "after": 1, "at": hour(1).isoformat(), "effect": "ask_gate", "submission": "a",
    }  # fmt: skip


def test_the_record_keeps_judgments_back_until_scores_are_revealed() -> None:
    """Advice too: it is for the author, and the record is for everybody."""
    contest = Contest().enters("a", 1, 80)
    hidden = contest.record["events"][-1]

    revealed = contest.deadline().record["events"][-2]

    assert hidden == {"number": 3, "event": "scored", "at": hour(1).isoformat(), "submission": "a"}
    assert sorted(revealed) == ["at", "event", "judgments", "number", "overall_bands", "submission", "suggestions"]


def test_a_record_of_nothing_is_refused() -> None:
    """There is no task yet of which it could be."""
    with pytest.raises(ContestError, match="nothing has happened yet"):
        encode_contest_state([])


def test_where_the_first_to_pass_wins_nothing_is_kept_back() -> None:
    """Scores are shown at once there."""
    contest = Contest("fastest_first").enters("a", 1, 50)

    event = contest.log[-1]

    assert isinstance(event, SubmissionScored)
    assert contest.record["events"][-1] == {"number": 3, **json.loads(json.dumps(contest_event_json(event)))}
