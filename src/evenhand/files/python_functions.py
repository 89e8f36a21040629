"""Functions of the user's own, imported by name: the one place that changes where Python looks for modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def import_by_name(name: str, folder: Path) -> object:
    """What MODULE:NAME stands for, looked for from a folder too. Whatever importing it raises is passed on."""
    add_import_folder(folder)
    module, _, path = name.partition(":")
    thing: object = importlib.import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing


def add_import_folder(folder: Path) -> None:
    """Look for modules in a folder first, as `python -m` does; it stays, as a function may import neighbours later."""
    here = str(folder.absolute())
    if here not in (entry or str(Path().absolute()) for entry in sys.path):
        sys.path.insert(0, here)
