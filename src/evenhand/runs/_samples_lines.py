"""The lines of a file, one at a time and of bounded length, whatever the path leads to."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from evenhand.errors import EvalError, Fault

LONGEST = 10_000_000
TOO_LONG = f"longer than the {LONGEST:,} bytes allowed for one sample"
NOT_UTF8 = Fault("not UTF-8 text", "save the file as UTF-8")

_BOM = b"\xef\xbb\xbf"


def lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number and its line break; None in place of one that is too long."""
    with opened(path) as file:
        number = 1
        line: bytes | None = _bounded(file)
        if line and line.startswith(_BOM):
            line = line[len(_BOM) :]
        while line is None or line:
            yield number, line
            number += 1
            line = _bounded(file)


def opened(path: Path) -> BufferedReader:
    """The file, open for reading from its start, or an error that says why it is none."""
    why = unreadable(path)
    if why is not None:
        raise EvalError(Fault(why.what, why.hint, where=str(path)))
    try:
        return path.open("rb")
    except OSError as problem:
        raise EvalError(
            Fault(f"cannot be read: {(problem.strerror or str(problem)).lower()}", where=str(path))
        ) from None


def unreadable(path: Path) -> Fault | None:
    """Why a path cannot be read over and over, where that is so."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as problem:
        return Fault(f"cannot be read: {(getattr(problem, 'strerror', None) or str(problem)).lower()}")
    if stat.S_ISDIR(mode):
        return Fault("is a folder", "name a file in it")
    if not stat.S_ISREG(mode):
        return Fault("is not a regular file", "it is read more than once: save what it gives to a file")
    return None


def _bounded(file: BufferedReader) -> bytes | None:
    line = file.readline(LONGEST + 1)
    if len(line) <= LONGEST:
        return line
    while line and not line.endswith(b"\n"):
        line = file.readline(LONGEST)
    return None
