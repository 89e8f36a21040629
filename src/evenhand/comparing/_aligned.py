"""Whether the judges behind a comparison say what people say, where a run has labels."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.comparing._sides import Side
from evenhand.runs.store import Store
from evenhand.stats import Agreement, Undefined


def alignment(store: Store, sides: Sequence[Side]) -> Agreement | Undefined | None:
    """By the labels of the treatments' run, else by those of the control's; None where nobody labelled anything."""
    for side in reversed(sides):
        rows = list(store.labels(side.run["id"]))
        if rows:
            from evenhand.calibrate import agreement_with_people, label_from  # noqa: PLC0415 - most runs have no labels

            return agreement_with_people(side.member.table, [label_from(row) for row in rows])
    return None
