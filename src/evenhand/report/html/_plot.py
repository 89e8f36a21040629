"""One number against another as it is laid out: across in per cent of the width, down in pixels, for any screen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.report.html._axis import Axis, Tick

LEFT, RIGHT = 12.0, 97.0  # Per cent; before it stand the labels of the upright axis.
TOP, BOTTOM, HEIGHT = 26.0, 178.0, 216.0  # Pixels; above stands what the upright axis counts, below the other one.

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A line, a stretch of ground, or many dots as one path, which costs a tenth of as many circles."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point of some size."""

    x: float
    y: float
    r: float
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A bar that stands on the axis."""

    x: float
    y: float
    width: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A straight line through the whole plot, upright where `x` is given."""

    kind: str
    x: float | None = None
    y: float | None = None
    top: float = TOP


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A few words beside what they are about."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    dx: float = 0.0
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """All that is drawn, and the same in words. `name` and `about` stand above it, `across` and `up` at its axes."""

    name: str
    about: str
    says: str
    across: str
    up: str
    across_ticks: tuple[Tick, ...]
    up_ticks: tuple[Tick, ...]
    shapes: tuple[Shape, ...] = ()
    blocks: tuple[Block, ...] = ()
    rules: tuple[Rule, ...] = ()
    dots: tuple[Dot, ...] = ()
    notes: tuple[Note, ...] = ()


def across(*values: float, right: float = RIGHT) -> Axis:
    """The lying axis that holds these values."""
    return Axis.holding(*values, left=LEFT, right=right)


def up(*values: float, top: float = TOP) -> Axis:
    """The upright axis that holds these values."""
    return Axis.holding(*values, left=BOTTOM, right=top)


def line(kind: str, x: Axis, y: Axis, points: Iterable[Point]) -> Shape:
    """A line from point to point."""
    return Shape(kind=kind, path="M" + "L".join(_places(x, y, points)))


def ground(kind: str, x: Axis, y: Axis, points: Iterable[Point]) -> Shape:
    """The ground within these points."""
    return Shape(kind=kind, path="M" + "L".join(_places(x, y, points)) + "Z")


def cloud(kind: str, x: Axis, y: Axis, points: Iterable[Point]) -> Shape:
    """Dots of one size; equal ones are drawn once."""
    return Shape(kind=kind, path="".join(f"M{place}h.01" for place in dict.fromkeys(_places(x, y, points))))


def _places(x: Axis, y: Axis, points: Iterable[Point]) -> list[str]:
    return [f"{x.at(one):g} {y.at(other):g}" for one, other in points]
