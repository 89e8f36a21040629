"""What a request sends instead of naming files: rubrics, tasks and judges, none of which is read from this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from evenhand.contest.read_task import parse_task_text
from evenhand.contest.task import Task
from evenhand.errors import ContestError, Fault, FaultPath, InputError, suggest_known_word_in_error
from evenhand.files.json_shape import write_json_fraction
from evenhand.files.methods import list_method_yaml_names, list_rubric_file_names
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.models.model_names import choose_default_model_names

Json = dict[str, Any]
LOCAL_JUDGES = ("python", "replay", "gguf", "gguf-decisions")  # Code and files of this machine.


def load_sent_rubric(rubric: str | Mapping[str, object]) -> Rubric:
    """A rubric that ships, by its name, or one that is sent as a mapping; what it builds on ships too."""
    faults = find_unshipped_rubric_faults(rubric)
    if faults:
        raise InputError(*faults)
    return load_rubric(rubric)


def find_unshipped_rubric_faults(rubric: object, path: FaultPath = ()) -> list[Fault]:
    """Names in a rubric, or of one, that are none of those that ship: they could be files of this machine."""
    if isinstance(rubric, str):
        hint = "; or send it as a mapping"
        return _find_unshipped_name("rubric", rubric, list_rubric_file_names(), path or ("rubric",), hint)
    if not isinstance(rubric, Mapping):
        return []
    named = (("method", list_method_yaml_names()), ("extends", list_rubric_file_names()))
    parts = [_find_unshipped_name(one, rubric[one], known, (*path, one)) for one, known in named if one in rubric]
    return [fault for found in parts for fault in found]


def choose_sent_judges(names: Sequence[str], rubric: Rubric) -> list[str]:
    """The judges that a request names, or the ones that the environment has for a rubric."""
    _refuse_local_judges(names)
    return list(names or choose_default_model_names(rubric.method.dialogue, os.environ))


def parse_sent_task(fields: Mapping[str, Any]) -> tuple[Task, str]:
    """The task that these fields of a task file make, and the text that is kept of it."""
    judges = fields.get("judges")
    # One text under `judges` may be a file in a task file; here it is a name.
    source = json.dumps({**fields, "judges": [judges]} if isinstance(judges, str) else fields)
    try:
        task = parse_task_text(source, Path("task.json"), os.environ)
    except ContestError as error:
        # It came in one line of no file: the field is the place.
        raise ContestError(*(Fault(one.what, one.hint, one.path) for one in error.faults)) from None
    _refuse_local_judges([*task.judges, *task.challenge_judges])
    return task, source


def build_sent_task(task: Task) -> Json:
    """The fields of a task file that make this task, to be sent to a service: the way back of `parse_sent_task`."""
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
        else [_build_sent_dimension(one) for one in task.dimensions.criteria],
        "judges": _build_sent_judges(task) or None,
        "challenge_judges": list(task.challenge_judges) or None,
        "keep": "masked" if task.masked else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _build_sent_dimension(one: Criterion) -> Json:
    return {"id": one.id, "asks": one.asks, "weight": write_json_fraction(one.weight), "fixed": one.fixed}


def _build_sent_judges(task: Task) -> list[str] | dict[str, int | str]:
    if not task.weights:
        return list(task.judges)
    return {name: write_json_fraction(task.weights.get(name, Fraction(1))) for name in task.judges}


def _find_unshipped_name(
    field: str, name: object, known: Sequence[str], path: FaultPath, more: str = ""
) -> list[Fault]:
    if name in known:
        return []
    hint = suggest_known_word_in_error(str(name)[:40], known)
    return [Fault(f"no {field} {str(name)[:80]!r} ships", f"{hint}{more}", path)]


def find_local_judge_faults(names: Sequence[object], path: FaultPath = ("judges",)) -> list[Fault]:
    """A judge that is code or a file of this machine is named by its operator, not by a request."""
    kinds = [str(name).strip().partition(":")[0].strip().lower() for name in names]
    return [
        Fault(f"a request cannot name a judge of the kind {kind}:", "as in openai/NAME", path)
        for kind in kinds
        if kind in LOCAL_JUDGES
    ]


def _refuse_local_judges(names: Sequence[str]) -> None:
    faults = find_local_judge_faults(names)
    if faults:
        raise InputError(*faults[:1])
