"""Probes: labelled outputs sealed with a judge's answers, asked again a few a day, to see whether it still is the same.

Only outputs on which the judge decided as people do in every answer are asked again. Those tell a drop at once: a
judge that was wrong, or that wavered, says little when it is wrong once more.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evenhand.errors import Fault, InputError
from evenhand.model.sample import Sample
from evenhand.stats.drift import LEAST_FIRM, DriftDetector, design_drift_detector, fit_slip_model, follow_drift
from evenhand.wording import pluralize_count

MOST_DAILY = 20
Decision = bool | None  # Passed, failed; None where the judge could not assess the output.


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeItem:
    """One labelled output: what the judge is shown of it, what people decided, and the judge's answers at the seal."""

    shown: Sample
    people: bool
    sealed: tuple[Decision, ...]

    @property
    def sample(self) -> str:
        """The id of its sample."""
        return self.shown.id

    @property
    def variant(self) -> str:
        """The variant that made it."""
        return next(iter(self.shown.outputs))

    @property
    def agreed(self) -> int:
        """How many of the sealed answers decide as people do; one that could not assess it does not."""
        return sum(one is self.people for one in self.sealed)

    @property
    def firm(self) -> bool:
        """Whether all of them do."""
        return self.agreed == len(self.sealed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A sealed set: items, the judge and how it is asked, the gate, and the detector that watches it."""

    name: str
    at: str
    run: str
    eval: str
    judge: str
    version: str  # Of the model, where it says.
    fingerprint: str  # Of rubric, prompts and judge: evaluations with the same one rest on it.
    gate: str
    least: Mapping[str, float]
    rubric: object  # As JSON.
    options: object  # How it is asked, as the run keeps it.
    repeats: int
    items: tuple[ProbeItem, ...]
    detector: DriftDetector
    cost: float | None = None  # Of one answer, in dollars, where it has a price.
    imported: bool = False  # Whether the run was made elsewhere.

    @property
    def firm(self) -> list[int]:
        """The places of the items that are asked again."""
        return [place for place, one in enumerate(self.items) if one.firm]

    @property
    def agreement(self) -> float:
        """The share of the sealed answers that decided as people do."""
        return sum(one.agreed for one in self.items) / sum(len(one.sealed) for one in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeLook:
    """One look: the items that were asked, by place, with what the judge decided now."""

    number: int
    at: str
    answers: tuple[tuple[int, Decision], ...]
    failed: int = 0  # Items without a reply; they are asked another time.
    cost: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAnswer:
    """An item that the judge decided as people do when it was sealed, and does no longer."""

    sample: str
    variant: str
    people: bool
    now: Decision
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStatus:
    """What all looks so far say. `since` is when drift most likely began, `drifted` when it was found."""

    state: Literal["steady", "drift"]
    looks: int
    asked: int
    lost: tuple[LostAnswer, ...]
    evidence: float
    threshold: float
    drifted: str | None
    since: str | None


def design_probe_detector(items: Sequence[ProbeItem], daily: int) -> DriftDetector:
    """The detector for these items; refused where the judge agreed with people on too few of them."""
    if not 1 <= daily <= MOST_DAILY:
        raise InputError(Fault(f"{daily} a day is not possible", f"1 to {MOST_DAILY}", where="--daily"))
    repeats = len(items[0].sealed) if items else 0
    firm = sum(one.firm for one in items)
    if firm < LEAST_FIRM:
        what = f"the judge decided as people do every time on only {firm} of {pluralize_count(len(items), 'output')}"
        hint = f"it takes {LEAST_FIRM}: label more outputs, or see what evenhand trust says of this judge"
        raise InputError(Fault(what, hint))
    return design_drift_detector([one.agreed for one in items], repeats, daily=daily)


def choose_probe_items(probe: Probe, looks: Sequence[ProbeLook]) -> list[int]:
    """The items to ask in the next look: each once before any is asked again, in an order that nobody can choose."""
    firm = probe.firm
    times = dict.fromkeys(firm, 0)
    for look in looks:
        for place, _ in look.answers:
            times[place] += 1
    chosen: list[int] = []
    while len(chosen) < min(probe.detector.daily, len(firm)):
        turn = min(times.values())
        order = firm.copy()
        random.Random(f"{probe.name} {probe.at} {turn}").shuffle(order)
        waiting = [place for place in order if times[place] == turn and place not in chosen]
        chosen += waiting[: probe.detector.daily - len(chosen)]
        times |= dict.fromkeys(waiting, turn + 1)
    return chosen


def follow_probe(probe: Probe, looks: Sequence[ProbeLook]) -> ProbeStatus:
    """What the looks say, in their order."""
    number = {place: number for number, place in enumerate(probe.firm)}
    asked = [[(number[at], now is not probe.items[at].people) for at, now in look.answers] for look in looks]
    model = fit_slip_model([one.agreed for one in probe.items], probe.repeats)
    found = follow_drift(probe.detector, model, len(number), asked)
    lost = [
        LostAnswer(
            sample=probe.items[place].sample,
            variant=probe.items[place].variant,
            people=probe.items[place].people,
            now=now,
            at=look.at,
        )
        for look in looks
        for place, now in look.answers
        if now is not probe.items[place].people
    ]
    return ProbeStatus(
        state="steady" if found.fired is None else "drift",
        looks=len(looks),
        asked=sum(map(len, asked)),
        lost=tuple(lost),
        evidence=found.evidence,
        threshold=probe.detector.threshold,
        drifted=None if found.fired is None else looks[found.fired].at,
        since=None if found.began is None else looks[found.began].at,
    )
