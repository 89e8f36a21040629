"""How far the panel of a run agrees with people, as the badge of a comparison takes it."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.calibrate._aligned import aligned
from evenhand.calibrate._labels import Label
from evenhand.runs import Table
from evenhand.stats import Agreement, Undefined

METHOD = "Krippendorff's α between panel and people"


def agreement_with_people(table: Table, labels: Sequence[Label]) -> Agreement | Undefined | None:
    """None where nobody labelled anything."""
    if not labels:
        return None
    found = aligned(table, labels)
    if found.alpha is None:
        return Undefined(why=found.says, method=METHOD, n=found.n)
    return Agreement(
        value=found.alpha,
        method=METHOD,
        n=found.n,
        pairs=1,
        low=found.low,
        high=found.high,
        level=None if found.low is None else 0.95,
        no_interval="too few labels" if found.low is None else "",
    )
