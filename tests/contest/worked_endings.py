"""How contests that the best wins come to their end: late judges and challenges, worked by hand."""

from tests.contest.building import Contest
from tests.contest.worked import Worked
from tests.contest.worked_quality import alone, five, two


def ranked() -> Contest:
    """b has won over a, 78 to 71."""
    return two().rank({"a": 71, "b": 78})


LATE = (
    Worked(
        claim="the ranking waits for a gate and a score that were asked for before the deadline",
        contest=lambda: Contest().comes("a", 10).deadline().gate("a").score("a", 80),
        phase="challenge_period",
        winner="a",
        standing={"a": ("won", 1, 80.0)},
    ),
    Worked(
        claim="the last gate that fails lets two others be compared",
        contest=lambda: Contest().enters("a", 1, 80).enters("b", 2, 80).comes("c", 3).deadline().gate("c", False),
        phase="ranking",
        standing={
            "a": ("gate_passed", None, None), "b": ("gate_passed", None, None), "c": ("gate_failed", None, None),
        },
    ),
    Worked(
        claim="the last gate that fails lets the other one win",
        contest=lambda: Contest().enters("a", 1, 80).comes("b", 2).deadline().gate("b", False),
        phase="challenge_period",
        winner="a",
        standing={"a": ("won", 1, 80.0), "b": ("gate_failed", None, None)},
    ),
    Worked(
        claim="the last gate that fails may leave nobody",
        contest=lambda: Contest().comes("a", 1).deadline().gate("a", False),
        standing={"a": ("gate_failed", None, None)},
        why="no submission passed the gate before the deadline",
    ),
    Worked(
        claim="the last score starts the comparison, and no other before it",
        contest=lambda: Contest().comes("a", 1).comes("b", 2).deadline().gate("b").gate("a").score("b", 80)
        .score("a", 80),
        phase="ranking",
        standing={"a": ("gate_passed", None, None), "b": ("gate_passed", None, None)},
    ),
    Worked(
        claim="the last score may leave nobody",
        contest=lambda: Contest().comes("a", 1).deadline().gate("a").score("a", (90, 90, 90, 49)),
        standing={"a": ("below_threshold", None, 79.75)},
        why="every submission that passed the gate has a dimension below band C",
    ),
)  # fmt: skip

CHALLENGED = (
    Worked(
        claim="a challenge holds the end back",
        contest=lambda: ranked().challenge("a", 12),
        phase="challenged",
        winner="b",
        standing={"a": ("scored", 2, 71.0), "b": ("won", 1, 78.0)},
    ),
    Worked(
        claim="a challenge that changes nothing leaves the winner, with the new scores",
        contest=lambda: ranked().challenge("a", 12).resolve(k={"a": 70, "b": 72}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 70.0), "b": ("won", 1, 72.0)},
    ),
    Worked(
        claim="a challenge that is right turns the ranking round",
        contest=lambda: ranked().challenge("a", 15).resolve(k={"a": 73, "b": 72}).period_over(),
        winner="a",
        standing={"a": ("won", 1, 73.0), "b": ("scored", 2, 72.0)},
    ),
    Worked(
        claim="a challenge moves only the finalists",
        contest=lambda: five().rank({"a": 60, "b": 70, "c": 65}).challenge("e", 11)
        .resolve(k={"a": 66, "b": 65, "c": 64}).period_over(),
        winner="a",
        standing={
            "a": ("won", 1, 66.0), "b": ("scored", 2, 65.0), "c": ("scored", 3, 64.0),
            "d": ("scored", 4, 84.0), "e": ("scored", 5, 83.0),
        },
    ),
    Worked(
        claim="where those who look at a challenge cannot be read the ranking stands",
        contest=lambda: ranked().challenge("a", 12).resolve(k={"a": 99, "b": None}).period_over(),
        winner="b",
        standing={"a": ("scored", 2, 71.0), "b": ("won", 1, 78.0)},
    ),
    Worked(
        claim="the only one stands where a challenge finds every dimension at band C",
        contest=lambda: alone().challenge("a", 12).resolve(k={"a": 50}).period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0)},
    ),
    Worked(
        claim="the only one stands where those who look at it cannot be read",
        contest=lambda: alone().challenge("a", 12).resolve(k={"a": (40, None, 40, 40)}).period_over(),
        winner="a",
        standing={"a": ("won", 1, 80.0)},
    ),
    Worked(
        claim="the only one falls where a challenge finds a dimension below band C",
        contest=lambda: Contest().enters("a", 1, 80).enters("b", 2, 40).deadline().challenge("b", 12)
        .resolve(k={"a": (90, 90, 90, 49)}),
        standing={"a": ("below_threshold", None, 80.0), "b": ("below_threshold", None, round(40 * (2 / 3) ** 3, 2))},
        why="nobody is left to win",
    ),
)  # fmt: skip

ENDINGS = (*LATE, *CHALLENGED)
