"""JSON text to a tree that remembers its lines, without recursion."""

from __future__ import annotations

import json
import re

from evenhand.errors import RubricError
from evenhand.loading._tree import MOST_NODES, Builder, Mapping, Node, Scalar, Sequence, at

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<word>true|false|null|-?Infinity|NaN)
      | (?P<mark>[\[\]{},:])""",
    re.VERBOSE,
)
_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_WHAT = {"value": "a value", "key": "a key in quotes", "colon": "':'", "after": "',' or the end"}


def parse_json(text: str, most_nodes: int = MOST_NODES, *, lenient: bool = False) -> Node | None:
    """The value in a JSON text; None where it is empty. Lenient, it only looks for places, whatever stands there."""
    reader = _Reader(Builder(most_nodes, lenient=lenient))
    position, line = 0, 1
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            found = text[position : position + 12].split("\n", maxsplit=1)[0]
            raise RubricError(at(line, f"not valid JSON: expected {_WHAT[reader.expects]}, found {found!r}"))
        if token.lastgroup != "space":
            if token.group() in _CONSTANTS and not lenient:
                raise RubricError(at(line, f"not valid JSON: expected a value, found {token.group()!r}"))
            reader.take(token.lastgroup or "", token.group(), line)
        line += token.group().count("\n")
        position = token.end()
    if reader.nesting or (reader.builder.root is None and reader.started):
        raise RubricError(at(line, "not valid JSON: the file ends too early"))
    return reader.builder.root


class _Reader:
    """What may come next in a JSON text."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.nesting: list[str] = []
        self.expects = "value"
        self.started = False
        self._may_close = False

    def take(self, kind: str, token: str, line: int) -> None:
        """Accept one token, or say what was expected in its place."""
        self.started = True
        if token in ("]", "}"):
            self._close(token, line)
        elif self.expects == "value" and token == "{":
            self._open(Mapping(line), "}", "key")
        elif self.expects == "value" and token == "[":
            self._open(Sequence(line), "]", "value")
        elif self.expects in ("value", "key") and kind == "string":
            self._add(Scalar(json.loads(token), line, quoted=self.expects == "value"))
        elif self.expects == "value" and kind in ("number", "word"):
            self._add(Scalar(token, line))
        elif self.expects == "colon" and token == ":":
            self.expects = "value"
        elif self.expects == "after" and token == "," and self.nesting:
            self.expects = "key" if self.nesting[-1] == "}" else "value"
        else:
            expected = _WHAT[self.expects] if self.nesting or self.expects == "value" else "the end of the file"
            raise RubricError(at(line, f"not valid JSON: expected {expected}, found {token[:12]!r}"))

    def _open(self, node: Mapping | Sequence, closer: str, expects: str) -> None:
        self.builder.open(node)
        self.nesting.append(closer)
        self.expects = expects
        self._may_close = True

    def _close(self, token: str, line: int) -> None:
        if not self.nesting or self.nesting[-1] != token or not (self.expects == "after" or self._may_close):
            raise RubricError(at(line, f"not valid JSON: expected {_WHAT[self.expects]}, found {token!r}"))
        self.builder.close()
        self.nesting.pop()
        self.expects = "after"
        self._may_close = False

    def _add(self, scalar: Scalar) -> None:
        self.builder.add(scalar)
        self.expects = "colon" if self.expects == "key" else "after"
        self._may_close = False
