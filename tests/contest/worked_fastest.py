"""Contests that the first to pass wins, worked by hand."""

from tests.contest.building import INJECTION, Contest, dimensions
from tests.contest.worked import Worked

FAST = "fastest_first"
PANEL = ("j", "m", "n")
# 60 · 0.999 + 56 · 0.001 = 59.996: it is below, and is not shown as 60.00.
NEARLY = dimensions("0.333", "0.333", "0.333", "0.001")

FASTEST = (
    Worked(
        claim="exactly 60 passes",
        contest=lambda: Contest(FAST).enters("a", 1, 60),
        winner="a",
        standing={"a": ("won", 1, 60.0)},
        why="a is the first to pass",
    ),
    Worked(
        claim="59.996 does not pass and is not shown as 60",
        contest=lambda: Contest(FAST, dimensions=NEARLY).enters("a", 1, (60, 60, 60, 56)),
        phase="open",
        standing={"a": ("scored", None, 59.996)},
    ),
    Worked(
        claim="a fixed dimension pulls a base of 78 under what passes",
        contest=lambda: Contest(FAST).enters("a", 1, (89, 45, 89, 89)),
        phase="open",
        standing={"a": ("scored", None, 58.5)},
    ),
    Worked(
        claim="a dimension of the task's own pulls nothing down",
        contest=lambda: Contest(FAST).enters("a", 1, (89, 89, 89, 45)),
        winner="a",
        standing={"a": ("won", 1, 78.0)},
    ),
    Worked(
        claim="who stays below may hand in another, without revising anything",
        contest=lambda: Contest(FAST).enters("a", 1, 55).enters("a2", 2, 61, author="a"),
        winner="a2",
        standing={"a": ("scored", None, 42.36), "a2": ("won", 1, 61.0)},
    ),
    Worked(
        claim="one that fails the gate is followed by the next",
        contest=lambda: Contest(FAST).comes("a", 1).comes("b", 2).gate("a", False).gate("b").score("b", 70),
        winner="b",
        standing={"a": ("gate_failed", None, None), "b": ("won", 1, 70.0)},
    ),
    Worked(
        claim="the earlier wins over a better one that waited, and nobody judges that any more",
        contest=lambda: Contest(FAST).comes("a", 1).comes("b", 2).comes("c", 3).gate("a").score("a", 60),
        winner="a",
        standing={"a": ("won", 1, 60.0), "b": ("unjudged", None, None), "c": ("unjudged", None, None)},
    ),
    Worked(
        claim="what judges could not read is passed over, and the next is judged",
        contest=lambda: Contest(FAST).comes("a", 1).comes("b", 2).gate("a").score("a", (90, None, 90, 90))
        .gate("b").score("b", 60),
        winner="b",
        standing={"a": ("unjudged", None, None), "b": ("won", 1, 60.0)},
    ),
    Worked(
        claim="a gate that cannot be read is not passed",
        contest=lambda: Contest(FAST).comes("a", 1).gate("a", None),
        phase="open",
        standing={"a": ("unjudged", None, None)},
    ),
    Worked(
        claim="one that speaks to the judge holds nobody up",
        contest=lambda: Contest(FAST).comes("a", 1, text=INJECTION).enters("b", 2, 60),
        winner="b",
        standing={"a": ("policy_violation", None, None), "b": ("won", 1, 60.0)},
    ),
    Worked(
        claim="one that came in time wins though it is judged after the deadline",
        contest=lambda: Contest(FAST).comes("a", 10).deadline().gate("a").score("a", 60),
        winner="a",
        standing={"a": ("won", 1, 60.0)},
    ),
    Worked(
        claim="after the deadline the rest are judged in order, to the last",
        contest=lambda: Contest(FAST).comes("a", 1).comes("b", 2).comes("c", 3).deadline()
        .gate("a", False).gate("b").score("b", 59).gate("c", False),
        standing={"a": ("gate_failed", None, None), "b": ("scored", None, 56.1), "c": ("gate_failed", None, None)},
        why="no submission passed before the deadline",
    ),
    Worked(
        claim="the deadline closes a contest in which nobody passed",
        contest=lambda: Contest(FAST).enters("a", 1, (60, 60, 60, 59)).deadline(),
        standing={"a": ("scored", None, 59.75)},
        why="no submission passed before the deadline",
    ),
    Worked(
        claim="the last one judged after the deadline may fail by its score",
        contest=lambda: Contest(FAST).comes("a", 1).deadline().gate("a").score("a", (60, 60, 60, 59)),
        standing={"a": ("scored", None, 59.75)},
        why="no submission passed before the deadline",
    ),
    Worked(
        claim="without a deadline it goes on",
        contest=lambda: Contest(FAST, deadline=None).enters("a", 1, (60, 60, 60, 59)).enters("b", 500, 60),
        winner="b",
        standing={"a": ("scored", None, 59.75), "b": ("won", 1, 60.0)},
    ),
    Worked(
        claim="of a panel the mean passes, each judge's penalty taken first",
        contest=lambda: Contest(FAST, judges=PANEL).enters("a", 1, {"j": (80, 45, 80, 80), "m": 80, "n": 47}),
        phase="open",
        standing={"a": ("scored", None, round((71.25 * 0.75 + 80 + 47 * (47 / 60) ** 3) / 3, 2))},
    ),
    Worked(
        claim="a judge of weight 2 counts twice",
        contest=lambda: Contest(FAST, judges=PANEL, weights={"j": 2}).enters("a", 1, {"j": 60, "m": 90, "n": 90}),
        winner="a",
        standing={"a": ("won", 1, 75.0)},
    ),
    Worked(
        claim="one of three who cannot be read is left out",
        contest=lambda: Contest(FAST, judges=PANEL).enters("a", 1, {"j": 60, "m": None, "n": 64}),
        winner="a",
        standing={"a": ("won", 1, 62.0)},
    ),
    Worked(
        claim="two of three who cannot be read are too many",
        contest=lambda: Contest(FAST, judges=PANEL).enters("a", 1, {"j": 99, "m": None, "n": None}),
        phase="open",
        standing={"a": ("unjudged", None, None)},
    ),
    Worked(
        claim="the gate goes with the majority of three",
        contest=lambda: Contest(FAST, judges=PANEL).comes("a", 1).gate("a", {"j": True, "m": False, "n": True}),
        phase="open",
        standing={"a": ("gate_passed", None, None)},
    ),
    Worked(
        claim="the gate is failed by a majority of three",
        contest=lambda: Contest(FAST, judges=PANEL).comes("a", 1).gate("a", {"j": True, "m": False, "n": False}),
        phase="open",
        standing={"a": ("gate_failed", None, None)},
    ),
    Worked(
        claim="a split fails the gate",
        contest=lambda: Contest(FAST, judges=PANEL).comes("a", 1).gate("a", {"j": True, "m": False, "n": None}),
        phase="open",
        standing={"a": ("gate_failed", None, None)},
    ),
    Worked(
        claim="one of three who can tell is too few for the gate",
        contest=lambda: Contest(FAST, judges=PANEL).comes("a", 1).gate("a", {"j": True, "m": None, "n": None}),
        phase="open",
        standing={"a": ("unjudged", None, None)},
    ),
    Worked(
        claim="one criterion that fails is enough, whatever cannot be read beside it",
        contest=lambda: Contest(FAST, acceptance=("names a price", "is short", "is new")).comes("a", 1)
        .gate("a", (True, False, None)),
        phase="open",
        standing={"a": ("gate_failed", None, None)},
    ),
)  # fmt: skip
