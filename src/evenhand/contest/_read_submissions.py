"""Reading submissions: every file of a folder, or one file, in order of arrival."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evenhand.contest._submission import Submission
from evenhand.contest._submission_files import ENDINGS, TEXT_ENDINGS, Placed, in_file
from evenhand.errors import ContestError, Fault


def load_submissions(path: Path) -> tuple[Submission, ...]:
    """Those of a folder or a JSONL file, the earliest first; of those at one moment, by file name and line."""
    faults: list[Fault] = []
    try:
        found = _found(path, faults)
    except OSError as problem:
        why = (problem.strerror or str(problem)).lower()
        raise ContestError(Fault(f"cannot be read: {why}", where=str(path))) from None
    faults += _used_twice(found)
    if not faults and not found:
        hint = f"files that end in {' '.join(ENDINGS)} hold them"
        faults.append(Fault("there are no submissions in it", hint, where=str(path)))
    if faults:
        raise ContestError(*faults)
    return tuple(sorted((submission for _, submission in found), key=lambda submission: submission.at))


def load_submission(path: Path) -> Submission:
    """The one in a text file, handed in when the file was last changed, unless its front matter says otherwise."""
    if path.suffix.lower() not in TEXT_ENDINGS:
        hint = f"in a file that ends in {' or '.join(TEXT_ENDINGS)}"
        raise ContestError(Fault("one submission is a text", hint, where=str(path)))
    faults: list[Fault] = []
    found = in_file(path, faults)
    if faults:
        raise ContestError(*faults)
    return found[0][1]


def _found(path: Path, faults: list[Fault]) -> list[Placed]:
    found: list[Placed] = []
    for file in _files(path, faults):
        try:
            found += in_file(file, faults)
        except ContestError as error:
            faults += error.faults
    return found


def _files(path: Path, faults: list[Fault]) -> Iterator[Path]:
    """The files to read, in the order of their names; nothing is left out without a word but what is hidden."""
    if not path.is_dir():
        yield path
        return
    # By stem first, so that heron.md comes before heron-2.md.
    entries = sorted(path.iterdir(), key=lambda entry: (entry.stem, entry.name))
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            # Who hands in a link could have any file of this machine read to judges and quoted back.
            faults.append(Fault("is a link", "put the file itself here", where=str(entry)))
        elif entry.is_dir():
            hint = "submissions are read from one folder, not from those in it"
            faults.append(Fault("is a folder", hint, where=str(entry)))
        elif not entry.is_file():
            faults.append(Fault("is not a regular file", "", where=str(entry)))
        else:
            yield entry


def _used_twice(found: list[Placed]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for where, submission in found:
        if submission.id in first:
            what = f"the id {submission.id[:60]!r} is used twice, first in {first[submission.id]}"
            yield Fault(what, "each id is unique", where=where)
        first.setdefault(submission.id, where)
