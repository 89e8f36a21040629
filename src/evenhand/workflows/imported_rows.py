"""Rows of an imported run held against each other: what can be computed again must be what the file says."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from evenhand.errors import Fault, StoreError
from evenhand.runs.run_record import RunEvalRecord, read_run_eval_record
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction

Json = dict[str, Any]
LOWEST, HIGHEST = Fraction(1), Fraction(5)


def refuse_imported_contradictions(store: Store, run: Row) -> None:
    """Refuse a run whose samples, results and scores cannot all be true."""
    setup = json.loads(run["setup"])
    frame = read_run_eval_record(setup["frame"])
    ids = {row["position"]: row["id"] for row in store.samples(run["id"])}
    if len(set(ids.values())) != len(ids):
        raise _contradiction("has a sample twice")
    whole = run["state"] == "finished" and setup.get("until_decided") is None
    _refuse_other_sample_count(setup.get("samples"), len(ids), run["state"], whole=whole)
    found = set()
    for row in store.results(run["id"]):
        where = f"sample {ids.get(row['position'], row['position'])!r}, variant {row['variant']!r}"
        if row["position"] not in ids or row["variant"] not in frame.variants or row["repeat"] >= frame.repeats:
            raise _contradiction(f"has a result that belongs to nothing in it ({where})")
        found.add((row["position"], row["variant"], row["repeat"]))
        if why := _find_result_contradiction(row, json.loads(row["content"]), frame):
            raise _contradiction(f"has a result whose {why} ({where})")
    due = len(ids) * len(frame.variants) * frame.repeats
    if whole and len(found) != due:
        raise _contradiction(f"has {len(found)} results of a finished run with {due}")


def _refuse_other_sample_count(told: object, there: int, state: str, *, whole: bool) -> None:
    if type(told) is not int:
        if told is not None or state == "finished":
            raise _contradiction("does not say how many samples its run had")
    elif there > told or (whole and there != told):
        raise _contradiction(f"has {there} samples, and its run is said to have had {told}")


def _find_result_contradiction(row: Row, content: Json, frame: RunEvalRecord) -> str:
    """What in a result does not follow from the rest of it; empty where all does."""
    composite = None if row["composite"] is None else read_kept_fraction(row["composite"])
    if (row["state"] == "scored") != (composite is not None):
        return "state does not fit its composite"
    if composite is not None and row["number"] != float(composite):
        return "number is not its composite"
    shown = {"layers": content["layers"], "composite": row["composite"]}
    plain = content.get("unadjusted") or shown
    if plain is not shown and not frame.composite.needs_all_outputs:
        return "composite was adjusted, and its eval adjusts none"
    for one in (shown, plain):
        if any(not LOWEST <= score <= HIGHEST for score in _read_known_layers(one).values()):
            return "layers are not on 1 to 5"
    known = _read_known_layers(plain)
    if (plain["composite"] is None) != (composite is None) or (composite is not None and not known):
        return "composite does not fit its layers"
    if composite is None:
        return ""
    rubrics = {one["name"]: one for one in frame.rubrics}
    own = (rubrics.get(content["rubric"]) or {}).get("layer_weights") or {}
    given = frame.composite.weights or {name: read_kept_fraction(one) for name, one in own.items()}
    weights = {name: given.get(name, Fraction(1)) for name in known}
    mean = sum((weights[name] * one for name, one in known.items()), Fraction(0)) / sum(weights.values())
    return "composite is not the mean of its layers" if mean != read_kept_fraction(plain["composite"]) else ""


def _read_known_layers(scores: Json) -> dict[str, Fraction]:
    return {name: read_kept_fraction(one) for name, one in scores["layers"].items() if one is not None}


def _contradiction(what: str) -> StoreError:
    return StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))
