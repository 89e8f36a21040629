"""What a page shows of samples: a list with why each deserves a look, and one sample in full."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from evenhand.report.html.formats import format_page_percent, format_page_signed_number
from evenhand.wording import format_figure, pluralize_count

SNIPPET_LENGTH = 140  # Characters of the input that a list shows.
LARGE_MOVE = 1.0  # Points of the composite that are a reason to look.


def shorten_page_input(asked: Any) -> str:
    """The beginning of an input, or of the last message."""
    if isinstance(asked, list) and asked and isinstance(asked[-1], dict):
        asked = asked[-1].get("text", "")
    text = asked if isinstance(asked, str) else "" if asked is None else json.dumps(asked, ensure_ascii=False)
    return text if len(text) <= SNIPPET_LENGTH else text[: SNIPPET_LENGTH - 1] + "…"


def list_page_reasons(sample: Any) -> Iterator[tuple[str, str]]:
    """Why a sample deserves a look, each with its tone."""
    if sample.gates:
        yield "bad", f"{pluralize_count(sample.gates, 'gate')} failed"
    if sample.unscored:
        yield "bad", f"{pluralize_count(sample.unscored, 'output')} without a score"
    if sample.findings:
        yield "bad", f"{pluralize_count(sample.findings, 'guard finding')}"
    if sample.spread is not None:
        yield "warn", f"judges {format_page_percent(round(sample.spread, 2))} apart on {sample.spread_on}"
    if sample.moved is not None and abs(sample.moved) >= LARGE_MOVE:
        yield ("good" if sample.moved > 0 else "bad"), f"moved {format_page_signed_number(sample.moved)}"
    if sample.near is not None:
        yield "warn", f"{format_figure(sample.near)} from a gate"
    if sample.assertions:
        yield "", f"{pluralize_count(sample.assertions, 'assertion')} failed"


SAMPLE_FILTERS: dict[str, Callable[..., Any]] = {"snippet": shorten_page_input, "reasons": list_page_reasons}
