"""Contests worked by hand: each edge of both flows, and what its authors are told."""

from typing import Any

import pytest

from evenhand.contest.events import CloseContest, FinalistsRanked, ReleasePayment
from evenhand.contest.feedback import view_submission
from evenhand.contest.state import MOVES_BY_MODE, SUBMISSION_STATUSES
from tests.contest.building import INJECTION, Contest, hour, side_by_side
from tests.contest.worked import PAID, Worked
from tests.contest.worked_endings import ENDINGS, ranked
from tests.contest.worked_fastest import FASTEST
from tests.contest.worked_quality import QUALITY, alone, five, two

WORKED = (*FASTEST, *QUALITY, *ENDINGS)
CONTESTS = (*(worked.contest for worked in WORKED), *PAID)
TYPES = {"gate_check", "individual_scoring", "scoring"}
each = pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.claim)


@each
def test_a_contest_ends_as_worked_by_hand(worked: Worked) -> None:
    """Status, rank and score of everybody, as they are published."""
    contest = worked.contest()

    record = contest.record

    standing = {one["id"]: (one["status"], one["rank"], one["score"]) for one in record["submissions"]}
    assert standing == worked.standing
    assert (record["state"], record["winner"]) == (worked.phase, worked.winner)
    assert worked.why in contest.state.why


@each
def test_the_winner_is_paid_when_the_contest_closes_and_not_before(worked: Worked) -> None:
    """Payment and close come with one event; where nobody wins nobody is paid."""
    contest = worked.contest()

    ends = [[one for one in step if isinstance(one, (ReleasePayment, CloseContest))] for step in contest.effects]

    assert all(end == [] for end in ends[:-1])
    assert [one.kind for one in ends[-1]] == _ends(worked)
    assert [one.submission for one in ends[-1] if isinstance(one, ReleasePayment)] == _paid(worked)
    assert [one.winner for one in ends[-1] if isinstance(one, CloseContest)] == [worked.winner] * (
        worked.phase == "closed"
    )
    assert contest.state.paid == bool(_paid(worked))


def _ends(worked: Worked) -> list[str]:
    return ["release_payment"] * len(_paid(worked)) + ["close"] * (worked.phase == "closed")


def _paid(worked: Worked) -> list[str]:
    return [worked.winner] if worked.winner and worked.phase == "closed" else []


def test_every_arrow_of_the_drawing_is_walked() -> None:
    """An arrow that no contest takes would be a promise of the drawing that the machine does not keep."""
    drawn = {
        (mode, phase, kind, target)
        for mode, moves in MOVES_BY_MODE.items()
        for phase, kinds in moves.items()
        for kind, targets in kinds.items()
        for target in targets
    }

    walked = {move for contest in CONTESTS for move in _moves(contest())}

    assert walked == drawn


def _moves(contest: Contest) -> set[tuple[str, str, str, str]]:
    mode = contest.state.required_task.mode
    steps = zip(contest.states, contest.log, contest.states[1:], strict=False)
    return {(mode, before.phase, event.kind, after.phase) for before, event, after in steps}


def test_every_status_and_type_of_feedback_has_a_worked_contest() -> None:
    """Whoever looks for an example finds one."""
    said = [one for worked in WORKED for one in _said(worked.contest())]

    assert {one["status"] for one in said} == set(SUBMISSION_STATUSES)
    assert {one["type"] for told in said for one in told["feedback"]} == TYPES


def _said(contest: Contest) -> list[dict[str, Any]]:
    """What may be seen after every event."""
    return [view_submission(state, id) for state in contest.states for id in state.entries]


def test_an_author_hears_of_every_step_and_nobody_else_does() -> None:
    """The order of what is wanted, in a contest where all goes well."""
    contest = ranked().challenge("a", 12).resolve(k={"a": 73, "b": 72}).period_over()

    assert contest.wanted == [
        "ask_gate a",
        "tell_submitter a",
        "ask_individual a",
        "tell_submitter a",
        "ask_gate b",
        "tell_submitter b",
        "ask_individual b",
        "tell_submitter b",
        "ask_horizontal a b",
        "tell_submitter a",
        "tell_submitter b",
        "ask_horizontal a b again",
        "tell_submitter a",
        "tell_submitter b",
        "release_payment a",
        "close",
    ]


def test_the_only_one_is_looked_at_alone_when_challenged() -> None:
    """There is nobody to compare it with."""
    contest = alone().challenge("a", 12)

    assert contest.wanted[-1] == "ask_individual a again"


def test_judging_runs_in_order_of_submission_where_the_first_to_pass_wins() -> None:
    """The second is asked about when the first is done, so that a slow judge cannot reorder winners."""
    contest = Contest("fastest_first").comes("a", 1).comes("b", 2).comes("c", 3).gate("a").score("a", 50)
    contest.gate("b", False)

    assert [one for one in contest.wanted if one.startswith("ask")] == [
        "ask_gate a",
        "ask_individual a",
        "ask_gate b",
        "ask_gate c",
    ]


def test_whoever_waited_when_another_won_is_told() -> None:
    """That nobody will judge it, and why."""
    contest = Contest("fastest_first").comes("a", 1).comes("b", 2).gate("a").score("a", 60)

    assert contest.wanted[-4:] == ["tell_submitter a", "tell_submitter b", "release_payment a", "close"]
    assert contest.published("b")["why"] == "closed before it was judged: a had passed"


def test_a_submission_that_speaks_to_the_judge_reaches_none() -> None:
    """Its author is told the passage; no effect asks anybody."""
    contest = Contest().comes("a", 1, text=f"It costs 7. {INJECTION}")

    finding = contest.feedback("a", "gate_check")["policy_violations"][0]

    assert contest.wanted == ["tell_submitter a"]
    assert finding["text"] in INJECTION
    assert finding["text"] in contest.published("a")["why"]
    assert contest.state.entries["a"].submission.text[finding["start"] : finding["end"]] == finding["text"]


def test_the_challenge_period_begins_when_ranking_is_done() -> None:
    """However long the judges took: nobody can doubt what is not known yet."""
    contest = two()
    event = FinalistsRanked(at=hour(12), judgments=side_by_side({"j": {"a": 71, "b": 78}}))

    contest.happen(event).challenge("a", 17)

    assert contest.state.period_ends == hour(17)
    assert contest.state.phase == "challenged"


def test_who_is_in_the_final_is_not_told_before_the_ranking_is_done() -> None:
    """The record is public while the judges compare; after that it names the finalists as they arrived."""
    contest = two(70, 90)
    hidden = _compared(contest)

    revealed = _compared(contest.rank({"a": 71, "b": 78}))

    assert "submissions" not in hidden
    assert revealed["submissions"] == ["a", "b"]
    assert contest.state.finalists == ("b", "a")


def _compared(contest: Contest) -> dict[str, Any]:
    (asked,) = [one for one in contest.record["effects"] if one["effect"] == "ask_horizontal"]
    return dict(asked)


@pytest.mark.parametrize(
    ("a", "b", "broken_by"),
    [(80, 82, "score alone"), (80, 80, "time of submission")],
)
def test_what_broke_a_tie_is_said(a: int, b: int, broken_by: str) -> None:
    """To the one who lost by it; who came first needs no reason."""
    contest = two(a, b).rank({"a": 75, "b": 75})
    second = next(one["id"] for one in contest.record["submissions"] if one["rank"] == 2)

    assert contest.feedback(second, "scoring")["tie_broken_by"] == broken_by
    assert contest.feedback(str(contest.state.winner), "scoring")["tie_broken_by"] is None


def test_a_score_alone_that_equals_one_side_by_side_is_no_tie() -> None:
    """The fourth was not compared: its 84 and the third's 84 are numbers of two kinds."""
    contest = five().rank({"a": 86, "b": 85, "c": 84})

    assert contest.feedback("d", "scoring")["tie_broken_by"] is None
    assert contest.feedback("d", "scoring")["compared"] is False


def test_what_took_the_place_of_an_unreadable_answer_is_said() -> None:
    """A number that was not given side by side must not look as if it were."""
    contest = two().rank({"a": (70, 70, 70, None), "b": (70, 70, 70, 60)})

    notes = contest.feedback("a", "scoring")["notes"]

    assert notes == ["j: clarity could not be read side by side: the scores of each alone count"]
    assert contest.feedback("a", "scoring")["dimension_scores"]["clarity"]["score"] == 80.0
    assert contest.feedback("b", "scoring")["dimension_scores"]["clarity"]["score"] == 80.0


def test_scores_are_hidden_and_then_revealed() -> None:
    """Advice is given at once, numbers when ranking is done."""
    contest = two()
    hidden = contest.published("a")

    revealed = contest.rank({"a": 71, "b": 78}).published("a")

    assert [sorted(one) for one in hidden["feedback"]] == [["revision_suggestions", "type"]]
    assert (hidden["score"], hidden["rank"]) == (None, None)
    assert [one["type"] for one in revealed["feedback"]] == ["individual_scoring", "scoring"]
    assert (revealed["score"], revealed["rank"]) == (71.0, 2)


def test_what_a_judge_wrote_instead_of_a_score_is_hidden_too() -> None:
    """An answer off the scale has its number in the reason."""
    contest = Contest().enters("a", 1, None)
    hidden = contest.published("a")["why"]

    revealed = contest.deadline().published("a")["why"]

    assert hidden == "it could not be scored"
    assert revealed.startswith("no score: substantiveness, credibility, completeness, clarity: unreadable")
