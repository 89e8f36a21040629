"""The samples of two paired variants that moved most, and which layers and criteria moved them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.runs.columns import Floats, JoinedRunResults
from evenhand.runs.notable import SMALLEST_CHANGE


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMove:
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


def find_moved_samples(pairs: JoinedRunResults, place: int, most: int) -> list[SampleMove]:
    """The samples that differ most between the first member and another, the largest move first."""
    samples = np.array(pairs.samples, dtype=np.int64)
    ids, inverse = np.unique(samples, return_inverse=True)
    before, after = (_average_paired(pairs, one, "composite", "", inverse, len(ids)) for one in (0, place))
    change = np.abs(after - before)
    order = np.argsort(-np.nan_to_num(change), kind="stable")
    chosen = [at for at in order[:most].tolist() if change[at] > SMALLEST_CHANGE]
    parts = {
        kind: {
            name: tuple(_average_paired(pairs, one, kind, name, inverse, len(ids)) for one in (0, place))
            for name in _list_shared_parts(pairs, place, kind)
        }
        for kind in ("layers", "criteria")
    }
    table = pairs.members[0].table
    return [
        SampleMove(
            id=table.samples[int(ids[at])],
            before=float(before[at]),
            after=float(after[at]),
            layers=_pick_moved_parts(parts["layers"], at),
            criteria=_pick_moved_parts(parts["criteria"], at),
        )
        for at in chosen
    ]


def _average_paired(
    pairs: JoinedRunResults, place: int, kind: str, name: str, inverse: np.ndarray, count: int
) -> Floats:
    """The mean of a column of one member by sample, over the rows that are paired."""
    table, rows = pairs.members[place].table, pairs.rows[place]
    column = getattr(table, kind) if not name else getattr(table, kind)[name]
    values = column[rows]
    there = ~np.isnan(values)
    sums, times = np.bincount(inverse[there], values[there], count), np.bincount(inverse[there], None, count)
    return np.where(times > 0, sums / np.maximum(times, 1), np.nan)


def _list_shared_parts(pairs: JoinedRunResults, place: int, kind: str) -> list[str]:
    ours, theirs = (getattr(pairs.members[one].table, kind) for one in (0, place))
    return [name for name in ours if name in theirs]


def _pick_moved_parts(parts: Mapping[str, tuple[Floats, ...]], at: int) -> dict[str, tuple[float, float]]:
    known = {name: (float(one[at]), float(other[at])) for name, (one, other) in parts.items()}
    moved = {name: ends for name, ends in known.items() if abs(ends[1] - ends[0]) > SMALLEST_CHANGE}
    return dict(sorted(moved.items(), key=lambda item: -abs(item[1][1] - item[1][0])))
