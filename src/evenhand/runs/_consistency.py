"""History of a subject: how the means of its criteria ran over earlier runs, and which stray. Scores never move."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evenhand.scoring import Consistency, Past, consistency


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One variant in one finished run."""

    run: str
    ended: str
    fingerprint: str
    composite: float | None
    score: float | None
    criteria: Mapping[str, Fraction]
    asked: int  # Calls that were made for it: what was all kept from before is no new evaluation.
    consistency: Consistency | None = None


def evaluations(runs: Iterable[Mapping[str, Any]], variant: str) -> list[Evaluation]:
    """A variant through the finished runs of its eval, oldest first, each held against those before it."""
    past: list[Past] = []
    found = []
    for row in sorted(runs, key=lambda row: (row["ended"] or "", row["id"])):
        one = _evaluation(row, variant)
        if one is None:
            continue
        held = consistency(one.fingerprint, one.criteria, past)
        found.append(replace(one, consistency=held))
        if one.asked:
            past.append(Past(fingerprint=one.fingerprint, scores=one.criteria))
    return found


def _evaluation(row: Mapping[str, Any], variant: str) -> Evaluation | None:
    if row["state"] != "finished" or row["summary"] is None:
        return None
    summary = json.loads(row["summary"])
    own = next((one for one in summary["variants"] if one["name"] == variant), None)
    if own is None:
        return None
    criteria = {id: Fraction(one["exact"]) for id, one in own["criteria"].items() if one["exact"] is not None}
    layers = {name: Fraction(one["exact"]) for name, one in own["layers"].items() if one is not None}
    asked = sum(one["calls"] - one["cached"] for one in summary["judges"])
    return Evaluation(
        run=row["id"],
        ended=row["ended"],
        fingerprint=row["fingerprint"],
        composite=own["composite"]["mean"] if own["composite"] else None,
        score=own["score"]["mean"] if own["score"] else None,
        criteria={**layers, **criteria},
        asked=asked if summary["judges"] else 1,
    )
