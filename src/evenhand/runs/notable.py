"""The samples that a reader looks at first: those that changed most and why, the lowest, and the means of every tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.evals.eval_schema import LAYERS, MOST_REPEATS
from evenhand.runs.columns import JoinedRunResults
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.summary import RunSummary
from evenhand.runs.tally import RunTallyMean, RunVariantTally
from evenhand.stats.arrays import compute_cluster_means
from evenhand.stats.means import mean_interval

Json = dict[str, Any]
Floats = NDArray[np.float64]
MOST_NOTABLE_SAMPLES = 5  # Of each kind.
MOST_REPORTED_TAGS = 50
FEWER_RED_FLAGS, MORE_BONUSES = "fewer red_flags", "more bonuses"
SMALLEST_CHANGE = 1e-9  # Below it, two composites differ by rounding.


def find_notable_run_samples(frame: RunEvalRecord, summary: RunSummary) -> Json:
    """The samples that got worse, those that got better, and the lowest ones, each by its position."""
    control = summary.tallies.get(frame.control)
    worse: list[Json] = []
    better: list[Json] = []
    lowest: list[Json] = []
    for name in frame.shippable_variants:
        tally = summary.tallies[name]
        positions, means = average_run_sample_scores(tally, tally.composite.values)
        for at in np.argsort(means, kind="stable")[:MOST_NOTABLE_SAMPLES]:
            place = int(positions[at])
            known = {
                kind: {id: mean for id in parts if (mean := _average_run_part(tally, parts, id, place)) is not None}
                for kind, parts in _list_run_parts(tally).items()
            }
            lowest.append({"variant": name, "position": place, "composite": float(means[at]), **known})
        if control is not None and name != frame.control:
            changes = _list_notable_run_changes(control, tally)
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


def average_run_sample_scores(tally: RunVariantTally, values: Sequence[float]) -> tuple[NDArray[np.int64], Floats]:
    """The positions of samples that have a value, and its mean over their repeats."""
    there = np.array(values, dtype=np.float64)
    positions = np.array(tally.places, dtype=np.int64) // MOST_REPEATS
    scored = ~np.isnan(there)
    found, inverse = np.unique(positions[scored], return_inverse=True)
    return found, np.bincount(inverse, there[scored], len(found)) / np.bincount(inverse, None, len(found))


def _list_notable_run_changes(control: RunVariantTally, treatment: RunVariantTally) -> list[tuple[int, float, float]]:
    """Positions with the composites before and after, the largest drop first."""
    ours, before = average_run_sample_scores(control, control.composite.values)
    theirs, after = average_run_sample_scores(treatment, treatment.composite.values)
    both, first, second = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    order = np.argsort(after[second] - before[first], kind="stable")
    return [(int(both[at]), float(before[first[at]]), float(after[second[at]])) for at in order]


def _summarise_run_sample_change(
    variant: str, control: RunVariantTally, treatment: RunVariantTally, change: tuple[int, float, float]
) -> Json:
    position, before, after = change
    ours, theirs = _list_run_parts(treatment), _list_run_parts(control)
    moved = {
        kind: {
            id: {
                "before": _average_run_part(control, theirs[kind], id, position),
                "after": _average_run_part(treatment, ours[kind], id, position),
            }
            for id in dict.fromkeys((*theirs[kind], *ours[kind]))
        }
        for kind in ours
    }
    return {
        "variant": variant,
        "position": position,
        "before": before,
        "after": after,
        "change": after - before,
        **{
            kind: {id: one for id, one in parts.items() if one["before"] is not None or one["after"] is not None}
            for kind, parts in moved.items()
        },
    }


def _list_run_parts(tally: RunVariantTally) -> dict[str, Mapping[str, RunTallyMean]]:
    """What composites are made of, by kind."""
    return {"layers": {name: tally.layers[name] for name in LAYERS if name in tally.layers}, "criteria": tally.criteria}


def _average_run_part(
    tally: RunVariantTally, parts: Mapping[str, RunTallyMean], id: str, position: int
) -> float | None:
    """The mean of a layer or a criterion over the repeats of one sample; None where it has none."""
    if id not in parts:
        return None
    start = np.searchsorted(tally.places, position * MOST_REPEATS)
    end = np.searchsorted(tally.places, (position + 1) * MOST_REPEATS)
    values = np.array(parts[id].values[start:end], dtype=np.float64)
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None


def summarise_run_ties(frame: RunEvalRecord, summary: RunSummary) -> list[Json]:
    """For each treatment, the samples that score as with the control, and whom the rubric's tie-breaks put first."""
    control, ties = summary.tallies.get(frame.control), frame.tie_breaks
    if control is None or not ties:
        return []
    names = (name for name in frame.shippable_variants if name != frame.control)
    return [_break_run_ties(name, frame.control, summary, ties) for name in names]


def _break_run_ties(treatment: str, control: str, summary: RunSummary, ties: Sequence[str]) -> Json:
    two = summary.tallies[treatment], summary.tallies[control]
    open_, changes = _list_notable_run_differences(*two, *(tally.score.values for tally in two))
    open_ = open_[np.abs(changes) < SMALLEST_CHANGE]
    tied, first = len(open_), {treatment: Counter[str](), control: Counter[str]()}
    for tie in ties:
        if not len(open_):
            break
        positions, changes = _list_notable_run_differences(*two, *(_find_run_tie_values(tally, tie) for tally in two))
        told = np.isin(positions, open_) & (np.abs(changes) >= SMALLEST_CHANGE)
        better = -changes[told] if tie == FEWER_RED_FLAGS else changes[told]
        won = int((better > 0).sum())
        first[treatment][tie] += won
        first[control][tie] += len(better) - won
        open_ = np.setdiff1d(open_, positions[told], assume_unique=True)
    return {
        "treatment": treatment,
        "control": control,
        "tied": tied,
        "first": {name: {tie: count for tie, count in found.items() if count} for name, found in first.items()},
        "equivalent": len(open_),
    }


def _find_run_tie_values(tally: RunVariantTally, tie: str) -> Sequence[float]:
    if tie in (FEWER_RED_FLAGS, MORE_BONUSES):
        return tally.red_flags if tie == FEWER_RED_FLAGS else tally.bonuses
    return tally.criteria[tie].values if tie in tally.criteria else [nan] * len(tally.places)


def _list_notable_run_differences(
    one: RunVariantTally, other: RunVariantTally, values: Sequence[float], others: Sequence[float]
) -> tuple[NDArray[np.int64], Floats]:
    """The positions of samples that both have a value for, and the differences of its means over repeats."""
    (ours, own), (theirs, their) = average_run_sample_scores(one, values), average_run_sample_scores(other, others)
    both, first, second = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    return both, own[first] - their[second]


def summarise_run_tags(summary: RunSummary, tags: Mapping[str, Sequence[int]]) -> list[Json]:
    """The mean composite of every variant over the samples of each tag, the tags of most samples first.

    A sample counts once it has a result: a run that was stopped has read more of them.
    """
    there = {place // MOST_REPEATS for tally in summary.tallies.values() for place in tally.places}
    known = {tag: [position for position in some if position in there] for tag, some in tags.items()}
    most = sorted(filter(known.__getitem__, known), key=lambda tag: -len(known[tag]))[:MOST_REPORTED_TAGS]
    return [
        {
            "tag": tag,
            "samples": len(known[tag]),
            "variants": {
                name: _summarise_tagged_run_samples(tally, known[tag]) for name, tally in summary.tallies.items()
            },
        }
        for tag in most
    ]


def _summarise_tagged_run_samples(tally: RunVariantTally, positions: Sequence[int]) -> Json | None:
    values = np.array(tally.composite.values, dtype=np.float64)
    chosen = np.isin(np.array(tally.places, dtype=np.int64) // MOST_REPEATS, positions) & ~np.isnan(values)
    if not chosen.any():
        return None
    values, clusters, samples = values[chosen], np.array(tally.clusters)[chosen], np.array(tally.samples)[chosen]
    units = compute_cluster_means(values, clusters, samples, tally.per)
    mean = float(np.average(units.means, weights=units.sizes))
    several = len(units.means) > 1
    scale = (1.0, 5.0)
    interval = (
        mean_interval(values, clusters=clusters, samples=samples, per=tally.per, scale=scale) if several else None
    )
    return {
        "mean": round(mean, 4),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": len(values),
        "scale": [1, 5],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMoveBetweenRuns:
    """A sample before and after, by its composite, over the repeats that both have; parts by name, largest first."""

    id: str
    before: float
    after: float
    layers: Mapping[str, tuple[float, float]]
    criteria: Mapping[str, tuple[float, float]]

    @property
    def change(self) -> float:
        """How far it moved; below 0 it got worse."""
        return self.after - self.before


def find_samples_moved_between_runs(pairs: JoinedRunResults, place: int, most: int) -> list[SampleMoveBetweenRuns]:
    """The samples that differ most between the first member and another, the largest move first."""
    samples = np.array(pairs.samples, dtype=np.int64)
    ids, inverse = np.unique(samples, return_inverse=True)
    before, after = (_average_paired_results(pairs, one, "composite", "", inverse, len(ids)) for one in (0, place))
    change = np.abs(after - before)
    order = np.argsort(-np.nan_to_num(change), kind="stable")
    chosen = [at for at in order[:most].tolist() if change[at] > SMALLEST_CHANGE]
    parts = {
        kind: {
            name: tuple(_average_paired_results(pairs, one, kind, name, inverse, len(ids)) for one in (0, place))
            for name in _list_parts_shared_by_results(pairs, place, kind)
        }
        for kind in ("layers", "criteria")
    }
    table = pairs.members[0].table
    return [
        SampleMoveBetweenRuns(
            id=table.samples[int(ids[at])],
            before=float(before[at]),
            after=float(after[at]),
            layers=_pick_moved_result_parts(parts["layers"], at),
            criteria=_pick_moved_result_parts(parts["criteria"], at),
        )
        for at in chosen
    ]


def _average_paired_results(
    pairs: JoinedRunResults, place: int, kind: str, name: str, inverse: np.ndarray, count: int
) -> Floats:
    """The mean of a column of one member by sample, over the rows that are paired."""
    table, rows = pairs.members[place].table, pairs.rows[place]
    column = getattr(table, kind) if not name else getattr(table, kind)[name]
    values = column[rows]
    there = ~np.isnan(values)
    sums, times = np.bincount(inverse[there], values[there], count), np.bincount(inverse[there], None, count)
    return np.where(times > 0, sums / np.maximum(times, 1), np.nan)


def _list_parts_shared_by_results(pairs: JoinedRunResults, place: int, kind: str) -> list[str]:
    ours, theirs = (getattr(pairs.members[one].table, kind) for one in (0, place))
    return [name for name in ours if name in theirs]


def _pick_moved_result_parts(parts: Mapping[str, tuple[Floats, ...]], at: int) -> dict[str, tuple[float, float]]:
    known = {name: (float(one[at]), float(other[at])) for name, (one, other) in parts.items()}
    moved = {name: ends for name, ends in known.items() if abs(ends[1] - ends[0]) > SMALLEST_CHANGE}
    return dict(sorted(moved.items(), key=lambda item: -abs(item[1][1] - item[1][0])))
