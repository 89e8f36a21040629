"""The drift detector: evidence against hand-worked values, and whole years of daily looks."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.stats.drift import (
    FALSE_ALARMS,
    DriftDetector,
    DriftSlipModel,
    DriftWatch,
    design_drift_detector,
    fit_slip_model,
    follow_drift,
)
from tests.soak import at_most, often
from tests.stats.drifting import World, Years, slip_more, waver_alike, waver_on_some

STEADY = [8] * 40
PLAIN = design_drift_detector(STEADY, 8, daily=5)
KEPT, LOST = False, True


def follow(*looks: list[tuple[int, bool]], detector: DriftDetector = PLAIN) -> tuple[float, int | None, int | None]:
    found = follow_drift(detector, fit_slip_model(STEADY, 8), 40, looks)
    return found.evidence, found.fired, found.began


def test_the_evidence_of_one_answer_by_hand() -> None:
    """One loss at a rate of Beta(1, 9): without drift 0.1, turned 0.9, everywhere more 0.3; a fifth turns.

    (0.8 + 0.2 · 0.9 / 0.1) / 2 + 0.3 / 0.1 / 2.
    """
    model = DriftSlipModel(lost=np.array([1.0]), kept=np.array([9.0]), weights=np.array([1.0]))

    (evidence,) = DriftWatch(model, 10, share=0.2).add_look(0, np.array([[3]]), np.array([[LOST]]))

    assert evidence == pytest.approx((0.8 + 0.2 * 9) / 2 + 3 / 2)


@pytest.mark.parametrize(("between", "most", "starts"), [(20, 24, 1), (2, 24, 3), (2, 2, 2)])
def test_without_drift_evidence_is_one_for_each_start_on_average(
    between: int, most: int, starts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That alone bounds false alarms: exact over all 2⁶ answers to two questions, also where old starts are dropped."""
    monkeypatch.setattr("evenhand.stats.drift._ANSWERS_BETWEEN_STARTS", between)
    monkeypatch.setattr("evenhand.stats.drift._STARTS", most)
    model = DriftSlipModel(lost=np.array([0.5, 3.0]), kept=np.array([8.5, 20.0]), weights=np.array([0.4, 0.6]))
    total, expected = 0.0, 0.0
    for bits in range(2**6):
        lost = [[bool(bits >> (2 * look + one) & 1) for one in range(2)] for look in range(3)]
        watch = DriftWatch(model, 2, share=0.3)
        evidence = [watch.add_look(n, np.array([[0, 1]]), np.array([one]))[0] for n, one in enumerate(lost)][-1]
        chance = _find_chance(model, np.array(lost))
        total, expected = total + chance, expected + chance * evidence

    assert total == pytest.approx(1)
    assert expected == pytest.approx(starts)


def _find_chance(model: DriftSlipModel, lost: np.ndarray) -> float:
    """Of these answers to questions whose rates come from the model."""
    chance = 0.0
    for a, b, weight in zip(model.lost, model.kept, model.weights, strict=True):
        logs = 0.0
        for one in lost.T:
            more, less = one.sum(), (~one).sum()
            logs += _log_beta(a + more, b + less) - _log_beta(a, b)
        chance += weight * math.exp(logs)
    return chance


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def test_a_question_that_is_lost_again_and_again_says_more_than_as_many_losses_here_and_there() -> None:
    """A judge that turned on an output is wrong about it each time; one that slips is not."""
    model = fit_slip_model([8] * 26 + [7] * 14, 8)
    again = [[(number, LOST if number == 3 else KEPT) for number in range(5)] for _ in range(3)]
    spread = [[(number, LOST if number == look else KEPT) for number in range(5)] for look in range(3)]

    turned, slips = (follow_drift(PLAIN, model, 26, looks).evidence for looks in (again, spread))

    assert turned > 20 * slips


def test_late_drift_is_found_as_fast_as_early_drift() -> None:
    """Starts begin anew: after three hundred good looks the same losses are enough."""
    good = [[(5 * look % 40 + number, KEPT) for number in range(5)] for look in range(300)]
    bad = [[(number, LOST if number == 3 else KEPT) for number in range(5)] for _ in range(20)]

    _, early, _ = follow(*bad)
    _, late, began = follow(*good, *bad)

    assert early is not None and late is not None and late - 300 <= early
    assert began == 300


def test_where_drift_began_is_said_only_where_something_speaks_for_it() -> None:
    """Kept answers speak against it, and an empty look says nothing."""
    assert follow([(0, KEPT), (1, KEPT)])[1:] == (None, None)
    assert follow([], [(0, KEPT)], [(1, LOST)])[1:] == (None, 2)
    assert follow() == (0.0, None, None)


def test_how_a_judge_wavers_is_read_from_the_seal() -> None:
    """As many slips, all alike or on a few questions: the questions that never slipped are steadier in the second."""
    alike = fit_slip_model([8] * 26 + [7] * 14, 8)
    on_few = fit_slip_model([8] * 37 + [3, 3, 4], 8)

    assert alike.weights @ alike.rates == pytest.approx(14 / (8 * 40), rel=0.3)
    assert on_few.weights @ on_few.rates < alike.weights @ alike.rates / 2


def test_a_judge_that_differs_from_people_on_some_does_not_waver_there() -> None:
    """It is wrong in every answer; the others are as steady as before."""
    with_wrong = fit_slip_model([8] * 40 + [0] * 10, 8)

    assert with_wrong.weights @ with_wrong.rates == pytest.approx(PLAIN.losses, rel=0.2)


def test_more_looks_need_more_evidence() -> None:
    """The promise is for a year, however many are asked a day."""
    few, many = (design_drift_detector(STEADY, 8, daily=daily) for daily in (1, 5))

    assert few.threshold < many.threshold == pytest.approx(92 / FALSE_ALARMS)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"agreed": [8] * 9 + [7] * 20}, "too few"),
        ({"repeats": 1}, "how far answers waver"),
        ({"agreed": [8] * 10 + [0] * 190}, "no drop of 0.1"),
        ({"daily": 0}, "no drop"),
    ],
)
def test_what_cannot_carry_a_detector_is_refused(given: dict[str, object], says: str) -> None:
    """A promise that rests on nothing is worse than none."""
    with pytest.raises(InputError, match=says):
        design_drift_detector(**{"agreed": STEADY, "repeats": 8, "daily": 1, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(("agreement", "repeats", "kind"), [(0.85, 0.90, waver_alike), (0.90, 0.97, waver_on_some)])
def test_a_year_of_daily_looks_seldom_alarms_and_a_drop_of_ten_points_is_found(
    agreement: float, repeats: float, kind: Callable[[float, float], World]
) -> None:
    """Whichever way a judge wavers: at most 5% of years without drift end in an alarm, and a drop that begins on a
    random day is found within 200 answers in 90%. Sets and years are both drawn; `benchmarks.learning` has the table.
    """
    rng = np.random.default_rng(round(100 * agreement))

    alarms, delays = Years().simulate(kind(agreement, repeats), often(2, 100), 10, rng)

    assert alarms <= at_most(0.05, often(20, 1000))
    assert (delays <= 200).mean() >= 0.9


def test_more_slips_everywhere_are_found_too() -> None:
    """No question is lost again and again then; it takes longer where the judge wavered much before."""
    alarms, delays = Years(drift=slip_more).simulate(
        waver_alike(0.9, 0.97), often(2, 100), 10, np.random.default_rng(1)
    )

    assert alarms <= at_most(0.05, often(20, 1000))
    assert (delays <= 200).mean() >= 0.9
