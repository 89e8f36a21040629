"""How wide a table has to be so that no word in it is broken, and names cut in the middle where that is too wide."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from evenhand.cli._screen import GAP, NARROWEST

Rows = Sequence[Sequence[str]]


def least_width(names: Sequence[str], rows: Rows, right: Sequence[str]) -> int:
    """What the columns need that have something in them: room for the longest word, or the longest number."""
    columns = [(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    widths = [_longest(name, cells, whole=name in right) for name, cells in columns if any(cells)]
    return sum(widths) + GAP * (len(widths) - 1)


def narrowed(names: Sequence[str], rows: Rows, *, giving_way: Sequence[str], right: Sequence[str], width: int) -> Rows:
    """The rows with names cut in the columns that give way, one after the other, as far as it takes and goes."""
    for place in map(names.index, giving_way):
        longest = max(cell_len(row[place]) for row in rows)
        room = max(NARROWEST, longest - max(0, least_width(names, rows, right) - width))
        rows = [[*row[:place], shortened(row[place], room), *row[place + 1 :]] for row in rows]
    return rows


def _longest(name: str, cells: Sequence[str], *, whole: bool) -> int:
    return max(cell_len(part) for cell in (name, *cells) for part in ([cell] if whole else cell.split() or [""]))


def shortened(name: str, width: int) -> str:
    """A name of at most this width; names that differ often differ at the end, so the middle goes."""
    if cell_len(name) <= width:
        return name
    start, end = name[: len(name) // 2], name[len(name) // 2 :]
    while cell_len(start) + cell_len(end) >= width:
        start, end = (start[:-1], end) if cell_len(start) >= cell_len(end) else (start, end[1:])
    return f"{start}…{end}"
