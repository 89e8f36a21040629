"""The machine refuses what cannot happen, says what can, and goes on as if nothing had been."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from evenhand.contest.events import (
    ChallengeResolved,
    ContestCreated,
    ContestEvent,
    DeadlineReached,
    FinalistsRanked,
    GateChecked,
    RankingChallenged,
    SubmissionReceived,
    SubmissionScored,
    make_submission_received_event,
)
from evenhand.contest.machine import apply_contest_event, rebuild_contest_state
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge
from evenhand.errors import ContestError
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Judgment
from tests.contest.building import Contest, checked, hour, scored, side_by_side, submission, task
from tests.contest.worked_endings import ranked
from tests.contest.worked_quality import alone, two

FAST = "fastest_first"
Answer = GateChecked | SubmissionScored | FinalistsRanked | ChallengeResolved
Said = tuple[Judgment, ...]


def comes(id: str, at: float = 2, **changes: Any) -> SubmissionReceived:
    return make_submission_received_event(submission(id, at, **changes))


def deadline(at: float, of: Any = "submissions") -> DeadlineReached:
    return DeadlineReached(at=hour(at), deadline=of)


def challenged(by: str, at: float) -> RankingChallenged:
    return RankingChallenged(challenge=Challenge(by=by, at=hour(at), reason="mine is better"))


def compared(**by_judge: Any) -> FinalistsRanked:
    return FinalistsRanked(at=hour(10), judgments=side_by_side(by_judge))


def resolved(**by_judge: Any) -> ChallengeResolved:
    return ChallengeResolved(at=hour(12), judgments=side_by_side(by_judge))


def entered() -> Contest:
    """a is in, scored."""
    return Contest().enters("a", 1, 80)


REFUSED: dict[str, tuple[Callable[[], Contest], ContestEvent, str]] = {
    "a second beginning": (entered, ContestCreated(at=hour(2), task=task()), (
        "the beginning is not possible now: the contest is open for submissions (what can come now: a submission, "
        "an answer on the acceptance criteria, a score")),
    "anything after the end": (lambda: Contest().deadline(), comes("a", 11), "nothing can happen any more"),
    "a submission after the first has passed": (
        lambda: Contest(FAST).enters("a", 1, 60), comes("b"), "a submission is not possible now: the contest is closed",
    ),
    "what is earlier than what was before": (
        lambda: Contest().comes("a", 5), comes("b", 4), "earlier than the last event (at 2026-11-01T05:00:00+00:00",
    ),
    "a late submission": (
        entered, comes("b", 10.01), "the submission is late (the deadline was 2026-11-01T10:00:00+00:00)",
    ),
    "a submission in judging": (
        lambda: Contest().comes("a", 1).deadline(), comes("b", 10),
        "a submission is not possible now: the submissions are being judged",
    ),
    "an empty submission": (entered, comes("b", text=" \n"), "there is nothing in the submission"),
    "a submission in which nothing can be seen": (
        entered, comes("b", text="\u200b\n\ufeff"), "there is nothing in the submission (it is a text)",
    ),
    "a revision too many by an author who adds a space": (
        lambda: Contest(revisions=0).enters("a", 1, 80), comes("a2", author="a ", revises="a"), "too many",
    ),
    "a second author who differs in what cannot be seen": (
        entered, comes("b", author="a\u200b"), "a has handed in 'a', and 'b' does not revise it",
    ),
    "an id that is there": (entered, comes("a", author="b"), "there is a submission 'a' already"),
    "a second submission that revises nothing": (
        entered, comes("a2", author="a"), "a has handed in 'a', and 'a2' does not revise it (as in revises: a)",
    ),
    "a revision of another's": (
        lambda: entered().enters("b", 1, 80), comes("b2", author="b", revises="a"), "which is not of b",
    ),
    "a revision of nothing": (entered, comes("b", revises="z"), "handed in by b: nothing yet"),
    "a revision too many": (
        lambda: Contest(revisions=1).enters("a", 1, 80).enters("a2", 1, 80, author="a", revises="a"),
        comes("a3", author="a", revises="a2"), "the submission is one revision too many (the limit is 1 revision)",
    ),
    "a revision where none is allowed": (
        lambda: Contest(revisions=0).comes("a", 1).gate("a", False), comes("a2", author="a", revises="a"), "too many",
    ),
    "a gate check of nobody": (lambda: Contest().comes("a", 1), checked("z"), "waiting: a (ask_gate)"),
    "a gate check twice": (lambda: Contest().comes("a", 1).gate("a"), checked("a"), "waiting: a (ask_individual)"),
    "scores before the gate": (lambda: Contest().comes("a", 1), scored("a", 80), "waiting: a (ask_gate)"),
    "scores twice": (entered, scored("a", 90), "'a' does not wait for an answer to ask_individual (waiting: nothing)"),
    "a gate check out of turn": (
        lambda: Contest(FAST).comes("a", 1).comes("b", 1), checked("b"), "waiting: a (ask_gate)",
    ),
    "a deadline before its time": (entered, deadline(9.99), "is not reached at 2026-11-01T09:59:24+00:00"),
    "the other deadline": (entered, deadline(15, "challenges"), "not waited for (that for submissions is)"),
    "a deadline that there is not": (
        lambda: Contest(FAST, deadline=None), deadline(11), "this task has no deadline (the first that passes ends it)",
    ),
    "the end of challenges before its time": (ranked, deadline(14.99, "challenges"), "is not reached"),
    "the first deadline again": (ranked, deadline(15), "that for challenges is"),
    "the end while somebody looks at a challenge": (
        lambda: ranked().challenge("a", 12), deadline(15, "challenges"),
        "what can come now: the decision on a challenge",
    ),
    "a ranking with a stranger": (two, compared(j={"a": 70, "b": 70, "z": 70}), "'z' is not a finalist"),
    "a late challenge": (ranked, challenged("a", 15.01), "the period ended at 2026-11-01T15:00:00+00:00"),
    "a challenge by a stranger": (ranked, challenged("z", 12), "'z' took no part in the contest (authors: a, b)"),
    "a second challenge": (
        lambda: ranked().challenge("a", 12).resolve(k={"a": 70, "b": 71}), challenged("b", 13),
        "the ranking was challenged by a before (one review of a ranking is final)",
    ),
    "a challenge while another is decided": (
        lambda: ranked().challenge("a", 12), challenged("b", 13),
        "a challenge is not possible now: a challenge of the ranking is being decided (what can come now: the decision",
    ),
    "a challenge that nobody could look at": (
        lambda: Contest(challenge_judges=()).enters("a", 1, 80).deadline(), challenged("a", 12),
        "no judges are named for challenges",
    ),
    "a challenge resolved by a judge who judged before": (
        lambda: ranked().challenge("a", 12), resolved(j={"a": 70, "b": 71}), "j judged before",
    ),
    "a challenge resolved by one more who judged before": (
        lambda: alone().challenge("a", 12), resolved(k={"a": 70}, j={"a": 70}), "j judged before",
    ),
    "a challenge resolved by somebody": (
        lambda: alone().challenge("a", 12), resolved(z={"a": 70}), "'z' was not asked about 'substantiveness' of 'a'",
    ),
    "a resolution that nobody asked for": (ranked, resolved(k={"a": 70, "b": 71}), "a challenge and a deadline"),
}  # fmt: skip


@pytest.mark.parametrize(("contest", "event", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_happen_is_refused(contest: Callable[[], Contest], event: ContestEvent, told: str) -> None:
    """With what is wrong and what would be taken; the contest goes on as if nothing had been."""
    played = contest()
    before = played.state

    with pytest.raises(ContestError) as refused:
        played.happen(event)

    assert told in str(refused.value)
    assert all(fault.hint for fault in refused.value.faults)
    assert played.state is before
    assert rebuild_contest_state(played.log) == before


def _first(said: Said, **changes: Any) -> Said:
    return (replace(said[0], **changes), *said[1:])


WRONG: dict[str, tuple[Callable[[Said], Said], str]] = {
    "nothing at all": (lambda said: (), "says nothing on"),
    "one is missing": (lambda said: said[:-1], "says nothing on"),
    "one is there twice": (lambda said: (*said, said[0]), "'j' answers twice on"),
    "a judge of another panel": (lambda said: (*said, replace(said[0], judge="z")), "'z' was not asked about"),
    "a dimension that is not locked": (
        lambda said: (*said, replace(said[0], criterion="charm")), "'j' was not asked about 'charm' of 'a'",
    ),
    "another submission": (lambda said: _first(said, output="z"), "'z'"),
    "a score above the scale": (lambda said: _first(said, score=Scored(Fraction(101))), "'j' gives 101 on"),
    "a score below the scale": (lambda said: _first(said, score=Scored(Fraction(-1))), "'j' gives -1 on"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["gate_checked", "scored", "ranked", "resolved"])
@pytest.mark.parametrize(("wrong", "told"), WRONG.values(), ids=WRONG)
def test_every_judge_answers_once_on_everything_it_was_asked(
    kind: str, wrong: Callable[[Said], Said], told: str
) -> None:
    """What a judge failed at is there too, as unscored: a missing answer must not look like a smaller panel."""
    contest, right = _asked(kind)

    with pytest.raises(ContestError) as refused:
        contest.happen(_with(right, wrong))

    assert told in str(refused.value)
    assert contest.happen(right).state.phase


def _asked(kind: str) -> tuple[Contest, Answer]:
    both = {"a": 70, "b": 71}
    found: dict[str, tuple[Callable[[], Contest], Answer]] = {
        "gate_checked": (lambda: Contest().comes("a", 1), checked("a")),
        "scored": (lambda: Contest().comes("a", 1).gate("a"), scored("a", 80)),
        "ranked": (two, compared(j=both)),
        "resolved": (_challenged, resolved(j=both)),
    }
    contest, event = found[kind]
    return contest(), event


def _challenged() -> Contest:
    """A contest in which j is the one who looks at a challenge, so that all kinds can be wronged alike."""
    contest = Contest(judges=("i",), challenge_judges=("j",))
    contest.enters("a", 1, {"i": 80}).enters("b", 2, {"i": 80}).deadline()
    contest.happen(compared(i={"a": 71, "b": 78}))
    return contest.challenge("a", 12)


def _with(event: Answer, wrong: Callable[[Said], Said]) -> ContestEvent:
    if not isinstance(event, GateChecked):
        return replace(event, judgments=wrong(event.judgments))
    said = wrong(tuple(one.judgment for one in event.checks))
    return replace(event, checks=tuple(replace(event.checks[0], judgment=one) for one in said))


def test_a_gate_knows_yes_and_no_and_nothing_between() -> None:
    """Half a yes would count as one."""
    contest = Contest().comes("a", 1)
    (check,) = checked("a").checks
    half = replace(check, judgment=replace(check.judgment, score=Scored(Fraction(1, 2))))

    with pytest.raises(ContestError, match=r"'j' gives 0\.5 on 'criterion-1', asked for yes/no"):
        contest.happen(GateChecked(at=hour(1), submission="a", checks=(half,)))


def test_nothing_happens_before_the_beginning() -> None:
    """The error says what would."""
    with pytest.raises(ContestError, match=r"is not possible now: the contest has not begun \(.*: the beginning\)"):
        apply_contest_event(ContestState(), comes("a"))
