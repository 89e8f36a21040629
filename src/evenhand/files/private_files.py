"""Files that only their owner may read, and files in folders that others write to: each is opened once and never
replaced.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Literal, TextIO, cast

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
        with open_private_text_file(folder / ".gitignore") as file:
            file.write(IGNORED_BY_GIT)


def create_private_file(path: Path) -> None:
    """See that a file is there and can be written; a new one is empty and for its owner alone.

    A file that is there is never opened: closing it would drop every lock that this process holds on it, and SQLite
    would take the store for one that nobody uses. For the same reason a new one gets its name only when it is closed.
    """
    path = Path(os.path.realpath(path))
    if path.exists():
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    descriptor, made = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(descriptor)
    try:
        os.link(made, path)
    except FileExistsError:
        return  # Another process was faster.
    except OSError:  # A file system without hard links.
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    finally:
        Path(made).unlink()


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


def list_files_of_foreign_folder(folder: Path, name: str = "") -> list[tuple[str, ForeignKind]]:
    """The names in a folder, or in one that is in it, with what each is now; an OSError where it cannot be read."""
    with _open_file_below(folder, name, _FOLDER_FLAGS) as way, os.scandir(way[-1]) as entries:
        return [(entry.name, _find_folder_entry_kind(entry)) for entry in entries]


def read_foreign_file(folder: Path, name: str, most: int) -> ForeignFile:
    """A file in a folder, or in one that is in it: at most so many bytes. An OSError for what is not a plain file."""
    with _open_file_below(folder, name, _FILE_FLAGS) as way:
        opened = way[-1] if isinstance(way[-1], int) else os.open(way[-1], _FILE_FLAGS)
        with os.fdopen(opened, "rb", closefd=not isinstance(way[-1], int)) as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            content = file.read(most)
            # After it was read: what changes it meanwhile makes it later, never earlier.
            changed = max(_read_file_change_time(part) for part in (opened, *way[1:-1]))
    return ForeignFile(content, changed)


def _read_file_change_time(part: int | Path) -> int:
    return (part.stat() if isinstance(part, Path) else os.fstat(part)).st_ctime_ns


def _find_folder_entry_kind(entry: os.DirEntry[str]) -> ForeignKind:
    try:
        if entry.is_symlink():
            return "link"
        return "folder" if entry.is_dir() else "file" if entry.is_file() else "other"
    except OSError:
        return "other"


@contextmanager
def _open_file_below(folder: Path, name: str, flags: int) -> Iterator[list[int | Path]]:
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


def open_file_below(folder: Path, found: Path) -> BufferedReader:
    """A file for reading, by its resolved path below a folder: no link on the way is followed, whoever put it there."""
    parts = found.relative_to(folder).parts or (".",)
    if os.open not in os.supports_dir_fd:
        return found.open("rb")
    place = os.open(folder, os.O_RDONLY)
    try:
        for part in parts[:-1]:  # Each as it is at that moment.
            inside = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
            os.close(place)
            place = inside
        file = os.fdopen(os.open(parts[-1], _FILE_FLAGS, dir_fd=place), "rb")
    finally:
        os.close(place)
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "it is not a regular file")
