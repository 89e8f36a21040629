"""Who won and why, in sentences that are true, and how sure that is."""

import pytest

from evenhand.contest import Decision, decision
from evenhand.contest._decision import UNKNOWN
from tests.contest.building import Contest
from tests.contest.worked_endings import ranked
from tests.contest.worked_quality import alone, two

FAST = "fastest_first"
PANEL = ("j", "m", "n")


def decided(contest: Contest) -> Decision:
    """The decision of a contest that has one."""
    found = decision(contest.state)
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
    assert decision(contest().state) is None
    assert contest().record["decision"] is None


def test_the_first_to_pass() -> None:
    """With its score, and how many came before it."""
    contest = Contest(FAST).enters("a", 1, 50).enters("b", 2, 61)

    assert decided(contest) == Decision(
        winner="b", why=("b is the first to reach 60: 61.00. Of 1 before it none did.",), how_sure=(UNKNOWN,)
    )


def test_the_first_to_pass_by_a_panel() -> None:
    """How many of its judges say so, and how often equals would look so clear: 2 of 3 always do."""
    contest = Contest(FAST, judges=PANEL).enters("a", 1, {"j": 70, "m": 80, "n": 55})

    (sure,) = decided(contest).how_sure

    assert sure == (
        "2 of 3 judges put it at 60 or more; between equals a majority so clear comes up in 100 % of contests"
    )


def test_a_unanimous_panel_is_surer() -> None:
    """3 of 3 between equals: 2 · (1/2)³, a quarter."""
    contest = Contest(FAST, judges=PANEL).enters("a", 1, {"j": 70, "m": 80, "n": 65})

    (sure,) = decided(contest).how_sure

    assert sure.startswith("3 of 3 judges put it at 60 or more; ")
    assert sure.endswith("comes up in 25 % of contests")


@pytest.mark.parametrize(
    ("contest", "why"),
    [
        (lambda: Contest().deadline(), "Nothing was handed in before the deadline."),
        (lambda: Contest(FAST).enters("a", 1, 50).deadline(), "No submission passed before the deadline."),
        (
            lambda: alone().challenge("a", 12).resolve(k={"a": 49}),
            "The challenge was right: nobody is left to win.",
        ),
    ],
)
def test_why_nobody_won(contest: type[Contest], why: str) -> None:
    """That is a decision too."""
    assert decided(contest()) == Decision(winner=None, why=(why,))


def test_the_only_one() -> None:
    """Nobody was compared with it, and that is said."""
    assert decided(alone()) == Decision(
        winner="a",
        why=("a is the only one with every dimension at band C or above: 80.00, not compared.",),
        how_sure=("nobody was compared with it",),
    )


def test_side_by_side() -> None:
    """By how much, on which dimensions, and whether the scores alone say the same."""
    contest = two(82, 80).rank({"a": (71, 71, 71, 90), "b": (80, 80, 80, 82)})

    found = decided(contest)

    assert found.why == ("b came first of 2 compared side by side: 80.50, 4.75 ahead of a.",)
    assert found.how_sure == (
        "ahead of a on 3 of 4 dimensions; a is ahead on clarity by 8.00",
        "alone a was better: 82.00 to 80.00",
        UNKNOWN,
    )


def test_side_by_side_as_alone() -> None:
    """Two readings that agree are worth more than one."""
    contest = two(80, 82).rank({"a": 71, "b": 78})

    assert decided(contest).how_sure[:2] == ("ahead of a on 4 of 4 dimensions", "alone it was also the best: 82.00")


def test_side_by_side_by_a_panel() -> None:
    """A judge who puts both at the same score tells nothing."""
    contest = Contest(judges=PANEL).enters("a", 1, dict.fromkeys(PANEL, 80)).enters("b", 2, dict.fromkeys(PANEL, 80))
    contest.deadline().rank({"a": 70, "b": 75}, m={"a": 70, "b": 70}, n={"a": 60, "b": 61})

    assert decided(contest).how_sure[-1].startswith("2 of 2 judges put it first; ")
    assert decided(contest).how_sure[-1].endswith("in 50 % of contests")


def test_a_tie() -> None:
    """What broke it."""
    contest = two(80, 82).rank({"a": 75, "b": 75})

    assert decided(contest).why == (
        "b came first of 2 compared side by side: 75.00, 0.00 ahead of a.",
        "The two are equal in score; b comes first by score alone.",
    )


def test_what_could_not_be_read() -> None:
    """The decision rests partly on scores alone, and says so; a judge's name is spelt as it is."""
    contest = two(80, 82).rank({"a": (70, 70, 70, None), "b": 78})

    assert decided(contest).why[1:] == ("j: clarity could not be read side by side: the scores of each alone count.",)


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (73, 72, "a challenged it; judges who had not judged before looked again, and the ranking changed."),
        (72, 73, "a challenged it; judges who had not judged before looked again, and the winner stands."),
        (99, None, "a challenged it; those who looked again could not be read, and the winner stands."),
    ],
)
def test_a_challenge_of_a_ranking(a: int, b: int | None, told: str) -> None:
    """What became of it: a panel that could not be read has not confirmed anything."""
    contest = ranked().challenge("a", 12)
    waiting = decided(contest).why[-1]

    contest.resolve(k={"a": a, "b": b})

    assert waiting == "a has challenged it; nobody has looked at that yet."
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
