"""Samples as blocks of inert JSON: an index for the table, and a line per sample that is read when it is opened."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

SAMPLES = 100  # In a block: few enough to search one without a pause, enough to keep the page's tree small.
SNIPPET = 140  # Characters of the input that the table shows.

_RISKY = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def blocks(samples: Iterable[dict[str, Any]]) -> Iterator[str]:
    """The pieces of all blocks, in order; a sample is forgotten as soon as it is a piece."""
    rest = iter(samples)
    for sample in rest:
        rows = []
        yield '<script type="application/json" class="samples">\n'
        for one in _chain(sample, islice(rest, SAMPLES - 1)):
            rows.append(_row(one))
            yield inert(one) + "\n"
        yield f'</script>\n<script type="application/json" class="index">{inert(rows)}</script>\n'


def inert(data: object) -> str:
    """JSON on one line in which no text can end a script element, nor begin a comment in it."""
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return inert(_finite(data))
    return _RISKY.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _finite(data: object) -> object:
    """The same with the words for what JSON has no number for: such values come in with the metadata of a sample."""
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data


def _chain(first: dict[str, Any], rest: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield first
    yield from rest


def _row(sample: dict[str, Any]) -> list[object]:
    """What the table needs of a sample: id, beginning of the input, tags, results."""
    return [sample["id"], _beginning(sample), sample["tags"], [_entry(one) for one in sample["results"]]]


def _entry(result: dict[str, Any]) -> list[object]:
    failed = [one["name"] for one in result["assertions"] if one["passed"] is False]
    value = result["score"] if result["composite"] is None else result["composite"]
    return [result["variant"], result["state"], result["verdict"], value, failed, len(result["findings"])]


def _beginning(sample: dict[str, Any]) -> str:
    text = sample["input"]
    if not text and sample["messages"]:
        text = sample["messages"][-1]["text"]
    shown = text if isinstance(text, str) else "" if text is None else json.dumps(text, ensure_ascii=False)
    return shown if len(shown) <= SNIPPET else shown[: SNIPPET - 1] + "…"
