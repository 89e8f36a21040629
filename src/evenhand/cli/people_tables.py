"""Printing scores on people's scale: the judges' number, people's, and what labels alone say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.cli.screen import Screen, print_table_or_sentences
from evenhand.report.people_scale import PEOPLE_SCALE_TITLE, build_people_scale_columns, describe_people_scale


def print_people_scale(screen: Screen, found: Mapping[str, Any]) -> None:
    """Print it as a section of a run or a comparison."""
    screen.line(PEOPLE_SCALE_TITLE, gap=True, bold=True)
    columns = build_people_scale_columns(found)
    columns.pop("labels alone", None)  # As wide as a screen; reports and JSON have it.
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    print_table_or_sentences(screen, tuple(columns), rows, heads=1, right=tuple(columns)[1:])
    for line in describe_people_scale(found):
        screen.line(line, indent=2, dim=True)
