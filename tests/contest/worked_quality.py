"""Contests that the best wins, worked by hand."""

from tests.contest.building import INJECTION, Contest
from tests.contest.worked import Worked

PANEL = ("j", "m", "n")
EVEN = {"a": 75, "b": 75}
NOTHING = {"a": None, "b": None, "c": None}


def two(a: int = 80, b: int = 80) -> Contest:
    """Two finalists before they are compared; a came first."""
    return Contest().enters("a", 1, a).enters("b", 2, b).deadline()


def alone() -> Contest:
    """a is the only one."""
    return Contest().enters("a", 1, 80).deadline()


FIVE = {"a": 95, "b": 90, "c": 85, "d": 84, "e": 83}


def five() -> Contest:
    """Three finalists and two more, before they are compared."""
    contest = Contest()
    for at, (id, value) in enumerate(FIVE.items(), start=1):
        contest.enters(id, at, value)
    return contest.deadline()


COUNTS = (
    Worked(
        claim="a gate that was failed may be tried again",
        contest=lambda: Contest().comes("a", 1).gate("a", False).enters("a2", 2, 80, author="a", revises="a")
        .deadline().period_over(),
        winner="a2",
        standing={"a": ("gate_failed", None, None), "a2": ("won", 1, 80.0)},
    ),
    Worked(
        claim="the latest that passed counts though an earlier one was better",
        contest=lambda: Contest().enters("a", 1, 90).enters("b", 2, 80).enters("a2", 3, 70, author="a", revises="a")
        .deadline().rank({"b": 80, "a2": 70}).period_over(),
        winner="b",
        standing={"a": ("superseded", None, 90.0), "b": ("won", 1, 80.0), "a2": ("scored", 2, 70.0)},
    ),
    Worked(
        claim="a revision that is scored first still supersedes the one before it",
        contest=lambda: Contest().comes("a", 1).comes("a2", 2, author="a", revises="a").gate("a2").score("a2", 70)
        .gate("a").score("a", 90).deadline().period_over(),
        winner="a2",
        standing={"a": ("superseded", None, 90.0), "a2": ("won", 1, 70.0)},
    ),
    Worked(
        claim="a revision that fails the gate leaves the earlier one counting",
        contest=lambda: Contest().enters("a", 1, 80).comes("a2", 2, author="a", revises="a").gate("a2", False)
        .deadline().period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0), "a2": ("gate_failed", None, None)},
    ),
    Worked(
        claim="a revision that nobody could score leaves the earlier one counting",
        contest=lambda: Contest().enters("a", 1, 80).enters("a2", 2, None, author="a", revises="a")
        .deadline().period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0), "a2": ("unjudged", None, None)},
    ),
    Worked(
        claim="a dimension at 49 is out, keeps its score and has no rank",
        contest=lambda: Contest().enters("a", 1, (90, 90, 90, 49)).enters("b", 2, 70).deadline().period_over(),
        winner="b",
        standing={"a": ("below_threshold", None, 79.75), "b": ("won", 1, 70.0)},
    ),
    Worked(
        claim="a dimension at 50 is in",
        contest=lambda: Contest().enters("a", 1, (90, 90, 90, 50)).deadline().period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0)},
    ),
    Worked(
        claim="of a panel the mean of a dimension has to reach band C",
        contest=lambda: Contest(judges=PANEL).enters("a", 1, {"j": (80, 80, 80, 40), "m": (80, 80, 80, 50), "n": 60})
        .enters("b", 2, {"j": (80, 80, 80, 40), "m": (80, 80, 80, 49), "n": 60}).deadline().period_over(),
        winner="a",
        standing={
            "a": ("won", 1, round((70 + 72.5 + 60) / 3, 2)),
            "b": ("below_threshold", None, round((70 + 72.25 + 60) / 3, 2)),
        },
    ),
    Worked(
        claim="one that speaks to the judge takes no part",
        contest=lambda: Contest().comes("a", 1, text=INJECTION).enters("b", 2, 60).deadline().period_over(),
        winner="b",
        standing={"a": ("policy_violation", None, None), "b": ("won", 1, 60.0)},
    ),
    Worked(
        claim="one survivor wins without being compared, when the challenge period is over",
        contest=alone,
        phase="challenge_period",
        winner="a",
        standing={"a": ("won", 1, 80.0)},
    ),
    Worked(
        claim="without a survivor nobody wins",
        contest=lambda: Contest().enters("a", 1, (90, 90, 90, 49)).deadline(),
        standing={"a": ("below_threshold", None, 79.75)},
        why="every submission that passed the gate has a dimension below band C",
    ),
    Worked(
        claim="where nothing is handed in nobody wins",
        contest=lambda: Contest().deadline(),
        standing={},
        why="nothing was handed in before the deadline",
    ),
    Worked(
        claim="where nothing passes the gate nobody wins",
        contest=lambda: Contest().comes("a", 1).gate("a", False).deadline(),
        standing={"a": ("gate_failed", None, None)},
        why="no submission passed the gate before the deadline",
    ),
    Worked(
        claim="where nothing could be scored nobody wins, and not for want of passing",
        contest=lambda: Contest().enters("a", 1, None).deadline(),
        standing={"a": ("unjudged", None, None)},
        why="no submission that passed the gate could be scored",
    ),
)  # fmt: skip

RANKED = (
    Worked(
        claim="scores are hidden until the finalists are compared",
        contest=two,
        phase="ranking",
        standing={"a": ("gate_passed", None, None), "b": ("gate_passed", None, None)},
    ),
    Worked(
        claim="the score side by side decides, not the one alone",
        contest=lambda: two(90, 70).rank({"a": 71, "b": 78}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 71.0), "b": ("won", 1, 78.0)},
    ),
    Worked(
        claim="three are compared and the others come after them, higher as their own scores may be",
        contest=lambda: five().rank({"a": 60, "b": 70, "c": 65}).period_over(),
        winner="b",
        standing={
            "a": ("scored", 3, 60.0), "b": ("won", 1, 70.0), "c": ("scored", 2, 65.0),
            "d": ("scored", 4, 84.0), "e": ("scored", 5, 83.0),
        },
    ),
    Worked(
        claim="the penalised total decides who is compared, not the base",
        contest=lambda: Contest().enters("a", 1, (100, 50, 100, 100)).enters("b", 2, 75).enters("c", 3, 74)
        .enters("d", 4, 73).deadline().rank({"b": 60, "c": 61, "d": 62}).period_over(),
        winner="d",
        standing={
            "a": ("scored", 4, 72.92), "b": ("scored", 3, 60.0), "c": ("scored", 2, 61.0), "d": ("won", 1, 62.0),
        },
    ),
    Worked(
        claim="penalties are taken side by side as they are alone",
        contest=lambda: two().rank({"a": (89, 45, 89, 89), "b": 60}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 58.5), "b": ("won", 1, 60.0)},
    ),
    Worked(
        claim="a dimension that sinks only side by side throws nobody out",
        contest=lambda: two().rank({"a": (90, 90, 90, 40), "b": 60}).period_over(),
        winner="a",
        standing={"a": ("won", 1, 77.5), "b": ("scored", 2, 60.0)},
    ),
    Worked(
        claim="a tie goes to the better one alone",
        contest=lambda: two(80, 82).rank(EVEN).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 75.0), "b": ("won", 1, 75.0)},
    ),
    Worked(
        claim="a tie alone too goes to the earlier one",
        contest=lambda: two(80, 80).rank(EVEN).period_over(),
        winner="a",
        standing={"a": ("won", 1, 75.0), "b": ("scored", 2, 75.0)},
    ),
    Worked(
        claim="the time of a tie is that of the revision that counts",
        contest=lambda: Contest().enters("a", 1, 70).enters("b", 2, 80).enters("a2", 3, 80, author="a", revises="a")
        .deadline().rank({"a2": 75, "b": 75}).period_over(),
        winner="b",
        standing={"a": ("superseded", None, 70.0), "b": ("won", 1, 75.0), "a2": ("scored", 2, 75.0)},
    ),
    Worked(
        claim="of two that came at the same time the one that arrived first is ahead",
        contest=lambda: Contest().comes("b", 1).comes("a", 1).gate("a").score("a", 80).gate("b").score("b", 80)
        .deadline().rank(EVEN).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 75.0), "b": ("won", 1, 75.0)},
    ),
    Worked(
        claim="the last place in the final goes to the earlier of two equals",
        contest=lambda: Contest().enters("a", 1, 80).enters("b", 2, 80).enters("c", 3, 80).enters("d", 4, 80)
        .deadline().rank({"a": 61, "b": 62, "c": 63}).period_over(),
        winner="c",
        standing={"a": ("scored", 3, 61.0), "b": ("scored", 2, 62.0), "c": ("won", 1, 63.0), "d": ("scored", 4, 80.0)},
    ),
    Worked(
        # Alone a has 80 and b 70, 70, 70, 90: with these for clarity a has 72.5 and b 75.
        claim="where one answer on a dimension is missing, the scores alone take the place of all of them",
        contest=lambda: Contest().enters("a", 1, 80).enters("b", 2, (70, 70, 70, 90)).deadline()
        .rank({"a": (70, 70, 70, None), "b": (70, 70, 70, 60)}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 72.5), "b": ("won", 1, 75.0)},
    ),
    Worked(
        claim="a judge who can be read on all of them neither side by side nor alone is left out",
        contest=lambda: Contest(judges=PANEL).enters("a", 1, {"j": 80, "m": 80, "n": None})
        .enters("b", 2, {"j": None, "m": 90, "n": 90}).deadline()
        .rank({"a": None, "b": 60}, m={"a": 80, "b": 70}, n={"a": 80, "b": 70}).period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0), "b": ("scored", 2, 70.0)},
    ),
    Worked(
        claim="where nobody can be read side by side the scores alone rank",
        contest=lambda: Contest(judges=PANEL).enters("a", 1, {"j": None, "m": 80, "n": 80})
        .enters("b", 2, {"j": 85, "m": None, "n": 85}).enters("c", 3, {"j": 82, "m": 82, "n": None}).deadline()
        .rank(NOTHING, m=NOTHING, n=NOTHING).period_over(),
        winner="b",
        standing={"a": ("scored", 3, 80.0), "b": ("won", 1, 85.0), "c": ("scored", 2, 82.0)},
    ),
    Worked(
        claim="the judges together rank, by their weights",
        contest=lambda: Contest(judges=PANEL, weights={"m": 3}).enters("a", 1, dict.fromkeys(PANEL, 80))
        .enters("b", 2, dict.fromkeys(PANEL, 80)).deadline()
        .rank({"a": 90, "b": 60}, m={"a": 65, "b": 80}, n={"a": 90, "b": 80}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 75.0), "b": ("won", 1, 76.0)},
    ),
)  # fmt: skip

QUALITY = (*COUNTS, *RANKED)
