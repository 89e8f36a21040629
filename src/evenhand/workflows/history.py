"""The history of a subject: each variant through the runs of its eval, and where the scale changed under it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from evenhand.errors import Fault, InputError, suggest_close_word_in_fault
from evenhand.runs.run_record import PastEvaluation, evaluate_run_records
from evenhand.store.store import Store
from evenhand.workflows.stores import with_user_store


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One variant in one run; `changed` where its fingerprint is another than that of the run before."""

    variant: str
    evaluation: PastEvaluation
    changed: bool

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        one = self.evaluation
        return {
            "run": one.run,
            "ended": one.ended,
            "variant": self.variant,
            "fingerprint": one.fingerprint,
            "fingerprint_changed": self.changed,
            "score": one.score,
            "composite": one.composite,
            "criteria": {id: float(value) for id, value in one.criteria.items()},
            "asked": one.asked,
            "same_as": one.same_as,
            "consistency": str(one.consistency),
            "strayed": [entry.criterion for entry in one.consistency.strayed] if one.consistency else [],
        }


@with_user_store
def load_subject_history(store: Store, subject: str) -> list[HistoryEntry]:
    """The finished runs of an eval, oldest first, by variant; a subject may also be NAME/VARIANT."""
    runs = store.list_runs(subject)
    if runs:
        summaries = [json.loads(run["summary"]) for run in reversed(runs) if run["summary"] is not None]
        variants = dict.fromkeys(one["name"] for summary in summaries for one in summary["variants"])
        found = [line for variant in variants for line in _variant_history(runs, variant)]
    else:
        name, slash, variant = subject.rpartition("/")
        found = _variant_history(store.list_runs(name), variant) if slash else []
    if not found:
        names = list(dict.fromkeys(row["name"] for row in store.list_runs()))
        hint = suggest_close_word_in_fault(subject, names) or f"known: {', '.join(names[:10])}"
        raise InputError(Fault(f"no finished run of {subject!r} is here", hint))
    return found


def _variant_history(runs: list[dict[str, Any]], variant: str) -> list[HistoryEntry]:
    lines: list[HistoryEntry] = []
    for one in evaluate_run_records(runs, variant):
        before = lines[-1].evaluation.fingerprint if lines else one.fingerprint
        lines.append(HistoryEntry(variant=variant, evaluation=one, changed=one.fingerprint != before))
    return lines
