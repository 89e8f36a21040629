"""JSON or JSONL text to plain values: exact decimals, keys given twice remembered, and a way back to the line."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import cache

from evenhand import errors
from evenhand.errors import AnswersError, Fault, RubricError
from evenhand.loading._json import parse_json
from evenhand.loading._tree import Node, line_of

# Only a file with a fault is read once more for its lines.
MOST_LOCATED = 5_000_000


class Twice(dict[str, object]):
    """A JSON object in which a key came more than once; `twice` maps it to all its values."""

    twice: dict[str, list[object]]

    def differing(self) -> list[str]:
        """The keys whose values contradict each other."""
        return [key for key, values in self.twice.items() if any(value != values[0] for value in values)]


def parse_values(text: str, where: str) -> tuple[object, Callable[[errors.Path], str]]:
    """The data of a JSON text, or of one value per line, and how to find a path's place in it."""
    tree = cache(lambda: _tree(text))
    try:
        return decoded_json(text), lambda path: f"{where}:{line_of(found, path) if (found := tree()) else 1}"
    except json.JSONDecodeError as error:
        # Not splitlines: a string may hold other line breaks than the one that ends a line of JSONL.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            place = f"{where}:{error.lineno}"
            raise AnswersError(Fault(f"not valid JSON: {error.msg}", "answers are JSON or JSONL", (), place)) from None
    rows = [_row(line, f"{where}:{number}") for number, line in lines]
    return rows, lambda path: f"{where}:{lines[int(path[0])][0]}" if path else where


def _row(line: str, where: str) -> object:
    try:
        return decoded_json(line)
    except json.JSONDecodeError as error:
        raise AnswersError(Fault(f"not valid JSON: {error.msg}", where=where)) from None
    except AnswersError as error:
        raise error.located(lambda _: where) from None


def decoded_json(text: str) -> object:
    """The value of a JSON text: exact decimals, and what an object says twice remembered."""
    try:
        return json.loads(text, parse_float=decimal_in, object_pairs_hook=object_of)
    except RecursionError:
        raise AnswersError("nested too deep") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise AnswersError(f"a number that cannot be read: {str(error).split(';')[0]}") from None


def decimal_in(text: str) -> Decimal:
    """The exact number a text is; infinite where it is beyond counting."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")  # Beyond every scale, and so unreadable.


def object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object from its pairs, which remembers what it says twice."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    values: dict[str, list[object]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    result = Twice(plain)
    result.twice = {key: given for key, given in values.items() if len(given) > 1}
    return result


def _tree(text: str) -> Node | None:
    try:
        return parse_json(text, MOST_LOCATED, lenient=True)
    except RubricError:
        return None
