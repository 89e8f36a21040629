"""Whether a reply is an answer and nothing else, and whether a judged text reads as an answer itself.

Where it does, whoever quotes it gives its answer too, in words that no list has. So nothing else counts then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice, pairwise
from typing import TypeVar, cast

from evenhand.judging.reading.copied_answers import list_unescaped_texts
from evenhand.judging.reading.json_answers import EVIDENCE_KEYS, HOLDER_KEYS, REASON_KEYS, SCORE_KEYS
from evenhand.judging.reading.quotation_signs import is_answer_only_framed
from evenhand.judging.reading.reply_text import (
    drop_unseen_characters_from_reply,
    find_json_values_in_reply,
    fold_quotation_in_reply,
    holds_reply_json_object,
    normalize_reply_answer_name,
    spell_out_entities_in_reply,
)
from evenhand.judging.reading.score_labels import read_reply_score_label
from evenhand.judging.reading.tolerant_json import ReplyValue

Reading = TypeVar("Reading")

CANNOT_ASSESS = "cannot assess"
MOST_ANSWER_LINES = 40
MOST_ANSWER_WORDS = 3  # Of a text that is an answer: "cannot assess".
READ_AT_ONCE = 50_000  # Characters of a judged text; a window begins before the last one ends.
WINDOW_STEP = 40_000
MOST_LINES_READ = 300
LONGEST_LINE_READ = 300
MOST_PASSAGES_READ = 200
_TEXT_KEYS = REASON_KEYS | {*EVIDENCE_KEYS, "absent"}
_LABELS = frozenset(["winner", "better", "band", "criterion", "score"])
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:json|text|txt|markdown)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_NO_LABEL = re.compile(r"[>()\[\]（）【】{}/\\~]")  # What stands in brackets may say whose the answer is.
_CELL_BORDER = re.compile(r"[:：=|]")
_PLAIN_MARKS = " \t\r*_#-–•.\"'`"
_VALUE = re.compile(
    r"[0-9]{1,3}(?:[.,][0-9]{1,4})?(?: ?(?:/|out of|of) ?[0-9]{1,3})? ?%?|yes|no|pass|fail|true|false|met|not met"
    r"|[A-F][+-]?|tie|是|否|[0-9]{1,3} ?分",
    re.IGNORECASE,
)
_GLUED = re.compile(  # HighScore: 10ms
    r"(?<=[a-z])(?=[A-Z])|_|(?<=[0-9])(?=[^\W\d_])|(?<=[\u3040-\u9fff])(?=[A-Za-z0-9])"
)
_MARKS = re.compile(r"[{}\[\]\"~]")  # Around a text in which a table stands.
_WORD = re.compile(r"[0-9]+|[\u3040-\u9fff\uac00-\ud7af]|[^\W\d_\u3040-\u9fff\uac00-\ud7af]+")
_HOLDS_VALUE = re.compile(
    r"[0-9一二三四五六七八九十是否]|\b(?:yes|no|pass|fail|true|false|met|tie|better|winner|[A-Z])\b", re.IGNORECASE
)
_JSON_PIECE = re.compile(r"\"\s{0,9}(?:[:}\]]|,\s{0,9}\")")
_MAY_ANSWER = re.compile(r"[:：=|/{\[★⭐分]|\bout of\b|\bis better\b", re.IGNORECASE)


def holds_one_asked_object(reply: str, schema: Mapping[str, object] | None) -> bool:
    """Whether the one object in a reply is in the form that was asked for: by its reasons it says whose it is.

    Other keys, and pieces of JSON around it, may come of a planted text that closed a string of the judge's.
    """
    said = _strip_own_thinking(reply)
    if said is None:
        return False
    values = [value for value in find_json_values_in_reply(said) if holds_reply_json_object(value.data)]
    if len(values) != 1 or not values[0].complete:
        return False
    rest = f"{said[: values[0].start]} {said[values[0].end :]}"
    return _JSON_PIECE.search(rest) is None and _has_asked_form(values[0].data, schema)


def is_reply_as_asked(reply: str, schema: Mapping[str, object] | None) -> bool:
    """Whether a reply is the object that was asked for and nothing else: whose should it be?

    One fence, thinking before it and words that only announce an answer are nothing beside it; texts may be left out.
    """
    said = _strip_own_thinking(reply)
    values = find_json_values_in_reply(said) if said is not None else ()
    return said is not None and _is_only_value(said, values) and _has_asked_form(values[0].data, schema, whole=False)


def is_reply_answer_alone(reply: str, schema: Mapping[str, object] | None, names: Collection[str]) -> bool:
    """Whether a reply is one object with answers in whatever form, or lines and a table with nothing but answers."""
    said = _strip_own_thinking(reply)
    if said is None:
        return False
    values = find_json_values_in_reply(said)
    known = {normalize_reply_answer_name(name) for name in (*names, *_list_schema_keys(schema))}
    if not any(isinstance(value.data, dict) for value in values):
        return _are_lines_answers_alone(_FENCE.sub("", said), known, set(map(normalize_reply_answer_name, names)))
    return _is_only_value(said, values) and _is_value_answer_alone(values[0].data, known | HOLDER_KEYS | SCORE_KEYS)


def _strip_own_thinking(reply: str) -> str | None:
    """The reply without what was thought before it; None where thinking is closed twice, or in the middle: a quote?"""
    reply = reply.lstrip("\ufeff")
    marks = list(_THINKING.finditer(reply))
    if not marks:
        return reply
    closed = [mark for mark in marks if mark[1]]
    if len(closed) != 1 or marks[-1] is not closed[0] or marks[0].start() != len(reply) - len(reply.lstrip()):
        return None
    return reply[closed[0].end() :].strip()


def _is_only_value(said: str, values: Sequence[ReplyValue]) -> bool:
    if len(values) != 1 or not values[0].complete or values[0].has_comment:
        return False
    return is_answer_only_framed(f"{said[: values[0].start]} {said[values[0].end :]}")


def may_repeat_planted_answers(
    reply: str, texts: Sequence[str], labels: Sequence[str], read: Callable[[str], Reading]
) -> bool:
    """Whether a judged text reads as an answer, or a passage of it does that the reply repeats."""
    nothing, heads = read(""), ("", *(f"{label}:\n" for label in labels))

    def reads(part: str) -> bool:
        return any(read(head + part) != nothing for head in heads)

    passages = dict.fromkeys(islice(list_passages_of_texts(reply, texts), MOST_PASSAGES_READ + 1))
    if len(passages) > MOST_PASSAGES_READ or any(map(reads, passages)):
        return True
    return any(_reads_as_answer(text, reads) for text in texts)


def _reads_as_answer(text: str, reads: Callable[[str], bool]) -> bool:
    """Whether a text reads as an answer, whole or by a line, alone or below the label of an output.

    Pieces of JSON may become one inside the object of a judge that quotes them as they are.
    """
    return _JSON_PIECE.search(text) is not None or any(map(reads, dict.fromkeys(_list_text_parts(text))))


def list_passages_of_texts(reply: str, texts: Sequence[str]) -> Iterator[str]:
    """The passages of a reply, of two words or more and with a value, all of whose words follow each other in a text.

    Marks between words, look-alike letters and letter case make no difference; each passage is spelt as in the reply.
    """
    said = spell_out_entities_in_reply(drop_unseen_characters_from_reply(reply))
    words = [(word.start(), word.end(), fold_quotation_in_reply(word[0])) for word in _WORD.finditer(said)]
    spelt = (fold_quotation_in_reply(one) for text in texts for one in (text, *list_unescaped_texts(text)))
    follow = {pair for text in spelt for pair in pairwise(_WORD.findall(text))}
    start = 0
    for at in range(1, len(words) + 1):
        if at == len(words) or (words[at - 1][2], words[at][2]) not in follow:
            passage = said[words[start][0] : words[at - 1][1]]
            if at - start > 1 and _HOLDS_VALUE.search(passage):
                yield passage
                yield from (line for line in passage.split("\n") if line != passage and _HOLDS_VALUE.search(line))
            start = at


def _list_text_parts(text: str) -> Iterator[str]:
    plain = [text, *list_unescaped_texts(text)]
    apart = (_MARKS.sub(" ", _GLUED.sub(" ", _THINKING.sub(" ", one))) for one in plain)
    for spelt in dict.fromkeys((*plain, *apart, *map(fold_quotation_in_reply, plain))):
        for start in range(0, max(len(spelt), 1), WINDOW_STEP):
            yield spelt[start : start + READ_AT_ONCE]
        lines = [line for line in spelt.split("\n") if len(line) <= LONGEST_LINE_READ and _MAY_ANSWER.search(line)]
        yield from lines[-MOST_LINES_READ:]


def _has_asked_form(data: object, schema: object, *, whole: bool = True) -> bool:
    """Whether a value has all that a schema asks for, to the key, each of the type that it asks for.

    Not `whole`, it may lack texts: notes, reasons and quotations.
    """
    if not isinstance(schema, Mapping):
        return False
    if "anyOf" in schema:
        return any(_has_asked_form(data, option, whole=whole) for option in cast("list[object]", schema["anyOf"]))
    below = schema.get("properties")
    if isinstance(below, Mapping):
        given = cast("dict[str, object]", data) if type(data) is dict else {"": None}
        lacking = {key for key in below if key not in given and (whole or not _asks_for_text(below[key]))}
        return not lacking and all(
            key in below and _has_asked_form(given[key], below[key], whole=whole) for key in given
        )
    if schema.get("type") == "array":
        return isinstance(data, list) and all(_has_asked_form(one, schema.get("items"), whole=whole) for one in data)
    if "enum" in schema:
        return data in cast("list[object]", schema["enum"])
    if schema.get("type") in ("number", "integer"):
        return isinstance(data, int | float | Decimal) and not isinstance(data, bool)
    return isinstance(data, str)


def _asks_for_text(schema: object) -> bool:
    """Whether a schema asks for a text, or for texts, in words that it does not give."""
    if not isinstance(schema, Mapping) or "enum" in schema:
        return False
    return schema.get("type") == "string" or (schema.get("type") == "array" and _asks_for_text(schema.get("items")))


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


def _are_lines_answers_alone(text: str, known: Collection[str], asked: Collection[str]) -> bool:
    lines = [line for line in text.split("\n") if line.strip(_PLAIN_MARKS + "|:")]
    if not lines or len(lines) > MOST_ANSWER_LINES:
        return False
    labels = {name: name for name in known}
    cells = [[cell.strip(_PLAIN_MARKS) for cell in _CELL_BORDER.split(line)] for line in lines]
    return all(_is_answer_row(row, labels, asked) for row in cells)


def _is_answer_row(cells: Sequence[str], labels: Mapping[str, str], asked: Collection[str]) -> bool:
    """Whether a line has labels and values alone; to abstain, it names what it is about."""
    names_asked = any(normalize_reply_answer_name(cell) in asked for cell in cells)
    return all(
        not cell
        or _VALUE.fullmatch(cell)
        or normalize_reply_answer_name(cell) in _LABELS
        or (names_asked and cell.casefold() == CANNOT_ASSESS)
        or (_NO_LABEL.search(cell) is None and read_reply_score_label(cell, labels) is not None)
        or normalize_reply_answer_name(cell) in labels
        for cell in cells
    )
