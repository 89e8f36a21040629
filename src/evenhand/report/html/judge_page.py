"""What a page shows of the judges of a run: cost and speed of each, how far they agree, and what an audit found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from evenhand.calibrate.audits.findings import Audit, AuditFinding
from evenhand.report.html.chart_layout import AxisTick, ChartAxis, ChartLayout, IntervalRow
from evenhand.report.html.formats import format_page_duration
from evenhand.report.html.judge_charts import draw_agreement_heat_map, draw_people_plots
from evenhand.report.html.page_tables import (
    build_page_judge_columns,
    describe_judge_calls_on_page,
    describe_unknown_agreement_on_page,
    list_cascade_cells,
    list_people_scale_cells,
)
from evenhand.report.html.trust_section import build_trust_section
from evenhand.wording import format_dollar_amount, format_number

Head = Mapping[str, Any]
FIT_TONES = {"yes": "good", "no": "bad", "with care": "warn"}


def build_judge_page(head: Head) -> dict[str, Any]:
    """All that the template is given of the judges of a run."""
    return {
        **head,
        "judge_columns": build_page_judge_columns(head["judges"]),
        "judge_calls": describe_judge_calls_on_page(head["judges"]),
        "unknown_agreement": describe_unknown_agreement_on_page(head["agreement"]),
        "heat": draw_agreement_heat_map(head["agreement"]),
        "cascade": list_cascade_cells(head.get("cascade")),
        "people_scale": list_people_scale_cells(head.get("people_scale")),
        "people": [],  # They take all answers, and come with the audit.
        "bars": _draw_judge_bars(head["judges"]),
    }


def _draw_judge_bars(judges: Sequence[Head]) -> list[SimpleNamespace]:
    """Cost and time of a call by judge, where any has some."""
    drawn = [
        _draw_bars("Cost of all calls", "dollars", judges, _find_cost, format_dollar_amount),
        _draw_bars("Time of a call, median", "seconds", judges, _find_seconds, format_page_duration),
    ]
    return [one for one in drawn if one is not None]


def _find_cost(judge: Head) -> float | None:
    return None if judge["cost"] is None else float(judge["cost"])


def _find_seconds(judge: Head) -> float | None:
    return (judge["seconds"] or {}).get("median")


def _draw_bars(
    title: str,
    across: str,
    judges: Sequence[Head],
    find: Callable[[Head], float | None],
    tell: Callable[[float], str | None],
) -> SimpleNamespace | None:
    values = {judge["name"]: find(judge) for judge in judges}
    most = max((value for value in values.values() if value is not None), default=0.0)
    if most <= 0:
        return None
    layout = ChartLayout.for_names(values)
    axis = ChartAxis(low=0, high=most, left=layout.left, right=80)
    layout.group(title)
    for name, value in values.items():
        at = axis.at(value or 0.0)
        layout.row(IntervalRow(name=name, kind="only", at=at, value="–" if value is None else tell(value)))
    rows = [SimpleNamespace(name=row.name, y=row.y, kind=row.kind, at=row.at, turn=None, value=row.value)
            for row in layout.rows]  # fmt: skip
    says = "; ".join(f"{row.name}: {row.value}" for row in rows)
    ticks: tuple[AxisTick, ...] = ()
    return SimpleNamespace(
        title="By judge, in this run", says=says, height=layout.y + 42, above=layout.above, left=axis.left,
        across=across, ticks=ticks, groups=layout.groups, rows=rows,
    )  # fmt: skip


def build_audit_part(audit: Audit, head: Head) -> dict[str, Any]:
    """What takes all answers: the findings of an audit, and judges against people, where some labelled outputs."""
    scales = {id: one["scale"] for variant in head["variants"] for id, one in variant["criteria"].items()}
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in audit.findings:
        if one.value is None:
            unknown.setdefault((one.name, one.says.removeprefix("not known: ")), []).append(_name_audited(one))
    return {
        "run": head["run"],
        "people": draw_people_plots(head.get("labels"), scales.values()),
        "trusted": build_trust_section(head.get("trust")),
        "audit": audit,
        "audit_tone": FIT_TONES.get(audit.fit, "calm"),
        "measured": [_show_finding(one) for one in audit.findings if one.value is not None],
        "unknown": [(name, ", ".join(of), why) for (name, why), of in unknown.items()],
    }


def _show_finding(one: AuditFinding) -> SimpleNamespace:
    digits = 3 if one.unit.endswith("characters") else 2
    ends = [format_number(end, digits) for end in (one.low, one.high) if end is not None]
    value = format_number(one.value or 0.0, digits)
    return SimpleNamespace(given=one, of=_name_audited(one), value=value, interval=" to ".join(ends))


def _name_audited(one: AuditFinding) -> str:
    return f"{one.judge}, {one.criterion}" if one.criterion else one.judge
