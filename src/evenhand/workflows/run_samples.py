"""The samples of a run: a page of those that deserve a look, and one sample with all that was said of it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

import numpy as np

from evenhand.compare.decide import DEFAULT_LAYER_GATE
from evenhand.errors import Fault, StoreError
from evenhand.guards.personal_data import build_personal_text_mask, mask_data
from evenhand.report.report_data import load_report_sample
from evenhand.runs.columns import Integers, load_run_columns
from evenhand.runs.sample_ranking import (
    NEAR_GATE,
    WIDE_SPREAD,
    WORST_VERDICTS,
    SampleOrder,
    SampleRanking,
    rank_run_samples,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.report import load_run_report
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]
SampleState = Literal["", "unscored", "gate", "flagged", "pass", "borderline", "fail"]
RANKINGS_KEPT = 4  # Of finished runs: a hundred thousand samples take ten megabytes.


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleQuestion:
    """Which samples are asked for, and in which order."""

    search: str = ""  # In ids and texts.
    state: SampleState = ""
    order: SampleOrder = "attention"
    skip: int = 0
    most: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSample:
    """A sample in a list: what it was asked, what came out for each variant, and why it deserves a look."""

    position: int
    id: str
    asked: Any  # Its input, or its messages.
    tags: tuple[str, ...]
    composites: Mapping[str, float | None]
    moved: float | None
    spread: float | None  # Only where judges are far apart.
    spread_on: str
    near: float | None  # Only where it stands near a gate.
    gates: int
    assertions: int
    findings: int
    unscored: int
    verdict: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """Some of the samples that were found."""

    samples: tuple[ListedSample, ...]
    found: int
    total: int
    variants: tuple[str, ...]


@dataclass(slots=True)
class RankedRun:
    """The ranking of a run, and where its samples stand in the store."""

    ranking: SampleRanking
    positions: Integers
    masks: bool  # Whether personal data is hidden in what is shown of it.


@dataclass(slots=True)
class RankedRuns:
    """The rankings of the runs that were looked at last; finished runs do not change."""

    _kept: OrderedDict[tuple[str, ...], RankedRun] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def has_ranked_run(self, store: Store, row: Row) -> bool:
        """Whether the ranking of a run is at hand."""
        return self._name_run(store, row) in self._kept

    def find_ranked_run(self, store: Store, row: Row) -> RankedRun:
        """The ranking of a run, worked out once."""
        key = self._name_run(store, row)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _rank_stored_run(store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > RANKINGS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]

    @staticmethod
    def _name_run(store: Store, row: Row) -> tuple[str, ...]:
        return str(store.address), row["id"], row["ended"] or ""


RANKED_RUNS = RankedRuns()


@with_opened_user_store
def list_run_samples(store: Store, run: str, asked: SampleQuestion = SampleQuestion()) -> SamplePage:  # noqa: B008
    """A page of the samples of a run that is over, those that deserve a look first."""
    row = store.find_run(run)
    ranked = RANKED_RUNS.find_ranked_run(store, row)
    places = _choose_sample_places(store, row["id"], ranked, asked)
    shown = places[asked.skip : asked.skip + asked.most].tolist()
    rows = {one["position"]: one for one in store.rows.list_samples_at(row["id"], ranked.positions[shown].tolist())}
    samples = [_describe_sample(ranked, place, rows) for place in shown]
    return SamplePage(
        samples=tuple(samples),
        found=len(places),
        total=len(ranked.positions),
        variants=ranked.ranking.variants,
    )


@with_opened_user_store
def are_samples_at_hand(store: Store, run: str) -> bool:
    """Whether a page of samples of a run can be listed at once, without working out the ranking first."""
    return RANKED_RUNS.has_ranked_run(store, store.find_run(run))


def _rank_stored_run(store: Store, row: Row) -> RankedRun:
    table = load_run_columns(store, row["id"])
    gates = dict.fromkeys(table.layers, DEFAULT_LAYER_GATE) | table.frame.list_layer_gates(table.layers)
    positions = np.array(store.rows.list_positions(row["id"]), dtype=np.int64)
    return RankedRun(rank_run_samples(table, gates), positions, "personal" in table.frame.guards)


def _choose_sample_places(store: Store, run: str, ranked: RankedRun, asked: SampleQuestion) -> Integers:
    """The places of the samples that fit, in the order that is asked for."""
    ranking = ranked.ranking
    places = ranking.order_samples(asked.order)
    if asked.state:
        counts = {"unscored": ranking.unscored, "gate": ranking.gates, "flagged": ranking.findings}
        numbers = {name: number for number, name in WORST_VERDICTS.items()}
        fits = counts[asked.state] > 0 if asked.state in counts else ranking.verdict == numbers[asked.state]
        places = places[fits[places]]
    if asked.search:
        found = store.rows.find_positions(run, asked.search)
        places = places[np.isin(ranked.positions[places], found)]
    return places


def _describe_sample(ranked: RankedRun, place: int, rows: Mapping[int, Row]) -> ListedSample:
    ranking, position = ranked.ranking, int(ranked.positions[place])
    content: Any = {"id": ranking.samples[place], **(json.loads(rows[position]["content"]) if position in rows else {})}
    if ranked.masks:
        content = mask_data(content, build_personal_text_mask([content.get("input") or ""]))
    spread, near = _known(ranking.spread[place]), _known(ranking.near[place])
    verdict = _known(ranking.verdict[place])
    return ListedSample(
        position=position,
        id=content["id"],
        asked=content.get("input") or content.get("messages"),
        tags=tuple(content.get("tags") or ()),
        composites={name: _known(ranking.composites[at][place]) for at, name in enumerate(ranking.variants)},
        moved=_known(ranking.moved[place]),
        spread=spread if spread is not None and spread >= WIDE_SPREAD else None,
        spread_on=ranking.criteria[ranking.spread_criterion[place]] if ranking.criteria else "",
        near=near if near is not None and near <= NEAR_GATE / 2 else None,
        gates=int(ranking.gates[place]),
        assertions=int(ranking.assertions[place]),
        findings=int(ranking.findings[place]),
        unscored=int(ranking.unscored[place]),
        verdict=None if verdict is None else WORST_VERDICTS[int(verdict)],
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@with_opened_user_store
def find_run_sample(store: Store, run: str, id: str) -> int:
    """The position of the sample of an id."""
    position = store.rows.find_sample_position(store.find_run(run)["id"], id)
    if position is None:
        raise StoreError(Fault(f"no sample {id!r} is in this run", "look for it in the list of its samples"))
    return position


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNeighbours:
    """Where a sample stands among all that deserve a look, and which come before and after it."""

    place: int
    total: int
    before: int | None
    after: int | None


@with_opened_user_store
def find_sample_neighbours(store: Store, run: str, position: int) -> SampleNeighbours:
    """The samples beside one, in the order in which they deserve a look."""
    ranked = RANKED_RUNS.find_ranked_run(store, store.find_run(run))
    order = ranked.positions[ranked.ranking.order_samples("attention")]
    place = int(np.flatnonzero(order == position)[0])
    before = int(order[place - 1]) if place else None
    after = int(order[place + 1]) if place + 1 < len(order) else None
    return SampleNeighbours(place=place + 1, total=len(order), before=before, after=after)


@with_opened_user_store
def load_run_sample(store: Store, run: str, position: int) -> tuple[Json, Json]:
    """The head of a run and one of its samples, as a report has them: personal data masked where the run says so."""
    row = store.find_run(run)
    head, _ = load_run_report(store, row["id"])
    sample = load_report_sample(store, row, head, position)
    if sample is None:
        raise StoreError(Fault(f"no sample has the place {position} in run {row['id']}", "go to the list of samples"))
    return head, sample
