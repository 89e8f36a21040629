"""The Trust section of a page: wrong decisions at the gates, where judge and people differ, and how far labelling
is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.html.chart_layout import (
    AxisTick,
    ChartAxis,
    ChartLayout,
    IntervalChart,
    IntervalRow,
    Plot,
    PlotDot,
    PlotNote,
    PlotRule,
    draw_plot_line,
    make_horizontal_chart_axis,
    make_vertical_chart_axis,
)
from evenhand.report.html.formats import format_report_scale, format_report_short_number
from evenhand.wording import MISSING_DASH, format_figure, format_number, format_percent, pluralize_count, word_criterion

TrustData = Mapping[str, Any]
TRUST_LOOKS = {"may gate": ("✓", "good"), "one way": ("◆", "warn"), "may not": ("✕", "bad")}
NOT_SETTLED = ("?", "calm")
MOST_CURVES, MOST_GATES = 6, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSection:
    """All that the section shows; `sizes` is what the answer rests on."""

    look: tuple[str, str]
    says: str
    reasons: list[str]
    next_step: str
    sizes: str
    gates: IntervalChart
    curves: list[Plot]
    directions: list[str]
    differing: list[TrustData]


def build_trust_section(trust: TrustData | None) -> TrustSection | None:
    """The section of a run that has labels and a gate; else None."""
    if not trust:
        return None
    people = pluralize_count(trust["raters"], "person", "people")
    sizes = f"{pluralize_count(trust['labels'], 'label')} by {people} on {pluralize_count(trust['outputs'], 'output')}"
    return TrustSection(
        look=TRUST_LOOKS.get(trust["answer"], NOT_SETTLED),
        says=trust["says"],
        reasons=trust["reasons"],
        next_step=trust["next_step"],
        sizes=sizes,
        gates=_draw_gate_errors(trust),
        curves=[_draw_reliability_curve(one, trust["gates"][0]["judge"]) for one in trust["curves"][:MOST_CURVES]],
        directions=[one["says"] for one in trust["directions"]],
        differing=[_describe_disagreement_in_report(one) for one in trust["differing"]],
    )


def _draw_gate_errors(trust: TrustData) -> IntervalChart:
    """Wrongly passed and wrongly failed at each gate, the judge's and below it a person's; the limit is a line."""
    layout = ChartLayout.for_names([])
    axis = ChartAxis(low=0, high=1, left=layout.left, right=layout.right)
    layout.y += 18  # For the name of the limit.
    said = []
    for gate in trust["gates"][:MOST_GATES]:
        layout.group(gate["about"])
        for name, kind, errors in _list_charted_errors(gate):
            share = errors["share"]
            row = IntervalRow(name=name, kind=kind)
            if share is not None:
                low, high = format_percent(share["low"]), format_percent(share["high"])
                value = f"{errors['wrong']} of {errors['n']}"
                row = IntervalRow(
                    name=name,
                    kind=kind,
                    at=axis.at(share["estimate"]),
                    low=axis.at(share["low"]),
                    high=axis.at(share["high"]),
                    value=value,
                    bounds=f"{low} to {high}",
                )
                said.append(f"{gate['about']}, {name}: {value}, {low} to {high}")
            layout.row(row)
    limit = AxisTick(axis.at(trust["most"]), f"limit {format_percent(trust['most'])}")
    title = "Share of wrong decisions at each gate, with 95% interval"
    return layout.chart(title, "; ".join(said), axis, across="share of what people fail, or pass", mark=limit)


def _list_charted_errors(gate: TrustData) -> Iterator[tuple[str, str, TrustData]]:
    for way in ("passed", "failed"):
        yield f"wrongly {way}", "only", gate[f"wrongly_{way}"]
        if gate[f"person_wrongly_{way}"]["n"]:
            yield "a person", "control", gate[f"person_wrongly_{way}"]


def _draw_reliability_curve(curve: TrustData, who: str) -> Plot:
    """People's mean by the score of the judge, with intervals; on the dashed line both say the same."""
    low, high = curve["scale"]
    room = 0.06 * (high - low)
    x = make_horizontal_chart_axis(low - room, high + room)
    y = make_vertical_chart_axis(low - room, high + room)
    points, least, most = curve["points"], curve["least"], max(one["n"] for one in curve["points"])
    unit = f"on {format_report_scale(list(curve['scale']))}"
    said = "; ".join(
        f"{format_figure(one['judged'])} by the judge: {format_figure(one['people'])} by people, "
        f"{format_figure(one['low'])} to {format_figure(one['high'])}, {pluralize_count(one['n'], 'output')}"
        for one in points
    )
    bars = [
        draw_plot_line("whisker", x, y, [(one["judged"], one["low"]), (one["judged"], one["high"])]) for one in points
    ]
    line = [(one["judged"], one["people"]) for one in points]
    return Plot(
        name=word_criterion(curve["question"]),
        about=f"{who}, {pluralize_count(curve['n'], 'output')}",
        says=said,
        across=f"score of the judge, {unit}",
        up=f"mean of people, {unit}",
        across_ticks=x.ticks(),
        up_ticks=y.ticks(),
        shapes=(
            draw_plot_line("reference", x, y, [(low, low), (high, high)]),
            *bars,
            *([draw_plot_line("measured", x, y, line)] if len(line) > 1 else []),
        ),
        rules=() if least is None else (PlotRule(kind="limit", x=x.at(least)),),
        dots=tuple(
            PlotDot(x=x.at(one["judged"]), y=y.at(one["people"]), r=round(max(2.5, 7 * math.sqrt(one["n"] / most)), 1))
            for one in points
        ),
        notes=()
        if least is None
        else (PlotNote(x=x.at(least), y=172, dx=4, text=f"gate {format_report_short_number(least)}"),),
    )


def _describe_disagreement_in_report(one: TrustData) -> dict[str, Any]:
    """A row of the table: the scores in figures of their scale."""
    scale = list(one["scale"])
    return {**one, "judged": format_figure(one["judged"], scale), "people": format_figure(one["people"], scale)}


def build_labelling_progress(found: Any, trust: Mapping[str, Any] | None) -> dict[str, Any]:
    """All that the template is given of how far labelling is; `trust` is the JSON of it, where it is known."""
    people, outputs = pluralize_count(len(found.raters), "person", "people"), pluralize_count(found.outputs, "output")
    counted = f"{pluralize_count(found.labels, 'label')} by {people} on {outputs}"
    return {
        "run": {"id": found.run},
        "labelled": counted if found.labels else "No labels yet",
        "cannot_say": found.cannot_say,
        "trust": trust,
        "trust_tone": TRUST_LOOKS.get(trust["answer"], NOT_SETTLED)[1] if trust else "",
        "no_trust": found.no_trust,
        "consistency": _describe_consistency_in_report(found.consistency),
        "few": _describe_missing_labels_in_report(found.widths),
        "width_columns": [_name_more_labels_in_report(more) for more in found.widths],
        "width_rows": _list_width_table_rows(found.widths) if found.labels else [],
    }


def _describe_missing_labels_in_report(widths: Mapping[int, Sequence[Any]]) -> str:
    """How many more samples have to be labelled for any interval; empty where all are there."""
    lacking = [one for one in widths.get(0, ()) if one.now is None and one.at > one.labelled]
    if not lacking:
        return ""
    one = max(lacking, key=lambda each: each.at - each.labelled)
    of = "" if one.control is None else "both outputs of "  # One alone makes no difference between two variants.
    return f"Label {of}{pluralize_count(one.at - one.labelled, 'more sample')}: an interval takes {one.at:,}."


def _name_more_labels_in_report(more: int) -> str:
    return "now" if more == 0 else f"+{more:,} samples"


def _list_width_table_rows(widths: Mapping[int, Sequence[Any]]) -> list[tuple[str, list[str]]]:
    """A row for each estimate: the width of its interval now, and with so many labelled samples more."""
    first = next(iter(widths.values()), ())
    several_questions = len({one.question for one in first if one.kind == "mean"}) > 1
    return [
        (
            _name_estimate_in_report(one, says_question=several_questions),
            [_format_width_in_report(several[place], more) for more, several in widths.items()],
        )
        for place, one in enumerate(first)
    ]


def _name_estimate_in_report(one: Any, *, says_question: bool) -> str:
    who = one.variant if one.control is None else f"{one.variant} − {one.control}"
    about = f", {word_criterion(one.question)}" if says_question and one.kind in ("mean", "difference") else ""
    return f"{who}: {one.kind}{about}"


def _format_width_in_report(one: Any, more: int) -> str:
    if more == 0:
        return MISSING_DASH if one.now is None else f"±{format_number(one.now / 2)}"
    return MISSING_DASH if one.then is None or one.at != one.labelled_then else f"±{format_number(one.then / 2)}"


def _describe_consistency_in_report(found: Any | None) -> str:
    if found is None:
        return ""
    share = format_percent(found.same / found.answers)
    gap = "" if found.gap is None else f"; mean distance {format_percent(found.gap)} of the scale"
    return f"{found.same} of {pluralize_count(found.answers, 'answer')} the same when asked again ({share}){gap}."
