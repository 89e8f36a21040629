"""A chart of intervals as it is laid out: rows under one another, names before or above them, numbers after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from evenhand.report.html._axis import Axis, Tick

LONGEST = 14  # Characters of a name that stands beside its row; longer ones stand above.


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A heading over rows."""

    y: float
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """All that is drawn, and the same in words."""

    title: str
    says: str
    height: float
    above: bool
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    zero: float | None
    across: str


@dataclass(slots=True, kw_only=True)
class Layout:
    """Rows and headings as they are added, from the top down, in pixels; across, in per cent of the width."""

    above: bool
    y: float
    left: float
    right: float = 67.0
    rows: list[Row] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    @classmethod
    def of(cls, names: Iterable[str], *, sides: bool = False) -> Self:
        """The layout that these names need, with or without a line that names the two sides of zero."""
        above = any(len(name) > LONGEST for name in names)
        return cls(above=above, y=24 if sides else 6, left=2.0 if above else 27.0)

    def group(self, name: str) -> None:
        """Add a heading."""
        self.y += 6 if self.groups else 0
        self.groups.append(Group(y=self.y + 11, name=name))
        self.y += 22

    def row(self, row: Row) -> None:
        """Add a row."""
        self.y += 22 if self.above else 0
        self.rows.append(replace(row, y=self.y + 13))
        self.y += 26

    def chart(self, title: str, says: str, axis: Axis, zero: float | None = None, across: str = "") -> Chart:
        """The chart of all that was added; `across` is what its axis counts."""
        return Chart(
            title=title, says=says, height=self.y + (42 if across else 24), above=self.above, ticks=axis.ticks(),
            rows=tuple(self.rows), groups=tuple(self.groups), zero=zero, across=across,
        )  # fmt: skip
