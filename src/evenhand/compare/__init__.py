"""Decisions between variants: six verdicts, each with the rule that decided, its reasons and one next step."""

from typing import TYPE_CHECKING

from evenhand.compare._column import Column
from evenhand.compare._contract import aligned_badge, decision_json
from evenhand.compare._decide import decide
from evenhand.compare._decision import (
    WORST_FIRST,
    Badge,
    Colour,
    Comparison,
    Decision,
    GateState,
    LayerVerdict,
    Verdict,
)
from evenhand.compare.weights._found import Sensitivity
from evenhand.compare.weights._json import sensitivity_json
from evenhand.compare.weights._sensitivity import sensitivity

if TYPE_CHECKING:
    from evenhand.compare._stopping import Settled, Stopping

__all__ = [
    "WORST_FIRST",
    "Badge",
    "Colour",
    "Column",
    "Comparison",
    "Decision",
    "GateState",
    "LayerVerdict",
    "Sensitivity",
    "Settled",
    "Stopping",
    "Verdict",
    "aligned_badge",
    "decide",
    "decision_json",
    "sensitivity",
    "sensitivity_json",
]


def __getattr__(name: str) -> object:
    """The stopping rule is loaded when it is used: whoever shows a decision needs no NumPy."""
    if name not in ("Settled", "Stopping"):
        raise AttributeError(f"module 'evenhand.compare' has no attribute {name!r}")
    from evenhand.compare import _stopping  # noqa: PLC0415

    return getattr(_stopping, name)
