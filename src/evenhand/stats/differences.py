"""Paired differences: interval and p-value come from one test, so that they never contradict each other.

The test is the sign-flip test, Student's t, or both. Under "the mean difference is δ" each d − δ could as well have had
the other sign. Flipping the signs of a subset makes the sum at least as large as the observed one exactly when the mean
of that subset is at most δ. So the p-value at every δ is a count of subset means, and the ends of the interval are two
of them (Hartigan 1969, "Using subsample values as typical values").

Samples of one cluster are not independent: their signs are flipped together. A cluster's mean counts by the number of
its samples, in the estimate, in the means of subsets and in the error of Student's t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    ClusterLabels,
    ClusterMeans,
    CountedPer,
    Floats,
    Numbers,
    compute_cluster_means,
    compute_interval_alpha,
    find_array_magnitude,
    require_finite_array,
    require_random_generator,
    require_statistic_number,
    round_array_off_binary_noise,
)
from evenhand.stats.distributions import compute_binomial_at_most, compute_t_tail, student_quantile
from evenhand.stats.rates import bound_share_from_above

# With more distinct values than this, the sign flips of so many differences follow a t distribution; so do those of
# differences of which so many have a say, closer than the share of 9,999 flips can tell.
_MOST_DISTINCT = 256
_MOST_FLIPPED = 2_000
# With five pairs even five equal signs come up in 1 of 16 comparisons: sign flips alone could not reject at 5%.
_SMALLEST_BY_T = 5
_MOST_SUBSETS = 1 << 16  # Sixteen distinct differences, or many more with ties.
_MOST_ENUMERATED = 200  # Beyond, the weights of the subsets cost more than they are worth.
_DRAWN_FLIPS = 9_999
_MOST_BITS = 2_000
_CANCELLED = 1e-9  # Sums that cancel on paper leave this much at most, as a share of the largest difference.
# Where so many pairs are tied, how many are not is chance too, and evens out the steps of a p-value that counts half of
# what equals the observation (mid-p). Without zeros its steps show: 7.7 % false alarms on 16 differences of ±1.
_TIED_SHARE = 0.25
SCALE_BOUND = "a bound on the scale"
_ROUNDING = 1e-9  # Of the span: differences this far beyond their scale are rounding.
_NEXT_TO_ZERO = 1e-12  # Of the largest difference.
_NEARLY_ALL = 0.95  # Where so many differences are the same, their scatter says nothing about what is rare.


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Treatment minus control. An end is infinite where there are too few pairs for the test to set a bound."""

    estimate: float
    low: float
    high: float
    level: float
    p: float
    sd: float
    method: str
    n: int
    # At how many looks it may have been stopped, where p and interval allow for that; not part of its JSON.
    looks: int = field(default=0, metadata={"json": None})
    # Whether p is the least that so many drawn flips can give, and the true one may be smaller; its method tells.
    p_at_most: bool = field(default=False, metadata={"json": None})

    def __post_init__(self) -> None:
        if not (self.low <= self.estimate <= self.high and 0 <= self.p <= 1 and self.sd >= 0 and self.n >= 2):
            raise InputError(Fault(f"not a difference: {self}", "low ≤ estimate ≤ high, 0 ≤ p ≤ 1, n ≥ 2"))

    @property
    def bounded(self) -> bool:
        """Whether the interval has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def is_scale_bound(self) -> bool:
        """Whether (nearly) all differences are equal, so that interval and p are only bounds."""
        return SCALE_BOUND in self.method


def paired_difference(
    treatment: Numbers,
    control: Numbers,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    samples: ClusterLabels | None = None,
    per: CountedPer = "sample",
) -> Difference:
    """How much higher the treatment scored than the control, as the mean over samples; `n` counts clusters.

    Rows that name one of `samples` are its repeats, those that name one of `clusters` are not independent. `per`
    cluster, every cluster counts once, however many samples it has.
    """
    units = unit_differences(treatment, control, clusters, samples, per)
    return difference_of(units.means, sizes=units.sizes, rng=rng, level=level)


def unit_differences(
    treatment: Numbers,
    control: Numbers,
    clusters: ClusterLabels | None = None,
    samples: ClusterLabels | None = None,
    per: CountedPer = "sample",
) -> ClusterMeans:
    """Treatment minus control, one mean per independent unit: a cluster, or a sample that is in none."""
    ours, theirs = require_finite_array(treatment, "treatment"), require_finite_array(control, "control")
    if len(ours) != len(theirs):
        what = f"{len(ours)} scores of the treatment for {len(theirs)} of the control"
        raise InputError(Fault(what, "give the samples that both have, in the same order"))
    if not len(ours):
        return ClusterMeans(ours, ours)
    scale = float(max(np.abs(ours).max(), np.abs(theirs).max()))
    units = compute_cluster_means(ours - theirs, clusters, samples, per)
    return ClusterMeans(round_array_off_binary_noise(units.means, scale), units.sizes)


def difference_of(
    differences: Numbers,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    sizes: Numbers | None = None,
    span: float | None = None,
) -> Difference:
    """The same for differences that are already one per independent unit; `sizes` says how many samples each counts.

    No difference can be beyond ±`span`: where nearly all are equal, and the test's interval has hardly any width, ends
    and p hold for every distribution on that scale.
    """
    alpha = compute_interval_alpha(level)
    given = require_finite_array(differences, "differences")
    counted = np.ones(len(given)) if sizes is None else require_finite_array(sizes, "sizes")
    if len(counted) != len(given) or (counted <= 0).any():
        raise InputError(Fault("sizes must be above 0, one per difference", "how many samples each difference counts"))
    scale = find_array_magnitude(given)
    pairs = _SignFlipDifferences.count(given / scale, counted)
    low, high, p, method = _test_by_sign_flips_and_t(pairs, alpha, require_random_generator(rng))
    width = None if span is None else require_statistic_number(span, "span", "4 on scores from 1 to 5")
    if width is not None and width > 0 and np.abs(given).max() <= width * (1 + _ROUNDING):
        width /= scale
        if pairs.nearly_equal:
            low, high, p, method = _widen_interval_to_scale_bound((low, high, p, method), pairs, width, alpha)
        # No mean difference lies beyond the scale; an end that there is not stays away.
        low = low if math.isinf(low) else max(low, -width)
        high = high if math.isinf(high) else min(high, width)
    low, high = min(low, pairs.mean), max(high, pairs.mean)  # Rounding may leave an end one digit on the wrong side.
    estimate, low, high, sd = (scale * one for one in (pairs.mean, low, high, pairs.sd))
    return Difference(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        p=p,
        sd=sd,
        method=method,
        n=pairs.n,
        p_at_most="drawn" in method and p <= 2 / (_DRAWN_FLIPS + 1),
    )


@dataclass(frozen=True, slots=True)
class _SignFlipDifferences:
    """The distinct differences in ascending order, what each counts and how often it occurs; their mean and spread.

    `sd` over the root of `n` is the standard error of the mean.
    """

    values: Floats
    sizes: Floats
    counts: Floats
    n: int
    mean: float
    sd: float

    @classmethod
    def count(cls, differences: Floats, sizes: Floats) -> _SignFlipDifferences:
        n = len(differences)
        if n < 2:
            raise InputError(Fault(f"a difference needs at least 2 pairs, got {n}", "score more samples with both"))
        sizes = sizes / sizes.max()
        if (sizes == 1).all():
            values, counts = np.unique(differences, return_counts=True)
            sizes = np.ones(len(values))
        else:
            (values, sizes), counts = np.unique(np.stack([differences, sizes]), axis=1, return_counts=True)
        weights = counts * sizes
        total = math.fsum(weights)
        mean = math.fsum(values * weights) / total
        spread = math.fsum(weights * sizes * (values - mean) ** 2)
        return cls(values, sizes, counts.astype(np.float64), n, mean, math.sqrt(spread / (n - 1)) * n / total)

    @property
    def untied(self) -> bool:
        """No two differences have the same size."""
        return len(np.unique(np.abs(self.values))) == self.n

    @property
    def many(self) -> bool:
        """So many differences make the sum scatter, around 0 and around their mean, that no few of them decide it."""
        for middle in (0.0, self.mean):
            squares = ((self.values - middle) * self.sizes) ** 2
            if not float(self.counts @ squares) ** 2 > _MOST_FLIPPED * float(self.counts @ squares**2):
                return False
        return True

    @property
    def nearly_equal(self) -> bool:
        """All differences are the same, but for one in twenty at most, whatever each counts."""
        return self.most_frequent[1] >= _NEARLY_ALL * self.n

    @property
    def most_frequent(self) -> tuple[float, int]:
        """The difference that occurs most, and how often."""
        values, place = np.unique(self.values, return_inverse=True)
        counts = np.bincount(place, weights=self.counts)
        return float(values[np.argmax(counts)]), int(counts.max())

    @property
    def often_zero(self) -> bool:
        """So many pairs are tied that mid-p is fair."""
        return bool(self.counts[self.values == 0].sum() >= _TIED_SHARE * self.n)


_TestResult = tuple[float, float, float, str]  # Low, high, p and method.


def _test_by_sign_flips_and_t(pairs: _SignFlipDifferences, alpha: float, rng: np.random.Generator) -> _TestResult:
    """Test by sign flips, by Student's t, or, where differences are tied, by both: rejected is what both reject.

    Sign flips assume no normal distribution, but where most differences are 0, as at the top of a scale, their interval
    is too short. Student's is not, but on a handful of equal differences, or with one cluster that outweighs the
    others, it rejects too soon.
    """
    alike = bool((pairs.sizes == 1).all())
    if pairs.many or (alike and (len(pairs.values) > _MOST_DISTINCT or (pairs.n == _SMALLEST_BY_T and pairs.untied))):
        return _test_by_t(pairs, alpha)
    signs = _permutation_test_by_sign_flips(pairs, alpha, rng)
    if pairs.sd == 0 or (pairs.untied and alike):
        return signs
    t = _test_by_t(pairs, alpha)
    p = max(signs[2], t[2])
    low, high = min(signs[0], t[0]), max(signs[1], t[1])
    if p < alpha:  # Where many are tied, mid-p may reject 0 and nothing next to it: 0 is then just outside.
        low, high = _NEXT_TO_ZERO if low == 0 else low, -_NEXT_TO_ZERO if high == 0 else high
    return low, high, p, f"{signs[3]}, and t"


def _widen_interval_to_scale_bound(
    known: _TestResult, pairs: _SignFlipDifferences, span: float, alpha: float
) -> _TestResult:
    """Each end as if all differences beyond the usual one lay at the end of the scale, as often as may be.

    How often that is follows from how many of them do not equal the usual one (Clopper and Pearson); p is the level at
    which 0 would just be an end. Clusters that count more than others are fewer observations.
    """
    usual, _ = pairs.most_frequent
    weights = pairs.counts * pairs.sizes
    n = max(2, math.floor(float(weights.sum() ** 2 / (weights @ pairs.sizes))))
    low, high, p, method = known
    ends, ps = [], [1.0]
    for side in (-1, 1):
        odd = min(n, int(pairs.counts[(pairs.values - usual) * side > 0].sum()))
        room = span - side * usual
        ends.append(usual + side * room * bound_share_from_above(odd, n, 1 - alpha / 2))
        if side * usual < 0:  # Only a bound on the far side of 0 can leave it out.
            ps.append(2 * compute_binomial_at_most(odd, n, -side * usual / room))
    low = ends[0] if math.isinf(low) else min(low, ends[0])
    high = ends[1] if math.isinf(high) else max(high, ends[1])
    return low, high, max(p, min(ps)), f"{method}, and {SCALE_BOUND}"


def _test_by_t(pairs: _SignFlipDifferences, alpha: float) -> _TestResult:
    error, df = pairs.sd / math.sqrt(pairs.n), pairs.n - 1
    reach = student_quantile(alpha / 2, df) * error
    p = min(1.0, 2 * compute_t_tail(abs(pairs.mean) / error, df))
    return pairs.mean - reach, pairs.mean + reach, p, "paired t"


def _permutation_test_by_sign_flips(pairs: _SignFlipDifferences, alpha: float, rng: np.random.Generator) -> _TestResult:
    table = pairs.values, pairs.sizes, pairs.counts
    mirrored = -pairs.values[::-1] + 0.0, pairs.sizes[::-1], pairs.counts[::-1]
    if len(np.unique(pairs.sizes)) > 1:  # Of equal differences the one that counts less comes first, either way round.
        order = np.lexsort((mirrored[1], mirrored[0]))
        mirrored = mirrored[0][order], mirrored[1][order], mirrored[2][order]
    # Of the two orientations always the same one is tested, so that swapping the sides only swaps the interval.
    turned = [one.tolist() for one in mirrored] < [one.tolist() for one in table]
    flips = _flip_signs(*(mirrored if turned else table), rng, mid=pairs.often_zero)
    low, high = flips.find_bounds(alpha)
    p = flips.compute_p()
    return (-high, -low, p, flips.method) if turned else (low, high, p, flips.method)


@dataclass(frozen=True, slots=True)
class _SignFlips:
    """Subset means in order, and twice the share of sign flips on either side of each.

    `mid` counts what equals the observation by half. Between two subset means nothing equals it, so that only flipping
    nothing at all, and subsets on the value that is tested, count less.
    """

    means: Floats
    at_most: Floats
    at_least: Floats
    always: float
    mid: bool
    method: str

    def compute_p(self) -> float:
        """Return the two-sided p-value of "no difference"."""
        at_most = int(np.searchsorted(self.means, 0.0, side="right"))
        at_least = int(np.searchsorted(self.means, 0.0, side="left"))
        low = self.at_most[at_most - 1] if at_most else self.always
        high = self.at_least[at_least] if at_least < len(self.means) else self.always
        if self.mid:
            low = (low + (self.at_most[at_least - 1] if at_least else self.always)) / 2
            high = (high + (self.at_least[at_most] if at_most < len(self.means) else self.always)) / 2
        return float(min(1.0, low, high))

    def find_bounds(self, alpha: float) -> tuple[float, float]:
        """Return the differences that the test does not reject; infinite where too few pairs can reject any."""
        if self.always >= alpha:
            return -math.inf, math.inf
        low = self.means[np.argmax(self.at_most >= alpha)]
        high = self.means[len(self.means) - 1 - np.argmax(self.at_least[::-1] >= alpha)]
        return float(low), float(high)


def _flip_signs(values: Floats, sizes: Floats, counts: Floats, rng: np.random.Generator, *, mid: bool) -> _SignFlips:
    """Enumerate all subsets where there are few enough, draw some where not; `values` are distinct and in order."""
    tallies = [int(count) for count in counts]
    exact = sum(tallies) <= _MOST_ENUMERATED and math.prod(tally + 1 for tally in tallies) <= _MOST_SUBSETS
    sums, held, mass = (
        _enumerate_permutation_subsets(values * sizes, sizes, tallies)
        if exact
        else _draw_permutation_sums(values * sizes, sizes, counts, rng)
    )
    chosen = held > 0  # Flipping nothing leaves the observed sum, which is as large as itself at every δ.
    total, always = mass.sum(), mass[~chosen].sum() * (0.5 if mid else 1.0)
    means = sums[chosen] / held[chosen]
    means[np.abs(means) <= _CANCELLED * float(np.abs(values).max())] = 0.0
    order = np.argsort(means, kind="stable")
    mass = mass[chosen][order]
    return _SignFlips(
        means=means[order],
        at_most=2 * (always + np.cumsum(mass)) / total,
        at_least=2 * (always + np.cumsum(mass[::-1])[::-1]) / total,
        always=float(2 * always / total),
        mid=mid,
        method=("sign flips, exact" if exact else f"sign flips, {_DRAWN_FLIPS:,} drawn") + (", mid-p" if mid else ""),
    )


def _enumerate_permutation_subsets(values: Floats, sizes: Floats, tallies: list[int]) -> tuple[Floats, Floats, Floats]:
    """Return sums, sizes and probabilities of subsets; those that differ only in which ties they hold are one."""
    sums, counted, mass = np.zeros(1), np.zeros(1), np.ones(1)
    for value, size, tally in zip(values, sizes, tallies, strict=True):
        held = np.arange(tally + 1.0)
        ways = np.array([math.comb(tally, one) / 2**tally for one in range(tally + 1)])
        sums = np.add.outer(sums, value * held).ravel()
        counted = np.add.outer(counted, size * held).ravel()
        mass = np.multiply.outer(mass, ways).ravel()
    return sums, counted, mass


def _draw_permutation_sums(
    values: Floats, sizes: Floats, counts: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    single = counts == 1
    bits = rng.integers(0, 256, size=(_DRAWN_FLIPS, -(-int(single.sum()) // 8)), dtype=np.uint8)
    once = np.unpackbits(bits, axis=1, count=int(single.sum())).astype(np.float64)  # Ten times as fast as binomials.
    tied = np.empty((_DRAWN_FLIPS, int((~single).sum())))
    for place, count in enumerate(counts[~single]):
        tied[:, place] = _draw_binomial_sign_flips(int(count), rng)
    sums = once @ values[single] + tied @ values[~single]
    counted = once @ sizes[single] + tied @ sizes[~single]
    # The observed signs are one of the possible draws: without them a p-value could be 0.
    return np.append(sums, 0.0), np.append(counted, 0.0), np.ones(_DRAWN_FLIPS + 1)


def _draw_binomial_sign_flips(tosses: int, rng: np.random.Generator) -> Floats:
    """Draw how many of so many fair coins fall heads; counting bits is far quicker than binomials, while few."""
    if tosses > _MOST_BITS:
        return rng.binomial(tosses, 0.5, size=_DRAWN_FLIPS).astype(np.float64)
    whole, rest = divmod(tosses, 64)
    words = rng.integers(0, 1 << 64, size=(_DRAWN_FLIPS, whole + (rest > 0)), dtype=np.uint64)
    if rest:
        words[:, -1] >>= np.uint64(64 - rest)
    heads: Floats = np.bitwise_count(words).sum(axis=1, dtype=np.float64)
    return heads
