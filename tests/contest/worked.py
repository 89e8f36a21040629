"""A contest worked by hand: what happens in it, and how everybody stands at its end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evenhand.contest.state import ContestPhase, SubmissionStatus
from tests.contest.building import Contest

Standing = tuple[SubmissionStatus, int | None, float | None]  # Status, rank and the score that is shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """One row of the table; its claim is the name of its test."""

    claim: str
    contest: Callable[[], Contest]
    standing: Mapping[str, Standing]
    winner: str | None = None
    phase: ContestPhase = "closed"
    why: str = ""  # Some words of why it is closed.


# With an id, a contest has a payment that is released by an event of its own.
PAID: tuple[Callable[[], Contest], ...] = (
    lambda: Contest("fastest_first", contest="c1").enters("a", 1, 60).release("pay-c1"),
    lambda: Contest(contest="c1").enters("a", 1, 80).deadline().period_over().release("pay-c1"),
)
