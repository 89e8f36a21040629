"""Labels: which outputs to label next, as a file to fill in, and whether a file of labels fits a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.calibrate.labels import (
    LABEL_SCHEMA,
    SCORE_QUESTION,
    VOID_LABEL_SHAPE,
    BoundLabels,
    Label,
    bind_labels_to_outputs,
    find_ambiguous_label_scales,
    list_human_label_questions,
)
from evenhand.calibrate.next_labels import (
    NOTHING_DRAWN,
    ExpectedWidth,
    NextLabels,
    choose_next_labels,
    expect_widths_with_more_labels,
)
from evenhand.calibrate.people_scale import estimate_on_people_scale, list_people_sides
from evenhand.calibrate.trust import TrustGate
from evenhand.errors import Fault, InputError, make_unwritable_file_error, suggest_known_word_in_error
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape
from evenhand.files.private_files import open_private_text_file, require_new_file
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.runs.kept_texts import format_run_output_digest, number_run_output_text
from evenhand.runs.stored_judgments import find_scoring_rubrics
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.people_scale import add_people_scores_to_run, find_run_verdict_gate
from evenhand.workflows.run_labels import LabelSource, load_labels_from_file, load_run_labels
from evenhand.workflows.stores import with_opened_user_store

DEFAULT_NEXT_OUTPUTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class NextOutput:
    """An output to label: its digest, and the texts that a person reads, empty where the run does not keep them."""

    sample: str
    variant: str
    chance: float
    output: str | None
    input: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabelPlan:
    """What to label next, and how far that brings the intervals on people's scale."""

    run: str
    name: str
    labelled: int  # Samples with a label already.
    drawn: NextLabels
    outputs: tuple[NextOutput, ...]
    criteria: tuple[str, ...]
    widths: tuple[ExpectedWidth, ...]
    void: tuple[Label, ...]
    unbound: int
    imported: bool = False  # Whether the run was made elsewhere.


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnOutputs:
    """A draw of outputs to label, with what it was drawn by."""

    table: RunTable
    rubrics: Mapping[str, Any]
    gate: TrustGate | None
    bound: BoundLabels
    drawn: NextLabels
    outputs: tuple[NextOutput, ...]
    criteria: tuple[str, ...]
    positions: Mapping[str, int]  # Of their samples in the run.


@with_opened_user_store
def choose_labels(
    store: Store,
    run: str,
    count: int = DEFAULT_NEXT_OUTPUTS,
    *,
    labels: LabelSource = None,
    criteria: Sequence[str] = (),
    drawn_before: Mapping[str, int] = NOTHING_DRAWN,
) -> NextLabelPlan:
    """Choose about `count` outputs to label, after those that are given or, without any, those kept with the run.

    `criteria` are what to ask, all of them unless some are named; `drawn_before` the samples that are being labelled.
    """
    made = draw_outputs_to_label(store, run, count, labels=labels, criteria=criteria, drawn_before=drawn_before)
    table, bound = made.table, made.bound
    found = add_people_scores_to_run(table, made.rubrics, bound.labels) if bound.labels else None
    estimates = list(estimate_on_people_scale(list_people_sides(table, found, made.gate)))
    return NextLabelPlan(
        run=table.run,
        name=table.frame.name,
        labelled=len({one.sample for one in bound.labels}),
        drawn=made.drawn,
        outputs=made.outputs,
        criteria=made.criteria,
        widths=tuple(expect_widths_with_more_labels(estimates, len(made.drawn.samples))),
        void=bound.void,
        unbound=bound.unbound,
        imported=table.imported,
    )


def draw_outputs_to_label(
    store: Store,
    run: str,
    count: int,
    *,
    labels: LabelSource = None,
    criteria: Sequence[str] = (),
    drawn_before: Mapping[str, int] = NOTHING_DRAWN,
) -> DrawnOutputs:
    """Draw outputs, and no more: how far their labels bring the intervals takes longer than the draw."""
    row = store.find_run(run)
    table, rubrics = load_run_columns(store, row["id"]), find_scoring_rubrics(json.loads(row["setup"]))
    asked = _choose_criteria_to_label(table, criteria)
    bound = bind_labels_to_outputs(table, load_run_labels(store, table, labels))
    gate = find_run_verdict_gate(table, rubrics)
    drawn = choose_next_labels(
        table,
        bound.labels,
        count,
        gate=None if gate is None else gate.least[SCORE_QUESTION],
        span=table.frame.scale or (0.0, 1.0),
        drawn_before=drawn_before,
    )
    rows = store.labelling.find_output_rows(table.run, [one.sample for one in drawn.samples])
    return DrawnOutputs(
        table=table,
        rubrics=rubrics,
        gate=gate,
        bound=bound,
        drawn=drawn,
        outputs=tuple(_load_outputs_to_label(rows, table, drawn)),
        criteria=asked,
        positions={one["id"]: one["position"] for one in reversed(rows)},  # The first, where an id is there twice.
    )


def _choose_criteria_to_label(table: RunTable, named: Sequence[str]) -> tuple[str, ...]:
    known = list_human_label_questions(table)
    unclear = find_ambiguous_label_scales(table.frame.rubrics)
    for name in named:
        if name not in known or name in unclear:
            raise InputError(Fault(f"the run has no criterion {name!r}", suggest_known_word_in_error(name, known)))
    asked = tuple(named) or tuple(id for id in known if id not in (*unclear, SCORE_QUESTION))
    if not asked:
        raise InputError(Fault("no judge was asked in this run", "labels are held against judges: run a rubric"))
    return asked


def _load_outputs_to_label(rows: Sequence[Row], table: RunTable, drawn: NextLabels) -> Iterator[NextOutput]:
    """The first output of each variant, as the run has it."""
    chances = {one.sample: one.chance for one in drawn.samples}
    first: dict[tuple[str, str], Row] = {}
    for row in rows:
        if json.loads(row["content"])["output"] is not None and row["variant"] in table.variants:
            first.setdefault((row["id"], row["variant"]), row)
    places = {key: (row["position"], table.variants.index(key[1])) for key, row in first.items()}
    for sample, variant in sorted(first, key=places.__getitem__):
        row = first[sample, variant]
        content = json.loads(row["content"])
        number = number_run_output_text(content)
        yield NextOutput(
            sample=sample,
            variant=variant,
            chance=chances[sample],
            output=format_run_output_digest(number) if number else None,
            input=load_sample_input_text(json.loads(row["sample"])),
            text=content["output"]["text"],
        )


def load_sample_input_text(sample: Mapping[str, Any]) -> str:
    """What a sample asks, as one text."""
    given = sample.get("input") or sample.get("messages") or ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def write_label_template(plan: NextLabelPlan, target: Path, rater: str = "") -> int:
    """Write a file with a line for each answer that is wanted, and say how many; one that is there is not touched."""
    lines = [json.dumps(line, ensure_ascii=False) for line in _list_labels_template_lines(plan, rater)]
    require_new_file(target, "name another file: labels in it may be filled in")
    try:
        with open_private_text_file(target) as file:
            file.write("\n".join([*lines, ""]))
    except OSError as problem:
        raise make_unwritable_file_error(str(target), problem) from None
    return len(lines)


def _list_labels_template_lines(plan: NextLabelPlan, rater: str) -> Iterator[dict[str, Any]]:
    """The texts stand in the first line of each output."""
    for output in plan.outputs:
        for number, criterion in enumerate(plan.criteria):
            texts = {"input": output.input, "text": output.text} if number == 0 else {}
            yield {
                "sample": output.sample,
                "variant": output.variant,
                "criterion": criterion,
                "rater": rater or None,
                "score": None,
                **({} if output.output is None else {"output": output.output}),
                "batch": plan.drawn.batch,
                "chance": round(output.chance, 6),
                "schema": LABEL_SCHEMA,
                **{name: text for name, text in texts.items() if text},
            }


def next_labels_to_json(plan: NextLabelPlan) -> dict[str, Any]:
    """The stable JSON of it."""
    return LABELS_JSON.to_json(plan)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedLabels:
    """A file of labels held against a run."""

    run: str
    name: str
    labels: int
    raters: tuple[str, ...]
    outputs: int
    batches: int
    void: tuple[Label, ...]
    unbound: int
    imported: bool = False  # Whether the run was made elsewhere.


@with_opened_user_store
def check_labels(store: Store, labels: Path, run: str) -> CheckedLabels:
    """Read a file of labels as a run would take it, and keep nothing."""
    table = load_run_columns(store, store.find_run(run)["id"])
    bound = bind_labels_to_outputs(table, load_labels_from_file(labels, table))
    return CheckedLabels(
        run=table.run,
        name=table.frame.name,
        labels=len(bound.labels),
        raters=tuple(sorted({one.rater for one in bound.labels})),
        outputs=len({(one.sample, one.variant) for one in bound.labels}),
        batches=len({one.batch for one in bound.labels if one.batch is not None}),
        void=bound.void,
        unbound=bound.unbound,
        imported=table.imported,
    )


def checked_labels_to_json(found: CheckedLabels) -> dict[str, Any]:
    """The stable JSON of it."""
    return LABELS_JSON.to_json(found)  # type: ignore[no-any-return]


_ONLY_GUESTS_MARKED = JsonShape(fields={"imported": JsonField(sparse=True)})
LABELS_JSON = Codec(
    shapes={Label: VOID_LABEL_SHAPE, NextLabelPlan: _ONLY_GUESTS_MARKED, CheckedLabels: _ONLY_GUESTS_MARKED}
)
