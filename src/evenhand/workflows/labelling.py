"""Labelling on a page: what a person sees next, blind to variant and judge, and each answer stored as it is given."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from evenhand.calibrate.labels import LABEL_SCHEMA, HumanLabelQuestion, Label, find_ambiguous_label_scales
from evenhand.calibrate.next_labels import FIRST_ROUND, QueuedOutputToLabel, order_label_queue
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import name_sample_rubric_criterion
from evenhand.evals.variants.variant import SENT_VARIABLE
from evenhand.guards.personal_data import build_personal_text_mask, mask_personal_data
from evenhand.models.hidden_keys import collect_api_keys_to_hide
from evenhand.runs.run_record import read_run_eval_record
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.wording import format_fraction, read_kept_fraction, spell_exact_fraction
from evenhand.workflows.labels import DEFAULT_NEXT_OUTPUTS, draw_outputs_to_label, load_sample_input_text
from evenhand.workflows.stores import with_opened_user_store

Json = Mapping[str, Any]
LONGEST_RATER_NAME = 80
LONGEST_NOTE = 4000
LEAST_LEVELS = 4  # Steps of a scale with decimals whose whole numbers are answers enough: 1 to 5.
MOST_LEVELS = 11  # Of a scale whose levels have a key each: 0 to 10.
MOST_DRAWN_OUTPUTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedLevel:
    """A level that one key gives."""

    score: str
    name: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabellingQuestion:
    """A criterion as a person answers it; without levels, a number is typed."""

    id: str
    asks: str
    low: Fraction
    high: Fraction
    whole: bool
    levels: tuple[AskedLevel, ...]
    anchors: tuple[tuple[str, str], ...]

    def read_score(self, text: str) -> Fraction:
        """An answer as it was sent; refused where it is not on the scale."""
        try:
            score = Fraction(text.strip())
        except (ValueError, ZeroDivisionError):
            raise InputError(Fault(f"{text[:40]!r} is not a number", "type a number, or c for cannot say")) from None
        asked = HumanLabelQuestion(id=self.id, low=float(self.low), high=float(self.high), whole=self.whole)
        if why := asked.find_score_fault(score):
            raise InputError(Fault(why, asked.scale))
        return score


@dataclass(frozen=True, slots=True, kw_only=True)
class LabellingTask:
    """What one person labels now: the output and its questions, or nothing where the queue is done."""

    run: str
    name: str
    rater: str
    queued: QueuedOutputToLabel | None
    input: Any
    text: str
    questions: tuple[LabellingQuestion, ...]
    done: int
    total: int
    batches: int
    can_undo: bool
    keeps_notes: bool
    seed: int

    def list_keys(self) -> list[tuple[tuple[str, ...], str]]:
        """The keys that answer the questions of this output, and what each says."""
        levels = dict.fromkeys(level for one in self.questions for level in one.levels)
        digits = sorted(level.key for level in levels if level.key == level.score)
        found: list[tuple[tuple[str, ...], str]] = [((digits[0], digits[-1]), "for the score")] if digits else []
        found += [((level.key,), "for ten") for level in levels if level.score == "10"]
        if any(level.key == "y" for level in levels):
            found.append((("y", "n"), "for yes and no"))
        if any(not one.levels for one in self.questions):
            found.append((("Enter",), "after a number that you type"))
        return found


@with_opened_user_store
def open_labelling(store: Store, run: str, rater: str) -> LabellingTask:
    """What comes next for a person; a queue that is not there yet is empty."""
    row = _find_run_to_label(store, run)
    batches, given = load_label_batches(store, row["id"]), store.labelling.list_answers(row["id"], rater)
    queue = load_labelling_queue(batches, rater)
    answered = {(one["batch"], one["place"], one["round"]) for one in given}
    waiting = [one for one in queue if (one.batch, one.place, one.round) not in answered]
    queued = waiting[0] if waiting else None
    shown = _show_output_to_label(store, row, batches, queued) if queued else {"input": "", "text": "", "questions": ()}
    return LabellingTask(
        run=row["id"],
        name=row["name"],
        rater=rater,
        queued=queued,
        done=len(queue) - len(waiting),
        total=len(queue),
        batches=len(batches),
        can_undo=bool(given),
        keeps_notes=row["keep"] != "none",
        seed=batches[-1]["seed"] if batches else row["seed"],
        **shown,
    )


@with_opened_user_store
def draw_batch_to_label(store: Store, run: str, count: int = DEFAULT_NEXT_OUTPUTS, *, after: int | None = None) -> None:
    """Draw outputs to label that nobody has before them; half at random, the rest where it is worth most.

    With `after`, the number of draws that whoever asks has seen: where there are more by now, nothing is drawn.
    """
    row = _find_run_to_label(store, run)
    if not 1 <= count <= MOST_DRAWN_OUTPUTS:
        raise InputError(Fault(f"a draw of {count} is not possible", f"1 to {MOST_DRAWN_OUTPUTS} outputs"))
    batches = load_label_batches(store, row["id"])
    if after is not None and len(batches) > after:
        return
    before = {item["sample"]: one["batch"] for one in batches for item in one["items"]}
    plan = draw_outputs_to_label(store, row["id"], count, drawn_before=before)
    # Two outputs of one sample stand apart, and no place in a draw tells the variant.
    items = [
        {
            "sample": one.sample,
            "position": plan.positions[one.sample],
            "variant": one.variant,
            "output": one.output,
            "chance": one.chance,
        }
        for one in plan.outputs
    ]
    random.Random(f"{plan.drawn.seed}/{plan.drawn.batch}").shuffle(items)
    content = {"seed": plan.drawn.seed, "left": plan.drawn.left, "parts": plan.drawn.parts, "items": items}
    store.labelling.add_batch(
        {"run": row["id"], "batch": plan.drawn.batch, "at": _tell_labelling_time(), "content": to_stored_json(content)}
    )


@with_opened_user_store
def label_queued_output(
    store: Store, run: str, rater: str, key: str, scores: Mapping[str, str], note: str = ""
) -> None:
    """Store a person's answer to an output; a score that is empty is "cannot say". It is written before this returns.

    The second answer to an output is for the person's own consistency: it moves no label.
    """
    row = _find_run_to_label(store, run)
    batches = load_label_batches(store, row["id"])
    queued, item = _find_output_to_label(batches, _check_labelling_rater(rater), key)
    questions = {one.id: one for one in _list_questions_to_label(row, _load_output_to_label(store, row, item))}
    if unknown := [id for id in scores if id not in questions] or [id for id in questions if id not in scores]:
        raise InputError(Fault(f"no answer fits {unknown[0][:60]!r}", "reload the page"))
    read = {id: questions[id].read_score(text) if text.strip() else None for id, text in scores.items()}
    now = _tell_labelling_time()
    told = {
        "scores": {id: spell_exact_fraction(score) for id, score in read.items()},
        "note": _reduce_labelling_note(row, note),
    }
    answer = {
        "run": row["id"],
        "rater": rater,
        "batch": queued.batch,
        "place": queued.place,
        "round": queued.round,
        "sample": item["sample"],
        "variant": item["variant"],
        "at": now,
        "content": to_stored_json(told),
    }
    labels = [
        {**_make_labelling_label(item, queued.batch, rater, id, score).to_stored_row(now), "run": row["id"]}
        for id, score in read.items()
        if score is not None
    ]
    if not store.labelling.write_answer(answer, labels if queued.round == FIRST_ROUND else None):
        what = "This output was labelled in another tab: that answer stays"
        raise InputError(Fault(what, "undo it to answer again"))


def _reduce_labelling_note(row: Row, note: str) -> str:
    """A note as the run keeps texts: keys never, personal data or all of it as its `keep` says."""
    if row["keep"] == "none":
        return ""
    note = collect_api_keys_to_hide(os.environ, SENT_VARIABLE.findall(row["setup"])).remove_keys(note)
    return (mask_personal_data(note) if row["keep"] == "masked" else note)[:LONGEST_NOTE]


@with_opened_user_store
def undo_labelling_answer(store: Store, run: str, rater: str) -> None:
    """Take the newest answer of a person back; the output comes again at its place."""
    row = _find_run_to_label(store, run)
    given = store.labelling.list_answers(row["id"], rater)
    if not given:
        raise InputError(Fault("there is no answer to take back", "label an output first"))
    store.labelling.remove_answer(given[-1], with_labels=given[-1]["round"] == FIRST_ROUND)


def load_label_batches(store: Store, run: str) -> list[dict[str, Any]]:
    """The draws of a run, each with its number, its seed and its outputs."""
    rows = store.labelling.list_batches(run)
    return [{"batch": one["batch"], **json.loads(one["content"])} for one in rows]


def load_labelling_queue(batches: Sequence[Json], rater: str) -> list[QueuedOutputToLabel]:
    """All that a person is to label, draw after draw."""
    return [
        queued
        for one in batches
        for queued in order_label_queue(one["batch"], len(one["items"]), seed=one["seed"], rater=rater)
    ]


def _make_labelling_label(item: Json, batch: int, rater: str, criterion: str, score: Fraction) -> Label:
    return Label(
        sample=item["sample"],
        variant=item["variant"],
        criterion=criterion,
        rater=rater,
        score=score,
        output=item["output"],
        chance=Fraction(round(item["chance"] * 1_000_000), 1_000_000),
        batch=batch,
        schema=LABEL_SCHEMA,
    )


def _find_run_to_label(store: Store, run: str) -> Row:
    row = store.find_run(run)
    if row["state"] == "running":
        raise InputError(Fault("This run is still going", "label it once it is finished"))
    if row["state"] != "finished":
        raise InputError(Fault(f"run {row['id']} is not finished ({row['state']})", "label it once it is finished"))
    return row


def _check_labelling_rater(rater: str) -> str:
    if not rater.strip() or len(rater) > LONGEST_RATER_NAME or not rater.isprintable():
        raise InputError(Fault("who labels?", f"a name of 1 to {LONGEST_RATER_NAME} characters"))
    return rater


def _find_output_to_label(batches: Sequence[Json], rater: str, key: str) -> tuple[QueuedOutputToLabel, Json]:
    queued = next((one for one in load_labelling_queue(batches, rater) if one.key == key), None)
    if queued is None:
        raise InputError(Fault("this output is not in the queue", "reload the page"))
    return queued, next(one["items"][queued.place] for one in batches if one["batch"] == queued.batch)


def _show_output_to_label(
    store: Store, row: Row, batches: Sequence[Json], queued: QueuedOutputToLabel
) -> dict[str, Any]:
    item = next(one["items"][queued.place] for one in batches if one["batch"] == queued.batch)
    content = _load_output_to_label(store, row, item)
    (sample,) = store.rows.list_samples_at(row["id"], [item["position"]])
    given, text = load_sample_input_text(json.loads(sample["content"])), content["output"]["text"]
    if "personal" in read_run_eval_record(json.loads(row["setup"])["frame"]).guards:
        mask = build_personal_text_mask([given, text])
        given, text = mask(given), mask(text)
    return {"input": given, "text": text, "questions": tuple(_list_questions_to_label(row, content))}


def _load_output_to_label(store: Store, row: Row, item: Json) -> Json:
    """The first output of the variant, as the draw took it."""
    rows = store.rows.list_results_at(row["id"], [item["position"]])
    found = [one for one in rows if one["variant"] == item["variant"]]
    contents: list[Json] = [json.loads(one["content"]) for one in found]
    return next(one for one in contents if one["output"] is not None)


def _list_questions_to_label(row: Row, content: Json) -> Iterator[LabellingQuestion]:
    """The criteria that judges were asked about an output, as its rubric has them."""
    setup = json.loads(row["setup"])
    unclear = find_ambiguous_label_scales(setup["frame"]["rubrics"])
    leaves = {
        name_sample_rubric_criterion(key, leaf["id"]): leaf
        for key, rubric in setup["rubrics"].items()
        for leaf in _list_criteria_to_label(rubric["criteria"])
    }
    for id in content["criteria"]:
        if id in leaves and id not in unclear:
            yield _make_labelling_question(id, leaves[id])


def _list_criteria_to_label(criteria: Sequence[Json]) -> Iterator[Json]:
    for one in criteria:
        yield from _list_criteria_to_label(one["children"]) if one["children"] else [one]


def _make_labelling_question(id: str, leaf: Json) -> LabellingQuestion:
    scale = leaf["scale"]
    low, high = read_kept_fraction(scale["min"]), read_kept_fraction(scale["max"])
    return LabellingQuestion(
        id=id,
        asks=leaf["asks"],
        low=low,
        high=high,
        whole=bool(scale["integers"] or scale["yes_no"] or scale["bands"]),
        levels=tuple(_list_levels_to_label(low, high, whole=scale["integers"], yes_no=scale["yes_no"])),
        anchors=tuple((_name_anchor_to_label(one, yes_no=scale["yes_no"]), one["text"]) for one in leaf["anchors"]),
    )


def _list_levels_to_label(low: Fraction, high: Fraction, *, whole: bool, yes_no: bool) -> Iterator[AskedLevel]:
    """Whole numbers by their digits; ten has the key 0, or t where 0 is a level too.

    Nothing where a number is typed: on a long scale, and on a short one that has more answers than its whole numbers.
    """
    if yes_no:
        yield AskedLevel(score="1", name="yes", key="y")
        yield AskedLevel(score="0", name="no", key="n")
        return
    if not whole and high - low < LEAST_LEVELS:
        return
    if low.denominator > 1 or high.denominator > 1 or high - low >= MOST_LEVELS or low < 0 or high > 10:
        return
    for level in range(int(low), int(high) + 1):
        yield AskedLevel(score=str(level), name=str(level), key=str(level) if level < 10 else "0" if low > 0 else "t")


def _name_anchor_to_label(anchor: Json, *, yes_no: bool) -> str:
    low, high = read_kept_fraction(anchor["min"]), read_kept_fraction(anchor["max"])
    if yes_no:
        return "yes" if low else "no"
    return format_fraction(low) if low == high else f"{format_fraction(low)}–{format_fraction(high)}"


def _tell_labelling_time() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
