"""The samples of a run: a page of those that deserve a look, one with all that was said of it, and those that moved
most.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass, field, fields
from threading import Lock
from typing import Any

from evenhand.compare.decide import DEFAULT_LAYER_GATE
from evenhand.errors import Fault, StoreError
from evenhand.guards.personal_data import build_personal_text_mask, mask_data
from evenhand.report.report_data import load_report_sample
from evenhand.runs.columns import join_run_result_rows, load_run_columns
from evenhand.runs.notable import SampleMoveBetweenRuns, find_samples_moved_between_runs
from evenhand.runs.sample_ranking import (
    RankedSample,
    RunSampleRanking,
    SampleOrder,
    SampleState,
    rank_run_samples,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.compare import CompareResult
from evenhand.workflows.report import load_run_report
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]
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
class ListedSample(RankedSample):
    """A sample in a list: what it was asked, what came out for each variant, and why it deserves a look."""

    asked: Any  # Its input, or its messages.
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """Some of the samples that were found."""

    samples: tuple[ListedSample, ...]
    found: int
    total: int
    without_result: int  # Of all: a run that was stopped has read them, and no more.
    variants: tuple[str, ...]


@dataclass(slots=True)
class RankedRun:
    """The ranking of a run, and what holds for all of its samples."""

    ranking: RunSampleRanking
    masks: bool  # Whether personal data is hidden in what is shown of it.


@dataclass(slots=True)
class LoadedRunRankings:
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
                self._kept[key] = _load_run_ranking(store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > RANKINGS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]

    @staticmethod
    def _name_run(store: Store, row: Row) -> tuple[str, ...]:
        return str(store.address), row["id"], row["ended"] or ""


RANKED_RUNS = LoadedRunRankings()


@with_opened_user_store
def list_run_samples(store: Store, run: str, asked: SampleQuestion = SampleQuestion()) -> SamplePage:  # noqa: B008
    """A page of the samples of a run that is over, those that deserve a look first."""
    row = store.find_run(run)
    ranked = RANKED_RUNS.find_ranked_run(store, row)
    among = store.rows.find_positions(row["id"], asked.search) if asked.search else None
    places = ranked.ranking.choose_samples(asked.order, asked.state, among)
    shown = [ranked.ranking.describe_sample(place) for place in places[asked.skip : asked.skip + asked.most]]
    rows = {one["position"]: one for one in store.rows.list_samples_at(row["id"], [one.position for one in shown])}
    samples = [_load_sample_texts(one, rows[one.position], masks=ranked.masks) for one in shown]
    return SamplePage(
        samples=tuple(samples),
        found=len(places),
        total=len(ranked.ranking.samples),
        without_result=int((ranked.ranking.results == 0).sum()),
        variants=ranked.ranking.variants,
    )


@with_opened_user_store
def can_load_run_samples(store: Store, run: str) -> bool:
    """Whether a page of samples of a run can be listed at once, without working out the ranking first."""
    return RANKED_RUNS.has_ranked_run(store, store.find_run(run))


def _load_run_ranking(store: Store, row: Row) -> RankedRun:
    table = load_run_columns(store, row["id"])
    gates = dict.fromkeys(table.layers, DEFAULT_LAYER_GATE) | table.frame.list_layer_gates(table.layers)
    ranking = rank_run_samples(table, gates, store.rows.list_positions(row["id"]))
    return RankedRun(ranking, "personal" in table.frame.guards)


def _load_sample_texts(ranked: RankedSample, row: Row, *, masks: bool) -> ListedSample:
    content: Any = {"id": ranked.id, **json.loads(row["content"])}
    if masks:
        content = mask_data(content, build_personal_text_mask([content.get("input") or ""]))
    known = {one.name: getattr(ranked, one.name) for one in fields(ranked)}
    asked = content.get("input") or content.get("messages")
    return ListedSample(**{**known, "id": content["id"]}, asked=asked, tags=tuple(content.get("tags") or ()))


@with_opened_user_store
def load_run_sample_row(store: Store, run: str, id: str) -> int:
    """The position of the sample of an id."""
    position = store.rows.find_sample_position(store.find_run(run)["id"], id)
    if position is None:
        raise StoreError(Fault(f"no sample {id!r} is in this run", "look for it in the list of its samples"))
    return position


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleNeighbours:
    """Where a sample stands among all in an order, and which come before and after it."""

    place: int
    total: int
    before: int | None
    after: int | None


@with_opened_user_store
def load_sample_neighbours(store: Store, run: str, position: int, order: SampleOrder = "attention") -> SampleNeighbours:
    """The samples beside one in an order; by default that in which they deserve a look."""
    ranked = RANKED_RUNS.find_ranked_run(store, store.find_run(run))
    positions = ranked.ranking.list_positions(order)
    place = positions.index(position)
    before = positions[place - 1] if place else None
    after = positions[place + 1] if place + 1 < len(positions) else None
    return SampleNeighbours(place=place + 1, total=len(positions), before=before, after=after)


@with_opened_user_store
def load_run_sample(store: Store, run: str, position: int) -> tuple[Json, Json]:
    """The head of a run and one of its samples, as a report has them: personal data masked where the run says so."""
    row = store.find_run(run)
    head, _ = load_run_report(store, row["id"])
    sample = load_report_sample(store, row, head, position)
    if sample is None:
        raise StoreError(Fault(f"no sample has the place {position} in run {row['id']}", "go to the list of samples"))
    return head, sample


MOST_MOVED_SAMPLES = 12


def load_moved_samples(found: CompareResult, most: int = MOST_MOVED_SAMPLES) -> dict[str, list[SampleMoveBetweenRuns]]:
    """For each treatment, by its name, the samples that differ most from the control."""
    sides = (found.control, *found.treatments)
    if len(sides) < 2:
        return {}
    pairs = join_run_result_rows([side.member for side in sides])
    return {side.name: find_samples_moved_between_runs(pairs, place, most) for place, side in enumerate(sides) if place}
