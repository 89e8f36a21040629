"""Drift of a judge: a count of lost answers that restarts, with a threshold that a year of daily looks seldom reaches.

A judge answered each of some questions several times and was right every time; from then on it is asked a few of them
a day. An answer that is no longer right is lost. A stable judge loses some too, as its answers waver; how many is
estimated from the repeats at the beginning: an answer of R that was wrong once is a loss among R answers that were
right all the other times, so `wavering` such questions in `firm` that never wavered are that many losses in
R·firm + wavering answers, whatever share of questions wavers how far.

The count rises with each loss and falls with each answer that is kept, and never below zero (CUSUM, Page 1954): it
forgets good days, so that late drift is found as fast as early drift. Rise and fall are in the proportion of the
likelihoods of a loss with and without the drop (Lorden 1971). The threshold follows from the exact chance, by the
Markov chain of the count, that it is reached within a year without drift; the rate of losses is not known, so the
chance is averaged over what the repeats say about it (posterior of a flat prior).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats, require_statistic_count

SMALLEST_DROP = 0.1  # Of agreement with people: ten points. Larger drops are found faster, smaller ones later.
FALSE_ALARMS = 0.025  # In a year without drift. It leaves room to 5% for sets of questions that happen to waver more.
DAYS = 365
LEAST_FIRM = 10
_LEAST_RATE = 0.005  # No judge is taken to be steadier: one loss would be an alarm.
_RATES, _GRID = 24, 4000  # Rates of losses that the chance is averaged over, of so many that are weighed.
_MOST_RISE = 60
_STEADY = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftDetector:
    """How far a loss lifts the count, each kept answer lowers it by 1, and where it is drift.

    `losses` is the rate to be expected of a stable judge, `false_alarms` the chance of one within a year.
    """

    rise: int
    threshold: int
    losses: float
    false_alarms: float
    daily: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftCount:
    """The count after all answers so far; `fired` is the answer that reached the threshold, None where none did.

    `began` is the first answer since the count was last at zero, where drift most likely began.
    """

    count: int
    fired: int | None
    began: int | None


def design_drift_detector(
    firm: int, wavering: int, repeats: int, agreement: float, *, daily: int, drop: float = SMALLEST_DROP
) -> DriftDetector:
    """The detector for `daily` of `firm` questions that were answered right in each of `repeats` answers.

    `wavering` questions were answered right all times but one; `agreement` is the share of right answers in all.
    """
    firm, wavering = require_statistic_count(firm, "firm"), require_statistic_count(wavering, "wavering")
    if firm < LEAST_FIRM:
        what = f"{firm} questions that were answered right every time are too few: it takes {LEAST_FIRM}"
        raise InputError(Fault(what, "label more outputs"))
    if repeats < 2:
        raise InputError(Fault(f"{repeats} answer to each question does not tell how far answers waver", "ask twice"))
    if daily < 1 or not 0 < drop < agreement <= 1:
        raise InputError(Fault(f"no drop of {drop:g} from {agreement:g} to look for", "0 < drop < agreement ≤ 1"))
    seen, trials = wavering + 1.0, repeats * firm + wavering + 1
    losses = max(seen / trials, _LEAST_RATE)
    dropped = min(losses + drop / agreement, 0.9)
    gain, cost = math.log(dropped / losses), math.log((1 - losses) / (1 - dropped))
    rise = min(max(1, round(gain / cost)), _MOST_RISE)
    rates = _list_likely_rates(seen, trials - seen)
    threshold, chance = _find_threshold(rates, rise, daily * DAYS)
    return DriftDetector(rise=rise, threshold=threshold, losses=losses, false_alarms=chance, daily=daily)


def count_drift(detector: DriftDetector, kept: Sequence[bool]) -> DriftCount:
    """The count over answers in the order in which they came; it stops where it reaches the threshold."""
    count, began = 0, None
    for place, one in enumerate(kept):
        if one:
            count = max(0, count - 1)
            began = began if count else None
            continue
        began = place if began is None else began
        count += detector.rise
        if count >= detector.threshold:
            return DriftCount(count=count, fired=place, began=began)
    return DriftCount(count=count, fired=None, began=began)


def find_alarm_chance(rates: Floats, rise: int, threshold: int, answers: int) -> Floats:
    """The exact chance, for each rate of losses, that the count reaches the threshold within so many answers."""
    rate = rates[:, np.newaxis]
    mass = np.zeros((len(rates), threshold))  # Of each count below the threshold, where there was no alarm yet.
    mass[:, 0] = 1
    alive, hazard = np.ones(len(rates)), np.ones(len(rates))
    for number in range(answers):
        moved = np.zeros_like(mass)
        moved[:, :-1] = (1 - rates)[:, np.newaxis] * mass[:, 1:]
        moved[:, 0] += (1 - rates) * mass[:, 0]
        moved[:, rise:] += rate * mass[:, : max(0, threshold - rise)]
        before, alive, last, mass = alive, moved.sum(axis=1), hazard, moved
        hazard = 1 - alive / before
        if (
            number > threshold and (np.abs(hazard - last) <= _STEADY * hazard).all()
        ):  # From here on each answer is like the last.
            alive = alive * (1 - hazard) ** (answers - number - 1)
            break
    reached: Floats = 1 - alive
    return reached


def _find_threshold(rates: Floats, rise: int, answers: int) -> tuple[int, float]:
    """The smallest threshold that is reached seldom enough, and how often that is."""
    low, high = 1, 2 * rise
    while find_alarm_chance(rates, rise, high, answers).mean() > FALSE_ALARMS:
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        enough = find_alarm_chance(rates, rise, middle, answers).mean() <= FALSE_ALARMS
        low, high = (low, middle) if enough else (middle + 1, high)
    return low, float(find_alarm_chance(rates, rise, low, answers).mean())


def _list_likely_rates(seen: float, rest: float) -> Floats:
    """Rates of losses, each as likely as the other, by a beta distribution; finer than any rounding of the result."""
    grid = ((np.arange(_GRID) + 0.5) / _GRID) ** 2
    logs = (seen - 0.5) * np.log(grid) + (rest - 1) * np.log1p(-grid)  # With the width of the cells, as √grid.
    mass = np.cumsum(np.exp(logs - logs.max()))
    rates: Floats = np.interp((np.arange(_RATES) + 0.5) / _RATES, mass / mass[-1], grid)
    return np.maximum(rates, 1e-6)
