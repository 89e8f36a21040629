"""Scorecards: all that came out for one output, with every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from evenhand.model._numbers import rounded
from evenhand.model._rubric import Rubric
from evenhand.model._scale import CriterionScore

Verdict = Literal["pass", "borderline", "fail", "incomplete"]


@dataclass(frozen=True, slots=True)
class Moved:
    """A step that moved the number. Its sentence is made when it is asked for."""

    step: str
    before: Fraction | None
    after: Fraction
    tell: Callable[[Moved], str] = field(repr=False)
    facts: tuple[object, ...] = field(default=(), repr=False)
    decimals: int | None = None

    @property
    def why(self) -> str:
        """What happened, in a sentence."""
        return self.tell(self)


@dataclass(frozen=True, slots=True)
class Missing:
    """A criterion without a score."""

    criterion: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What one reviewer's answers came to for one output."""

    judge: str
    exact: Fraction | None
    holistic: bool = False
    why_not: str = ""
    steps: tuple[Moved, ...] = ()
    criteria: Mapping[str, CriterionScore] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """All that came out for one output. `exact` decides; `score` is what is shown."""

    id: str
    exact: Fraction | None
    decimals: int | None
    grade: str | None = None
    label: str | None = None
    verdict: Verdict | None = None
    gates_failed: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    flags: tuple[str, ...] = ()
    bonuses: tuple[str, ...] = ()
    unsafe: str | None = None
    passage: str | None = None
    author: str | None = None
    steps: tuple[Moved, ...] = ()
    criteria: Mapping[str, CriterionScore] = field(default_factory=dict)
    reviews: tuple[Reviewed, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> Decimal | float | None:
        """The score as shown: with the method's decimals, or the exact value as a float."""
        if self.exact is None:
            return None
        return float(self.exact) if self.decimals is None else rounded(self.exact, self.decimals)

    def explain(self) -> list[str]:
        """Each step that moved the number, in a sentence."""
        return [moved.why for moved in self.steps]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A place in a ranking; incomplete scorecards have none."""

    rank: int | None
    id: str
    exact: Fraction | None
    decimals: int | None
    tie_broken_by: str | None = None

    @property
    def score(self) -> Decimal | float | None:
        """The score as shown."""
        if self.exact is None:
            return None
        return float(self.exact) if self.decimals is None else rounded(self.exact, self.decimals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scorecards of several outputs under one rubric, and their ranking where there are two or more."""

    rubric: Rubric
    fingerprint: str
    scorecards: tuple[Scorecard, ...]
    ranking: tuple[Ranked, ...] | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, id: str) -> Scorecard:
        for card in self.scorecards:
            if card.id == id:
                return card
        raise KeyError(f"no output {id!r} was scored")
