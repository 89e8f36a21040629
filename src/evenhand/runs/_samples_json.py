"""Samples out of JSONL, one object per line, and out of a JSON list."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NoReturn

from evenhand.errors import EvalError, Fault, RubricError
from evenhand.loading._files import read_text
from evenhand.loading._json import parse_json
from evenhand.loading._tree import line_of
from evenhand.runs._samples_lines import NOT_UTF8, TOO_LONG, lines, opened
from evenhand.runs._samples_sound import DEEPEST, unsound

LARGEST_LIST = 50_000_000
MOST_LOCATED = 5_000_000


class JsonLines:
    """The objects of a JSONL file with their lines; empty lines are passed over."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._path = path

    def __iter__(self) -> Iterator[tuple[int, object]]:
        for number, line in lines(self._path):
            if line is None:
                yield number, Fault(TOO_LONG)
            elif not line.isspace():
                yield number, line_value(line)

    def place(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.where}:{number}"


class JsonList:
    """The entries of a small JSON file with a list in it."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._path = path
        self._line = cache(self._found_line)

    def __iter__(self) -> Iterator[tuple[int, object]]:
        opened(self._path).close()
        text = read_text(self._path, LARGEST_LIST, EvalError)
        value = value_in(text)
        if isinstance(value, Fault):
            several = value.what.endswith("Extra data")
            hint = "one object per line is JSONL: write format: jsonl" if several else value.hint
            raise EvalError(Fault(value.what, hint, where=self.where))
        if not isinstance(value, list):
            raise EvalError(Fault("expected a list of samples", 'as in [{"input": …}, …]', where=self.where))
        yield from enumerate(value)

    def place(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.where}:{self._line(number)}"

    def _found_line(self, number: int) -> int:
        # Only a file with a fault is read once more for its lines.
        try:
            tree = parse_json(read_text(self._path, LARGEST_LIST, EvalError), MOST_LOCATED, lenient=True)
        except RubricError:
            return 1
        return line_of(tree, (number,)) if tree else 1


def line_value(line: bytes) -> object:
    """The value in a line of JSONL, or the Fault why there is none."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    return value_in(text)


def value_in(text: str) -> object:
    """The value in a JSON text, or the Fault why there is none that can be kept."""
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text.rstrip() else ""
        return Fault(f"not valid JSON: {error.msg.removesuffix(' at')}", f"{line}column {error.colno}")
    except RecursionError:
        return Fault(f"nested more than {DEEPEST} deep")
    except ValueError as error:
        return Fault(str(error).split(";")[0])
    # Looking at every value takes longer than reading it, and few lines can hold anything odd.
    if ("\\" in text and "\\u" in text) or text.count("{") + text.count("[") > DEEPEST:
        why = unsound(value)
        return Fault(why) if why else value
    return value


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:20]} is too large")
    return value


def _constant(word: str) -> NoReturn:
    raise ValueError(f"not valid JSON: {word} is not a number in JSON")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice[:60]!r} is given twice")
    return found


_decode = json.JSONDecoder(parse_float=_float, parse_constant=_constant, object_pairs_hook=_object).decode
