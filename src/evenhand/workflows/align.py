"""Align the rubric of a run with people: edits are drafted from some labels, tried on others, and kept if they help."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from evenhand.calibrate.alignment import (
    LEAST_ALIGNED_SAMPLES,
    AlignedRubric,
    DividedSamples,
    conclude_alignment,
    divide_labelled_samples,
    draft_alignment_candidates,
    seed_alignment,
    tabulate_candidate_answers,
)
from evenhand.calibrate.labelled_outputs import collect_labelled_outputs
from evenhand.calibrate.labels import VOID_LABEL_JSON, Label
from evenhand.calibrate.nested_selection import select_rubric_by_nested_cv
from evenhand.calibrate.rubric_edits import RubricEdit, UseCalibrationMap, describe_rubric_edit
from evenhand.errors import Fault, InputError
from evenhand.files.private_files import require_new_file
from evenhand.files.python_functions import add_python_import_folder
from evenhand.files.rubric_writing import write_changed_rubric
from evenhand.files.rubrics import LocatedRubric
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.model.rubric import Rubric
from evenhand.models.connections import Connections
from evenhand.models.shared_limits import SharedLimits
from evenhand.runs.columns import load_run_columns
from evenhand.stats.rates import RateInterval
from evenhand.store.queries import ALIGNING_PREFIX
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import format_p_value, format_percent, format_too_few, pluralize_count
from evenhand.workflows.align_inputs import (
    AlignmentPlan,
    AlignWorkflowAsking,
    list_cases_to_align,
    list_questions_to_align,
    load_labelled_samples,
    open_run_rubric,
    open_workflow_reply_cache,
    read_run_judge_options,
)
from evenhand.workflows.calibrate import (
    format_exported_judge_file,
    list_run_criteria_to_map,
    make_score_map,
    write_user_file_at_once,
)
from evenhand.workflows.models import ConnectionOptions, open_run_judges, open_user_connections
from evenhand.workflows.run_labels import LabelSource, load_run_labels, make_no_run_labels_error
from evenhand.workflows.stores import StoreLike, open_user_store, refuse_run_kept_aside

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignOptions:
    """How a rubric is aligned: by which file, with whose proposals, from which seed, and how models may be asked."""

    rubric: str | Json | None = None  # The rubric or its file, where the eval of the run does not lead to it.
    proposer: str | None = None  # A model that proposes edits; without one, examples and a map are tried.
    judges: tuple[str, ...] = ()  # Who is asked instead of the judges of the run.
    seed: int = 0
    output: Path | None = None  # Where it will be written, which must be a new file.
    connect: ConnectionOptions = field(default_factory=ConnectionOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignmentReport:
    """What came of aligning a run: the YAML of a new rubric, or of a file of judges with a map of their scores.

    Both are empty where the present rubric stands.
    """

    run: str
    name: str
    labels: int
    void: tuple[Label, ...]  # Not counted: their output has changed since.
    unbound: int  # Labels that do not say which text they are about.
    plan: AlignmentPlan
    found: AlignedRubric
    text: str
    judges: str
    calls: int  # That were answered now; replies that the store had are not among them.
    cost: Decimal | None
    imported: bool = False  # Whether the run was made elsewhere.

    @property
    def exit_code(self) -> int:
        """0 where something better was found."""
        return 0 if self.found.edits else 1


def ignore_alignment_plan(_plan: AlignmentPlan) -> None:
    """Nobody is told."""


DEFAULT_ALIGN_OPTIONS = AlignOptions()


async def align_run(
    store: StoreLike,
    run: str,
    labels: LabelSource,
    *,
    options: AlignOptions = DEFAULT_ALIGN_OPTIONS,
    announce: Callable[[AlignmentPlan], None] = ignore_alignment_plan,
    shared: SharedLimits | None = None,
) -> AlignmentReport:
    """Find edits of the rubric of a run that bring its judges nearer to people's labels; `announce` is told the plan
    before anything is asked.

    Replies are kept in the store as they come: aligning again asks only what is new.
    """
    with open_user_store(store) as opened:
        alignment = _load_run_to_align(opened, run, labels, options)
        async with open_user_connections(options.connect, shared) as connections:
            return await alignment.align(opened, connections, options, announce)


def write_aligned_rubric(report: AlignmentReport, target: Path) -> Path | None:
    """Write the new rubric, or beside it, where the rubric stands and a map is kept, the file of judges that holds it.

    It says which file was written, None where there is nothing to write.
    """
    if report.judges:
        target = _name_aligned_judge_file(target)
    text = report.text or report.judges
    if not text:
        return None
    write_user_file_at_once(target, text)
    return target


def _name_aligned_judge_file(target: Path) -> Path:
    return target.with_name(f"{target.stem}.judges{target.suffix}")


def _load_run_to_align(store: Store, run: str, labels: LabelSource, options: AlignOptions) -> _AlignWorkflow:
    """Everything that can be refused is refused before any model is asked."""
    if options.output is not None:
        require_new_file(options.output)
        require_new_file(_name_aligned_judge_file(options.output))
    row = store.find_run(run)
    refuse_run_kept_aside(row)
    if row["state"] != "finished":
        hint = "continue it first: evenhand run EVAL --resume"
        raise InputError(Fault(f"run {row['id']} is not finished ({row['state']})", hint))
    opened = open_run_rubric(row, options.rubric)
    table = load_run_columns(store, row["id"])
    given = load_run_labels(store, table, labels)
    if labels is None and not given:
        raise make_no_run_labels_error(table.run)
    labelled = collect_labelled_outputs(table, given)
    if not labelled.judges:
        raise InputError(Fault("no judge answered anything in this run", "labels are held against judges' answers"))
    if labelled.samples < LEAST_ALIGNED_SAMPLES:
        few = format_too_few(labelled.samples, "labelled sample", LEAST_ALIGNED_SAMPLES)
        raise InputError(Fault(few, "label more of its outputs"))
    holistic = bool(json.loads(row["setup"])["rubrics"][""].get("holistic"))
    how = read_run_judge_options(json.loads(row["setup"]), imported=row["imported"])
    asking = AlignWorkflowAsking(
        present=replace(opened.rubric, holistic=holistic),
        labelled=labelled,
        samples=load_labelled_samples(store, row, labelled),
        how=replace(how, weights={}, cascade=None) if options.judges else how,
    )
    return _AlignWorkflow(row=row, opened=opened, asking=asking, judges=tuple(table.frame.judges))


@dataclass(frozen=True, slots=True, kw_only=True)
class _AlignWorkflow:
    """A run with its labels, ready to be aligned."""

    row: Row
    opened: LocatedRubric
    asking: AlignWorkflowAsking
    judges: tuple[str, ...]

    @property
    def setup(self) -> Json:
        """How the run was made."""
        found: Json = json.loads(self.row["setup"])
        return found

    @property
    def present(self) -> Rubric:
        """The rubric that the run asked by."""
        return self.asking.present

    async def align(
        self,
        store: Store,
        connections: Connections,
        options: AlignOptions,
        announce: Callable[[AlignmentPlan], None],
    ) -> AlignmentReport:
        """Draft, judge, select and conclude."""
        rng, asking, labelled = seed_alignment(options.seed), self.asking, self.asking.labelled
        divided, questions = divide_labelled_samples(labelled, rng), list_questions_to_align(labelled, self.present)
        if (options.proposer or "").startswith("python:"):
            add_python_import_folder(Path())
        models = open_run_judges(connections, self.row, self.judges, named=options.judges)
        proposer = None if options.proposer is None else find_judge_by_name(connections, options.proposer)
        plan = await asking.plan_questions(connections, models, proposer, divided.deciding)
        announce(plan)
        cases = list(list_cases_to_align(labelled, asking.samples, self.present, divided.drafting))
        fresh = options.connect.record is not None or options.connect.replay is not None
        name = f"{ALIGNING_PREFIX}{self.row['name']}"
        async with open_workflow_reply_cache(store, self.row, connections, name, fresh=fresh) as cache:
            proposed = await asking.ask_proposer(proposer, cases, cache)
            held_out = self._list_texts_held_out(divided)
            tried, refused = draft_alignment_candidates(self.present, cases, proposed.edits, held_out)
            answers = await asking.judge_candidates(tried, models, divided.deciding, cache)
            if cache.asks_no_more:
                what = f"not everything could be asked: {cache.spent or cache.silent}"
                raise InputError(Fault(what, "replies so far are kept: run align again to continue"))
        # A map is of one judge, as the run asked it: a file of judges holds one for each, and none of a panel.
        mappable = list_run_criteria_to_map(self.setup) if len(self.judges) == 1 and not options.judges else {}
        data = tabulate_candidate_answers(labelled, questions, divided.deciding, tried, answers, mappable)
        if not data.has_present_answers:
            hint = "evenhand models says whether they can be asked; a replay needs the record of this alignment"
            who = ", ".join(one.name for one in models)
            raise InputError(Fault(f"{who} answered nothing by the present rubric", hint))
        found = conclude_alignment(tried, refused, select_rubric_by_nested_cv(data, rng), data, questions)
        note = [f"{options.proposer} proposed nothing: {proposed.why_not}"] if proposed.why_not else []
        found = replace(found, drafting=plan.drafting, notes=tuple(note))
        return AlignmentReport(
            run=self.row["id"],
            name=self.row["name"],
            labels=labelled.labels,
            void=labelled.void,
            unbound=labelled.unbound,
            plan=plan,
            found=found,
            text=self._write_rubric(found),
            judges=self._write_judges(found),
            calls=connections.spent.requests,
            cost=connections.spent.cost,
            imported=self.row["imported"] is not None,
        )

    def _list_texts_held_out(self, divided: DividedSamples) -> list[str]:
        """The texts of the samples that decide: no draft may repeat them."""
        held = dict.fromkeys(self.asking.labelled.ids[place] for place in divided.deciding)
        return [text for id in held for text in self.asking.samples[id].list_texts() if text.strip()]

    def _write_rubric(self, found: AlignedRubric) -> str:
        """The YAML of the new rubric, with what was changed and why above it; empty where none is written."""
        if found.rubric == self.present:
            return ""
        plain = replace(found.rubric, holistic=self.opened.rubric.holistic)
        return write_changed_rubric(self.opened, plain, self._list_comments(found))

    def _write_judges(self, found: AlignedRubric) -> str:
        """The YAML of a file of judges with the maps that are kept; empty where none is."""
        kept = [one for one in found.edits if isinstance(one, UseCalibrationMap)]
        if not kept:
            return ""
        maps = [make_score_map(self.setup, self.judges[0], one.criterion, one.knots) for one in kept]
        comments = [f"# {line}" for line in (*self._list_comments(found), "In an eval file:  judges: FILE")]
        return format_exported_judge_file(comments, self.judges, maps)

    def _list_comments(self, found: AlignedRubric) -> list[str]:
        """What was changed and why, with both errors."""
        one = found.selection
        before, after = (format_percent(error.estimate) for error in (one.before, one.after))
        labels = pluralize_count(self.asking.labelled.labels, "label")
        guest = ", which was imported" if self.row["imported"] is not None else ""
        comments = [
            f"Aligned by evenhand align with {labels} of run {self.row['id']}{guest}.",
            f"Error before {before} of the scale, after {after} ({format_p_value(one.chance)}); {one.samples} samples.",
        ]
        for edit in found.edits:
            place, _, _ = describe_rubric_edit(self.present, edit)
            comments.append(f"Changed: {place}. Why: {edit.reason or 'no reason was given'}")
        return comments


def encode_alignment(report: AlignmentReport) -> Json:
    """The stable JSON of it."""
    found, selection = report.found, report.found.selection
    return {
        "run": report.run,
        **({"imported": True} if report.imported else {}),
        "name": report.name,
        "kept": bool(found.edits),
        "why": found.why,
        "labels": report.labels,
        "void": [VOID_LABEL_JSON.to_json(one) for one in report.void],
        "unbound": report.unbound,
        "samples": selection.samples,
        "drafting_samples": found.drafting,
        "error_before": _align_error_to_json(selection.before),
        "error_after": _align_error_to_json(selection.after),
        "p": selection.chance,
        "edits": [_align_edit_to_json(found.tried[0].rubric, edit) for edit in found.edits],
        "tried": [
            {
                "edits": [_align_edit_to_json(found.tried[0].rubric, edit) for edit in one.edits],
                "error": selection.errors[place],
            }
            for place, one in enumerate(found.tried)
        ],
        "map_error": selection.errors[-1] if found.map_tried else None,
        "refused": [{**_align_edit_to_json(found.tried[0].rubric, one.edit), "why": one.why} for one in found.refused],
        "notes": list(found.notes),
        "most_calls": report.plan.calls,
        "calls": report.calls,
        "cost": None if report.cost is None else float(report.cost),
        "rubric": report.text or None,
        "judges": report.judges or None,
    }


def _align_error_to_json(one: RateInterval) -> Json:
    return {"estimate": one.estimate, "low": one.low, "high": one.high, "level": one.level, "method": one.method}


def _align_edit_to_json(rubric: Rubric, edit: RubricEdit) -> Json:
    place, before, after = describe_rubric_edit(rubric, edit)
    return {"kind": type(edit).__name__, "place": place, "before": before, "after": after, "reason": edit.reason}
