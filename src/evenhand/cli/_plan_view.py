"""A plan on a terminal: what would be asked, of whom, and about what it would cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.cli._screen import Screen
from evenhand.report import figures as f

Data = Mapping[str, Any]


def show_plan(plan: Data) -> None:
    """Print the plan."""
    screen = Screen()
    repeats = f" · {plan['repeats']} repeats" if plan["repeats"] > 1 else ""
    screen.line(
        f"{plan['name']} · {f.times(plan['samples'], 'sample')}{repeats} · fingerprint {plan['fingerprint']}", dim=True
    )
    screen.gap()
    variants = plan["variants"]
    screen.table(
        {
            "variant": [one["name"] for one in variants],
            "outputs": [_outputs(one) for one in variants],
            "from": [one["about"] for one in variants],
        }
    )
    screen.gap()
    if plan["judges"]:
        _show_judges(screen, plan)
    else:
        screen.line("no judge is asked")
    if plan["note"]:
        screen.line(f"note: {plan['note']}")
    screen.gap()
    screen.line("nothing was asked; without --plan the run begins", dim=True)


def _outputs(variant: Data) -> str:
    counts = {"to make": variant["to_make"], "taken over": variant["taken_over"]}
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "recorded"


def _show_judges(screen: Screen, plan: Data) -> None:
    judges = plan["judges"]
    columns = {
        "judge": [one["name"] for one in judges],
        "calls": [f"{one['calls']:,}" for one in judges],
        "kept from before": [f"{one['kept']:,}" if one["kept"] else "" for one in judges],
        "tokens in": [f"{one['input_tokens']:,}" for one in judges],
        "out, about": [f"{one['output_tokens']:,}" for one in judges],
        "cost, about": ["unknown" if one["cost"] is None else f.dollars(one["cost"]) for one in judges],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    screen.table(shown, right=[name for name in shown if name != "judge"])
    screen.gap()
    if plan["looked_at"] < plan["samples"]:
        screen.line(f"worked out from the first {plan['looked_at']:,} samples")
    if any(one["to_make"] for one in plan["variants"]):
        screen.line("outputs that are yet to be made are counted as empty: expect more tokens")
    screen.line("retries and questions asked again because a reply could not be read come on top")
    if plan["budget"]:
        money, tokens = plan["budget"]["money"], plan["budget"]["tokens"]
        bounds = [f.dollars(money)] if money is not None else []
        bounds += [f"{tokens:,} tokens"] if tokens is not None else []
        screen.line(f"budget: {', '.join(bounds)}")
