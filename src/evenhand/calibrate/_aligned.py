"""Whether what the judges say is what people say: the badge, and the answer to "can I trust these judges?"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evenhand.calibrate._figures import Figure, alpha
from evenhand.calibrate._jackknife import LEAST_SAMPLES
from evenhand.calibrate._labelled import Labelled, labelled
from evenhand.calibrate._labels import Label
from evenhand.calibrate._pairs import against_people
from evenhand.calibrate._words import number, plural, too_few
from evenhand.runs import Table
from evenhand.stats import AGREED, band

Colour = Literal["green", "amber", "red", "grey"]
_SHARPEN = f"Sharpen the rubric, or ask other judges, until α reaches {AGREED}: evenhand calibrate says which."


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
    """The same from outputs that have labels; grey where these are too few to tell."""
    if not labelled.judges:
        return _not_known(Figure(value=None, method="", n=0, samples=0, why="no judge answered anything"))
    found = alpha(against_people(labelled, labelled.answerers[-1], labelled.overall))
    if found.samples < LEAST_SAMPLES:
        return _not_known(replace(found, why=_few(found.samples, labelled.samples)), LEAST_SAMPLES - found.samples)
    if found.value is None:
        return _not_known(found)
    colour = band(found.value)
    return Aligned(
        colour=colour,
        alpha=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        samples=found.samples,
        says=_says(found.value, found),
        advice="" if colour == "green" else _SHARPEN,
    )


def _not_known(found: Figure, more: int = 0) -> Aligned:
    which = plural(more, "more sample") if more else "more outputs, good ones and bad ones"
    return Aligned(
        colour="grey",
        alpha=None,
        low=None,
        high=None,
        n=found.n,
        samples=found.samples,
        says=found.why,
        advice=f"Have people score {which}.",
    )


def _few(answered: int, labelled: int) -> str:
    more = "with an answer of the judges" if answered < labelled else ""
    return too_few(answered, "labelled sample", LEAST_SAMPLES, more=more, to="to tell")


def _says(value: float, found: Figure) -> str:
    ends = "" if found.low is None or found.high is None else f"{number(found.low)} to {number(found.high)}"
    interval = f", 95 % interval {ends}" if ends else ""
    return f"Krippendorff's α {number(value)}{interval}, {plural(found.n, 'labelled output')}"
