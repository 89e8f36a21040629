"""Outputs out of plain data: a text, or a text with how it came about."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from evenhand.errors import Fault, Path, nearest
from evenhand.model import Made, ToolCall

FACTS = ("trace", "cost", "latency_ms", "turns", "author")
MADE_FIELDS = frozenset(("text", "output", *FACTS))
CALL_FIELDS = frozenset(("name", "input", "output"))

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LARGEST = Decimal(10**12)
_MOST_CALLS = 10_000


def read_made(value: object, path: Path, faults: list[Fault], author: str | None = None) -> Made | None:
    """The output in a value of a file; None where it is null, empty of facts, or wrong."""
    if isinstance(value, str):
        return Made(text=value, author=author)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return Made(text=str(value), author=author)
    if not isinstance(value, dict):
        hint = "put it in quotes" if isinstance(value, (float, bool)) else ""
        what = f"{_name(path)} must be a text or an object with a text, got {kind(value)}"
        faults.append(Fault(what, hint, path))
        return None
    refuse_unknown(value, MADE_FIELDS, path, faults)
    if all(entry is None for entry in value.values()):
        return None  # A row of a table has every column, whether there was an output or not.
    return made_of(value, path, faults, author)


def made_of(facts: Mapping[str, object], path: Path, faults: list[Fault], author: str | None = None) -> Made | None:
    """The output in an object with `text` or `output`; what else it holds is not looked at."""
    before = len(faults)
    text, other = facts.get("text"), facts.get("output")
    if text is not None and other is not None:
        faults.append(Fault(f"{_name(path)} has a text and an output", "keep one of them", path))
    text = other if text is None else text
    if not isinstance(text, str):
        what = "has no text" if text is None else f"has a text that is {kind(text)}"
        faults.append(Fault(f"{_name(path)} {what}", "leave the output out where there is none", path))
        return None
    made = Made(
        text=text,
        trace=read_trace(facts.get("trace"), (*path, "trace"), faults),
        cost=_number(facts, "cost", path, faults),
        latency_ms=_milliseconds(facts, path, faults),
        turns=_turns(facts, path, faults),
        author=read_author(facts.get("author"), (*path, "author"), faults) or author,
    )
    return made if len(faults) == before else None


def read_author(value: object, path: Path, faults: list[Fault]) -> str | None:
    """The name of the model that wrote an output."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    faults.append(Fault(f"{_name(path)} must be the name of a model, got {kind(value)}", path=path))
    return None


def read_trace(value: object, path: Path, faults: list[Fault]) -> tuple[ToolCall, ...] | None:
    """The calls of tools in a list of {name, input, output}."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) > _MOST_CALLS:
        what = f"must be a list of at most {_MOST_CALLS:,} tool calls, got {kind(value)}"
        faults.append(Fault(f"{_name(path)} {what}", "as in [{name: search, input: Berlin, output: …}]", path))
        return None
    return tuple(_call(one, (*path, at), faults) for at, one in enumerate(value))


def _call(value: object, path: Path, faults: list[Fault]) -> ToolCall:
    if not isinstance(value, dict):
        faults.append(Fault(f"{_name(path)} must be an object with the name of a tool, got {kind(value)}", path=path))
        return ToolCall("")
    refuse_unknown(value, CALL_FIELDS, path, faults)
    name = value.get("name")
    if not isinstance(name, str) or not name:
        faults.append(Fault(f"{_name(path)} needs the name of a tool", path=path))
    return ToolCall(str(name), value.get("input"), value.get("output"))


def _number(facts: Mapping[str, object], field: str, path: Path, faults: list[Fault]) -> Decimal | None:
    value = facts.get(field)
    if value is None:
        return None
    number = _decimal(value)
    if number is None or not 0 <= number <= _LARGEST:
        shown = repr(value)[:40] if isinstance(value, (str, int, float)) else kind(value)
        where = (*path, field)
        faults.append(Fault(f"{_name(where)} must be a number from 0 up, got {shown}", path=where))
        return None
    return number


def _milliseconds(facts: Mapping[str, object], path: Path, faults: list[Fault]) -> float | None:
    number = _number(facts, "latency_ms", path, faults)
    return None if number is None else float(number)


def _turns(facts: Mapping[str, object], path: Path, faults: list[Fault]) -> int | None:
    number = _number(facts, "turns", path, faults)
    if number is not None and number != int(number):
        faults.append(Fault(f"{_name((*path, 'turns'))} must be a whole number, got {number}", path=(*path, "turns")))
        return None
    return None if number is None else int(number)


def _decimal(value: object) -> Decimal | None:
    """The number that a value is or is written as; a float is taken as the shortest text that gives it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, (int, Decimal)):
        return Decimal(value) if Decimal(value).is_finite() else None
    text = value.strip() if isinstance(value, str) else ""
    return Decimal(text) if len(text) <= 50 and _NUMBER.fullmatch(text) else None


def refuse_unknown(
    value: Mapping[str, object], known: frozenset[str], path: Path, faults: list[Fault], advice: str = ""
) -> None:
    """A fault for every field that is none, with the nearest known one and further advice."""
    if value.keys() <= known:
        return
    for field in [field for field in value if field not in known][:10]:
        place = f" in {_name(path)}" if path else ""
        hint = nearest(str(field)[:40], known) + advice
        faults.append(Fault(f"unknown field {str(field)[:60]!r}{place}", hint, (*path, str(field))))


def kind(value: object) -> str:
    """A value for a message."""
    names = {dict: "an object", list: "a list", tuple: "a list", bool: "true or false", type(None): "null"}
    if isinstance(value, str):
        return "an empty text" if not value.strip() else "a text"
    return names.get(type(value), "a number" if isinstance(value, (int, float, Decimal)) else type(value).__name__)


def _name(path: Path) -> str:
    """A path as it is written in a sample: outputs.new.trace[0]."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part[:60]
    return text or "the output"
