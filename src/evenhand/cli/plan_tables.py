"""The plan of a run on a terminal: outputs to make, questions to ask, what they cost, and what they can show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.cli.screen import Screen
from evenhand.judging.open_judge import REFERENCE_FIELD, UnanswerableCriterion, describe_criteria_unfit_for_judges
from evenhand.wording import format_dollar_amount, format_percent, format_rounded, pluralize_count

PlanData = Mapping[str, Any]
LEAST_PAIRS_TO_DECIDE = 20


def print_plan(plan: PlanData) -> None:
    """Print the plan."""
    from evenhand.report.phrases import describe_reported_selection

    screen = Screen()
    repeats = f" · {plan['repeats']} repeats" if plan["repeats"] > 1 else ""
    part = describe_reported_selection(plan["selection"])
    samples = pluralize_count(plan["samples"], "sample") + (f" ({part})" if part else "")
    screen.line(f"{plan['name']} · {samples}{repeats} · fingerprint {plan['fingerprint']}", dim=True)
    screen.line()
    _print_planned_variants(screen, plan)
    _print_planned_judges(screen, plan) if plan["judges"] else screen.line("no judge is asked")
    if plan.get("cascade"):
        screen.line(_format_printed_cascade_plan(plan["cascade"]))
    _print_planned_total(screen, plan)
    for line in format_planned_power_for_terminal(plan["power"]):
        screen.line(line)
    found = [UnanswerableCriterion(**one) for one in plan["unanswerable"]]
    unanswerable = describe_criteria_unfit_for_judges(found, REFERENCE_FIELD)
    for note in filter(None, (plan["note"], unanswerable)):
        screen.line(f"note: {note}")
    screen.line("nothing was asked; without --plan the run begins", dim=True, gap=True)


def _print_planned_variants(screen: Screen, plan: PlanData) -> None:
    columns: dict[str, list[str]] = {"variant": [], "outputs": [], "from": []}
    asked = [one for one in plan["variants"] if one["calls"]]
    if asked:
        columns |= {"tokens in": [], "out, about": [], "cost, about": []}
    for one in plan["variants"]:
        if asked:
            columns["tokens in"].append(f"{one['input_tokens']:,}" if one["calls"] else "")
            columns["out, about"].append(f"{one['output_tokens']:,}" if one["calls"] else "")
            columns["cost, about"].append(_format_planned_cost_for_terminal(one["cost"]) if one["calls"] else "")
        counts = {"to make": one["to_make"], "taken over": one["taken_over"]}
        columns["variant"].append(one["name"])
        columns["outputs"].append(", ".join(f"{n:,} {what}" for what, n in counts.items() if n) or "recorded")
        columns["from"].append(one["about"])
    screen.table(columns, right=("tokens in", "out, about", "cost, about"))
    screen.line()


def format_planned_power_for_terminal(power: PlanData | None) -> list[str]:
    """What the planned samples can show of each treatment; nothing where there is none."""
    if power is None:
        return []
    unit, lines = power["unit"], []
    pairs = pluralize_count(power["pairs"], unit)
    for one in power["treatments"]:
        whose = f" of {one['treatment']}" if len(power["treatments"]) > 1 else ""
        if one["sd"] is None:
            lines.append(
                f"power{whose}: what {pairs} can show is not known: no run so far tells how far differences scatter; "
                "--sd POINTS states it"
            )
            continue
        known = "as stated" if one["run"] is None else f"from run {one['run']}"
        least, sd = one["detectable"], format_rounded(one["sd"], 2)
        shows = "no difference" if least is None else f"a difference of {format_rounded(least, 2)} points"
        lines.append(f"power{whose}: {pairs} show {shows} four times out of five (standard deviation {sd}, {known})")
        if one["needed"] is not None:
            lines.append(
                f"{power['smallest_effect']:g} points, the smallest that matters, takes {one['needed']:,} {unit}s"
            )
    if power["pairs"] < LEAST_PAIRS_TO_DECIDE:
        lines.append(f"below {LEAST_PAIRS_TO_DECIDE} {unit}s only a large and even difference gets a verdict")
    return lines


def _format_planned_cost_for_terminal(cost: float | None) -> str:
    return "unknown" if cost is None else format_dollar_amount(cost)


def _print_planned_judges(screen: Screen, plan: PlanData) -> None:
    judges = plan["judges"]
    columns = {
        "judge": [one["name"] for one in judges],
        "calls": [f"{one['calls']:,}" for one in judges],
        "cached": [f"{one['kept']:,}" if one["kept"] else "" for one in judges],
        "tokens in": [f"{one['input_tokens']:,}" for one in judges],
        "prompt cached": [_format_printed_cached_share(one) for one in judges],
        "out, about": [f"{one['output_tokens']:,}" for one in judges],
        "cost, about": [_format_planned_cost_for_terminal(one["cost"]) for one in judges],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    screen.table(shown, right=[name for name in shown if name != "judge"])


def _format_printed_cached_share(judge: PlanData) -> str:
    """The share of the input that the server has read before; empty where it is none or unknown."""
    return format_percent(judge["cached_tokens"] / judge["input_tokens"]) if judge["cached_tokens"] else ""


def _format_printed_cascade_plan(cascade: PlanData) -> str:
    """How much the strong judge is asked, and what it would take to ask it about all."""
    least = "at least " if cascade["at_least"] else ""
    every = f"about all samples it would be {cascade['calls_for_all']:,} calls"
    cost = "" if cascade["cost_for_all"] is None else f", {format_dollar_amount(cascade['cost_for_all'])}"
    return (
        f"cascade: {cascade['strong']} sees {least}{pluralize_count(cascade['drawn'], 'sample')} at random; what "
        f"{cascade['cheap']} puts near a threshold comes on top ({every}{cost})"
    )


def _print_planned_total(screen: Screen, plan: PlanData) -> None:
    """What all of it comes to, how that was worked out, and whether the budget is enough."""
    from evenhand.report.result_phrases import describe_reported_cost

    total, budget = plan["total"], plan["budget"]
    if total["input_tokens"]:
        tokens = f"{total['input_tokens']:,} tokens in, {total['output_tokens']:,} out"
        screen.line()
        screen.line(f"in all, about: {tokens}; cost {describe_reported_cost(total)}")
        if plan["looked_at"] < plan["samples"]:
            screen.line(f"worked out from the first {plan['looked_at']:,} samples")
        if any(one["to_make"] for one in plan["variants"]):
            screen.line("replies and outputs that are yet to be made are taken to be about 300 tokens long")
        if plan.get("batch"):
            screen.line("judges are asked in batches, at the price of batches")
        screen.line("retries, and second questions after an unreadable reply, are not included")
    if budget:
        bounds = [format_dollar_amount(budget["money"])] if budget["money"] is not None else []
        bounds += [f"{budget['tokens']:,} tokens"] if budget["tokens"] is not None else []
        spent = [format_dollar_amount(budget["paid"])] if budget["money"] is not None and budget["paid"] else []
        spent += [f"{budget['used']:,} tokens"] if budget["tokens"] is not None and budget["used"] else []
        before = f", {' and '.join(spent)} of it spent before" if spent else ""
        if not total["input_tokens"]:
            screen.line()
        screen.line(f"budget: {', '.join(bounds)}{before}")
        if budget["exceeded"]:
            more = "the estimate is above the budget: the run would stop before its end"
            screen.line(f"{more}; raise the budget, or ask about fewer samples", fg="red")
