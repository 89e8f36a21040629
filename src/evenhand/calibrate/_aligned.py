"""Whether what the judges say is what people say: the badge, and the answer to "can I trust these judges?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.calibrate._figures import Figure, alpha
from evenhand.calibrate._labelled import Labelled, labelled
from evenhand.calibrate._labels import Label
from evenhand.calibrate._pairs import against_people
from evenhand.runs import Table

Colour = Literal["green", "amber", "red", "grey"]
GREEN, AMBER = 0.667, 0.4
_NEARLY = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """α between the panel, or the only judge, and people over all labelled outputs; None where there is none."""

    colour: Colour
    alpha: float | None
    low: float | None
    high: float | None
    n: int  # Outputs.
    samples: int
    says: str
    advice: str


def aligned(table: Table, labels: Sequence[Label]) -> Aligned:
    """The badge "human-aligned" of a run; grey without labels."""
    if not labels:
        advice = "Have people score some of the outputs."
        return Aligned(colour="grey", alpha=None, low=None, high=None, n=0, samples=0, says="no labels", advice=advice)
    return alignment(labelled(table, labels))


def alignment(labelled: Labelled) -> Aligned:
    """The same from outputs that have labels."""
    if not labelled.judges:
        found = Figure(value=None, method="", n=0, samples=0, why="no judge answered anything")
    else:
        found = alpha(against_people(labelled, labelled.answerers[-1], labelled.overall))
    return Aligned(
        colour=colour_of(found.value),
        alpha=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        samples=found.samples,
        says=_says(found),
        advice=_advice(found.value),
    )


def colour_of(value: float | None) -> Colour:
    """The band that an α lies in."""
    if value is None:
        return "grey"
    return "green" if value + _NEARLY >= GREEN else "amber" if value + _NEARLY >= AMBER else "red"


def _says(found: Figure) -> str:
    if found.value is None:
        return found.why
    interval = "" if found.low is None else f", 95 % interval {found.low:.2f} to {found.high:.2f}"
    outputs = "1 labelled output" if found.n == 1 else f"{found.n:,} labelled outputs"
    return f"Krippendorff's α {found.value:.2f}{interval}, {outputs}"


def _advice(value: float | None) -> str:
    if value is None:
        return "Have people score more outputs, good ones and bad ones."
    if value + _NEARLY >= GREEN:
        return ""
    return f"Sharpen the rubric, or ask other judges, until α reaches {GREEN}: evenhand calibrate says which."
