"""History by name: the variants of an eval through its runs, the evaluations of a subject, and what has a history."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from evenhand.errors import Fault, InputError, suggest_close_word_in_error
from evenhand.runs.run_record import PastEvaluation, evaluate_variant_in_run_records
from evenhand.scoring.scores_json import score_consistency_to_json
from evenhand.store.database import NO_HISTORY
from evenhand.store.store import Store
from evenhand.wording import round_number_for_json
from evenhand.workflows.stores import StoreLike, open_user_store
from evenhand.workflows.subjects import EVAL_PREFIX, SUBJECT_PREFIX, SubjectEvaluation, load_subject_evaluations

HistoryOrder = Literal["oldest", "composite"]


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
    """A name that has a history; score, grade and verdict are those of a subject's latest evaluation."""

    kind: Literal["eval", "subject"]
    name: str
    evaluations: int
    latest: str
    score: float | None = None
    grade: str | None = None
    verdict: str | None = None


def list_histories(store: StoreLike) -> list[HistoryListing]:
    """Every eval with finished runs and every subject, by name."""
    with open_user_store(store, empty=NO_HISTORY) as opened:
        return _list_stored_histories(opened)


def _list_stored_histories(store: Store) -> list[HistoryListing]:
    ended: dict[str, list[str]] = {}
    for run in store.list_runs():
        if run["state"] == "finished":
            ended.setdefault(run["name"], []).append(run["ended"])
    found = [
        HistoryListing(kind="eval", name=name, evaluations=len(times), latest=max(times))
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
