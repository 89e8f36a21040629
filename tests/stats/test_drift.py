"""The drift detector: exact chances against hand-worked and simulated ones, and whole years of daily looks."""

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.stats.drift import FALSE_ALARMS, DriftDetector, count_drift, design_drift_detector, find_alarm_chance
from tests.soak import often
from tests.stats.drifting import Years, waver_alike, waver_on_some

PLAIN = DriftDetector(rise=3, threshold=5, losses=0.02, false_alarms=0.03, daily=5)


def test_the_count_rises_by_losses_falls_by_kept_answers_and_never_below_zero() -> None:
    """Three up, one down: two losses with one kept answer between them make five, which is drift."""
    good, lost = True, False

    assert count_drift(PLAIN, [good] * 50).count == 0
    assert count_drift(PLAIN, [good, lost, good]).count == 2
    found = count_drift(PLAIN, [good, good, lost, good, lost, good])
    assert (found.fired, found.began, found.count) == (4, 2, 5)


def test_late_drift_is_found_as_fast_as_early_drift() -> None:
    """Good days are forgotten: after a thousand kept answers the same two losses are enough."""
    early = count_drift(PLAIN, [False, False]).fired
    late = count_drift(PLAIN, [*[True] * 1000, False, False]).fired

    assert (early, late) == (1, 1001)


def test_where_drift_began_is_forgotten_when_the_count_is_back_at_zero() -> None:
    """A single slip long ago is not the beginning of what comes later."""
    assert count_drift(PLAIN, [False, *[True] * 3]).began is None
    assert count_drift(PLAIN, [False, *[True] * 3, True, False]).began == 5


def test_the_chance_of_an_alarm_by_hand() -> None:
    """Rise 1, threshold 2, three answers at a rate of one half: an alarm after LL, KLL, and nothing else that ends
    by the third answer but LKL, which only comes to 1: 1/4 + 1/8.
    """
    assert find_alarm_chance(np.array([0.5]), 1, 2, 3) == pytest.approx([0.375])


@pytest.mark.parametrize(("rise", "threshold"), [(10, 40), (27, 60), (5, 33)])
def test_the_chance_of_an_alarm_is_that_of_simulated_years(rise: int, threshold: int) -> None:
    """The chain is exact, also where its end is taken from the steady state."""
    rng = np.random.default_rng(rise)
    years, answers, rate = 4000, 400, 0.03
    total = np.cumsum(np.where(rng.random((years, answers)) < rate, rise, -1), axis=1)
    count = total - np.minimum(np.minimum.accumulate(total, axis=1), 0)
    seen = (count >= threshold).any(axis=1).mean()

    (chance,) = find_alarm_chance(np.array([rate]), rise, threshold, answers)

    assert abs(chance - seen) < 4 * np.sqrt(chance * (1 - chance) / years)


def test_a_steadier_judge_is_watched_more_closely() -> None:
    """The fewer answers wavered at the seal, the more a loss weighs against the threshold."""
    steady, wavering = (design_drift_detector(40, one, 5, 0.9, daily=1) for one in (0, 8))

    assert steady.threshold / steady.rise < wavering.threshold / wavering.rise
    assert steady.losses < wavering.losses
    assert max(steady.false_alarms, wavering.false_alarms) <= FALSE_ALARMS


def test_more_looks_need_a_higher_threshold() -> None:
    """The promise is for a year, however many are asked a day."""
    few, many = (design_drift_detector(40, 2, 5, 0.9, daily=daily) for daily in (1, 4))

    assert few.threshold < many.threshold


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"firm": 9}, "too few"),
        ({"repeats": 1}, "how far answers waver"),
        ({"agreement": 0.05}, "no drop of 0.1"),
        ({"daily": 0}, "no drop"),
    ],
)
def test_what_cannot_carry_a_detector_is_refused(given: dict[str, float], says: str) -> None:
    """A promise that rests on nothing is worse than none."""
    plain = {"firm": 40, "wavering": 2, "repeats": 5, "agreement": 0.9, "daily": 1}

    with pytest.raises(InputError, match=says):
        design_drift_detector(**{**plain, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize("agreement", [0.85, 0.9])
@pytest.mark.parametrize("world", [waver_alike, waver_on_some])
def test_a_year_of_daily_looks_seldom_alarms_and_a_drop_of_ten_points_is_found(
    agreement: float, world: type[object]
) -> None:
    """Whichever way a judge wavers that repeats itself in 97% of answers: at most 5% of years without drift end in an
    alarm, and a drop that begins on a random day is found within 200 answers in 90%. Sets and years are both drawn.
    """
    sets, years = often(8, 200), often(25, 10)
    simulated = Years(daily=often(2, 5))
    rng = np.random.default_rng(round(100 * agreement))

    alarms, delays = simulated.simulate(world(agreement, 0.97), 0.1, sets, years, rng)  # type: ignore[call-arg, arg-type]

    assert alarms <= 0.05
    assert (delays <= 200).mean() >= 0.9
