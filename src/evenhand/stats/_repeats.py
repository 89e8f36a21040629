"""The judge's own noise: how much of an interval repeats of the same question could take away."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Numbers, finite, size_of, whole
from evenhand.stats._groups import Marks, numbered

LEAST_SAMPLES = LEAST_REPEATS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeNoise:
    """Standard deviations within a sample (the judge's noise) and between samples; `n` counts samples.

    `share` is the part of the variance of the mean over all samples that is noise, with the `repeats` there were (their
    harmonic mean).
    """

    within: float
    between: float
    share: float
    repeats: float
    method: str
    n: int

    def width(self, repeats: int) -> float:
        """How wide the interval of the mean would be with this many repeats of every sample, as a share of now."""
        if whole(repeats, "repeats") < 1:
            raise InputError(Fault(f"{repeats} repeats", "1 or more"))
        now = math.hypot(self.between, self.within / math.sqrt(self.repeats))
        return math.hypot(self.between, self.within / math.sqrt(repeats)) / now


def judge_noise(scores: Numbers, clusters: Marks) -> JudgeNoise:
    """Tell noise within samples from differences between them; every cluster holds the repeats of one sample."""
    given = finite(scores, "scores")
    size = size_of(given)
    values = given / size
    unit = numbered(clusters, len(values), "clusters")
    times = np.bincount(unit)
    n, again = len(times), len(values) - len(times)
    if again == 0:
        raise InputError(Fault("no sample was scored twice", "run with repeats, and give each sample one cluster"))
    if n < LEAST_SAMPLES or again < LEAST_REPEATS:
        what = f"{n} samples with {again} repeats in all are too few to tell noise from differences"
        raise InputError(Fault(what, f"it takes {LEAST_SAMPLES} samples and {LEAST_REPEATS} repeats"))
    means = np.bincount(unit, weights=values) / times
    noise = float(((values - means[unit]) ** 2).sum()) / again
    seen, inverse = float(means.var(ddof=1)), float((1 / times).mean())
    if max(noise, seen) <= (1e-12 * float(np.abs(values).max())) ** 2:
        raise InputError(Fault("all scores are the same: there is no variance to divide", "score other samples"))
    between = max(0.0, seen - noise * inverse)  # The means of noisy scores vary by the noise too.
    return JudgeNoise(
        within=size * math.sqrt(noise),
        between=size * math.sqrt(between),
        share=noise * inverse / (between + noise * inverse),
        repeats=1 / inverse,
        method="variance components of sample means",
        n=n,
    )
