"""A quicker way to make frozen dataclasses with slots: a judge call makes some forty objects with two hundred fields.

The `__init__` that Python writes for a frozen class looks up `object.__setattr__` for every field and sets it by name.
The one written here sets each slot by its own descriptor, in a third of the time. All else of the class stays.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def set_slots_directly(cls: type[T]) -> type[T]:
    """The class with such an `__init__`: the same parameters in the same order, and `__post_init__` at the end."""
    known: dict[str, Any] = {"MISSING": MISSING}
    own = fields(cls)  # type: ignore[arg-type]
    placed = [_write_parameter(one, known) for one in own if not one.kw_only]
    named = [_write_parameter(one, known) for one in own if one.kw_only]
    lines = [_write_setting(one, getattr(cls, one.name).__set__, known) for one in own]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    signature = ", ".join(["self", *placed, *(["*", *named] if named else [])])
    exec(f"def __init__({signature}):\n    " + "\n    ".join(lines), known)
    init, before = known["__init__"], vars(cls)["__init__"]
    for name in ("__annotations__", "__qualname__", "__module__"):
        setattr(init, name, getattr(before, name))
    setattr(cls, "__init__", init)  # noqa: B010 - assigned, mypy would take it for a mistake.
    return cls


def _write_parameter(one: Field[Any], known: dict[str, Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=MISSING"
    known[f"default_{one.name}"] = one.default
    return one.name if one.default is MISSING else f"{one.name}=default_{one.name}"


def _write_setting(one: Field[Any], set_slot: Callable[[Any, Any], None], known: dict[str, Any]) -> str:
    known[f"set_{one.name}"], known[f"make_{one.name}"] = set_slot, one.default_factory
    made = f"make_{one.name}() if {one.name} is MISSING else " if one.default_factory is not MISSING else ""
    return f"set_{one.name}(self, {made}{one.name})"
