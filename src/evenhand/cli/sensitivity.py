"""evenhand sensitivity: whether the ranking of variants survives other weights, and what would turn it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from evenhand.cli.output import print_json, print_until_reader_leaves
from evenhand.cli.screen import Screen
from evenhand.wording import format_figure, format_percent, format_signed, pluralize_count, word_layer


@click.command("sensitivity")
@click.argument("run", metavar="RUN")
@click.option("--draws", type=int, default=10_000, show_default=True, help="How many weightings are drawn.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides which are drawn.")
@click.option("--spread", type=float, default=0.2, show_default=True, help="How far near weights stray, 0 to 1.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def sensitivity_command(run: str, draws: int, seed: int, spread: float, as_data: bool) -> None:
    """Rank the variants of RUN under other weights: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.compare.sensitivity import encode_compared_weight_sensitivity
    from evenhand.workflows.sensitivity import measure_run_sensitivity

    found = measure_run_sensitivity(None, run, draws=draws, seed=seed, spread=spread)
    with print_until_reader_leaves():
        print_json(encode_compared_weight_sensitivity(found)) if as_data else print_sensitivity(
            encode_compared_weight_sensitivity(found)
        )


SensitivityData = Mapping[str, Any]


def print_sensitivity(found: SensitivityData) -> None:
    """Print it; the answer comes first."""
    screen = Screen()
    screen.line(found["headline"], bold=True)
    screen.line(f"next: {found['next_step']}", indent=2)
    _print_weight_ranking(screen, found)
    if found["layers"]:
        _print_weight_ranking(screen, found["layers"])
    if found["without_judge"]:
        screen.line("Without one judge", bold=True, gap=True)
        for one in found["without_judge"]:
            first = "the same first" if one["same_winner"] else f"{one['order'][0]} is first"
            screen.line(f"{one['judge']}: {first}", indent=2)


def _print_weight_ranking(screen: Screen, one: SensitivityData) -> None:
    order = one["order"]
    screen.line()
    left = f", {one['left_out']:,} left out without all scores" if one["left_out"] else ""
    screen.heading(f"By {one['of']}", f"{pluralize_count(one['samples'], 'sample')}{left}", 0)
    columns = {
        "variant": order,
        "mean": [format_figure(one["means"][name]) for name in order],
        "first, near weights": [format_percent(one["wins"][name]) for name in order],
        "first, any weights": [format_percent(one["anywhere"]["wins"][name]) for name in order],
    }
    screen.table(columns, right=tuple(columns)[1:])
    screen.line()
    parts = one["by_weight"]
    columns = {
        {"criteria": "criterion", "layers": "layer"}[one["of"]]: [word_layer(part["criterion"]) for part in parts],
        "weight": [format_figure(part["weight"]) for part in parts],
        f"lead of {order[0]}": [format_signed(part["gap"]) for part in parts],
        "level at": [format_figure(part["flip_at"]) for part in parts],
        "without it": [_format_without_criterion_terminal(part, order[0]) for part in parts],
    }
    screen.table(columns, right=tuple(columns)[1:4])
    for line in _format_cli_weight_lines(one):
        screen.line(line, indent=2)


def _format_cli_weight_lines(one: SensitivityData) -> list[str]:
    if one["tied"]:
        return [one["noise"], *([one["note"]] if one["note"] else [])]
    first, second = one["order"][:2]
    won, order, flip = one["won"], format_percent(one["share_same_order"]), one["flip"]
    if flip is None:
        turns = f"{'No weights' if one['exact'] else 'None of the weights drawn'} put {second} level with {first}."
    else:
        known = [(part, flip["weights"].get(part["criterion"], part["weight"])) for part in one["by_weight"]]
        changed = [(part, new) for part, new in known if abs(new - part["weight"]) > 0.005]
        moved = ", ".join(
            f"{word_layer(part['criterion'])} {format_figure(part['weight'])} to {format_figure(new)}"
            for part, new in changed
        )
        drawn = "" if flip["exact"] else " drawn"
        share = format_percent(flip["distance"] / 2)
        turns = f"The smallest change{drawn} that levels them moves {share} of the weight: {moved}."
    lines = [
        f"The whole order stays the same with {order} of near weights.",
        f"{first} wins {format_percent(won['share'])} of the samples, {format_percent(won['low'])} to "
        f"{format_percent(won['high'])} under near weights.",
        turns,
        one["noise"],
    ]
    if one["share_with_noise"] is not None:
        stays = format_percent(one["share_with_noise"])
        lines.append(f"If the samples vary too, {first} stays first in {stays} of the draws.")
    if not one["exact"]:
        lines.append("Ceilings and penalties were recomputed; flags, bonuses and caps were kept.")
    return [*lines, *([one["note"]] if one["note"] else [])]


def _format_without_criterion_terminal(part: SensitivityData, first: str) -> str:
    if part["winner_without"] != first:
        return "nothing left" if part["winner_without"] is None else f"{part['winner_without']} first"
    return "the same" if part["same_order_without"] else "same first, other order"
