"""What a page shows of judges: cost and speed of each, how far they agree with each other and with people, as
charts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from evenhand.calibrate.audits.findings import Audit, AuditFinding
from evenhand.report.html.chart_layout import (
    AxisTick,
    ChartAxis,
    ChartLayout,
    IntervalRow,
    Plot,
    PlotDot,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import format_report_count, format_report_duration, format_report_scale
from evenhand.report.html.page_tables import (
    build_report_judge_columns,
    describe_judge_calls_in_report,
    describe_unknown_agreement_in_report,
    list_cascade_table_cells,
    list_people_scale_table_cells,
)
from evenhand.report.html.trust_section import build_trust_section
from evenhand.report.judge_names import (
    name_judges_of_report_briefly,
    name_reported_judges_briefly,
    shorten_reported_judges,
)
from evenhand.wording import format_dollar_amount, format_figure, format_number, pluralize_count

Head = Mapping[str, Any]
FIT_TONES = {"yes": "good", "no": "bad", "with care": "warn"}


def build_judge_report_page(head: Head) -> dict[str, Any]:
    """All that the template is given of the judges of a run."""
    head = name_judges_of_report_briefly(head)
    return {
        **head,
        "judge_columns": build_report_judge_columns(head["judges"]),
        "judge_calls": describe_judge_calls_in_report(head["judges"]),
        "unknown_agreement": describe_unknown_agreement_in_report(head["agreement"]),
        "heat": draw_agreement_heat_map(head["agreement"]),
        "cascade": list_cascade_table_cells(head.get("cascade")),
        "people_scale": list_people_scale_table_cells(head.get("people_scale")),
        "people": [],  # They take all answers, and come with the audit.
        "bars": _draw_judge_bars(head["judges"]),
    }


def _draw_judge_bars(judges: Sequence[Head]) -> list[SimpleNamespace]:
    """Cost and time of a call by judge, where any has some."""
    drawn = [
        _draw_bars("Cost of all calls", judges, _find_cost_for_report, format_dollar_amount),
        _draw_bars("Time of a call, median", judges, _find_seconds_for_report, format_report_duration),
    ]
    return [one for one in drawn if one is not None]


def _find_cost_for_report(judge: Head) -> float | None:
    return None if judge["cost"] is None else float(judge["cost"])


def _find_seconds_for_report(judge: Head) -> float | None:
    return (judge["seconds"] or {}).get("median")


def _draw_bars(
    title: str,
    judges: Sequence[Head],
    find: Callable[[Head], float | None],
    tell: Callable[[float], str | None],
) -> SimpleNamespace | None:
    """A bar for each judge over an axis in its units; None where no value can be told from the least that is told."""
    values = {judge["name"]: find(judge) for judge in judges}
    most = max((value for value in values.values() if value is not None), default=0.0)
    if most <= 0 or (tell(most) or "").startswith("under "):
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
    marks = {value: tell(value) if value else "0" for value in axis.find_round_values(4)}
    ticks = tuple(AxisTick(axis.at(value), label or "") for value, label in marks.items())
    return SimpleNamespace(
        title="By judge, in this run", says=says, height=layout.y + 42, above=layout.above, left=axis.left,
        across="", ticks=ticks, groups=layout.groups, rows=rows,
    )  # fmt: skip


def build_audit_section(audit: Audit, head: Head) -> dict[str, Any]:
    """What takes all answers: the findings of an audit, and judges against people, where some labelled outputs."""
    short = shorten_reported_judges(one["name"] for one in head["judges"])
    head = name_judges_of_report_briefly(head)
    scales = {id: one["scale"] for variant in head["variants"] for id, one in variant["criteria"].items()}
    unknown: dict[tuple[str, str], list[str]] = {}
    for one in audit.findings:
        if one.value is None:
            unknown.setdefault((one.name, one.says.removeprefix("not known: ")), []).append(
                _name_audited_in_report(one, short)
            )
    return {
        "run": head["run"],
        "people": draw_people_plots(head.get("labels"), scales.values()),
        "trusted": build_trust_section(head.get("trust")),
        "audit": audit,
        "short_judges": short,
        "audit_tone": FIT_TONES.get(audit.fit, "calm"),
        "measured": [_show_audit_finding_in_report(one, short) for one in audit.findings if one.value is not None],
        "unknown": [(name, ", ".join(of), why) for (name, why), of in unknown.items()],
    }


def _show_audit_finding_in_report(one: AuditFinding, short: Mapping[str, str]) -> SimpleNamespace:
    digits = 3 if one.unit.endswith("characters") else 2
    ends = [format_number(end, digits) for end in (one.low, one.high) if end is not None]
    value = format_number(one.value or 0.0, digits)
    return SimpleNamespace(given=one, of=_name_audited_in_report(one, short), value=value, interval=" to ".join(ends))


def _name_audited_in_report(one: AuditFinding, short: Mapping[str, str]) -> str:
    judge = name_reported_judges_briefly(one.judge, short)
    return f"{judge}, {one.criterion}" if one.criterion else str(judge)


LEAST_AGREEMENT = 0.4  # Below it judges do not agree enough for a verdict to rest on them.
MOST_HEAT_JUDGES = 10  # Judges: with more the numbers no longer fit into the cells of a telephone.
LONGEST_JUDGE_NAME, MOST_JUDGES_BESIDE = 11, 6  # Letters, and judges, with which names stand beside their rows.
WIDEST_CELL, CELL_HEIGHT = 16.0, 30.0  # Per cent, pixels.


def draw_agreement_heat_map(agreement: Sequence[Mapping[str, Any]]) -> SimpleNamespace | None:
    """All pairs of two to ten judges; the table beside it holds them in any case."""
    names = list(dict.fromkeys(name for one in agreement for name in one["judges"]))
    if not 2 <= len(names) <= MOST_HEAT_JUDGES:
        return None
    above = len(names) > MOST_JUDGES_BESIDE or any(len(name) > LONGEST_JUDGE_NAME for name in names)
    left, pitch = (0.0, CELL_HEIGHT + 22) if above else (27.0, CELL_HEIGHT + 2)
    width = round(min((100 - left) / len(names), WIDEST_CELL), 2)
    judges = [
        SimpleNamespace(
            number=place + 1, name=name, y=pitch * place + (20 if above else 0),
            name_y=pitch * place + (14 if above else 20), head_x=round(left + width * (place + 0.5), 2),
        )
        for place, name in enumerate(names)
    ]  # fmt: skip
    pairs = {frozenset(one["judges"]): one for one in agreement}
    cells: list[SimpleNamespace] = []
    reasons: dict[str, list[str]] = {}  # Why cells are empty: each reason once, with the numbers of the judges.
    for row in judges:
        for column in judges[: row.number - 1]:
            pair = pairs.get(frozenset((row.name, column.name)))
            cells.append(_draw_heat_cell(row, column, pair, width))
            if cells[-1].why:
                reasons.setdefault(cells[-1].why, []).append(f"{column.number} and {row.number}")
    return SimpleNamespace(
        says="; ".join(cell.says for cell in cells), height=pitch * len(names), width=round(width - 0.4, 2),
        cell=CELL_HEIGHT, judges=tuple(judges), cells=tuple(cells),
        whys=tuple(f"{', '.join(who)}: {why}" for why, who in reasons.items()),
    )  # fmt: skip


def _draw_heat_cell(
    row: SimpleNamespace, column: SimpleNamespace, pair: Mapping[str, Any] | None, width: float
) -> SimpleNamespace:
    x, about = round(column.head_x - width / 2, 2), f"{column.name} and {row.name}"
    if pair is None or pair["pearson"] is None:
        why = (pair["why_not"] if pair else "") or "nothing that both judged"
        return SimpleNamespace(x=x, y=row.y, text="–", says=f"{about}: {why}", kind="unknown", weight=None, why=why)
    value, gap = pair["pearson"], format_figure(pair["mean_gap"])
    agree = value >= LEAST_AGREEMENT
    share = abs(value - LEAST_AGREEMENT) / (1 - LEAST_AGREEMENT if agree else 1 + LEAST_AGREEMENT)
    says = f"{about}: {format_figure(value)}, mean gap {gap}, {format_report_count(pair['n'])} judgments"
    return SimpleNamespace(
        x=x, y=row.y, text=format_figure(value), kind="agree" if agree else "differ",
        weight=round(0.1 + 0.35 * share, 2), says=says, why="",
    )  # fmt: skip


MOST_DOTS, MOST_SAID = 400, 40
LARGEST_DOT = 10.0  # Pixels, the radius of the dot that stands for most outputs.
SHARE_UNIT = "share of the scale"


def draw_people_plots(labels: Mapping[str, Any] | None, scales: Iterable[Sequence[float]]) -> list[Plot]:
    """A plot for each judge whose outputs people have labelled, in a run with criteria on these scales."""
    if not labels:
        return []
    judges = [one for one in labels["judges"] if one["points"]]
    most = max((int(many) for one in judges for *_, many in one["points"]), default=1)
    # Criteria on other scales than 0 to 1 are put together as shares of their own.
    shared = list(labels["scale"]) == [0, 1] and any(one is not None and list(one) != [0, 1] for one in scales)
    unit = SHARE_UNIT if shared else f"on {format_report_scale(labels['scale'])}"
    return [_draw_people_plot(one, labels["scale"], unit, most) for one in judges]


def _draw_people_plot(judge: Mapping[str, Any], scale: Sequence[float], unit: str, most: int) -> Plot:
    """`most` is how many outputs the largest dot of all plots stands for: sizes can be compared across them."""
    room = 0.06 * (scale[1] - scale[0])  # So that no dot lies on the numbers of an axis.
    x, y = (
        make_horizontal_chart_axis(scale[0] - room, scale[1] + room),
        make_vertical_chart_axis(scale[0] - room, scale[1] + room),
    )
    # Those that stand for most outputs, the same ones whatever order they come in; large ones lie below small ones.
    points = sorted(((own, people, int(many)) for own, people, many in judge["points"]), key=lambda one: (-one[2], one))
    points, calibrated = points[:MOST_DOTS], judge.get("map") or []
    found = "correlation not defined" if judge["pearson"] is None else f"correlation {format_figure(judge['pearson'])}"
    about = f"{found}, {_label_charted_judge_bias(judge['bias'], unit)}, {pluralize_count(judge['n'], 'output')}"
    pairs = ", ".join(
        f"{format_figure(own)} and {format_figure(people)} {pluralize_count(many, 'time')}"
        for own, people, many in points[:MOST_SAID]
    )
    more = f", and {format_report_count(len(points) - MOST_SAID)} pairs more" if len(points) > MOST_SAID else ""
    return Plot(
        name=f"{judge['judge']} against people",
        about=about,
        says=f"{about}. Judge and people gave {pairs}{more}",
        across=f"score of the judge, {unit}",
        up=f"score of people, {unit}",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(),
        shapes=(
            draw_plot_line("reference", x, y, [(scale[0], scale[0]), (scale[1], scale[1])]),
            *([draw_plot_line("measured", x, y, calibrated)] if len(calibrated) > 1 else []),
        ),
        dots=tuple(
            PlotDot(x=x.at(own), y=y.at(people), r=round(max(2.0, LARGEST_DOT * math.sqrt(n / most)), 1), kind="wash")
            for own, people, n in points
        ),
    )


def _label_charted_judge_bias(bias: float | None, unit: str) -> str:
    if bias is None:
        return "bias not known"
    if round(bias, 2) == 0:
        return "as high as people"
    by = f"{format_figure(abs(bias))} of the scale" if unit == SHARE_UNIT else format_figure(abs(bias))
    return f"{by} {'higher' if bias > 0 else 'lower'} than people"
