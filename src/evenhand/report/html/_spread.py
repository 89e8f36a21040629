"""How the differences of the samples are spread about zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from evenhand.report._figures import times
from evenhand.report.html._axis import Axis
from evenhand.report.html._figures import count, short, signed
from evenhand.report.html._plot import LEFT, RIGHT, Block, Note, Plot, Rule, up

Bar = tuple[float, float, int]  # From, to, and how many samples.
ROOF = 62.0  # Pixels: below the words about the two sides and the mean.


def spread_plot(comparison: Mapping[str, Any]) -> Plot | None:
    """The differences of one comparison, sample by sample, as bars with zero and the mean marked."""
    found = comparison.get("distribution")
    if not found or not sum(found["counts"]):
        return None
    edges, counts, mean = found["edges"], found["counts"], found["mean"]
    x, y = Axis.around_zero(*edges, mean, left=LEFT, right=RIGHT), up(0, max(counts), top=ROOF)
    bars = [(low, high, number) for (low, high), number in zip(pairwise(edges), counts, strict=True) if number]
    said = ", ".join(f"{short(low)} to {short(high)}: {count(number)}" for low, high, number in bars)
    return Plot(
        name=f"How the difference is spread over {times(sum(counts), 'sample')}",
        about=f"{comparison['treatment']} minus {comparison['control']}",
        says=f"{_sides(comparison)}; mean {signed(mean)}; {said}",
        across="difference of the composite, in points",
        up="samples",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(3, whole=True),
        blocks=tuple(block for bar in bars for block in _blocks(x, y, bar, _parts(bar, bars, comparison))),
        rules=(Rule(kind="zero", x=x.at(0), top=20), Rule(kind="mean", x=x.at(mean), top=40)),
        notes=(*_around(x.at(0), comparison), _mean(x.at(mean), mean)),
    )


def _sides(comparison: Mapping[str, Any]) -> str:
    return f"{count(comparison['losses'])} worse, {count(comparison['ties'])} equal, {count(comparison['wins'])} better"


def _parts(bar: Bar, bars: Sequence[Bar], comparison: Mapping[str, Any]) -> dict[str, int]:
    """How many of a bar are worse, equal and better; where it meets zero, what the other bars leave over."""
    side = _side(bar, bars)
    if side:
        return {side: bar[2]}
    if bar[0] < 0 < bar[1]:  # It lies on both sides: any colour but grey would be wrong on one of them.
        return {"open": bar[2]}
    below, above = (sum(one[2] for one in bars if _side(one, bars) == kind) for kind in ("down", "up"))
    found = {"down": comparison["losses"] - below, "open": comparison["ties"], "up": comparison["wins"] - above}
    return found if min(found.values()) >= 0 and sum(found.values()) == bar[2] else {"open": bar[2]}


def _side(bar: Bar, bars: Sequence[Bar]) -> str:
    """The side of zero on which a bar lies, or none: it reaches from its lower edge to just below the upper one."""
    low, high, _ = bar
    return "up" if low > 0 else "down" if high < 0 or (high == 0 and bar != bars[-1]) else ""


def _blocks(x: Axis, y: Axis, bar: Bar, parts: Mapping[str, int]) -> Iterator[Block]:
    """A bar in the colour of its side; what is equal is a part of its own."""
    left, below = x.at(bar[0]), 0
    width = round(max(x.at(bar[1]) - left, 0.8), 2)
    for kind, many in parts.items():
        floor, roof = y.at(below), min(y.at(below + many), y.at(below) - 2)  # One of a thousand is still seen.
        below += many
        if many:
            yield Block(x=left, y=roof, width=width, height=round(floor - roof, 2), kind=kind)


def _around(zero: float, comparison: Mapping[str, Any]) -> tuple[Note, ...]:
    ties = f", {count(comparison['ties'])} equal" if comparison["ties"] else ""
    return (
        Note(x=zero, y=30, dx=-8, text=f"{count(comparison['losses'])} worse", anchor="end"),
        Note(x=zero, y=30, dx=8, text=f"{count(comparison['wins'])} better{ties}"),
    )


def _mean(at: float, mean: float) -> Note:
    """Beside its line, on the side where there is room."""
    left = at > 72 or (mean < 0 and at > 35)
    return Note(x=at, y=50, dx=-6 if left else 6, text=f"mean {signed(mean)}", anchor="end" if left else "start",
                kind="strong")  # fmt: skip
