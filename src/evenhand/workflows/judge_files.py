"""Judge outputs in files: read, looked at by the guards, judged by models, and held against limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evenhand.errors import Fault, InputError, suggest_close_word_in_error
from evenhand.evals.eval_judges import load_eval_judge_maps
from evenhand.files.methods import override_rubric_file_fields
from evenhand.files.parsing import read_text_mapping_file
from evenhand.files.rubrics import load_rubric
from evenhand.guards.output_guards import flag_outputs_by_guards
from evenhand.guards.personal_data import TextMask, build_personal_data_mask, mask_data
from evenhand.judging.judge import (
    ask_judges_for_preferences,
    ask_judges_for_reviews,
    refuse_judge_maps_of_other_rubrics,
)
from evenhand.judging.open_judge import (
    describe_criteria_unfit_for_judges,
    find_judge_by_name,
    list_criteria_unfit_for_judges,
)
from evenhand.judging.results import (
    JudgedSample,
    Preferences,
    judge_panel_preferences_to_json,
    judge_panel_reviews_to_json,
)
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.models.budget import Spending
from evenhand.models.model_names import choose_default_model_names
from evenhand.models.requests import Model
from evenhand.workflows.inputs import (
    load_user_file,
    load_user_files,
    load_user_trace_file,
    parse_user_input_number,
    suggest_judge_for_author,
)
from evenhand.workflows.judge import price_requested_replies, rejudge_user_outputs_without_flags
from evenhand.workflows.models import ConnectionOptions, open_user_connections
from evenhand.workflows.score import UserScoreLimits

if TYPE_CHECKING:
    from evenhand.workflows.stores import StoreLike
    from evenhand.workflows.subjects import SubjectEvaluation

JudgingResult = tuple[JudgedSample | Preferences, Spending]
ModelWatcher = Callable[[Sequence[Model]], AbstractAsyncContextManager[list[Model]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFiles:
    """What is judged, by whom, and what it must reach. A file called "-" is standard input."""

    rubric: str
    outputs: tuple[str, ...]
    question: str | None = None
    reference: str | None = None
    context: str | None = None
    authors: tuple[str, ...] = ()  # Entries OUTPUT=NAME.
    traces: tuple[str, ...] = ()  # Entries OUTPUT=FILE, or a FILE where there is one output.
    judges: tuple[str, ...] = ()
    weights: str | None = None
    maps: str | None = None
    pairwise: bool = False
    subject: str | None = None  # Whose evaluation is stored and compared with those before it.
    limits: UserScoreLimits = field(default_factory=UserScoreLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedUserFiles:
    """What judges said of the outputs, what it cost, and how it stands against the limits."""

    rubric: Rubric
    result: JudgedSample | Preferences
    spent: Spending
    hide: TextMask  # Masks personal data of the sample.
    shortfalls: tuple[str, ...]
    exit_code: int
    evaluation: SubjectEvaluation | None = None

    def to_json(self) -> object:
        """The stable JSON, personal data masked; with a subject also its history."""
        if isinstance(self.result, Preferences):
            return mask_data(judge_panel_preferences_to_json(self.result, self.spent), self.hide)
        judged = mask_data(judge_panel_reviews_to_json(self.result, self.spent), self.hide)
        # An id of digits may look like somebody's number, and the history quotes nothing of the output.
        return (
            {**judged, **self.evaluation.history_to_json()} if self.evaluation and isinstance(judged, dict) else judged
        )


@asynccontextmanager
async def ignore_user_judging_progress(models: Sequence[Model]) -> AsyncIterator[list[Model]]:
    """Nobody looks on."""
    yield list(models)


def ignore_user_warning(_text: str) -> None:
    """Nobody is told."""


def judge_files(
    files: JudgeFiles,
    *,
    how: JudgeOptions,
    connect: ConnectionOptions,
    stdin: BinaryIO | None = None,
    watch: ModelWatcher = ignore_user_judging_progress,
    warn: Callable[[str], None] = ignore_user_warning,
    store: StoreLike = None,
) -> JudgedUserFiles:
    """Ask judges about the outputs in files. Settings in the environment override the rubric."""
    rubric = override_rubric_file_fields(load_rubric(files.rubric), os.environ)
    files.limits.refuse_unknown_grade(rubric)
    _refuse_unfit_subject(files, rubric)
    sample = _read_judged_user_sample(files, stdin)
    given = read_text_mapping_file(Path(files.weights)) if files.weights else {}
    weights = {name: parse_user_input_number(text, f"{files.weights}: {name}") for name, text in given.items()}
    how = replace(how, weights=weights, maps=load_eval_judge_maps(Path(files.maps)) if files.maps else ())
    mask, evaluation = build_personal_data_mask(sample), None
    asking = _judge_user_files(files, rubric, sample, how, connect, watch, warn)
    if files.subject is None:
        result, spent = asyncio.run(asking)
    else:
        result, spent, evaluation = _judge_files_as_subject(files.subject, sample, asking, mask, store)
    scores = None if isinstance(result, Preferences) else result.scores
    unanswered = isinstance(result, Preferences) and any(one.why_not for one in result.preferences)
    return JudgedUserFiles(
        rubric=rubric,
        result=result,
        spent=spent,
        hide=mask,
        shortfalls=() if scores is None else files.limits.list_shortfalls(scores),
        exit_code=files.limits.exit_code(scores) if scores is not None else int(unanswered),
        evaluation=evaluation,
    )


def _refuse_unfit_subject(files: JudgeFiles, rubric: Rubric) -> None:
    """An evaluation of a subject is the score of one output; said before any judge is asked."""
    if files.subject is None:
        return
    from evenhand.workflows.subjects import check_subject_name, refuse_several_outputs_of_subject

    check_subject_name(files.subject)
    refuse_several_outputs_of_subject(files.outputs)
    if files.pairwise or rubric.method.dialogue == "pairwise":
        raise InputError(Fault("pairs have no scores to store", "leave --subject or pairwise out", where="--subject"))


def _judge_files_as_subject(
    subject: str, sample: Sample, asking: Coroutine[Any, Any, JudgingResult], mask: TextMask, store: StoreLike
) -> tuple[JudgedSample, Spending, SubjectEvaluation]:
    """Judge the one output of a subject, store its evaluation. A store that fails does so before judges are asked."""
    from evenhand.workflows.stores import open_user_store  # A store takes as long to load as all else.
    from evenhand.workflows.subjects import store_subject_evaluation

    (output,) = sample.outputs.values()
    with closing(asking), open_user_store(store, create=True) as opened:
        judged, spent = asyncio.run(asking)
        assert isinstance(judged, JudgedSample)
        scores, said = judged.scores, judged.judgments
        evaluation = store_subject_evaluation(opened, subject, scores, output=output, judgments=said, mask=mask)
        return judged, spent, evaluation


async def _judge_user_files(
    files: JudgeFiles,
    rubric: Rubric,
    sample: Sample,
    how: JudgeOptions,
    connect: ConnectionOptions,
    watch: ModelWatcher,
    warn: Callable[[str], None],
) -> JudgingResult:
    async with open_user_connections(connect) as connections:
        names = files.judges or connections.recorded() or choose_default_model_names(rubric.method.dialogue, os.environ)
        models = [find_judge_by_name(connections, name) for name in names]
        refuse_judge_maps_of_other_rubrics(rubric, models, how)
        _refuse_authors_near_judges(sample, [model.name for model in models])
        pairwise = files.pairwise or rubric.method.dialogue == "pairwise"
        given = {"has_reference": bool(sample.reference), "has_context": bool(sample.context)}
        unanswerable = () if pairwise else list_criteria_unfit_for_judges(rubric, names, **given)
        if unanswerable:
            warn(describe_criteria_unfit_for_judges(unanswerable))
        async with watch(models) as watched:
            if pairwise:
                return await ask_judges_for_preferences(rubric, sample, watched, how), connections.spent
            price = price_requested_replies(connections)
            judged = await ask_judges_for_reviews(rubric, sample, watched, how, price)
            if how.paraphrase_check:
                judged, done = await rejudge_user_outputs_without_flags(rubric, sample, judged, watched, how, price)
                warn(done)
    return judged, connections.spent


def _refuse_authors_near_judges(sample: Sample, judges: Sequence[str]) -> None:
    for output, author in sample.authors.items():
        if judge := suggest_judge_for_author(author, judges):
            what = f"{author!r} is not the name of a judge, so {judge} would score its own output {output}"
            raise InputError(Fault(what, f"write --author {output}={judge}", where="--author"))


def _read_judged_user_sample(files: JudgeFiles, stdin: BinaryIO | None) -> Sample:
    parts = (files.question, files.reference, files.context)
    if [*files.outputs, *parts, *(entry.rpartition("=")[2] for entry in files.traces)].count("-") > 1:
        raise InputError(Fault("standard input can be read once", "give the other as a file"))
    texts = load_user_files(files.outputs, stdin)
    empty = next((name for name, text in texts.items() if not text.strip()), None)
    if empty is not None:
        raise InputError(Fault("there is nothing in it to judge", where=empty))
    question, reference, context = (load_user_file(name, stdin) if name else "" for name in parts)
    authors = dict(_split_user_output_entry(entry, files, "--author", "openai/NAME") for entry in files.authors)
    traced = [
        _split_user_output_entry(_name_only_user_output(entry, files), files, "--trace", "FILE")
        for entry in files.traces
    ]
    sample = Sample(
        outputs=texts,
        input=question,
        reference=reference,
        context=context,
        authors=authors,
        traces={output: load_user_trace_file(name, stdin) for output, name in traced},
    )
    return flag_outputs_by_guards(sample)


def _split_user_output_entry(entry: str, files: JudgeFiles, option: str, example: str) -> tuple[str, str]:
    """The two halves of OUTPUT=VALUE; a name of an output may have an equals sign in it."""
    output = max((name for name in files.outputs if entry.startswith(f"{name}=")), key=len, default="")
    value = entry.removeprefix(f"{output}=")
    if not output or not value:
        what = f"{entry!r} does not name an output and its {option.removeprefix('--')}"
        near = suggest_close_word_in_error(entry.partition("=")[0], files.outputs)
        raise InputError(Fault(what, near or f"as in {option} {files.outputs[0]}={example}", where=option))
    return output, value


def _name_only_user_output(entry: str, files: JudgeFiles) -> str:
    """A file alone is about the only output there is."""
    alone = len(files.outputs) == 1 and not entry.startswith(f"{files.outputs[0]}=")
    return f"{files.outputs[0]}={entry}" if alone else entry
