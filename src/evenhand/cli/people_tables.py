"""Printing scores on another scale than that of all judges: people's, by labels, or the strong judge's of a cascade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.cli.screen import Screen, print_table_or_sentences
from evenhand.report.result_phrases import (
    CASCADE_TITLE,
    PEOPLE_SCALE_TITLE,
    build_cascade_table_columns,
    build_people_scale_table_columns,
    describe_reported_cascade,
    describe_reported_people_scale,
)


def print_people_scale(screen: Screen, found: Mapping[str, Any]) -> None:
    """Print it as a section of a run or a comparison."""
    screen.line(PEOPLE_SCALE_TITLE, gap=True, bold=True)
    columns = build_people_scale_table_columns(found)
    columns.pop("labels alone", None)  # As wide as a screen; reports and JSON have it.
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    print_table_or_sentences(screen, tuple(columns), rows, heads=1, right=tuple(columns)[1:])
    for line in describe_reported_people_scale(found):
        screen.line(line, indent=2, dim=True)


def print_cascade(screen: Screen, found: Mapping[str, Any]) -> None:
    """Print what a cascade comes to as a section of a run."""
    screen.line(CASCADE_TITLE, gap=True, bold=True)
    columns = build_cascade_table_columns(found)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    print_table_or_sentences(screen, tuple(columns), rows, heads=1, right=tuple(columns)[1:])
    for line in describe_reported_cascade(found):
        screen.line(line, indent=2, dim=True)
