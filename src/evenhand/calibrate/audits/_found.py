"""What an audit found: one number with its interval, its colour, and what would turn it green."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.calibrate._jackknife import Estimate
from evenhand.errors import Fault, InputError

Colour = Literal["red", "amber", "green", "grey"]
Fit = Literal["yes", "with care", "no", "not known"]

COLOURS: tuple[Colour, ...] = ("red", "amber", "grey", "green")  # Worst first.
PANEL = "panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One thing that was looked at, of one judge or of the panel; grey is not known, and `says` tells why.

    `n` counts independent samples, and of failures the answers. `low` and `high` are None where there is no interval.
    """

    name: str
    judge: str
    criterion: str | None = None
    colour: Colour
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int = 0
    unit: str = ""
    method: str = ""
    says: str
    advice: str = ""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise InputError(Fault(f"{self.name} of {self.judge}: an interval has two ends"))
        if self.colour == "green" and self.advice:
            raise InputError(Fault(f"{self.name} of {self.judge}: what is green needs no advice"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """Whether the judges of a run are fit to decide, what speaks against it most, and everything that was found."""

    run: str
    fit: Fit
    headline: str
    worst: AuditFinding | None
    next_step: str
    judges: tuple[str, ...]
    samples: int
    findings: tuple[AuditFinding, ...]


def unknown(name: str, judge: str, why: str, *, advice: str = "", criterion: str | None = None) -> AuditFinding:
    """What cannot be told, and why."""
    return AuditFinding(name=name, judge=judge, criterion=criterion, colour="grey", says=why, advice=advice)


def measured(  # noqa: PLR0913 - every part of a finding is its own.
    name: str,
    judge: str,
    found: Estimate,
    colour: Colour,
    says: str,
    advice: str,
    *,
    unit: str,
    criterion: str | None = None,
) -> AuditFinding:
    """What was measured; advice is for what is not green."""
    return AuditFinding(
        name=name,
        judge=judge,
        criterion=criterion,
        colour=colour,
        value=found.value,
        low=found.low,
        high=found.high,
        level=None if found.low is None else found.level,
        n=found.n,
        unit=unit,
        method=found.method,
        says=says,
        advice="" if colour == "green" else advice,
    )
