"""A ranking under other weights as plain data: stable keys, rounded numbers."""

from __future__ import annotations

import math
from typing import Any

from evenhand.compare.weights._found import Part, Ranking, Sensitivity, Survival
from evenhand.compare.weights._told import decisive, noise

Json = dict[str, Any]
MOST_PARTS = 60  # Criteria that are listed; those that weigh least are counted only.


def sensitivity_json(found: Sensitivity) -> Json:
    """Plain data for files, programs and plots; the ranking by criteria comes first, layers beside it."""
    first, *others = found.rankings
    beside = {one.of: _ranking(one) for one in others}
    return {
        "run": found.run,
        "headline": found.headline,
        "next_step": found.next_step,
        "draws": found.draws,
        "seed": found.seed,
        "spread": found.spread,
        **_ranking(first),
        "layers": beside.get("layers"),
        "without_judge": [
            {"judge": judge, "order": list(order), "same_winner": order[0] == first.order[0]}
            for judge, order in found.without_judge.items()
        ],
    }


def _ranking(one: Ranking) -> Json:
    return {
        "of": one.of,
        "variants": list(one.variants),
        "means": {name: _rounded(mean) for name, mean in one.means.items()},
        "order": list(one.order),
        "tied": one.tied,
        "share_same_winner": _rounded(one.near.same_winner),
        "share_same_order": _rounded(one.near.same_order),
        "wins": {name: _rounded(share) for name, share in one.near.wins.items()},
        "anywhere": _survival(one.anywhere),
        "by_weight": [_part(part, one) for part in _listed(one)],
        "not_listed": len(one.parts) - len(_listed(one)),
        "decides": decisive(one).name,
        "flip": _flip(one),
        "won": dict(zip(("share", "low", "high"), map(_rounded, one.won), strict=True)),
        "gap": _gap(one),
        "noise": noise(one),
        "share_with_noise": _rounded(one.with_noise),
        "share_turned": _rounded(one.turned),
        "samples": one.samples,
        "left_out": one.left_out,
        "exact": one.linear,
        "note": one.note,
    }


def _listed(one: Ranking) -> list[Part]:
    if len(one.parts) <= MOST_PARTS:
        return list(one.parts)
    heaviest = sorted(one.parts, key=lambda part: -part.weight)[:MOST_PARTS]
    return [part for part in one.parts if part in heaviest]


def _survival(found: Survival) -> Json:
    return {
        "share_same_winner": _rounded(found.same_winner),
        "share_same_order": _rounded(found.same_order),
        "wins": {name: _rounded(share) for name, share in found.wins.items()},
    }


def _part(part: Part, one: Ranking) -> Json:
    return {
        "criterion": part.name,
        "weight": _rounded(part.weight),
        "gap": _rounded(part.gap),
        "contribution": _rounded(part.contribution),
        "flip_at": _rounded(part.flip_at),
        "winner_without": part.without[0] if part.without else None,
        "same_order_without": part.without == one.order,
    }


def _flip(one: Ranking) -> Json | None:
    if one.flip is None:
        return None
    weights = dict(zip((part.name for part in one.parts), map(_rounded, one.flip.weights), strict=True))
    kept = {part.name for part in _listed(one)}
    return {
        "distance": _rounded(one.flip.distance),
        "exact": one.flip.exact,
        "weights": {name: weight for name, weight in weights.items() if name in kept},
    }


def _gap(one: Ranking) -> Json | None:
    if one.gap is None:
        return None
    return {
        "estimate": _rounded(one.gap.estimate),
        "low": _rounded(one.gap.low),
        "high": _rounded(one.gap.high),
        "level": one.gap.level,
        "p": float(f"{one.gap.p:.4g}"),
        "method": one.gap.method,
        "n": one.gap.n,
    }


def _rounded(value: float | None) -> float | None:
    """Six decimals: more are noise of the arithmetic."""
    return None if value is None or not math.isfinite(value) else round(value, 6) + 0.0
