"""Files that are written for users: new ones take the place of none, and private ones only their owner may read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from evenhand.errors import Fault, InputError, make_unwritable_file_error

OWNER_ONLY = 0o600
OWNER_ONLY_FOLDER = 0o700
IGNORED_BY_GIT = "*\n"


def make_private_folder(folder: Path, *, ignored: bool = False) -> None:
    """Make a folder for its owner alone, and where it is `ignored` keep what is in it out of Git; one that is there
    is left as it is.
    """
    if folder.is_dir():
        return
    try:
        folder.mkdir(mode=OWNER_ONLY_FOLDER, parents=True)
    except FileExistsError:
        if folder.is_dir():
            return  # Another process was faster.
        raise
    if ignored:
        (folder / ".gitignore").write_text(IGNORED_BY_GIT, "utf-8")


def create_private_file(path: Path) -> None:
    """See that a file is there; a new one is empty and for its owner alone."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, OWNER_ONLY))


def require_new_file(path: Path, hint: str = "name another file") -> None:
    """An InputError where a file is there already, or none can be written: to be said before anything is asked."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
        path.unlink()
    except FileExistsError:
        raise InputError(Fault("there is such a file already", hint, where=str(path))) from None
    except OSError as problem:
        raise make_unwritable_file_error(str(path), problem) from None


def open_private_text_file(path: Path, target: Path | None = None) -> TextIO:
    """A text file to write; where it will take the place of a `target` that is there, with the mode of that."""
    return open(path, "w", encoding="utf-8", newline="", opener=_open_private_file_as(target))


def open_private_bytes_file(path: Path, mode: str = "wb", buffering: int = -1) -> BinaryIO:
    """A file to write or, with "ab", to append to."""
    return cast(BinaryIO, open(path, mode, buffering, opener=_open_private_file_as(None)))


def _open_private_file_as(target: Path | None) -> Callable[[str, int], int]:
    mode = target.stat().st_mode & 0o777 if target is not None and target.is_file() else OWNER_ONLY

    def open_file(path: str, flags: int) -> int:
        descriptor = os.open(path, flags, mode)
        if target is not None and mode != OWNER_ONLY:
            os.fchmod(descriptor, mode)
        return descriptor

    return open_file
