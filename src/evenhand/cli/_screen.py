"""Printing for people: Rich lays out, nothing trails, colours only on a terminal."""

from __future__ import annotations

import click
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenhand.cli._text import one_line


class Screen:
    """A terminal, or the file that stands in for it."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def show(self, content: RenderableType, indent: int = 0) -> None:
        """Print a table or text without trailing spaces."""
        with self._console.capture() as captured:
            self._console.print(Padding(content, (0, 0, 0, indent)))
        for line in captured.get().rstrip("\n").split("\n"):
            click.echo(line.rstrip())

    def line(self, text: str, indent: int = 0, style: str = "") -> None:
        """Print one cleaned sentence, wrapped to the width."""
        self.show(Text(one_line(text), style=style), indent)

    def gap(self) -> None:
        """Print an empty line."""
        click.echo()


def table(**columns: str) -> Table:
    """A plain table; each column is given with how it is justified."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, justify in columns.items():
        right = justify == "right"
        grid.add_column(name.replace("_", " "), justify="right" if right else "left", overflow="fold", no_wrap=right)
    return grid
