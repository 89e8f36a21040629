"""The ranking of a contest as a table, which gives way column by column before it is given up for sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.cli._contest_widths import Rows, least_width
from evenhand.cli._rows import show_rows
from evenhand.cli._screen import Screen

Data = Mapping[str, Any]
UNRANKED = dict.fromkeys(("below_threshold", "gate_failed", "unjudged"), "yellow")
STATUSES = {"won": "green", "policy_violation": "red", **UNRANKED}
COLOURS = {**STATUSES, **{status.replace("_", " "): colour for status, colour in STATUSES.items()}}
NUMBERS = ("rank", "score", "alone")
AUTHOR = "author"


def show_ranking(screen: Screen, record: Data) -> None:
    """Those with a rank first, the others in order of arrival."""
    if not record["submissions"]:
        return
    ranked = sorted(record["submissions"], key=lambda one: (one["rank"] is None, one["rank"] or 0))
    fastest = record["mode"] == "fastest_first"
    names = ["rank", "submission", AUTHOR, "score", "band" if fastest else "alone", "status", "flags"]
    tables = list(_narrower(names, [_row(one, fastest=fastest) for one in ranked]))
    fitting = (table for table in tables if least_width(*table, NUMBERS) <= screen.width)
    names, rows = next(fitting, tables[0])
    screen.gap()
    show_rows(screen, names, rows, heads=len(names) - 4, right=NUMBERS, colours=COLOURS)


def _narrower(names: list[str], rows: list[list[str]]) -> Iterator[tuple[list[str], Rows]]:
    """The table, without its authors, and with statuses and flags in words that can be wrapped; ids never break."""
    author = names.index(AUTHOR)
    alike = all(row[author] == row[1] for row in rows)
    if not alike:
        yield names, rows
    names, rows = _without(names, author), [_without(row, author) for row in rows]
    yield names, rows
    yield names, [[*row[:-2], row[-2].replace("_", " "), row[-1].replace(",", "")] for row in rows]


def _without(cells: list[str], place: int) -> list[str]:
    return cells[:place] + cells[place + 1 :]


def _row(one: Data, *, fastest: bool) -> list[str]:
    """A finalist's score is the one side by side, and what it had alone stands beside it."""
    feedback = {given["type"]: given for given in one["feedback"]}
    alone = feedback.get("individual_scoring", {})
    flags = (feedback.get("scoring") or alone).get("risk_flags", ())
    total, band = alone.get("penalized_total"), alone.get("overall_band") or ""
    return [
        "–" if one["rank"] is None else str(one["rank"]),
        one["id"],
        one["author"],
        _number(one["score"]),
        band if fastest else f"{band} {_number(total)}".strip(),
        one["status"],
        ", ".join(flags),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
