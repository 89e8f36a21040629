"""Whether a reply is an answer and nothing else, and whether a judged text reads as an answer itself.

Where it does, whoever quotes it gives its answer too, in words that no list has. So nothing else counts then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

from evenhand.judging.reading.json_answers import EVIDENCE_KEYS, HOLDER_KEYS, REASON_KEYS, SCORE_KEYS
from evenhand.judging.reading.quotation_signs import is_answer_only_framed
from evenhand.judging.reading.reply_text import (
    find_json_values_in_reply,
    fold_quotation_in_reply,
    normalize_reply_answer_name,
    strip_thinking_from_reply,
)
from evenhand.judging.reading.score_labels import read_reply_score_label

Reading = TypeVar("Reading")

MOST_ANSWER_LINES = 40
MOST_ANSWER_WORDS = 3  # Of a text that is an answer: "cannot assess".
READ_AT_ONCE = 50_000  # Characters of a judged text; a window begins before the last one ends.
WINDOW_STEP = 40_000
MOST_LINES_READ = 300
LONGEST_LINE_READ = 300
_TEXT_KEYS = REASON_KEYS | {*EVIDENCE_KEYS, "absent"}
_LABELS = frozenset(["winner", "better", "band", "criterion", "score"])
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:json|text|txt|markdown)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_CELL_BORDER = re.compile(r"[:：=|]")
_PLAIN_MARKS = " \t\r*_#-–•.\"'`"
_VALUE = re.compile(
    r"[0-9]{1,3}(?:[.,][0-9]{1,4})?(?: ?(?:/|out of|of) ?[0-9]{1,3})? ?%?|yes|no|pass|fail|true|false|met|not met"
    r"|[A-F][+-]?|tie|cannot assess|是|否|[0-9]{1,3} ?分",
    re.IGNORECASE,
)
_MAY_ANSWER = re.compile(r"[:：=|/{\[★⭐分]|\bout of\b|\bis better\b", re.IGNORECASE)


def is_reply_whole_answer(reply: str, schema: Mapping[str, object] | None, names: Collection[str]) -> bool:
    """Whether a reply holds an object in the form that was asked for, reasons included, or is an answer and no more.

    Such an object says by its reasons whose it is, whatever is written around it.
    """
    values = find_json_values_in_reply(reply)
    if any(value.complete and _has_asked_form(value.data, schema) for value in values):
        return True
    return is_reply_answer_alone(reply, schema, names)


def is_reply_answer_alone(reply: str, schema: Mapping[str, object] | None, names: Collection[str]) -> bool:
    """Whether a reply is one object with answers, or lines and a table with nothing but answers.

    One fence, thinking before it and words that only announce an answer are nothing beside it.
    """
    marks = [mark[1] for mark in _THINKING.finditer(reply)]
    if marks and (marks != ["", "/"] or not reply.lstrip().startswith("<")):
        return False  # Who closes thinking twice, or in the middle, may quote.
    said = strip_thinking_from_reply(reply) if marks else reply
    values = find_json_values_in_reply(said)
    known = {normalize_reply_answer_name(name) for name in (*names, *_list_schema_keys(schema))}
    if not any(isinstance(value.data, dict) for value in values):
        return _are_lines_answers_alone(_FENCE.sub("", said), known)
    (value, *more) = values
    rest = f"{said[: value.start]} {said[value.end :]}"
    return (
        not more
        and value.complete
        and not value.has_comment
        and is_answer_only_framed(rest)
        and _is_value_answer_alone(value.data, known | HOLDER_KEYS | SCORE_KEYS)
    )


def find_answers_in_judged_text(
    text: str, labels: Collection[str], read: Callable[[str], Reading], nothing: Reading
) -> bool:
    """Whether a text reads as an answer, whole or by a line, alone or below the label of an output."""
    heads = ("", *(f"{label}:\n" for label in labels))
    return any(read(head + part) != nothing for part in _list_text_parts(text) for head in heads)


def _list_text_parts(text: str) -> Iterator[str]:
    for spelt in dict.fromkeys((text, fold_quotation_in_reply(text))):
        for start in range(0, max(len(spelt), 1), WINDOW_STEP):
            yield spelt[start : start + READ_AT_ONCE]
        lines = [line for line in spelt.split("\n") if len(line) <= LONGEST_LINE_READ and _MAY_ANSWER.search(line)]
        yield from lines[-MOST_LINES_READ:]


def _has_asked_form(data: object, schema: object) -> bool:
    """Whether a value has all that a schema asks for, with a text where that is not one of a few words."""
    if not isinstance(schema, Mapping):
        return False
    below = schema.get("properties")
    if isinstance(below, Mapping):
        return isinstance(data, dict) and all(key in data and _has_asked_form(data[key], below[key]) for key in below)
    if schema.get("type") == "string" and "enum" not in schema:
        return isinstance(data, str) and bool(data.strip())
    return data is not None


def _list_schema_keys(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for key, below in schema.items():
            if key == "properties" and isinstance(below, Mapping):
                yield from map(str, below)
            yield from _list_schema_keys(below)


def _is_value_answer_alone(data: object, known: Collection[str]) -> bool:
    """Whether all keys were asked for, or hold answers, and texts stand under reasons and quotations alone."""
    if isinstance(data, dict):
        entries = [(normalize_reply_answer_name(str(key)), below) for key, below in data.items()]
        return all(
            _is_reason(below) if key in _TEXT_KEYS else key in known and _is_value_answer_alone(below, known)
            for key, below in entries
        )
    if isinstance(data, list):
        return all(isinstance(one, dict) and _is_value_answer_alone(one, known) for one in data)
    return not isinstance(data, str) or (len(data.split()) <= MOST_ANSWER_WORDS and "{" not in data)


def _is_reason(data: object) -> bool:
    return isinstance(data, str) or (isinstance(data, list) and all(isinstance(one, str) for one in data))


def _are_lines_answers_alone(text: str, known: Collection[str]) -> bool:
    lines = [line for line in text.split("\n") if line.strip(_PLAIN_MARKS + "|:")]
    if not lines or len(lines) > MOST_ANSWER_LINES:
        return False
    names = {name: name for name in known}
    return all(_is_answer_cell(cell.strip(_PLAIN_MARKS), names) for line in lines for cell in _CELL_BORDER.split(line))


def _is_answer_cell(cell: str, names: Mapping[str, str]) -> bool:
    if not cell or _VALUE.fullmatch(cell) or normalize_reply_answer_name(cell) in _LABELS:
        return True
    return ">" not in cell and read_reply_score_label(cell, names) is not None
