"""What the page shows of a run: the look of the verdict, the key facts, the tables and the charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from types import SimpleNamespace
from typing import Any

from evenhand.report.graded import format_report_tie_lines
from evenhand.report.html.chart_layout import AxisTick, ChartAxis, ChartLayout, IntervalRow
from evenhand.report.html.comparison_charts import (
    draw_difference_charts,
    draw_overview_chart,
    draw_saturation_plots,
    draw_spread_plot,
)
from evenhand.report.html.formats import (
    format_report_count,
    format_report_duration,
    format_report_interval,
    format_report_percent,
    format_report_scale,
)
from evenhand.report.html.judge_page import draw_agreement_heat_map, draw_people_plots
from evenhand.report.html.page_tables import (
    are_report_sensitivity_charts_needless,
    build_report_cost_columns,
    build_report_criterion_rows,
    build_report_gate_rows,
    build_report_grade_rows,
    build_report_judge_columns,
    build_report_score_rows,
    build_report_statement_rows,
    describe_history_in_report,
    describe_judge_calls_in_report,
    describe_unknown_agreement_in_report,
    list_cascade_table_cells,
    list_people_scale_table_cells,
)
from evenhand.report.html.score_charts import (
    chart_verdict_counts,
    draw_assertion_rates,
    draw_histograms,
    draw_length_plots,
    draw_score_charts,
    split_chart_bar,
)
from evenhand.report.html.trust_section import build_trust_section
from evenhand.report.judge_names import name_judges_of_report_briefly
from evenhand.report.phrases import (
    IMPORTED_RUN,
    VERDICT_WORDS,
    describe_reported_composite,
    describe_reported_heuristic_judges,
    describe_reported_maps,
    describe_reported_samples,
    describe_reported_selection,
    describe_unfinished_in_report,
    describe_unpaired_in_report,
    does_reported_verdict_stand,
    list_reported_safety_gates,
)
from evenhand.report.result_phrases import (
    build_report_preference_tables,
    describe_reported_known_cost,
    describe_reported_recorded_cost,
    describe_reported_unpriced_calls,
)
from evenhand.wording import format_figure, word_layer

# A mark beside each word, so that nobody has to tell colours apart.
VERDICT_LOOKS = {
    "PROGRESS": ("▲", "good"),
    "CAUTIOUS": ("◆", "warn"),
    "REGRESS": ("▼", "bad"),
    "NOISE": ("≈", "calm"),
    "UNDERPOWERED": ("?", "calm"),
    "UNDECIDED": ("◇", "warn"),
    "SOLO": ("●", "plain"),
}
UNKNOWN_LOOK = ("·", "calm")
MOST_UNPRICED_NAMED = 2  # Judges whose calls have no price, named in a tile.


@dataclass(frozen=True, slots=True)
class PageKeyFact:
    """A number of the first screen with its name and a few words."""

    name: str
    value: str
    note: str = ""
    tone: str = ""


def build_run_report_page(head: Mapping[str, Any]) -> dict[str, Any]:
    """All that the template is given beside samples, style and script."""
    head = name_judges_of_report_briefly(head)
    variants, decision = head["variants"], head["decision"]
    verdicts = [decision["verdict"], *(one["verdict"] for one in decision["comparisons"])]
    return {
        **head,
        **_draw_run_report_charts(head),
        "look": _choose_verdict_look_in_report(head),
        "heuristic": describe_reported_heuristic_judges(head["judges"])
        if any(one["scored"] for one in variants)
        else "",
        "cut_short": describe_unfinished_in_report(head["run"]),
        "counted": describe_reported_samples(head["run"]),
        "looks": {word: VERDICT_LOOKS.get(word, UNKNOWN_LOOK) for word in verdicts},
        "facts_row": list(_list_report_key_facts(head)),
        "score_rows": build_report_score_rows(head),
        "unpaired": describe_unpaired_in_report(head),
        "mapped": describe_reported_maps(head["run"]),
        "composed": describe_reported_composite(head).partition(": ")[2],
        "gate_rows": build_report_gate_rows(head),
        "judge_columns": build_report_judge_columns(head["judges"]),
        "judge_calls": describe_judge_calls_in_report(head["judges"]),
        "unknown_agreement": describe_unknown_agreement_in_report(head["agreement"]),
        "cost_columns": build_report_cost_columns(variants),
        "costs_known": _are_report_costs_known(head),
        "for_review": [f"{one['variant']}: {one['says']}." for one in head["consistency"] if one.get("strayed")],
        "tie_lines": format_report_tie_lines(head),
        "history": describe_history_in_report(head["consistency"]),
        "criteria": build_report_criterion_rows(head),
        "grade_rows": build_report_grade_rows(head),
        "statement_rows": build_report_statement_rows(head),
        "preference_tables": build_report_preference_tables(head),
        "capped": list_reported_safety_gates(head),
        "cascade": list_cascade_table_cells(head.get("cascade")),
        "people_scale": list_people_scale_table_cells(head.get("people_scale")),
        "trusted": build_trust_section(head.get("trust")),
        "sensitivity": head.get("sensitivity"),
        "settled": are_report_sensitivity_charts_needless(head.get("sensitivity")),
        "sections": _list_run_report_sections(head),
    }


def _draw_run_report_charts(head: Mapping[str, Any]) -> dict[str, Any]:
    variants, comparisons = head["variants"], head["decision"]["comparisons"]
    scales = {id: one["scale"] for variant in variants for id, one in variant["criteria"].items()}
    charts, compared = draw_score_charts(variants), draw_overview_chart(comparisons)
    return {
        "hero_chart": compared or (charts[0] if charts else None),
        "score_charts": charts if compared else charts[1:],
        "differences": [
            (one, draw_difference_charts(one, scales), draw_spread_plot(one), draw_saturation_plots(one))
            for one in comparisons
        ],
        "shares": _draw_verdict_bars(variants),
        "histograms": draw_histograms(variants),
        "rates": draw_assertion_rates(variants),
        "heat": draw_agreement_heat_map(head["agreement"]),
        "people": draw_people_plots(head.get("labels"), scales.values()),
        "weighed": draw_sensitivity_charts(head.get("sensitivity")),
        "lengths": draw_length_plots(head.get("lengths")),
    }


def _draw_verdict_bars(variants: Sequence[Mapping[str, Any]]) -> dict[str, list[SimpleNamespace]]:
    """The verdicts of each variant as a bar; none where the method gives no verdict but “incomplete”."""
    if not any(one["verdicts"].get(word) for one in variants for word in VERDICT_WORDS):
        return {}
    return {one["name"]: split_chart_bar(chart_verdict_counts(one["verdicts"])) for one in variants}


def _choose_verdict_look_in_report(head: Mapping[str, Any]) -> tuple[str, str]:
    """The mark and colour of the verdict; no good colour where something speaks against it."""
    verdict = head["decision"]["verdict"]
    mark, tone = VERDICT_LOOKS.get(verdict, UNKNOWN_LOOK)
    if does_reported_verdict_stand(head) or tone not in ("good", "plain"):
        return mark, tone
    return mark, "bad" if verdict == "SOLO" and head["decision"]["exit_code"] else "warn"


def _list_report_key_facts(head: Mapping[str, Any]) -> Iterator[PageKeyFact]:
    run, variants, cost = head["run"], head["variants"], head["cost"]
    yield _build_report_score_fact(head)
    yield from _build_report_pairs_fact(head["decision"]["comparisons"])
    counts = {"variants": len(variants), "repeats": run["repeats"]}
    times = [f"× {number} {what}" for what, number in counts.items() if number > 1]
    whole = describe_reported_samples(run).rpartition(" ")[0]
    cut = "warn" if describe_unfinished_in_report(run) else ""
    if run.get("imported"):
        yield PageKeyFact("Origin", "elsewhere", IMPORTED_RUN, "warn")
    part = describe_reported_selection(run.get("selection"))
    counted = " ".join(times) or "one variant"
    yield PageKeyFact("Samples", whole, f"{counted}; only {part}" if part else counted, cut or ("warn" if part else ""))
    counts = {state: sum(one[state] for one in variants) for state in ("failed", "incomplete")}
    results, unscored = format_report_count(sum(one["results"] for one in variants)), sum(counts.values())
    said = ", ".join(f"{format_report_count(number)} {state}" for state, number in counts.items() if number)
    note = f"of {results}: {said}" if unscored else f"of {results} results"
    yield PageKeyFact("Not scored", format_report_count(unscored) or "–", note, "bad" if unscored else "")
    by_guard: Counter[str] = Counter()
    for one in head["flags"]:
        by_guard[one["guard"]] += one["count"]
    flagged = ", ".join(f"{format_report_count(found)} {guard}" for guard, found in by_guard.items())
    flagged = flagged or ("guards found nothing" if head["eval"]["guards"] else "no guard was asked")
    yield PageKeyFact(
        "Guard flags", format_report_count(by_guard.total()) or "–", flagged, "warn" if head["flags"] else ""
    )
    # The names of many judges would be most of the page; their table has them.
    several = len(cost.get("unpriced_calls") or ()) > MOST_UNPRICED_NAMED
    unpriced = {**cost, "unpriced_calls": {}} if several else cost
    took = f"in {format_report_duration(run['seconds']) or 'unknown time'}"
    yield PageKeyFact(
        "Cost",
        describe_reported_known_cost(cost),
        "; ".join(
            filter(None, (took, describe_reported_unpriced_calls(unpriced), describe_reported_recorded_cost(cost)))
        ),
    )


def _build_report_score_fact(head: Mapping[str, Any]) -> PageKeyFact:
    """The one number per variant that the decision is about."""
    variants = head["variants"]
    measure = "composite" if any(one["composite"] for one in variants) else "score"
    known = [one for one in variants if one[measure]]
    name = "Composite" if measure == "composite" else "Score"
    if not known:
        return PageKeyFact(name, "–", "nothing was scored", "bad")
    on = f"on {format_report_scale(known[0][measure]['scale'])}"
    shown = _find_variants_of_verdict_in_report(head, known)
    means = " → ".join(format_figure(one[measure]["mean"], one[measure]["scale"]) for one in shown)
    if len(variants) > 1:
        return PageKeyFact(name, means, f"{' → '.join(one['name'] for one in shown)}, {on}")
    return PageKeyFact(name, means, f"{format_report_interval(shown[0][measure]) or 'no interval'}, {on}")


def _find_variants_of_verdict_in_report(
    head: Mapping[str, Any], known: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The control and the treatment that the headline is about, of those with a number."""
    decision = head["decision"]
    about = [one for one in decision["comparisons"] if one["verdict"] == decision["verdict"]]
    about.sort(key=lambda one: -_count_shared_beginning_in_report(one, decision["headline"]))
    if about:
        names = [about[0]["control"], about[0]["treatment"]]
    else:
        names = [one["name"] for one in sorted(head["variants"], key=lambda one: one["role"] != "control")][:2]
    return [one for name in names for one in known if one["name"] == name] or [known[0]]


def _count_shared_beginning_in_report(one: Mapping[str, Any], headline: str) -> int:
    """How many characters a comparison's own sentence shares with a headline, which may go on behind it."""
    own = (one.get("headline") or "").removeprefix(f"{one['verdict']}: ")
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(own, headline, strict=False)))


def _build_report_pairs_fact(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[PageKeyFact]:
    if len(comparisons) == 1:
        one = comparisons[0]
        won = f"{one['wins']} won, {one['ties']} tied, {one['losses']} lost"
        yield PageKeyFact("Pairs", format_report_count(one["pairs"]) or "–", won)
    elif comparisons:
        said = Counter(one["verdict"] for one in comparisons)
        words = ", ".join(f"{times} {word.capitalize()}" for word, times in said.items())
        yield PageKeyFact("Comparisons", str(len(comparisons)), words)


def _list_run_report_sections(head: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The ids and titles of the sections; those without anything to show are left out."""
    comparisons = head["decision"]["comparisons"]
    return [
        ("samples", "Samples"),
        ("scores", "Scores"),
        *([("grades", "Grades")] if build_report_grade_rows(head) else []),
        *([("statements", "Red flags and bonuses")] if head.get("statements") else []),
        *([("comparisons", "Comparisons" if len(comparisons) > 1 else "Comparison")] if comparisons else []),
        *([("preferences", "Preferences")] if head.get("preferences") else []),
        *([("sensitivity", "Sensitivity")] if head.get("sensitivity") else []),
        *([("distributions", "Distributions")] if draw_histograms(head["variants"]) else []),
        *([("lengths", "Length")] if draw_length_plots(head.get("lengths")) else []),
        *([("assertions", "Assertions")] if draw_assertion_rates(head["variants"]) else []),
        *([("trust", "Trust")] if head.get("trust") else []),
        ("judges", "Judges"),
        ("failures", "Failures"),
        *([("cost", "Cost")] if _are_report_costs_known(head) else []),
        ("method", "Method"),
    ]


def _are_report_costs_known(head: Mapping[str, Any]) -> bool:
    """Whether there is more to say of costs, tokens and times than the first screen does."""
    return bool(build_report_cost_columns(head["variants"]) or head["cost"]["unpriced"])


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
    notes = [one["note"]] if one.get("note") else []
    notes += [f"{format_report_count(left)} more {what} are not drawn." for what, left in left_out.items() if left > 0]
    charts = (_draw_win_shares(one, draws), _draw_turning_weights(one))
    return SimpleNamespace(name=f"By {one['of']}", note=" ".join(notes), charts=charts)


def _draw_win_shares(one: Mapping[str, Any], draws: int) -> SimpleNamespace:
    shown = one["order"][:MOST_VARIANTS]
    wins = {"near weights": one["wins"], **({"any weights": one["anywhere"]["wins"]} if one.get("anywhere") else {})}
    rows = [(name, kind, shares.get(name) or 0.0) for name in shown for kind, shares in wins.items()]
    layout = ChartLayout.for_names(kind for _, kind, _ in rows)
    axis = ChartAxis(low=0, high=1, left=layout.left, right=84)
    for name, kind, share in rows:
        if not layout.groups or layout.groups[-1].name != name:
            layout.group(name)
        value = _format_charted_percent(share)
        layout.row(IntervalRow(name=kind, kind=WEIGHT_KINDS[kind], at=axis.at(share), value=value))
    said = "; ".join(f"{name} is first with {_format_charted_percent(share)} of {kind}" for name, kind, share in rows)
    title = f"How often each variant comes first under {format_report_count(draws)} random weightings"
    return _build_weight_chart(layout, axis, f"{title}, near those of the rubric and any", said, "share of weightings")


def _draw_turning_weights(one: Mapping[str, Any]) -> SimpleNamespace:
    parts = sorted(one["by_weight"], key=lambda part: -part["weight"])[:MOST_PARTS]
    names = [word_layer(part["criterion"]) if one["of"] == "layers" else part["criterion"] for part in parts]
    layout = ChartLayout.for_names(names)
    axis = ChartAxis(low=0, high=1, left=layout.left, right=71)
    for name, part in zip(names, parts, strict=True):  # The line of a row runs to where the ranking turns.
        turn = part["flip_at"]
        kind, low = ("open", None) if turn is None else ("turns", axis.at(turn))
        value = _describe_charted_turning_weight(part)
        layout.row(IntervalRow(name=name, kind=kind, at=axis.at(part["weight"]), low=low, value=value))
    turns = map(_describe_charted_turning_weight, parts)
    said = "; ".join(f"{name}: {turn}" for name, turn in zip(names, turns, strict=True))
    what = "criterion" if one["of"] == "criteria" else "layer"
    title = f"Weight of each {what} now (point), and where {one['order'][0]} is no longer first (cross)"
    return _build_weight_chart(layout, axis, title, said, "weight, others in proportion")


def _describe_charted_turning_weight(part: Mapping[str, Any]) -> str:
    """The weight, and the one at which the ranking turns."""
    weight, turn = _format_charted_percent(part["weight"]), part["flip_at"]
    return f"{weight}, never" if turn is None else f"{weight} → {_format_charted_percent(turn)}"


def _format_charted_percent(share: float) -> str:
    """Whole per cent; what is not all is never written as all, nor what is something as nothing."""
    rounded = min(max(round(share, 2), 0.01), 0.99) if 0 < share < 1 else share
    return format_report_percent(rounded) or ""


def _build_weight_chart(layout: ChartLayout, axis: ChartAxis, title: str, said: str, across: str) -> SimpleNamespace:
    ticks = tuple(AxisTick(axis.at(share), format_report_percent(share) or "") for share in (0, 0.25, 0.5, 0.75, 1))
    rows = [
        SimpleNamespace(name=row.name, y=row.y, kind=row.kind, at=row.at or axis.left, turn=row.low, value=row.value)
        for row in layout.rows
    ]
    return SimpleNamespace(
        title=title, says=said, height=layout.y + 42, above=layout.above, left=axis.left, across=across, ticks=ticks,
        groups=layout.groups, rows=rows,
    )  # fmt: skip
