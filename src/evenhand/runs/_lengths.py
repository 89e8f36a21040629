"""The length of outputs beside their scores: points to draw, and how much a hundred characters go with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InputError
from evenhand.runs._tally import Tally
from evenhand.stats import length_bias

Json = dict[str, Any]
Floats = NDArray[np.float64]
MOST_POINTS = 400  # Of a variant: more are a blot on the page, and every one of them is kept with the run.


def lengths_json(tallies: Mapping[str, Tally]) -> list[Json]:
    """Per variant the lengths and composites of its scored outputs, thinned, with the line through all of them."""
    return [_variant(name, tally) for name, tally in tallies.items() if tally.composite.n]


def _variant(name: str, tally: Tally) -> Json:
    lengths, scores = np.array(tally.lengths), np.array(tally.composite.values)
    there = ~np.isnan(lengths) & ~np.isnan(scores)
    order = np.lexsort((scores[there], lengths[there]))  # The place of a sample among others changes nothing.
    lengths, scores, clusters = (one[there][order] for one in (lengths, scores, np.array(tally.clusters)))
    return {"variant": name, "n": len(lengths), "points": _thinned(lengths, scores), **_line(lengths, scores, clusters)}


def _thinned(lengths: Floats, scores: Floats) -> list[list[float]]:
    """Evenly spaced from the shortest to the longest, so that both ends are kept."""
    kept = np.linspace(0, len(lengths) - 1, min(len(lengths), MOST_POINTS)).round().astype(np.int64)
    return [[int(length), round(float(score), 3)] for length, score in zip(lengths[kept], scores[kept], strict=True)]


def _line(lengths: Floats, scores: Floats, clusters: NDArray[np.int64]) -> Json:
    """The line by its two ends, its slope per 100 characters with an interval, the correlation; None where none."""
    try:
        found = length_bias(scores, lengths, clusters=clusters.tolist())
    except InputError as error:
        return {**dict.fromkeys(("line", "slope", "low", "high", "level", "correlation")), "why_not": str(error)}
    middle, across = float(scores.mean()), float(lengths.mean())
    ends = (float(lengths[0]), float(lengths[-1]))
    return {
        "line": [[int(end), round(middle + found.slope * (end - across) / 100, 4)] for end in ends],
        "slope": _digits(found.slope),
        "low": _digits(found.low),
        "high": _digits(found.high),
        "level": found.level,
        "correlation": round(found.correlation, 4),
        "why_not": "",
    }


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
