"""Which outputs to label next, each drawn with a known chance, and the order in which one person labels them."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import average_people_by_sample
from evenhand.calibrate.labels import Label
from evenhand.calibrate.people_scale import PeopleScaleEstimate
from evenhand.errors import Fault, InputError
from evenhand.runs.columns import RunTable
from evenhand.stats.cascades import draw_by_chance, spread_chances
from evenhand.stats.distributions import student_quantile
from evenhand.stats.means import LEAST_LABELS

RANDOM_PART = 0.5  # At least: no sample has less than half the chance that it would have at random.
NEAR_GATE = 0.25  # Of the scale: outputs beyond are not near.
LEAST_FOR_INTERVAL = LEAST_LABELS  # Samples with a label; below, there is no interval.
_TAIL = 0.025
NOTHING_DRAWN: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSample:
    """A sample whose outputs are to be labelled, and the chance with which it was drawn."""

    sample: str
    chance: float
    near_gate: bool
    disputed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabels:
    """A draw: its number, its seed, what is drawn, and how the chances were divided (`at_random` + … = 1)."""

    batch: int
    seed: int
    left: int  # Samples that it was drawn from: those that have no label.
    samples: tuple[NextSample, ...]
    parts: Mapping[str, float]


def choose_next_labels(
    table: RunTable,
    labels: Sequence[Label],
    count: int,
    *,
    gate: float | None,
    span: tuple[float, float],
    drawn_before: Mapping[str, int] = NOTHING_DRAWN,
) -> NextLabels:
    """Draw samples that nobody has labelled until they have `count` outputs; the same draw for the same labels.

    `drawn_before` are samples that people have before them, each with its batch: they are not drawn again.
    """
    if count < 1:
        raise InputError(Fault(f"-n {count} draws nothing", "at least 1, as in -n 12"))
    places = {id: place for place, id in enumerate(table.samples)}
    known = {places[id] for id in (*(one.sample for one in labels), *drawn_before) if id in places}
    made = np.isfinite(table.length)
    outputs = np.bincount(table.sample[made & (table.repeat == table.repeat.min())], minlength=len(table.samples))
    left = np.array([place for place in np.flatnonzero(outputs) if place not in known], dtype=np.int64)
    if not len(left):
        raise InputError(Fault("every sample with an output has a label", "nothing is left to draw"))
    near, apart = _measure_nearness_of_unlabelled(table, gate, span)[left], _measure_disagreement(table)[left]
    priorities, parts = mix_label_draw_priorities(near, apart)
    wanted = min(len(left), max(1, math.ceil(count / float(outputs[left].mean()))))
    batch = 1 + max((*(one.batch or 0 for one in labels), *drawn_before.values()), default=0)
    chances = spread_chances(priorities, wanted)
    drawn = draw_by_chance(chances, np.random.default_rng((table.frame.seed, batch)))
    usual = float(np.median(apart)) if len(apart) else 0.0
    return NextLabels(
        batch=batch,
        seed=table.frame.seed,
        left=len(left),
        samples=tuple(
            NextSample(
                sample=table.samples[left[place]],
                chance=float(chances[place]),
                near_gate=bool(near[place] > 0),
                disputed=bool(apart[place] > usual),
            )
            for place in drawn
        ),
        parts=parts,
    )


def _measure_nearness_of_unlabelled(table: RunTable, gate: float | None, span: tuple[float, float]) -> Floats:
    """Of each sample: 1 where the score of an output is on the gate, 0 where all are a quarter of the scale away."""
    if gate is None:
        return np.zeros(len(table.samples))
    return _find_largest_of_unlabelled_variants(table, measure_nearness_to_gate(table.score, gate, span))


def measure_nearness_to_gate(scores: Floats, gate: float, span: tuple[float, float]) -> Floats:
    """1 on the gate, 0 a quarter of the scale away from it, and less beyond."""
    return 1 - np.abs(scores - gate) / (NEAR_GATE * (span[1] - span[0]))


def _measure_disagreement(table: RunTable) -> Floats:
    """Of each sample: how far the scores of judges lie apart on the output where they do most."""
    reviews = [one for one in table.reviews.values() if np.isfinite(one).any()]
    if len(reviews) < 2:
        return np.zeros(len(table.samples))
    there = np.isfinite(reviews)
    counts = there.sum(axis=0)
    mean = np.where(there, reviews, 0.0).sum(axis=0) / np.maximum(counts, 1)
    squares = np.where(there, (np.array(reviews) - mean) ** 2, 0.0).sum(axis=0)
    return _find_largest_of_unlabelled_variants(
        table, np.where(counts > 1, np.sqrt(squares / np.maximum(counts, 1)), np.nan)
    )


def _find_largest_of_unlabelled_variants(table: RunTable, column: Floats) -> Floats:
    found = [average_people_by_sample(table, number, column) for number in range(len(table.variants))]
    largest: Floats = np.maximum(0.0, np.nan_to_num(np.stack(found), nan=0.0).max(axis=0))
    return largest


def mix_label_draw_priorities(near: Floats, apart: Floats) -> tuple[Floats, dict[str, float]]:
    """A priority for each sample, and how much of the draw goes by what; a part that tells nothing goes to chance."""
    parts = {"near_gate": near, "judges_disagree": apart}
    share = (1 - RANDOM_PART) / len(parts)
    told = {name: share for name, one in parts.items() if one.sum() > 0}
    random = 1 - sum(told.values())
    mixed = np.full(len(near), random / len(near))
    for name in told:
        mixed += share * parts[name] / parts[name].sum()
    return mixed, {"at_random": random, **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedWidth:
    """How wide an interval on people's scale is, None where it takes more labels, and will be about.

    `then` is for `at` labelled samples: those that there will be, or the fewest that have an interval.
    """

    kind: str
    question: str  # The criterion, or what people's answers come to.
    variant: str
    control: str | None
    labelled: int
    labelled_then: int
    now: float | None
    then: float | None
    at: int


def expect_widths_with_more_labels(estimates: Sequence[PeopleScaleEstimate], more: int) -> Iterator[ExpectedWidth]:
    """The width of each estimate now, and with so many labelled samples more, if labels go on as they are."""
    for one in estimates:
        then = min(one.labelled + more, one.outputs)
        spread = _find_spread_of_labels(one)
        at = min(max(then, LEAST_FOR_INTERVAL), one.outputs)
        yield ExpectedWidth(
            kind=one.kind,
            question=one.question,
            variant=one.variant,
            control=one.control,
            labelled=one.labelled,
            labelled_then=then,
            now=None if one.people is None else one.people.high - one.people.low,
            then=None if spread is None else _expect_width_with_more_labels(spread, at, one.outputs),
            at=at,
        )


def _find_spread_of_labels(one: PeopleScaleEstimate) -> float | None:
    """The standard deviation that the interval of now rests on; without one, that of the judges' scores."""
    if one.people is None or one.labelled >= one.outputs:
        return one.spread
    unit = _expect_width_with_more_labels(1.0, one.labelled, one.outputs)
    return (one.people.high - one.people.low) / unit if unit else None


def _expect_width_with_more_labels(spread: float, labelled: int, outputs: int) -> float:
    """Of Student's interval with the finite-population correction."""
    if labelled >= outputs:
        return 0.0
    return 2 * student_quantile(_TAIL, labelled - 1) * spread * math.sqrt(1 / labelled - 1 / outputs)


AGAIN_SHARE = 10  # One of so many is shown a second time.
FIRST_ROUND, SECOND_ROUND = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedOutputToLabel:
    """An output in a queue: `place` is where its draw has it, `round` 2 where the person has labelled it before."""

    batch: int
    place: int
    round: int

    @property
    def key(self) -> str:
        """What a form sends back: it tells neither sample nor variant."""
        return f"{self.batch}.{self.place}.{self.round}"


def order_label_queue(batch: int, outputs: int, *, seed: int, rater: str) -> list[QueuedOutputToLabel]:
    """The queue of one person for one draw, the same each time; what comes again stood in its first half."""
    rng = random.Random(f"{seed}/{batch}/{rater}")
    places = list(range(outputs))
    rng.shuffle(places)
    early = places[: max(1, len(places) // 2)]
    again = rng.sample(early, min(len(early), -(-outputs // AGAIN_SHARE))) if outputs > 1 else []
    return [
        *(QueuedOutputToLabel(batch=batch, place=place, round=FIRST_ROUND) for place in places),
        *(QueuedOutputToLabel(batch=batch, place=place, round=SECOND_ROUND) for place in again),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterConsistency:
    """How one person's second answers compare with the first: how many are the same, and how far apart they are.

    `gap` is the mean distance as a share of the scale; an answer "cannot say" counts where both are known only.
    """

    answers: int
    same: int
    gap: float | None


def measure_rater_consistency(
    pairs: Iterable[tuple[str, Fraction | None, Fraction | None]], spans: Mapping[str, Fraction]
) -> RaterConsistency:
    """Hold the answers to the same questions against each other; `spans` are the lengths of their scales."""
    given: Sequence[tuple[str, Fraction | None, Fraction | None]] = list(pairs)
    gaps = [abs(second - first) / spans[id] for id, first, second in given if first is not None and second is not None]
    return RaterConsistency(
        answers=len(given),
        same=sum(first == second for _, first, second in given),
        gap=float(sum(gaps, Fraction(0)) / len(gaps)) if gaps else None,
    )
