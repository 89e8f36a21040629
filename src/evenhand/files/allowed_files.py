"""Which files may be read, and whether they are there: the first is always looked at before the second."""

from __future__ import annotations

import errno
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
_ALLOWED_FOLDERS: ContextVar[tuple[tuple[Path, str], ...]] = ContextVar("allowed_folders", default=())  # With hints.
_OUTSIDE = "is outside the folder"


@contextmanager
def allow_files_below(folder: Path, hint: str) -> Iterator[None]:
    """Within it, what a file names is read below a folder only; what ships with the package is read anyway.

    Where one stands within another, what is read is below both.
    """
    before = _ALLOWED_FOLDERS.set((*_ALLOWED_FOLDERS.get(), (folder.resolve(), hint)))
    try:
        yield
    finally:
        _ALLOWED_FOLDERS.reset(before)


def allow_shipped_files(hint: str) -> AbstractContextManager[None]:
    """Within it, nothing that a file names is read but what ships with the package."""
    return allow_files_below(_PACKAGE, hint)


def explain_forbidden_path(path: Path) -> Fault | None:
    """Why a path may not be read here, also by way of a link; None where it may, be it there or not."""
    found = _find_allowed_path(path)
    return found if isinstance(found, Fault) else None


def _find_allowed_path(path: Path) -> Path | Fault:
    """Where a path leads, looked up once; the path as it is where any may be read."""
    allowed = _ALLOWED_FOLDERS.get()
    if not allowed:
        return path
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):  # Links in a circle, or links that are changed meanwhile.
        return Fault(_OUTSIDE, allowed[-1][1])
    if found.is_relative_to(_PACKAGE):
        return found
    return next((Fault(_OUTSIDE, hint) for folder, hint in allowed if not found.is_relative_to(folder)), found)


def refuse_forbidden_path(path: Path, error: type[InputError]) -> None:
    """Refuse what may not be read here, in the same words whether it is there or not."""
    outside = explain_forbidden_path(path)
    if outside is not None:
        raise error(replace(outside, where=str(path)))


def is_allowed_file(path: Path) -> bool:
    """Whether a file that may be read here is there; of others, it is never said that they are."""
    found = _find_allowed_path(path)  # Unlike Path.is_file, os.path bears any name.
    return not isinstance(found, Fault) and os.path.isfile(found)  # noqa: PTH113


def is_allowed_folder(path: Path) -> bool:
    """The same of a folder."""
    found = _find_allowed_path(path)
    return not isinstance(found, Fault) and os.path.isdir(found)  # noqa: PTH112


def is_allowed_path_there(path: Path) -> bool:
    """The same of whatever it is."""
    found = _find_allowed_path(path)
    return not isinstance(found, Fault) and os.path.exists(found)  # noqa: PTH110


def is_optional_file_there(path: Path, error: type[InputError]) -> bool:
    """Whether a file that may be missing is there; one that may not be read is refused first."""
    refuse_forbidden_path(path, error)
    return is_allowed_file(path)


def follow_allowed_path(path: Path) -> Path:
    """The path without links: a way that leads out and back in would tell whether the folders on it are there.

    An OSError where it leads elsewhere by now: links may be changed at any moment.
    """
    found = _find_allowed_path(path)
    if isinstance(found, Fault):
        raise PermissionError(errno.EACCES, f"it {found.what}")
    return found


def open_allowed_file(path: Path) -> BufferedReader:
    """A file that may be read here, for reading; one, or a link, that is put in its place meanwhile is not opened."""
    found, allowed = follow_allowed_path(path), _ALLOWED_FOLDERS.get()
    if not allowed:
        return found.open("rb")
    outermost = min((folder for folder, _ in allowed), key=lambda folder: len(folder.parts))
    return open_file_below(_PACKAGE if found.is_relative_to(_PACKAGE) else outermost, found)


def resolve_changing_path(path: Path) -> Path:
    """The path without links, to tell files apart; as it is written where links on it are changed meanwhile."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()


_NAMES_BELOW = "a file of samples names files below that folder; the eval file itself may name any"


def allow_files_named_by_samples(folder: Path) -> AbstractContextManager[None]:
    """Within it, what a file of samples names is read below the folder of its eval, wherever links lead by then."""
    return allow_files_below(folder, _NAMES_BELOW)


def refuse_path_outside_folder(name: str, folder: Path, error: type[InputError], *, beside: Path | None = None) -> None:
    """Refuse what data may not name: an absolute path, or one that leads out of the folder of its eval.

    The name is relative to that folder, or to another one below it. Links may be changed afterwards: whoever reads
    the file does so within `allow_files_named_by_samples`.
    """
    inside = "\0" not in name and not Path(name).is_absolute()
    try:
        inside = inside and ((beside or folder) / name).resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise error(Fault(f"{name[:200]!r} is outside the folder of the eval", _NAMES_BELOW))
