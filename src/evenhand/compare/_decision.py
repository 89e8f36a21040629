"""What a comparison came to: verdict, rule, reasons, next step, badges and gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # Whoever shows a decision needs no NumPy.
    from evenhand.compare._facts import NotWorse, Spread
    from evenhand.stats import Difference, PowerBand, Saturation

Verdict = Literal["PROGRESS", "CAUTIOUS", "REGRESS", "NOISE", "UNDERPOWERED", "SOLO"]
Colour = Literal["green", "amber", "red", "grey"]

WORST_FIRST: tuple[Verdict, ...] = ("REGRESS", "CAUTIOUS", "UNDERPOWERED", "NOISE", "PROGRESS", "SOLO")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateState:
    """The mean of a layer against its minimum; `passed` is None where there is no mean."""

    gate: str
    min: float
    mean: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """One conclusion about the method, with its number and what would turn it green."""

    name: str
    colour: Colour
    value: float | None
    says: str
    advice: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerVerdict:
    """What the rules say of one layer alone."""

    verdict: Verdict
    rule: str
    reasons: tuple[str, ...]
    next_step: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A treatment against the control.

    `p` is the composite's, adjusted by Holm where there are several treatments. `pairs`, wins, ties, losses and lost
    outputs count samples: repeats of one sample are one.
    """

    treatment: str
    control: str
    verdict: Verdict
    headline: str
    sure: str
    rule: str
    reasons: tuple[str, ...]
    next_step: str
    composite: Difference | None
    p: float | None
    layers: Mapping[str, Difference | None]
    layer_verdicts: Mapping[str, LayerVerdict]
    criteria: Mapping[str, Difference | None]
    spread: Spread | None
    not_worse: NotWorse | None
    pairs: int
    lost_by_treatment: int
    lost_by_control: int
    wins: int
    ties: int
    losses: int
    power: PowerBand | None
    saturation: Saturation | None
    badges: tuple[Badge, ...]

    @property
    def passed(self) -> bool:
        """Whether the treatment may be shipped: it is better, or surely not worse by more than was asked."""
        return self.verdict == "PROGRESS" or (self.not_worse is not None and self.not_worse.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The verdict over all treatments, what it rests on, and how sure it is."""

    verdict: Verdict
    control: str
    headline: str
    sure: str
    comparisons: tuple[Comparison, ...]
    gates: Mapping[str, tuple[GateState, ...]]
    best: str | None
    exit_code: int
