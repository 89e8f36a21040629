"""Rubrics in the folder that a service was started in: listed, checked as they are written, and saved as files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.files.parsing import LARGEST_RUBRIC_FILE, allow_files_below
from evenhand.files.rubrics import open_rubric_text
from evenhand.model.rubric import Rubric
from evenhand.scoring.rubric_advice import find_doubtful_score_parts

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


def check_rubric_text(text: str, name: str = DRAFT_FILE) -> CheckedRubricText:
    """Every fault or, where there is none, what a careful colleague would point out, each with its line."""
    folder = Path.cwd()
    if len(text.encode()) > LARGEST_RUBRIC_FILE:
        what = f"the file is longer than {LARGEST_RUBRIC_FILE:,} bytes"
        return CheckedRubricText(messages=(RubricMessage(line=0, kind="fault", what=what),), rubric=None)
    try:
        with allow_files_below(folder, COPY_HINT):
            opened = open_rubric_text(text, folder / name)
    except InputError as error:
        return CheckedRubricText(messages=tuple(_read_message(one, "fault") for one in error.faults), rubric=None)
    advice = InputError(*(entry.as_fault() for entry in find_doubtful_score_parts(opened.rubric)))
    found = advice.with_locations(opened.locate).faults
    return CheckedRubricText(messages=tuple(_read_message(one, "warning") for one in found), rubric=opened.rubric)


def _read_message(fault: Fault, kind: Literal["fault", "warning"]) -> RubricMessage:
    line = _LINE.search(fault.where or "")
    return RubricMessage(line=int(line[1]) if line else 0, kind=kind, what=fault.what, hint=fault.hint)


def list_rubric_files() -> list[str]:
    """The files of the folder that look like rubrics, by name."""
    found = []
    for path in sorted(Path.cwd().glob("*.y*ml"))[:MOST_LISTED_FILES]:
        if _FILE_NAME.fullmatch(path.name) and path.is_file() and path.stat().st_size <= LARGEST_RUBRIC_FILE:
            text = path.read_text("utf-8", "replace")
            if _HAS_CRITERIA.search(text) and not re.search(r"^samples\s*:", text, re.MULTILINE):
                found.append(path.name)
    return found


def read_rubric_draft(name: str) -> str:
    """The text of a file in the folder."""
    path = _locate_rubric_file(name)
    try:
        return path.read_bytes()[:LARGEST_RUBRIC_FILE].decode("utf-8", "replace")
    except OSError:
        raise InputError(Fault("there is no such file", "go to the list of rubrics", where=name)) from None


def save_rubric_text(name: str, text: str, *, replace: bool = False) -> None:
    """Write a rubric to a file in the folder; one that is there stays unless it is said to be replaced."""
    path = _locate_rubric_file(name)
    try:
        with path.open("w" if replace else "x", encoding="utf-8", newline="\n") as target:
            target.write(text.replace("\r\n", "\n"))
    except FileExistsError:
        raise InputError(Fault("there is such a file already", "name another file", where=name)) from None
    except OSError as error:
        raise make_unwritable_file_error(name, error) from None


def _locate_rubric_file(name: str) -> Path:
    """A file of the folder itself: no name leads elsewhere, also by way of a link."""
    path = Path.cwd() / name
    if not _FILE_NAME.fullmatch(name) or path.is_symlink():
        hint = "letters, digits, dots and dashes, with .yaml at the end"
        raise InputError(Fault("this cannot be the name of a rubric's file here", hint, where=name[:100]))
    return path
