"""The head of a report as plain data: all numbers of a run but its samples and its decision, with length against
score.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InputError
from evenhand.runs.run_record import EvalSnapshot
from evenhand.runs.summary import RunSummary, judge_agreement_json, summarise_judge_json, summarise_variant_json
from evenhand.runs.tally import VariantTally
from evenhand.stats.regression import length_bias

Json = dict[str, Any]


def build_run_head(frame: EvalSnapshot, summary: RunSummary, ids: Mapping[int, str]) -> Json:
    """What a run keeps of its numbers; `ids` names the samples in which something was met first."""
    from evenhand.models.requests import EMBEDDED  # whoever reads what was kept asks no judge

    kept = frame.to_json()
    ends = {one["id"]: one["ends"] for rubric in frame.rubrics for one in rubric["criteria"]}
    variants = []
    for name in summary.tallies:
        one = summarise_variant_json(name, summary, frame.scale)
        one["criteria"] = {id: {**found, "scale": ends.get(id)} for id, found in one["criteria"].items()}
        role = "control" if name == frame.control else "treatment"
        variants.append({**one, "role": role, "about": frame.variants[name]})
    asked = (name for name in dict.fromkeys([*frame.judges, *summary.calls]) if name in summary.calls)  # As named.
    judges = [summarise_judge_json(name, summary.calls[name], name == EMBEDDED) for name in asked]
    return {
        "eval": {name: kept[name] for name in ("judges", "guards", "rubrics", "assertions")},
        "unfinished": sum(tally.unfinished for tally in summary.tallies.values()),
        "variants": variants,
        "judges": judges,
        "agreement": judge_agreement_json(summary.tallies),
        "lengths": length_bias_json(summary.tallies),
        "failures": _failures_json(summary, ids),
        "flags": _guard_flags_json(summary, ids),
        "cost": _run_cost_json(variants, judges),
    }


def first_sample_positions(summary: RunSummary) -> set[int]:
    """The positions whose sample ids the head names."""
    return {position for tally in summary.tallies.values() for position in tally.first.values()}


def _failures_json(summary: RunSummary, ids: Mapping[int, str]) -> list[Json]:
    return [
        {"kind": kind, "variant": name, "why": why, "count": count, "first": ids.get(tally.first[(kind, why)], "")}
        for name, tally in summary.tallies.items()
        for (kind, why), count in tally.failures.most_common()
    ]


def _guard_flags_json(summary: RunSummary, ids: Mapping[int, str]) -> list[Json]:
    return [
        {
            "guard": guard,
            "rule": rule,
            "says": says,
            "variant": name,
            "count": count,
            "first": ids.get(tally.first[(guard, rule, says)], ""),
        }
        for name, tally in summary.tallies.items()
        for (guard, rule, says), count in tally.flags.most_common()
    ]


def _run_cost_json(variants: list[Json], judges: list[Json]) -> Json:
    outputs = [one["cost"]["outputs"] for one in variants if one["cost"]["outputs"] is not None]
    unpriced = sum(one["unpriced"] for one in judges)
    judged = sum(one["cost"] or 0.0 for one in judges)
    return {
        "outputs": sum(outputs) if outputs else None,
        "judges": None if unpriced or not judges else judged,
        "total": None if unpriced or not (judges or outputs) else judged + sum(outputs),
        "unpriced": unpriced,
    }


Floats = NDArray[np.float64]
MOST_LENGTH_POINTS = 400  # Of a variant: more are a blot on the page, and every one of them is kept with the run.


def length_bias_json(tallies: Mapping[str, VariantTally]) -> list[Json]:
    """Per variant the lengths and composites of its scored outputs, thinned, with the line through all of them."""
    return [_variant_lengths_json(name, tally) for name, tally in tallies.items() if tally.composite.n]


def _variant_lengths_json(name: str, tally: VariantTally) -> Json:
    lengths, scores = np.array(tally.lengths), np.array(tally.composite.values)
    there = ~np.isnan(lengths) & ~np.isnan(scores)
    order = np.lexsort((scores[there], lengths[there]))  # The place of a sample among others changes nothing.
    lengths, scores, clusters = (one[there][order] for one in (lengths, scores, np.array(tally.clusters)))
    return {
        "variant": name,
        "n": len(lengths),
        "points": _thin_length_points(lengths, scores),
        **_length_bias_line(lengths, scores, clusters),
    }


def _thin_length_points(lengths: Floats, scores: Floats) -> list[list[float]]:
    """Evenly spaced from the shortest to the longest, so that both ends are kept."""
    kept = np.linspace(0, len(lengths) - 1, min(len(lengths), MOST_LENGTH_POINTS)).round().astype(np.int64)
    return [[int(length), round(float(score), 3)] for length, score in zip(lengths[kept], scores[kept], strict=True)]


def _length_bias_line(lengths: Floats, scores: Floats, clusters: NDArray[np.int64]) -> Json:
    """The line by its two ends, its slope per 100 characters with an interval, the correlation; None where none."""
    try:
        found = length_bias(scores, lengths, clusters=clusters.tolist())
    except InputError as error:
        return {**dict.fromkeys(("line", "slope", "low", "high", "level", "correlation")), "why_not": str(error)}
    middle, across = float(scores.mean()), float(lengths.mean())
    ends = (float(lengths[0]), float(lengths[-1]))
    return {
        "line": [[int(end), round(middle + found.slope * (end - across) / 100, 4)] for end in ends],
        "slope": _round_length_bias(found.slope),
        "low": _round_length_bias(found.low),
        "high": _round_length_bias(found.high),
        "level": found.level,
        "correlation": round(found.correlation, 4),
        "why_not": "",
    }


def _round_length_bias(value: float) -> float:
    return float(f"{value:.4g}")
