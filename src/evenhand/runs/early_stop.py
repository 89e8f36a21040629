"""Ending a run before its last sample: samples in a random order, from look to look, until a rule has seen enough."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from evenhand.evals.eval_definition import RecheckedSamples
from evenhand.evals.sample import EvalSample
from evenhand.store.rows import Row

# Samples with positions; a stage is done before the next begins.
SampleStages = Iterable[Iterable[tuple[int, EvalSample]]]
# Told a position, a repeat, the composites by variant and the cluster: why to stop, or "".
StopRuleFunction = Callable[[int, int, Mapping[str, float | None], str | None], str]
SAMPLES_IN_MEMORY = 10_000  # Samples that are kept in memory at once; of more the file is read again.


class StopOnceDecided:
    """Samples are asked about in a random order, from look to look, until the rule gives a reason to stop.

    No sample beyond a look is asked about before it: what comes after the end would be paid for and not counted.
    """

    def __init__(self, order: Sequence[int], looks: Sequence[int], rule: StopRuleFunction, kept: Iterable[Row]) -> None:
        """Begin with the results that earlier sittings have kept."""
        self._order = order
        self._looks = looks
        self._rule = rule
        self._scores: dict[tuple[int, int], dict[str, float | None]] = {}  # By position and repeat.
        self._clusters: dict[int, str | None] = {}
        self.until = f"stops once it is decided, after {looks[0]} of {looks[-1]:,} samples at the earliest"
        for row in kept:
            self.note_result(row)

    def plan_stages(self, samples: RecheckedSamples) -> SampleStages:
        """In the order of the run, up to each look."""
        placed = read_samples_in_run_order(samples, self._order)
        return (islice(placed, end - start) for start, end in pairwise((0, *self._looks)))

    def note_result(self, row: Row) -> None:
        """Remember what an output scored."""
        self._scores.setdefault((row["position"], row["repeat"]), {})[row["variant"]] = row["number"]
        self._clusters[row["position"]] = json.loads(row["content"])["cluster"]

    def why_stop(self, position: int, repeat: int) -> str:
        """What the rule says, now that all variants have their results for a sample and repeat."""
        return self._rule(position, repeat, self._scores.pop((position, repeat)), self._clusters[position])


def shuffle_run_order(samples: int, seed: int) -> list[int]:
    """The positions of so many samples, shuffled: by a hash, which is the same in every version on every machine."""
    return sorted(range(samples), key=lambda position: hashlib.sha256(f"{seed} {position}".encode()).digest())


def read_samples_in_run_order(
    samples: RecheckedSamples, order: Sequence[int], held: int = SAMPLES_IN_MEMORY
) -> Iterator[tuple[int, EvalSample]]:
    """The samples with their positions in the order given; none any more once they are not what they were."""
    for start in range(0, len(order), held):
        wanted = order[start : start + held]
        among = set(wanted)
        found = {position: sample for position, sample in enumerate(samples) if position in among}
        if samples.changed:
            return
        yield from ((position, found[position]) for position in wanted)
