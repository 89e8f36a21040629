"""Files in a folder that others write to: each is opened once, and what was opened is what is looked at and read.

Whoever owns a folder can put a link or a pipe in the place of a file between two looks at its name.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ForeignKind = Literal["file", "folder", "link", "other"]

# Neither follows a link nor waits for a pipe; Windows has none of them, and no links without special rights.
_FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_FOLDER_FLAGS = _FILE_FLAGS | getattr(os, "O_DIRECTORY", 0)
_OPENS_BELOW = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """What was in a file, and when the system last saw it or the folders on the way to it change, in nanoseconds."""

    content: bytes
    changed: int


def list_foreign_folder(folder: Path, name: str = "") -> list[tuple[str, ForeignKind]]:
    """The names in a folder, or in one that is in it, with what each is now; an OSError where it cannot be read."""
    with _open_below(folder, name, _FOLDER_FLAGS) as way, os.scandir(way[-1]) as entries:
        return [(entry.name, _find_entry_kind(entry)) for entry in entries]


def read_foreign_file(folder: Path, name: str, most: int) -> ForeignFile:
    """A file in a folder, or in one that is in it: at most so many bytes. An OSError for what is not a plain file."""
    with _open_below(folder, name, _FILE_FLAGS) as way:
        opened = way[-1] if isinstance(way[-1], int) else os.open(way[-1], _FILE_FLAGS)
        with os.fdopen(opened, "rb", closefd=not isinstance(way[-1], int)) as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            content = file.read(most)
            # After it was read: what changes it meanwhile makes it later, never earlier.
            changed = max(_read_change_time(part) for part in (opened, *way[1:-1]))
    return ForeignFile(content, changed)


def _read_change_time(part: int | Path) -> int:
    return (part.stat() if isinstance(part, Path) else os.fstat(part)).st_ctime_ns


def _find_entry_kind(entry: os.DirEntry[str]) -> ForeignKind:
    try:
        if entry.is_symlink():
            return "link"
        return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"
    except OSError:
        return "other"


@contextmanager
def _open_below(folder: Path, name: str, flags: int) -> Iterator[list[int | Path]]:
    """A folder, what is on the way to a name in it, and what the name says: all open, each from the one before."""
    parts = [part for part in name.split("/") if part]
    if not _OPENS_BELOW:
        yield [folder, *(folder.joinpath(*parts[: end + 1]) for end in range(len(parts)))]
        return
    with ExitStack() as opened:
        last = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, last)
        way: list[int | Path] = [last]
        for place, part in enumerate(parts, start=1):
            last = os.open(part, flags if place == len(parts) else _FOLDER_FLAGS, dir_fd=last)
            opened.callback(os.close, last)
            way.append(last)
        yield way
