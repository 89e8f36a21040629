"""A working eval with data, written to a folder to begin with."""

from __future__ import annotations

from pathlib import Path

from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.files.methods import LIBRARY

STARTER_FOLDER = LIBRARY / "starter"


def write_starter_eval(folder: str) -> list[Path]:
    """Write the files of the starter; none that is there already is replaced."""
    target = Path(folder)
    files = sorted(STARTER_FOLDER.iterdir())
    written = [target / file.name for file in files]
    there = next((path for path in written if path.exists()), None)
    if there is not None:
        raise InputError(Fault("it exists already", "name another folder: evenhand init FOLDER", where=str(there)))
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file, path in zip(files, written, strict=True):
            path.write_bytes(file.read_bytes())
    except OSError as problem:
        raise make_unwritable_file_error(folder, problem) from None
    return written
