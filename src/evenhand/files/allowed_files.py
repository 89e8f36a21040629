"""Which files may be read, and whether they are there: the first is always looked at before the second."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from io import BufferedReader
from pathlib import Path

from evenhand.errors import Fault, InputError
from evenhand.files.private_files import open_file_below

_PACKAGE = Path(__file__).resolve().parents[1]
_ALLOWED_FOLDER: ContextVar[tuple[Path, str] | None] = ContextVar("allowed_folder", default=None)  # And a hint.


@contextmanager
def allow_files_below(folder: Path, hint: str) -> Iterator[None]:
    """Within it, what a file names is read below a folder only; what ships with the package is read anyway."""
    before = _ALLOWED_FOLDER.set((folder.resolve(), hint))
    try:
        yield
    finally:
        _ALLOWED_FOLDER.reset(before)


def allow_shipped_files(hint: str) -> AbstractContextManager[None]:
    """Within it, nothing that a file names is read but what ships with the package."""
    return allow_files_below(_PACKAGE, hint)


def explain_forbidden_path(path: Path) -> Fault | None:
    """Why a path may not be read here, also by way of a link; None where it may, be it there or not."""
    allowed = _ALLOWED_FOLDER.get()
    if allowed is None:
        return None
    folder, hint = allowed
    try:
        found = path.resolve()
        inside = found.is_relative_to(folder) or found.is_relative_to(_PACKAGE)
    except (OSError, ValueError, RuntimeError):
        inside = False
    return None if inside else Fault("is outside the folder", hint)


def refuse_forbidden_path(path: Path, error: type[InputError]) -> None:
    """Refuse what may not be read here, in the same words whether it is there or not."""
    outside = explain_forbidden_path(path)
    if outside is not None:
        raise error(replace(outside, where=str(path)))


def is_allowed_file(path: Path) -> bool:
    """Whether a file that may be read here is there; of others, it is never said that they are."""
    # Unlike Path.is_file, os.path bears any name.
    return explain_forbidden_path(path) is None and os.path.isfile(follow_allowed_path(path))  # noqa: PTH113


def is_allowed_folder(path: Path) -> bool:
    """The same of a folder."""
    return explain_forbidden_path(path) is None and os.path.isdir(follow_allowed_path(path))  # noqa: PTH112


def is_allowed_path_there(path: Path) -> bool:
    """The same of whatever it is."""
    return explain_forbidden_path(path) is None and os.path.exists(follow_allowed_path(path))  # noqa: PTH110


def is_optional_file_there(path: Path, error: type[InputError]) -> bool:
    """Whether a file that may be missing is there; one that may not be read is refused first."""
    refuse_forbidden_path(path, error)
    return is_allowed_file(path)


def follow_allowed_path(path: Path) -> Path:
    """The path without links: a way that leads out and back in would tell whether the folders on it are there."""
    return path if _ALLOWED_FOLDER.get() is None else path.resolve()


def open_allowed_file(path: Path) -> BufferedReader:
    """A file that may be read here, for reading; one, or a link, that is put in its place meanwhile is not opened."""
    allowed = _ALLOWED_FOLDER.get()
    if allowed is None:
        return path.open("rb")
    found = path.resolve()
    return open_file_below(_PACKAGE if found.is_relative_to(_PACKAGE) else allowed[0], found)


def refuse_path_outside_folder(name: str, folder: Path, error: type[InputError], *, beside: Path | None = None) -> None:
    """Refuse what data may not name: an absolute path, or one that leads out of the folder of its eval.

    The name is relative to that folder, or to another one below it.
    """
    inside = "\0" not in name and not Path(name).is_absolute()
    if not inside or not ((beside or folder) / name).resolve().is_relative_to(folder.resolve()):
        hint = "a file of samples names files below that folder; the eval file itself may name any"
        raise error(Fault(f"{name[:200]!r} is outside the folder of the eval", hint))
