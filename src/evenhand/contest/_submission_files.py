"""The submissions in one file: a text with front matter, one JSON object, or one object a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from evenhand import errors
from evenhand.contest._front_matter import parted
from evenhand.contest._read_lines import LARGEST, object_in, objects_in
from evenhand.contest._submission import Submission
from evenhand.contest._values import Values
from evenhand.errors import ContestError, Fault
from evenhand.loading import read_text
from evenhand.loading._json import parse_json
from evenhand.loading._tree import line_of
from evenhand.runs._samples_sound import unsound

FRONT_FIELDS = ("id", "author", "at", "revises")
SUBMISSION_FIELDS = frozenset((*FRONT_FIELDS, "text"))
EXAMPLE = '{"id": "a", "author": "heron", "at": "2026-12-01T18:00:00Z", "text": "…"}'
TEXT_ENDINGS = (".md", ".txt")
ENDINGS = (*TEXT_ENDINGS, ".json", ".jsonl")
# Finding a line takes memory that grows much faster than the text.
LONGEST_LOCATED = 200_000

Placed = tuple[str, Submission]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def in_file(file: Path, faults: list[Fault]) -> list[Placed]:
    """Every submission of a file that is right, with its place; what is wrong with the others is noted."""
    ending = file.suffix.lower()
    if ending in TEXT_ENDINGS:
        return _in_text(file, faults)
    if ending == ".json":
        return _in_json(file, faults)
    if ending == ".jsonl":
        return [one for where, given in objects_in(file, EXAMPLE, faults) for one in _placed(given, where, faults)]
    if file.exists():
        faults.append(Fault("its name does not say what it holds", f"end it in {' '.join(ENDINGS)}", where=str(file)))
    else:
        faults.append(Fault("cannot be read: no such file or directory", where=str(file)))
    return []


def _in_text(file: Path, faults: list[Fault]) -> list[Placed]:
    parts = parted(read_text(file, LARGEST, ContestError), FRONT_FIELDS)
    faults += [replace(fault, where=f"{file}{fault.where}") for fault in parts.faults]
    said = {name: value for name, value in parts.values(FRONT_FIELDS).items() if value is not None}
    id = said.get("id", file.stem)
    given = {"author": id, **said, "id": id, "text": parts.text}
    if why := unsound(given):
        raise ContestError(Fault(f"it holds {why}", where=str(file)))
    if "at" not in given:
        given["at"] = _changed(file)
    return _placed(given, str(file), faults, parts.line)


def _changed(file: Path) -> str:
    """When a file was last changed, to the microsecond, as front matter would say it."""
    try:
        return (_EPOCH + timedelta(microseconds=file.stat().st_mtime_ns // 1000)).isoformat()
    except (OSError, OverflowError):
        what = "when it was last changed cannot be told"
        raise ContestError(Fault(what, "write at into its front matter", where=str(file))) from None


def _in_json(file: Path, faults: list[Fault]) -> list[Placed]:
    text = read_text(file, LARGEST, ContestError)
    given = object_in(text, str(file), EXAMPLE, faults)
    return [] if given is None else _placed(given, str(file), faults, partial(_line, text))


def _line(text: str, path: errors.Path) -> int:
    tree = parse_json(text, lenient=True) if len(text) <= LONGEST_LOCATED else None
    return line_of(tree, path) if tree else 1


def _placed(
    given: dict[str, object], where: str, faults: list[Fault], line: Callable[[errors.Path], int] | None = None
) -> list[Placed]:
    """The submission in an object; faults get their place, and the line where that alone does not tell it."""
    told = len(faults)
    submission = _submission(Values(given, SUBMISSION_FIELDS, faults))
    faults[told:] = [replace(one, where=f"{where}:{line(one.path)}" if line else where) for one in faults[told:]]
    return [] if submission is None else [(where, submission)]


def _submission(values: Values) -> Submission | None:
    id, author, at = values.name("id"), values.name("author"), values.moment("at")
    text, revises = values.text("text"), values.name_if_given("revises")
    if id is None or author is None or at is None or text is None:
        return None
    return Submission(id=id, author=author, at=at, text=text, revises=revises)
