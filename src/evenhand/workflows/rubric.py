"""Rubrics that ship and rubrics in files: listed, shown, checked, started, edited and saved."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.files.allowed_files import allow_files_below
from evenhand.files.methods import (
    list_method_yaml_names,
    list_rubric_file_names,
    load_method_file,
    load_shipped_method_file,
    override_rubric_file_fields,
    read_starter_rubric_yaml,
)
from evenhand.files.parsing import LARGEST_RUBRIC_FILE
from evenhand.files.rubric_schema import build_rubric_file_schema
from evenhand.files.rubrics import (
    LocatedRubric,
    is_method_file,
    load_rubric,
    open_rubric_text,
    open_rubric_with_file_lines,
    read_rubric_file_text,
)
from evenhand.files.tree import MappingNode, ScalarNode, SequenceNode
from evenhand.judging.open_judge import describe_criteria_unfit_for_judges, list_criteria_unfit_for_judges
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


MOST_LISTED_FILES = 500
DRAFT_FILE = "rubric.yaml"
_FILE_NAME = re.compile(r"[\w][\w.-]{0,100}\.ya?ml")
_HAS_CRITERIA = re.compile(r"^(criteria|rubrics)\s*:", re.MULTILINE)
_LINE = re.compile(r":(\d+)$")
COPY_HINT = "copy it into the folder of the service"


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricMessage:
    """What the checker says of a line; line 0 is the whole file."""

    line: int
    kind: Literal["fault", "warning"]
    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRubricText:
    """What the checker says of a text, and the rubric that it is, if it is one."""

    messages: tuple[RubricMessage, ...]
    rubric: Rubric | None


def check_user_rubric_text(text: str, name: str = DRAFT_FILE) -> CheckedRubricText:
    """Every fault or, where there is none, what a careful colleague would point out, each with its line."""
    folder = Path.cwd()
    if len(text.encode()) > LARGEST_RUBRIC_FILE:
        what = f"the file is longer than {LARGEST_RUBRIC_FILE:,} bytes"
        return CheckedRubricText(messages=(RubricMessage(line=0, kind="fault", what=what),), rubric=None)
    try:
        with allow_files_below(folder, COPY_HINT):
            opened = open_rubric_text(text, folder / name)
    except InputError as error:
        return CheckedRubricText(
            messages=tuple(_read_rubric_check_message(one, "fault") for one in error.faults), rubric=None
        )
    advice = InputError(*(entry.as_fault() for entry in find_doubtful_score_parts(opened.rubric)))
    found = advice.with_locations(opened.locate).faults
    return CheckedRubricText(
        messages=tuple(_read_rubric_check_message(one, "warning") for one in found), rubric=opened.rubric
    )


def _read_rubric_check_message(fault: Fault, kind: Literal["fault", "warning"]) -> RubricMessage:
    line = _LINE.search(fault.where or "")
    return RubricMessage(line=int(line[1]) if line else 0, kind=kind, what=fault.what, hint=fault.hint)


def list_user_rubric_files() -> list[str]:
    """The files of the folder that look like rubrics, by name."""
    found = []
    for path in sorted(Path.cwd().glob("*.y*ml"))[:MOST_LISTED_FILES]:
        if _FILE_NAME.fullmatch(path.name) and path.is_file() and path.stat().st_size <= LARGEST_RUBRIC_FILE:
            text = path.read_text("utf-8", "replace")
            # A file of an eval has samples, one of a method has steps.
            if _HAS_CRITERIA.search(text) and not re.search(r"^(?:samples|steps)\s*:", text, re.MULTILINE):
                found.append(path.name)
    return found


def find_user_rubric_files(names: Sequence[str]) -> list[str]:
    """Those of some names that are files of the folder."""
    return [name for name in names if _FILE_NAME.fullmatch(name) and (Path.cwd() / name).is_file()]


def load_user_rubric_draft(name: str) -> str:
    """The text of a file in the folder."""
    path = _locate_user_rubric_file(name)
    try:
        return path.read_bytes()[:LARGEST_RUBRIC_FILE].decode("utf-8", "replace")
    except OSError:
        raise InputError(Fault("there is no such file", "go to the list of rubrics", where=name)) from None


def suggest_user_rubric_file(stem: str) -> str:
    """The name of a file that is not there yet, numbered where there are others."""
    names = (f"{stem}.yaml" if number == 1 else f"{stem}-{number}.yaml" for number in range(1, MOST_LISTED_FILES))
    return next((name for name in names if not (Path.cwd() / name).exists()), f"{stem}.yaml")


def save_user_rubric_text(name: str, text: str, *, replace: bool = False) -> None:
    """Write a rubric to a file in the folder; one that is there stays unless it is said to be replaced."""
    save_user_rubric_texts({name: text}, replace=replace)


def save_user_rubric_texts(texts: Mapping[str, str], *, replace: bool = False) -> None:
    """Write files that belong together: if one of them is refused or cannot be written, none is left that is new."""
    paths = {name: _locate_user_rubric_file(name) for name in texts}
    for name, path in paths.items():
        if path.exists() and not (replace and path.is_file()):
            raise InputError(Fault("there is such a file already", "name another file", where=name))
    made: list[Path] = []
    try:
        for name, path in paths.items():
            is_new = not path.exists()
            _write_user_rubric_file(name, path, texts[name], replace=replace)
            made += [path] if is_new else []
    except InputError:
        for path in made:
            path.unlink(missing_ok=True)
        raise


def _write_user_rubric_file(name: str, path: Path, text: str, *, replace: bool) -> None:
    try:
        with path.open("w" if replace else "x", encoding="utf-8", newline="\n") as target:
            target.write(text.replace("\r\n", "\n"))
    except FileExistsError:
        raise InputError(Fault("there is such a file already", "name another file", where=name)) from None
    except OSError as error:
        raise make_unwritable_file_error(name, error) from None


def _locate_user_rubric_file(name: str) -> Path:
    """A file of the folder itself: no name leads elsewhere, also by way of a link."""
    path = Path.cwd() / name
    if not _FILE_NAME.fullmatch(name) or path.is_symlink():
        hint = "letters, digits, dots and dashes, with .yaml at the end"
        raise InputError(Fault("this cannot be the name of a rubric's file here", hint, where=name[:100]))
    return path
