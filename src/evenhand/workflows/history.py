"""The history of a subject: each variant through the runs of its eval, and where the scale changed under it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from evenhand.errors import Fault, InputError, suggest_close_word_in_error
from evenhand.runs.run_record import PastEvaluation, evaluate_variant_in_run_records
from evenhand.store.store import Store
from evenhand.wording import round_number_for_json
from evenhand.workflows.stores import with_opened_user_store

HistoryOrder = Literal["oldest", "composite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One variant in one run; `changed` where its fingerprint is another than that of the run before.

    `trend` is how far the composite moved since that run; None where the two cannot be compared.
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
            "consistency": str(one.consistency),
            "strayed": [entry.criterion for entry in one.consistency.strayed],
            "earlier": {
                entry.criterion: {"mean": float(entry.mean), "sd": round_number_for_json(float(entry.sd)), "n": entry.n}
                for entry in one.consistency.measured
            },
        }


@with_opened_user_store
def load_subject_history(store: Store, subject: str, *, sort: HistoryOrder = "oldest") -> list[HistoryEntry]:
    """The finished runs of an eval by variant, oldest first or by composite; a subject may also be NAME/VARIANT."""
    runs = store.list_runs(subject)
    if runs:
        summaries = [json.loads(run["summary"]) for run in reversed(runs) if run["summary"] is not None]
        variants = dict.fromkeys(one["name"] for summary in summaries for one in summary["variants"])
        found = [line for variant in variants for line in _list_variant_history_entries(runs, variant)]
    else:
        name, slash, variant = subject.rpartition("/")
        found = _list_variant_history_entries(store.list_runs(name), variant) if slash else []
    if not found:
        names = list(dict.fromkeys(row["name"] for row in store.list_runs()))
        hint = suggest_close_word_in_error(subject, names) or f"known: {', '.join(names[:10])}"
        raise InputError(Fault(f"no finished run of {subject!r} is here", hint))
    if sort == "composite":  # Variants stay together, in their order, and in each the runs that can be compared.
        groups: dict[str, dict[tuple[object, ...], list[HistoryEntry]]] = {line.variant: {} for line in found}
        for line in sorted(found, key=lambda line: -_history_composite_rank(line.evaluation.composite)):
            groups[line.variant].setdefault(line.comparable_group, []).append(line)
        found = [line for own in groups.values() for several in own.values() for line in several]
    return found


def _history_composite_rank(composite: float | None) -> float:
    return -inf if composite is None else composite


def _list_variant_history_entries(runs: list[dict[str, Any]], variant: str) -> list[HistoryEntry]:
    lines: list[HistoryEntry] = []
    for one in evaluate_variant_in_run_records(runs, variant):
        ours = [line.evaluation for line in lines if not line.evaluation.imported]  # Nothing is held against a guest.
        before = ours[-1] if ours else one
        changed = one.fingerprint != before.fingerprint
        trend = None
        if ours and not changed and one.layers == before.layers:
            trend = _history_composite_trend(one.composite, before.composite)
        lines.append(HistoryEntry(variant=variant, evaluation=one, changed=changed, trend=trend))
    return lines


def _history_composite_trend(now: float | None, before: float | None) -> float | None:
    return None if now is None or before is None else round_number_for_json(now - before)
