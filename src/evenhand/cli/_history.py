"""evenhand history: how the scores of a subject ran over its runs, and what strayed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from evenhand.cli._text import tell_json, while_read
from evenhand.errors import Fault, InputError, close_to

if TYPE_CHECKING:
    from evenhand.cli._screen import Screen
    from evenhand.history import Line


@click.command("history")
@click.argument("subject", metavar="SUBJECT")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(subject: str, as_data: bool) -> None:
    """Show the finished runs of SUBJECT, oldest first: the name of an eval, or NAME/VARIANT."""
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.history import history  # noqa: PLC0415

    with stored() as store:
        found = history(store, subject)
        if not found:
            names = list(dict.fromkeys(row["name"] for row in store.runs()))
            hint = close_to(subject, names) or f"known: {', '.join(names[:10])}"
            raise InputError(Fault(f"no finished run of {subject!r} is here", hint))
    with while_read():
        if as_data:
            tell_json([line.data() for line in found])
        else:
            _show(found)


def _show(lines: Sequence[Line]) -> None:
    from evenhand.cli._screen import Screen  # noqa: PLC0415

    screen = Screen()
    for variant, own in groupby(lines, key=lambda line: line.variant):
        screen.line(variant, bold=True)
        _show_variant(screen, list(own))
        screen.gap()


def _show_variant(screen: Screen, lines: Sequence[Line]) -> None:
    """A row for each run; what strayed, and where the numbers stopped being comparable, below it."""
    columns: dict[str, list[str]] = {
        "run": [line.evaluation.run for line in lines],
        "score": _numbers([line.evaluation.score for line in lines]),
        "composite": _numbers([line.evaluation.composite for line in lines]),
        "fingerprint": [f"{line.evaluation.fingerprint[:8]}{' (changed)' if line.changed else ''}" for line in lines],
        "asked": ["" if line.evaluation.asked else "nothing" for line in lines],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("score", "composite"))
    last = lines[-1].evaluation.consistency
    screen.line(f"latest: {last}" if last else "", indent=2)
    for line in lines[:-1]:
        for strayed in line.evaluation.consistency.strayed if line.evaluation.consistency else ():
            screen.line(f"{line.evaluation.run}: {strayed}", indent=2)


def _numbers(values: Sequence[float | None]) -> list[str]:
    return ["–" if value is None else f"{value:.2f}" for value in values] if any(v is not None for v in values) else []
