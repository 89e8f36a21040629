"""Samples to look at first, on a terminal: what got worse or better and which parts moved it, and the lowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evenhand.cli.screen import (
    COLUMN_GAP,
    Screen,
    TableRows,
    measure_terminal_minimum,
    print_table_or_sentences,
    shorten_terminal_name,
)
from evenhand.wording import MISSING_DASH, format_figure, word_criterion, word_layer

NotableSampleData = Mapping[str, Any]
MOST_CRITERIA_AS_ROWS = 10  # With the composite: so many rows may a table of samples have that is turned round.
WIDEST_NAME = 24  # Cells that a long name may take before it is wrapped.
JUDGE_LAYER = "judge"  # The layer that judges fill, and the one criterion that the method layered asks for.


def print_changed_samples(
    screen: Screen, title: str, changed: Sequence[NotableSampleData], *, named: bool = False
) -> None:
    """The samples whose score changed most, with the parts that did as columns; `named` names their variants."""
    if not changed:
        return
    parts = [_list_notable_parts(one) for one in changed]
    names = [
        name
        for name in dict.fromkeys(name for own in parts for name in own)
        if any((moved := own.get(name)) and moved["before"] != moved["after"] for own in parts)
    ]
    cells = [
        [
            f"{format_figure(one['before'])} → {format_figure(one['after'])}",
            *(_format_cli_part_change(own.get(name)) for name in names),
        ]
        for one, own in zip(changed, parts, strict=True)
    ]
    _print_sample_table(screen, title, changed, names, cells, named=named)


def _list_notable_parts(one: NotableSampleData) -> dict[str, Any]:
    """What a composite is made of, by its name on screen: the layers, and the criteria behind the rubric layer.

    Where there is one layer, it is the composite. The rubric layer stands for the criterion of the method layered: it
    is what counts, with all that was corrected.
    """
    layers, criteria = one.get("layers") or {}, one["criteria"]  # Earlier versions kept no layers.
    whole = JUDGE_LAYER in layers and set(criteria) <= {JUDGE_LAYER}
    shown = {name: layer for name, layer in layers.items() if (whole if name == JUDGE_LAYER else len(layers) > 1)}
    named = {JUDGE_LAYER, *criteria}  # What a name alone could take for something else.
    parts = {f"{word_layer(name)} layer" if name in named else name: own for name, own in shown.items()}
    return parts if whole else {**parts, **{word_criterion(id): own for id, own in criteria.items()}}


def _format_cli_part_change(change: NotableSampleData | None) -> str:
    """Both values where they differ, one where they do not."""
    if change is None:
        return ""
    before, after = (MISSING_DASH if one is None else format_figure(one) for one in (change["before"], change["after"]))
    return before if before == after else f"{before} → {after}"


def print_lowest_samples(
    screen: Screen, title: str, lowest: Sequence[NotableSampleData], *, named: bool = False
) -> None:
    """The samples with the lowest scores, with their parts as columns."""
    if not lowest:
        return
    parts = [_list_notable_parts(one) for one in lowest]
    names = list(dict.fromkeys(name for own in parts for name in own))
    cells = [
        [format_figure(one["composite"]), *(format_figure(own[name]) if name in own else "" for name in names)]
        for one, own in zip(lowest, parts, strict=True)
    ]
    _print_sample_table(screen, title, lowest, names, cells, named=named)


def _print_sample_table(
    screen: Screen, title: str, samples: Sequence[NotableSampleData], parts: list[str], cells: TableRows, *, named: bool
) -> None:
    """Samples with their parts as columns; only a very long name is cut, where it can still be told apart."""
    told = ["sample", "variant"] if named or len({one["variant"] for one in samples}) > 1 else ["sample"]
    names, heads = [*told, "composite", *parts], len(told)
    rows = [[*(one[name] for name in told), *own] for one, own in zip(samples, cells, strict=True)]
    screen.line(title, bold=True, gap=True)
    if any(cell_len(name) > WIDEST_NAME for name in names[heads + 1 :]):
        cut = [*names[: heads + 1], *(shorten_terminal_name(name, WIDEST_NAME) for name in names[heads + 1 :])]
        names = cut if len(set(cut)) == len(cut) else names
    unbroken = sum(COLUMN_GAP + max(map(cell_len, cells)) for cells in zip(names, *rows, strict=True)) - COLUMN_GAP
    if heads == 1 and unbroken > screen.width:
        turned = _turn_printed_sample_table(names[heads:], samples, cells)
        ids = list(turned)[1:]
        if turned and measure_terminal_minimum([*turned], [*zip(*turned.values(), strict=True)], ids) <= screen.width:
            screen.table(turned, right=ids)
            return
    print_table_or_sentences(screen, names, rows, heads=heads, right=names[heads:])


def _turn_printed_sample_table(
    names: Sequence[str], samples: Sequence[NotableSampleData], cells: Sequence[Sequence[str]]
) -> dict[str, list[str]]:
    """The same with samples as columns, for a screen too narrow for the criteria; empty where these are too many."""
    ids = [one["sample"] for one in samples]
    if len(names) > MOST_CRITERIA_AS_ROWS or len({"criterion", *ids}) <= len(ids):
        return {}
    return {"criterion": [*names], **{id: list(own) for id, own in zip(ids, cells, strict=True)}}
