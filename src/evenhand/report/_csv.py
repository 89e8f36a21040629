"""A run as a spreadsheet: one row for each result, and no text in it is a formula."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import TextIO

from evenhand.report._columns import count_assertions, criteria_of, criterion_value, layers_of
from evenhand.report._figures import Data
from evenhand.report._inert import written_out

BYTE_ORDER_MARK = "\ufeff"  # Without it Excel takes UTF-8 for the alphabet of the country it was bought in.
LONGEST = 32_000  # A spreadsheet's cell holds 32,767 characters; the rest would spill into the next row.

# Spreadsheets calculate what begins so; the wide forms count in East Asian editions. A quote before it is doubled,
# so that taking one away gives back the text.
_FORMULA = re.compile(r"'*[\s\u200b-\u200d\u2060\ufeff]*[=+\-@＝＋－＠]|'*[\t\r\n]")


def write_csv(head: Data, samples: Iterable[Data], stream: TextIO) -> None:
    """Write a row for each result; the stream is one opened with newline=""."""
    layers, criteria = layers_of(head), criteria_of(head)
    stream.write(BYTE_ORDER_MARK)
    rows = csv.writer(stream)
    rows.writerow(_cells(_names(layers, criteria)))
    for sample in samples:
        for result in sample["results"]:
            rows.writerow(_cells(_row(sample, result, layers, criteria)))


def _names(layers: list[str], criteria: list[str]) -> list[object]:
    measured = [*(f"layer:{name}" for name in layers), *(f"criterion:{id}" for id in criteria)]
    rest = ["verdict", "assertions_passed", "assertions_failed", "cost", "latency_ms", "why", "output"]
    return ["id", "variant", "repeat", "state", "score", "composite", *measured, *rest]


def _row(sample: Data, result: Data, layers: list[str], criteria: list[str]) -> list[object]:
    output = result["output"] or {}
    return [
        sample["id"],
        result["variant"],
        result["repeat"],
        result["state"],
        result["score"],
        result["composite"],
        *(result["layers"].get(name) for name in layers),
        *(criterion_value(result, id) for id in criteria),
        result["verdict"],
        count_assertions(result, True),
        count_assertions(result, False),
        output.get("cost"),
        output.get("latency_ms"),
        result["why"],
        output.get("text"),
    ]


def _cells(row: Iterable[object]) -> list[object]:
    return [cell(value) if isinstance(value, str) else value for value in row]


def cell(text: str) -> str:
    """A text that a spreadsheet shows and does not calculate."""
    shown = written_out(text[: LONGEST + 1])
    shown = shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"
    return f"'{shown}" if _FORMULA.match(shown) else shown
