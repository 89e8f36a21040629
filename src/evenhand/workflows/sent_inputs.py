"""What a request sends instead of naming files: evals, rubrics, tasks and judges, none of which is read from this
machine.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.assertions.kinds import EXECUTED_KIND, SET_KIND
from evenhand.contest.read_task import parse_task_text
from evenhand.contest.task import Task
from evenhand.errors import ContestError, EvalError, Fault, FaultPath, InputError, suggest_known_word_in_error
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import read_eval_data
from evenhand.evals.json_lines import LONE_SURROGATE, explain_half_character
from evenhand.evals.variants.variant import ModelVariant
from evenhand.files.allowed_files import allow_files_below
from evenhand.files.json_shape import write_json_fraction
from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names
from evenhand.files.rubrics import load_rubric
from evenhand.judging.prompts import LANGUAGES
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.models.model_names import choose_default_model_names
from evenhand.models.shared_limits import SharedLimits
from evenhand.workflows.align import AlignmentReport, AlignOptions, align_run
from evenhand.workflows.align_inputs import AlignmentPlan
from evenhand.workflows.run_labels import LabelSource
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]
MOST_FAULTS = 20  # That are told of one body.
LOCAL_JUDGES = ("python", "replay", "gguf", "gguf-decisions")  # Code and files of this machine.


def find_half_characters(sent: object) -> list[Fault]:
    """The texts of a body, names of fields among them, that nothing could keep or send on."""
    faults: list[Fault] = []
    waiting: list[tuple[object, str]] = [(sent, "body")]
    while waiting and len(faults) < MOST_FAULTS:
        value, where = waiting.pop()
        if isinstance(value, str) and (why := explain_half_character(value)):
            faults.append(Fault(f"it holds {why}", "leave it out, or send U+FFFD in its place", where=where))
        elif isinstance(value, Mapping):
            fit = {name: below for name, below in value.items() if not explain_half_character(name)}
            if len(fit) < len(value):
                what = f"a name in it holds {LONE_SURROGATE}"
                faults.append(Fault(what, "leave it out, or send U+FFFD in its place", where=where))
            waiting += [(below, f"{where}.{name}") for name, below in reversed(fit.items())]
        elif isinstance(value, list):
            waiting += [(value[at], f"{where}.{at}") for at in reversed(range(len(value)))]
    return faults


def load_rubric_for_service(rubric: str | Mapping[str, object]) -> Rubric:
    """A rubric that ships, by its name, or one that is sent as a mapping; what it builds on ships too."""
    faults = find_unshipped_rubric_faults(rubric)
    if faults:
        raise InputError(*faults)
    with confine_service_to_shipped_files():
        return load_rubric(rubric)


def find_unshipped_rubric_faults(rubric: object, path: FaultPath = ()) -> list[Fault]:
    """What a rubric is, or names, that does not ship: a number or null could be the name of a file here, too."""
    if not isinstance(rubric, Mapping):
        hint = "; or send it as a mapping"
        return _find_unshipped_name_in_sent_rubric(
            "rubric", rubric, list_rubric_file_names(), path or ("rubric",), hint
        )
    named = (("method", list_method_yaml_names()), ("extends", list_rubric_file_names()))
    parts = [
        _find_unshipped_name_in_sent_rubric(one, rubric[one], known, (*path, one))
        for one, known in named
        if one in rubric
    ]
    return [fault for found in parts for fault in found]


def choose_judges_for_service(names: Sequence[str], rubric: Rubric) -> list[str]:
    """The judges that a request names, or the ones that the environment has for a rubric."""
    _refuse_local_judges_of_sent_run(names)
    return list(names or choose_default_model_names(rubric.method.dialogue, os.environ))


def parse_task_for_service(fields: Mapping[str, Any]) -> tuple[Task, str]:
    """The task that these fields of a task file make, and the text that is kept of it."""
    judges = fields.get("judges")
    # One text under `judges` may be a file in a task file; here it is a name.
    source = json.dumps({**fields, "judges": [judges]} if isinstance(judges, str) else fields)
    try:
        with confine_service_to_shipped_files():
            task = parse_task_text(source, Path("task.json"), os.environ)
    except ContestError as error:
        # It came in one line of no file: the field is the place.
        raise ContestError(*(Fault(one.what, one.hint, one.path) for one in error.faults)) from None
    _refuse_local_judges_of_sent_run([*task.judges, *task.challenge_judges])
    return task, source


def build_task_for_service(task: Task) -> Json:
    """The fields of a task file that make this task, to be sent to a service; `parse_task_for_service` reads them."""
    microseconds = task.challenge_period // timedelta(microseconds=1)
    fields: Json = {
        "name": task.name,
        "description": task.description,
        "acceptance": list(task.acceptance),
        "mode": task.mode,
        "deadline": None if task.deadline is None else task.deadline.isoformat(),
        "revisions": task.revisions,
        "challenge_period": f"{Decimal(microseconds) / 1_000_000:f} s" if microseconds else None,
        "reward": task.reward or None,
        "dimensions": None
        if task.dimensions is None
        else [_build_dimension_of_sent_task(one) for one in task.dimensions.criteria],
        "judges": _build_judges_of_sent_task(task) or None,
        "challenge_judges": list(task.challenge_judges) or None,
        "keep": "masked" if task.masked else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _build_dimension_of_sent_task(one: Criterion) -> Json:
    return {"id": one.id, "asks": one.asks, "weight": write_json_fraction(one.weight), "fixed": one.fixed}


def _build_judges_of_sent_task(task: Task) -> list[str] | dict[str, int | str]:
    if not task.weights:
        return list(task.judges)
    return {name: write_json_fraction(task.weights.get(name, Fraction(1))) for name in task.judges}


def _find_unshipped_name_in_sent_rubric(
    field: str, name: object, known: Sequence[str], path: FaultPath, more: str = ""
) -> list[Fault]:
    if name in known:
        return []
    hint = suggest_known_word_in_error(str(name)[:40], known)
    return [Fault(f"no {field} {str(name)[:80]!r} ships", f"{hint}{more}", path)]


def find_local_judge_faults(names: Sequence[str], path: FaultPath = ("judges",)) -> list[Fault]:
    """A judge that is code or a file of this machine is named by its operator, not by a request."""
    kinds = [name.strip().partition(":")[0].strip().lower() for name in names]
    return [
        Fault(f"a request cannot name a judge of the kind {kind}:", "as in openai/NAME", path)
        for kind in kinds
        if kind in LOCAL_JUDGES
    ]


def _refuse_local_judges_of_sent_run(names: Sequence[str]) -> None:
    faults = find_local_judge_faults(names)
    if faults:
        raise InputError(*faults[:1])


LOCAL_VARIANT_KINDS = ("outputs", "command", "http", "python")
SCHEMA_KIND = "json_schema"


def parse_eval_for_service(fields: Mapping[str, Any]) -> Eval:
    """The eval that these fields of an eval file make; an EvalError with all that is wrong or not to be sent."""
    faults = list(_find_local_parts_of_sent_eval(fields))
    if faults:
        raise EvalError(*faults)
    judges = fields.get("judges")
    # One text under `judges` may be a file in an eval file; here it is a name.
    given = {**fields, "judges": [judges]} if isinstance(judges, str) else fields
    try:
        with confine_service_to_shipped_files():
            eval = read_eval_data(given, os.environ)
    except InputError as error:
        raise EvalError(*error.faults) from None
    faults = list(_find_local_models(eval))
    if faults:
        raise EvalError(*faults)
    return eval


def _find_local_models(eval: Eval) -> Iterator[Fault]:
    """Judges and models of an eval as it was read, whatever the shape that named them."""
    yield from find_local_judge_faults(eval.judges)
    for name, variant in eval.variants.items():
        if isinstance(variant, ModelVariant):
            yield from find_local_judge_faults([variant.model], ("variants", name, "model"))


def _find_local_parts_of_sent_eval(fields: Mapping[str, Any]) -> Iterator[Fault]:
    """What would be read from this machine, or run on it."""
    samples = fields.get("samples")
    if not isinstance(samples, list):
        yield Fault("a request sends its samples as a list", "each with its input and outputs", ("samples",))
    if "prices" in fields:
        yield Fault("a request names no file of prices", "leave it out", ("prices",))
    how = fields.get("how")
    if isinstance(how, dict) and how.get("language", LANGUAGES[0]) not in LANGUAGES:
        yield Fault("a request cannot bring prompts", f"one of {', '.join(LANGUAGES)}", ("how", "language"))
    for name, variant in _list_entries_of_sent_eval(fields.get("variants")):
        yield from _find_local_variant_of_sent_eval(variant, ("variants", name))
    yield from _find_local_scoring_of_sent_eval(fields, ())
    for at, sample in enumerate(samples if isinstance(samples, list) else ()):
        yield from _find_local_scoring_of_sent_eval(sample, ("samples", at))


def _find_local_variant_of_sent_eval(variant: object, path: FaultPath) -> Iterator[Fault]:
    if not isinstance(variant, dict):
        return
    hint = "send outputs with the samples, or name a model"
    for kind in LOCAL_VARIANT_KINDS:
        if kind in variant:
            yield Fault(f"a request cannot send a variant with {kind}", hint, (*path, kind))
    if isinstance(variant.get("prompt"), dict):
        yield Fault("a request cannot name a file with a prompt", "send its text", (*path, "prompt"))


def _find_local_scoring_of_sent_eval(part: object, path: FaultPath) -> Iterator[Fault]:
    """Rubrics and assertions of an eval, or of a sample."""
    if not isinstance(part, dict):
        return
    if "rubric" in part and not (path and part["rubric"] is None):  # A sample may say that it brings none.
        yield from find_unshipped_rubric_faults(part["rubric"], (*path, "rubric"))
    for tag, rubric in _list_entries_of_sent_eval(part.get("rubrics")):
        yield from find_unshipped_rubric_faults(rubric, (*path, "rubrics", tag))
    for at, one in enumerate(_as_list_in_sent_eval(part.get("assertions"))):
        yield from _find_local_assertion_of_sent_eval(one, (*path, "assertions", at))
    for name, one in _list_entries_of_sent_eval(part.get("checks")):
        yield from _find_local_assertion_of_sent_eval(one, (*path, "checks", name))


def _find_local_assertion_of_sent_eval(given: object, path: FaultPath) -> Iterator[Fault]:
    if not isinstance(given, dict):
        return
    if EXECUTED_KIND in given:
        yield Fault("a request cannot say what is executed", "leave it out", (*path, EXECUTED_KIND))
    if SCHEMA_KIND in given and not isinstance(given[SCHEMA_KIND], dict):
        yield Fault("a request cannot name a file with a schema", "send it as a mapping", (*path, SCHEMA_KIND))
    for word, parts in _list_entries_of_sent_eval(given.get(SET_KIND)):
        for at, one in enumerate(_as_list_in_sent_eval(parts)):
            yield from _find_local_assertion_of_sent_eval(one, (*path, SET_KIND, word, at))


def _list_entries_of_sent_eval(given: object) -> list[tuple[str, object]]:
    return [(str(name), one) for name, one in given.items()] if isinstance(given, dict) else []


def _as_list_in_sent_eval(given: object) -> list[object]:
    return given if isinstance(given, list) else []


MOST_SENT_CALLS = 1000  # Whoever asks waits for them.
FindJudgeFaults = Callable[[Sequence[str], FaultPath], list[Fault]]


async def align_run_for_service(
    store: StoreLike,
    run: str,
    labels: LabelSource,
    *,
    options: AlignOptions,
    find_judge_faults: FindJudgeFaults,
    shared: SharedLimits | None = None,
) -> AlignmentReport:
    """Align a run whose judges and proposer may be asked, in a thread; refused before anything is imported or asked.

    A run may have been made elsewhere, with judges that are code. Which files are read is for the caller to confine.
    """
    with open_user_store(store) as opened:
        row = opened.find_run(run)
        asked = options.judges or json.loads(row["setup"])["frame"]["judges"]
        faults = find_judge_faults(asked, ("judges",))
        faults += find_judge_faults([options.proposer] if options.proposer else [], ("proposer",))
        if faults:
            raise InputError(*faults)

        def align() -> AlignmentReport:
            asked = align_run(
                opened, row["id"], labels, options=options, announce=_refuse_many_calls_of_sent_run, shared=shared
            )
            return asyncio.run(asked)

        return await asyncio.to_thread(align)


def confine_service_to_shipped_files() -> AbstractContextManager[None]:
    """Within it no file of this machine is read but what ships."""
    return allow_files_below(Path(__file__).parents[1], "send the rubric: rubric: {criteria: [...]}")


def _refuse_many_calls_of_sent_run(plan: AlignmentPlan) -> None:
    if plan.calls > MOST_SENT_CALLS:
        what = f"aligning may take {plan.calls:,} calls, and at most {MOST_SENT_CALLS:,} are made here"
        raise InputError(Fault(what, "fewer labels, no proposer, or the command line: evenhand align"))
