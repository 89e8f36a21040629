"""Layout of SVG charts: axes, rows of intervals, and plots of one number against another."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from evenhand.report.html.formats import format_report_short_number


class AxisTick(NamedTuple):
    """A labelled place on the axis."""

    at: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartAxis:
    """A stretch of numbers laid over a stretch of the chart's width, in per cent."""

    low: float
    high: float
    left: float
    right: float

    @classmethod
    def around_zero(cls, *values: float, left: float, right: float) -> Self:
        """An axis with 0 in its middle that holds all the values."""
        reach = 1.08 * max(map(abs, values), default=0.0) or 1.0
        return cls(low=-reach, high=reach, left=left, right=right)

    @classmethod
    def holding(cls, *values: float, left: float, right: float) -> Self:
        """An axis from the lowest to the highest of the values, with some room about a value that stands alone."""
        low, high = min(values), max(values)
        room = 0.0 if high - low > 1e-9 * max(abs(low), abs(high)) else 0.1 * abs(low) or 0.5
        return cls(low=low - room, high=high + room, left=left, right=right)

    def at(self, value: float) -> float:
        """The place of a value; what lies outside stands at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 2)

    def ticks(self, most: int = 5, *, whole: bool = False) -> tuple[AxisTick, ...]:
        """Round numbers inside the stretch, at most `most` of them; whole ones where things are counted."""
        values = self.find_round_values(most, whole=whole)
        return tuple(AxisTick(self.at(value), format_report_short_number(value + 0.0) or "") for value in values)

    def find_round_values(self, most: int, *, whole: bool = False) -> list[float]:
        """Round numbers inside the stretch, at most `most` of them."""
        least = max((self.high - self.low) / most, 1.0 if whole else 0.0)
        magnitude = 10.0 ** math.floor(math.log10(least))
        steps = (round(factor * magnitude, 12) for factor in (1, 2, 5, 10, 20, 50))
        step = next(step for step in steps if self._inside(step) <= most)
        first = math.ceil(self.low / step - 1e-9)
        return [(first + number) * step for number in range(self._inside(step))]

    def _inside(self, step: float) -> int:
        return math.floor(self.high / step + 1e-9) - math.ceil(self.low / step - 1e-9) + 1


LONGEST_ROW_NAME = 14  # Characters of a name that stands beside its row; longer ones stand above.


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """One estimate, drawn as a point on its interval; an open end is one without a bound."""

    name: str
    kind: str
    y: float = 0.0
    at: float | None = None
    low: float | None = None
    high: float | None = None
    value: str | None = None
    bounds: str | None = None
    open_low: bool = False
    open_high: bool = False


class ChartGroup(NamedTuple):
    """A heading over rows."""

    y: float
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChart:
    """All that is drawn, and the same in words."""

    title: str
    says: str
    height: float
    above: bool
    ticks: tuple[AxisTick, ...]
    rows: tuple[IntervalRow, ...]
    groups: tuple[ChartGroup, ...]
    zero: float | None
    across: str
    mark: AxisTick | None = None  # A line through all rows, with a name: a limit.


@dataclass(slots=True, kw_only=True)
class ChartLayout:
    """Rows and headings as they are added, from the top down, in pixels; across, in per cent of the width."""

    above: bool
    y: float
    left: float
    right: float = 67.0
    rows: list[IntervalRow] = field(default_factory=list)
    groups: list[ChartGroup] = field(default_factory=list)

    @classmethod
    def for_names(cls, names: Iterable[str], *, sides: bool = False) -> Self:
        """The layout that these names need, with or without a line that names the two sides of zero."""
        above = any(len(name) > LONGEST_ROW_NAME for name in names)
        return cls(above=above, y=24 if sides else 6, left=2.0 if above else 27.0)

    def group(self, name: str) -> None:
        """Add a heading."""
        self.y += 6 if self.groups else 0
        self.groups.append(ChartGroup(y=self.y + 11, name=name))
        self.y += 22

    def row(self, row: IntervalRow) -> None:
        """Add a row."""
        self.y += 22 if self.above else 0
        self.rows.append(replace(row, y=self.y + 13))
        self.y += 26

    def chart(
        self,
        title: str,
        says: str,
        axis: ChartAxis,
        zero: float | None = None,
        across: str = "",
        mark: AxisTick | None = None,
    ) -> IntervalChart:
        """The chart of all that was added; `across` is what its axis counts, `mark` a line through all rows."""
        return IntervalChart(
            title=title, says=says, height=self.y + (42 if across else 24), above=self.above, ticks=axis.ticks(),
            rows=tuple(self.rows), groups=tuple(self.groups), zero=zero, across=across, mark=mark,
        )  # fmt: skip


PLOT_LEFT, PLOT_RIGHT = 12.0, 97.0  # Per cent; before it stand the labels of the upright axis.
# Pixels; above stands what the upright axis counts, below the other one.
PLOT_TOP, PLOT_BOTTOM = 26.0, 178.0

PlotPoint = tuple[float, float]


class PlotShape(NamedTuple):
    """A line, a stretch of ground, or many dots as one path, which costs a tenth of as many circles."""

    kind: str
    path: str


class PlotDot(NamedTuple):
    """A point of some size."""

    x: float
    y: float
    r: float
    kind: str = ""


class PlotBlock(NamedTuple):
    """A bar that stands on the axis."""

    x: float
    y: float
    width: float
    height: float
    kind: str


class PlotRule(NamedTuple):
    """A straight line through the whole plot, upright where `x` is given."""

    kind: str
    x: float | None = None
    y: float | None = None
    top: float = PLOT_TOP


class PlotNote(NamedTuple):
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
    across_ticks: tuple[AxisTick, ...]
    up_ticks: tuple[AxisTick, ...]
    shapes: tuple[PlotShape, ...] = ()
    blocks: tuple[PlotBlock, ...] = ()
    rules: tuple[PlotRule, ...] = ()
    dots: tuple[PlotDot, ...] = ()
    notes: tuple[PlotNote, ...] = ()


def make_horizontal_chart_axis(*values: float, right: float = PLOT_RIGHT) -> ChartAxis:
    """The lying axis that holds these values."""
    return ChartAxis.holding(*values, left=PLOT_LEFT, right=right)


def make_vertical_chart_axis(*values: float, top: float = PLOT_TOP) -> ChartAxis:
    """The upright axis that holds these values."""
    return ChartAxis.holding(*values, left=PLOT_BOTTOM, right=top)


def draw_plot_line(
    kind: str, x: ChartAxis, y: ChartAxis, points: Iterable[PlotPoint], *, closed: bool = False
) -> PlotShape:
    """A line from point to point; closed, it is the ground within them."""
    return PlotShape(kind=kind, path="M" + "L".join(_format_svg_path_places(x, y, points)) + ("Z" if closed else ""))


def draw_plot_dots(kind: str, x: ChartAxis, y: ChartAxis, points: Iterable[PlotPoint]) -> PlotShape:
    """Dots of one size; equal ones are drawn once."""
    places = dict.fromkeys(_format_svg_path_places(x, y, points))
    return PlotShape(kind=kind, path="".join(f"M{place}h.01" for place in places))


def _format_svg_path_places(x: ChartAxis, y: ChartAxis, points: Iterable[PlotPoint]) -> list[str]:
    return [f"{x.at(one):g} {y.at(other):g}" for one, other in points]
