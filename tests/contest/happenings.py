"""What may happen to a contest: what is waited for, and what is late, early, doubled, mistaken or made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ChallengeResolved,
    ContestEffect,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
    make_submission_received_event,
)
from evenhand.contest.machine import list_pending_contest_effects
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge
from evenhand.judging.results import AcceptanceCheck
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Judgment
from tests.contest.building import ADVICE, INJECTION, START, Values, checks, hour, judgments, submission, task
from tests.contest.life import marked

Said = tuple[Judgment, ...]
AUTHORS = ("anna", "ben", "swift", "dan")
IDS = ("s0", "s1", "s2", "s3", "nobody")
TEXTS = ("It costs 7.", "It costs 7.", "It costs 7.", "It costs 7.", INJECTION)
VALUES = (None, 20, 49, 50, 59, 60, 61, 72, 88, 95)
VERDICTS = (True, True, True, True, True, False, None)
MOST = 6  # Submissions of those that are waited for; what is odd may add some.

tasks = st.one_of(
    st.builds(
        task,
        st.just("quality_first"),
        judges=st.sampled_from([("j",), ("j", "m"), ("j", "m", "n")]),
        revisions=st.sampled_from([None, 1, 0]),
        weights=st.sampled_from([{}, {"j": Fraction(2)}]),
        challenge_judges=st.sampled_from([("k",), ("k", "l"), ("k",), ()]),
    ),
    st.builds(
        task,
        st.just("fastest_first"),
        judges=st.sampled_from([("j",), ("j", "m", "n")]),
        deadline=st.sampled_from([hour(10), None]),
    ),
)
# A step is a number from which all of it follows; with 0 nothing happens, so that a failure is cut down to its causes.
steps = st.lists(st.integers(0, 2**32), min_size=25, max_size=35)


def happening(step: int, state: ContestState, log: Sequence[ContestEvent]) -> ContestEvent | None:
    """What happens in a step: more often than not something that is waited for."""
    if step == 0:
        return None
    rng = Random(step)
    usual = _usual(rng, state) if rng.random() < 0.7 else []
    return rng.choice(usual or _strange(rng, state, log))()


def _usual(rng: Random, state: ContestState) -> list[Callable[[], ContestEvent]]:
    """What is waited for; the end of the time for submissions only when some have come."""
    at = _now(state) + timedelta(minutes=rng.choice([0, 0, 20]))
    asked = list_pending_contest_effects(state)
    ways: list[Callable[[], ContestEvent]] = []
    if asked:
        ways += [lambda: _answer(rng, state, rng.choice(asked), at)] * 3
    if state.phase == "open":
        ways += [lambda: _submission(rng, state, at)] * 2 * (len(state.entries) < MOST)
        ways += [lambda: DeadlineReached(at=max(at, hour(10)), deadline="submissions")] * (len(state.entries) > 2)
    if state.phase == "challenge_period" and state.period_ends is not None:
        ends, author = max(at, state.period_ends), next(iter(state.entries.values())).submission.author
        ways += [lambda: RankingChallenged(challenge=Challenge(by=author, at=at, reason="no"))] * 2
        ways += [lambda: DeadlineReached(at=ends, deadline="challenges")]
    return ways


def _strange(rng: Random, state: ContestState, log: Sequence[ContestEvent]) -> list[Callable[[], ContestEvent]]:
    """What is most often refused."""
    at = _now(state)
    asked = list_pending_contest_effects(state)
    wrong = [lambda: _mangled(rng, _answer(rng, state, rng.choice(asked), at))] * 2 * bool(asked)
    return [
        lambda: _unasked(rng, at),
        lambda: _odd_submission(rng, at),
        lambda: DeadlineReached(
            at=rng.choice([at, START, state.period_ends or at]), deadline=rng.choice(("submissions", "challenges"))
        ),
        lambda: RankingChallenged(
            challenge=Challenge(
                by=rng.choice([*AUTHORS, "nobody"]), at=at + timedelta(hours=rng.choice([0, 6])), reason="no"
            )
        ),
        *[lambda: _again(rng.choice(log), rng.choice([None, at]))] * 3,
        *wrong,
    ]


def _submission(rng: Random, state: ContestState, at: datetime) -> ContestEvent:
    """One more, which revises what its author had handed in."""
    author = rng.choice(AUTHORS)
    own = state.entries_by_author(author)
    revises = own[-1].id if own else None
    given = submission(f"s{len(state.entries)}", author=author, revises=revises, text=rng.choice(TEXTS))
    return make_submission_received_event(replace(given, at=at))


def _odd_submission(rng: Random, at: datetime) -> ContestEvent:
    """Late, empty, there already, or by another author than what it revises."""
    revises, text = rng.choice([None, "s0", "s1", "nobody"]), rng.choice(["It costs 7.", " "])
    given = submission(rng.choice(IDS), author=rng.choice(AUTHORS), revises=revises, text=text)
    return make_submission_received_event(replace(given, at=rng.choice([at, hour(11), START])))


def _answer(rng: Random, state: ContestState, ask: ContestEffect, at: datetime) -> ContestEvent:
    """What everybody who was asked says."""
    judges = state.required_task.judges
    if isinstance(ask, AskGate):
        found = [one for judge in judges for one in checks(judge, ask.submission, rng.choice(VERDICTS))]
        return GateChecked(at=at, submission=ask.submission, checks=tuple(found))
    assert isinstance(ask, (AskIndividual, AskHorizontal))
    panel = judges if ask.panel == "judges" else state.required_task.challenge_judges
    ids = [ask.submission] if isinstance(ask, AskIndividual) else list(ask.submissions)
    said = tuple(one for judge in panel for id in ids for one in _said(judge, id, _values(rng)))
    if ask.panel != "judges":
        return ChallengeResolved(at=at, judgments=said)
    if isinstance(ask, AskIndividual):
        return SubmissionScored(at=at, submission=ask.submission, judgments=said, suggestions=ADVICE)
    return FinalistsRanked(at=at, judgments=said, shown={judge: tuple(ids) for judge in panel})


def _unasked(rng: Random, at: datetime) -> ContestEvent:
    """An answer to what nobody may have asked."""
    id = rng.choice(IDS)
    given = tuple(_said("j", id, _values(rng)))
    found: list[ContestEvent] = [
        GateChecked(at=at, submission=id, checks=tuple(checks("j", id, rng.choice(VERDICTS)))),
        SubmissionScored(at=at, submission=id, judgments=given),
        FinalistsRanked(at=at, judgments=given),
        ChallengeResolved(at=at, judgments=given),
    ]
    return rng.choice(found)


def _mangled(rng: Random, event: ContestEvent) -> ContestEvent:
    """An answer to what was asked, with something wrong."""
    wrong = rng.choice(WRONG)
    if isinstance(event, GateChecked):
        said = wrong(tuple(one.judgment for one in event.checks))
        return replace(event, checks=tuple(AcceptanceCheck(judgment=one) for one in said))
    assert isinstance(event, (SubmissionScored, FinalistsRanked, ChallengeResolved))
    return replace(event, judgments=wrong(event.judgments))


WRONG: tuple[Callable[[Said], Said], ...] = (
    lambda said: (),
    lambda said: said[1:],
    lambda said: (*said, said[0]),
    lambda said: (*said, replace(said[0], judge="nobody")),
    lambda said: (replace(said[0], criterion="charm"), *said[1:]),
    lambda said: (replace(said[0], output="nobody"), *said[1:]),
    lambda said: (replace(said[0], score=Scored(Fraction(101))), *said[1:]),
)


def _again(event: ContestEvent, at: datetime | None) -> ContestEvent:
    """An event once more: as it was, or now."""
    if at is None:
        return event
    if isinstance(event, RankingChallenged):
        return RankingChallenged(challenge=replace(event.challenge, at=at))
    if isinstance(event, SubmissionReceived):
        return replace(event, submission=replace(event.submission, at=at))
    return replace(event, at=at)


def _values(rng: Random) -> Values:
    """Mostly one number for all dimensions, so that not everything is thrown out by one that is low."""
    return rng.choice((50, 59, 60, 72, 72, 88, 95)) if rng.random() < 0.7 else rng.choices(VALUES, k=4)


def _said(judge: str, id: str, values: Values) -> list[Judgment]:
    return [marked(one) for one in judgments(judge, id, values)]


def _now(state: ContestState) -> datetime:
    return state.at or START
