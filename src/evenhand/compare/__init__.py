"""Decisions between variants: six verdicts, each with the rule that decided, its reasons and one next step."""

from evenhand.compare._column import Column
from evenhand.compare._contract import decision_json
from evenhand.compare._decide import decide
from evenhand.compare._decision import Badge, Colour, Comparison, Decision, GateState, Verdict

__all__ = ["Badge", "Colour", "Column", "Comparison", "Decision", "GateState", "Verdict", "decide", "decision_json"]
