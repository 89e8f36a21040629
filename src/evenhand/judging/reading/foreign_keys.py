"""Objects in a reply under or beside keys that nobody asked for: where they stand in the material, they are quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection

from evenhand.judging.reading.json_answers import SUBJECT_KEYS, TEXT_KEYS
from evenhand.judging.reading.reply_text import (
    find_json_values_in_reply,
    normalize_reply_answer_name,
    spell_answer_shapes,
)
from evenhand.judging.reading.tolerant_json import ReplyValue

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
_BESIDE_ANSWERS = frozenset([
    "band", "confidence", "summary", "overall", "total", "notes", "note", "revisionhint", "revisionsuggestions",
])  # fmt: skip


def cut_values_under_foreign_keys(
    text: str, squeezed: str, names: Collection[str], is_copy: Callable[[ReplyValue], bool]
) -> str:
    """Objects inside the reply's own that stand in the material, under a key that was not asked for or beside one.

    A value that is a copy as a whole is left one: less of it would pass for the judge's own.
    """
    asked = {normalize_reply_answer_name(name) for name in names}
    found = [value for value in find_json_values_in_reply(text) if _has_foreign_keys_in_reply(value.data, asked)]
    values = [value for value in found if text[value.start : value.end] == text.strip() or not is_copy(value)]
    parts, at = [], 0
    for value in values:
        kept = _prune_values_quoted_in_reply(value.data, asked, squeezed)
        if kept is not value.data:
            parts += [text[at : value.start], json.dumps(kept, default=str)]
            at = value.end
    return "".join([*parts, text[at:]])


def _is_foreign_key(key: object, asked: Collection[str]) -> bool:
    name = normalize_reply_answer_name(str(key))
    return name not in asked and name not in _HOLDERS


def _is_key_around_answers(key: object) -> bool:
    """Whether a key with no objects below it stands in forms too: a reason, the name of the criterion, its band."""
    name = normalize_reply_answer_name(str(key))
    return name in TEXT_KEYS or name in SUBJECT_KEYS or name in _BESIDE_ANSWERS


def _has_foreign_keys_in_reply(data: object, asked: Collection[str]) -> bool:
    if isinstance(data, list):
        return any(_has_foreign_keys_in_reply(entry, asked) for entry in data)
    return isinstance(data, dict) and any(
        _is_foreign_key(key, asked) or _has_foreign_keys_in_reply(below, asked) for key, below in data.items()
    )


def _prune_values_quoted_in_reply(data: object, asked: Collection[str], known: str, foreign: bool = False) -> object:
    """The value without what is quoted; the same object where nothing is."""
    if isinstance(data, dict):
        if foreign and data and squeeze_quotation(json.dumps(data, ensure_ascii=False, default=str)) in known:
            return GONE
        # {"tool": "read", "result": {…}}: a form has no such key, so what stands beside it is no form either.
        is_form = not any(_is_foreign_key(key, asked) and not _is_key_around_answers(key) for key in data)
        kept = {}
        for key, below in data.items():
            held_out = not is_form and normalize_reply_answer_name(str(key)) not in asked
            is_copy = held_out and any(
                spell_answer_shapes(below)
            )  # Without a text of its own, two are alike by chance.
            kept[key] = _prune_values_quoted_in_reply(below, asked, known, _is_foreign_key(key, asked) or is_copy)
        return kept if any(kept[key] is not data[key] for key in data) else data
    if isinstance(data, list):
        entries = [_prune_values_quoted_in_reply(entry, asked, known, foreign) for entry in data]
        return entries if any(new is not old for new, old in zip(entries, data, strict=True)) else data
    return data


def squeeze_quotation(text: str) -> str:
    """A text without layout and quotation marks, as it is looked for in the material."""
    return _LAYOUT.sub("", _BULLET.sub("", text.casefold()))
