"""Printing for people: text and tables fitted to the width of the terminal, colours only on a terminal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import click
from rich.cells import cell_len

from evenhand.cli.output import escape_cli_line, measure_terminal_width

COLUMN_GAP = 2
NARROWEST_COLUMN = 8
LEAST_SYLLABLE = 3  # Characters that are left for the next line where a name is broken.
WIDEST_JUDGE = 28  # Beyond this the middle of a name goes: a column must leave room for reasons.
NARROWEST_HEADER = 6  # To this width the name of a column may be broken where its numbers need no more.
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
        """Print columns below their names; a column or a name too wide for the screen is wrapped, never cut."""
        cells = {name: [escape_cli_line(self.hide(one)) for one in column] for name, column in columns.items()}
        widths = fit_terminal_table_columns(cells, right, self.width - COLUMN_GAP * (len(cells) - 1))
        styles: dict[str, dict[str, Any]] = {name: {"bold": True} for name in cells}
        for at, row in enumerate((tuple(cells), *zip(*cells.values(), strict=True))):
            wrap = _wrap_terminal_text if at else break_terminal_name
            wrapped = [wrap(cell, width) for cell, width in zip(row, widths.values(), strict=True)]
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


def print_import_mark(screen: Screen, imported: object, run: str) -> None:
    """Say of a run that was made elsewhere that it was, below the first line of what is shown of it."""
    if imported:
        from evenhand.report.phrases import IMPORTED_RUN  # few runs need it

        screen.line(f"run {run} {IMPORTED_RUN}", indent=2, fg="yellow")


def fit_terminal_table_columns(cells: Mapping[str, Sequence[str]], right: Sequence[str], room: int) -> dict[str, int]:
    """The width of each column: of its longest cell where that fits; else text gives way between words, then names of
    columns of numbers, between words and inside one, and at last text inside a word.
    """
    widths = {name: max(map(cell_len, (name, *column))) for name, column in cells.items()}
    texts = {name: " ".join((name, *column)) for name, column in cells.items() if name not in right}
    words = {name: max(map(cell_len, text.split() or [""])) for name, text in texts.items()}
    numbers = {name: max(map(cell_len, cells[name]), default=0) for name in cells if name not in texts}
    named = {name: max(most, *map(cell_len, name.split() or [""])) for name, most in numbers.items()}
    broken = {name: max(most, min(cell_len(name), NARROWEST_HEADER)) for name, most in numbers.items()}
    cut = dict.fromkeys(texts, NARROWEST_COLUMN)
    enough = sum(min(widths[name], least) for name, least in (*words.items(), *broken.items())) <= room
    for floors in (words, named, broken, cut) if enough else (words, named, cut, broken):
        while sum(widths.values()) > room and (wide := [name for name in floors if widths[name] > floors[name]]):
            widths[max(wide, key=lambda name: widths[name] - floors[name])] -= 1
    return widths


def _wrap_terminal_text(text: str, width: int) -> list[str]:
    """The text in lines of at most a width, wide characters counted as two."""
    if cell_len(text) <= width:
        return [text]
    from rich.console import Console
    from rich.text import Text

    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=width), width)]


def break_terminal_name(name: str, width: int) -> list[str]:
    """The name of a column in lines of at most a width: broken between words, else inside one, with a hyphen."""
    lines: list[str] = []
    for word in name.split() or [""]:
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
            continue
        rest = word
        while cell_len(rest) > width > 1:  # Broken behind a mark that joins its parts, else with a hyphen.
            end = next((at for at in range(len(rest), 1, -1) if cell_len(rest[:at]) < width), 1)
            fitting = end + (cell_len(rest[: end + 1]) <= width)  # A mark needs no hyphen behind it.
            joint = 1 + max(rest.rfind(mark, 0, fitting) for mark in "-_./")
            end = max(min(end, len(rest) - LEAST_SYLLABLE), 1)
            lines.append(rest[:joint] if joint > 1 else f"{rest[:end]}-")
            rest = rest[joint if joint > 1 else end :]
        lines.append(rest)
    return lines


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
    if measure_terminal_minimum(names, told, right) <= screen.width:
        columns = {name: [row[place] for row in told] for place, name in enumerate(names)}
        screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=right, colours=colours)
        return
    _print_rows_as_sentences(screen, names, rows, heads, colours or {})


def _print_rows_as_sentences(
    screen: Screen, names: Sequence[str], rows: TableRows, heads: int, colours: Mapping[str, str]
) -> None:
    for row in rows:
        mark = row[0] if not names[0] else ""  # A column without a name is a mark before the row.
        head = ", ".join(cell for name, cell in zip(names[:heads], row[:heads], strict=True) if name and cell)
        rest = [" ".join([name, *cell.split()]) for name, cell in zip(names[heads:], row[heads:], strict=True) if cell]
        screen.line(f"{mark} {head}: {' · '.join(rest)}".removeprefix(" "), indent=2, fg=colours.get(mark))


def print_unbroken_table(screen: Screen, columns: Mapping[str, Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print the columns that have something in them, or a sentence for each row where a word would be broken."""
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    names, rows = tuple(shown), list(zip(*shown.values(), strict=True))
    if measure_terminal_minimum(names, rows, right, whole_names=True) <= screen.width:
        screen.table(shown, right=right)
    else:
        _print_rows_as_sentences(screen, names, rows, 1, {})


def measure_terminal_minimum(
    names: Sequence[str], rows: TableRows, right: Sequence[str], *, whole_names: bool = False
) -> int:
    """What the columns need that have something in them: room for the longest word, or the longest number."""
    columns = [(name, [row[place] for row in rows]) for place, name in enumerate(names)]
    widths = []
    for name, cells in columns:
        if not any(cells):
            continue
        if name in right:
            header = max(map(cell_len, name.split())) if whole_names else min(cell_len(name), NARROWEST_HEADER)
            widths.append(max(*map(cell_len, cells), header))
        else:
            widths.append(max(cell_len(part) for cell in (name, *cells) for part in cell.split() or [""]))
    return sum(widths) + COLUMN_GAP * (len(widths) - 1)


def narrow_terminal_table_rows(
    names: Sequence[str], rows: TableRows, *, giving_way: Sequence[str], right: Sequence[str], width: int
) -> TableRows:
    """The rows with names cut in the columns that give way, one after the other, as far as it takes and goes."""
    for place in map(names.index, giving_way):
        longest = max(cell_len(row[place]) for row in rows)
        room = max(NARROWEST_COLUMN, longest - max(0, measure_terminal_minimum(names, rows, right) - width))
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


def shorten_distinct_names(names: Iterable[str]) -> dict[str, str]:
    """Each name as tables and sentences show it: shortened where it is long, whole where two would look alike."""
    short = {name: shorten_terminal_name(name, WIDEST_JUDGE) for name in names}
    shown = list(short.values())
    return {name: one if shown.count(one) == 1 else name for name, one in short.items()}


def print_section(screen: Screen, title: str, lines: Sequence[tuple[str, str | None]]) -> None:
    """A title with its lines below, each with its colour; nothing where there are none."""
    if not lines:
        return
    screen.line(title, bold=True, gap=True)
    for line, colour in lines:
        screen.line(line, indent=2, fg=colour)
