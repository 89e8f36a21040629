"""Charts of other weights: who comes first how often, and where each weight would turn the ranking."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from evenhand.report.html.chart_layout import AxisTick, ChartAxis, ChartLayout, IntervalRow
from evenhand.report.html.formats import format_count, format_page_percent

MOST_VARIANTS, MOST_PARTS = 8, 20  # Rows of a chart; those that come first, and those that weigh most.

WEIGHT_KINDS = {"near weights": "only", "any weights": "control"}  # The second in grey.


def draw_sensitivity_charts(found: Mapping[str, Any] | None) -> list[SimpleNamespace]:
    """The ranking by criteria and the one by layers, where they were put to the test."""
    rankings = [found, found.get("layers")] if found else []
    return [_draw_weight_ranking(one, found["draws"]) for one in rankings if one and found]


def _draw_weight_ranking(one: Mapping[str, Any], draws: int) -> SimpleNamespace:
    parts = len(one["by_weight"])
    unlisted = parts + one.get("not_listed", 0) - min(parts, MOST_PARTS)
    left_out = {"variants": len(one["order"]) - MOST_VARIANTS, one["of"]: unlisted}
    more = [f"{format_count(number)} more {what} are not drawn." for what, number in left_out.items() if number > 0]
    note = " ".join([*([one["note"]] if one.get("note") else []), *more])
    charts = (_draw_win_shares(one, draws), _draw_turning_weights(one))
    return SimpleNamespace(name=f"By {one['of']}", note=note, charts=charts)


def _draw_win_shares(one: Mapping[str, Any], draws: int) -> SimpleNamespace:
    shown = one["order"][:MOST_VARIANTS]
    wins = {"near weights": one["wins"], **({"any weights": one["anywhere"]["wins"]} if one.get("anywhere") else {})}
    rows = [(name, kind, shares.get(name) or 0.0) for name in shown for kind, shares in wins.items()]
    layout = ChartLayout.for_names(kind for _, kind, _ in rows)
    axis = ChartAxis(low=0, high=1, left=layout.left, right=84)
    for name, kind, share in rows:
        if not layout.groups or layout.groups[-1].name != name:
            layout.group(name)
        value = _format_whole_percent(share)
        layout.row(IntervalRow(name=kind, kind=WEIGHT_KINDS[kind], at=axis.at(share), value=value))
    said = "; ".join(f"{name} is first under {_format_whole_percent(share)} of {kind}" for name, kind, share in rows)
    title = f"How often each variant comes first under {format_count(draws)} random weightings"
    return _build_weight_chart(layout, axis, f"{title}, near those of the rubric and any", said, "share of weightings")


def _draw_turning_weights(one: Mapping[str, Any]) -> SimpleNamespace:
    parts = sorted(one["by_weight"], key=lambda part: -part["weight"])[:MOST_PARTS]
    layout = ChartLayout.for_names(part["criterion"] for part in parts)
    axis = ChartAxis(low=0, high=1, left=layout.left, right=71)
    for part in parts:  # The line of a row runs to where the ranking turns.
        turn = part["flip_at"]
        layout.row(
            IntervalRow(
                name=part["criterion"],
                kind="open" if turn is None else "turns",
                at=axis.at(part["weight"]),
                low=None if turn is None else axis.at(turn),
                value=_describe_turning_weight(part),
            )
        )
    said = "; ".join(f"{part['criterion']}: {_describe_turning_weight(part)}" for part in parts)
    what = "criterion" if one["of"] == "criteria" else "layer"
    title = f"Weight of each {what} now (point), and where {one['order'][0]} is no longer first (cross)"
    return _build_weight_chart(layout, axis, title, said, "weight, others in proportion")


def _describe_turning_weight(part: Mapping[str, Any]) -> str:
    """The weight, and the one at which the ranking turns."""
    weight, turn = _format_whole_percent(part["weight"]), part["flip_at"]
    return f"{weight}, never" if turn is None else f"{weight} → {_format_whole_percent(turn)}"


def _format_whole_percent(share: float) -> str:
    """Whole per cent; what is not all is never written as all, nor what is something as nothing."""
    rounded = min(max(round(share, 2), 0.01), 0.99) if 0 < share < 1 else share
    return format_page_percent(rounded) or ""


def _build_weight_chart(layout: ChartLayout, axis: ChartAxis, title: str, said: str, across: str) -> SimpleNamespace:
    ticks = tuple(AxisTick(axis.at(share), format_page_percent(share) or "") for share in (0, 0.25, 0.5, 0.75, 1))
    rows = [
        SimpleNamespace(name=row.name, y=row.y, kind=row.kind, at=row.at or axis.left, turn=row.low, value=row.value)
        for row in layout.rows
    ]
    return SimpleNamespace(
        title=title, says=said, height=layout.y + 42, above=layout.above, left=axis.left, across=across, ticks=ticks,
        groups=layout.groups, rows=rows,
    )  # fmt: skip
