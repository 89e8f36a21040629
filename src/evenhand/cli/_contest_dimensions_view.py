"""The dimensions of a task on a terminal, and what can be done with them now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenhand.cli._screen import Screen
from evenhand.cli._text import clean
from evenhand.model import written

if TYPE_CHECKING:
    from evenhand.cli._contest_dimensions import Locked
    from evenhand.model import Rubric


def show_dimensions(rubric: Rubric, locked: Locked, file: str) -> None:
    """Print them as a table, and as text to paste where they could not be written."""
    screen = Screen()
    columns = {
        "dimension": [one.id for one in rubric.criteria],
        "weight": [written(one.weight) for one in rubric.criteria],
        "kind": ["fixed" if one.fixed else "of this task" for one in rubric.criteria],
        "asks": [one.asks for one in rubric.criteria],
    }
    screen.table(columns, right=("weight",))
    screen.gap()
    if locked.written:
        screen.line(f"written: {file}; edit them there before the contest starts (weights sum to 1)")
        return
    screen.line(f"not written: {file} is not in YAML's block style; paste this into it:")
    screen.gap()
    click.echo(clean(locked.to_paste), nl=False)
