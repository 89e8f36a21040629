"""What a page shows of a rubric: its criteria with their anchors, and its method drawn as steps."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.report.rubric_phrases import describe_method_scale, format_anchor_place, list_method_steps
from evenhand.wording import format_fraction


def build_rubric_page(found: Rubric | Method) -> dict[str, Any]:
    """All that the template is given of a rubric, or of a method that has no criteria of its own."""
    method = found.method if isinstance(found, Rubric) else found
    rubric = found if isinstance(found, Rubric) else None
    total = sum((one.weight for one in rubric.criteria), start=0) if rubric else 0
    return {
        "name": found.name,
        "about": found.about,
        "method": method,
        "method_about": method.about if rubric else "",
        "score_scale": describe_method_scale(method),
        "criteria": [one for each in rubric.criteria for one in _list_criteria(each, total)] if rubric else [],
        "statements": [
            (kind, one.id, "" if one.id == one.asks else one.asks, format_fraction(one.amount) if one.amount else "")
            for kind, several in (("Red flags", rubric.red_flags), ("Bonuses", rubric.bonuses))
            for one in several
        ]
        if rubric
        else [],
        "gates": [(gate.criterion, format_fraction(gate.min)) for gate in rubric.all_gates] if rubric else [],
        "steps": list_method_steps(method),
        "grades": [(one.grade, format_fraction(one.from_, method.scale.decimals), one.label) for one in method.grades],
        "verdicts": [(one.verdict, format_fraction(one.from_)) for one in method.verdicts],
    }


def _list_criteria(criterion: Criterion, total: Any, depth: int = 0) -> Iterator[SimpleNamespace]:
    """A criterion and those below it."""
    worth = format_fraction(criterion.weight if criterion.points is None else criterion.points)
    yield SimpleNamespace(
        id=criterion.id,
        asks=criterion.asks,
        scale=str(criterion.scale),
        worth=worth if criterion.points is None else f"{worth} points",
        share=round(float(100 * criterion.weight / total), 1) if total and not depth else None,
        anchors=[(format_anchor_place(one, criterion.scale), one.text) for one in criterion.anchors],
        depth=depth,
    )
    for child in criterion.children:
        yield from _list_criteria(child, total, depth + 1)
