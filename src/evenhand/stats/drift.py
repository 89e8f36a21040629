"""Drift of a judge: evidence that it answers sealed questions otherwise than it did, weighed after every look.

A judge answered each of some questions several times. Those that it answered right every time are asked again, a few
a look; an answer that is no longer right is lost. A stable judge loses some too, as its answers waver. How far is
estimated from the repeats: each question has its own rate of losses, and these rates have a beta distribution whose
mean and spread are weighed on a grid by what the repeats say. So a judge that slips a little everywhere, and one that
wavers much on a few questions, are both known for what they are.

Two kinds of drift are looked for from each of many starts: some questions have turned, so that each is lost as often as
it was kept before, again and again; or every question is lost more often. The evidence of a start is the likelihood of
the answers since then under drift over that without. Without drift its expectation is 1 at every look, so the sum over
starts exceeds (starts in a year) / α within a year with a chance of at most α: a Shiryaev–Roberts e-detector (Shin,
Ramdas, Rinaldo 2022). Old starts are dropped and new ones begin, so that late drift is found as fast as early drift.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import Floats

Integers = NDArray[np.int64]

SMALLEST_DROP = 0.1  # Of agreement with people: ten points. Larger drops are found faster, smaller ones later.
FALSE_ALARMS = (
    0.01  # In a year without drift, on average over what a seal leaves open. The rest to 5% is for unlucky seals.
)
DAYS = 365
LEAST_FIRM = 10
_RATES = np.geomspace(0.005, 0.3, 8)  # No judge is taken to be steadier: one loss would be an alarm.
_SPREADS = np.array([1.0, 5.0, 25.0, 1000.0])  # From a few questions that waver to all alike.
_LEAST_WEIGHT = 0.01  # Of a point of the grid beside the likeliest one.
_ANSWERS_BETWEEN_STARTS = 20
_STARTS = 24  # So many are followed at once: drift that began before is found by a later start.
_LARGEST_LOG = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftSlipModel:
    """What is known of the rates at which a stable judge loses answers: beta distributions, each with its weight.

    They are those of questions that were right in all `repeats` answers.
    """

    lost: Floats  # The parameters of each: losses and kept answers that it is worth.
    kept: Floats
    weights: Floats

    @property
    def rates(self) -> Floats:
        """The expected rate by each."""
        found: Floats = self.lost / (self.lost + self.kept)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftDetector:
    """How much evidence is drift, and `share`, the part of the questions that turns in the smallest drop.

    `losses` is the rate to be expected of a stable judge, `false_alarms` bounds the chance of one within a year.
    """

    threshold: float
    losses: float
    false_alarms: float
    daily: int
    share: float = SMALLEST_DROP


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftEvidence:
    """What all looks come to; `fired` is the look at which it was drift, None where it was not.

    `began` is the first look with a loss since the evidence is strongest, None where nothing speaks for drift.
    """

    evidence: float
    fired: int | None
    began: int | None


def design_drift_detector(
    agreed: Sequence[int], repeats: int, *, daily: int, drop: float = SMALLEST_DROP
) -> DriftDetector:
    """The detector for `daily` questions a look, of those that were answered right in all of `repeats` answers.

    `agreed` says how often each question was.
    """
    firm = sum(one == repeats for one in agreed)
    if repeats < 2:
        raise InputError(Fault(f"{repeats} answer to each question does not tell how far answers waver", "ask twice"))
    if firm < LEAST_FIRM:
        what = f"{firm} questions that were answered right every time are too few: it takes {LEAST_FIRM}"
        raise InputError(Fault(what, "label more outputs"))
    model = fit_slip_model(agreed, repeats)
    agreement = sum(agreed) / (repeats * len(agreed))
    if daily < 1 or not 0 < drop < agreement <= 1:
        raise InputError(Fault(f"no drop of {drop:g} from {agreement:g} to look for", "0 < drop < agreement ≤ 1"))
    starts = math.ceil(DAYS * daily / max(daily, _ANSWERS_BETWEEN_STARTS))
    return DriftDetector(
        threshold=starts / FALSE_ALARMS,
        losses=float(model.weights @ model.rates),
        false_alarms=FALSE_ALARMS,
        daily=daily,
        share=min(drop / agreement, 0.9),
    )


def fit_slip_model(agreed: Sequence[int], repeats: int) -> DriftSlipModel:
    """Weigh every mean and spread of the rates by the answers at the seal.

    A question that is mostly answered wrong slips the other way round: the judge differs from people there.
    """
    mean, spread = (one.ravel() for one in np.meshgrid(_RATES, _SPREADS))
    lost, kept = mean * spread, (1 - mean) * spread
    number = np.arange(repeats + 1)
    right = _log_beta(lost[:, None] + number, kept[:, None] + repeats - number) - _log_beta(lost, kept)[:, None]
    wrong = (sum(2 * one < repeats for one in agreed) + 1) / (len(agreed) + 2)
    either = np.logaddexp(math.log(1 - wrong) + right, math.log(wrong) + right[:, ::-1])
    logs = either @ np.bincount(repeats - np.asarray(agreed), minlength=repeats + 1)
    weights = np.exp(logs - logs.max())
    used = weights >= _LEAST_WEIGHT
    return DriftSlipModel(lost=lost[used], kept=kept[used] + repeats, weights=weights[used] / weights[used].sum())


def follow_drift(
    detector: DriftDetector, model: DriftSlipModel, questions: int, looks: Sequence[Sequence[tuple[int, bool]]]
) -> DriftEvidence:
    """The evidence after looks in their order, each a list of questions and whether they were lost.

    It stops at drift.
    """
    watch = DriftWatch(model, questions, share=detector.share)
    evidence = 0.0
    for number, look in enumerate(looks):
        if not look:
            continue
        asked, lost = (np.array([column]) for column in zip(*look, strict=True))
        evidence = float(watch.add_look(number, asked, lost)[0])
        if evidence >= detector.threshold:
            return DriftEvidence(evidence=evidence, fired=number, began=_find_first_loss_of_drift(watch, looks))
    return DriftEvidence(evidence=evidence, fired=None, began=_find_first_loss_of_drift(watch, looks))


def _find_first_loss_of_drift(watch: DriftWatch, looks: Sequence[Sequence[tuple[int, bool]]]) -> int | None:
    """The first look with a loss since the start that most speaks for."""
    start = watch.find_beginning()
    lossy = (number for number, look in enumerate(looks) if any(lost for _, lost in look))
    return None if start is None else next((number for number in lossy if number >= start), None)


class DriftWatch:
    """The evidence that looks come to, for several judges at once whose looks have the same size: a simulation has
    many, and a probe one.
    """

    def __init__(self, model: DriftSlipModel, questions: int, *, share: float, judges: int = 1) -> None:
        grid = len(model.weights)
        self._model, self._share = model, share
        self._more = np.minimum(model.rates + share, 0.9)  # The rates of losses where every question has more.
        self._lost, self._kept = (np.zeros((judges, questions), dtype=np.int64) for _ in range(2))
        self._likelihood = np.zeros((judges, grid))  # Logs, of all answers without drift.
        # Since each start: losses and kept answers of every question, and its evidence for having turned.
        self._lost_since, self._kept_since = (np.zeros((judges, _STARTS, questions), dtype=np.int64) for _ in range(2))
        self._turned = np.zeros((judges, _STARTS, questions, grid))
        self._turned_sum = np.zeros((judges, _STARTS, grid))
        self._likelihood_before = np.zeros((judges, _STARTS, grid))
        self._evidence = np.zeros((judges, _STARTS))
        self._began: list[int] = []  # The look of each start, the newest last.
        self._waiting = _ANSWERS_BETWEEN_STARTS
        self._log_gamma = self._tabulate_log_gamma(32)

    def add_look(self, number: int, asked: Integers, lost: NDArray[np.bool_]) -> Floats:
        """The evidence of each judge after a look with a number; no question may be asked twice in one."""
        if self._waiting >= _ANSWERS_BETWEEN_STARTS:
            self._begin_start(number)
        self._waiting += asked.shape[1]
        rows = np.arange(len(asked))[:, None]
        self._add_likelihood(self._lost[rows, asked], self._kept[rows, asked], lost)
        self._lost[rows, asked] += lost
        self._kept[rows, asked] += ~lost
        starts = min(len(self._began), _STARTS)
        at = (rows[:, :, None], np.arange(starts)[None, :, None], asked[:, None])
        self._lost_since[at] += lost[:, None]
        self._kept_since[at] += ~lost[:, None]
        turned = self._compare_turned(
            self._lost[rows, asked][:, None],
            self._kept[rows, asked][:, None],
            self._lost_since[at],
            self._kept_since[at],
        )
        self._turned_sum[:, :starts] += (turned - self._turned[at]).sum(axis=2)
        self._turned[at] = turned
        self._evidence[:, :starts] = self._weigh_starts(starts)
        found: Floats = self._evidence.sum(axis=1)
        return found

    def find_beginning(self) -> int | None:
        """The look from which most speaks for drift of the first judge."""
        starts = min(len(self._began), _STARTS)
        if not starts or self._evidence[0].max() <= 1:
            return None
        slot = int(self._evidence[0].argmax())
        newest = (len(self._began) - 1) % _STARTS
        return self._began[len(self._began) - 1 - (newest - slot) % _STARTS]

    def _begin_start(self, number: int) -> None:
        """A new start, in place of the oldest."""
        slot = len(self._began) % _STARTS
        self._began.append(number)
        self._waiting = 0
        self._lost_since[:, slot] = self._kept_since[:, slot] = 0
        self._turned[:, slot] = self._turned_sum[:, slot] = 0
        self._likelihood_before[:, slot] = self._likelihood

    def _add_likelihood(self, lost: Integers, kept: Integers, now: NDArray[np.bool_]) -> None:
        """Each answer is expected by what the same question was answered before."""
        model = self._model
        losses, keeps = model.lost + lost[..., None], model.kept + kept[..., None]
        self._likelihood += np.log(np.where(now[..., None], losses, keeps) / (losses + keeps)).sum(axis=1)

    def _compare_turned(self, lost: Integers, kept: Integers, lost_since: Integers, kept_since: Integers) -> Floats:
        """The log of how much likelier the answers to a question since a start are if some questions have turned.

        With a rate from a beta distribution the ratio is one of two beta functions.
        """
        turned = (lost - lost_since + kept_since, kept - kept_since + lost_since)
        most = int((lost + kept).max())
        if most >= len(self._log_gamma[0]):
            self._log_gamma = self._tabulate_log_gamma(2 * most)
        losses, keeps = self._log_gamma
        log = losses[turned[0]] + keeps[turned[1]] - losses[lost] - keeps[kept]
        found: Floats = np.log1p(self._share * np.expm1(np.minimum(log, _LARGEST_LOG)))
        return found

    def _tabulate_log_gamma(self, most: int) -> tuple[Floats, Floats]:
        """The log of the gamma function, of losses and of kept answers up to so many."""
        lost, kept = (
            np.cumsum([_log_gamma(one), *np.log(one + np.arange(most)[:, None])], axis=0)
            for one in (self._model.lost, self._model.kept)
        )
        return lost, kept

    def _weigh_starts(self, starts: int) -> Floats:
        """The evidence of each start: half for questions that turned, half for more losses everywhere."""
        lost, kept = (one[:, :starts].sum(axis=2)[..., None] for one in (self._lost_since, self._kept_since))
        since = self._likelihood[:, None] - self._likelihood_before[:, :starts]
        more = lost * np.log(self._more) + kept * np.log1p(-self._more) - since
        either = np.exp(np.minimum(np.logaddexp(self._turned_sum[:, :starts], more) - math.log(2), _LARGEST_LOG))
        logs = np.log(self._model.weights) + self._likelihood
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        found: Floats = np.einsum("jsg,jg->js", either, weights / weights.sum(axis=1, keepdims=True))
        return found


def _log_gamma(of: Floats) -> Floats:
    found: Floats = np.vectorize(math.lgamma)(of)
    return found


def _log_beta(first: Floats, second: Floats) -> Floats:
    found: Floats = _log_gamma(first) + _log_gamma(second) - _log_gamma(first + second)
    return found
