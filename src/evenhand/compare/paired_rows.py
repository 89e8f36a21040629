"""Rows of scores paired by sample: which rows belong together, and treatment minus control over those of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.decision import RowScores
from evenhand.compare.facts import DifferenceHistogram
from evenhand.stats.arrays import ClusterMeans, CountedPer, compute_cluster_means
from evenhand.stats.differences import unit_differences

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRows:
    """The sample and the cluster of each row, and whether a mean counts every sample once or every cluster."""

    samples: Integers
    clusters: Integers
    per: CountedPer = "sample"

    @classmethod
    def number(cls, clusters: Sequence[int], samples: Sequence[int] | None, per: CountedPer) -> ComparedRows:
        """Number samples and clusters from 0; without samples, the rows of a cluster are repeats of one."""
        given = (clusters if samples is None else samples, clusters)
        numbers = [np.unique(np.asarray(one, np.int64), return_inverse=True)[1] for one in given]
        return cls(samples=numbers[0], clusters=numbers[1], per=per)

    def average(self, values: Floats, there: Booleans) -> ClusterMeans:
        """The mean of every cluster over the rows that are there, with what it counts."""
        return compute_cluster_means(values, self.clusters[there], self.samples[there], self.per)


@dataclass(frozen=True, slots=True)
class PairedScoreDifferences:
    """Treatment minus control, by sample and by cluster; a cluster counts by its samples, unless it counts once."""

    samples: Floats
    sample_clusters: Integers
    units: ClusterMeans

    @property
    def clustered(self) -> bool:
        """Whether some cluster holds more than one sample."""
        return len(self.units.means) < len(self.samples)

    @property
    def independent(self) -> Floats:
        """One value per cluster that has the mean over samples as its mean, and the scatter of that mean's error."""
        sizes = self.units.sizes / self.units.sizes.mean() if len(self.units.sizes) else self.units.sizes
        if self.units.equal_sizes:
            return self.units.means
        middle = float(np.average(self.units.means, weights=sizes))
        pulled: Floats = middle + sizes * (self.units.means - middle)
        return pulled


NO_DIFFERENCES = PairedScoreDifferences(np.empty(0), np.empty(0, np.int64), ClusterMeans(np.empty(0), np.empty(0)))


def pair_score_differences(
    own: RowScores, other: RowScores, rows: ComparedRows, both: Booleans
) -> PairedScoreDifferences:
    """The differences over the rows that `both` have, by sample and by cluster."""
    own_paired, other_paired = (np.array(one, np.float64)[both] for one in (own, other))  # NaN for None, here only.
    samples, clusters = rows.samples[both], rows.clusters[both]
    by_sample = unit_differences(own_paired, other_paired, samples=samples).means
    units = unit_differences(own_paired, other_paired, clusters, samples, rows.per)
    first = np.sort(np.unique(samples, return_index=True)[1])  # Samples come in the order in which they are met.
    return PairedScoreDifferences(by_sample, clusters[first], units)


_MOST_HISTOGRAM_BARS = 24


def bin_score_differences(differences: Floats) -> DifferenceHistogram | None:
    """Differences in steps get a bar each, others bars of equal width."""
    if not len(differences):
        return None
    values = np.unique(differences)
    gap = float(np.diff(values).min()) if len(values) > 1 else 1.0
    low, high = float(values[0]), float(values[-1])
    bars = round((high - low) / gap) + 1
    if bars <= _MOST_HISTOGRAM_BARS:
        edges = low + gap * (np.arange(bars + 1) - 0.5)
    else:  # 0 is an edge: no bar holds both gains and losses.
        width = (high - low) / _MOST_HISTOGRAM_BARS
        edges = width * np.arange(math.floor(low / width), math.ceil(high / width) + 1)
    counts, edges = np.histogram(differences, bins=edges)
    mean = float(differences.mean())
    return DifferenceHistogram(edges=tuple(edges.tolist()), counts=tuple(counts.tolist()), mean=mean)
