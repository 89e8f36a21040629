"""Charts of counts: distributions side by side, assertions passed, and shares of a whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evenhand.report.html._axis import Axis, Tick
from evenhand.report.html._figures import percent, short

HEIGHT = 96.0  # Pixels that the highest bar of a distribution takes.


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar of a distribution."""

    x: float
    y: float
    width: float
    height: float
    middle: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How the values of one variant are spread; all variants are drawn to one height."""

    name: str
    role: str
    of: str
    says: str
    total: int
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a bar that stands for a share of the whole."""

    kind: str
    count: int
    x: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often one assertion held for one variant."""

    variant: str
    parts: tuple[Part, ...]
    passed: int
    answered: int
    unanswered: int
    share: str | None


def histograms(variants: Sequence[Mapping[str, Any]]) -> list[Histogram]:
    """The distributions of all variants that have one."""
    shown = [one for one in variants if one["distribution"] and sum(one["distribution"]["counts"])]
    most = max((max(one["distribution"]["counts"]) for one in shown), default=0)
    return [_histogram(one, most, several=len(variants) > 1) for one in shown]


def assertion_rates(variants: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, list[Rate]]]:
    """Every assertion with its layer and its rate for each variant."""
    named: dict[tuple[str, str], list[Rate]] = {}
    for variant in variants:
        for one in variant["assertion_rates"]:
            named.setdefault((one["name"], one["layer"]), []).append(_rate(variant["name"], one))
    return [(name, layer, rates) for (name, layer), rates in named.items()]


def parts(counts: Mapping[str, int]) -> tuple[Part, ...]:
    """Counts as stretches of a bar that is as long as all of them; what is 0 takes no room."""
    return tuple(_parts(counts))


def _parts(counts: Mapping[str, int]) -> Iterator[Part]:
    whole, before = sum(counts.values()), 0
    for kind, number in counts.items():
        if number:
            yield Part(kind=kind, count=number, x=round(100 * before / whole, 2), width=round(100 * number / whole, 2))
        before += number


def _histogram(variant: Mapping[str, Any], most: int, *, several: bool) -> Histogram:
    spread = variant["distribution"]
    edges, counts = spread["edges"], spread["counts"]
    axis = Axis(low=edges[0], high=edges[-1], left=2, right=98)
    stretches = list(zip(pairwise(edges), counts, strict=True))
    return Histogram(
        name=variant["name"],
        role=variant["role"] if several else "only",
        of=spread["of"],
        says=", ".join(f"{short(low)} to {short(high)}: {number}" for (low, high), number in stretches),
        total=sum(counts),
        bars=tuple(_bar(axis, low, high, number, most) for (low, high), number in stretches),
        ticks=axis.ticks(),
    )


def _bar(axis: Axis, low: float, high: float, number: int, most: int) -> Bar:
    left, right = axis.at(low), axis.at(high)
    height = max(HEIGHT * number / most, 2.0) if number else 0.0
    return Bar(
        x=left, y=round(18 + HEIGHT - height, 1), width=round(right - left, 2), height=round(height, 1),
        middle=round((left + right) / 2, 2), count=number,
    )  # fmt: skip


def _rate(variant: str, one: Mapping[str, Any]) -> Rate:
    answered = one["passed"] + one["failed"]
    return Rate(
        variant=variant,
        parts=parts({"pass": one["passed"], "fail": one["failed"], "none": one["unanswered"]}),
        passed=one["passed"],
        answered=answered,
        unanswered=one["unanswered"],
        share=percent(round(one["passed"] / answered, 3)) if answered else None,
    )
