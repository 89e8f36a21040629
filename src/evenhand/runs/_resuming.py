"""Which run a resumed one goes on with, and whose outputs it may take over."""

from __future__ import annotations

import json

from evenhand.runs.store import Row, Store


def run_to_resume(store: Store, name: str, digest: str) -> Row | None:
    """The newest run of an eval in which all was the same, else the newest; one that was rescored asked nothing."""
    runs = store.runs(name)
    same = (row for row in runs if row["digest"] == digest)
    return next(filter(_has_asked, same), None) or next(filter(_has_asked, runs), None)


def line_of(store: Store, row: Row) -> list[str]:
    """A run, the one it took over from, the one before that, …: what they made need not be made again."""
    before = {one["id"]: one["taken_from"] for one in store.runs(row["name"])}
    line, earlier = [row["id"]], row["taken_from"]
    while earlier is not None:
        line.append(earlier)
        earlier = before.get(earlier)
    return line


def _has_asked(row: Row) -> bool:
    return "rescored_from" not in json.loads(row["setup"])
