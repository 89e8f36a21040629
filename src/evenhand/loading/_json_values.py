"""JSON or JSONL text to plain values: exact decimals, keys given twice remembered, and a way back to the line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal

from evenhand import errors
from evenhand.errors import AnswersError, Fault, RubricError
from evenhand.loading._json import parse_json
from evenhand.loading._tree import line_of


def parse_values(text: str, where: str) -> tuple[object, Callable[[errors.Path], str]]:
    """The data of a JSON text, or of one value per line, and how to find a path's line in it."""
    try:
        return _decode(text), lambda path: f"{where}:{_line(text, path)}"
    except json.JSONDecodeError as error:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise AnswersError(
                Fault(f"not valid JSON: {error.msg}", "answers are JSON or JSONL", where=f"{where}:{error.lineno}")
            ) from None
    rows = [value for number, line in lines for value in _row(line, f"{where}:{number}")]
    numbers = [number for number, _ in lines]
    return rows, lambda path: f"{where}:{numbers[int(path[0])]}" if path else where


def _row(line: str, where: str) -> Iterator[object]:
    try:
        yield _decode(line)
    except json.JSONDecodeError as error:
        raise AnswersError(Fault(f"not valid JSON: {error.msg}", where=where)) from None


def _decode(text: str) -> object:
    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=_object)
    except RecursionError:
        raise AnswersError("nested too deep") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise AnswersError(f"a number that cannot be read: {str(error).split(';')[0]}") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    result = _Twice(plain)
    result.twice = {}
    for key, value in pairs:
        count = sum(other == key for other, _ in pairs)
        if count > 1:
            result.twice[key] = result.twice.get(key, False) or value != plain[key]
    return result


def _line(text: str, path: errors.Path) -> int:
    """Found only when something is wrong, by reading the text once more with its lines."""
    try:
        tree = parse_json(text)
    except RubricError:
        return 1
    return line_of(tree, path) if tree else 1


class _Twice(dict[str, object]):
    """A JSON object in which a key came more than once; `twice` maps it to whether the values differ."""

    twice: dict[str, bool]
