"""Values that cannot be kept: half characters, NUL, numbers that are none, nesting without end."""

from __future__ import annotations

import math
from collections.abc import Mapping

DEEPEST = 60

HALF = "half a character (a lone surrogate), which no file can hold"
NUL = "a NUL character, which no database can hold"


def unsound(value: object) -> str:
    """Why plain data cannot be kept; empty where it can."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, str):
            if why := unsound_text(value):
                return why
        elif isinstance(value, float) and not math.isfinite(value):
            return f"the number {value}, which JSON does not know"
        elif isinstance(value, (Mapping, list, tuple)):
            if depth >= DEEPEST:
                return f"nested more than {DEEPEST} deep"
            waiting += [(part, depth + 1) for part in value]
            if isinstance(value, Mapping):
                if not all(isinstance(key, str) for key in value):
                    return "a key that is not text"
                waiting += [(part, depth + 1) for part in value.values()]
        elif value is not None and not isinstance(value, (bool, int, float)):
            return f"a value of the type {type(value).__name__}, which JSON does not know"
    return ""


def unsound_text(text: str) -> str:
    """Why a text cannot be kept; empty where it can."""
    if "\0" in text:
        return NUL
    try:
        text.encode()
    except UnicodeEncodeError:
        return HALF
    return ""
