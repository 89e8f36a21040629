"""History by name: the variants of an eval through its runs, trends of every eval, and the evaluations of a subject."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import inf
from typing import Any, Literal

from evenhand.errors import Fault, InputError, StoreError, suggest_close_word_in_error
from evenhand.runs.run_record import PastEvaluation, evaluate_variant_in_run_records
from evenhand.runs.tally import VERDICT_NUMBERS
from evenhand.scoring.scores_json import score_consistency_to_json
from evenhand.store.database import NO_HISTORY
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import round_number_for_json
from evenhand.workflows.runs import UserRunListing, load_run_listing
from evenhand.workflows.stores import StoreLike, open_user_store, with_opened_user_store
from evenhand.workflows.subjects import EVAL_PREFIX, SUBJECT_PREFIX, SubjectEvaluation, load_subject_evaluations

HistoryOrder = Literal["oldest", "composite"]
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One variant in one run; `changed` where its fingerprint is another than that of the run before.

    `trend` is how far the composite moved since the last run of the same choice of samples; None where the two cannot
    be compared.
    """

    variant: str
    evaluation: PastEvaluation
    changed: bool
    trend: float | None = None

    @property
    def comparable_group(self) -> tuple[object, ...]:
        """Equal for runs whose composites can be ranked."""
        one = self.evaluation
        return one.fingerprint, one.layers, json.dumps(one.selection, sort_keys=True)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        one = self.evaluation
        return {
            "run": one.run,
            "ended": one.ended,
            "variant": self.variant,
            "fingerprint": one.fingerprint,
            "fingerprint_changed": self.changed,
            "selection": one.selection,
            "score": one.score,
            "composite": one.composite,
            "layers": list(one.layers),
            "computed": one.computed,
            "trend": self.trend,
            "criteria": {id: float(value) for id, value in one.criteria.items()},
            "asked": one.asked,
            "same_as": one.same_as,
            "imported": one.imported,
            **score_consistency_to_json(one.consistency),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedHistory:
    """What a name stands for: an eval with its runs by variant, or a subject with its evaluations; one is empty."""

    runs: tuple[HistoryEntry, ...] = ()
    evaluations: tuple[SubjectEvaluation, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """As plain data, one entry for each."""
        return [one.to_json() for one in self.runs] or [one.to_json() for one in self.evaluations]


def load_history(store: StoreLike, name: str, *, sort: HistoryOrder = "oldest") -> LoadedHistory:
    """The runs of an eval (NAME or NAME/VARIANT) or the evaluations of a subject; `eval:` or `subject:` says which."""
    with open_user_store(store, empty=NO_HISTORY) as opened:
        found = _find_named_history(opened, name)
        if not found.runs and not found.evaluations:
            known = list(dict.fromkeys(one.name for one in _list_stored_histories(opened)))
            hint = suggest_close_word_in_error(name, known) or (f"known: {', '.join(known[:10])}" if known else "")
            raise InputError(Fault(f"no finished run and no evaluation of {name!r} is here", hint))
    if sort == "composite":
        return LoadedHistory(
            runs=tuple(_sort_history_by_composite(found.runs)),
            evaluations=tuple(_sort_history_by_score(found.evaluations)),
        )
    return found


def _find_named_history(store: Store, name: str) -> LoadedHistory:
    """What is there under a name as it stands, else under what follows its prefix."""
    runs, evaluations = _list_eval_history_entries(store, name), load_subject_evaluations(store, name)
    if runs and evaluations:
        hint = f"name {EVAL_PREFIX}{name} or {SUBJECT_PREFIX}{name}"
        raise InputError(Fault(f"both an eval and a subject are called {name!r}", hint))
    if not runs and name.startswith(EVAL_PREFIX):
        runs = _list_eval_history_entries(store, name.removeprefix(EVAL_PREFIX))
    if not runs and name.startswith(SUBJECT_PREFIX):
        evaluations = load_subject_evaluations(store, name.removeprefix(SUBJECT_PREFIX))
    return LoadedHistory(runs=tuple(runs), evaluations=tuple(evaluations))


def _list_eval_history_entries(store: Store, name: str) -> list[HistoryEntry]:
    """By variant, oldest first."""
    runs = store.list_runs(name)
    if runs:
        summaries = [json.loads(run["summary"]) for run in reversed(runs) if run["summary"] is not None]
        variants = dict.fromkeys(one["name"] for summary in summaries for one in summary["variants"])
        return [line for variant in variants for line in _list_variant_history_entries(runs, variant)]
    eval_name, slash, variant = name.rpartition("/")
    return _list_variant_history_entries(store.list_runs(eval_name), variant) if slash else []


def _sort_history_by_composite(found: Sequence[HistoryEntry]) -> list[HistoryEntry]:
    """Variants stay together, in their order, and in each the runs that can be compared."""
    groups: dict[str, dict[tuple[object, ...], list[HistoryEntry]]] = {line.variant: {} for line in found}
    for line in sorted(found, key=lambda line: -_history_composite_rank(line.evaluation.composite)):
        groups[line.variant].setdefault(line.comparable_group, []).append(line)
    return [line for own in groups.values() for several in own.values() for line in several]


def _sort_history_by_score(found: Sequence[SubjectEvaluation]) -> list[SubjectEvaluation]:
    """Evaluations that can be compared stay together."""
    groups: dict[str, list[SubjectEvaluation]] = {}
    for one in sorted(found, key=lambda one: -_history_composite_rank(one.scorecard["score"])):
        groups.setdefault(one.fingerprint, []).append(one)
    return [one for own in groups.values() for one in own]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryListing:
    """A name that has a history; score, grade and verdict are those of a subject's latest evaluation.

    Runs of an eval that were imported are counted apart: they are none of its evaluations, and never the latest.
    """

    kind: Literal["eval", "subject"]
    name: str
    evaluations: int
    latest: str
    score: float | None = None
    grade: str | None = None
    verdict: str | None = None
    imported: int = 0

    def to_json(self) -> Json:
        """As plain data; what was imported only where something was."""
        return {name: value for name, value in asdict(self).items() if name != "imported" or value}


def list_histories(store: StoreLike) -> list[HistoryListing]:
    """Every eval with finished runs and every subject, by name."""
    with open_user_store(store, empty=NO_HISTORY) as opened:
        return _list_stored_histories(opened)


def _list_stored_histories(store: Store) -> list[HistoryListing]:
    ended: dict[str, list[str]] = {}
    guests: Counter[str] = Counter()
    for run in store.list_runs():
        if run["state"] == "finished":
            own = [run["ended"]] if run["imported"] is None else []
            ended.setdefault(run["name"], []).extend(own)
            guests[run["name"]] += not own
    found = [
        HistoryListing(
            kind="eval", name=name, evaluations=len(times), latest=max(times, default=""), imported=guests[name]
        )
        for name, times in ended.items()
    ]
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in store.evaluations.list_evaluations():
        rows.setdefault(row["subject"], []).append(row)
    for name, own in rows.items():
        card = json.loads(own[-1]["content"])["scorecard"]
        latest = {key: card[key] for key in ("score", "grade", "verdict")}
        found.append(HistoryListing(kind="subject", name=name, evaluations=len(own), latest=own[-1]["at"], **latest))
    return sorted(found, key=lambda one: (one.name, one.kind))


def _history_composite_rank(composite: float | None) -> float:
    return -inf if composite is None else composite


def _list_variant_history_entries(runs: list[dict[str, Any]], variant: str) -> list[HistoryEntry]:
    lines: list[HistoryEntry] = []
    for one in evaluate_variant_in_run_records(runs, variant):
        ours = [line.evaluation for line in lines if not line.evaluation.imported]  # Nothing is held against a guest.
        before = ours[-1] if ours else one
        changed = one.fingerprint != before.fingerprint
        trend = None
        alike = [line for line in ours if line.selection == one.selection]  # A part is not compared with the whole.
        if alike and (one.fingerprint, one.layers) == (alike[-1].fingerprint, alike[-1].layers):
            trend = _history_composite_trend(one.composite, alike[-1].composite)
        lines.append(HistoryEntry(variant=variant, evaluation=one, changed=changed, trend=trend))
    return lines


def _history_composite_trend(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else round_number_for_json(now - before)


MOST_TREND_RUNS = 30  # Of one eval, the newest, where several are listed.
MOST_LISTED_RUNS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One variant in one finished run; `changed` where its fingerprint is another than that of the run before."""

    run: str
    ended: str
    variant: str
    role: str
    composite: float | None
    layers: Mapping[str, float | None]
    pass_rate: float | None  # Of the outputs that have a verdict.
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTrend:
    """An eval: its newest runs, the newest first, the points of those that are finished, the oldest first.

    Runs that were imported are listed, and marked there; neither points nor the verdict are theirs.
    """

    name: str
    total: int  # Runs in the store.
    runs: tuple[UserRunListing, ...]
    points: tuple[TrendPoint, ...]
    verdict: str | None  # Of the newest finished run that was made here.
    headline: str
    best: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTrendPage:
    """Some of the evals that were found."""

    evals: tuple[EvalTrend, ...]
    found: int
    known: int  # Evals in the store.


@with_opened_user_store
def list_eval_trends(
    store: Store, *, search: str = "", verdict: str = "", skip: int = 0, most: int = 10
) -> EvalTrendPage:
    """Evals whose name or one of whose run ids has the words, and whose last verdict is that one; newest run first."""
    ids: dict[str, list[str]] = {}
    for head in store.rows.list_run_heads():
        ids.setdefault(head["name"], []).append(head["id"])
    words = search.casefold().split()
    named = [name for name, own in ids.items() if _has_history_all_words(words, name, own)]
    if verdict:
        decided = {
            name: _find_last_decision_in_history(store.rows.list_eval_runs(name, MOST_TREND_RUNS)) for name in named
        }
        named = [name for name in named if decided[name] and decided[name]["verdict"] == verdict]
    evals = tuple(
        _load_history_trend(store, name, len(ids[name]), MOST_TREND_RUNS) for name in named[skip : skip + most]
    )
    return EvalTrendPage(evals=evals, found=len(named), known=len(ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A finished run, as a choice among others."""

    id: str
    name: str
    started: str
    imported: bool = False  # Whether it was made elsewhere.


@with_opened_user_store
def list_finished_runs_in_history(store: Store, most: int = 100) -> list[FinishedRun]:
    """The newest finished runs of all evals."""
    heads = [one for one in store.rows.list_run_heads() if one["state"] == "finished"]
    return [
        FinishedRun(id=one["id"], name=one["name"], started=one["started"], imported=one["imported"] is not None)
        for one in heads[:most]
    ]


def _has_history_all_words(words: Sequence[str], name: str, ids: Sequence[str]) -> bool:
    told = name.casefold()
    return all(word in told or any(id.startswith(word) for id in ids) for word in words)


@with_opened_user_store
def load_eval_history_trend(store: Store, name: str) -> EvalTrend:
    """One eval with all of its runs, up to a few hundred."""
    found = _load_history_trend(store, name, 0, MOST_LISTED_RUNS)
    if not found.runs:
        raise StoreError(Fault(f"no run of {name!r} is stored", "go to the list of runs"))
    return replace(found, total=len(found.runs))


def _load_history_trend(store: Store, name: str, total: int, most: int) -> EvalTrend:
    rows = store.rows.list_eval_runs(name, most)
    listed = [load_run_listing(row, held=row["state"] == "running" and store.is_run_held(row)) for row in rows]
    decision = _find_last_decision_in_history(rows) or {}
    return EvalTrend(
        name=name,
        total=total,
        runs=tuple(listed),
        points=tuple(_list_history_trend_points(reversed(rows))),
        verdict=decision.get("verdict"),
        headline=decision.get("headline", ""),
        best=decision.get("best"),
    )


def _find_last_decision_in_history(rows: Sequence[Row]) -> Json:
    """What the newest finished run of ours decided; nothing where none is finished."""
    own = (row for row in rows if row["imported"] is None)
    kept = next((row["summary"] for row in own if row["state"] == "finished" and row["summary"]), None)
    decision: Json = json.loads(kept)["decision"] if kept else {}
    return decision


def _list_history_trend_points(rows: Iterator[Row]) -> Iterator[TrendPoint]:
    before = None
    for row in rows:
        if row["state"] != "finished" or not row["summary"] or row["imported"] is not None:
            continue
        changed = before is not None and row["fingerprint"] != before
        before = row["fingerprint"]
        for one in json.loads(row["summary"])["variants"]:
            yield TrendPoint(
                run=row["id"],
                ended=row["ended"],
                variant=one["name"],
                role=one["role"],
                composite=_find_mean_in_history(one["composite"]),
                layers={name: _find_mean_in_history(layer) for name, layer in one["layers"].items()},
                pass_rate=_find_pass_rate_in_history(one.get("verdicts") or {}),
                changed=changed,
            )


def _find_pass_rate_in_history(verdicts: Mapping[str, int]) -> float | None:
    """None where the method gives no verdict: that an output is incomplete is none."""
    if not any(verdicts.get(word) for word in VERDICT_NUMBERS):
        return None
    return verdicts.get("pass", 0) / sum(verdicts.values())


def _find_mean_in_history(estimate: Json | None) -> float | None:
    return None if estimate is None else estimate["mean"]
