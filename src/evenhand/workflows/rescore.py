"""Rescore a run: a new run from an old one, its results scored by another rubric, and no judge is asked."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import groupby, islice
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.scale import CriterionScore, Missing, Scored
from evenhand.model.scorecard import Scorecard
from evenhand.report.report_data import mask_report_head
from evenhand.runs.kept_texts import has_run_output_text
from evenhand.runs.results import (
    compose_result_score,
    list_run_result_layers,
    note_cascade_path_in_result_row,
    note_result_open_gates,
)
from evenhand.runs.run_record import (
    SNAPSHOT_JSON,
    find_run_rubric_key,
    make_run_record_id,
    read_run_eval_record,
    run_rubric_snapshot_json,
)
from evenhand.runs.stored_judgments import (
    RunRubric,
    find_run_rubric_for_tag,
    refuse_criteria_without_run_judgments,
    rescore_cheap_judge,
    rescore_result_rows,
)
from evenhand.scoring.scores import compute_fingerprint, to_scoring_fingerprint_data
from evenhand.scoring.scores_json import scorecard_to_json
from evenhand.store.rows import Row, RowBatch, to_stored_json
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction, spell_exact_fraction
from evenhand.workflows.report import load_run_report, load_user_report_head
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]
LayerWeights = Mapping[str, Fraction]
RESCORED_ROWS_PER_BATCH = 500  # Rows per transaction.


@with_opened_user_store
def rescore_run(store: Store, run: str, rubric: str, tag: str = "") -> Json:
    """The head of a new run: the judgments of an old one under another rubric, for the samples that `tag`'s was for."""
    new = override_rubric_file_fields(load_rubric(rubric), os.environ)
    old = store.find_run(run)
    if old["state"] != "finished":
        hint = "continue it first: evenhand run EVAL --resume"
        raise InputError(Fault(f"run {old['id']} is not finished ({old['state']}): it cannot be scored anew", hint))
    asked = find_run_rubric_for_tag(json.loads(old["setup"]), tag)
    refuse_criteria_without_run_judgments(new, asked)
    row = _rescored_run_row(old, new, asked.tag)
    hold = store.begin_run(row)
    with store.beat_for_run(hold):
        for batch in _rescored_run_batches(store, old, row, new, asked):
            store.write_rows(batch, hold=hold)
        ended = datetime.now(UTC).isoformat(timespec="milliseconds")
        head = load_user_report_head(store, {**row, "state": "finished", "ended": ended})
        store.release_run(row["id"], "finished", ended, to_stored_json(head), hold=hold)
    return load_run_report(store, row["id"])[0] if row["imported"] else mask_report_head(head)


def _rescored_run_row(old: Row, rubric: Rubric, tag: str) -> Row:
    """The new run. `rubrics` of its setup stay those by which the judges were asked; `scored_by` gave the scores."""
    setup = json.loads(old["setup"])
    frame = read_run_eval_record(setup["frame"])
    mark = compute_fingerprint(rubric, judges=[{"rescored": old["fingerprint"], "tag": tag}])
    renewed = replace(
        frame,
        rubrics=tuple(
            run_rubric_snapshot_json(tag, rubric) if find_run_rubric_key(one) == tag else one for one in frame.rubrics
        ),
        fingerprints={**frame.fingerprints, tag: mark},
    )
    began = datetime.now(UTC)
    scored_by = {**setup.get("scored_by", {}), tag: to_scoring_fingerprint_data(rubric)}
    setup |= {"frame": SNAPSHOT_JSON.to_json(renewed), "rescored_from": old["id"], "scored_by": scored_by}
    return {
        **old,
        "id": make_run_record_id(began),
        "digest": f"rescored {old['digest']} {mark}",
        "state": "running",
        "started": began.isoformat(timespec="milliseconds"),
        "ended": None,
        "summary": None,
        "fingerprint": mark,
        "setup": to_stored_json(setup),
        "taken_from": old["id"],
        "holder": name_lock_process(),
    }


def _rescored_run_batches(store: Store, old: Row, new: Row, rubric: Rubric, asked: RunRubric) -> Iterator[RowBatch]:
    """All that belongs to the old run, its results scored anew."""
    run = {"run": new["id"]}
    weights = read_run_eval_record(json.loads(new["setup"])["frame"]).composite.weights
    tags: dict[int, Sequence[str]] = {}
    for rows in _batch_rows_to_rescore(store.samples(old["id"])):
        tags |= {row["position"]: json.loads(row["content"]).get("tags", ()) for row in rows}
        yield RowBatch(samples=[{**row, **run} for row in rows])
    for rows in _batch_rows_to_rescore(store.calls(old["id"])):
        yield RowBatch(calls=[{**row, **run, "cost": None, "cached_from": old["id"]} for row in rows])
    for position, rows_of_sample in groupby(store.results(old["id"]), key=lambda row: row["position"]):
        rows = list(rows_of_sample)
        if asked.covers(tags[position], json.loads(rows[0]["content"]).get("own_rubric")):
            by_repeat: dict[int, list[Row]] = {}
            for row in rows:
                by_repeat.setdefault(row["repeat"], []).append(row)
            rows = [
                one
                for repeat in by_repeat.values()
                for one in _rescored_sample_result_rows(rubric, asked, repeat, weights)
            ]
        yield RowBatch(results=[{**row, **run} for row in rows])


def _batch_rows_to_rescore(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, RESCORED_ROWS_PER_BATCH)):
        yield part


def _rescored_sample_result_rows(
    rubric: Rubric, asked: RunRubric, rows: Sequence[Row], weights: LayerWeights
) -> Iterator[Row]:
    """The results of one sample and repeat; where variants are judged side by side, they are scored together."""
    contents = {row["variant"]: json.loads(row["content"]) for row in rows}
    shown = {name: one for name, one in contents.items() if has_run_output_text(one)}
    parts = [shown] if rubric.method.dialogue == "listwise" else [{name: one} for name, one in shown.items()]
    cards = {card.id: card for part in parts for card in rescore_result_rows(rubric, asked, part)}
    cheap = rescore_cheap_judge(rubric, asked, {name: one for name, one in shown.items() if one.get("cascade")})
    for name, one in shown.items():
        if path := one.get("cascade"):  # What was passed on stays so, for whatever reason it was.
            told = {"passed_on": path["passed_on"], "by_strong": path["by_strong"]}
            one["cascade"] = note_cascade_path_in_result_row(
                rubric, cheap=cheap.get(name), card=cards.get(name), **told
            )
    for row in rows:
        yield _rescored_result_row(rubric, row, contents[row["variant"]], cards.get(row["variant"]), weights)


def _rescored_result_row(rubric: Rubric, row: Row, content: Json, card: Scorecard | None, weights: LayerWeights) -> Row:
    # It is adjusted anew, and held to the gates of another rubric.
    kept = {name: part for name, part in content.items() if name not in ("unadjusted", "gates_open")}
    kept |= note_result_open_gates(rubric, card)
    if content["output"] is None:
        return {**row, "content": to_stored_json(kept)}
    measured = {layer: _load_layer_score_to_rescore(content, layer) for layer in content["layers"] if layer != "judge"}
    composite = compose_result_score(rubric, row["variant"], measured, card, weights)
    whole = composite.card
    missing = "; ".join(f"{entry.criterion}: {entry.why}" for entry in whole.missing) or "; ".join(whole.notes)
    renewed = {
        **kept,
        "why": "" if whole.exact is not None else missing if card else content["why"],
        "rubric": rubric.name,
        "layers": composite.layers,
        "scorecard": scorecard_to_json(rubric, card) if card else None,
        "composite_steps": composite.steps,
        "unsafe": card.unsafe if card else None,
        "five_layers": list_run_result_layers(content["assertions"], content["criteria"], composite),
    }
    return {
        **row,
        "state": "incomplete" if whole.exact is None else "scored",
        "score": spell_exact_fraction(card.exact if card else None),
        "composite": spell_exact_fraction(whole.exact),
        "number": float(whole.exact) if whole.exact is not None else None,
        "content": to_stored_json(renewed),
    }


def _load_layer_score_to_rescore(content: Json, layer: str) -> CriterionScore:
    """What rules measured: the share that passed, as it was before it was put onto 1 to 5."""
    value = content["layers"][layer]
    if value is not None:
        return Scored((read_kept_fraction(value) - 1) / 4)
    unknown = [one for one in content["assertions"] if one["layer"] == layer and one["passed"] is None]
    why = "; ".join(f"{one['name']} ({one['why_not']})" for one in unknown[:3])
    return Missing("failed", f"not answered: {why}")
