"""Samples in a random order: ending a run before its last one, and those that a cascade passes on to the strong
judge.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.evals.eval_definition import RecheckedSamples
from evenhand.evals.sample import EvalSample
from evenhand.judging.single_judge import Cascade, place_sample_in_cascade_draw
from evenhand.stats.cascades import LEAST_DRAWN, CascadeRows, count_needed_draws
from evenhand.store.rows import Row
from evenhand.wording import read_kept_amount, read_kept_fraction

Json = Mapping[str, Any]
COMPOSITE_ENDS = (1.0, 5.0)
BUDGET_RESERVE = Decimal("0.9")  # Calls set aside the most that they may cost: the last ones need some room.


@dataclass(slots=True)
class _DrawnSample:
    """A sample as far as the draw needs it: its place in the order, and by variant what both judges came to."""

    place: float
    near: bool = False
    drawn: bool = False
    cheap: dict[str, float] = field(default_factory=dict)
    strong: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class RunCascadeDraw:
    """The draw of one run. `left` tells what is left of the budget, `paid` each call with its judge and its cost."""

    rule: Cascade
    seed: int
    control: str
    strong: str
    layer_weights: Mapping[str, Fraction]  # In the composite; empty where all weigh alike.
    left: Callable[[], Decimal | None] = lambda: None
    paid: Callable[[], Iterable[Row]] = tuple
    drawn: set[int] = field(default_factory=set)  # Positions that are passed on in this sitting.
    _samples: dict[int, _DrawnSample] = field(default_factory=dict)
    _kept: dict[int, list[Row]] = field(default_factory=dict)

    def plan_stages(self, samples: RecheckedSamples, note_more: Callable[[int], None]) -> SampleStages:
        """All samples, then those that are drawn; `note_more` is told how many pieces that adds."""
        yield self._note_samples(samples)
        while positions := self.choose_next():
            self.drawn.update(positions)
            note_more(len(positions))
            yield read_samples_in_run_order(samples, positions)

    def _note_samples(self, samples: RecheckedSamples) -> Iterator[tuple[int, EvalSample]]:
        for position, sample in enumerate(samples):
            # Samples of one cluster are drawn together: they are not independent.
            content = sample.digest if sample.cluster is None else f"cluster {sample.cluster}"
            self._samples[position] = _DrawnSample(place_sample_in_cascade_draw(self.seed, content))
            for row in self._kept.pop(position, ()):
                self.note_result(row)
            yield position, sample

    def note_result(self, row: Row) -> None:
        """Take in a result as it is kept."""
        position, variant = row["position"], row["variant"]
        sample = self._samples.get(position)
        if sample is None:  # Of an earlier sitting: its sample comes later.
            self._kept.setdefault(position, []).append(row)
            return
        content = json.loads(row["content"])
        found, layer = content.get("cascade"), content["layers"].get("judge")
        sample.cheap.pop(variant, None)
        sample.strong.pop(variant, None)
        if found is None:
            return
        sample.near |= found["passed_on"] == "near"
        sample.drawn |= found["passed_on"] == "drawn"
        if row["number"] is None or layer is None or found["cheap_layer"] is None:
            return
        own, cheap = (float(read_kept_fraction(one)) for one in (layer, found["cheap_layer"]))
        weights = {name: float(self.layer_weights.get(name, 1)) for name, one in content["layers"].items() if one}
        sample.cheap[variant] = row["number"] + weights["judge"] / sum(weights.values()) * (cheap - own)
        if found["by_strong"]:
            sample.strong[variant] = row["number"]

    def choose_next(self) -> list[int]:
        """The positions to pass on next, in their order; none once enough are."""
        rest = sorted((one.place, position) for position, one in self._samples.items() if one.cheap and not one.near)
        count = min(len(rest), max(LEAST_DRAWN, self._count_draws([position for _, position in rest])))
        if not count:
            return []
        last = rest[count - 1][0]  # A cluster is drawn as a whole.
        chosen = (position for place, position in rest if place <= last)
        return [one for one in chosen if not self._samples[one].drawn and one not in self.drawn]

    def _count_draws(self, rest: Sequence[int]) -> int:
        """How many of the rest are to be drawn; the pilot alone, while that is not known."""
        if self.rule.for_width is None and not self.rule.spend:
            return math.ceil(self.rule.share * len(rest))
        pilot = rest[:LEAST_DRAWN]
        if any(not self._samples[one].drawn and one not in self.drawn for one in pilot):
            return LEAST_DRAWN
        if self.rule.spend:
            return self._count_affordable(rest)
        needed = [LEAST_DRAWN]
        for rows, scale in self._list_pilot_figures(rest, set(pilot)):
            try:
                needed.append(
                    count_needed_draws(rows, len(self._samples), float(self.rule.for_width or 0), scale=scale)
                )
            except InputError:  # Too few answers: the pilot is all that there will be.
                continue
        return max(needed)

    def _list_pilot_figures(
        self, rest: Sequence[int], pilot: Set[int]
    ) -> Iterator[tuple[CascadeRows, tuple[float, float]]]:
        """Composites of the rest, the strong judge's of the pilot: differences from the control, or of one variant."""
        variants = sorted({name for one in rest for name in self._samples[one].cheap})
        low, high = COMPOSITE_ENDS
        for name in variants if variants == [self.control] else [one for one in variants if one != self.control]:
            alone = name == self.control
            found = []
            for position in rest:
                sample = self._samples[position]
                strong = sample.strong if position in pilot else {}
                pair = [
                    _subtract_control_in_cascade_draw(one, name, "" if alone else self.control)
                    for one in (sample.cheap, strong)
                ]
                found.append(pair)
            table = np.array(found, dtype=np.float64)
            table = table[~np.isnan(table[:, 0])]
            rows = CascadeRows(cheap=table[:, 0], strong=table[:, 1], near=np.zeros(len(table), dtype=np.bool_))
            yield rows, ((low, high) if alone else (low - high, high - low))

    def _count_affordable(self, rest: Sequence[int]) -> int:
        """As many as what is left of the budget pays for, at what the strong judge has cost so far."""
        left, calls = self.left(), [row for row in self.paid() if row["judge"] == self.strong]
        spent = sum((read_kept_amount(row["cost"]) for row in calls if row["cost"] is not None), Decimal(0))
        passed = sum(one.near or one.drawn for one in self._samples.values())
        drawn = sum(self._samples[one].drawn for one in rest)
        return drawn if left is None or not spent else drawn + max(0, int(BUDGET_RESERVE * left * passed / spent))


def _subtract_control_in_cascade_draw(scores: Mapping[str, float], name: str, control: str) -> float:
    """A variant's score, minus the control's where one is named; NaN where there is none."""
    return scores.get(name, math.nan) - (scores.get(control, math.nan) if control else 0.0)


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
