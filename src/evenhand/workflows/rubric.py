"""Rubrics that ship, rubrics in files: listed, shown, checked and started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
from evenhand.files.rubrics import (
    LocatedRubric,
    is_method_file,
    load_rubric,
    open_rubric_with_file_lines,
    read_rubric_file_text,
)
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode
from evenhand.judging.unanswerable import describe_criteria_unfit_for_judges, list_criteria_unfit_for_judges
from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.models.model_names import choose_default_model_names
from evenhand.scoring.rubric_advice import ScoringAdvice, find_doubtful_score_parts

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
    doubts = [*find_doubtful_score_parts(opened.rubric), *_find_required_ranges(opened)]
    advice = InputError(*(entry.as_fault() for entry in doubts)).with_locations(opened.locate)
    rubric = opened.rubric
    unanswerable = list_criteria_unfit_for_judges(
        rubric,
        judges or choose_default_model_names(rubric.method.dialogue, os.environ),
        has_reference=False,  # Nobody has given one yet; the note says which criteria would take it.
        has_context=False,
    )
    return CheckedRubric(
        method=rubric.method.name,
        warnings=tuple(advice.faults),
        note=describe_criteria_unfit_for_judges(unanswerable),
    )


def _find_required_ranges(opened: LocatedRubric) -> Iterator[ScoringAdvice]:
    """Criteria with ranges that are written to be required: only a least score gates them."""
    for name in ("rubrics", "criteria"):
        listed = opened.tree.get(name) if isinstance(opened.tree, MappingNode) else None
        for place, node in enumerate(listed.items if isinstance(listed, SequenceNode) else ()):
            if not isinstance(node, MappingNode) or node.get("score_ranges") is None or node.get("required_min_score"):
                continue
            required = node.get("required")
            if isinstance(required, ScalarNode) and required.text.lower() == "true":
                what = "required: true does nothing beside score_ranges: required_min_score: 6 would gate it"
                yield ScoringAdvice(what, (name, place, "required"))


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
