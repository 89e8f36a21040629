"""How often decisions are wrong where the truth is known: a few tries here, thousands in `make soak`."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import VariantColumn
from evenhand.stats.differences import difference_of, paired_difference
from evenhand.stats.power import power_of, step_of
from tests.compare.drawing import CONTINUOUS, HIDDEN, SHARES, half_a_deviation_worse, scores
from tests.soak import SOAK, at_least, at_most, often

pytestmark = pytest.mark.long

ALL_SIZES = (5, 8, 12, 20, 50, 200)
SIZES = ALL_SIZES if SOAK else (5, 12, 50)
MOST_PROGRESS, MOST_REGRESS, LEAST_COVERED = 0.025, 0.05, 0.94


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("n", SIZES)
def test_equal_variants_seldom_differ_significantly(n: int, name: str, repeats: int) -> None:
    """Below 5%, and so below 2.5% to either side, on few samples and on scores full of ties."""
    rng, tries = np.random.default_rng([n, len(name), repeats]), often(100 if n < 50 else 40, 4_000)
    clusters = np.repeat(np.arange(n), repeats).tolist()

    signs: Counter[float] = Counter()
    for _ in range(tries):
        one, other = scores(name, rng, n, repeats).ravel(), scores(name, rng, n, repeats).ravel()
        found = paired_difference(one, other, rng=rng, clusters=clusters)
        signs[np.sign(found.estimate) if found.p < 0.05 else 0.0] += 1

    assert (signs[1.0] + signs[-1.0]) / tries <= at_most(0.05, tries)
    assert signs[1.0] / tries <= at_most(0.025, tries)
    assert signs[-1.0] / tries <= at_most(0.025, tries)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("n", SIZES)
def test_equal_variants_seldom_get_a_verdict(n: int, repeats: int) -> None:
    """All rules together, two layers and their gates included: PROGRESS ≤ 2.5%, REGRESS ≤ 5%."""
    rng, tries = np.random.default_rng([n, repeats]), often(16 if n < 50 else 6, 1_000)
    clusters = np.repeat(np.arange(n), repeats).tolist()
    names = list(SHARES)

    verdicts = Counter(_verdict(rng, names[try_ % len(names)], n, repeats, clusters) for try_ in range(tries))

    assert verdicts["PROGRESS"] / tries <= at_most(MOST_PROGRESS, tries), verdicts
    assert verdicts["REGRESS"] / tries <= at_most(MOST_REGRESS, tries), verdicts


@pytest.mark.parametrize("n", [20, 50])
def test_several_equal_treatments_seldom_get_a_verdict(n: int) -> None:
    """The headline is the worst of three: trying more must not condemn more."""
    rng, tries = np.random.default_rng(n), often(10, 1_000)

    verdicts = Counter(_verdict(rng, "uniform", n, 1, list(range(n)), treatments=3) for _ in range(tries))

    assert verdicts["PROGRESS"] / tries <= at_most(MOST_PROGRESS, tries), verdicts
    assert verdicts["REGRESS"] / tries <= at_most(MOST_REGRESS, tries), verdicts


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("n", SIZES)
def test_intervals_of_continuous_differences_cover_what_they_say(n: int, name: str) -> None:
    """Not too short, and not longer than they have to be."""
    rng, tries = np.random.default_rng([n, len(name)]), often(100 if n < 50 else 40, 4_000)

    covered = sum(_covers(row, 0.0, rng) for row in CONTINUOUS[name](rng, (tries, n))) / tries

    assert covered >= at_least(LEAST_COVERED, tries)
    assert covered <= at_most(0.97, tries) or (name == "long-tailed" and covered <= at_most(0.98, tries))


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("n", SIZES)
def test_intervals_cover_a_true_difference(n: int, name: str) -> None:
    """Also where the treatment is truly worse and the scores are tied, and so the differences lopsided."""
    rng, tries = np.random.default_rng([n, len(name)]), often(100 if n < 50 else 40, 4_000)
    truth = true_difference(name)

    covered = sum(_covers(row, truth, rng) for row in half_a_deviation_worse(name, rng, (tries, n))) / tries

    assert covered >= at_least(LEAST_COVERED, tries)


@cache
def true_difference(name: str) -> float:
    """The mean of four million draws."""
    return float(half_a_deviation_worse(name, np.random.default_rng(0), (1, 4_000_000)).mean())


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("n", SIZES[-4:] if SOAK else SIZES[1:])
def test_power_is_near_students_and_near_what_was_predicted(n: int, name: str) -> None:
    """A true difference of half a standard deviation: within 10 points of the paired t-test, 5 of the prediction."""
    rng, tries = np.random.default_rng([n, len(name)]), often(100 if n < 50 else 40, 4_000)
    differences = half_a_deviation_worse(name, rng, (tries, n))
    sample = half_a_deviation_worse(name, np.random.default_rng(0), (1, 100_000)).ravel()

    seen = sum(difference_of(row, rng=rng).p < 0.05 for row in differences) / tries
    by_t = float((scipy_stats.ttest_1samp(differences, 0, axis=1).pvalue < 0.05).mean())
    predicted = power_of(n, float(sample.mean()), float(sample.std()), step=step_of(sample)).power

    error = at_most(0.5, tries) - 0.5
    assert abs(seen - by_t) <= 0.10 + error / 2
    assert abs(seen - predicted) <= 0.05 + error


def _verdict(
    rng: np.random.Generator, name: str, n: int, repeats: int, clusters: list[int], treatments: int = 1
) -> str:
    columns = {}
    for variant in ("old", *(f"new{place}" for place in range(treatments))):
        judge, fact = scores(name, rng, n, repeats).ravel(), scores("skewed", rng, n, repeats).ravel()
        layers = {"judge": judge.tolist(), "fact": fact.tolist()}
        columns[variant] = VariantColumn(composite=((judge + fact) / 2).tolist(), layers=layers)
    return decide_comparison(columns, control="old", clusters=clusters, seed=int(rng.integers(1 << 30))).verdict


def _covers(
    differences: "np.ndarray[tuple[int], np.dtype[np.float64]]", truth: float, rng: np.random.Generator
) -> bool:
    found = difference_of(differences, rng=rng)
    return found.low - 1e-9 <= truth <= found.high + 1e-9
