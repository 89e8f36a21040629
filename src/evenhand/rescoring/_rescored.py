"""A new run from an old one: all that belongs to it, its results scored anew."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby
from typing import Any

from evenhand.deciding import head_for
from evenhand.errors import Fault, InputError
from evenhand.loading import load_rubric, with_environment
from evenhand.model import CriterionScore, Rubric, Scorecard, Scored, Unscored
from evenhand.rescoring._asked import Asked, asked_in, refuse_what_was_not_asked
from evenhand.rescoring._heard import scorecards
from evenhand.runs import composite, frame_from, layers_on_scale, rubric_json, run_id
from evenhand.runs.store import Batch, Row, Store, compact, this_process
from evenhand.scoring import fingerprint, scorecard_json

Json = dict[str, Any]
AT_ONCE = 500  # Rows per transaction.


def rescored(store: Store, run: str, rubric: str, tag: str = "") -> Json:
    """The head of a new run: the judgments of an old one under another rubric, for the samples that `tag`'s was for."""
    new = with_environment(load_rubric(rubric), os.environ)
    old = store.run(run)
    if old["state"] != "finished":
        hint = "go on with it first: evenhand run EVAL --resume"
        raise InputError(Fault(f"run {old['id']} is not finished ({old['state']}): it cannot be scored anew", hint))
    asked = asked_in(json.loads(old["setup"]), tag)
    refuse_what_was_not_asked(new, asked)
    row = _row(old, new, tag)
    store.begin(row)
    for batch in _batches(store, old, row, new, asked):
        store.write(batch)
    ended = datetime.now(UTC).isoformat(timespec="milliseconds")
    head = head_for(store, {**row, "state": "finished", "ended": ended})
    store.release(row["id"], "finished", ended, compact(head))
    return head


def _row(old: Row, rubric: Rubric, tag: str) -> Row:
    """The new run. `rubrics` of its setup stay those by which the judges were asked."""
    setup = json.loads(old["setup"])
    frame = frame_from(setup["frame"])
    mark = fingerprint(rubric, judges=[{"rescored": old["fingerprint"], "tag": tag}])
    tags = [tag] if tag else []
    renewed = replace(
        frame,
        rubrics=tuple(rubric_json(tag, rubric) if one["tags"] == tags else one for one in frame.rubrics),
        fingerprints={**frame.fingerprints, tag: mark},
    )
    began = datetime.now(UTC)
    setup |= {"frame": renewed.data(), "rescored_from": old["id"]}
    return {
        **old,
        "id": run_id(began),
        "digest": f"rescored {old['digest']} {mark}",
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "summary": None,
        "fingerprint": mark,
        "setup": compact(setup),
        "taken_from": old["id"],
        "holder": this_process(),
    }


def _batches(store: Store, old: Row, new: Row, rubric: Rubric, asked: Asked) -> Iterator[Batch]:
    """All that belongs to the old run, its results scored anew."""
    run = {"run": new["id"]}
    covered = set()
    for rows in _parts(store.samples(old["id"])):
        covered |= {row["position"] for row in rows if asked.covers(json.loads(row["content"]).get("tags", ()))}
        yield Batch(samples=[{**row, **run} for row in rows])
    for rows in _parts(store.calls(old["id"])):
        yield Batch(calls=[{**row, **run, "cost": None, "cached_from": old["id"]} for row in rows])
    for position, rows_of_sample in groupby(store.results(old["id"]), key=lambda row: row["position"]):
        rows = list(rows_of_sample)
        if position in covered:
            rows = [one for repeat in _repeats(rows) for one in _scored(rubric, asked, repeat)]
        yield Batch(results=[{**row, **run} for row in rows])


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    part: list[Row] = []
    for row in rows:
        part.append(row)
        if len(part) == AT_ONCE:
            yield part
            part = []
    if part:
        yield part


def _repeats(rows: Sequence[Row]) -> list[list[Row]]:
    by_repeat: dict[int, list[Row]] = {}
    for row in rows:
        by_repeat.setdefault(row["repeat"], []).append(row)
    return list(by_repeat.values())


def _scored(rubric: Rubric, asked: Asked, rows: Sequence[Row]) -> Iterator[Row]:
    """The results of one sample and repeat; where variants are judged side by side, they are scored together."""
    contents = {row["variant"]: json.loads(row["content"]) for row in rows}
    shown = {name: one for name, one in contents.items() if one["output"] and one["output"]["text"].strip()}
    parts = [shown] if rubric.method.dialogue == "listwise" else [{name: one} for name, one in shown.items()]
    cards = {card.id: card for part in parts for card in scorecards(rubric, asked, part)}
    for row in rows:
        yield _renewed(rubric, row, contents[row["variant"]], cards.get(row["variant"]))


def _renewed(rubric: Rubric, row: Row, content: Json, card: Scorecard | None) -> Row:
    if content["output"] is None:
        return row
    measured = {layer: _layer(content, layer) for layer in content["layers"] if layer != "judge"}
    whole = composite(rubric, row["variant"], measured, card)
    layers = {name: None if value is None else _exact(value) for name, value in layers_on_scale(rubric, whole).items()}
    missing = "; ".join(f"{entry.criterion}: {entry.why}" for entry in whole.missing) or "; ".join(whole.notes)
    renewed = {
        **content,
        "why": "" if whole.exact is not None else missing if card else content["why"],
        "rubric": rubric.name,
        "layers": layers,
        "scorecard": scorecard_json(rubric, card) if card else None,
        "composite_steps": scorecard_json(rubric, whole)["steps"],
        "unsafe": card.unsafe if card else None,
    }
    return {
        **row,
        "state": "incomplete" if whole.exact is None else "scored",
        "score": _exact(card.exact) if card and card.exact is not None else None,
        "composite": _exact(whole.exact) if whole.exact is not None else None,
        "number": float(whole.exact) if whole.exact is not None else None,
        "content": compact(renewed),
    }


def _layer(content: Json, layer: str) -> CriterionScore:
    """What rules measured: the share that passed, as it was before it was put onto 1 to 5."""
    value = content["layers"][layer]
    if value is not None:
        return Scored((Fraction(value) - 1) / 4)
    unknown = [one for one in content["assertions"] if one["layer"] == layer and one["passed"] is None]
    why = "; ".join(f"{one['name']} ({one['why_not']})" for one in unknown[:3])
    return Unscored(f"not answered: {why}")


def _exact(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
