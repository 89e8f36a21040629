"""Whether the samples that are still to come would turn what speaks against shipping a treatment that scored higher.

Of N samples in random order the first n are there. The mean over all N differs from theirs by chance: its standard
error is that of a mean over n, times the root of 1 − n/N. So a mean is surely above a limit, surely below it, or open.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from evenhand.compare.facts import GATE_TOLERANCE, SIGNIFICANCE_LEVEL, LossShare
from evenhand.compare.paired_rows import ComparedRows, Floats
from evenhand.compare.shipping import LEAST_JUDGE_AGREEMENT
from evenhand.stats.arrays import CountedPer
from evenhand.stats.distributions import student_quantile
from evenhand.stats.rates import bound_share_from_above
from evenhand.stats.sequential import Looks, level_at

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
