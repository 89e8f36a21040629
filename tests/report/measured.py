"""What the plots of the example run are drawn from: spreads, curves, labels, weights and lengths."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from statistics import correlation, linear_regression
from typing import Any

Data = dict[str, Any]


def spread(differences: list[float], bins: int = 12) -> Data:
    """The differences of samples, counted in bins of one width."""
    reach = max(map(abs, differences), default=0.0) or 1.0
    edges = [round(reach * (2 * step / bins - 1), 4) for step in range(bins + 1)]
    counts = [0] * bins
    for one in differences:
        counts[min(bins - 1, int((one + reach) / (2 * reach) * bins))] += 1
    return {"edges": edges, "counts": counts, "mean": sum(differences) / len(differences) if differences else 0.0}


def saturation(n: int = 22, half_width: float = 0.28, estimate: float = 0.5) -> Data:
    """A curve that falls with the square root of the samples, with some luck in it; no bound below five."""
    chance = random.Random(n)
    curve: list[Data] = []
    for tenth in range(1, 11):
        size = max(2, math.ceil(tenth * n / 10))
        width = half_width * math.sqrt(n / size) * (1 if tenth == 10 else chance.uniform(0.85, 1.15))
        moved = 0.0 if tenth == 10 else chance.gauss(0, 0.3) * width
        curve.append({"n": size, "half_width": None if size < 5 else width, "estimate": estimate + moved})
    return {"saturated": False, "low_confidence": True, "changed": 0.15, "moved": 0.2, "curve": curve, "n": n}


def labels(judges: list[str]) -> Data:
    """People who are a little stricter than the judges, on a scale from 1 to 5."""
    return {"judges": [_labelled(judge) for judge in judges], "scale": [1, 5]}


def _labelled(judge: str) -> Data:
    chance = random.Random(judge)
    counts: dict[tuple[int, int], int] = {}
    for _ in range(120):
        people = min(5, max(1, round(chance.gauss(3.2, 1.1))))
        own = min(5, max(1, round(people + chance.gauss(0.4, 0.8))))
        counts[own, people] = counts.get((own, people), 0) + 1
    return {
        "judge": judge, "points": [[own, people, many] for (own, people), many in counts.items()], "pearson": 0.71,
        "bias": 0.42, "n": 120, "map": [[1, 1.1], [2, 1.7], [3, 2.6], [4, 3.4], [5, 4.6]],
    }  # fmt: skip


def sensitivity(variants: list[str], weights: Mapping[str, float]) -> Data:
    """A ranking that one criterion could turn."""
    first, *rest = variants
    wins = {first: 0.94} | dict.fromkeys(rest, 0.06 / len(rest))
    anywhere = {first: 0.71} | dict.fromkeys(rest, 0.29 / len(rest))
    parts = [
        {"criterion": id, "weight": weight, "gap": 0.2, "contribution": 0.05, "flip_at": 0.68 if place == 1 else None,
         "winner_without": first, "same_order_without": True}
        for place, (id, weight) in enumerate(weights.items())
    ]  # fmt: skip
    return {
        "headline": f"{first} stays first under 94% of weights near those of the rubric.",
        "next_step": "Make sure that completeness weighs what you mean.", "draws": 10_000, "seed": 0, "spread": 0.2,
        "of": "criteria", "variants": variants, "order": variants, "share_same_winner": 0.94, "share_same_order": 0.94,
        "wins": wins, "anywhere": {"share_same_winner": 0.71, "share_same_order": 0.71, "wins": anywhere},
        "by_weight": parts, "not_listed": 0, "note": "", "layers": None,
    }  # fmt: skip


def lengths(variant: str, points: list[tuple[int, float]]) -> Data:
    """Lengths and scores of one variant, with the line through them where their lengths differ."""
    whole = {"variant": variant, "n": len(points), "points": [list(one) for one in sorted(points)]}
    if len({length for length, _ in points}) < 3:
        nothing = dict.fromkeys(("line", "slope", "low", "high", "level", "correlation"))
        return {**whole, **nothing, "why_not": "all outputs have the same length"}
    x, y = [length for length, _ in points], [score for _, score in points]
    slope, start = linear_regression(x, y)
    found = {"slope": 100 * slope, "low": 100 * slope - 0.15, "high": 100 * slope + 0.15, "level": 0.95}
    line = [[end, start + slope * end] for end in (min(x), max(x))]
    return {**whole, **found, "line": line, "correlation": correlation(x, y), "why_not": ""}


def trust(sample: str = "q-003", passage: str = "Refunds take five days.") -> Data:
    """Two gates held against people by labels of two, as `evenhand trust --json` has them, with one disagreement."""

    def errors(wrong: int, n: int) -> Data:
        share = {"estimate": wrong / n, "low": 0.4 * wrong / n, "high": min(1.0, wrong / n + 0.2), "level": 0.95,
                 "method": "Clopper–Pearson", "n": n} if n else None  # fmt: skip
        return {"wrong": wrong, "n": n, "share": share}

    def gate(id: str, about: str, answer: str) -> Data:
        return {
            "gate": id, "about": about, "judge": "the panel", "answer": answer, "trusted": [], "not_assessed": 1,
            "split": 2, "further": 40, "wrongly_passed": errors(2, 24), "wrongly_failed": errors(0, 22),
            "person_wrongly_passed": errors(1, 20), "person_wrongly_failed": errors(0, 0),
        }  # fmt: skip

    points = [{"judged": one, "people": one - 0.2, "low": max(1, one - 0.9), "high": min(5, one + 0.5), "n": 4 + one}
              for one in (1, 2, 3, 4, 5)]  # fmt: skip
    curve = {"question": "score", "scale": [1, 5], "points": points, "least": 3.4, "n": 35}
    passages = [{"judge": "embedded", "quoted": True, "text": passage, "reason": "it names a time"},
                {"judge": "claude-sonnet", "quoted": False, "text": passage, "reason": ""}]  # fmt: skip
    return {
        "answer": "one way", "says": "May gate one way only (score at least 3.40).", "most": 0.2, "labels": 92,
        "reasons": ["Wrongly passed: 2 of 24 that people fail."], "next_step": "about 40 more labels.",
        "run": "20261116-051233-ab12cd", "name": "delivery answers", "raters": 2, "outputs": 46,
        "gates": [gate("verdict", "score at least 3.40", "one way"),
                  gate("accuracy", "accuracy at least 1", "may not")],
        "directions": [{"variant": "new", "control": "old", "says": "new − old: +0.40 by people."}],
        "curves": [curve, {**curve, "question": "accuracy", "least": None, "points": points[:1], "n": 5}],
        "differing": [{"sample": sample, "variant": "new", "question": "accuracy", "scale": [0, 1], "judged": 1.0,
                       "people": 0.0, "raters": 2, "gap": 1.0, "passages": passages},
                      {"sample": "q-004", "variant": "old", "question": "accuracy", "scale": [0, 1], "judged": 0.0,
                       "people": 1.0, "raters": 1, "gap": -1.0, "passages": []}],
    }  # fmt: skip
