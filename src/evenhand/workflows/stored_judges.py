"""The judges of a stored run as connections, made here and nowhere else: an imported run may name anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import Fault, InputError
from evenhand.files.python_functions import add_python_import_folder
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel
from evenhand.store.rows import Row


def open_run_judges(
    connections: Connections, run: Row, judges: Sequence[str], *, named: Sequence[str] = (), option: str = "--model"
) -> list[ChainedModel]:
    """The judges that a stored run names, or those that were named instead, to be asked now.

    Of a run that was imported only the latter: its judges may be code, files, and servers that wait for a key.
    """
    if not named and run["imported"] is not None:
        what = f"run {run['id']} was imported, and judges that it names are never opened"
        raise InputError(Fault(what, f"name who is asked: {option} NAME"))
    asked = named or judges
    if any(name.startswith("python:") for name in asked):
        add_python_import_folder(Path())
    return [find_judge_by_name(connections, name) for name in asked]
