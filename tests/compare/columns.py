"""Columns that are valid by default, so that a test names only what it is about."""

from collections.abc import Sequence
from typing import Any

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, Comparison, VariantColumn

Row = Sequence[float | None]


def column(judge: Row, **layers: Row) -> VariantColumn:
    """A variant scored by the judge layer, and by others where named; the composite is their mean."""
    every = {"judge": judge, **layers}
    composite = [
        None if None in row else sum(filter(None, row)) / len(row) for row in zip(*every.values(), strict=True)
    ]
    return VariantColumn(composite=composite, layers=every)


def decided(control: VariantColumn, *treatments: VariantColumn, **more: Any) -> CompareDecision:
    """The decision between "old" and "new", "new2", …; every row is a sample of its own unless said otherwise."""
    names = ["new", *(f"new{place}" for place in range(2, len(treatments) + 1))]
    columns = {"old": control, **dict(zip(names, treatments, strict=False))}
    more = {"clusters": range(len(control.composite)), "seed": 1, **more}
    for name, rows in more.get("judges", {}).items():
        if not isinstance(rows, dict):
            more["judges"] = {**more["judges"], name: {f"judge {place}": row for place, row in enumerate(rows)}}
    return decide_comparison(columns, control="old", **more)


def compared(control: VariantColumn, treatment: VariantColumn, **more: Any) -> Comparison:
    """The one comparison between a control and a treatment."""
    (found,) = decided(control, treatment, **more).comparisons
    return found


def spread(mean: float, n: int = 24) -> list[float]:
    """Scores around a mean, half a point to either side."""
    return [mean + (0.5 if place % 2 else -0.5) for place in range(n)]
