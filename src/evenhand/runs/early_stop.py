"""Ending a run before its last sample: samples in a random order, from look to look, until a rule has seen enough."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from evenhand.evals.eval_definition import RecheckedSamples
from evenhand.evals.sample import EvalSample
from evenhand.store.rows import Row
from evenhand.wording import read_kept_fraction

# Samples with positions; a stage is done before the next begins.
SampleStages = Iterable[Iterable[tuple[int, EvalSample]]]
NumbersOfOutput = dict[tuple[str, ...], float | None]  # By what they are, then of whom.
# Told a position, a repeat, the numbers by variant and the cluster: why to stop, or "".
StopRuleFunction = Callable[[int, int, Mapping[str, NumbersOfOutput], str | None], str]
PASSED_NUMBER, BORDERLINE_NUMBER, UNGATED_NUMBER = ("passed",), ("passed or borderline",), ("passes every gate",)
SAMPLES_IN_MEMORY = 10_000  # Samples that are kept in memory at once; of more the file is read again.


class StopRunOnceDecided:
    """Samples are asked about in a random order, from look to look, until the rule gives a reason to stop.

    No sample beyond a look is asked about before it: what comes after the end would be paid for and not counted.
    """

    def __init__(self, order: Sequence[int], looks: Sequence[int], rule: StopRuleFunction, kept: Iterable[Row]) -> None:
        """Begin with the results that earlier sittings have kept."""
        self._order = order
        self._looks = looks
        self._rule = rule
        self._numbers: dict[tuple[int, int], dict[str, NumbersOfOutput]] = {}  # By position and repeat.
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
        content = json.loads(row["content"])
        numbers = _list_result_row_numbers(row, content)
        self._numbers.setdefault((row["position"], row["repeat"]), {})[row["variant"]] = numbers
        self._clusters[row["position"]] = content["cluster"]

    def why_stop(self, position: int, repeat: int) -> str:
        """What the rule says, now that all variants have their results for a sample and repeat."""
        return self._rule(position, repeat, self._numbers.pop((position, repeat)), self._clusters[position])


def _list_result_row_numbers(row: Row, content: Mapping[str, Any]) -> NumbersOfOutput:
    """All that a verdict may look at, whether or not this eval has a gate on it."""
    card = content["scorecard"] or {}
    verdict = card.get("verdict")
    passed = row["state"] == "scored" and verdict in ("pass", None)
    found: dict[tuple[str, ...], float | str | None] = {
        ("composite",): row["number"],
        ("score",): row["score"],
        PASSED_NUMBER: passed,
        BORDERLINE_NUMBER: passed or (row["state"] == "scored" and verdict == "borderline"),
        UNGATED_NUMBER: not (card.get("gates_failed") or content.get("gates_open")),
        **{(kind, name): value for kind in ("layers", "criteria") for name, value in content[kind].items()},
        **{("reviews", one["judge"]): one["score"] for one in card.get("reviews") or ()},
    }
    return {name: None if value is None else float(read_kept_fraction(value)) for name, value in found.items()}


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
