"""What a page shows of a comparison of stored runs, and the same written as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, TextIO

from evenhand.report.html.chart_layout import ChartAxis, ChartLayout, IntervalChart, IntervalRow
from evenhand.report.html.comparison_charts import (
    draw_difference_charts,
    draw_overview_chart,
    draw_saturation_plots,
    draw_spread_plot,
)
from evenhand.report.html.formats import format_report_count, format_report_signed_number
from evenhand.report.html.page_file import (
    HTML_PACKAGE,
    build_report_security_policy,
    load_report_template,
    load_report_template_part,
)
from evenhand.report.html.page_tables import build_report_gate_rows
from evenhand.report.html.run_page import UNKNOWN_LOOK, VERDICT_LOOKS, PageKeyFact
from evenhand.report.phrases import format_report_p_value
from evenhand.wording import format_figure, pluralize_count, word_criterion, word_layer

Comparison = Mapping[str, Any]  # The stable JSON of a comparison.
Moves = Mapping[str, Sequence[Any]]  # Samples that moved, by treatment: each with id, before, after and parts.
MOST_MOVED_PARTS = 3
JUDGE_LAYER = "judge"


def write_comparison_report_page(found: Comparison, moved: Moves, stream: TextIO) -> None:
    """Write a comparison as a file that needs no network and no script."""
    style = load_report_template_part(HTML_PACKAGE, "report.css")
    template = load_report_template(HTML_PACKAGE, "comparison_page.html.j2")
    shown = build_comparison_report_page(found, moved)
    stream.writelines(template.generate(**shown, style=style, policy=build_report_security_policy(style)))


def build_comparison_report_page(found: Comparison, moved: Moves) -> dict[str, Any]:
    """All that the template is given beside style and policy."""
    decision, sides = found["decision"], [found["control"], *found["treatments"]]
    comparisons = decision["comparisons"]
    verdicts = [decision["verdict"], *(one["verdict"] for one in comparisons)]
    return {
        "decision": decision,
        "sides": sides,
        "notes": found["notes"],
        "forced": found["forced"],
        "look": _choose_comparison_look(found),
        "looks": {word: VERDICT_LOOKS.get(word, UNKNOWN_LOOK) for word in verdicts},
        "hero_chart": draw_overview_chart(comparisons),
        "differences": [
            (one, draw_difference_charts(one, found["scales"]), draw_spread_plot(one), draw_saturation_plots(one))
            for one in comparisons
        ],
        "gate_rows": build_report_gate_rows({"decision": decision, "variants": sides}),
        "facts_row": list(_list_comparison_facts(found)),
        "moved": [
            _show_moves_in_report(
                name, several, sum(one["wins"] + one["losses"] for one in comparisons if one["treatment"] == name)
            )
            for name, several in moved.items()
        ],
    }


def _choose_comparison_look(found: Comparison) -> tuple[str, str]:
    """The mark and colour of the verdict; no good colour where something speaks against it."""
    mark, tone = VERDICT_LOOKS.get(found["decision"]["verdict"], UNKNOWN_LOOK)
    doubtful = bool(found["forced"]) or found["decision"]["exit_code"] != 0
    return (mark, "warn") if doubtful and tone in ("good", "plain") else (mark, tone)


def _list_comparison_facts(found: Comparison) -> Iterator[PageKeyFact]:
    for one in found["decision"]["comparisons"][:3]:
        if one["composite"]:
            value = format_report_signed_number(one["composite"]["estimate"])
            p = format_report_p_value(one)
            yield PageKeyFact(f"{one['treatment']} − {one['control']}", value, f"composite, p {p}")
        won = f"{one['wins']} won, {one['ties']} tied, {one['losses']} lost"
        yield PageKeyFact("Pairs", format_report_count(one["pairs"]) or "–", won)
    samples = found["samples"]
    alone = samples["only_control"]["count"] + samples["only_treatment"]["count"]
    note = f"{pluralize_count(alone, 'sample')} in one only" if alone else "no sample is in one only"
    yield PageKeyFact("Samples in both", format_report_count(samples["both"]) or "–", note)


def _show_moves_in_report(treatment: str, several: Sequence[Any], total: int) -> SimpleNamespace:
    rows = [
        SimpleNamespace(
            id=one.id, before=one.before, after=one.after, change=one.change, why=list(_explain_move_in_report(one))
        )
        for one in several
    ]
    return SimpleNamespace(
        treatment=treatment, rows=rows, more=max(0, total - len(rows)), chart=_draw_move_chart(treatment, several)
    )


def _explain_move_in_report(one: Any) -> Iterator[tuple[str, str]]:
    """What moved a sample: the other layers before the criteria, which are behind the rubric layer."""
    layers = {word_layer(name): ends for name, ends in one.layers.items() if name != JUDGE_LAYER or not one.criteria}
    parts = {**layers, **{word_criterion(id): ends for id, ends in one.criteria.items()}}
    for name, (before, after) in list(parts.items())[:MOST_MOVED_PARTS]:
        yield ("up" if after > before else "down"), f"{name} {format_figure(before)} → {format_figure(after)}"


def _draw_move_chart(treatment: str, several: Sequence[Any]) -> IntervalChart | None:
    """Each sample as a line from before to after, on the scale of the composite."""
    if not several:
        return None
    layout = ChartLayout.for_names(one.id for one in several)
    axis = ChartAxis(low=1, high=5, left=layout.left, right=layout.right)
    for one in several:
        low, high = sorted((axis.at(one.before), axis.at(one.after)))
        kind = "up" if one.change > 0 else "down"
        value = format_report_signed_number(one.change)
        layout.row(IntervalRow(name=one.id, kind=kind, at=axis.at(one.after), low=low, high=high, value=value))
    says = "; ".join(f"{one.id}: {format_figure(one.before)} to {format_figure(one.after)}" for one in several)
    title = f"Composite before (end of the line) and after (point) of {treatment}"
    return layout.chart(title, says, axis, across="composite, on 1 to 5")
