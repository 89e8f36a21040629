"""A ranking under other weights on a terminal: does it survive, what decides it, what turns it around."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.cli._screen import Screen

Data = Mapping[str, Any]


def show_sensitivity(found: Data) -> None:
    """Print it; the answer comes first."""
    screen = Screen()
    screen.line(found["headline"], bold=True)
    screen.line(f"next: {found['next_step']}", indent=2)
    _show_ranking(screen, found)
    if found["layers"]:
        _show_ranking(screen, found["layers"])
    if found["without_judge"]:
        screen.gap()
        screen.line("Without one judge", bold=True)
        for one in found["without_judge"]:
            first = "the same first" if one["same_winner"] else f"{one['order'][0]} is first"
            screen.line(f"{one['judge']}: {first}", indent=2)


def _show_ranking(screen: Screen, one: Data) -> None:
    order = one["order"]
    screen.gap()
    left = f", {one['left_out']:,} left out without all scores" if one["left_out"] else ""
    screen.heading(f"By {one['of']}", f"{one['samples']:,} samples{left}", 0)
    screen.table(
        {
            "variant": order,
            "mean": [f"{one['means'][name]:.2f}" for name in order],
            "first, near weights": [_percent(one["wins"][name]) for name in order],
            "first, any weights": [_percent(one["anywhere"]["wins"][name]) for name in order],
        },
        right=("mean", "first, near weights", "first, any weights"),
    )
    screen.gap()
    singular = {"criteria": "criterion", "layers": "layer"}[one["of"]]
    parts = one["by_weight"]
    screen.table(
        {
            singular: [part["criterion"] for part in parts],
            "weight": [f"{part['weight']:.2f}" for part in parts],
            f"lead of {order[0]}": [_signed(part["gap"]) for part in parts],
            "level at": ["–" if part["flip_at"] is None else f"{part['flip_at']:.2f}" for part in parts],
            "without it": [_without(part, one) for part in parts],
        },
        right=("weight", f"lead of {order[0]}", "level at"),
    )
    for line in _lines(one):
        screen.line(line, indent=2)


def _lines(one: Data) -> list[str]:
    if one["tied"]:
        return [one["noise"], *([one["note"]] if one["note"] else [])]
    first, second = one["order"][:2]
    won, order = one["won"], _percent(one["share_same_order"])
    flip = one["flip"]
    moved = "" if flip is None else ", ".join(_moved(part, flip["weights"]) for part in _changed(one, flip["weights"]))
    turns = (
        f"No weights put {second} level with {first}."
        if flip is None and one["exact"]
        else f"None of the weights drawn put {second} level with {first}."
        if flip is None
        else f"The {'smallest change' if flip['exact'] else 'smallest change drawn'} that levels them moves "
        f"{_percent(flip['distance'] / 2)} of the weight: {moved}."
    )
    lines = [
        f"The whole order stays the same with {order} of near weights.",
        f"{first} wins {_percent(won['share'])} of the samples, {_percent(won['low'])} to {_percent(won['high'])} "
        "under near weights.",
        turns,
        one["noise"],
        f"Another set of samples counted too, {first} stays first in {_percent(one['share_with_noise'])}.",
    ]
    if not one["exact"]:
        lines.append("Ceilings and penalties were worked out anew; flags, bonuses and caps stay as they were.")
    return [*lines, *([one["note"]] if one["note"] else [])]


def _changed(one: Data, weights: Mapping[str, float]) -> list[Data]:
    return [
        part
        for part in one["by_weight"]
        if part["criterion"] in weights and abs(weights[part["criterion"]] - part["weight"]) > 0.005
    ]


def _moved(part: Data, weights: Mapping[str, float]) -> str:
    return f"{part['criterion']} {part['weight']:.2f} to {weights[part['criterion']]:.2f}"


def _without(part: Data, one: Data) -> str:
    if part["winner_without"] is None:
        return "nothing left"
    if part["winner_without"] != one["order"][0]:
        return f"{part['winner_without']} first"
    return "the same" if part["same_order_without"] else "same first, other order"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


def _percent(share: float) -> str:
    """Never 0 or 100 % while it is neither."""
    if 0 < share < 0.005:
        return "under 1 %"
    return "over 99 %" if 0.995 < share < 1 else f"{share * 100:.0f} %"
