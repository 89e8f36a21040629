"""Audit the judges of a stored run."""

from __future__ import annotations

import json
from collections import OrderedDict
from itertools import islice
from threading import Lock
from typing import Any

from evenhand.calibrate.audits.audit import build_judge_audit
from evenhand.calibrate.audits.findings import (
    Audit,
    CalibrationAuditedRun,
    count_audited_judge_answers,
    count_complete_audited_answers,
    drop_capped_audit_scores,
)
from evenhand.runs.columns import load_run_columns
from evenhand.store.store import Store
from evenhand.workflows.report import load_run_report
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]
RESULTS_PEEKED = 200  # Results that are looked at for who made the outputs of a variant.


AUDITS_KEPT = 8  # Of finished runs, which do not change.
_AUDITS: OrderedDict[tuple[str, ...], Audit] = OrderedDict()
_AUDITS_LOCK = Lock()


@with_opened_user_store
def audit_run_once(store: Store, run: str) -> Audit:
    """The audit of a run, kept for whoever asks again; of a run that may still change it is made anew."""
    row = store.find_run(run)
    key = (str(store.address), row["id"], row["ended"] or "")
    if row["state"] != "finished":
        return audit_run(store, row["id"])
    with _AUDITS_LOCK:
        if key not in _AUDITS:
            _AUDITS[key] = audit_run(store, row["id"])
        _AUDITS.move_to_end(key)
        while len(_AUDITS) > AUDITS_KEPT:
            _AUDITS.popitem(last=False)
        return _AUDITS[key]


@with_opened_user_store
def audit_run(store: Store, run: str) -> Audit:
    """The audit of a run's judges; `run` is an id as `Store.run` takes it."""
    row = store.find_run(run)
    table, setup = load_run_columns(store, row["id"]), json.loads(row["setup"])
    head, _ = load_run_report(store, row["id"])
    silent = any(one["kind"] in ("judge", "abstention") for one in head["failures"])
    rubrics = list(setup["rubrics"].values())
    whole = any(one["method"]["holistic"] or one.get("holistic") or one.get("safety_gate") for one in rubrics)
    # The columns tell all of a run in which every judge answered; else its results are gone through once more.
    rows = (row for row in store.results(table.run) if row["variant"] in table.variants)
    heard, holistic, asked, capped = (
        count_audited_judge_answers((json.loads(row["content"]) for row in rows), len(table.score))
        if silent or whole
        else (count_complete_audited_answers(table), {}, {}, [])
    )
    # The model that made each variant: as the eval says, else the author that its outputs name, if it is one.
    known = {name: one["model"] for name, one in setup["variants"].items() if "model" in one}
    authors: dict[str, set[str | None]] = {}
    for one in islice(store.results(table.run), RESULTS_PEEKED if len(known) < len(table.variants) else 0):
        output = json.loads(one["content"])["output"]
        if output is not None:
            authors.setdefault(one["variant"], set()).add(output["author"])
    named = {name: next(iter(found)) for name, found in authors.items() if len(found) == 1}
    audited = CalibrationAuditedRun(
        table=drop_capped_audit_scores(table, capped),
        answer_counts=heard,
        makers={name: by for name, by in {**named, **known}.items() if by and name in table.variants},
        holistic=holistic,
        asked_holistic=asked,
        comparisons=tuple(head["decision"]["comparisons"]),
        position_bias=tuple(head.get("preferences", {}).get("position_bias", ())),
        normalises=any(step.get("normalise") == "z" for one in rubrics for step in one["method"]["steps"]),
    )
    return build_judge_audit(audited)
