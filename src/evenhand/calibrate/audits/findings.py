"""One finding of an audit: a number with its interval, its colour, and what would turn it green."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from evenhand.calibrate.jackknife import IntervalEstimate
from evenhand.errors import Fault, InputError
from evenhand.files.json_shape import json_key
from evenhand.wording import format_number, format_plural

AuditColour = Literal["red", "amber", "green", "grey"]
JudgesFit = Literal["yes", "with care", "no", "not known"]

AUDIT_COLOURS: tuple[AuditColour, ...] = ("red", "amber", "grey", "green")  # Worst first.
PANEL_SUBJECT = "panel"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """One thing that was looked at, of one judge or of the panel; grey is not known, and `says` tells why.

    `n` counts independent samples, and of failures the answers. `low` and `high` are None where there is no interval.
    """

    name: str = field(metadata=json_key("finding"))
    judge: str
    criterion: str | None = None
    colour: AuditColour
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: int = 0
    unit: str = ""
    typical: float | None = None  # How many units outputs of one sample differ by, where the colour goes by that.
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
    fit: JudgesFit
    headline: str
    next_step: str
    worst: AuditFinding | None
    judges: tuple[str, ...]
    samples: int
    findings: tuple[AuditFinding, ...]


def unknown_calibration_finding(
    name: str, judge: str, why: str, *, advice: str = "", criterion: str | None = None
) -> AuditFinding:
    """What cannot be told, and why."""
    return AuditFinding(name=name, judge=judge, criterion=criterion, colour="grey", says=why, advice=advice)


def measured_audit_finding(  # noqa: PLR0913 - every part of a finding is its own.
    name: str,
    judge: str,
    found: IntervalEstimate,
    colour: AuditColour,
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


AUDIT_LEVEL = 0.95


def bonferroni_audit_level(tests: int) -> float:
    """The level of each of several intervals that hold together in 95 of 100 audits (Bonferroni)."""
    return 1 - (1 - AUDIT_LEVEL) / max(1, tests)


def grade_audit_effect(low: float | None, high: float | None, value: float, matters: float) -> AuditColour:
    """Of an effect that should be 0.

    Green: shown to be below half of what matters. Red: there, and as large as what matters. Amber: there, and smaller.
    Grey: it may be 0, and may be large.
    """
    if low is None or high is None:
        return "grey"
    if max(abs(low), abs(high)) <= matters / 2:
        return "green"
    if low <= 0 <= high:
        return "grey"
    return "red" if abs(value) >= matters else "amber"


def bracket_audit_interval(found: IntervalEstimate, digits: int = 2) -> str:
    """The interval in square brackets, or that there is none."""
    if found.low is None or found.high is None:
        return f"(no interval from {format_plural(found.n, 'sample')})"
    return f"[{format_number(found.low, digits)}, {format_number(found.high, digits)}]"
