"""Which samples of a run deserve a look: failed gates, judges far apart, those that moved most or stand near a gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.runs.columns import Floats, Integers, RunTable
from evenhand.runs.tally import VERDICT_NUMBERS

SampleOrder = Literal["attention", "gates", "judges", "moved", "threshold", "lowest", "file"]
SampleReason = Literal["gates", "assertions", "findings", "unscored", "fail", "spread", "near"]
SampleState = Literal["", "unscored", "gate", "flagged", "pass", "borderline", "fail"]
NEAR_GATE = 0.5  # Points of a layer's scale of 1 to 5 within which a sample stands near its gate.
WIDE_SPREAD = 0.3  # Share of a criterion's scale by which judges are far apart.
WORST_VERDICTS = {number: name for name, number in VERDICT_NUMBERS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSample:
    """What speaks for a look at one sample; None is what is not known, or does not stand out."""

    position: int
    id: str
    composites: Mapping[str, float | None]
    moved: float | None
    moved_variant: str  # The treatment that moved so far.
    spread: float | None  # Only where judges are far apart.
    spread_on: str
    near: float | None  # Only where it stands near a gate.
    gates: int
    assertions: int
    findings: int
    unscored: int
    results: int
    verdict: str | None
    whose: Mapping[str, tuple[str, ...]]  # By reason, as in `SampleReason`, the variants that it is about.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSampleRanking:
    """What is known of every sample, one row each, over all shippable variants and repeats; NaN where nothing is.

    `composites` has a row for each variant. `spread` is the widest gap between two judges on one criterion, as a share
    of its scale, `near` the smallest distance of a layer from its gate.
    """

    samples: tuple[str, ...]
    positions: Integers  # In the store.
    variants: tuple[str, ...]
    composites: Floats
    lowest: Floats  # Composite.
    moved: Floats
    moved_variant: Integers  # Places in `variants`.
    spread: Floats
    spread_criterion: Integers  # Places in `criteria`.
    criteria: tuple[str, ...]
    near: Floats
    gates: Floats
    assertions: Floats
    findings: Floats
    unscored: Floats  # Outputs of any variant without a score.
    results: Integers  # Of any variant; 0 where a run was stopped before it.
    verdict: Floats  # The worst, by number.
    about: Mapping[SampleReason, NDArray[np.bool_]]  # Variants × samples.

    @property
    def attention(self) -> Floats:
        """How much each deserves a look: what failed first, then how far judges are apart, what moved, what is near."""
        failed = 4.0 * (self.gates > 0) + 3.0 * (self.unscored > 0) + 1.0 * (self.findings > 0)
        failed += 3.0 * (self.verdict == VERDICT_NUMBERS["fail"])  # With or without a gate of its own.
        apart = np.nan_to_num(self.spread) * 2.0
        moved = np.minimum(np.nan_to_num(np.abs(self.moved)) / 2.0, 1.0) + 0.5 * (np.nan_to_num(self.moved) < 0)
        near = np.clip(1.0 - np.nan_to_num(self.near, nan=np.inf) / NEAR_GATE, 0.0, 1.0)
        attention: Floats = failed + apart + moved + near
        return attention

    def order_samples(self, order: SampleOrder) -> Integers:
        """Places of samples, those first that stand out by an order; what is not known comes last."""
        if order == "file":
            return np.arange(len(self.samples), dtype=np.int64)
        keys: dict[str, Floats] = {
            "gates": -self.gates - self.assertions / 1000,
            "judges": -self.spread,
            "moved": -np.abs(self.moved),
            "threshold": self.near,
            "lowest": self.lowest,
        }
        return np.argsort(-self.attention if order == "attention" else keys[order], kind="stable")

    def choose_samples(self, order: SampleOrder, state: SampleState, among: Collection[int] | None) -> list[int]:
        """The places of the samples that are in a state, and at some positions if they are given, in an order."""
        places = self.order_samples(order)
        if state:
            counts = {"unscored": self.unscored, "gate": self.gates, "flagged": self.findings}
            fits = counts[state] > 0 if state in counts else self.verdict == VERDICT_NUMBERS[state]
            places = places[fits[places]]
        if among is not None:
            places = places[np.isin(self.positions[places], list(among))]
        found: list[int] = places.tolist()
        return found

    def list_positions(self, order: SampleOrder) -> list[int]:
        """All positions in an order."""
        found: list[int] = self.positions[self.order_samples(order)].tolist()
        return found

    def describe_sample(self, place: int) -> RankedSample:
        """What is known of the sample at a place."""
        spread, near, verdict = (_find_known_results(one[place]) for one in (self.spread, self.near, self.verdict))
        return RankedSample(
            position=int(self.positions[place]),
            id=self.samples[place],
            composites={name: _find_known_results(self.composites[at][place]) for at, name in enumerate(self.variants)},
            moved=_find_known_results(self.moved[place]),
            moved_variant=self.variants[self.moved_variant[place]],
            spread=spread if spread is not None and spread >= WIDE_SPREAD else None,
            spread_on=self.criteria[self.spread_criterion[place]] if self.criteria else "",
            near=near if near is not None and near <= NEAR_GATE / 2 else None,
            gates=int(self.gates[place]),
            assertions=int(self.assertions[place]),
            findings=int(self.findings[place]),
            unscored=int(self.unscored[place]),
            results=int(self.results[place]),
            verdict=None if verdict is None else WORST_VERDICTS[int(verdict)],
            whose={
                reason: tuple(name for name, own in zip(self.variants, held[:, place], strict=True) if own)
                for reason, held in self.about.items()
            },
        )


def _find_known_results(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def rank_run_samples(table: RunTable, gates: Mapping[str, float], positions: Sequence[int]) -> RunSampleRanking:
    """Every sample of a run, over the variants that may be shipped; `gates` are those of layers."""
    count, shippable = len(table.samples), table.frame.shippable_variants
    own = np.isin(table.variant, [table.variants.index(name) for name in shippable])
    composites = np.stack([
        _average_results_by_sample(table.composite, table.sample, table.variant == place, count)
        for place in range(len(table.variants))
    ])  # fmt: skip
    gaps, places, criteria = _measure_judge_spread_in_run(table, own, count)
    spread = _reduce_columns(np.fmax, gaps)
    distances = _measure_gate_distance_in_run(table, own, gates, count)
    near = _reduce_columns(np.fmin, distances)
    moved, mover = _find_largest_move_in_run(table, composites, shippable)
    verdict = np.full(count, np.nan)
    if "verdict" in table.marks:
        np.fmin.at(verdict, table.sample[own], table.marks["verdict"][own])
    without = np.isnan(table.score) & np.isnan(table.composite)  # The control's too: no pair can be made without it.
    marks: dict[SampleReason, Floats] = {
        name: np.where(own, np.nan_to_num(table.marks.get(name, 0.0)), 0.0)
        for name in ("gates", "assertions", "findings")
    }
    failed = own & (table.marks.get("verdict", np.nan) == VERDICT_NUMBERS["fail"])
    return RunSampleRanking(
        samples=table.samples,
        positions=np.array(positions, dtype=np.int64),
        variants=table.variants,
        composites=composites,
        lowest=_reduce_columns(np.fmin, composites[[table.variants.index(name) for name in shippable]]),
        moved=moved,
        moved_variant=mover,
        spread=spread,
        spread_criterion=places[np.argmax(gaps == spread, axis=0), np.arange(count)],
        criteria=criteria,
        near=near,
        **{name: _sum_results_by_sample(column, table.sample, count) for name, column in marks.items()},
        unscored=_sum_results_by_sample(without.astype(np.float64), table.sample, count),
        results=np.bincount(table.sample, None, count),
        verdict=verdict,
        about={
            **{name: _find_who_has_any(table, column > 0, count) for name, column in marks.items()},
            "unscored": _find_who_has_any(table, without, count),
            "fail": _find_who_has_any(table, failed, count),
            "spread": gaps == spread,
            "near": distances == near,
        },
    )


def _average_results_by_sample(values: Floats, sample: Integers, chosen: NDArray[np.bool_], count: int) -> Floats:
    """The mean of a column over the repeats of each sample; NaN where there is none."""
    there = chosen & ~np.isnan(values)
    sums = np.bincount(sample[there], values[there], count)
    times = np.bincount(sample[there], None, count)
    return np.where(times > 0, sums / np.maximum(times, 1), np.nan)


def _find_largest_move_in_run(table: RunTable, composites: Floats, shippable: list[str]) -> tuple[Floats, Integers]:
    """How far the treatment that moved most is from the control, with its sign, and which one it is."""
    moved, mover = np.full(len(table.samples), np.nan), np.zeros(len(table.samples), dtype=np.int64)
    control = table.frame.control
    if shippable == [control]:
        return moved, mover
    before = composites[table.variants.index(control)]
    for name in shippable:
        if name != control:
            place = table.variants.index(name)
            change = composites[place] - before
            larger = ~np.isnan(change) & (np.isnan(moved) | (np.abs(change) > np.abs(moved)))
            moved, mover = np.where(larger, change, moved), np.where(larger, place, mover)
    return moved, mover


def _measure_judge_spread_in_run(
    table: RunTable, own: NDArray[np.bool_], count: int
) -> tuple[Floats, Integers, tuple[str, ...]]:
    """The widest gap between two judges on one criterion of one output, and which criterion that is.

    Both are variants × samples.
    """
    criteria = tuple(dict.fromkeys(id for _, id in table.judgments))
    widest = np.full((len(table.variants), count), np.nan)
    place = np.zeros(widest.shape, dtype=np.int64)
    for number, id in enumerate(criteria):
        columns = np.stack([column[own] for (_, other), column in table.judgments.items() if other == id])
        if len(columns) < 2:
            continue
        high, low = _reduce_columns(np.fmax, columns), _reduce_columns(np.fmin, columns)
        gap = np.full(widest.shape, np.nan)
        rows = (table.variant[own], table.sample[own])
        np.fmax.at(gap, rows, (high - low) / (_find_scale_width_in_run(table, id) or 1.0))
        wider = np.isnan(widest) | (gap > widest)
        place = np.where(wider & ~np.isnan(gap), number, place)
        widest = np.fmax(widest, gap)
    return widest, place, criteria


def _find_scale_width_in_run(table: RunTable, id: str) -> float:
    ends = next((one["ends"] for rubric in table.frame.rubrics for one in rubric["criteria"] if one["id"] == id), None)
    return float(ends[1] - ends[0]) if ends else 0.0


def _measure_gate_distance_in_run(
    table: RunTable, own: NDArray[np.bool_], gates: Mapping[str, float], count: int
) -> Floats:
    """How near a layer of each output is to its gate: variants × samples."""
    distance = np.full((len(table.variants), count), np.nan)
    rows = (table.variant[own], table.sample[own])
    for name, least in gates.items():
        if name in table.layers:
            np.fmin.at(distance, rows, np.abs(table.layers[name][own] - least))
    return distance


def _find_who_has_any(table: RunTable, rows: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Which variants have a row of these, of each sample: variants × samples."""
    held = np.zeros((len(table.variants), count), dtype=np.bool_)
    held[table.variant[rows], table.sample[rows]] = True
    return held


def _sum_results_by_sample(values: Floats, sample: Integers, count: int) -> Floats:
    return np.bincount(sample, values, count).astype(np.float64)


def _reduce_columns(reduce: np.ufunc, columns: Floats) -> Floats:
    found: Floats = reduce.reduce(columns, axis=0)
    return found
