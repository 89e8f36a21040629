"""Code of the user's own: functions imported by name, hashed as a version; and the environment of programs, without
keys.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

DEEPEST_DEPENDENCY = 6  # Steps from the function to what it uses, and to what that uses.
MOST_DEPENDENCIES = 5_000
_PLAIN_TYPES = (str, bytes, int, float, complex, bool, type(None))


def import_by_python_path(name: str, folder: Path) -> object:
    """What MODULE:NAME stands for, looked for from a folder too. Whatever importing it raises is passed on."""
    add_python_import_folder(folder)
    module, _, path = name.partition(":")
    thing: object = importlib.import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing


def add_python_import_folder(folder: Path) -> None:
    """Look for modules in a folder first, as `python -m` does; it stays, as a function may import neighbours later."""
    here = str(folder.absolute())
    if here not in (entry or str(Path().absolute()) for entry in sys.path):
        sys.path.insert(0, here)


def name_python_function(call: Callable[..., object]) -> str:
    """MODULE:FUNCTION as the code says it; a lambda with its place, an object with its class."""
    inner = _unwrap_python_callable(call)
    if not isinstance(inner, FunctionType):
        name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
        return f"{getattr(inner, '__module__', None) or type(inner).__module__}:{name}"
    name = inner.__qualname__.replace(".<locals>", "")
    if inner.__name__ == "<lambda>":
        code = inner.__code__
        name = f"{name} in {Path(code.co_filename).name}, line {code.co_firstlineno}"
    return f"{inner.__module__}:{name}"


def read_python_object_version(thing: object) -> str:
    """What a function or an object states as its `version`; empty where it states none."""
    stated = getattr(thing, "version", None)
    return str(stated) if isinstance(stated, (str, int, float)) else ""


def hash_python_function(call: object) -> str:
    """The version of a function or an object: what it states as `version`, or a hash of its code and what that uses.

    Looked at are constants, defaults, closures, attributes, and globals that the code names, functions and classes of
    the user's among them. An object that shows nothing of itself counts by its class: state a `version` for more.
    """
    if stated := read_python_object_version(call):
        return f"stated {stated}"
    digest, seen = hashlib.sha256(), _SerialisedPythonObjects()
    for part in _serialise_python_value(call, 0, seen):
        digest.update(part.encode("utf-8", "backslashreplace") + b"\0")
    return digest.hexdigest()[:16]


def hash_python_module_file(name: str, folder: Path) -> str:
    """A hash of the file of a module, looked for from a folder first and not imported; empty where there is none."""
    top, *rest = name.split(".")
    found = PathFinder.find_spec(top, [str(folder.absolute())]) or PathFinder.find_spec(top)
    for part in rest:
        inside = found.submodule_search_locations if found else None
        found = PathFinder.find_spec(part, inside) if inside else None
    try:
        content = Path(found.origin).read_bytes() if found and found.origin else b""
    except OSError:
        content = b""
    return hashlib.sha256(content).hexdigest()[:16] if content else ""


def _unwrap_python_callable(call: object) -> object:
    while isinstance(call, (functools.partial, MethodType)):
        call = call.func if isinstance(call, functools.partial) else call.__func__
    return call


class _SerialisedPythonObjects:
    """What was described already; it is held, so that no id is given to another object meanwhile."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[int, object]] = {}

    def number(self, value: object) -> int | None:
        """The number of a value that was seen before; None where it is new."""
        known = self._held.get(id(value))
        if known is None:
            self._held[id(value)] = (len(self._held), value)
        return None if known is None else known[0]

    @property
    def full(self) -> bool:
        """Whether there is more than can be looked at."""
        return len(self._held) > MOST_DEPENDENCIES


def _serialise_python_value(value: object, depth: int, seen: _SerialisedPythonObjects) -> Iterator[str]:
    """A value as texts that are the same in every process for the same code and data."""
    if isinstance(value, _PLAIN_TYPES):
        yield f"{type(value).__name__} {value!r}"
        return
    before = seen.number(value)
    if before is not None or depth > DEEPEST_DEPENDENCY or seen.full:
        yield f"seen {before}" if before is not None else type(value).__qualname__
        return
    parts: list[object]
    if isinstance(value, FunctionType):
        installed = depth > 0 and _is_installed_python_module(value.__module__)
        parts = [name_python_function(value)] if installed else list(_list_python_function_parts(value))
    elif isinstance(value, CodeType):
        parts = [value.co_code, value.co_names, value.co_varnames, value.co_consts]
    elif isinstance(value, (functools.partial, MethodType)):
        bound = (value.args, value.keywords) if isinstance(value, functools.partial) else (value.__self__,)
        parts = [_unwrap_python_callable(value), *bound]
    elif isinstance(value, dict):  # And not any mapping: the environment is one.
        parts = [part for pair in value.items() for part in pair]
    elif isinstance(value, (list, tuple)):
        parts = list(value)
    elif isinstance(value, (set, frozenset)):  # In an order of its own in every process.
        parts = [*sorted(" ".join(_serialise_python_value(one, depth + 1, seen)) for one in value)]
    else:
        parts = _list_python_object_parts(value)
    yield f"{type(value).__qualname__} {len(parts)}"
    for part in parts:
        yield from _serialise_python_value(part, depth + 1, seen)


def _list_python_function_parts(function: FunctionType) -> Iterator[object]:
    """Its code, its defaults, what it closes over, and the globals that its code names."""
    yield function.__code__
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # Named and not set yet.
            yield None
    for name in sorted(_list_python_globals(function.__code__)):
        if name in function.__globals__:
            yield name
            yield function.__globals__[name]


def _list_python_globals(code: CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_list_python_globals, inner))


def _list_python_object_parts(value: object) -> list[object]:
    """A module or what a package brings by its name; a class of one's own by its members, an object by its state."""
    if isinstance(value, ModuleType):
        return [value.__name__]
    kind = value if isinstance(value, type) else type(value)
    parts: list[object] = [f"{kind.__module__}.{kind.__qualname__}"]
    if _is_installed_python_module(kind.__module__):
        return parts
    own = [one for one in kind.__mro__ if not _is_installed_python_module(one.__module__)]
    parts += [part for one in own for part in _list_python_members(vars(one))]
    if kind is not value:
        slots = [name for one in kind.__mro__ for name in getattr(one, "__slots__", ()) if isinstance(name, str)]
        state: dict[str, Any] = {name: getattr(value, name) for name in slots if hasattr(value, name)}
        parts += _list_python_members(state | getattr(value, "__dict__", {}))
    return parts


def _is_installed_python_module(name: str) -> bool:
    """Whether a module comes with Python or a package, and so changes only by another version of that."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    own = name == "__main__" or name.partition(".")[0] not in sys.stdlib_module_names
    return not own or not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)


def _list_python_members(members: Mapping[str, object]) -> list[object]:
    """Names and values in the order of names, without what Python adds to every class."""
    kept = {name: value for name, value in members.items() if not name.startswith("__") or name in ("__call__",)}
    return [part for name in sorted(kept) for part in (name, getattr(kept[name], "__func__", kept[name]))]


_PASSED_ON = re.compile(
    r"PATH|HOME|USER|LOGNAME|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|COMSPEC|PATHEXT|LANG|LANGUAGE"
    # Those that POSIX and glibc know: `LC_TOKEN` is no language.
    r"|LC_(?:ALL|CTYPE|COLLATE|MESSAGES|MONETARY|NUMERIC|TIME"
    r"|ADDRESS|IDENTIFICATION|MEASUREMENT|NAME|PAPER|TELEPHONE)",
    re.IGNORECASE,
)
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def build_program_environment(environ: Mapping[str, str], names: Iterable[str] = ()) -> dict[str, str]:
    """The variables that a program under test inherits; those of `names` that are set are added."""
    given = {name: value for name, value in environ.items() if _PASSED_ON.fullmatch(name)}
    named = {name: environ[name] for name in names if name in environ}
    return {"PATH": os.defpath, **given, **named}
