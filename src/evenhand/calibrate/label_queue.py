"""The order in which one person labels a draw: shuffled for each person, and a tenth of it once more at the end."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

AGAIN_SHARE = 10  # One of so many is shown a second time.
FIRST_ROUND, SECOND_ROUND = 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedOutput:
    """An output in a queue: `place` is where its draw has it, `round` 2 where the person has labelled it before."""

    batch: int
    place: int
    round: int

    @property
    def key(self) -> str:
        """What a form sends back: it tells neither sample nor variant."""
        return f"{self.batch}.{self.place}.{self.round}"


def order_label_queue(batch: int, outputs: int, *, seed: int, rater: str) -> list[QueuedOutput]:
    """The queue of one person for one draw, the same each time; what comes again stood in its first half."""
    rng = random.Random(f"{seed}/{batch}/{rater}")
    places = list(range(outputs))
    rng.shuffle(places)
    early = places[: max(1, len(places) // 2)]
    again = rng.sample(early, min(len(early), -(-outputs // AGAIN_SHARE))) if outputs > 1 else []
    return [
        *(QueuedOutput(batch=batch, place=place, round=FIRST_ROUND) for place in places),
        *(QueuedOutput(batch=batch, place=place, round=SECOND_ROUND) for place in again),
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
