"""When a run has asked enough: the sequential stopping rule, and whether samples still to come could change the
verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.facts import GATE_TOLERANCE, SIGNIFICANCE_LEVEL, LossShare
from evenhand.compare.measure import adjust_treatment_losses_for_looks
from evenhand.compare.paired_rows import ComparedRows
from evenhand.compare.rules import LARGEST_CLUSTER_SHARE, LOST_OUTPUTS_LEVEL
from evenhand.compare.shipping import LEAST_JUDGE_AGREEMENT
from evenhand.stats.arrays import ClusterMeans, CountedPer
from evenhand.stats.differences import unit_differences
from evenhand.stats.distributions import student_quantile
from evenhand.stats.multiple_tests import Looks, holm, level_at, near_rejection, sequential_difference
from evenhand.stats.power import LEAST_NEEDED
from evenhand.stats.rates import bound_share_from_above, mcnemar_worse
from evenhand.wording import join_names

NumberName = tuple[str, ...]  # What a number of an output is, then of whom.
NumbersByName = Mapping[NumberName, float | None]
COMPOSITE_NUMBER: NumberName = ("composite",)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppingTerms:
    """What a treatment is held to beside its composite: gates of layers and other numbers, and what losses it may have.

    A layer without a gate of its own has the `default_gate`. `span` lies between the ends of the scale of composites.
    """

    per: CountedPer = "sample"
    span: float | None = None
    layer_gates: Mapping[str, float] = field(default_factory=dict)
    default_gate: float = -math.inf
    other_gates: Mapping[NumberName, float] = field(default_factory=dict)
    smallest_loss: LossShare = field(default_factory=LossShare)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsBeforeVerdict:
    """The numbers of both variants, row by row, as far as a run has come."""

    treatment: Sequence[NumbersByName]
    control: Sequence[NumbersByName]
    rows: ComparedRows
    looks: Looks

    def foresee_objection(self, terms: StoppingTerms) -> bool | None:
        """Whether something will speak against shipping after the last sample; None while that is open."""
        ours, theirs = (self._column(one, COMPOSITE_NUMBER) for one in (self.treatment, self.control))
        if (np.isnan(ours) & ~np.isnan(theirs)).any():
            return True
        found = [
            *([None] if np.isnan(theirs).any() else []),  # Where outputs fail, the treatment's will too.
            *self._foresee_gates(terms),
            *self._foresee_judges(),
            self._foresee_losses(ours - theirs, terms.smallest_loss),
        ]
        return True if True in found else None if None in found else False

    def _foresee_gates(self, terms: StoppingTerms) -> Iterator[bool | None]:
        names = dict.fromkeys(name for row in self.treatment for name in row)
        for name in names:
            gate = terms.other_gates.get(name)
            if name[0] == "layers":
                gate = terms.layer_gates.get(name[1], terms.default_gate)
                ours, theirs = self._column(self.treatment, name), self._column(self.control, name)
                yield self._foresee_below(ours - theirs, None)
            if gate is not None:
                yield self._foresee_below(self._column(self.treatment, name), gate)

    def _foresee_below(self, values: Floats, limit: float | None) -> bool | None:
        """Whether the mean over all samples will be below a limit, or, without one, significantly below 0."""
        there = ~np.isnan(values)
        units = self.rows.average(values[there], there)
        n = len(units.means)
        if n < 2 or not np.isfinite(units.means).all():
            return None
        mean = float(np.average(units.means, weights=units.sizes))
        error = math.sqrt(n / (n - 1) * float(((units.sizes * (units.means - mean)) ** 2).sum())) / units.sizes.sum()
        seen = min(1.0, self.looks.taken[-1] / self.looks.planned)
        if limit is None:
            limit = -student_quantile(SIGNIFICANCE_LEVEL / 2, round((n - 1) / seen)) * error * math.sqrt(seen)
        reach = student_quantile(level_at(self.looks) / 2, n - 1) * error * math.sqrt(1 - seen)
        if mean - limit >= reach - GATE_TOLERANCE:
            return False
        return True if limit - mean > reach else None

    def _foresee_judges(self) -> Iterator[bool | None]:
        """Whether the judges of either variant will agree too little."""
        for numbers in (self.treatment, self.control):
            judges = dict.fromkeys(name for row in numbers for name in row if name[0] == "reviews")
            parts = [
                _split_correlation_by_compared_row(*two)
                for two in combinations([self._column(numbers, one) for one in judges], 2)
            ]
            known = [part for part in parts if part is not None]
            if parts:  # Judges that gave the same throughout may differ yet.
                same = len(known) < len(parts)
                yield None if same else self._foresee_below(np.mean(known, axis=0), LEAST_JUDGE_AGREEMENT)

    def _foresee_losses(self, differences: Floats, allowed: LossShare) -> bool | None:
        """Losses as large as matters: too many already, too few samples to say so, or none of that."""
        if allowed.share is None:
            return False
        lost = len(np.unique(self.rows.clusters[differences <= -allowed.points + GATE_TOLERANCE]))
        units = len(np.unique(self.rows.clusters[~np.isnan(differences)]))
        if units and bound_share_from_above(lost, units) <= allowed.share:
            return False
        return True if bound_share_from_above(lost, max(units, self.looks.planned)) > allowed.share else None

    @staticmethod
    def _column(numbers: Iterable[NumbersByName], name: NumberName) -> Floats:
        return np.array([row.get(name) for row in numbers], dtype=np.float64)


def _split_correlation_by_compared_row(first: Floats, second: Floats) -> Floats | None:
    """What each row adds to a correlation: its pseudo-values (Tukey's jackknife), whose mean is about the correlation.

    None where judges gave no two scores; not finite where all of the correlation hangs on one row.
    """
    there = ~np.isnan(first) & ~np.isnan(second)
    x, y, n = first[there], second[there], int(there.sum())
    if n < 4 or not (np.ptp(x) and np.ptp(y)):
        return None
    x, y = x - x.mean(), y - y.mean()
    left = np.append(0.0, np.ones(n))  # All rows first, then without each.
    means = [-left * np.append(0.0, part) / np.sqrt(n - left) for part in (x, y)]
    xx, yy, xy = (
        (one * two).sum() - left * np.append(0.0, one * two) - mean * mean_two
        for one, two, mean, mean_two in ((x, x, means[0], means[0]), (y, y, means[1], means[1]), (x, y, *means))
    )
    spread = xx * yy
    r = np.where(spread > GATE_TOLERANCE * spread[0], xy / np.sqrt(np.maximum(spread, np.finfo(float).tiny)), np.nan)
    found = np.full(len(first), np.nan)
    found[there] = np.nan_to_num(n * r[0] - (n - 1) * r[1:], nan=np.inf)
    return found


Floats = NDArray[np.float64]
NumbersByVariant = Mapping[str, NumbersByName]
ScoresByVariant = Mapping[str, NumbersByName | float | None]  # All numbers of an output, or its composite alone.
ComparedScoresRow = tuple[NumbersByVariant, int, int | str]  # With the sample and the cluster.


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyVerdict:
    """At which look a run was settled, and why."""

    looks: Looks
    why: str

    @property
    def samples_until_verdict(self) -> int:
        """The samples that it was settled on."""
        return self.looks.taken[-1]


class EarlyVerdictRule:
    """Says at each planned look whether every treatment is settled; the first look that says so is the last.

    `order` holds the positions of all samples in the order in which they are asked about, `looks` after how many of
    them it looks, last at the end. Scores may come in any
    order: a look waits for the first so many of them, so that what happens to be quick counts no more than the rest.

    A treatment that is worse is settled. One that is better is settled once the rest of the samples will hardly turn
    what else the verdict looks at, by `terms`: a full run must not hold back what a stopped one ships.
    """

    def __init__(
        self,
        *,
        order: Sequence[int],
        looks: Sequence[int],
        variants: Sequence[str],
        control: str,
        repeats: int,
        seed: int,
        terms: StoppingTerms | None = None,
    ) -> None:
        self._order = order
        self._planned = tuple(looks)
        self._treatments = [name for name in variants if name != control]
        self._control = control
        self._repeats = repeats
        self._seed = seed
        self._terms = terms or StoppingTerms()
        # By position and repeat.
        self._pending_scores: dict[int, dict[int, ComparedScoresRow]] = {}
        self._rows: list[ComparedScoresRow] = []  # Of the first so many samples, in their order.
        self._complete_samples = 0
        self._looks_taken = 0
        self.settled: EarlyVerdict | None = None

    def take_compared_scores(
        self, position: int, repeat: int, scores: ScoresByVariant, cluster: str | None = None
    ) -> str:
        """Take in what one sample and repeat came to, and say why it is settled, or "" to go on.

        Samples of one cluster are not independent.
        """
        numbers = {name: one if isinstance(one, Mapping) else {COMPOSITE_NUMBER: one} for name, one in scores.items()}
        row = numbers, position, position if cluster is None else cluster
        self._pending_scores.setdefault(position, {})[repeat] = row
        while self.settled is None and self._complete_samples < len(self._order):
            awaited = self._order[self._complete_samples]
            if len(self._pending_scores.get(awaited, ())) != self._repeats:
                break
            pieces = self._pending_scores.pop(awaited)
            self._rows += [pieces[one] for one in sorted(pieces)]
            self._complete_samples += 1
            if self._complete_samples == self._planned[self._looks_taken]:
                self._looks_taken += 1
                self.settled = self._look_for_verdict(self.looks)
        return self.settled.why if self.settled else ""

    @property
    def looks(self) -> Looks:
        """The looks that were taken so far."""
        return Looks(taken=self._planned[: self._looks_taken], planned=len(self._order))

    def _look_for_verdict(self, looks: Looks) -> EarlyVerdict | None:
        lost_p = holm([self._test_treatment_loss_difference(name, looks) for name in self._treatments]).p
        lost = [p < LOST_OUTPUTS_LEVEL for p in lost_p]
        differences = [self._subtract_control_scores(name) for name in self._treatments]
        for gone, found in zip(lost, differences, strict=True):
            lopsided = len(found.sizes) and found.sizes.max() > LARGEST_CLUSTER_SHARE * found.sizes.sum()
            if len(found.means) < LEAST_NEEDED or lopsided or not (gone or near_rejection(found.means, looks=looks)):
                return None
        tested = [
            sequential_difference(
                found.means,
                sizes=found.sizes,
                span=self._terms.span,
                looks=looks,
                rng=np.random.default_rng(self._seed),
            )
            for found in differences
        ]
        adjusted = holm([one.p for one in tested]).p
        if not all(gone or p < SIGNIFICANCE_LEVEL for gone, p in zip(lost, adjusted, strict=True)):
            return None
        higher = [name for name, one in zip(self._treatments, tested, strict=True) if one.estimate > 0]
        if looks.taken[-1] < looks.planned and any(self._foresee_objection(name, looks) is None for name in higher):
            return None
        words = [
            f"{name} {'lost outputs' if gone else 'is better' if one.estimate > 0 else 'is worse'}"
            for name, gone, one in zip(self._treatments, lost, tested, strict=True)
        ]
        return EarlyVerdict(looks=looks, why=join_names(words))

    def _subtract_control_scores(self, treatment: str) -> ClusterMeans:
        """Treatment minus control, one for each independent unit that has both."""
        own, other, samples, clusters = [], [], [], []
        for scores, sample, cluster in self._rows:
            ours, theirs = (scores.get(name, {}).get(COMPOSITE_NUMBER) for name in (treatment, self._control))
            if ours is not None and theirs is not None:
                own.append(ours)
                other.append(theirs)
                samples.append(sample)
                clusters.append(cluster)
        return unit_differences(own, other, clusters, samples, self._terms.per)

    def _foresee_objection(self, treatment: str, looks: Looks) -> bool | None:
        """Whether something will speak against shipping it; None while that is open."""
        names = {cluster: place for place, cluster in enumerate(dict.fromkeys(row[2] for row in self._rows))}
        rows = ComparedRows.number(
            [names[cluster] for _, _, cluster in self._rows], [row[1] for row in self._rows], self._terms.per
        )
        ours, theirs = ([row[0].get(name, {}) for row in self._rows] for name in (treatment, self._control))
        return RowsBeforeVerdict(treatment=ours, control=theirs, rows=rows, looks=looks).foresee_objection(self._terms)

    def _test_treatment_loss_difference(self, treatment: str, looks: Looks) -> float:
        """The p-value that the treatment lost more outputs, counted by sample as the decision counts them."""
        balance: dict[int | str, int] = {}
        for scores, _, cluster in self._rows:
            ours, theirs = (scores.get(name, {}).get(COMPOSITE_NUMBER) is None for name in (treatment, self._control))
            balance[cluster] = balance.get(cluster, 0) + ours - theirs
        lost = mcnemar_worse(sum(one > 0 for one in balance.values()), sum(one < 0 for one in balance.values()))
        return adjust_treatment_losses_for_looks(lost, looks).p
