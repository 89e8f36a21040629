"""Judges that do not drift, and judges that do: whole years of daily looks at sealed questions, simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.stats.drift import DAYS, LEAST_FIRM, DriftDetector, design_drift_detector

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


@dataclass(slots=True)
class Years:
    """Years of looks at sets of questions that were sealed with several answers each."""

    questions: int = 50
    repeats: int = 8
    daily: int = 5
    designs: dict[tuple[int, int, float], DriftDetector] = field(default_factory=dict)

    def simulate(
        self, world: World, drop: float, sets: int, years: int, rng: np.random.Generator
    ) -> tuple[float, Floats]:
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
            wavering, agreement = int((agreed == self.repeats - 1).sum()), agreed.mean() / self.repeats
            detector = self._find_design(len(firm), wavering, float(agreement))
            order = _ask_in_turns(len(firm), self.daily * DAYS, years, rng)
            kept = right[firm][order]
            alarms.append(_first_alarms(rng.random(kept.shape) >= kept, detector) < NEVER)
            begins = rng.integers(0, self.daily * DAYS - 300, size=(years, 1))  # So many are asked after it at least.
            turned = _turn_some(len(firm), years, drop / right.mean(), rng)
            after = (np.arange(kept.shape[1]) >= begins) & np.take_along_axis(turned, order, 1)
            found = _first_alarms(rng.random(kept.shape) >= np.where(after, 1 - kept, kept), detector)
            delays.append(np.where(found < NEVER, found - begins[:, 0] + 1, NEVER)[found >= begins[:, 0]])
        return float(np.concatenate(alarms).mean()), np.concatenate(delays)

    def _find_design(self, firm: int, wavering: int, agreement: float) -> DriftDetector:
        key = (firm, wavering, round(agreement, 2))
        if key not in self.designs:
            self.designs[key] = design_drift_detector(firm, wavering, self.repeats, key[2], daily=self.daily)
        return self.designs[key]


def _ask_in_turns(questions: int, answers: int, years: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Each question once before any is asked again."""
    turns = -(-answers // questions)
    order = rng.permuted(np.tile(np.arange(questions), (years * turns, 1)), axis=1)
    return order.reshape(years, turns * questions)[:, :answers]


def _turn_some(questions: int, years: int, share: float, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """The questions that the judge answers the other way from some day on."""
    turned = np.tile(np.arange(questions) < round(share * questions), (years, 1))
    return rng.permuted(turned, axis=1)


def _first_alarms(lost: np.ndarray[Any, Any], detector: DriftDetector) -> np.ndarray[Any, Any]:
    """The answer at which each year has its first alarm: the count is how far the sum is above its lowest point."""
    total = np.cumsum(np.where(lost, detector.rise, -1), axis=1)
    count = total - np.minimum(np.minimum.accumulate(total, axis=1), 0)
    reached = count >= detector.threshold
    return np.where(reached.any(axis=1), reached.argmax(axis=1), NEVER)
