"""Judges that do not drift, and judges that do: whole years of daily looks at sealed questions, simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.stats.drift import DAYS, LEAST_FIRM, DriftWatch, design_drift_detector, fit_slip_model

Floats = np.ndarray[Any, np.dtype[np.float64]]
World = Callable[[int, np.random.Generator], Floats]  # The chance of a right answer to each of so many questions.
NEVER = 10**9


def waver_alike(agreement: float, repeats_itself: float) -> World:
    """Every question is answered the same way but for one rate of slips, so that two answers agree that often."""
    slip = (1 - np.sqrt(1 - 2 * (1 - repeats_itself))) / 2
    share = (agreement - slip) / (1 - 2 * slip)
    return lambda n, rng: np.where(rng.permutation(n) < round(share * n), 1 - slip, slip)


def waver_on_some(agreement: float, repeats_itself: float) -> World:
    """Most questions are answered the same way always, and a few like tossing a coin: a beta distribution."""
    spread = (1 - repeats_itself) / 2
    size = spread / (agreement * (1 - agreement) - spread)
    return lambda n, rng: rng.beta(agreement * size, (1 - agreement) * size, size=n)


def waver_on_an_eighth(agreement: float, repeats_itself: float) -> World:
    """An eighth of the questions is answered like tossing a bent coin, all others slip in one of a hundred."""
    bent = (1 + np.sqrt(max(0.0, 1 - 2 * (1 - repeats_itself - 0.0175) * 8))) / 2
    right = (agreement - bent / 8 - 0.00875) / (0.875 * 0.98)

    def draw(n: int, rng: np.random.Generator) -> Floats:
        place = rng.permutation(n)
        return np.where(place < n // 8, bent, np.where(place < n // 8 + round(right * (n - n // 8)), 0.99, 0.01))

    return draw


def waver_evenly(agreement: float, repeats_itself: float) -> World:
    """Every question has a rate of slips of its own, any up to some largest one."""
    # Two answers to a question with rate q differ in 2q(1 - q): with q even up to w, in w - 2w²/3 on average.
    widest = float(3 - np.sqrt(9 - 24 * (1 - repeats_itself))) / 4
    share = (agreement - widest / 2) / (1 - widest)

    def draw(n: int, rng: np.random.Generator) -> Floats:
        slips: Floats = rng.random(n) * widest
        return np.where(rng.permutation(n) < round(share * n), 1 - slips, slips)

    return draw


def turn_some(rates: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Some questions, chosen at random, are lost as often as they were kept."""
    turned = np.tile(np.arange(rates.shape[1]) < round(share * rates.shape[1]), (len(rates), 1))
    return np.where(rng.permuted(turned, axis=1), 1 - rates, rates)


def slip_more(rates: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Every answer turns with the same chance."""
    return rates + share * (1 - 2 * rates)


@dataclass(slots=True, kw_only=True)
class Years:
    """Years of looks at sets of questions that were sealed with several answers each."""

    questions: int = 50
    repeats: int = 8
    daily: int = 5
    drop: float = 0.1
    drift: Callable[[Floats, float, np.random.Generator], Floats] = turn_some

    def simulate(self, world: World, sets: int, years: int, rng: np.random.Generator) -> tuple[float, Floats]:
        """The share of years without drift that end with an alarm, and how many answers after a drop on a random day
        it took to find it (NEVER where it was not found); years with an alarm before are left out.
        """
        alarms, delays = [], []
        for _ in range(sets):
            right = world(self.questions, rng)
            agreed = rng.binomial(self.repeats, right)
            firm = np.flatnonzero(agreed == self.repeats)
            if len(firm) < LEAST_FIRM:
                continue
            sealed = _SealedSet(agreed, self.repeats, self.daily)
            lost = np.tile(1 - right[firm], (years, 1))
            alarms.append(sealed.find_alarms(lost, lost, DAYS, DAYS, rng) < NEVER)
            drifted = self.drift(lost, self.drop / right.mean(), rng)
            begins = int(rng.integers(0, DAYS - 300 // self.daily))  # So many answers come after it at least.
            found = sealed.find_alarms(lost, drifted, begins, DAYS, rng)
            delays.append(np.where(found < NEVER, (found - begins + 1) * self.daily, NEVER)[found >= begins])
        return float(np.concatenate(alarms).mean()), np.concatenate(delays)


@dataclass(slots=True)
class _SealedSet:
    """A set of questions with the detector that watches it."""

    agreed: np.ndarray[Any, Any]
    repeats: int
    daily: int

    def find_alarms(
        self, before: Floats, after: Floats, begins: int, days: int, rng: np.random.Generator
    ) -> np.ndarray[Any, Any]:
        """The day of the first alarm of each year, with other rates of losses from one day on."""
        detector = design_drift_detector(self.agreed.tolist(), self.repeats, daily=self.daily)
        model = fit_slip_model(self.agreed.tolist(), self.repeats)
        years, questions = before.shape
        watch = DriftWatch(model, questions, share=detector.share, judges=years)
        found, order = np.full(years, NEVER), _Turns(years, questions, rng)
        for day in range(days):
            asked = order.choose(min(self.daily, questions))
            rates = np.take_along_axis(before if day < begins else after, asked, axis=1)
            evidence = watch.add_look(day, asked, rng.random(asked.shape) < rates)
            found = np.where((evidence >= detector.threshold) & (found == NEVER), day, found)
            if begins < days and (found < NEVER).all():
                break
        return found


class _Turns:
    """Each question once before any is asked again, and none twice in a look."""

    def __init__(self, years: int, questions: int, rng: np.random.Generator) -> None:
        self.times, self.rng = np.zeros((years, questions)), rng

    def choose(self, many: int) -> np.ndarray[Any, Any]:
        chosen = np.argsort(self.times + self.rng.random(self.times.shape), axis=1)[:, :many]
        np.put_along_axis(self.times, chosen, np.take_along_axis(self.times, chosen, 1) + 1, axis=1)
        return chosen
