"""The samples that a reader looks at first: those that changed most, the lowest, and the means of every tag."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.summary import RunSummary
from evenhand.runs.tally import MOST_REPEATS, VariantTally
from evenhand.stats.arrays import average_clusters
from evenhand.stats.means import mean_interval

Json = dict[str, Any]
Floats = NDArray[np.float64]
MOST_NOTABLE_SAMPLES = 5  # Of each kind.
MOST_REPORTED_TAGS = 50
SMALLEST_CHANGE = 1e-9  # Below it, two composites differ by rounding.


def find_notable_run_samples(frame: RunEvalRecord, summary: RunSummary) -> Json:
    """The samples that got worse, those that got better, and the lowest ones, each by its position."""
    control = summary.tallies.get(frame.control)
    worse: list[Json] = []
    better: list[Json] = []
    lowest: list[Json] = []
    for name in frame.shippable_variants:
        tally = summary.tallies[name]
        positions, means = average_sample_scores(tally, tally.composite.values)
        for at in np.argsort(means, kind="stable")[:MOST_NOTABLE_SAMPLES]:
            place = int(positions[at])
            criteria = {
                id: one for id in tally.criteria if (one := _average_tallied_criterion(tally, id, place)) is not None
            }
            lowest.append({"variant": name, "position": place, "composite": float(means[at]), "criteria": criteria})
        if control is not None and name != frame.control:
            changes = _list_run_sample_changes(control, tally)
            worse += [_summarise_run_sample_change(name, control, tally, one) for one in changes[:MOST_NOTABLE_SAMPLES]]
            better += [
                _summarise_run_sample_change(name, control, tally, one)
                for one in changes[: -MOST_NOTABLE_SAMPLES - 1 : -1]
            ]
    worse = sorted((one for one in worse if one["change"] < -SMALLEST_CHANGE), key=lambda one: one["change"])
    better = sorted((one for one in better if one["change"] > SMALLEST_CHANGE), key=lambda one: -one["change"])
    lowest.sort(key=lambda one: one["composite"])
    found = {"worse": worse, "better": better, "lowest": lowest}
    return {kind: several[:MOST_NOTABLE_SAMPLES] for kind, several in found.items()}


def name_notable_run_samples(notable: Json, ids: Mapping[int, str]) -> Json:
    """The same with the ids of the samples in place of their positions."""
    return {
        kind: [{"sample": ids.get(one["position"], ""), **one} for one in several] for kind, several in notable.items()
    }


def average_sample_scores(tally: VariantTally, values: Sequence[float]) -> tuple[NDArray[np.int64], Floats]:
    """The positions of samples that have a value, and its mean over their repeats."""
    there = np.array(values, dtype=np.float64)
    positions = np.array(tally.places, dtype=np.int64) // MOST_REPEATS
    scored = ~np.isnan(there)
    found, inverse = np.unique(positions[scored], return_inverse=True)
    return found, np.bincount(inverse, there[scored], len(found)) / np.bincount(inverse, None, len(found))


def _list_run_sample_changes(control: VariantTally, treatment: VariantTally) -> list[tuple[int, float, float]]:
    """Positions with the composites before and after, the largest drop first."""
    ours, before = average_sample_scores(control, control.composite.values)
    theirs, after = average_sample_scores(treatment, treatment.composite.values)
    both, first, second = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(after[second] - before[first], kind="stable")
    return [(int(both[at]), float(before[first[at]]), float(after[second[at]])) for at in order]


def _summarise_run_sample_change(
    variant: str, control: VariantTally, treatment: VariantTally, change: tuple[int, float, float]
) -> Json:
    position, before, after = change
    criteria = {
        id: {
            "before": _average_tallied_criterion(control, id, position),
            "after": _average_tallied_criterion(treatment, id, position),
        }
        for id in dict.fromkeys((*control.criteria, *treatment.criteria))
    }
    asked = {id: one for id, one in criteria.items() if one["before"] is not None or one["after"] is not None}
    return {
        "variant": variant,
        "position": position,
        "before": before,
        "after": after,
        "change": after - before,
        "criteria": asked,
    }


def _average_tallied_criterion(tally: VariantTally, id: str, position: int) -> float | None:
    """The mean of a criterion over the repeats of one sample; None where it has none."""
    if id not in tally.criteria:
        return None
    start = np.searchsorted(tally.places, position * MOST_REPEATS)
    end = np.searchsorted(tally.places, (position + 1) * MOST_REPEATS)
    values = np.array(tally.criteria[id].values[start:end], dtype=np.float64)
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def index_run_samples_by_tag(samples: Iterable[tuple[int, Sequence[str]]]) -> dict[str, array[int]]:
    """The positions of samples by tag."""
    found: dict[str, array[int]] = {}
    for position, tags in samples:
        for tag in tags:
            found.setdefault(tag, array("q")).append(position)
    return found


def summarise_run_tags(summary: RunSummary, tags: Mapping[str, Sequence[int]]) -> list[Json]:
    """The mean composite of every variant over the samples of each tag, the tags of most samples first."""
    most = sorted(tags, key=lambda tag: -len(tags[tag]))[:MOST_REPORTED_TAGS]
    return [
        {
            "tag": tag,
            "samples": len(tags[tag]),
            "variants": {name: _summarise_tagged(tally, tags[tag]) for name, tally in summary.tallies.items()},
        }
        for tag in most
    ]


def _summarise_tagged(tally: VariantTally, positions: Sequence[int]) -> Json | None:
    values = np.array(tally.composite.values, dtype=np.float64)
    chosen = np.isin(np.array(tally.places, dtype=np.int64) // MOST_REPEATS, positions) & ~np.isnan(values)
    if not chosen.any():
        return None
    values, clusters, samples = values[chosen], np.array(tally.clusters)[chosen], np.array(tally.samples)[chosen]
    units = average_clusters(values, clusters, samples, tally.per)
    mean = float(np.average(units.means, weights=units.sizes))
    several = len(units.means) > 1
    interval = mean_interval(values, clusters=clusters, samples=samples, per=tally.per) if several else None
    return {
        "mean": round(mean, 4),
        "low": max(interval.low, 1.0) if interval else None,
        "high": min(interval.high, 5.0) if interval else None,
        "level": interval.level if interval else None,
        "n": len(values),
        "scale": [1, 5],
    }
