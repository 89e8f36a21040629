"""The machine begins when all is known, is told nothing but events, and its drawing is true."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest

from evenhand.contest.events import AskGate, AskIndividual, ContestCreated, DeadlineReached, SubmissionScored
from evenhand.contest.machine import apply_contest_event, list_pending_contest_effects, rebuild_contest_state
from evenhand.contest.state import (
    CONTEST_PHASES,
    MOVES_BY_MODE,
    ContestState,
    contest_machine_to_mermaid,
    list_allowed_contest_events,
)
from evenhand.contest.task import Task
from evenhand.errors import ContestError
from evenhand.model.scale import Anchor
from tests.contest.building import START, Contest, checked, dimensions, hour, judgments, task

FAST = "fastest_first"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"dimensions": None}, "a contest begins with its dimensions locked (generate them first)"),
        ({"judges": ()}, "a contest needs a judge (name one under judges)"),
    ],
)
def test_a_contest_begins_when_all_is_known(changes: dict[str, Any], told: str) -> None:
    """The task may be written down before; it begins with dimensions that nobody changes any more."""
    with pytest.raises(ContestError) as refused:
        apply_contest_event(ContestState(), ContestCreated(at=START, task=task(**changes)))

    assert str(refused.value) == told


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"judges": ("j", "j")}, "judges: 'j' is named twice"),
        ({"challenge_judges": ("k", "k")}, "challenge_judges: 'k' is named twice"),
        ({"weights": {"j": Fraction(0)}}, "the weight of j must be above 0, got 0"),
        ({"challenge_judges": ("j",)}, "'j' judges before"),
        ({"challenge_period": timedelta(hours=-1)}, "cannot be negative"),
        ({"challenge_period": timedelta.max}, "challenge_period is beyond the 36,525 days allowed"),
        ({"deadline": hour(1).replace(year=3000)}, "deadline must be from 1970 to 2999"),
        ({"deadline": hour(1).replace(year=2999), "challenge_period": timedelta(days=99)}, "would end after 2999"),
        ({"deadline": None}, "quality_first needs a deadline"),
        ({"deadline": hour(1).replace(tzinfo=None)}, "deadline 2026-11-01T01:00:00 has no time zone"),
        ({"revisions": -1}, "revisions must be 0 or more, got -1"),
        ({"mode": "first"}, "mode 'first' is not known"),
        ({"mode": FAST, "challenge_judges": ()}, "nothing is challenged"),
        ({"description": " "}, "a task needs a description"),
        ({"acceptance": ()}, "at least one acceptance criterion"),
    ],
)
def test_a_task_that_cannot_be_right_cannot_be_made(changes: dict[str, Any], told: str) -> None:
    """Then nothing downstream checks again: a weight of 0 would divide by it in the middle of a contest."""
    plain = {name: getattr(task(), name) for name in Task.__dataclass_fields__}

    with pytest.raises(ContestError) as refused:
        Task(**{**plain, **changes})

    assert told in str(refused.value)


def test_a_task_tells_all_that_is_wrong_with_it() -> None:
    """Both fields that the mode has no use for, and the judge of both panels."""
    with pytest.raises(ContestError) as refused:
        task(FAST, challenge_period=timedelta(hours=1), challenge_judges=("j",))

    assert [fault.path[0] for fault in refused.value.faults] == [
        "challenge_period", "challenge_judges", "challenge_judges",
    ]  # fmt: skip


def test_a_challenge_period_without_an_end_is_refused() -> None:
    """A ranking so late that nobody could ever say that the period is over."""
    contest = Contest(challenge_period=timedelta(days=99)).enters("a", 1, 80)

    with pytest.raises(ContestError, match="the challenge period would end after 2999"):
        contest.happen(DeadlineReached(at=hour(1).replace(year=2999), deadline="submissions"))

    assert contest.deadline().state.phase == "challenge_period"


def test_dimensions_have_nothing_that_a_log_would_lose() -> None:
    """Only ids, questions, weights and what is fixed are kept; more would be gone when the state is rebuilt."""
    rubric = dimensions()
    anchored = replace(rubric.criteria[0], anchors=(Anchor(min=Fraction(0), max=Fraction(9), text="bad"),))
    wrong = replace(rubric, criteria=(anchored, *rubric.criteria[1:]))

    with pytest.raises(ContestError, match="a dimension has an id, a question, a weight and whether it is fixed"):
        task(dimensions=wrong)


def test_dimensions_are_scored_by_bands() -> None:
    """Another method has no band C, and no threshold could be held."""
    rubric = dimensions()

    with pytest.raises(ContestError, match="dimensions cannot be scored by the method 'mine'"):
        task(dimensions=replace(rubric, method=replace(rubric.method, name="mine")))


def test_a_mean_of_several_replies_is_a_score() -> None:
    """It lies between the whole numbers, and that is exact."""
    contest = Contest(FAST).comes("a", 1).gate("a")

    contest.happen(SubmissionScored(at=hour(1), submission="a", judgments=tuple(judgments("j", "a", Fraction(181, 3)))))

    assert contest.published("a")["score"] == 60.33


def test_a_revision_that_judges_failed_at_is_not_counted() -> None:
    """Who did nothing wrong may try again."""
    contest = Contest(revisions=0).comes("a", 1).gate("a", None)

    contest.comes("a2", 2, author="a", revises="a")

    assert contest.wanted[-1] == "ask_gate a2"


def test_a_state_is_not_changed_by_what_follows() -> None:
    """A state is a value: from the same one any number of futures can be tried."""
    contest = Contest().comes("a", 1)
    before, copy = contest.state, rebuild_contest_state(contest.log)

    apply_contest_event(before, checked("a"))
    apply_contest_event(before, checked("a", False))

    assert before == copy


def test_what_is_open_is_asked_again_after_a_crash() -> None:
    """Where whoever runs a contest goes on: the questions without an answer, in order of arrival."""
    contest = Contest().comes("a", 1).comes("b", 2).gate("a").comes("c", 3).gate("c", False)

    assert list_pending_contest_effects(rebuild_contest_state(contest.log)) == (
        AskIndividual(submission="a"),
        AskGate(submission="b"),
    )
    assert list_pending_contest_effects(ContestState()) == ()


@pytest.mark.parametrize(
    ("contest", "why"),
    [
        (lambda: Contest().comes("a", 1).gate("a", None), "no submission could be judged"),
        (
            lambda: (
                Contest().comes("a", 1).gate("a", False).comes("b", 1).gate("b", None).comes("c", 1).gate("c", None)
            ),
            "no submission passed the gate before the deadline, and 2 could not be judged",
        ),
        (
            lambda: Contest().comes("a", 1).gate("a", None).enters("b", 1, None),
            "no submission that passed the gate could be scored, and 1 could not be judged",
        ),
        (lambda: Contest().enters("a", 1, None), "no submission that passed the gate could be scored"),
        (
            lambda: Contest().enters("a", 1, 40).comes("b", 1).gate("b", None),
            "every submission that passed the gate has a dimension below band C, and 1 could not be judged",
        ),
        (
            lambda: Contest().enters("a", 1, 40).enters("b", 1, None),
            "every submission that could be scored has a dimension below band C, and 1 could not be judged",
        ),
        (lambda: Contest(FAST).comes("a", 1).gate("a", None), "no submission could be judged"),
        (
            lambda: Contest(FAST).comes("a", 1).gate("a", None).enters("b", 1, 40),
            "no submission passed before the deadline, and 1 could not be judged",
        ),
        (lambda: Contest(FAST), "no submission passed before the deadline"),
    ],
)
def test_what_judges_failed_at_is_not_said_to_have_failed(contest: Callable[[], Contest], why: str) -> None:
    """Where nobody wins, how many could not be judged is told apart from those who did not pass."""
    assert contest().deadline().state.why == why


@pytest.mark.parametrize("mode", MOVES_BY_MODE)
def test_the_drawing_has_every_move_and_no_other(mode: Any) -> None:
    """It is generated from what the machine asks whether an event is allowed."""
    arrows = {
        line.split(": ")[0].strip(): line.split(": ")[1]
        for line in contest_machine_to_mermaid(mode).splitlines()
        if ": " in line
    }

    drawn = {
        (left, kind, right)
        for arrow, kinds in arrows.items()
        for left, right in [arrow.split(" --> ")]
        for kind in kinds.split(", ")
    }

    assert drawn == {
        ("[*]" if phase == "new" else phase, kind, target)
        for phase, kinds in MOVES_BY_MODE[mode].items()
        for kind, targets in kinds.items()
        for target in targets
    }
    assert "    closed --> [*]\n" in contest_machine_to_mermaid(mode)
    assert {kind for phase in CONTEST_PHASES for kind in list_allowed_contest_events(mode, phase)} == {
        kind for _, kind, _ in drawn
    }
