"""Objects in a reply under keys that nobody asked for: where they stand in the material, they are quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from evenhand.judging.reading.reply_text import find_json_values_in_reply, normalize_reply_answer_name

GONE = "(quoted)"
# What makes no difference between a text and its quotation; the quotation may escape it or break its lines.
_LAYOUT = re.compile(r"[\s\"'“”‘’„«»`\\>*_]+")
_BULLET = re.compile(r"^[ \t>]*[-•+](?: |\Z)", re.MULTILINE)
# Where answers stand in a form, and what models put around one.
_HOLDERS = frozenset([
    "criteria", "scores", "ratings", "responses", "answers", "answer", "result", "results", "evaluation", "evaluations",
    "assessment", "assessments", "judgment", "judgments", "judgement", "judgements", "review", "reviews", "redflags",
    "bonuses", "submissions", "items", "dimensions", "final", "finalanswer", "json", "data", "score", "rating",
])  # fmt: skip


def cut_values_under_foreign_keys(text: str, squeezed: str, names: Collection[str]) -> str:
    """Objects inside the reply's own that stand in the material, under a key that was not asked for."""
    asked = _HOLDERS | {normalize_reply_answer_name(name) for name in names}
    values = [value for value in find_json_values_in_reply(text) if _has_foreign_objects_in_reply(value.data, asked)]
    parts, at = [], 0
    for value in values:
        kept = _prune_values_quoted_in_reply(value.data, asked, squeezed)
        if kept is not value.data:
            parts += [text[at : value.start], json.dumps(kept, default=str)]
            at = value.end
    return "".join([*parts, text[at:]])


def _has_foreign_objects_in_reply(data: object, asked: Collection[str]) -> bool:
    if isinstance(data, list):
        return any(_has_foreign_objects_in_reply(entry, asked) for entry in data)
    return isinstance(data, dict) and any(
        isinstance(below, (dict, list))
        and (normalize_reply_answer_name(str(key)) not in asked or _has_foreign_objects_in_reply(below, asked))
        for key, below in data.items()
    )


def _prune_values_quoted_in_reply(data: object, asked: Collection[str], known: str, foreign: bool = False) -> object:
    """The value without what is quoted; the same object where nothing is."""
    if isinstance(data, dict):
        if foreign and data and squeeze_quotation(json.dumps(data, ensure_ascii=False, default=str)) in known:
            return GONE
        kept = {
            key: _prune_values_quoted_in_reply(below, asked, known, normalize_reply_answer_name(str(key)) not in asked)
            for key, below in data.items()
        }
        return kept if any(kept[key] is not data[key] for key in data) else data
    if isinstance(data, list):
        entries = [_prune_values_quoted_in_reply(entry, asked, known, foreign) for entry in data]
        return entries if any(new is not old for new, old in zip(entries, data, strict=True)) else data
    return data


def squeeze_quotation(text: str) -> str:
    """A text without layout and quotation marks, as it is looked for in the material."""
    return _LAYOUT.sub("", _BULLET.sub("", text.casefold()))
