"""When a run has asked enough: the sequential stopping rule, fed with scores as they arrive, looking when planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.facts import SIGNIFICANCE_LEVEL
from evenhand.compare.foresight import COMPOSITE_NUMBER, NumbersByName, RowsBeforeVerdict, StoppingTerms
from evenhand.compare.measure import adjust_treatment_losses_for_looks
from evenhand.compare.paired_rows import ComparedRows
from evenhand.compare.rules import LARGEST_CLUSTER_SHARE, LOST_OUTPUTS_LEVEL
from evenhand.stats.arrays import ClusterMeans
from evenhand.stats.differences import unit_differences
from evenhand.stats.multiple_tests import holm
from evenhand.stats.power import LEAST_NEEDED
from evenhand.stats.rates import mcnemar_worse
from evenhand.stats.sequential import Looks, near_rejection, sequential_difference
from evenhand.wording import join_names

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
