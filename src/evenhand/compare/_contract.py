"""A decision as plain data: stable keys, rounded numbers, nothing that JSON cannot say."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from evenhand.compare._decision import Badge, Comparison, Decision

if TYPE_CHECKING:
    from evenhand.compare._facts import NotWorse, Spread
    from evenhand.stats import Agreement, Difference, PowerBand, Saturation, Undefined


def decision_json(decision: Decision) -> dict[str, Any]:
    """Plain data for files and programs; null is an end without a bound, or a number that there is not."""
    return {
        "verdict": decision.verdict,
        "exit_code": decision.exit_code,
        "headline": decision.headline,
        "sure": decision.sure,
        "control": decision.control,
        "best": decision.best,
        "gates": {
            variant: [{**asdict(state), "mean": _rounded(state.mean)} for state in states]
            for variant, states in decision.gates.items()
        },
        "comparisons": [_comparison(comparison) for comparison in decision.comparisons],
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "treatment": comparison.treatment,
        "control": comparison.control,
        "verdict": comparison.verdict,
        "headline": comparison.headline,
        "sure": comparison.sure,
        "rule": comparison.rule,
        "reasons": list(comparison.reasons),
        "next_step": comparison.next_step,
        "composite": _difference(comparison.composite),
        "p": _significant(comparison.p),
        "layers": {name: _difference(found) for name, found in comparison.layers.items()},
        "layer_verdicts": {
            name: {**asdict(found), "reasons": list(found.reasons)} for name, found in comparison.layer_verdicts.items()
        },
        "criteria": {name: _difference(found) for name, found in comparison.criteria.items()},
        "distribution": _spread(comparison.spread),
        "not_worse": _not_worse(comparison.not_worse),
        "pairs": comparison.pairs,
        "lost_by_treatment": comparison.lost_by_treatment,
        "lost_by_control": comparison.lost_by_control,
        "wins": comparison.wins,
        "ties": comparison.ties,
        "losses": comparison.losses,
        "power": _power(comparison.power),
        "saturation": _saturation(comparison.saturation),
        "badges": [_badge(badge) for badge in comparison.badges],
    }


def aligned_badge(found: Agreement | Undefined | None) -> dict[str, Any]:
    """The badge of people alone, for a run that was labelled after it was decided."""
    from evenhand.compare._badges import human_aligned  # noqa: PLC0415 - the statistics behind it need NumPy

    return _badge(human_aligned(found))


def _badge(badge: Badge) -> dict[str, Any]:
    return {
        "badge": badge.name,
        "state": badge.colour,
        "value": _significant(badge.value),
        "says": badge.says,
        "advice": badge.advice,
    }


def _difference(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "estimate": _rounded(found.estimate),
        "low": _rounded(found.low),
        "high": _rounded(found.high),
        "level": found.level,
        "p": _significant(found.p),
        "sd": _rounded(found.sd),
        "method": found.method,
        "n": found.n,
    }


def _power(found: PowerBand | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "sd": _rounded(found.sd)}


def _saturation(found: Saturation | None) -> dict[str, Any] | None:
    if found is None:
        return None
    curve = [
        {"n": one.n, "estimate": _rounded(one.estimate), "half_width": _rounded(one.half_width)} for one in found.curve
    ]
    return {**asdict(found), "changed": _rounded(found.changed), "moved": _rounded(found.moved), "curve": curve}


def _spread(found: Spread | None) -> dict[str, Any] | None:
    if found is None:
        return None
    edges = [_rounded(edge) for edge in found.edges]
    return {"edges": edges, "counts": list(found.counts), "mean": _rounded(found.mean)}


def _not_worse(found: NotWorse | None) -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "low": _rounded(found.low)}


def _rounded(value: float | None) -> float | None:
    """Six decimals: more are noise of the arithmetic."""
    return None if value is None or not math.isfinite(value) else round(value, 6) + 0.0


def _significant(value: float | None) -> float | None:
    """Four digits, so that a small p-value is not rounded away."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.4g}")
