"""Who won and why, in sentences that are true, and how sure that is."""

import pytest

from evenhand.contest.record import JUDGE_ERROR_UNKNOWN, ContestDecision, explain_contest_decision
from tests.contest.building import Contest, dimensions
from tests.contest.worked_endings import ranked
from tests.contest.worked_quality import alone, two

FAST = "fastest_first"
PANEL = ("j", "m", "n")


def decided(contest: Contest) -> ContestDecision:
    """The decision of a contest that has one."""
    found = explain_contest_decision(contest.state)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "contest",
    [
        lambda: Contest().enters("a", 1, 80),
        lambda: Contest().comes("a", 1).deadline(),
        two,
        lambda: Contest(FAST).enters("a", 1, 50),
        lambda: Contest(FAST).comes("a", 1).deadline(),
    ],
    ids=["open", "judging", "ranking", "nobody has passed", "nobody has passed yet, after the deadline"],
)
def test_nothing_is_decided_too_early(contest: type[Contest]) -> None:
    """A decision has scores in it."""
    assert explain_contest_decision(contest().state) is None
    assert contest().record["decision"] is None


def test_the_first_to_pass() -> None:
    """With its score, and how many came before it."""
    contest = Contest(FAST).enters("a", 1, 50).enters("b", 2, 61)

    assert decided(contest) == ContestDecision(
        winner="b",
        why=("b is the first to reach 60: 61.00. The one judged before it did not.",),
        how_sure=(JUDGE_ERROR_UNKNOWN,),
    )


def test_the_first_to_pass_by_a_panel() -> None:
    """How many of its judges say so, and how often equals would look so clear: 2 of 3 always do."""
    contest = Contest(FAST, judges=PANEL).enters("a", 1, {"j": 70, "m": 80, "n": 55})

    (sure,) = decided(contest).how_sure

    assert sure == (
        "2 of 3 judges put it at 60 or more; between equals, so clear a majority comes up in 100% of contests"
    )


def test_a_unanimous_panel_is_surer() -> None:
    """3 of 3 between equals: 2 · (1/2)³, a quarter."""
    contest = Contest(FAST, judges=PANEL).enters("a", 1, {"j": 70, "m": 80, "n": 65})

    (sure,) = decided(contest).how_sure

    assert sure.startswith("3 of 3 judges put it at 60 or more; ")
    assert sure.endswith("comes up in 25% of contests")


@pytest.mark.parametrize(
    ("contest", "why"),
    [
        (lambda: Contest().deadline(), "Nothing was handed in before the deadline."),
        (lambda: Contest(FAST).enters("a", 1, 50).deadline(), "No submission passed before the deadline."),
        (
            lambda: alone().challenge("a", 12).resolve(k={"a": 49}),
            "The challenge was upheld: nobody is left to win.",
        ),
    ],
)
def test_why_nobody_won(contest: type[Contest], why: str) -> None:
    """That is a decision too."""
    assert decided(contest()) == ContestDecision(winner=None, why=(why,))


def test_the_only_one() -> None:
    """Nobody was compared with it, and that is said."""
    assert decided(alone()) == ContestDecision(
        winner="a",
        why=("a is the only one with every dimension at band C or above: 80.00, not compared.",),
        how_sure=("it had nobody to be compared with",),
    )


def test_side_by_side() -> None:
    """By how much, on which dimensions, and whether the scores alone say the same."""
    contest = two(82, 80).rank({"a": (71, 71, 71, 90), "b": (80, 80, 80, 82)})

    found = decided(contest)

    assert found.why == ("b came first of 2 compared side by side: 80.50, 4.75 ahead of a.",)
    assert found.how_sure == (
        "ahead of a on 3 of 4 dimensions; a is ahead on clarity by 8.00",
        "alone a was better: 82.00 to 80.00",
        JUDGE_ERROR_UNKNOWN,
    )


def test_side_by_side_as_alone() -> None:
    """Two readings that agree are worth more than one."""
    contest = two(80, 82).rank({"a": 71, "b": 78})

    assert decided(contest).how_sure[:2] == (
        "ahead of a on 4 of 4 dimensions",
        "alone it was the best of the finalists too: 82.00",
    )


def test_side_by_side_by_a_panel() -> None:
    """A judge who puts both at the same score tells nothing."""
    contest = Contest(judges=PANEL).enters("a", 1, dict.fromkeys(PANEL, 80)).enters("b", 2, dict.fromkeys(PANEL, 80))
    contest.deadline().rank({"a": 70, "b": 75}, m={"a": 70, "b": 70}, n={"a": 60, "b": 61})

    assert decided(contest).how_sure[1:] == (
        "alone it was equal to a: 80.00",
        "2 of 3 judges put it ahead of a, 1 saw no difference; "
        "between equals, so clear a majority comes up in 50% of contests",
    )


def test_a_mean_without_a_majority_says_so() -> None:
    """One judge far ahead outweighs two a little behind: nobody should read a majority into that."""
    contest = Contest(judges=PANEL).enters("a", 1, dict.fromkeys(PANEL, 80)).enters("b", 2, dict.fromkeys(PANEL, 80))
    contest.deadline().rank({"a": 70, "b": 90}, m={"a": 71, "b": 70}, n={"a": 71, "b": 70})

    found = decided(contest)

    assert found.winner == "b"
    assert found.how_sure[-1] == "1 of 3 judges put it ahead of a: the mean of their scores decided, not a majority"


def test_judges_are_counted_against_the_second_and_told_so() -> None:
    """One of three puts a third one first, and the winner still ahead of the second."""
    contest = Contest(judges=PANEL)
    for at, id in enumerate("abc", start=1):
        contest.enters(id, at, dict.fromkeys(PANEL, 80))
    contest.deadline().rank({"a": 80, "b": 70, "c": 95}, m={"a": 90, "b": 80, "c": 60}, n={"a": 90, "b": 80, "c": 60})

    assert decided(contest).how_sure[-1].startswith("3 of 3 judges put it ahead of b; ")


def test_a_lead_that_rounds_to_nothing_is_not_told_as_0() -> None:
    """0.00 ahead would read as a tie."""
    weights = ("0.999", "0.0004", "0.0003", "0.0003")
    contest = Contest(dimensions=dimensions(*weights)).enters("a", 1, 80).enters("b", 2, 80)

    contest.deadline().rank({"a": 80, "b": (80, 80, 80, 81)})

    assert decided(contest).why == ("b came first of 2 compared side by side: 80.00, less than 0.01 ahead of a.",)


def test_nothing_read_side_by_side_is_a_decision_by_scores_alone() -> None:
    """The judge answered on no dimension: nobody was compared, and that is said."""
    contest = two(80, 82).rank({"a": None, "b": None})

    why = "b came first of 2 compared by their scores alone, as too few side-by-side replies could be read"
    assert decided(contest).why == (f"{why}: 82.00, 2.00 ahead of a.",)
    assert "alone" not in " ".join(decided(contest).how_sure)  # It is the same fact, not a second one.
    assert contest.feedback("b", "scoring")["compared"] is False


def test_a_minority_that_could_be_read_does_not_decide_a_final() -> None:
    """One judge of three is not the panel: the scores alone, by all three, count."""
    contest = Contest(judges=PANEL).enters("a", 1, dict.fromkeys(PANEL, 80)).enters("b", 2, dict.fromkeys(PANEL, 82))
    contest.deadline().rank({"a": 90, "b": 50}, m={"a": None, "b": None}, n={"a": None, "b": None})

    assert (decided(contest).winner, contest.feedback("b", "scoring")["compared"]) == ("b", False)


def test_who_could_not_be_judged_before_the_winner_is_told() -> None:
    """They might have passed."""
    contest = Contest(FAST).enters("a", 1, (90, None, 90, 90)).enters("b", 2, 61)

    assert decided(contest).why == ("b is the first to reach 60: 61.00. 1 before it could not be judged.",)


def test_a_tie() -> None:
    """What broke it."""
    contest = two(80, 82).rank({"a": 75, "b": 75})

    assert decided(contest).why == (
        "b came first of 2 compared side by side: 75.00, level with a.",
        "The two are equal in score; b comes first by score alone.",
    )


def test_what_could_not_be_read() -> None:
    """The decision rests partly on scores alone, and says so; a judge's name is spelt as it is."""
    contest = two(80, 82).rank({"a": (70, 70, 70, None), "b": 78})

    assert decided(contest).why[1:] == ("j: clarity could not be read side by side: the scores of each alone count.",)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (
            73,
            72,
            "a challenged it; judges who had not judged before looked again, "
            "and the ranking changed: b had come first.",
        ),
        (72, 73, "a challenged it; judges who had not judged before looked again, and the winner stands."),
        (99, None, "a challenged it; those who looked again could not be read, and the winner stands."),
    ],
)
def test_a_challenge_of_a_ranking(a: int, b: int | None, told: str) -> None:
    """What became of it: a panel that could not be read has not confirmed anything."""
    contest = ranked().challenge("a", 12)
    waiting = decided(contest).why[-1]

    contest.resolve(k={"a": a, "b": b})

    assert waiting == "a has challenged it; the challenge has not been reviewed yet."
    assert decided(contest).why[1] == told


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (50, "a challenged it; judges who had not judged before looked again, and the winner stands."),
        (None, "a challenged it; those who looked again could not be read, and the winner stands."),
    ],
)
def test_a_challenge_of_the_only_one(values: int | None, told: str) -> None:
    """The same, of one that is looked at alone."""
    contest = alone().challenge("a", 12).resolve(k={"a": values})

    assert decided(contest).why[-1] == told
