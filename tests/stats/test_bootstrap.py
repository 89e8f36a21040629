"""Bootstrap intervals: against resamples written out, against SciPy, and indifferent to order, side and scale."""

import math
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats import _bootstrap as bootstrap
from evenhand.stats._agreement import Undefined
from evenhand.stats._bootstrap import Bootstrap, BootstrapMethod, bootstrap_difference, bootstrap_mean
from evenhand.stats._mean import mean_interval

METHODS: tuple[BootstrapMethod, ...] = get_args(BootstrapMethod)
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=5, max_size=40)


def _mean(
    values: object, *, method: BootstrapMethod = "bca", level: float = 0.95, resamples: int = 10_000, seed: int = 3
) -> Bootstrap:
    rng = np.random.default_rng(seed)
    found = bootstrap_mean(np.asarray(values), rng=rng, method=method, level=level, resamples=resamples)
    assert isinstance(found, Bootstrap)
    return found


def _compared(
    pairs: list[tuple[int, int]],
    method: BootstrapMethod = "bca",
    *,
    scale: float = 1,
    clusters: list[int] | None = None,
) -> Bootstrap | Undefined:
    treatment, control = [scale * one for one, _ in pairs], [scale * other for _, other in pairs]
    rng = np.random.default_rng(11)
    return bootstrap_difference(treatment, control, rng=rng, method=method, resamples=1_000, clusters=clusters)


def test_two_values_have_three_means() -> None:
    """0 and 1: a quarter of the resamples has mean 0 and a quarter 1, so 95 % reach from end to end."""
    found = _mean([0, 1], method="percentile")

    assert (found.estimate, found.low, found.high) == (0.5, 0.0, 1.0)
    assert (found.method, found.n, found.resamples, found.level) == ("bootstrap, percentile", 2, 10_000, 0.95)


def test_bca_by_hand() -> None:
    """Nine 0 and one 1 at 90 %: the ones in a resample are binomial, ten draws at 1 of 10.

    Below the mean of 0.1 lie 0.3487, on it 0.3874: the bias is Φ⁻¹(0.5424) = 0.1065. Deviations 0.9 once and −0.1 nine
    times: the acceleration is 0.72 / (6 · 0.9^1.5) = 0.1406. The upper end moves from 0.95 to
    Φ(0.1065 + 1.7513 / (1 − 0.1406 · 1.7513)) = 0.9925, where the binomial has reached 4 (0.9984) and not 3 (0.9872);
    the plain percentile stays at 3. The lower end moves from 0.05 to 0.123: still 0.
    """
    scores = [0] * 9 + [1]

    corrected, plain = _mean(scores, level=0.90), _mean(scores, level=0.90, method="percentile")

    assert [corrected.low, corrected.high] == pytest.approx([0.0, 0.4])
    assert [plain.low, plain.high] == pytest.approx([0.0, 0.3])


def test_studentised_ends_are_those_of_all_resamples() -> None:
    """Of five values there are 3,125 resamples; 2.5 % of their t values lie beyond each end, and five are infinite."""
    values = np.array([0.3, 1.1, 1.7, 2.9, 5.2])
    every = values[np.array(list(product(range(5), repeat=5)))]
    away, spread = every.mean(axis=1) - values.mean(), every.std(axis=1, ddof=1) / math.sqrt(5)
    ts = sorted(
        one / other if other > 1e-9 else math.copysign(math.inf, one) for one, other in zip(away, spread, strict=True)
    )

    found = _mean(values, method="studentised", resamples=100_000)

    error = values.std(ddof=1) / math.sqrt(5)
    expected = [found.estimate - ts[round(0.975 * 3125)] * error, found.estimate - ts[round(0.025 * 3125)] * error]
    assert [found.low, found.high] == pytest.approx(expected)


@pytest.mark.parametrize("method", ["bca", "percentile"])
@pytest.mark.parametrize("kind", ["many values", "few values"])
def test_scipy_finds_the_same_interval(kind: str, method: BootstrapMethod) -> None:
    """So skewed that the correction counts; of 400,000 resamples an end strays by a fiftieth of a standard error."""
    rng = np.random.default_rng(8)
    many, few = (
        np.append(rng.normal(0, 1, 24), 12.0),
        rng.choice([-9.0, 0.0, 0.0, 0.0, 1.0], 100, p=[0.05, 0.3, 0.3, 0.3, 0.05]),
    )
    values = many if kind == "many values" else few

    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=400_000, batch=10_000, method="BCa" if method == "bca" else method, rng=rng
    ).confidence_interval
    found = _mean(values, method=method, resamples=400_000)

    step = 0.0 if kind == "many values" else 1 / len(values)
    tolerance = 0.08 * values.std() / math.sqrt(len(values)) + step
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], abs=tolerance)


def test_scipy_finds_the_same_interval_for_pairs() -> None:
    """A thousand pairs of 1–5 scores, as they are compared every day."""
    rng = np.random.default_rng(2)
    treatment, control = rng.choice(5, 1000, p=[0.05, 0.1, 0.15, 0.3, 0.4]) + 1.0, rng.integers(1, 6, 1000) * 1.0

    expected = scipy_stats.bootstrap(
        (treatment, control),
        lambda one, other, axis: (one - other).mean(axis=axis),
        paired=True,
        method="BCa",
        n_resamples=10_000,
        rng=rng,
    ).confidence_interval
    found = bootstrap_difference(treatment, control, rng=np.random.default_rng(1))

    assert isinstance(found, Bootstrap)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high], abs=0.008)


@pytest.mark.parametrize("method", METHODS)
def test_counts_and_values_are_drawn_alike(method: BootstrapMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the two ways is cheaper must not show in the interval."""
    values = np.random.default_rng(5).choice([1.0, 2.0, 5.0], 60, p=[0.7, 0.2, 0.1])

    with monkeypatch.context() as counting:
        counting.setattr(bootstrap, "_DEARER", 1)
        counting.setattr(bootstrap, "_by_values", None)
        counted = _mean(values, method=method)
    with monkeypatch.context() as picking:
        picking.setattr(bootstrap, "_DEARER", 1000)
        picking.setattr(bootstrap, "_by_counts", None)
        picked = _mean(values, method=method)

    error = values.std() / math.sqrt(60)
    assert [counted.low, counted.high] == pytest.approx([picked.low, picked.high], abs=0.3 * error)


@pytest.mark.parametrize(("method", "least"), [("bca", 0.90), ("percentile", 0.89), ("studentised", 0.94)])
def test_intervals_cover_what_they_can(method: BootstrapMethod, least: float) -> None:
    """Twenty normal values, 400 repetitions (2.3 standard errors: 2.5 points): only the studentised keeps its level."""
    rng = np.random.default_rng(20)

    found = [
        bootstrap_mean(row, rng=rng, method=method, resamples=1_000) for row in rng.normal(0.0, 1.0, size=(400, 20))
    ]

    assert np.mean([isinstance(one, Bootstrap) and one.low <= 0 <= one.high for one in found]) >= least - 0.025


@pytest.mark.parametrize("method", METHODS)
def test_many_normal_values_have_students_interval(method: BootstrapMethod) -> None:
    """With two thousand values all methods say the same, within the accidents of the draw."""
    values = np.random.default_rng(4).normal(3, 1, 2000)
    student = mean_interval(values)

    found = _mean(values, method=method)

    assert found.estimate == pytest.approx(student.estimate, rel=1e-12)
    assert [found.low, found.high] == pytest.approx([student.low, student.high], abs=0.003)


@pytest.mark.parametrize("method", METHODS)
@given(pairs=PAIRS, random=st.randoms())
def test_the_order_of_samples_changes_nothing(
    method: BootstrapMethod, pairs: list[tuple[int, int]], random: st.DataObject
) -> None:
    """A sample has no place of its own."""
    shuffled = sorted(pairs, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert _compared(shuffled, method) == _compared(pairs, method)


@pytest.mark.parametrize("method", METHODS)
@given(pairs=PAIRS)
def test_swapping_the_sides_swaps_the_interval(method: BootstrapMethod, pairs: list[tuple[int, int]]) -> None:
    """Neither side is favoured, not even by the draw."""
    found, swapped = _compared(pairs, method), _compared([(other, one) for one, other in pairs], method)

    if isinstance(found, Undefined):
        assert isinstance(swapped, Undefined)
    else:
        assert isinstance(swapped, Bootstrap)
        assert [swapped.estimate, swapped.low, swapped.high] == pytest.approx(
            [-found.estimate, -found.high, -found.low]
        )


@pytest.mark.parametrize("method", METHODS)
@given(scores=st.lists(st.integers(1, 5), min_size=5, max_size=40), scale=st.sampled_from([0.1, 7.0, 1e9, 1e-200]))
def test_scaling_and_shifting_scale_and_shift_the_interval(
    method: BootstrapMethod, scores: list[int], scale: float
) -> None:
    """Points or percent, from 0 or from 1: the same interval, also where scores are no binary fractions."""
    rng = [np.random.default_rng(9) for _ in range(3)]

    found = bootstrap_mean(scores, rng=rng[0], method=method, resamples=1_000)
    scaled = bootstrap_mean([scale * one for one in scores], rng=rng[1], method=method, resamples=1_000)
    shifted = bootstrap_mean([one - 2 for one in scores], rng=rng[2], method=method, resamples=1_000)

    if isinstance(found, Bootstrap):
        assert isinstance(scaled, Bootstrap)
        assert isinstance(shifted, Bootstrap)
        assert [scaled.low, scaled.high] == pytest.approx([scale * found.low, scale * found.high], rel=1e-9, abs=0)
        assert [shifted.low, shifted.high] == pytest.approx([found.low - 2, found.high - 2], abs=1e-9)


@given(pairs=PAIRS)
def test_equal_repeats_add_nothing(pairs: list[tuple[int, int]]) -> None:
    """Repeats of one sample are one cluster: asking thrice does not triple what is known."""
    thrice = _compared(pairs * 3, clusters=list(range(len(pairs))) * 3)

    assert thrice == _compared(pairs)


@given(scores=st.lists(st.integers(1, 5), min_size=5, max_size=30), level=st.sampled_from([0.02, 0.5, 0.9, 0.95]))
def test_the_estimate_lies_inside(scores: list[int], level: float) -> None:
    """At levels that nobody uses, too."""
    for method in METHODS:
        found = bootstrap_mean(scores, rng=np.random.default_rng(1), level=level, method=method, resamples=1_000)

        assert isinstance(found, Undefined) or found.low <= found.estimate <= found.high


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_have_no_interval(method: BootstrapMethod) -> None:
    """An interval of no width would claim a certainty that ten equal scores do not give."""
    found = bootstrap_mean([4.2] * 10, rng=np.random.default_rng(1), method=method)

    assert isinstance(found, Undefined)
    assert found.n == 10
    assert "all 10 values are 4.2" in found.why


def test_values_that_are_equal_on_paper_are_equal() -> None:
    """0.1 + 0.2 and 0.3 differ in their last digits as floats."""
    rng = np.random.default_rng(1)

    found = bootstrap_difference([0.1 + 0.2, 0.4, 0.5], [0.3, 0.4, 0.5], rng=rng)

    assert isinstance(found, Undefined)


def test_a_studentised_end_is_open_where_resamples_have_no_spread() -> None:
    """Nineteen 5 and one 1: in 36 % of the resamples the 1 is missing, and nothing bounds the mean from below."""
    found = _mean([5] * 19 + [1], method="studentised")

    assert found.low == -math.inf
    assert math.isfinite(found.high)


@pytest.mark.parametrize(
    ("values", "method", "says"),
    [
        ([], "bca", "BCa needs at least 2 samples, got 0"),
        ([1.0], "percentile", "percentile needs at least 2 samples, got 1"),
        ([1.0, 2.0, 3.0, 4.0], "studentised", "studentised needs at least 5 samples, got 4"),
        ([1.0, math.nan], "bca", r"values\[1\] is not a finite number"),
        ([1e200, 1.0], "bca", "too large to reckon with"),
        ([1.0, 2.0], "bias", "unknown method 'bias'"),
        ([1.0, 2.0], "BCa", "did you mean 'bca'"),
    ],
)
def test_data_that_carry_no_interval_are_refused(values: list[float], method: BootstrapMethod, says: str) -> None:
    """A refusal that says why, never NaN."""
    with pytest.raises(InputError, match=says):
        bootstrap_mean(values, rng=np.random.default_rng(1), method=method)


def test_too_few_resamples_are_refused() -> None:
    """Ten must lie beyond each end: 400 for 95 %, 20,000 for 99.9 %."""
    rng = np.random.default_rng(1)

    assert bootstrap_mean([1, 2, 3], rng=rng, resamples=400)
    with pytest.raises(InputError, match=r"399 resamples are too few .*400 or more"):
        bootstrap_mean([1, 2, 3], rng=rng, resamples=399)
    with pytest.raises(InputError, match="20,000 or more"):
        bootstrap_mean([1, 2, 3], rng=rng, level=0.999)
    with pytest.raises(InputError, match=r"95 % is 0\.95"):
        bootstrap_mean([1, 2, 3], rng=rng, level=95)
    with pytest.raises(InputError, match="not an interval"):
        Bootstrap(estimate=2.0, low=0.0, high=1.0, level=0.95, method="", n=9, resamples=1000)
