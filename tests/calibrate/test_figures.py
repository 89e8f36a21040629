"""Agreement with intervals: worked by hand, beside other implementations, and covering as often as they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.calibrate.human_agreement import (
    AgreementFigure,
    measure_human_alpha,
    measure_human_kappa,
    measure_human_pearson,
    measure_human_spearman,
)
from evenhand.calibrate.labelled_outputs import HumanAnswerPairs
from evenhand.stats.agreement import cohen_kappa, krippendorff

ALL = [measure_human_alpha, measure_human_kappa, measure_human_pearson, measure_human_spearman]


def pairs(x: object, y: object, cluster: object = None) -> HumanAnswerPairs:
    first, second = np.array(x, dtype=float), np.array(y, dtype=float)
    units = np.arange(len(first)) if cluster is None else np.array(cluster)
    return HumanAnswerPairs(x=first, y=second, place=np.arange(len(first)), cluster=units)


def test_values_worked_by_hand() -> None:
    """Four pairs: (1,1), (2,2), (3,4), (4,3).

    Sums: Σ(x−y)² = 2, so D_o = 2/4. The eight values 1 1 2 2 3 4 4 3 have sum 20, squares 60: over ordered pairs
    D_e = 2(8·60 − 400)/(8·7) = 160/56, α = 1 − 0.5·56/160 = 0.825. Means 2.5, variances
    1.25 each: κ = 1 − 0.5/2.5 = 0.8. Covariance (2.25 + 0.25 + 0.75 + 0.75)/4 = 1: r = ρ = 1/1.25 = 0.8.
    """
    four = pairs([1, 2, 3, 4], [1, 2, 4, 3])

    assert measure_human_alpha(four).value == pytest.approx(0.825)
    assert [one(four).value for one in ALL[1:]] == pytest.approx([0.8, 0.8, 0.8])


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=4, max_size=30))
def test_the_values_are_those_of_other_implementations(given_pairs: list[tuple[int, int]]) -> None:
    """Ties, skew and all; what one cannot give, the other does not give either."""
    x, y = zip(*given_pairs, strict=True)
    own = pairs(x, y)

    theirs = krippendorff([list(x), list(y)])
    assert measure_human_alpha(own).value == (pytest.approx(theirs.value) if hasattr(theirs, "value") else None)
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert measure_human_pearson(own).value == pytest.approx(scipy_stats.pearsonr(x, y).statistic)
        assert measure_human_spearman(own).value == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
        weighted = cohen_kappa(list(map(float, x)), list(map(float, y)), weights="quadratic")
        assert measure_human_kappa(own).value == pytest.approx(getattr(weighted, "value", None))


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 5)), min_size=3, max_size=30),
    st.integers(-50, 50),
    st.sampled_from([0.25, 2.0, 10.0]),
    st.randoms(use_true_random=False),
)
def test_order_and_scale_do_not_matter(
    rows: list[tuple[int, int, int]], shift: int, factor: float, random: object
) -> None:
    """The same answers on another scale, in another order."""
    x, y, unit = (np.array(one) for one in zip(*rows, strict=True))
    order = np.array(random.sample(range(len(rows)), len(rows)))  # type: ignore[attr-defined]
    moved = pairs((x * factor + shift)[order], (y * factor + shift)[order], unit[order])

    for measure in ALL:
        before, after = measure(pairs(x, y, unit)), measure(moved)
        assert _ends(after) == pytest.approx(_ends(before), abs=1e-6)


@pytest.mark.parametrize("measure", ALL)
def test_without_spread_there_is_no_figure(measure: object) -> None:
    """Judge and people say 3 throughout: that is neither agreement nor disagreement."""
    found = measure(pairs([3] * 9, [3] * 9))  # type: ignore[operator]

    assert (found.value, found.low, found.why) == (None, None, "all answers are the same")


def test_a_constant_judge_agrees_no_better_than_chance() -> None:
    """α says so; there is nothing to correlate."""
    flat = pairs([3] * 10, [1, 2, 3, 4, 5] * 2)

    assert measure_human_alpha(flat).value == pytest.approx(1 - 2 / (2 * (20 * 20) / (20 * 19)))
    assert measure_human_pearson(flat).why == "one side never varies"


@pytest.mark.parametrize(
    ("n", "why"),
    [
        (1, "1 output that both answered is too few: it takes 3"),
        (2, "2 outputs that both answered are too few: it takes 3"),
        (7, "7 samples are too few for an interval: it takes 8"),
    ],
)
def test_few_outputs_carry_no_interval(n: int, why: str) -> None:
    """Two carry not even a figure."""
    found = measure_human_alpha(pairs([1, 2, 3, 4, 5, 1, 2][:n], [1, 3, 3, 4, 5, 2, 2][:n]))

    assert found.low is None
    assert found.why.startswith(why)


def test_perfect_agreement_claims_no_certainty() -> None:
    """An interval from 1 to 1 would say that no further output could ever differ."""
    found = measure_human_alpha(pairs([1, 2, 3, 4] * 5, [1, 2, 3, 4] * 5))

    assert (found.value, found.low) == (1.0, None)
    assert found.why == "every sample says the same: nothing tells how much that may vary"


def test_outputs_of_one_sample_count_as_one() -> None:
    """Each pair five times over is no more than each pair once."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(1, 6, 12), rng.integers(1, 6, 12)

    once, five = (
        measure_human_pearson(pairs(x, y)),
        measure_human_pearson(pairs(np.tile(x, 5), np.tile(y, 5), np.tile(np.arange(12), 5))),
    )

    assert (five.samples, five.n) == (12, 60)
    assert five.value == pytest.approx(once.value)
    assert _width(five) == pytest.approx(_width(once), rel=0.05)


@pytest.mark.parametrize("samples", [10, 25])
def test_95_of_100_intervals_cover(samples: int) -> None:
    """Two outputs to a sample, a judge that is 0.2 too high, whole levels; 400 draws err by three points at most."""
    rng = np.random.default_rng(7)
    truth = measure_human_alpha(_drawn(rng, 20_000)).value

    found = [measure_human_alpha(_drawn(rng, samples)) for _ in range(400)]

    covered = np.mean([one.low is None or one.low <= truth <= one.high for one in found])  # type: ignore[operator]
    assert 0.92 <= covered <= 0.99


def _drawn(rng: np.random.Generator, samples: int) -> HumanAnswerPairs:
    quality = np.repeat(rng.normal(size=samples), 2) + rng.normal(size=2 * samples)
    x, y = (np.clip(np.round(3 + quality * 0.8 + rng.normal(size=2 * samples) * 0.8 + up), 1, 5) for up in (0.2, 0))
    return pairs(x, y, np.repeat(np.arange(samples), 2))


def _ends(one: AgreementFigure) -> list[float]:
    return [-9.0 if value is None else value for value in (one.value, one.low, one.high)]


def _width(one: AgreementFigure) -> float:
    assert one.low is not None and one.high is not None
    return one.high - one.low
