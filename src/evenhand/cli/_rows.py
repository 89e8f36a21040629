"""Rows under column names where the screen is wide enough; else one sentence for each, so that no name is broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len

from evenhand.cli._screen import GAP, Screen

Rows = Sequence[Sequence[str]]


def show_rows(
    screen: Screen,
    names: Sequence[str],
    rows: Rows,
    *,
    heads: int,
    once: bool = False,
    right: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
) -> None:
    """Print them; the first `heads` cells name a row, and with `once` the first of these is said once in a table."""
    table = _columns(names, _said_once(rows) if once else rows)
    if _fits(screen, table, right):
        screen.table(table, right=right, colours=colours)
        return
    for row in rows:
        mark = row[0] if not names[0] else ""
        style = {"fg": colours[mark]} if colours and mark in colours else {}
        screen.line(_sentence(names, row, heads), indent=2, **style)


def _fits(screen: Screen, table: Mapping[str, Sequence[str]], right: Sequence[str]) -> bool:
    """Whether every column has room for its longest word, and those of numbers for their longest cell."""
    widest = 0
    for name, cells in table.items():
        parts = [name, *cells] if name in right else [word for cell in (name, *cells) for word in cell.split()]
        widest += max(map(cell_len, parts), default=0)
    return widest + GAP * (len(table) - 1) <= screen.width


def _columns(names: Sequence[str], rows: Rows) -> dict[str, list[str]]:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    return {name: cells for name, cells in columns.items() if any(cells)}


def _said_once(rows: Rows) -> Rows:
    return [["" if place and row[0] == rows[place - 1][0] else row[0], *row[1:]] for place, row in enumerate(rows)]


def _sentence(names: Sequence[str], row: Sequence[str], heads: int) -> str:
    """A column without a name is a mark before the row."""
    mark = f"{row[0]} " if not names[0] else ""
    head = ", ".join(cell for name, cell in zip(names[:heads], row[:heads], strict=True) if name and cell)
    rest = [" ".join([name, *cell.split()]) for name, cell in zip(names[heads:], row[heads:], strict=True) if cell]
    return f"{mark}{head}: {' · '.join(rest)}"
