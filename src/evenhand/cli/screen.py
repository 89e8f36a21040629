"""Printing for people: text and tables fitted to the width of the terminal, colours only on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import click
from rich.cells import cell_len

from evenhand.cli.output import escape_cli_line, measure_terminal_width

COLUMN_GAP = 2
NARROWEST_COLUMN = 8
WORKFLOW_COMMAND_MARKS = ("::", "##[")  # A line of a log that begins so is obeyed by GitHub Actions.


@dataclass(slots=True)
class Screen:
    """A terminal, or the file that stands in for it."""

    hide: Callable[[str], str] = str  # What every text is put through before it is shown.
    width: int = field(default_factory=measure_terminal_width)

    def line(self, text: str = "", indent: int = 0, *, gap: bool = False, **style: Any) -> None:
        """Print a sentence, wrapped to the width, with `gap` below an empty line; without a text that alone."""
        if gap:
            self._echo("")
        style = {name: value for name, value in style.items() if value is not None}
        for part in _wrap_terminal_text(escape_cli_line(self.hide(text)), self.width - indent):
            self._echo(" " * indent + (click.style(part, **style) if style and part else part))

    def heading(self, text: str, more: str, indent: int) -> None:
        """Print a name in bold with something fainter behind it."""
        name = escape_cli_line(text)
        first, *rest = _wrap_terminal_text(f"{name}  {escape_cli_line(more)}", self.width - indent)
        faint = [click.style(line, dim=True) if line else "" for line in (first[len(name) :], *rest)]
        whole = click.style(name, bold=True) + faint[0] if name and first.startswith(name) else first
        for part in (whole, *faint[1:]):
            self._echo(" " * indent + part)

    def table(
        self,
        columns: Mapping[str, Sequence[str]],
        *,
        right: Sequence[str] = (),
        colours: Mapping[str, str] | None = None,
    ) -> None:
        """Print columns below their names; a column too wide for the screen is wrapped, never cut."""
        cells = {name: [escape_cli_line(self.hide(one)) for one in column] for name, column in columns.items()}
        # As wide as its longest cell, where that fits; else columns of text give way, between words if they can.
        widths = {name: max(map(cell_len, (name, *column))) for name, column in cells.items()}
        texts = {name: " ".join((name, *column)) for name, column in cells.items() if name not in right}
        words = {name: max(map(cell_len, text.split() or [""])) for name, text in texts.items()}
        room = self.width - COLUMN_GAP * (len(cells) - 1)
        for floors in (words, dict.fromkeys(texts, NARROWEST_COLUMN)):
            while sum(widths.values()) > room and (wide := [name for name in texts if widths[name] > floors[name]]):
                widths[max(wide, key=lambda name: widths[name] - floors[name])] -= 1
        styles: dict[str, dict[str, Any]] = {name: {"bold": True} for name in cells}
        for row in (tuple(cells), *zip(*cells.values(), strict=True)):
            wrapped = [_wrap_terminal_text(cell, width) for cell, width in zip(row, widths.values(), strict=True)]
            for parts in zip_longest(*wrapped, fillvalue=""):
                line = ""
                for part, cell, (name, width) in zip(parts, row, widths.items(), strict=True):
                    space = " " * (width - cell_len(part))
                    shown = click.style(part, **styles[cell]) if part and cell in styles else part
                    line += (space + shown if name in right else shown + space) + " " * COLUMN_GAP
                self._echo(line.rstrip())
            styles = {cell: {"fg": colour} for cell, colour in (colours or {}).items()}  # Below the names.

    def _echo(self, text: str) -> None:
        plain = click.unstyle(text).lstrip()
        if os.environ.get("GITHUB_ACTIONS") == "true" and plain.startswith(WORKFLOW_COMMAND_MARKS):
            text = f"\\{plain}"
        click.echo(text, color=False if os.environ.get("NO_COLOR") else None)


def _wrap_terminal_text(text: str, width: int) -> list[str]:
    """The text in lines of at most a width, wide characters counted as two."""
    if cell_len(text) <= width:
        return [text]
    from rich.console import Console
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=width), width)]


TableRows = Sequence[Sequence[str]]


def print_table_or_sentences(
    screen: Screen,
    names: Sequence[str],
    rows: TableRows,
    *,
    heads: int,
    once: bool = False,
    right: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
) -> None:
    """Print them; the first `heads` cells name a row, and with `once` the first of these is said once in a table."""
    told = [["" if once and at and row[0] == rows[at - 1][0] else row[0], *row[1:]] for at, row in enumerate(rows)]
    if measure_least_table_width(names, told, right) <= screen.width:
        columns = {name: [row[place] for row in told] for place, name in enumerate(names)}
        screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=right, colours=colours)
        return
    for row in rows:
        mark = row[0] if not names[0] else ""  # A column without a name is a mark before the row.
        head = ", ".join(cell for name, cell in zip(names[:heads], row[:heads], strict=True) if name and cell)
        rest = [" ".join([name, *cell.split()]) for name, cell in zip(names[heads:], row[heads:], strict=True) if cell]
        screen.line(f"{mark} {head}: {' · '.join(rest)}".removeprefix(" "), indent=2, fg=(colours or {}).get(mark))


def measure_least_table_width(names: Sequence[str], rows: TableRows, right: Sequence[str]) -> int:
    """What the columns need that have something in them: room for the longest word, or the longest number."""
    columns = [(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    widths = [
        max(cell_len(part) for cell in (name, *cells) for part in ([cell] if name in right else cell.split() or [""]))
        for name, cells in columns
        if any(cells)
    ]
    return sum(widths) + COLUMN_GAP * (len(widths) - 1)


def narrow_table_rows(
    names: Sequence[str], rows: TableRows, *, giving_way: Sequence[str], right: Sequence[str], width: int
) -> TableRows:
    """The rows with names cut in the columns that give way, one after the other, as far as it takes and goes."""
    for place in map(names.index, giving_way):
        longest = max(cell_len(row[place]) for row in rows)
        room = max(NARROWEST_COLUMN, longest - max(0, measure_least_table_width(names, rows, right) - width))
        rows = [[*row[:place], shorten_terminal_name(row[place], room), *row[place + 1 :]] for row in rows]
    return rows


def shorten_terminal_name(name: str, width: int) -> str:
    """A name of at most this width; names that differ often differ at the end, so the middle goes."""
    if cell_len(name) <= width:
        return name
    start, end = name[: len(name) // 2], name[len(name) // 2 :]
    while cell_len(start) + cell_len(end) >= width:
        start, end = (start[:-1], end) if cell_len(start) >= cell_len(end) else (start, end[1:])
    return f"{start}…{end}"
