"""The columns that depend on the eval: one for each layer, one for each criterion."""

from __future__ import annotations

from evenhand.report._figures import Data


def layers_of(head: Data) -> list[str]:
    """The layers of any variant, in order."""
    return list(dict.fromkeys(layer for variant in head["variants"] for layer in variant["layers"]))


def criteria_of(head: Data) -> list[str]:
    """The criteria of any rubric and any variant, in order."""
    asked = [criterion["id"] for rubric in head["eval"]["rubrics"] for criterion in rubric["criteria"]]
    return list(dict.fromkeys([*asked, *(id for variant in head["variants"] for id in variant["criteria"])]))


def criterion_value(result: Data, criterion: str) -> float | None:
    """What counted for a criterion of one result."""
    value: float | None = ((result["scorecard"] or {}).get("criteria") or {}).get(criterion)
    return value


def count_assertions(result: Data, passed: bool) -> int:
    """How many assertions of a result passed, or failed."""
    return sum(one["passed"] is passed for one in result["assertions"])
