"""Whether the ranking survives other weights: who comes first how often, and where each weight would turn it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.report.html._axis import Axis, Tick
from evenhand.report.html._chart import Group, Layout, Row
from evenhand.report.html._figures import count, percent

MOST_VARIANTS, MOST_PARTS = 8, 20  # Rows of a chart; those that come first, and those that weigh most.

KINDS = {"near weights": "only", "any weights": "control"}  # The second in grey.


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A row: a bar from 0 to `at`, or a point at `at` with a line to the place where the ranking turns."""

    name: str
    y: float
    kind: str
    at: float
    turn: float | None
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracks:
    """All that is drawn, and the same in words."""

    title: str
    says: str
    height: float
    above: bool
    left: float
    across: str
    ticks: tuple[Tick, ...]
    groups: tuple[Group, ...]
    rows: tuple[Track, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What became of the ranking by criteria or by layers."""

    name: str
    note: str
    charts: tuple[Tracks, ...]


def weighed(found: Mapping[str, Any] | None) -> list[Weighed]:
    """The ranking by criteria and the one by layers, where they were put to the test."""
    rankings = [found, found.get("layers")] if found else []
    return [_ranking(one, found["draws"]) for one in rankings if one and found]


def _ranking(one: Mapping[str, Any], draws: int) -> Weighed:
    parts = len(one["by_weight"]) + one.get("not_listed", 0)
    left_out = {
        "variants": len(one["order"]) - MOST_VARIANTS,
        one["of"]: parts - min(len(one["by_weight"]), MOST_PARTS),
    }
    more = [f"{count(number)} more {what} are not drawn." for what, number in left_out.items() if number > 0]
    notes = [one["note"]] if one.get("note") else []
    return Weighed(name=f"By {one['of']}", note=" ".join([*notes, *more]), charts=(_wins(one, draws), _turns(one)))


def _wins(one: Mapping[str, Any], draws: int) -> Tracks:
    shown = one["order"][:MOST_VARIANTS]
    rows = [(name, kind, shares.get(name) or 0.0) for name in shown for kind, shares in _asked(one)]
    layout = Layout.of(kind for _, kind, _ in rows)
    axis = Axis(low=0, high=1, left=layout.left, right=84)
    for name, kind, share in rows:
        if not layout.groups or layout.groups[-1].name != name:
            layout.group(name)
        layout.row(Row(name=kind, kind=KINDS[kind], at=axis.at(share), value=_share(share)))
    said = "; ".join(f"{name} is first under {_share(share)} of {kind}" for name, kind, share in rows)
    title = f"How often each variant comes first under {count(draws)} random weightings"
    return _tracks(layout, axis, f"{title}, near those of the rubric and any", said, "share of weightings")


def _asked(one: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    yield "near weights", one["wins"]
    if one.get("anywhere"):
        yield "any weights", one["anywhere"]["wins"]


def _turns(one: Mapping[str, Any]) -> Tracks:
    parts = sorted(one["by_weight"], key=lambda part: -part["weight"])[:MOST_PARTS]
    layout = Layout.of(part["criterion"] for part in parts)
    axis = Axis(low=0, high=1, left=layout.left, right=71)
    for part in parts:  # The line of a row runs to where the ranking turns.
        turn = part["flip_at"]
        layout.row(
            Row(
                name=part["criterion"],
                kind="open" if turn is None else "turns",
                at=axis.at(part["weight"]),
                low=None if turn is None else axis.at(turn),
                value=_turned(part),
            )
        )
    said = "; ".join(f"{part['criterion']}: {_turned(part)}" for part in parts)
    what = "criterion" if one["of"] == "criteria" else "layer"
    title = f"Weight of each {what} now (point), and where {one['order'][0]} is no longer first (cross)"
    return _tracks(layout, axis, title, said, "weight, others in proportion")


def _turned(part: Mapping[str, Any]) -> str:
    """The weight, and the one at which the ranking turns."""
    turn = part["flip_at"]
    return f"{_share(part['weight'])}, never" if turn is None else f"{_share(part['weight'])} → {_share(turn)}"


def _share(share: float) -> str:
    """Whole per cent; what is not all is never written as all, nor what is something as nothing."""
    rounded = min(max(round(share, 2), 0.01), 0.99) if 0 < share < 1 else share
    return percent(rounded) or ""


def _tracks(layout: Layout, axis: Axis, title: str, said: str, across: str) -> Tracks:
    ticks = tuple(Tick(axis.at(share), percent(share) or "") for share in (0, 0.25, 0.5, 0.75, 1))
    rows = tuple(
        Track(name=row.name, y=row.y, kind=row.kind, at=row.at or axis.left, turn=row.low, value=row.value or "")
        for row in layout.rows
    )
    return Tracks(
        title=title, says=said, height=layout.y + 42, above=layout.above, left=axis.left, across=across, ticks=ticks,
        groups=tuple(layout.groups), rows=rows,
    )  # fmt: skip
