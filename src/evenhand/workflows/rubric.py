"""Rubrics that ship, rubrics in files: listed, shown, checked and started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.files.methods import (
    list_method_yaml_names,
    list_rubric_file_names,
    load_method_file,
    load_shipped_method_file,
    override_rubric_file_fields,
    read_starter_rubric_yaml,
)
from evenhand.files.rubric_schema import build_rubric_file_schema
from evenhand.files.rubrics import is_method_file, load_rubric, open_rubric_with_file_lines, read_rubric_file_text
from evenhand.judging.unanswerable import describe_criteria_unfit_for_judges, list_criteria_unfit_for_judges
from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.models.model_names import choose_default_model_names
from evenhand.scoring.rubric_advice import find_doubtful_score_parts

__all__ = [
    "CheckedRubric",
    "RubricLibrary",
    "build_rubric_file_schema",
    "check_rubric_file",
    "find_rubric",
    "list_rubrics",
    "read_rubric_file_text",
    "write_starter_rubric",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricLibrary:
    """The rubrics that can be used as they are, and the methods that need criteria."""

    rubrics: tuple[Rubric, ...]
    methods: tuple[Method, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRubric:
    """A valid rubric or method; `warnings` are what a careful colleague would point out."""

    method: str  # That the rubric follows; "" for a method itself.
    warnings: tuple[Fault, ...] = ()
    note: str = ""  # What the judges that were named, or the default one, cannot answer of it.


def list_rubrics() -> RubricLibrary:
    """All that ship."""
    methods = [load_shipped_method_file(name) for name in list_method_yaml_names()]
    return RubricLibrary(
        rubrics=tuple(load_rubric(name) for name in list_rubric_file_names()),
        methods=tuple(method for method in methods if not method.criteria),
    )


def find_rubric(name: str) -> Rubric | Method:
    """A rubric by name or file, as the environment sets it; a method, where it has no criteria of its own."""
    if name in list_method_yaml_names():
        method = load_shipped_method_file(name)
        if not method.criteria:
            return method
    return override_rubric_file_fields(load_rubric(name), os.environ)


def check_rubric_file(file: str, judges: Sequence[str] = ()) -> CheckedRubric:
    """Read the rubric or the method in a file; an InputError with all faults where it is not valid."""
    if os.path.isfile(file) and is_method_file(Path(file)):  # noqa: PTH113 - a name may be too long for a path
        load_method_file(Path(file))
        return CheckedRubric(method="")
    opened = open_rubric_with_file_lines(file)
    advice = InputError(*(entry.as_fault() for entry in find_doubtful_score_parts(opened.rubric))).with_locations(
        opened.locate
    )
    rubric = opened.rubric
    unanswerable = list_criteria_unfit_for_judges(
        rubric, judges or choose_default_model_names(rubric.method.dialogue, os.environ)
    )
    return CheckedRubric(
        method=rubric.method.name,
        warnings=tuple(advice.faults),
        note=describe_criteria_unfit_for_judges(unanswerable),
    )


def write_starter_rubric(file: str) -> None:
    """Write a commented rubric to begin with; a file that is there stays."""
    path = Path(file)
    if path.suffix not in (".yaml", ".yml"):
        raise InputError(Fault("the starter is YAML", "name a file that ends in .yaml", where=file))
    try:
        with path.open("x", encoding="utf-8") as target:
            target.write(read_starter_rubric_yaml().replace("rubric.yaml", path.name))
    except FileExistsError:
        raise InputError(Fault("there is such a file already", "name another file", where=file)) from None
    except OSError as error:
        raise make_unwritable_file_error(file, error) from None
