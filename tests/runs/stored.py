"""Runs written straight into a store, as a run of an eval would leave them; a test names only what it is about."""

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from evenhand.runs.run_record import SNAPSHOT_JSON, RunEvalRecord
from evenhand.store.rows import RowBatch, to_stored_json
from evenhand.store.store import Store
from evenhand.workflows.report import load_user_report_head

Row = dict[str, Any]
Scores = Sequence[float | None]
HOW = {"refuse": False, "seed": 0}


def frame(variants: Iterable[str], **changes: Any) -> RunEvalRecord:
    names = list(variants)
    plain: Row = {
        "name": "desk", "control": names[0], "variants": dict.fromkeys(names, ""), "judges": (), "guards": (),
        "rubrics": (), "assertions": (), "gates": {"pass_rate": Fraction(0)}, "smallest_effect": Fraction(1, 2),
        "repeats": 1, "seed": 0, "fingerprints": {},
    }  # fmt: skip
    return RunEvalRecord(**{**plain, **changes})


def setup(of: RunEvalRecord, **changes: Any) -> Row:
    kept = {
        "frame": SNAPSHOT_JSON.to_json(of),
        "evenhand": "0",
        "python": "3",
        "variants": {},
        "rubrics": {},
        "assertions": [],
    }
    return {**kept, "judges": [], "prompts": {}, "how": HOW, **changes}


def content(**changes: Any) -> Row:
    """What is kept of one output: no judge was asked, and nothing was found."""
    return {
        "why": "", "cluster": None, "rubric": None, "layers": {}, "criteria": {}, "findings": [], "assertions": [],
        "output": {"text": "x", "latency_ms": None, "cost": None}, "scorecard": None, "judgments": [], "seats": {},
        "decided_by": None, "unsafe": None, "composite_steps": [], "suggestions": [], "calls": [], **changes,
    }  # fmt: skip


def result(position: int, variant: str, composite: float | None, repeat: int = 0, **changes: Any) -> Row:
    """A result whose layers, unless said otherwise, are the one that rules fill."""
    text = None if composite is None else str(Fraction(composite).limit_denominator(1000))
    kept = content(**{"layers": {"fact": text}, **changes})
    return {
        "position": position, "variant": variant, "repeat": repeat, "key": "k", "subject": "s", "at": "2026-11-16",
        "state": "incomplete" if composite is None else "scored", "score": None, "composite": text, "number": composite,
        "content": json.dumps(kept),
    }  # fmt: skip


def sample(position: int, id: str | None = None, **changes: Any) -> Row:
    name = f"s{position}" if id is None else id
    return {
        "position": position,
        "id": name,
        "content": to_stored_json({"id": name, "input": f"What is {name}?", **changes}),
    }


def keep_run(
    store: Store,
    id: str,
    scores: Mapping[str, Scores],
    *,
    samples: Sequence[Row] | None = None,
    results: Sequence[Row] | None = None,
    state: str = "finished",
    fingerprint: str = "f",
    setup_changes: Mapping[str, Any] | None = None,
    **frame_changes: Any,
) -> str:
    """A run of these composites by variant, one to a sample; `results` replace them where a test says more."""
    told = setup(frame(scores, **frame_changes), **(setup_changes or {}))
    row = {
        "id": id, "name": told["frame"]["name"], "digest": id, "state": "running", "ended": None,
        "started": "2026-11-16T09:00:00+00:00", "seed": 0, "fingerprint": fingerprint, "keep": "raw",
        "source": "", "setup": to_stored_json(told), "summary": None, "taken_from": None, "holder": None,
        "imported": None,
    }  # fmt: skip
    made = results or [result(at, name, one) for name, row in scores.items() for at, one in enumerate(row)]
    count = max((one["position"] for one in made), default=-1) + 1
    store.begin_run(row)
    rows = [{**one, "run": id} for one in samples or [sample(at) for at in range(count)]]
    store.write_rows(RowBatch(samples=rows, results=[{**one, "run": id} for one in made]))
    head = load_user_report_head(store, {**row, "state": state, "ended": "2026-11-16T09:01:00+00:00"})
    store.release_run(id, state, "2026-11-16T09:01:00+00:00", to_stored_json(head))
    return id
