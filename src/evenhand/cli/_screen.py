"""Printing for people: wrapped to the width, nothing trailing, colours only on a terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

import click
from rich.cells import cell_len

from evenhand.cli._text import one_line

GAP = 2
NARROWEST = 8
COMMANDS = ("::", "##[")  # A line of a log that begins so is obeyed by GitHub Actions.


class Screen:
    """A terminal, or the file that stands in for it."""

    def __init__(self, hide: Callable[[str], str] = str) -> None:
        self._hide = hide  # What every text is put through before it is shown.
        self.width = min(max(20, shutil.get_terminal_size().columns), 1000)
        self._colour = False if os.environ.get("NO_COLOR") else None
        self._obeyed = os.environ.get("GITHUB_ACTIONS") == "true"

    def line(self, text: str, indent: int = 0, **style: object) -> None:
        """Print one cleaned sentence, wrapped to the width."""
        for part in _wrapped(one_line(self._hide(text)), self.width - indent):
            self._echo(" " * indent + _styled(part, style))

    def heading(self, text: str, more: str, indent: int) -> None:
        """Print a name in bold with something fainter behind it."""
        whole = f"{one_line(text)}  {one_line(more)}"
        first, *rest = _wrapped(whole, self.width - indent)
        name = one_line(text)
        if first.startswith(name):
            first = _styled(name, {"bold": True}) + _styled(first[len(name) :], {"dim": True})
        for part in (first, *(_styled(line, {"dim": True}) for line in rest)):
            self._echo(" " * indent + part)

    def gap(self) -> None:
        """Print an empty line."""
        self._echo("")

    def table(
        self,
        columns: Mapping[str, Sequence[str]],
        *,
        right: Sequence[str] = (),
        colours: Mapping[str, str] | None = None,
    ) -> None:
        """Print columns below their names; a column too wide for the screen is wrapped, never cut."""
        cells = {name: [one_line(self._hide(cell)) for cell in column] for name, column in columns.items()}
        widths = self._widths(cells, right)
        self._row(list(cells), widths, right, {name: {"bold": True} for name in cells})
        for row in zip(*cells.values(), strict=True):
            styles = {cell: {"fg": colours[cell]} for cell in row if colours and cell in colours}
            self._row(row, widths, right, styles)

    def _widths(self, cells: Mapping[str, list[str]], right: Sequence[str]) -> dict[str, int]:
        """As wide as its longest cell, where that fits; else columns of text give way, between words if they can."""
        widths = {name: max(map(cell_len, (name, *column))) for name, column in cells.items()}
        texts = [name for name in cells if name not in right]
        words = {
            name: max(cell_len(word) for cell in (name, *cells[name]) for word in cell.split() or [""])
            for name in texts
        }
        room = self.width - GAP * (len(cells) - 1)
        for floors in (words, dict.fromkeys(texts, NARROWEST)):
            while sum(widths.values()) > room and (wide := [name for name in texts if widths[name] > floors[name]]):
                widths[max(wide, key=lambda name: widths[name] - floors[name])] -= 1
        return widths

    def _row(
        self,
        row: Sequence[str],
        widths: Mapping[str, int],
        right: Sequence[str],
        styles: Mapping[str, Mapping[str, object]],
    ) -> None:
        wrapped = [_wrapped(cell, width) for cell, width in zip(row, widths.values(), strict=True)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            line = ""
            for part, cell, (name, width) in zip(parts, row, widths.items(), strict=True):
                space = " " * (width - cell_len(part))
                line += (space if name in right else "") + _styled(part, styles.get(cell, {}))
                line += ("" if name in right else space) + " " * GAP
            self._echo(line.rstrip())

    def _echo(self, text: str) -> None:
        if self._obeyed and click.unstyle(text).lstrip().startswith(COMMANDS):
            text = f"\\{click.unstyle(text).lstrip()}"
        click.echo(text, color=self._colour)


def _styled(text: str, style: Mapping[str, object]) -> str:
    return click.style(text, **style) if style and text else text  # type: ignore[arg-type]


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most a width, wide characters counted as two."""
    if cell_len(text) <= width:
        return [text]
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    return [line.plain.rstrip() for line in Text(text).wrap(Console(width=width), width)]
