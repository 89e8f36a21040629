"""Whether the gate is passed: each acceptance criterion by the majority of judges, and one that fails is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.judging import Check
from evenhand.model import Scored, Unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One acceptance criterion as the judges together see it; `met` is None where too few of them could tell."""

    asks: str
    met: bool | None
    checks: tuple[Check, ...]

    @property
    def hints(self) -> list[str]:
        """What to mend, from those who found it not met."""
        hints = [one.revision_hint for one in self.checks if _vote(one) is False and one.revision_hint]
        return list(dict.fromkeys(hints))

    @property
    def why_unknown(self) -> str:
        """Why it could not be found out."""
        silent = [one.judgment for one in self.checks if isinstance(one.judgment.score, Unscored)]
        return "; ".join(f"{one.judge}: {one.score.why}" for one in silent if isinstance(one.score, Unscored))


def criteria_of(acceptance: Sequence[str], checks: Sequence[Check]) -> tuple[Criterion, ...]:
    """Every acceptance criterion with what the judges say of it. More than half must answer, and a split fails."""
    judges = {one.judgment.judge for one in checks}
    found = []
    for id, asks in zip(criterion_ids(acceptance), acceptance, strict=True):
        own = tuple(one for one in checks if one.judgment.criterion == id)
        votes = [vote for one in own if (vote := _vote(one)) is not None]
        met = None if 2 * len(votes) <= len(judges) else 2 * sum(votes) > len(votes)
        found.append(Criterion(asks=asks, met=met, checks=own))
    return tuple(found)


def criterion_ids(acceptance: Sequence[str]) -> tuple[str, ...]:
    """What judges call the acceptance criteria."""
    return tuple(f"criterion-{number}" for number in range(1, len(acceptance) + 1))


def gate_passed(criteria: Sequence[Criterion]) -> bool | None:
    """One that is not met fails the gate, whatever else is unknown; what is unknown never passes it."""
    if any(one.met is False for one in criteria):
        return False
    return None if any(one.met is None for one in criteria) else True


def _vote(check: Check) -> bool | None:
    score = check.judgment.score
    return bool(score.value) if isinstance(score, Scored) else None
