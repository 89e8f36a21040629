"""Badges in words: whether what a badge is named after holds, and by what."""

from __future__ import annotations

from evenhand.report._figures import Data

ANSWERS = {"green": "yes", "amber": "in part", "red": "no", "grey": "not known"}


def answered(badge: Data) -> str:
    """The answer and the finding behind it: no, the interval still narrows."""
    return f"{ANSWERS[badge['state']]}, {badge['says']}"


def advised(badge: Data) -> str:
    """What would turn it green; empty where it is."""
    return "" if badge["state"] == "green" else str(badge.get("advice") or "")
