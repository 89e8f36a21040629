"""The example run with one text in place of every other, and the kinds of text that try to do something."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.report.example import head, samples

Data = dict[str, Any]

DECIDING = {"state", "verdict", "role", "kind", "guard", "started", "of", "passed"}
PIECES = [
    "<script>", "&amp;", "|", "\\", "`", "**", "[x](https://example.com)", "@octocat", "#12", "GH-7", "www.example.com",
    "$x$", ":+1:", "=1+1", "+1", "-1", "\t=1", "'=1", "\r\n", "\n", "\n::error::x", "%0A", ",", ":", '"', "\x00",
    "\x1b[2J", "\x9b", "\u202e", "\u2066", "\u2028", "\u200b", "]]>", "<!--", "1. ", "- ", "# ", "\ufffe", "👩‍🚀", "ä",
    "W" * 3000,
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=6).map("".join)


def hostile(test: Callable[..., None]) -> Callable[..., None]:
    """The test with many hostile texts, every single piece among them."""
    test = given(HOSTILE)(test)
    for piece in PIECES:
        test = example(piece)(test)
    return test


def with_text(text: str) -> tuple[Data, list[Data]]:
    """Head and three samples in which every text is this one, the two variants aside, whose names only end in it."""
    whole, few = _plain()
    return _replaced(whole, text), [_replaced(one, text) for one in few]


@cache
def _plain() -> tuple[Data, list[Data]]:
    return head(), [*samples(8)][5:]


def _replaced(data: Any, text: str, key: str = "") -> Any:
    if isinstance(data, str):
        return f"{data}{text}" if data in ("old", "new") else data if key in DECIDING else text
    if isinstance(data, dict):
        return {_name(name, text): _replaced(value, text, name) for name, value in data.items()}
    return [_replaced(value, text, key) for value in data] if isinstance(data, list) else data


def _name(name: str, text: str) -> str:
    return f"{name}{text}" if name in ("old", "new", "fact", "behavior", "accuracy") else name
