"""A file on its way: whoever reads it meanwhile sees the old one or the new one, never a part."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from evenhand.cli._text import while_read
from evenhand.errors import Fault, InputError


@contextmanager
def opened(output: str | None) -> Iterator[TextIO]:
    """The file to write to, there once all of it is; standard output where none is named."""
    if output is None:
        with while_read():
            yield sys.stdout
        return
    path = Path(output)
    refuse_folder(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        part.replace(path)
    except OSError as problem:
        raise unwritable(output, problem) from None
    finally:
        part.unlink(missing_ok=True)


def refuse_folder(path: Path) -> None:
    """A folder cannot be written over."""
    if path.is_dir():
        raise InputError(Fault("it is a folder", "name a file in it", where=str(path)))


def unwritable(output: str, problem: OSError) -> InputError:
    """That a file cannot be written, and why."""
    return InputError(Fault(f"cannot be written: {(problem.strerror or str(problem)).lower()}", where=output))
