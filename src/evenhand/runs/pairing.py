"""Variants side by side: their rows paired by sample and repeat, and what the samples of two runs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenhand.runs.columns import RunTable
from evenhand.runs.tally import MOST_REPEATS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ScoreColumn = tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVariantRows:
    """One variant of one run: its rows, and the ids of the samples that it has a row for with their places."""

    table: RunTable
    variant: str
    rows: Integers
    samples: Mapping[str, int]

    @classmethod
    def select_variant(cls, table: RunTable, variant: str) -> Self:
        """A variant of a table."""
        rows = np.flatnonzero(table.variant == table.variants.index(variant))
        there = np.zeros(len(table.samples), dtype=np.bool_)
        there[table.sample[rows]] = True
        samples = {table.samples[place]: place for place in np.flatnonzero(there).tolist()}
        return cls(table=table, variant=variant, rows=rows, samples=samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSamples:
    """What the samples of two variants have in common, as ids; `changed` are those whose texts differ."""

    both: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    changed: tuple[str, ...]


def match_samples_of_runs(first: RunVariantRows, second: RunVariantRows) -> SharedSamples:
    """The samples that both have, those that one has, and those that both have with other texts."""
    ours, theirs = first.samples, second.samples
    both = [id for id in ours if id in theirs]
    one, other = first.table.texts, second.table.texts
    same = one[[ours[id] for id in both]] == other[[theirs[id] for id in both]]
    return SharedSamples(
        both=len(both),
        only_first=tuple(id for id in ours if id not in theirs),
        only_second=tuple(id for id in theirs if id not in ours),
        changed=tuple(both[place] for place in np.flatnonzero(~same).tolist()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedResultRows:
    """The rows of each member for the samples and repeats that all have, in one order; clusters are the first's."""

    members: tuple[RunVariantRows, ...]
    rows: tuple[Integers, ...]
    unpaired: tuple[int, ...]  # Per member: rows of samples that all have, but of repeats that some lack.

    @property
    def clusters(self) -> list[int]:
        """Which rows are not independent."""
        found: list[int] = self.members[0].table.cluster[self.rows[0]].tolist()
        return found

    def composite(self, place: int, layers: Sequence[str] | None = None) -> ScoreColumn:
        """What one member scored; with `layers`, the mean of these alone wherever it scored at all."""
        table, rows = self.members[place].table, self.rows[place]
        values = table.composite[rows]
        if layers is not None:
            values = np.where(np.isnan(values), np.nan, np.mean([table.layers[name][rows] for name in layers], axis=0))
        return _result_scores_or_none(values)

    def layers(self, place: int) -> dict[str, ScoreColumn]:
        """Its layers."""
        return self._result_columns(place, "layers")

    def criteria(self, place: int) -> dict[str, ScoreColumn]:
        """Its criteria; those of other variants of the run are none of it."""
        found = self._result_columns(place, "criteria")
        return {id: scores for id, scores in found.items() if any(score is not None for score in scores)}

    def judges(self, place: int) -> list[ScoreColumn]:
        """What each of its judges made of it."""
        return list(self._result_columns(place, "reviews").values())

    def layer_sets(self, place: int) -> dict[tuple[str, ...], int]:
        """The sets of layers that its composites were computed from, and how many of each."""
        table, rows = self.members[place].table, self.rows[place]
        scored = rows[~np.isnan(table.composite[rows])]
        names = sorted(table.layers)
        kind = np.zeros(len(scored), dtype=np.int64)
        for place_of, name in enumerate(names):
            kind |= ~np.isnan(table.layers[name][scored]) << place_of
        kinds, counts = np.unique(kind, return_counts=True)
        return {
            tuple(name for place_of, name in enumerate(names) if one >> place_of & 1): count
            for one, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        }

    def _result_columns(self, place: int, kind: str) -> dict[str, ScoreColumn]:
        rows = self.rows[place]
        return {
            name: _result_scores_or_none(column[rows])
            for name, column in getattr(self.members[place].table, kind).items()
        }


def pair_result_rows(members: Sequence[RunVariantRows]) -> PairedResultRows:
    """The rows that all members have, by sample id and repeat, in the order of the first."""
    keys = [_result_row_keys(member, members[0].samples) for member in members]
    common = keys[0]
    for key in keys[1:]:
        common = np.intersect1d(common, key[key >= 0])
    rows = [member.rows[_positions_of_result_rows(key, common)] for member, key in zip(members, keys, strict=True)]
    kept = np.unique(common // MOST_REPEATS)
    unpaired = [int(np.isin(key[key >= 0] // MOST_REPEATS, kept).sum()) - len(common) for key in keys]
    return PairedResultRows(members=tuple(members), rows=tuple(rows), unpaired=tuple(unpaired))


def _result_row_keys(member: RunVariantRows, places: Mapping[str, int]) -> Integers:
    """For each row its sample, as a place among the first one's, and its repeat in one number; below 0 for others."""
    own = np.full(len(member.table.samples), -1, dtype=np.int64)
    own[list(member.samples.values())] = [places.get(id, -1) for id in member.samples]
    found: Integers = own[member.table.sample[member.rows]] * MOST_REPEATS + member.table.repeat[member.rows]
    return found


def _positions_of_result_rows(key: Integers, common: Integers) -> Integers:
    order = np.argsort(key, kind="stable")
    found: Integers = order[np.searchsorted(key[order], common)]
    return found


def _result_scores_or_none(values: Floats) -> ScoreColumn:
    """None for NaN: nobody outside takes a missing score for a number."""
    told = values.astype(object)
    told[np.isnan(values)] = None
    return tuple(told)
