"""Length and score: how far longer outputs score higher, and what is left of a difference at equal length."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError, suggest_known_word
from evenhand.stats._arrays import Floats, Numbers, checked_level, finite, told
from evenhand.stats._correlation import standard
from evenhand.stats._groups import Marks, Units, centred, numbered
from evenhand.stats._least_squares import Coefficient, coefficients

LEAST_UNITS = 10
_CONSTANT = 1e-9  # Spread below this share of the largest value is rounding, not spread.


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """Points per 100 characters with an interval; `n` counts independent units, `outputs` what was used.

    `explained` is the share of the variance of scores that goes with length, between outputs of one sample where
    samples were given. `alone` counts outputs that had no other of their sample to be compared with.
    """

    slope: float
    low: float
    high: float
    level: float
    correlation: float
    explained: float
    method: str
    n: int
    outputs: int
    alone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """One variant: its mean score as given and at equal length, and its typical (geometric mean) length.

    The differences are those to the control, None for the control itself.
    """

    variant: str
    length: float
    before: float
    after: float
    difference_before: Coefficient | None
    difference_after: Coefficient | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControlled:
    """Scores as if every output had the typical length; `per_doubling` is what twice the length adds.

    `scores` has the order of what was given, and is not held to the scale: an output of the top score that is short
    may come to lie above it.
    """

    scores: tuple[float, ...]
    per_doubling: Coefficient
    length: float
    variants: tuple[Controlled, ...]
    level: float
    method: str
    n: int


def length_bias(
    scores: Numbers,
    lengths: Numbers,
    *,
    clusters: Marks | None = None,
    groups: Marks | None = None,
    level: float = 0.95,
) -> LengthBias:
    """How scores rise with length in characters; `groups` names each output's sample and compares within samples.

    Without `groups` hard prompts, which get long answers and low scores, pose as an effect of length.
    """
    alpha, (y, x) = checked_level(level), _rows(scores, lengths)
    design = _design(len(y), groups, clusters)
    _check_spread(y, x, design)
    y, x = design.within(y), design.within(x)
    found = coefficients([*design.constant(), x], y, design.units, alpha, design.absorbed)
    if found is None:
        raise InputError(Fault("one sample alone differs in length", "score outputs of more different lengths"))
    slope = found[-1].times(100)
    correlation = math.fsum(standard(x) * standard(y))
    return LengthBias(
        slope=slope.estimate,
        low=slope.low,
        high=slope.high,
        level=level,
        correlation=min(1.0, max(-1.0, correlation)),
        explained=min(1.0, correlation**2),
        method=f"least squares{design.says}, jackknife",
        n=design.n,
        outputs=len(y),
        alone=design.alone,
    )


def length_controlled(
    scores: Numbers,
    lengths: Numbers,
    variants: Sequence[str],
    *,
    control: str,
    groups: Marks | None = None,
    clusters: Marks | None = None,
    level: float = 0.95,
) -> LengthControlled:
    """Take out of every score what regression on the logarithm of length puts there, variants held apart.

    The logarithm, because a hundred characters more are much for a short answer and nothing for a long one, and because
    a few very long outputs would rule a straight line. Variants are held apart, and samples where `groups` names them,
    so that a better variant that happens to write more keeps what it is better by.
    """
    alpha, (y, length) = checked_level(level), _rows(scores, lengths)
    x = np.log(_positive(length))
    names, variant = _variants(variants, len(y), control)
    design = _design(len(y), groups, clusters)
    _check_spread(y, x, design)
    before, after, slope = _differences(y, x, [variant == place for place in range(1, len(names))], design, alpha)
    adjusted = y - slope.estimate * (x - x.mean())
    rows = [(name, variant == place, before[place], after[place]) for place, name in enumerate(names)]
    return LengthControlled(
        scores=tuple(adjusted.tolist()),
        per_doubling=slope.times(math.log(2)),
        length=math.exp(float(x.mean())),
        variants=tuple(
            Controlled(
                variant=name,
                length=math.exp(float(x[own].mean())),
                before=float(y[own].mean()),
                after=float(adjusted[own].mean()),
                difference_before=difference,
                difference_after=controlled,
            )
            for name, own, difference, controlled in rows
        ),
        level=level,
        method=f"least squares on log length{design.says}, jackknife",
        n=design.n,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Design:
    """Which rows are compared with which, and which are independent; rows without company are left out."""

    kept: NDArray[np.bool_]
    groups: Units | None
    units: Units
    alone: int

    @property
    def n(self) -> int:
        return int(self.units.max()) + 1

    @property
    def absorbed(self) -> int:
        return 0 if self.groups is None else int(self.groups.max()) + 1

    @property
    def says(self) -> str:
        return "" if self.groups is None else " within samples"

    def within(self, values: Floats) -> Floats:
        """The rows that are used, less the mean of their sample, or of all."""
        used = values[self.kept]
        return used - used.mean() if self.groups is None else centred(used, self.groups)

    def constant(self) -> list[Floats]:
        # Leaving out a sample moves the mean of all rows, which must therefore be fitted; within samples it does not.
        return [np.ones(len(self.units))] if self.groups is None else []


def _rows(scores: Numbers, lengths: Numbers) -> tuple[Floats, Floats]:
    y, x = finite(scores, "scores"), finite(lengths, "lengths")
    if len(x) != len(y):
        raise InputError(Fault(f"{len(x)} lengths for {len(y)} scores", "one length per score"))
    if len(x) and x.min() < 0:
        raise InputError(Fault(f"a length cannot be {x.min():g}", "count characters"))
    return y, x


def _design(rows: int, groups: Marks | None, clusters: Marks | None) -> _Design:
    kept = np.ones(rows, dtype=bool)
    sample = None if groups is None else numbered(groups, rows, "groups")
    if sample is not None:
        kept = np.bincount(sample)[sample] > 1 if rows else kept
        sample = sample[kept]
    cluster = None if clusters is None else numbered(clusters, rows, "clusters")[kept]
    units = numbered(_units(sample, cluster, int(kept.sum())), int(kept.sum()), "units")
    if not len(units) or units.max() + 1 < LEAST_UNITS:
        many = int(units.max()) + 1 if len(units) else 0
        which = "" if sample is None else " with two outputs or more"
        few, verb = ("sample", "is") if many == 1 else ("samples", "are")
        what = f"{many} independent {few}{which} {verb} too few"
        raise InputError(Fault(what, f"it takes {LEAST_UNITS}"))
    return _Design(
        kept=kept,
        groups=None if sample is None else numbered(sample, len(sample), "groups"),
        units=units,
        alone=int((~kept).sum()),
    )


def _units(sample: Units | None, cluster: Units | None, rows: int) -> Units:
    """The coarser of the two divisions: only whole samples are independent, and only whole clusters."""
    if sample is None or cluster is None:
        known = sample if cluster is None else cluster
        return np.arange(rows, dtype=np.int64) if known is None else known
    pairs = np.unique(np.stack([sample, cluster]), axis=1).shape[1]
    if pairs == len(np.unique(sample)):
        return cluster
    if pairs == len(np.unique(cluster)):
        return sample
    raise InputError(Fault("groups and clusters cut across each other", "leave clusters out: samples are independent"))


def _check_spread(y: Floats, x: Floats, design: _Design) -> None:
    if np.abs(design.within(x)).max() <= _CONSTANT * np.abs(x).max():
        what = "all outputs have the same length" if design.groups is None else "no sample has outputs of two lengths"
        raise InputError(Fault(what, "there is nothing that length could explain"))
    if np.abs(design.within(y)).max() <= _CONSTANT * np.abs(y).max():
        raise InputError(Fault(f"all scores are the same{design.says}", "there is nothing that length could explain"))


def _positive(lengths: Floats) -> Floats:
    if lengths.min(initial=1.0) < 1:
        what = f"output {int(lengths.argmin())} is empty: there is no longer and shorter to it"
        raise InputError(Fault(what, "leave out empty outputs, and count them"))
    return lengths


def _variants(variants: Sequence[str], rows: int, control: str) -> tuple[list[str], Units]:
    """The names, the control first, and for every row its place among them."""
    numbered(variants, rows, "variants")
    if not all(isinstance(name, str) for name in variants):
        raise InputError(Fault("variants must be names", "one per score"))
    known = set(variants)
    if not isinstance(control, str) or control not in known:
        hint = suggest_known_word(control if isinstance(control, str) else "", known)
        raise InputError(Fault(f"no output is of the control {told(control)}", hint))
    names = [control, *sorted(known - {control})]
    place = {name: number for number, name in enumerate(names)}
    return names, np.array([place[name] for name in variants], dtype=np.int64)


def _differences(
    y: Floats, x: Floats, treatments: Sequence[NDArray[np.bool_]], design: _Design, alpha: float
) -> tuple[list[Coefficient | None], list[Coefficient | None], Coefficient]:
    """Treatments less the control as given and at equal length, None in the control's place; the slope of length."""
    columns = [*design.constant(), *(design.within(own.astype(np.float64)) for own in treatments)]
    before = coefficients(columns, design.within(y), design.units, alpha, design.absorbed) if columns else ()
    if before is None:
        raise InputError(Fault("a variant has outputs of one sample only", "score more samples with every variant"))
    after = coefficients([*columns, design.within(x)], design.within(y), design.units, alpha, design.absorbed)
    if after is None:
        what = "lengths differ between variants only: what length does cannot be told from what the variant does"
        raise InputError(Fault(what, "score more samples, or compare without control of length"))
    first, last = len(design.constant()), len(columns)
    return [None, *before[first:last]], [None, *after[first:last]], after[-1]
