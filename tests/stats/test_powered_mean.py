"""Prediction-powered intervals: on people's scale, whatever the judge's bias, and never wider than labels alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenhand.errors import InputError
from evenhand.stats.means import Powered, mean_interval, powered_mean
from tests.soak import at_least, often

Floats = NDArray[np.float64]
TRIES = often(150, 1_500)


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
    2 + 1 · ½. λ is the slope times the unlabelled share, ½. All 20 residuals are 0, so that one more label counts in
    full at each end: 2 below the line at its highest (3), 4 above it at its lowest (1). Its own residual is 20/21 of
    that, the others' 1/21.
    """
    judged = [2.0] * 10 + [4.0] * 30

    found = powered_mean(judged, [1.0] * 10 + [3.0] * 10 + [None] * 20, scale=(1, 5))

    reaches = [
        math.sqrt(1 - 0.5 * 19 / 20) * (gap / 21 + 2.100922 * math.sqrt(gap**2 * 20 / 21 / 19 * (1 / 21 + 0.5**2 / 20)))
        for gap in (2, 4)
    ]
    assert (found.estimate, found.tuning) == pytest.approx((2.5, 0.5))
    assert (found.low, found.high) == pytest.approx((2.5 - reaches[0], 2.5 + reaches[1]), abs=1e-5)
    assert (found.n, found.judged, found.method) == (20, 40, "prediction-powered, tuned; t on the scale")


def test_labels_alone_by_hand() -> None:
    """Student's interval, times the root of the share without a label."""
    labels = [1.0] * 10 + [3.0] * 10

    found = powered_mean([3.0] * 40, [*labels, *[None] * 20])

    plain = mean_interval(labels)
    assert found.labels_only.estimate == plain.estimate
    assert found.high - found.low == pytest.approx((plain.high - plain.low) * math.sqrt(0.5))


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
    human = 5 * judge + rng.normal(0, 1, 100) * np.where((judge > 2) == (noisy == "high"), 2.0, 0.2)
    table, at = np.stack([np.ones(25), judge[:25]], axis=1), np.array([1.0, judge.mean()])
    bread = np.linalg.inv(table.T @ table)
    residuals = human[:25] - table @ (bread @ table.T @ human[:25])
    leverage = np.diag(table @ bread @ table.T)
    meat = table.T @ np.diag((residuals / (1 - leverage)) ** 2) @ table
    errors = {"even": at @ bread @ at * (residuals @ residuals) / 23, "uneven": at @ bread @ meat @ bread @ at}

    found = powered_mean(judge, _labels(human, 25))

    reach = 2.068658 * math.sqrt(max(errors.values()) * 0.75)
    assert max(errors, key=lambda name: errors[name]) == larger
    assert (found.low, found.high) == pytest.approx((found.estimate - reach, found.estimate + reach), abs=1e-5)


def _crowded(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Nine of ten labels are 5; a judge that is right about most, and stricter than people about some."""
    human = np.where(rng.random(n) < 0.1, rng.choice([1.0, 2.0, 3.0, 4.0], n), 5.0)
    return human, np.where(rng.random(n) < 0.85, human, rng.choice([3.0, 4.0, 5.0], n))


def _spread(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """People use the whole scale evenly; the judge throws dice."""
    return rng.integers(1, 6, n).astype(float), rng.normal(0, 1, n)


def _middling(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Nearly all labels are 4, a few are 1 or 5; the judge is right about seven of ten."""
    human = np.where(rng.random(n) < 0.1, rng.choice([1.0, 5.0], n, p=[0.7, 0.3]), 4.0)
    return human, np.where(rng.random(n) < 0.7, human, rng.choice([3.0, 4.0, 5.0], n))


def _passed(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Nine of ten pass; the judge is right about 95%."""
    human: Floats = np.where(rng.random(n) < 0.9, 5.0, 1.0)
    return human, np.where(rng.random(n) < 0.95, human, 6 - human)


CASES = {"generous": _generous, "crowded": _crowded, "dice": _spread, "middling": _middling, "passed": _passed}


@pytest.mark.parametrize(("labelled", "rows"), [(20, 50), (20, 200), (30, 200), (50, 200)])
@pytest.mark.parametrize("name", CASES)
def test_the_interval_covers_and_is_never_wider_than_labels_alone(name: str, labelled: int, rows: int) -> None:
    """93% of people's means over all samples, less what so many repetitions may stray, whatever the judge does."""
    rng = np.random.default_rng(labelled + rows)
    hits = []
    for _ in range(TRIES):
        human, judge = CASES[name](rng, rows)
        found = powered_mean(judge, _labels(human, labelled), scale=(1, 5))
        hits.append(found.low - 1e-9 <= human.mean() <= found.high + 1e-9)
        assert found.high - found.low <= _width(found)
        assert (found.tuning == 0) == found.method.startswith("labels only")

    assert np.mean(hits) >= at_least(0.94, TRIES)


@pytest.mark.parametrize(("name", "narrower"), [("generous", 0.78), ("crowded", 0.9), ("middling", 0.93)])
def test_a_good_judge_narrows_the_interval(name: str, narrower: float) -> None:
    """Mean widths at 20 labels of 200, beside those of the labels alone."""
    rng = np.random.default_rng(8)
    widths = []
    for _ in range(150):
        human, judge = CASES[name](rng, 200)
        found = powered_mean(judge, _labels(human, 20), scale=(1, 5))
        widths.append((found.high - found.low, _width(found)))

    assert np.mean([one for one, _ in widths]) <= narrower * np.mean([other for _, other in widths])


def test_a_useless_judge_is_left_out() -> None:
    """A judge that throws dice: λ is 0 in most tries, and the interval is that of the labels alone."""
    rng = np.random.default_rng(3)
    found = [powered_mean(rng.normal(0, 1, 200), _labels(rng.normal(0, 1, 200), 20)) for _ in range(200)]

    assert np.mean([one.tuning == 0 for one in found]) > 0.85
    assert np.mean([(one.high - one.low) / _width(one) for one in found]) > 0.97


@pytest.mark.parametrize("human", [[5.0] * 60, [3.0] * 60, [1.0] * 60])
def test_labels_that_are_all_the_same_leave_room_for_others(human: list[float]) -> None:
    """20 draws without a 1 among many still leave 15% of them possible: about 1 − 0.025^(1/20) of the way."""
    found = powered_mean([4.0, 5.0] * 500, [*human[:20], *[None] * 980], scale=(1, 5))

    room = 1 - 0.025 ** (1 / 20)
    assert (found.low, found.high) == pytest.approx(
        (human[0] - (human[0] - 1) * room, human[0] + (5 - human[0]) * room), abs=0.12
    )


@pytest.mark.parametrize("labelled", [40, 80, 95, 99])
def test_what_is_labelled_cannot_stray(labelled: int) -> None:
    """The interval shrinks with what is left, and never claims more than that could change."""
    human, judge = _generous(np.random.default_rng(13), 100)

    found = powered_mean(judge, _labels(human, labelled), scale=(1, 5))
    fewer = powered_mean(judge, _labels(human, 20), scale=(1, 5))

    left = 1 - labelled / 100
    assert found.high - found.low <= min(4 * left, _width(fewer) * math.sqrt(left))
    assert found.low <= human.mean() <= found.high


def test_where_everything_is_labelled_nothing_is_left_to_estimate() -> None:
    """However few they are."""
    found = powered_mean([1.0, 2.0, 3.0], [4.0, 4.0, 1.0])

    assert (found.estimate, found.low, found.high, found.tuning) == (3.0, 3.0, 3.0, 0.0)
    assert found.method == "labels only: every sample has one"


def test_samples_count_not_clusters() -> None:
    """Twenty clusters of one sample with a 5, twenty of three with a 1, half of each labelled: 2, not 3."""
    clusters = [*range(20), *np.repeat(np.arange(20, 40), 3).tolist()]
    human = [5.0 if place < 10 else 1.0 if 20 <= place < 50 else None for place in range(80)]

    found = powered_mean([3.0] * 80, human, clusters=clusters)

    assert (found.estimate, found.n, found.judged) == (2.0, 20, 80)


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
    """Every judgment told thrice, with its label: nothing is gained. With one label of three, less is known."""
    human, judge = _generous(np.random.default_rng(7), 60)
    labels, clusters = _labels(human, 30), [*range(60)] * 3

    once = powered_mean(judge, labels)

    thrice = powered_mean(np.tile(judge, 3), labels * 3, clusters=clusters)
    assert (thrice.low, thrice.high, thrice.n) == pytest.approx((once.low, once.high, once.n))
    partly = powered_mean(np.tile(judge, 3), [*labels, *[None] * 120], clusters=clusters)
    assert partly.n == once.n and partly.high - partly.low > once.high - once.low


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


@pytest.mark.parametrize("scale", [(5, 1), (1, 2, 3), (1, 1), (1.5, 5), (1, math.nan), "15"])
def test_a_scale_that_is_none_is_refused(scale: tuple[float, float]) -> None:
    """Two ends that hold every label."""
    with pytest.raises(InputError, match="scale"):
        powered_mean([1.0, 2.0] * 20, [1.0, 2.0] * 10 + [None] * 20, scale=scale)
