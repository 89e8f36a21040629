"""Intervals of agreement: they hold the truth as often as they say, do not close on few units, and say why not."""

import math
from collections.abc import Callable

import krippendorff as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.agreement import Metric, cohen_kappa, fleiss_kappa, krippendorff
from evenhand.stats.arrays import Floats, Undefined
from evenhand.stats.correlation import mean_pairwise
from evenhand.stats.ratings import Agreement, Resampling, bootstrap_interval
from tests.soak import often

pytestmark = pytest.mark.long

Table = list[list[float]]
Measure = Callable[..., Agreement | Undefined]

TRIALS = often(120, 4_000)
LEAST_HELD = 0.94 - 3 * math.sqrt(0.94 * 0.06 / TRIALS)  # Less the error of the simulation.
FIVE_LEVELS = [-1.3, -0.5, 0.3, 1.1]


def _cohen(table: Table, **how: object) -> Agreement | Undefined:
    return cohen_kappa(table[0], table[1], weights="quadratic", **how)  # type: ignore[arg-type]


MEASURES: dict[str, Measure] = {
    "krippendorff": krippendorff,
    "mean_pairwise": mean_pairwise,
    "fleiss_kappa": fleiss_kappa,
    "cohen_kappa": _cohen,
}
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


def scores(rng: np.random.Generator, units: int, raters: int = 3) -> Table:
    """Scores on five levels whose raters see the same quality through noise of their own."""
    seen = 0.8 * rng.normal(size=units) + 0.6 * rng.normal(size=(raters, units))
    return np.digitize(seen, FIVE_LEVELS).astype(np.float64).tolist()  # type: ignore[no-any-return]


def labels(rng: np.random.Generator, units: int, raters: int = 3) -> Table:
    """One of three labels; six times in ten the right one, else any."""
    shares = [0.5, 0.3, 0.2]
    right = rng.choice(3, size=units, p=shares)
    said = np.where(rng.random((raters, units)) < 0.6, right, rng.choice(3, size=(raters, units), p=shares))
    return said.astype(np.float64).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("units", [10, 20, 50])
@pytest.mark.parametrize(("draw", "metric"), [(labels, "nominal"), (scores, "ordinal"), (scores, "interval")])
def test_intervals_of_alpha_hold_the_truth(
    draw: Callable[[np.random.Generator, int], Table], metric: Metric, units: int
) -> None:
    """Plain percentiles hold 80 to 90% at ten units."""
    rng = np.random.default_rng(units)
    truth = _value(krippendorff(draw(rng, 100_000), metric))

    found = [krippendorff(draw(rng, units), metric, rng=rng, resamples=400) for _ in range(TRIALS)]

    assert _held(found, truth) >= LEAST_HELD


@pytest.mark.parametrize("units", [12, 30])
@pytest.mark.parametrize(
    ("name", "draw"),
    [("mean_pairwise", scores), ("fleiss_kappa", labels), ("cohen_kappa", scores)],
)
def test_intervals_of_the_others_hold_the_truth(
    name: str, draw: Callable[[np.random.Generator, int], Table], units: int
) -> None:
    """The same method, on the ratings each of them is for."""
    rng = np.random.default_rng(units)
    truth = _value(MEASURES[name](draw(rng, 100_000)))

    found = [MEASURES[name](draw(rng, units), rng=rng, resamples=400) for _ in range(TRIALS)]

    assert _held(found, truth) >= LEAST_HELD


@every_measure
def test_without_a_generator_there_is_a_value_and_no_interval(measure: Measure) -> None:
    """Nothing is drawn that was not asked for."""
    found = measure(scores(np.random.default_rng(1), 30))

    assert isinstance(found, Agreement)
    assert (found.low, found.high, found.level, found.no_interval) == (None, None, None, "not asked for: give rng")


@every_measure
def test_few_units_have_a_value_and_no_interval(measure: Measure) -> None:
    """Seven units would give an interval that looks narrow because little was seen."""
    table = scores(np.random.default_rng(4), 7)

    found = measure(table, rng=np.random.default_rng(1))

    assert isinstance(found, Agreement)
    assert found.low is None
    assert found.no_interval == "7 units are too few to draw from: it takes 8"


@every_measure
def test_perfect_agreement_does_not_close_the_interval(measure: Measure) -> None:
    """That ten units agree is no proof that all will."""
    found = measure([[1, 2, 3, 4, 5] * 2] * 3, rng=np.random.default_rng(1))

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(1)
    assert found.low is None
    assert found.no_interval == "every resample of the 10 units gives the same value, which tells nothing of others"


@pytest.mark.parametrize("measure", [krippendorff, fleiss_kappa])
def test_ratings_that_are_nearly_all_the_same_have_no_interval(measure: Measure) -> None:
    """One unit of nine differs: a third of the resamples miss it, and then there is nothing to agree about."""
    found = measure([[5] * 8 + [1], [5] * 8 + [2]], rng=np.random.default_rng(1))

    assert isinstance(found, Agreement)
    assert found.low is None
    assert "of the resamples it is undefined: the units are too much alike" in found.no_interval


@every_measure
def test_the_interval_holds_the_value_and_does_not_depend_on_the_order_of_samples(measure: Measure) -> None:
    """Units are put in order before any is drawn."""
    table = scores(np.random.default_rng(3), 40)
    places = np.random.default_rng(4).permutation(40)

    found = measure(table, rng=np.random.default_rng(5))
    turned = measure([[row[place] for place in places] for row in table], rng=np.random.default_rng(5))

    assert isinstance(found, Agreement)
    assert isinstance(turned, Agreement)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert [turned.low, turned.high] == pytest.approx([found.low, found.high], abs=1e-12)
    assert (found.level, found.interval) == (0.95, "BCa bootstrap and jackknife, 2,000 resamples")


@every_measure
def test_a_higher_level_is_wider_and_more_units_are_narrower(measure: Measure) -> None:
    """As an interval should."""
    table = scores(np.random.default_rng(6), 30)

    widths = [
        _width(measure(given, rng=np.random.default_rng(1), level=level))
        for given, level in ((table, 0.8), (table, 0.95), ([row * 4 for row in table], 0.95))
    ]

    assert widths[0] < widths[1]
    assert 0.35 < widths[2] / widths[1] < 0.6


@every_measure
def test_resamples_give_what_drawn_units_give(measure: Measure) -> None:
    """Weights over units are the same as taking units again: the middle half of both distributions agrees."""
    table = np.array(scores(np.random.default_rng(8), 40))
    rng = np.random.default_rng(9)

    drawn = [_value(measure(table[:, rng.integers(0, 40, 40)].tolist())) for _ in range(600)]
    found = measure(table.tolist(), rng=rng, level=0.5)

    assert isinstance(found, Agreement)
    assert found.low is not None
    assert found.high is not None
    # The ends are moved for bias and skew, but not by more than a part of the spread.
    assert found.high - found.low == pytest.approx(np.subtract(*np.quantile(drawn, [0.75, 0.25])), rel=0.2)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_a_resample_is_alpha_of_the_units_it_holds(metric: Metric) -> None:
    """Missing ratings and all: the spread of α agrees with the reference package over resampled columns."""
    rng = np.random.default_rng(10)
    table = np.array(scores(rng, 60)) + 1
    table[rng.random(table.shape) < 0.2] = np.nan
    given = [[None if np.isnan(one) else float(one) for one in row] for row in table]

    drawn = [_reference(table[:, rng.integers(0, 60, 60)], metric) for _ in range(400)]
    found = krippendorff(given, metric, rng=rng, level=0.5)

    assert isinstance(found, Agreement)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(np.subtract(*np.quantile(drawn, [0.75, 0.25])), rel=0.2)


@every_measure
@given(
    st.integers(1, 14).flatmap(
        lambda units: st.lists(
            st.lists(st.sampled_from([None, 1, 2, 5]), min_size=units, max_size=units), min_size=2, max_size=4
        )
    )
)
def test_whatever_is_given_there_is_an_answer_or_a_reason(measure: Measure, table: list[list[float | None]]) -> None:
    """Never NaN, never an end without the other, never an interval beside its value."""
    found = measure(table, rng=np.random.default_rng(1), resamples=400)

    if isinstance(found, Undefined):
        assert found.why
        return
    assert -1 <= found.value <= 1
    if found.low is None or found.high is None:
        assert (found.low, found.high, found.level, found.interval) == (None, None, None, "")
        assert found.no_interval
    else:
        assert -1 <= found.low <= found.value <= found.high <= 1
        assert found.high - found.low > 1e-9


@pytest.mark.parametrize("side", [1, -1])
def test_the_ends_are_the_outer_ones_of_bootstrap_and_jackknife(side: int) -> None:
    """Of a mean, where both are known: SciPy's BCa on the long side, Student's t on the short side."""
    values = side * np.random.default_rng(12).exponential(0.1, size=25)
    n, mean, error = 25, float(values.mean()), float(values.std(ddof=1)) / 5
    t = float(scipy_stats.t.ppf(0.975, n - 1))
    widened = 1 - 2 * float(scipy_stats.norm.sf(math.sqrt(n / (n - 1)) * t))

    found = bootstrap_interval(
        lambda weights: weights @ values / weights.sum(axis=1),
        np.ones(n, dtype=np.int64),
        mean,
        Resampling(rng=np.random.default_rng(1), level=0.95, resamples=40_000),
    )
    bca = scipy_stats.bootstrap((values,), np.mean, n_resamples=40_000, confidence_level=widened, rng=2)

    ends, expected = [found["low"], found["high"]], list(bca.confidence_interval)
    short, long = (0, 1) if side == 1 else (1, 0)
    assert ends[short] == pytest.approx(mean - side * t * error, abs=1e-9)
    assert ends[long] == pytest.approx(expected[long], abs=0.05 * error)
    assert abs(expected[long] - mean) > 1.1 * t * error


def test_units_that_occur_often_are_drawn_as_often() -> None:
    """Few kinds of units are drawn as counts, many as places: both ways give the same distribution."""
    kinds, values = np.array([60, 30, 10], dtype=np.int64), np.array([0.1, 0.4, 0.9])
    draws = [Resampling(rng=np.random.default_rng(seed), level=0.95, resamples=40_000) for seed in (1, 2)]

    as_counts = bootstrap_interval(lambda w: w @ values / w.sum(axis=1), kinds, 0.27, draws[0])
    singly, each = np.repeat(values, kinds), np.ones(100, dtype=np.int64)
    as_places = bootstrap_interval(lambda w: w @ singly / w.sum(axis=1), each, 0.27, draws[1])

    assert [as_counts["low"], as_counts["high"]] == pytest.approx([as_places["low"], as_places["high"]], abs=0.003)


def test_too_few_resamples_are_refused() -> None:
    """An end that rests on two resamples is an accident."""
    with pytest.raises(InputError, match=r"50 resamples are too few for a level of 0.95 \(it takes 400\)"):
        krippendorff([[1, 2], [1, 2]], rng=np.random.default_rng(1), resamples=50)
    with pytest.raises(InputError, match="level must be between 0 and 1"):
        mean_pairwise([[1, 2], [1, 2]], level=95)


def _reference(table: Floats, metric: Metric) -> float:
    return float(reference.alpha(table, level_of_measurement=metric))


def _value(found: Agreement | Undefined) -> float:
    assert isinstance(found, Agreement)
    return found.value


def _width(found: Agreement | Undefined) -> float:
    assert isinstance(found, Agreement)
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def _held(found: list[Agreement | Undefined], truth: float) -> float:
    """The share of intervals that hold the truth, of those that were given: nearly all must be."""
    ends = [(one.low, one.high) for one in found if isinstance(one, Agreement)]
    held = [low <= truth <= high for low, high in ends if low is not None and high is not None]
    assert len(held) >= 0.95 * len(found)
    return sum(held) / len(held)
