"""Scores on the scale of the method, its bands shaded: alone, side by side, and before a challenge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evenhand.loading import load_method
from evenhand.report.html._axis import Axis, Tick
from evenhand.report.html._figures import short

LONGEST = 10  # Characters of a name that stands beside its row; longer ones stand above.
RIGHT = 71.0  # Per cent; after it stand the numbers.
TOP = 22.0  # Pixels; above stand the letters of the bands.


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The scores of one thing; what was not measured, or may not be seen, is None."""

    name: str
    alone: float | None = None
    together: float | None = None
    before: float | None = None
    first: bool = False

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return self.alone is not None or self.together is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A band as it is shaded."""

    id: str
    x: float
    width: float
    middle: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row as it is drawn: places across in per cent."""

    name: str
    y: float
    first: bool
    alone: float | None
    together: float | None
    before: float | None
    value: str
    aside: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleChart:
    """All that is drawn, and the same in words."""

    title: str
    says: str
    height: float
    above: bool
    value_at: float
    bands: tuple[Band, ...]
    grounds: tuple[tuple[float, float], ...]  # From where down, and how high, the bands are shaded.
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    kinds: tuple[str, ...]


def scale_chart(
    title: str, measured: Sequence[Measured], written: Callable[[float], str | None] = short
) -> ScaleChart | None:
    """The chart of these scores, each number as it is written there; None where nothing is known."""
    if not any(one.known for one in measured):
        return None
    above = any(len(one.name) > LONGEST for one in measured)
    axis = Axis(low=0, high=100, left=1.0 if above else 20.0, right=RIGHT)
    step = 46 if above else 26
    first = TOP + (33 if above else 13)
    rows = tuple(_row(one, axis, first + place * step, written) for place, one in enumerate(measured))
    kinds = [kind for kind in ("together", "alone", "before") if any(getattr(row, kind) is not None for row in rows)]
    grounds = [(row.y - 10, 20.0) for row in rows] if above else [(TOP - 4, len(rows) * step + 8.0)]
    return ScaleChart(
        title=title, says="; ".join(map(_said, measured)), height=TOP + len(rows) * step + 24, above=above,
        value_at=RIGHT + 2, bands=tuple(_bands(axis)), grounds=tuple(grounds), ticks=_edges(axis), rows=rows,
        kinds=tuple(kinds),
    )  # fmt: skip


def _row(one: Measured, axis: Axis, y: float, written: Callable[[float], str | None]) -> Row:
    alone, together, before = (None if value is None else axis.at(value) for value in (one.alone, one.together,
                                                                                       one.before))  # fmt: skip
    value = one.alone if one.together is None else one.together
    aside = f" · {written(one.alone)} alone" if one.together is not None and one.alone is not None else ""
    return Row(name=one.name, y=y, first=one.first, alone=alone, together=together, before=before,
               value=(value is not None and written(value)) or "not scored", aside=aside)  # fmt: skip


def _said(one: Measured) -> str:
    known = (("side by side", one.together), ("alone", one.alone), ("side by side before the challenge", one.before))
    said = ", ".join(f"{short(value)} {how}" for how, value in known if value is not None)
    return f"{one.name}: {said or 'not scored'}"


def _bands(axis: Axis) -> Iterator[Band]:
    """From the lowest score of a band up to that of the one above, so that no mean falls between two."""
    upper = 100.0
    for id, lowest in _lowest():
        left, right = axis.at(lowest), axis.at(upper)
        yield Band(id=id, x=left, width=round(right - left, 2), middle=round((left + right) / 2, 2))
        upper = lowest


def _edges(axis: Axis) -> tuple[Tick, ...]:
    values = [100.0, *(lowest for _, lowest in _lowest())]
    return tuple(Tick(axis.at(value), short(value) or "") for value in values)


@cache
def _lowest() -> tuple[tuple[str, float], ...]:
    """The bands of the method from the best down, each with its lowest score."""
    scale = load_method("oracle").criterion_scale
    bands = scale.bands if scale else ()
    return tuple(sorted(((one.id, float(one.min)) for one in bands), key=lambda one: -one[1]))
