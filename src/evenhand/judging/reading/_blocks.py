"""Where values stand in a reply: outside of thinking, inside or outside of fences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.errors import AnswersError
from evenhand.judging.reading._tolerant import parse
from evenhand.judging.reading._values import Value
from evenhand.loading import decoded_json

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*[\w+\-]*[ \t]*\r?$", re.MULTILINE)
_HALF = re.compile(r"\\ud[89a-f]", re.IGNORECASE)  # JSON can spell half a character, which no file can hold.
_THINKING = r"(?:think|thinking|thought|reasoning|scratchpad)"
_MARK = re.compile(
    rf"(?P<line>\n)|(?P<quoting>\{{|[\"'”][ \t]{{0,8}}:)|(?P<opens><{_THINKING}>)|(?P<closes></{_THINKING}>)",
    re.IGNORECASE,
)


def values_in(text: str) -> tuple[Value, ...]:
    """Every top-level JSON-like object or array in the text, in order; thinking is not looked into."""
    whole = _clean(text)
    if whole is not None:
        return (whole,)
    found: list[Value] = []
    for start, end in answering(text):
        for part, stop in _between_fences(text, start, end):
            found.extend(parse(text, part, stop))
    return tuple(found)


def _clean(text: str) -> Value | None:
    """The one object that the whole text is, where it is plain JSON."""
    stripped = text.strip()
    data = clean_object(stripped)
    if data is None:
        return None
    start = text.index("{")
    return Value(data, True, start, start + len(stripped))


def clean_object(text: str) -> dict[str, object] | None:
    """The object that a text is, where it is plain JSON and nothing else: most replies are."""
    if not text.startswith("{") or not text.endswith("}") or _HALF.search(text):
        return None
    try:
        data = decoded_json(text)
    except (AnswersError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def without_thinking(text: str) -> str:
    """The reply without what the model thought before answering."""
    return "\n".join(text[start:end] for start, end in answering(text)).strip()


def answering(text: str) -> list[tuple[int, int]]:
    """The stretches of a reply that are not thinking."""
    stretches: list[tuple[int, int]] = []
    start: int | None = 0
    quoting = False
    for mark in _MARK.finditer(text):
        kind = mark.lastgroup
        if kind in ("line", "quoting"):
            quoting = kind == "quoting"
        elif kind == "opens" and start is not None and not quoting:
            stretches.append((start, mark.start()))
            start = None
        elif kind == "closes" and (start is None or not quoting):
            # A closing tag alone: the opening one was in the prompt, and all before it is thinking.
            stretches = stretches if start is None else []
            start, quoting = mark.end(), False
    if start is not None:
        stretches.append((start, len(text)))
    return [(start, end) for start, end in stretches if text[start:end].strip()]


def _between_fences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for fence in _FENCE.finditer(text, start, end):
        yield start, fence.start()
        start = fence.end()
    yield start, end
