"""What judging gives back: scores with all that they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from evenhand.judging._driver import Call
from evenhand.judging._request import EMBEDDED
from evenhand.judging._told import Preference, Suggestion
from evenhand.model import Finding, Judgment, Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What a cascade did not have to ask: how many outputs stayed with an earlier judge, of how many, and its price."""

    outputs: int
    of: int
    cost: Decimal | None  # US dollars; None where a price is unknown.


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Scores with all that they rest on."""

    scores: Scores
    judgments: tuple[Judgment, ...]
    calls: tuple[Call, ...]
    seed: int
    suggestions: Mapping[str, tuple[Suggestion, ...]] = field(default_factory=dict)  # By output.
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # By reviewer: what it saw first, second, …
    decided_by: Mapping[str, str] = field(default_factory=dict)  # In a cascade, by output: whose answers count.
    saved: Saved | None = None
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)  # What guards found, by output.

    @property
    def heuristic(self) -> tuple[str, ...]:
        """The judges here that go by rules and not by understanding."""
        return tuple(dict.fromkeys(one.judge for one in self.judgments if one.judge == EMBEDDED))


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one output did against the others: pairs won, tied and lost, over all judges."""

    output: str
    won: int
    tied: int
    lost: int
    undecided: int

    @property
    def rate(self) -> float | None:
        """The share of decided pairs it won, a tie counted as half."""
        decided = self.won + self.tied + self.lost
        return (self.won + self.tied / 2) / decided if decided else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferred:
    """Every pair as every judge saw it, and how each output stands."""

    preferences: tuple[Preference, ...]
    standings: tuple[Standing, ...]
    calls: tuple[Call, ...]
    seed: int

    def position_bias(self, judge: str) -> tuple[int, int]:
        """How many pairs this judge decided by place, of how many it answered."""
        own = [one for one in self.preferences if one.judge == judge and not one.why_not]
        return sum(one.position_bias for one in own), len(own)
