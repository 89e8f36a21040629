"""Rows of scores paired by sample, over the judges that scored both outputs, so that who may vote does not decide."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.decision import RowScores, VariantColumn, treatment_difference_text
from evenhand.compare.facts import (
    JUDGE_LAYER,
    CompareFacts,
    DifferenceHistogram,
    JudgeAgreement,
    SharedVariantJudges,
)
from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.stats.agreement import krippendorff
from evenhand.stats.arrays import ClusterMeans, CountedPer, compute_cluster_means
from evenhand.stats.correlation import mean_pairwise
from evenhand.stats.differences import unit_differences
from evenhand.wording import format_plural, format_signed, join_names

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
class PairedVariantDifferences:
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


NO_DIFFERENCES = PairedVariantDifferences(np.empty(0), np.empty(0, np.int64), ClusterMeans(np.empty(0), np.empty(0)))


def pair_variant_scores(
    own: RowScores, other: RowScores, rows: ComparedRows, both: Booleans
) -> PairedVariantDifferences:
    """The differences over the rows that `both` have, by sample and by cluster."""
    own_paired, other_paired = (np.array(one, np.float64)[both] for one in (own, other))  # NaN for None, here only.
    samples, clusters = rows.samples[both], rows.clusters[both]
    by_sample = unit_differences(own_paired, other_paired, samples=samples).means
    units = unit_differences(own_paired, other_paired, clusters, samples, rows.per)
    first = np.sort(np.unique(samples, return_index=True)[1])  # Samples come in the order in which they are met.
    return PairedVariantDifferences(by_sample, clusters[first], units)


_MOST_HISTOGRAM_BARS = 24


def bin_variant_score_differences(differences: Floats) -> DifferenceHistogram | None:
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


JudgeRows = Mapping[str, RowScores]  # By judge.
JudgeRowsByVariant = Mapping[str, JudgeRows]
LOWEST_LAYER_SCORE, LAYER_SPAN = 1.0, 4.0
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedJudgeScores:
    """Both variants as the judges scored them that scored both outputs of a sample; NaN where no judge did."""

    judges: tuple[str, ...]
    apart: Booleans  # The rows whose outputs were not scored by the same judges.
    own: VariantColumn
    other: VariantColumn


def score_by_shared_judges(
    ours: tuple[VariantColumn, JudgeRows],
    theirs: tuple[VariantColumn, JudgeRows],
    scale: tuple[float, float] | None,
    judge_share: float,
) -> SharedJudgeScores | None:
    """None where the same judges scored both outputs of every sample that both variants have a score for.

    Judges score on `scale`; `judge_share` is what their layer weighs in the composite. Where a later step moved a score
    beyond all that its judges gave, as the safety cap does, it stays there. Rows of equal judges stay as they are.
    """
    if not (ours[1] and theirs[1]):
        return None
    names = list(dict.fromkeys((*ours[1], *theirs[1])))
    own, other = (
        np.array([judged.get(name, [None] * len(column.composite)) for name in names], np.float64)
        for column, judged in (ours, theirs)
    )
    composites = [np.array(side[0].composite, np.float64) for side in (ours, theirs)]
    apart = (np.isnan(own) != np.isnan(other)).any(axis=0) & ~np.isnan(composites[0]) & ~np.isnan(composites[1])
    if not apart.any():
        return None
    shared = ~np.isnan(own) & ~np.isnan(other) & (scale is not None)
    low, high = scale or (0.0, 1.0)
    sides = [
        _replace_judge_layer(column, (given - low) / (high - low), shared, apart, judge_share)
        for (column, _), given in ((ours, own), (theirs, other))
    ]
    judges = tuple(name for name, both in zip(names, shared, strict=True) if (both & apart).any())
    return SharedJudgeScores(judges=judges, apart=apart, own=sides[0], other=sides[1])


def _replace_judge_layer(
    column: VariantColumn, given: Floats, shared: Booleans, apart: Booleans, judge_share: float
) -> VariantColumn:
    """The composite and the judge layer, by the judges in `shared` where rows are `apart`."""
    scores = LOWEST_LAYER_SCORE + LAYER_SPAN * given
    layer = np.array(column.layers.get(JUDGE_LAYER, column.composite), np.float64)
    counted = np.where(shared, scores, 0.0).sum(axis=0)
    votes = shared.sum(axis=0)
    mean = np.divide(counted, votes, out=np.full(len(layer), np.nan), where=votes > 0)
    lowest = np.where(np.isnan(scores), np.inf, scores).min(axis=0)
    highest = np.where(np.isnan(scores), -np.inf, scores).max(axis=0)
    moved = (layer < lowest - _ROUNDING) | (layer > highest + _ROUNDING)
    by_shared: NDArray[np.float64] = np.where(apart & ~(moved & (votes > 0)), mean, layer)
    composite = np.array(column.composite, np.float64) + judge_share * (by_shared - layer)
    return VariantColumn(
        composite=_keep_missing_in_compared_rows(composite),
        layers={JUDGE_LAYER: _keep_missing_in_compared_rows(by_shared)},
    )


def _keep_missing_in_compared_rows(values: Floats) -> RowScores:
    return tuple(None if np.isnan(one) else float(one) for one in values)


def pair_judge_scores_of_variants(
    shared: SharedJudgeScores, rows: ComparedRows, layer: str = ""
) -> PairedVariantDifferences:
    """Treatment minus control by the shared judges, in the composite or in a layer."""
    own, other = (one.layers[layer] if layer else one.composite for one in (shared.own, shared.other))
    both = ~np.isnan(np.array(own, np.float64)) & ~np.isnan(np.array(other, np.float64))
    return pair_variant_scores(own, other, rows, both)


def describe_judges_shared_by_variants(facts: CompareFacts) -> tuple[str, ...]:
    """What the judges say that scored both outputs of a sample, as a reason; nothing where all judges did."""
    shared = facts.shared_judges
    if shared is None:
        return ()
    samples = format_plural(shared.samples, "sample")
    apart = f"In {samples}, {facts.treatment} and {facts.control} were scored by different judges"
    if shared.difference is None or not shared.judges:  # None can be held together on scales of several rubrics.
        return (f"{apart}, and too few samples have a judge that scored both.",)
    found = treatment_difference_text(shared.difference)
    return (f"{apart}; by the judges that scored both ({join_names(shared.judges)}) the difference is {found}.",)


def word_shared_judges_difference(shared: SharedVariantJudges) -> str:
    """The difference that the shared judges see, behind the one of all judges."""
    if shared.difference is None:
        return "no judge scored enough outputs of both"
    points = format_signed(shared.difference.estimate)
    seen = points if shared.significant else f"no significant difference ({points})"
    return f"the judges that scored both outputs see {seen}"


def measure_compared_variant_agreement(
    judges: JudgeRowsByVariant, variants: Sequence[str], rows: int, *, normalises: bool = False
) -> dict[str, JudgeAgreement]:
    """How far the judges agree on each variant that two or more of them have scored.

    `normalises` says whether a rubric normalises its reviewers: that does nothing to one that scores too few outputs.
    """
    found: dict[str, JudgeAgreement] = {}
    for variant, given in judges.items():
        if variant not in variants:
            raise InputError(
                Fault(f"judges of unknown variant {variant!r}", suggest_known_word_in_error(variant, variants))
            )
        if any(len(row) != rows for row in given.values()):
            raise InputError(Fault(f"a judge of variant {variant!r} does not have {rows} rows", "None where missing"))
        if len(given) > 1:
            scores = list(given.values())
            alpha = krippendorff(scores) if len(given) > 2 else None
            found[variant] = JudgeAgreement(judges=len(given), pearson=mean_pairwise(scores), alpha=alpha)
    if not found or not _can_normalise_every_judge(judges):
        return found
    return {variant: replace(one, normalised=normalises) for variant, one in found.items()}


def _can_normalise_every_judge(judges: JudgeRowsByVariant) -> bool:
    """Whether each of them scored enough outputs of one sample for `normalise: z`."""
    scored: dict[str, Counter[int]] = {}
    for given in judges.values():
        for judge, row in given.items():
            scored.setdefault(judge, Counter()).update(place for place, score in enumerate(row) if score is not None)
    return all(max(count.values(), default=0) >= LEAST_TO_NORMALISE for count in scored.values())
