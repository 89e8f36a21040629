"""What the page shows of a run: the look of the verdict, the key facts, the tables and the charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.html.chart_layout import ChartAxis
from evenhand.report.html.comparison_charts import (
    draw_difference_charts,
    draw_overview_chart,
    draw_saturation_plots,
    draw_spread_plot,
)
from evenhand.report.html.formats import (
    format_count,
    format_interval_bounds,
    format_scale_ends,
    format_scaled_number,
    format_seconds,
)
from evenhand.report.html.judge_charts import draw_agreement_heat_map, draw_people_plots
from evenhand.report.html.score_charts import (
    draw_assertion_rates,
    draw_histograms,
    draw_length_plots,
    draw_score_charts,
    split_share_bar,
)
from evenhand.report.html.sensitivity_charts import draw_sensitivity_charts
from evenhand.report.phrases import describe_sample_count, describe_unfinished_run, does_verdict_stand
from evenhand.wording import format_dollar_amount

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


@dataclass(frozen=True, slots=True)
class KeyFact:
    """A number of the first screen with its name and a few words."""

    name: str
    value: str
    note: str = ""
    tone: str = ""


def build_run_page(head: Mapping[str, Any]) -> dict[str, Any]:
    """All that the template is given beside samples, style and script."""
    variants, decision = head["variants"], head["decision"]
    charts = draw_score_charts(variants)
    compared = draw_overview_chart(decision["comparisons"])
    return {
        **head,
        "look": _choose_verdict_look(head),
        "cut_short": describe_unfinished_run(head["run"]),
        "counted": describe_sample_count(head["run"]),
        "looks": {**{word: VERDICT_LOOKS.get(word, UNKNOWN_LOOK) for word in _list_page_verdicts(decision)}},
        "facts_row": list(_list_key_facts(head)),
        "hero_chart": compared or (charts[0] if charts else None),
        "score_charts": charts if compared else charts[1:],
        "differences": [_draw_comparison(one, _collect_criterion_scales(head)) for one in decision["comparisons"]],
        "layers": list(dict.fromkeys(layer for one in variants for layer in one["layers"])),
        "criteria": _build_criterion_rows(head),
        "shares": {one["name"]: split_share_bar(one["verdicts"]) for one in variants},
        "histograms": draw_histograms(variants),
        "rates": draw_assertion_rates(variants),
        "heat": draw_agreement_heat_map(head["agreement"]),
        "people": draw_people_plots(head.get("labels"), _collect_criterion_scales(head).values()),
        "sensitivity": head.get("sensitivity"),
        "weighed": draw_sensitivity_charts(head.get("sensitivity")),
        "lengths": draw_length_plots(head.get("lengths")),
        "sections": list(_list_run_sections(head)),
    }


def _draw_comparison(comparison: Mapping[str, Any], scales: Mapping[str, Any]) -> tuple[Any, ...]:
    """A comparison with its charts of differences, their spread, and what more samples did."""
    return (
        comparison,
        draw_difference_charts(comparison, scales),
        draw_spread_plot(comparison),
        draw_saturation_plots(comparison),
    )


def _collect_criterion_scales(head: Mapping[str, Any]) -> dict[str, Any]:
    return {id: one["scale"] for variant in head["variants"] for id, one in variant["criteria"].items()}


def _choose_verdict_look(head: Mapping[str, Any]) -> tuple[str, str]:
    """The mark and colour of the verdict; no good colour where something speaks against it."""
    verdict = head["decision"]["verdict"]
    mark, tone = VERDICT_LOOKS.get(verdict, UNKNOWN_LOOK)
    if does_verdict_stand(head) or tone not in ("good", "plain"):
        return mark, tone
    return mark, "bad" if verdict == "SOLO" and head["decision"]["exit_code"] else "warn"


def _list_page_verdicts(decision: Mapping[str, Any]) -> list[str]:
    return [decision["verdict"], *(one["verdict"] for one in decision["comparisons"])]


def _list_key_facts(head: Mapping[str, Any]) -> Iterator[KeyFact]:
    run, variants, cost = head["run"], head["variants"], head["cost"]
    yield _build_score_fact(head)
    yield from _build_pairs_fact(head["decision"]["comparisons"])
    times = [f"× {len(variants)} variants"] * (len(variants) > 1) + [f"× {run['repeats']} repeats"] * (
        run["repeats"] > 1
    )
    whole = describe_sample_count(run).rpartition(" ")[0]
    yield KeyFact("Samples", whole, " ".join(times) or "one variant", "warn" if describe_unfinished_run(run) else "")
    yield _build_unscored_fact(variants)
    yield _build_flags_fact(head["flags"], head["eval"]["guards"])
    unpriced = f", {format_count(cost['unpriced'])} calls without a price" if cost["unpriced"] else ""
    yield KeyFact(
        "Cost", format_dollar_amount(cost["total"]), f"in {format_seconds(run['seconds']) or 'unknown time'}{unpriced}"
    )


def _build_score_fact(head: Mapping[str, Any]) -> KeyFact:
    """The one number per variant that the decision is about."""
    variants = head["variants"]
    measure = "composite" if any(one["composite"] for one in variants) else "score"
    known = [one for one in variants if one[measure]]
    name = "Composite" if measure == "composite" else "Score"
    if not known:
        return KeyFact(name, "–", "nothing was scored", "bad")
    on = f"on {format_scale_ends(known[0][measure]['scale'])}"
    if len(variants) == 2 and len(known) == 2:
        old, new = sorted(known, key=lambda one: one["role"] != "control")
        means = " → ".join(format_scaled_number(one[measure]["mean"], one[measure]["scale"]) for one in (old, new))
        return KeyFact(name, means, f"{old['name']} → {new['name']}, {on}")
    best = next((one for one in known if one["name"] == head["decision"]["best"]), known[0])
    shown = format_scaled_number(best[measure]["mean"], best[measure]["scale"])
    if len(variants) > 1:
        return KeyFact(name, shown, f"{best['name']}, {on}")
    return KeyFact(name, shown, f"{format_interval_bounds(best[measure]) or 'no interval'}, {on}")


def _build_pairs_fact(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[KeyFact]:
    if len(comparisons) == 1:
        one = comparisons[0]
        yield KeyFact(
            "Pairs", format_count(one["pairs"]) or "–", f"{one['wins']} won, {one['ties']} tied, {one['losses']} lost"
        )
    elif comparisons:
        said = Counter(one["verdict"] for one in comparisons)
        words = ", ".join(f"{times} {word.capitalize()}" for word, times in said.items())
        yield KeyFact("Comparisons", str(len(comparisons)), words)


def _build_unscored_fact(variants: Sequence[Mapping[str, Any]]) -> KeyFact:
    failed, incomplete = (sum(one[state] for one in variants) for state in ("failed", "incomplete"))
    whole = sum(one["results"] for one in variants)
    if not failed + incomplete:
        return KeyFact("Not scored", "0", f"of {format_count(whole)} results")
    said = ", ".join(
        [f"{format_count(failed)} failed"] * bool(failed)
        + [f"{format_count(incomplete)} incomplete"] * bool(incomplete)
    )
    return KeyFact("Not scored", format_count(failed + incomplete) or "–", f"of {format_count(whole)}: {said}", "bad")


def _build_flags_fact(flags: Sequence[Mapping[str, Any]], guards: Sequence[str]) -> KeyFact:
    by_guard: Counter[str] = Counter()
    for one in flags:
        by_guard[one["guard"]] += one["count"]
    said = ", ".join(f"{format_count(times)} {guard}" for guard, times in by_guard.items())
    return KeyFact(
        "Flags",
        format_count(by_guard.total()) or "–",
        said or ("guards found nothing" if guards else "no guard was asked"),
        "warn" if flags else "",
    )


def _build_criterion_rows(head: Mapping[str, Any]) -> list[tuple[str, str, list[Any]]]:
    """Every criterion with its question and its means by variant."""
    asks = {one["id"]: one["asks"] for rubric in head["eval"]["rubrics"] for one in rubric["criteria"]}
    known = dict.fromkeys([*asks, *(id for one in head["variants"] for id in one["criteria"])])
    return [
        (id, asks.get(id, ""), [_add_meter_to_mean(one["criteria"].get(id)) for one in head["variants"]])
        for id in known
    ]


def _add_meter_to_mean(one: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A mean with the share of its scale that it reaches."""
    if one is None or one["mean"] is None:
        return None
    low, high = one["scale"]
    return {**one, "filled": ChartAxis(low=low, high=high, left=0, right=100).at(one["mean"])}


def _list_run_sections(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "scores", "Scores"
    if head["decision"]["comparisons"]:
        yield "comparisons", "Comparisons" if len(head["decision"]["comparisons"]) > 1 else "Comparison"
    if head.get("sensitivity"):
        yield "sensitivity", "Sensitivity"
    if draw_histograms(head["variants"]):
        yield "distributions", "Distributions"
    if draw_length_plots(head.get("lengths")):
        yield "lengths", "Length"
    if draw_assertion_rates(head["variants"]):
        yield "assertions", "Assertions"
    yield "samples", "Samples"
    yield "judges", "Judges"
    yield "failures", "Failures"
    yield "cost", "Cost"
    yield "method", "Method"
