"""Charts of differences against zero: composite, layers and criteria, each on the scale it was measured on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report._figures import figure
from evenhand.report.html._axis import Axis
from evenhand.report.html._chart import Chart, Layout, Row
from evenhand.report.html._figures import number, scale
from evenhand.report.html._intervals import Estimate, level_of, told

Groups = Mapping[str, Mapping[str, Estimate]]
Ends = tuple[float, ...] | None
POINTS = (1, 5)  # The scale of the composite and of every layer.


def overview_chart(comparisons: Sequence[Mapping[str, Any]]) -> Chart | None:
    """The composite of every comparison, or composite and layers of the only one, where anything was measured."""
    if len(comparisons) > 1:
        control = comparisons[0]["control"]
        return _chart({"": {one["treatment"]: one["composite"] for one in comparisons}}, f"Composite, minus {control}")
    for one in comparisons:
        return _chart({"": _layers(one)}, _pair(one))
    return None


def difference_charts(comparison: Mapping[str, Any], scales: Mapping[str, Sequence[float] | None]) -> list[Chart]:
    """Composite, layers and criteria of one comparison against zero: a chart for each of the scales they are on."""
    by_scale: dict[Ends, dict[str, Mapping[str, Estimate]]] = {POINTS: {"composite and layers": _layers(comparison)}}
    criteria: dict[Ends, dict[str, Estimate]] = {}
    for id, one in comparison.get("criteria", {}).items():
        ends = scales.get(id)
        criteria.setdefault(tuple(ends) if ends else None, {})[id] = one
    for known, several in criteria.items():
        by_scale.setdefault(known, {})["criteria"] = several
    drawn = (_titled(groups, comparison, ends) for ends, groups in by_scale.items())
    return [chart for chart in drawn if chart]


def _layers(comparison: Mapping[str, Any]) -> Mapping[str, Estimate]:
    return {"composite": comparison["composite"], **comparison["layers"]}


def _pair(comparison: Mapping[str, Any]) -> str:
    return f"{comparison['treatment']} minus {comparison['control']}"


def _titled(groups: Groups, comparison: Mapping[str, Any], ends: Ends) -> Chart | None:
    on = f" on {scale(ends)}" if ends else ""
    names = "composite, layers and criteria" if len(groups) > 1 else next(iter(groups)) + on
    across = f"difference, in points on the scale {scale(ends)}" if ends else "difference, on the criterion's own scale"
    return _chart(groups, f"{names.capitalize()}: {_pair(comparison)}", ends, across)


def _chart(groups: Groups, title: str, ends: Ends = None, across: str = "") -> Chart | None:
    layout = Layout.of((name for estimates in groups.values() for name in estimates), sides=True)
    known = [one for estimates in groups.values() for one in estimates.values() if one and one["estimate"] is not None]
    values = [one[key] for one in known for key in ("low", "high", "estimate") if one[key] is not None]
    if not values:
        return None
    axis = Axis.around_zero(*values, left=layout.left, right=layout.right)
    for group, estimates in groups.items():
        if len(groups) > 1:
            layout.group(group)
        for name, one in estimates.items():
            layout.row(_row(name, axis, one, ends))
    said = ", ".join(_said(name, one, ends) for estimates in groups.values() for name, one in estimates.items())
    grey = "; grey where 0 is inside" if across and any(row.kind == "open" for row in layout.rows) else ""
    return layout.chart(f"{title}{level_of(known)}{grey}", said, axis, zero=axis.at(0), across=across)


def _row(name: str, axis: Axis, one: Estimate, ends: Ends) -> Row:
    """A row of its estimate; an interval without a bound runs to the edge of the chart."""
    if one is None or one["estimate"] is None:
        return Row(name=name, kind="open")
    low, high = one["low"], one["high"]
    return Row(
        name=name, kind=_kind(low, high), at=axis.at(one["estimate"]),
        low=axis.left if low is None else axis.at(low), high=axis.right if high is None else axis.at(high),
        open_low=low is None, open_high=high is None,
        value=figure(one["estimate"], ends, signed=True), bounds=_reach(low, high, ends),
    )  # fmt: skip


def _kind(low: float | None, high: float | None) -> str:
    """Which side of zero the whole interval lies on, if on one."""
    return "up" if low is not None and low > 0 else "down" if high is not None and high < 0 else "open"


def _reach(low: float | None, high: float | None, ends: Ends) -> str:
    """An interval in words; where there are too few samples, an end has no bound."""
    if low is None and high is None:
        return "no bounds"
    if low is None or high is None:
        return f"below {number(high, ends)}" if low is None else f"above {number(low, ends)}"
    return f"{number(low, ends)} to {number(high, ends)}"


def _said(name: str, one: Estimate, ends: Ends) -> str:
    if one is None or one["estimate"] is None:
        return told(name, None, None)
    return told(name, figure(one["estimate"], ends, signed=True), _reach(one["low"], one["high"], ends))
