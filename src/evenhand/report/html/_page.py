"""What the page shows of a report's head: the verdict's look, the key facts, the tables and the charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report._extent import counted, stands, unfinished
from evenhand.report._figures import dollars
from evenhand.report.html._axis import Axis
from evenhand.report.html._bars import assertion_rates, histograms, parts
from evenhand.report.html._differences import difference_charts, overview_chart
from evenhand.report.html._figures import bounds, count, duration, number, scale
from evenhand.report.html._heat import heat_map
from evenhand.report.html._intervals import score_charts
from evenhand.report.html._lengths import length_plots
from evenhand.report.html._people import people_plots
from evenhand.report.html._saturation import saturation_plots
from evenhand.report.html._spread import spread_plot
from evenhand.report.html._weights import weighed

# A mark beside each word, so that nobody has to tell colours apart.
LOOKS = {
    "PROGRESS": ("▲", "good"),
    "CAUTIOUS": ("◆", "warn"),
    "REGRESS": ("▼", "bad"),
    "NOISE": ("≈", "calm"),
    "UNDERPOWERED": ("?", "calm"),
    "UNDECIDED": ("◇", "warn"),
    "SOLO": ("●", "plain"),
}
UNKNOWN = ("·", "calm")


@dataclass(frozen=True, slots=True)
class Fact:
    """A number of the first screen with its name and a few words."""

    name: str
    value: str
    note: str = ""
    tone: str = ""


def page(head: Mapping[str, Any]) -> dict[str, Any]:
    """All that the template is given beside samples, style and script."""
    variants, decision = head["variants"], head["decision"]
    charts = score_charts(variants)
    compared = overview_chart(decision["comparisons"])
    return {
        **head,
        "look": _look(head),
        "cut_short": unfinished(head["run"]),
        "counted": counted(head["run"]),
        "looks": {**{word: LOOKS.get(word, UNKNOWN) for word in _verdicts(decision)}},
        "facts_row": list(_facts(head)),
        "hero_chart": compared or (charts[0] if charts else None),
        "score_charts": charts if compared else charts[1:],
        "differences": [_compared(one, _scales(head)) for one in decision["comparisons"]],
        "layers": list(dict.fromkeys(layer for one in variants for layer in one["layers"])),
        "criteria": _criteria(head),
        "shares": {one["name"]: parts(one["verdicts"]) for one in variants},
        "histograms": histograms(variants),
        "rates": assertion_rates(variants),
        "heat": heat_map(head["agreement"]),
        "people": people_plots(head.get("labels"), _scales(head).values()),
        "sensitivity": head.get("sensitivity"),
        "weighed": weighed(head.get("sensitivity")),
        "lengths": length_plots(head.get("lengths")),
        "sections": list(_sections(head)),
    }


def _compared(comparison: Mapping[str, Any], scales: Mapping[str, Any]) -> tuple[Any, ...]:
    """A comparison with its charts of differences, their spread, and what more samples did."""
    return comparison, difference_charts(comparison, scales), spread_plot(comparison), saturation_plots(comparison)


def _scales(head: Mapping[str, Any]) -> dict[str, Any]:
    return {id: one["scale"] for variant in head["variants"] for id, one in variant["criteria"].items()}


def _look(head: Mapping[str, Any]) -> tuple[str, str]:
    """The mark and colour of the verdict; no good colour where something speaks against it."""
    verdict = head["decision"]["verdict"]
    mark, tone = LOOKS.get(verdict, UNKNOWN)
    if stands(head) or tone not in ("good", "plain"):
        return mark, tone
    return mark, "bad" if verdict == "SOLO" and head["decision"]["exit_code"] else "warn"


def _verdicts(decision: Mapping[str, Any]) -> list[str]:
    return [decision["verdict"], *(one["verdict"] for one in decision["comparisons"])]


def _facts(head: Mapping[str, Any]) -> Iterator[Fact]:
    run, variants, cost = head["run"], head["variants"], head["cost"]
    yield _middle(head)
    yield from _pairs(head["decision"]["comparisons"])
    times = [f"× {len(variants)} variants"] * (len(variants) > 1) + [f"× {run['repeats']} repeats"] * (
        run["repeats"] > 1
    )
    whole = counted(run).rpartition(" ")[0]
    yield Fact("Samples", whole, " ".join(times) or "one variant", "warn" if unfinished(run) else "")
    yield _unscored(variants)
    yield _flags(head["flags"], head["eval"]["guards"])
    unpriced = f", {count(cost['unpriced'])} calls without a price" if cost["unpriced"] else ""
    yield Fact("Cost", dollars(cost["total"]), f"in {duration(run['seconds']) or 'unknown time'}{unpriced}")


def _middle(head: Mapping[str, Any]) -> Fact:
    """The one number per variant that the decision is about."""
    variants = head["variants"]
    measure = "composite" if any(one["composite"] for one in variants) else "score"
    known = [one for one in variants if one[measure]]
    name = "Composite" if measure == "composite" else "Score"
    if not known:
        return Fact(name, "–", "nothing was scored", "bad")
    on = f"on {scale(known[0][measure]['scale'])}"
    if len(variants) == 2 and len(known) == 2:
        old, new = sorted(known, key=lambda one: one["role"] != "control")
        means = " → ".join(number(one[measure]["mean"], one[measure]["scale"]) for one in (old, new))
        return Fact(name, means, f"{old['name']} → {new['name']}, {on}")
    best = next((one for one in known if one["name"] == head["decision"]["best"]), known[0])
    shown = number(best[measure]["mean"], best[measure]["scale"])
    if len(variants) > 1:
        return Fact(name, shown, f"{best['name']}, {on}")
    return Fact(name, shown, f"{bounds(best[measure]) or 'no interval'}, {on}")


def _pairs(comparisons: Sequence[Mapping[str, Any]]) -> Iterator[Fact]:
    if len(comparisons) == 1:
        one = comparisons[0]
        yield Fact("Pairs", count(one["pairs"]) or "–", f"{one['wins']} won, {one['ties']} tied, {one['losses']} lost")
    elif comparisons:
        said = Counter(one["verdict"] for one in comparisons)
        words = ", ".join(f"{times} {word.capitalize()}" for word, times in said.items())
        yield Fact("Comparisons", str(len(comparisons)), words)


def _unscored(variants: Sequence[Mapping[str, Any]]) -> Fact:
    failed, incomplete = (sum(one[state] for one in variants) for state in ("failed", "incomplete"))
    whole = sum(one["results"] for one in variants)
    if not failed + incomplete:
        return Fact("Not scored", "0", f"of {count(whole)} results")
    said = ", ".join(
        [f"{count(failed)} failed"] * bool(failed) + [f"{count(incomplete)} incomplete"] * bool(incomplete)
    )
    return Fact("Not scored", count(failed + incomplete) or "–", f"of {count(whole)}: {said}", "bad")


def _flags(flags: Sequence[Mapping[str, Any]], guards: Sequence[str]) -> Fact:
    by_guard: Counter[str] = Counter()
    for one in flags:
        by_guard[one["guard"]] += one["count"]
    said = ", ".join(f"{count(times)} {guard}" for guard, times in by_guard.items())
    return Fact(
        "Flags",
        count(by_guard.total()) or "–",
        said or ("guards found nothing" if guards else "no guard was asked"),
        "warn" if flags else "",
    )


def _criteria(head: Mapping[str, Any]) -> list[tuple[str, str, list[Any]]]:
    """Every criterion with its question and its means by variant."""
    asks = {one["id"]: one["asks"] for rubric in head["eval"]["rubrics"] for one in rubric["criteria"]}
    known = dict.fromkeys([*asks, *(id for one in head["variants"] for id in one["criteria"])])
    return [(id, asks.get(id, ""), [_mean(one["criteria"].get(id)) for one in head["variants"]]) for id in known]


def _mean(one: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A mean with the share of its scale that it reaches."""
    if one is None or one["mean"] is None:
        return None
    low, high = one["scale"]
    return {**one, "filled": Axis(low=low, high=high, left=0, right=100).at(one["mean"])}


def _sections(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "scores", "Scores"
    if head["decision"]["comparisons"]:
        yield "comparisons", "Comparisons" if len(head["decision"]["comparisons"]) > 1 else "Comparison"
    if head.get("sensitivity"):
        yield "sensitivity", "Sensitivity"
    if histograms(head["variants"]):
        yield "distributions", "Distributions"
    if length_plots(head.get("lengths")):
        yield "lengths", "Length"
    if assertion_rates(head["variants"]):
        yield "assertions", "Assertions"
    yield "samples", "Samples"
    yield "judges", "Judges"
    yield "failures", "Failures"
    yield "cost", "Cost"
    yield "method", "Method"
