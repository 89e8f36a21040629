"""Prediction-powered intervals: on people's scale, whatever the judge's bias, and hardly wider than labels alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.errors import InputError
from evenhand.stats.means import Powered, mean_interval, powered_mean

Floats = NDArray[np.float64]


def _labels(human: Floats, labelled: int) -> list[float | None]:
    return [*human[:labelled].tolist(), *[None] * (len(human) - labelled)]


def _generous(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """People's 1–5 scores, and a judge that gives about a point too much."""
    worth = rng.uniform(0.5, 5.5, n)
    human, judge = worth + rng.normal(0, 0.7, n), worth + 1 + rng.normal(0, 0.7, n)
    return np.clip(np.rint(human), 1, 5), np.clip(np.rint(judge), 1, 5)


def test_an_estimate_by_hand() -> None:
    """Ten labels of 1 beside the judge's 2, ten of 3 beside its 4, and 20 more samples that it gave 4.

    People's labels follow the judge point by point (slope 1), whose mean is 3 over the labelled and 3.5 over all 40:
    2 + 1 · ½. No label strays, so that only the judge's spread over all counts: 10 of 2 and 30 of 4 have a variance of
    30 / 39. λ is the slope times the unlabelled share, ½.
    """
    judged = [2.0] * 10 + [4.0] * 30

    found = powered_mean(judged, [1.0] * 10 + [3.0] * 10 + [None] * 20)

    error = math.sqrt(30 / 39 / 40)
    assert (found.estimate, found.tuning) == pytest.approx((2.5, 0.5))
    assert (found.low, found.high) == pytest.approx((2.5 - 2.100922 * error, 2.5 + 2.100922 * error), abs=1e-5)
    assert (found.n, found.judged, found.method) == (20, 40, "prediction-powered, tuned; t")
    assert found.labels_only == mean_interval([1.0] * 10 + [3.0] * 10)


def test_the_estimate_is_that_of_ppi_plus_plus() -> None:
    """mean(label − λ · judge) over the labelled + λ · mean(judge) over the others, with the λ of least variance."""
    human, judge = _generous(np.random.default_rng(1), 150)
    ours, others = judge[:40], judge[40:]

    found = powered_mean(judge, _labels(human, 40))

    best = np.cov(human[:40], ours)[0, 1] / np.var(ours, ddof=1) / (1 + 40 / 110)
    assert found.tuning == pytest.approx(best)
    assert found.estimate == pytest.approx(np.mean(human[:40] - best * ours) + best * np.mean(others))


@pytest.mark.parametrize(("noisy", "larger"), [("low", "even"), ("high", "uneven")])
def test_the_error_is_the_larger_of_two(noisy: str, larger: str) -> None:
    """Both from the matrices of a regression that foretells the label at the judge's mean: even spread, and HC3.

    The samples without a label score high, so that labels that stray there matter more than labels that stray below.
    """
    rng = np.random.default_rng(2)
    judge = np.concatenate([rng.uniform(0, 4, 25), rng.uniform(3, 4, 75)])
    human = judge + rng.normal(0, 1, 100) * np.where((judge > 2) == (noisy == "high"), 2.0, 0.2)
    table, at = np.stack([np.ones(25), judge[:25]], axis=1), np.array([1.0, judge.mean()])
    bread = np.linalg.inv(table.T @ table)
    residuals = human[:25] - table @ (bread @ table.T @ human[:25])
    leverage = np.diag(table @ bread @ table.T)
    meat = table.T @ np.diag((residuals / (1 - leverage)) ** 2) @ table
    errors = {"even": at @ bread @ at * (residuals @ residuals) / 23, "uneven": at @ bread @ meat @ bread @ at}
    slope = (bread @ table.T @ human[:25])[1]

    found = powered_mean(judge, _labels(human, 25))

    reach = 2.068658 * math.sqrt(max(errors.values()) + slope**2 * judge.var(ddof=1) / 100)
    assert max(errors, key=lambda name: errors[name]) == larger
    assert (found.low, found.high) == pytest.approx((found.estimate - reach, found.estimate + reach), abs=1e-5)


@pytest.mark.parametrize("labelled", [20, 30, 50])
def test_the_interval_covers_people_although_the_judge_is_biased(labelled: int) -> None:
    """95% on 1–5 scores with 200 judged, less what 300 repetitions may stray; the judge's own mean is a point off."""
    rng = np.random.default_rng(labelled)
    true = _generous(rng, 400_000)[0].mean()
    found: list[Powered] = []
    for _ in range(300):
        human, judge = _generous(rng, 200)
        found.append(powered_mean(judge, _labels(human, labelled)))

    assert np.mean([one.low <= true <= one.high for one in found]) >= 0.95 - 0.03
    assert np.mean([(one.high - one.low) / _width(one) for one in found]) < 0.8


@pytest.mark.parametrize(("labelled", "wider"), [(20, 1.12), (50, 1.05)])
def test_a_useless_judge_costs_little(labelled: int, wider: float) -> None:
    """A judge that throws dice: the interval covers, and is hardly wider than that of the labels alone."""
    rng = np.random.default_rng(3)
    found = [powered_mean(rng.normal(0, 1, 200), _labels(rng.normal(0, 1, 200), labelled)) for _ in range(300)]

    assert np.mean([one.low <= 0 <= one.high for one in found]) >= 0.95 - 0.03
    assert np.mean([(one.high - one.low) / _width(one) for one in found]) < wider


def _width(found: Powered) -> float:
    return found.labels_only.high - found.labels_only.low


@given(st.floats(0.1, 50), st.floats(-20, 20), st.sampled_from([1.0, -1.0]))
def test_the_judges_own_scale_does_not_matter(factor: float, shift: float, sign: float) -> None:
    """0–100, or upside down: the answer is on people's scale."""
    human, judge = _generous(np.random.default_rng(4), 90)
    labels = _labels(human, 30)

    found, other = powered_mean(judge, labels), powered_mean(sign * factor * judge + shift, labels)

    assert (other.estimate, other.low, other.high) == pytest.approx((found.estimate, found.low, found.high))


@given(st.permutations(range(60)))
def test_the_order_of_samples_changes_nothing(order: list[int]) -> None:
    """A sample has no place of its own."""
    human, judge = _generous(np.random.default_rng(5), 60)
    labels = _labels(human, 25)

    assert powered_mean(judge[order], [labels[place] for place in order]) == powered_mean(judge, labels)


def test_the_peoples_scale_carries_over() -> None:
    """Labels in percent give a mean in percent."""
    human, judge = _generous(np.random.default_rng(6), 80)

    found, other = powered_mean(judge, _labels(human, 30)), powered_mean(judge, _labels(20 * human - 5, 30))

    assert (other.estimate, other.low, other.high) == pytest.approx(
        (20 * found.estimate - 5, 20 * found.low - 5, 20 * found.high - 5)
    )


def test_repeats_of_a_sample_are_one() -> None:
    """Every judgment told thrice, labels on each or on one repeat only: nothing is gained."""
    human, judge = _generous(np.random.default_rng(7), 60)
    labels, clusters = _labels(human, 30), [*range(60)] * 3

    once = powered_mean(judge, labels)

    assert powered_mean(np.tile(judge, 3), labels * 3, clusters=clusters) == once
    assert powered_mean(np.tile(judge, 3), [*labels, *[None] * 120], clusters=clusters) == once


@pytest.mark.parametrize(
    ("judged", "labelled", "why"),
    [([3.0] * 40, 25, "the judge scored all labelled samples the same"), ([*range(40)], 40, "every sample has one")],
)
def test_where_the_judge_adds_nothing_labels_alone_decide(judged: list[float], labelled: int, why: str) -> None:
    """And the method says why."""
    human = np.random.default_rng(11).normal(3, 1, 40)

    found = powered_mean(judged, _labels(human, labelled))

    assert (found.estimate, found.low, found.high) == (
        found.labels_only.estimate, found.labels_only.low, found.labels_only.high,
    )  # fmt: skip
    assert (found.tuning, found.method) == (0.0, f"labels only: {why}")


@pytest.mark.parametrize(
    ("judged", "human", "says"),
    [
        ([1.0, 2.0] * 20, [1.0, 2.0] * 6 + [None] * 28, "12 labelled samples are too few: it takes 20"),
        ([1.0, 2.0] * 20, [4.0] * 25 + [None] * 15, "all 25 labels are 4"),
        ([1.0, 2.0] * 20, [4.0] * 25, "human has 25 rows for 40 judged"),
        ([1.0, math.nan] * 20, [4.0] * 40, r"judged\[1\] is not a finite number"),
        ([1.0, 2.0] * 20, [4.0, math.nan] * 20, r"human\[1\] is not a finite number"),
        ([], [], "0 labelled samples are too few"),
    ],
)
def test_labels_that_cannot_carry_an_interval_are_refused(
    judged: list[float], human: list[float | None], says: str
) -> None:
    """With the reason, never as NaN."""
    with pytest.raises(InputError, match=says):
        powered_mean(judged, human)


def test_rows_that_do_not_line_up_are_refused() -> None:
    """The same samples throughout."""
    with pytest.raises(InputError, match="1 clusters for 2 scores"):
        powered_mean([1.0, 2.0], [None, None], clusters=[1])
