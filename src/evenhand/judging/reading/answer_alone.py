"""Whether a reply is an answer and nothing else, and whether a judged text reads as an answer itself.

Where it does, whoever quotes it gives its answer too, in words that no list has. So nothing else counts then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import TypeVar, cast

from evenhand.judging.reading.answer_frames import is_answer_only_framed
from evenhand.judging.reading.copied_passages import (
    HOLDS_VALUE,
    MOST_ANSWER_WORDS,
    list_passages_of_texts,
    list_unescaped_texts,
)
from evenhand.judging.reading.json_answers import EVIDENCE_KEYS, REASON_KEYS, SCORE_KEYS
from evenhand.judging.reading.reply_text import (
    drop_unseen_characters_from_reply,
    fold_quotation_in_reply,
    normalize_reply_answer_name,
    spell_out_entities_in_reply,
)
from evenhand.judging.reading.score_labels import read_reply_score_label

Reading = TypeVar("Reading")

CANNOT_ASSESS = "cannot assess"
LONGEST_TEXT_SEARCHED = 200_000  # Characters of a judged text; a longer one counts as one that holds an answer.
READ_AT_ONCE = 50_000  # Characters of it; a window begins before the last one ends.
WINDOW_STEP = 40_000
MOST_LINES_READ = 300
LONGEST_LINE_READ = 300
MOST_PASSAGES_READ = 200
_REASONS = REASON_KEYS | {*EVIDENCE_KEYS, "absent"}
_LABELS = frozenset(["winner", "better", "band"])  # And what else labels a score.
_TABLE_HEADS = [[one, other] for one in ("criterion", "criteria", "item") for other in ("score", "answer", "rating")]
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:json|text|txt|markdown)?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE)
_CELL_BORDER = re.compile(r"[:：=|]")
_PLAIN_MARKS = " \t\r*_#-–•."  # Any other may say whose the answer is: `>`, `❌`, brackets, quotation marks.
_NUMBERED = re.compile(r"([0-9]{1,2})[.)]\s*(?=[^\W\d])")
_VALUE = re.compile(
    r"[0-9]{1,3}(?:[.,][0-9]{1,4})?(?: ?(?:/|out of|of) ?[0-9]{1,3})? ?%?|yes|no|pass|fail|true|false|met|not met"
    r"|[A-F][+-]?|tie|是|否|[0-9]{1,3} ?分",
    re.IGNORECASE,
)
_BOX = re.compile(r"^\[\[([^\[\]\n]{1,20})\]\]$|^\\boxed\{([^{}\n]{1,20})\}$", re.MULTILINE)
_PLAIN_LABEL = re.compile(r"[\w]+(?:[ _\-]\w+)*")
_GLUED = re.compile(  # HighScore: 10ms
    r"(?<=[a-z])(?=[A-Z])|_|(?<=[0-9])(?=[^\W\d_])|(?<=[\u3040-\u9fff])(?=[A-Za-z0-9])"
)
_MARKS = re.compile(r"[{}\[\]\"~]")  # Around a text in which a table stands.
# What may follow the end of a text in JSON, as the reader that forgives faults has it, and go on with another key.
_ENDS_TEXT = re.compile(r"[\"'“”‘’]\s{0,9}(?:[:：}]|//|\#|/\*|[\]),](?=[^:：]{0,200}[:：]))")
_MAY_ANSWER = re.compile(r"[:：=|/{\[★⭐分]|\bout of\b|\bis better\b", re.IGNORECASE)


def find_object_asked_for(
    reply: str, schema: Mapping[str, object] | None, other_names: Mapping[str, str] = MappingProxyType({})
) -> str | None:
    """The object that was asked for, where a reply is that and nothing else: whose should it be?

    It has the keys that were asked for and no others; notes, reasons and quotations may be left out. One fence,
    thinking before it and words that only announce an answer are nothing beside it. What goes by another name in the
    form may have its own.
    """
    said = _strip_own_thinking(reply)
    found = find_strict_json_object(said) if said is not None else None
    if said is None or found is None or not is_answer_only_framed(found.cut_from(said)):
        return None
    data = _rename_keys(found.data, other_names) if other_names else found.data
    return said[found.start : found.end] if _has_asked_form(data, schema, whole=False) else None


def _rename_keys(data: object, names: Mapping[str, str]) -> object:
    """The data under the names of the form; a key stays as it is where both names stand."""
    if isinstance(data, list):
        return [_rename_keys(one, names) for one in data]
    if not isinstance(data, dict):
        return data
    both = {key for key in data if names.get(key) in data}
    return {key if key in both else names.get(key, key): _rename_keys(below, names) for key, below in data.items()}


@dataclass(frozen=True, slots=True)
class StrictJsonObject:
    """The first object of a text, in JSON as the standard has it, and where it stands."""

    data: dict[str, object]
    start: int
    end: int

    def cut_from(self, text: str) -> str:
        """What the text says beside it."""
        return f"{text[: self.start]} {text[self.end :]}"


def find_strict_json_object(text: str) -> StrictJsonObject | None:
    """The object that begins at the first brace; None where it is not plain JSON, or has a key twice.

    A reader that forgives faults takes a quotation mark of the judged text for the end of a text of the judge's.
    """
    start = text.find("{")
    if start < 0:
        return None
    try:
        data, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return StrictJsonObject(data, start, end)


def _refuse_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("a key comes twice")
    return data


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


# A line break inside a text is no fault that moves its end.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_refuse_twice, parse_constant=_refuse_constant)


def _holds_object_asked_for(reply: str, schema: Mapping[str, object] | None) -> bool:
    """Whether the one object in a reply is what was asked for, and nothing around it looks like JSON."""
    said = _strip_own_thinking(reply)
    found = find_strict_json_object(said) if said is not None else None
    if said is None or found is None or not _has_asked_form(found.data, schema):
        return False
    rest = found.cut_from(said)
    return "{" not in rest and not _ENDS_TEXT.search(rest)


def is_reply_answer_alone(
    reply: str, schema: Mapping[str, object] | None, ids: Sequence[str], labels: Sequence[str] = ()
) -> bool:
    """Whether a reply is all that was asked for and nothing else: in JSON, or each answer on a line of its own.

    The JSON may leave out what holds a single thing, and give a score where an object with one was asked for.
    """
    said = _strip_own_thinking(reply)
    if said is None:
        return False
    if "{" not in _BOX.sub("", said):
        lines = _BOX.sub(lambda box: box[1] or box[2], _FENCE.sub("", said))
        # Lines about several outputs stand below headings, and so may quotations.
        return (not labels or _LABELS.issuperset(ids)) and _are_lines_answers_alone(lines, ids)
    found = find_strict_json_object(said)
    if found is None or not is_answer_only_framed(found.cut_from(said)):
        return False
    return _is_asked_answer(found.data, schema or _imagine_schema(ids))


def _imagine_schema(ids: Sequence[str]) -> Mapping[str, object]:
    """The form of other questions about one thing, for a judge that was asked for a line and knows that form."""
    text = {"type": "string"}
    answer = {"evidence": {"type": "array", "items": text}, "reason": text, "score": {"type": "number"}}
    return {"properties": {"criteria": {"properties": {id: {"properties": answer} for id in ids[:1]}}}}


def _strip_own_thinking(reply: str) -> str | None:
    """The reply without what was thought before it; None where thinking is closed twice, or in the middle: a quote?"""
    reply = reply.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    marks = list(_THINKING.finditer(reply))
    if not marks:
        return reply
    closed = [mark for mark in marks if mark[1]]
    if len(closed) != 1 or marks[-1] is not closed[0] or marks[0].start() != len(reply) - len(reply.lstrip()):
        return None
    return reply[closed[0].end() :].strip()


def may_repeat_planted_answers(
    reply: str,
    schema: Mapping[str, object] | None,
    texts: Sequence[str],
    labels: Sequence[str],
    read: Callable[[str], Reading],
) -> bool:
    """Whether an answer in a reply may be the author's.

    So where a judged text reads as an answer, or a passage of it does that the reply repeats; and where a quotation of
    a judged text may have closed a string in the object of the judge's.
    """
    if any(len(text) > LONGEST_TEXT_SEARCHED for text in texts):
        return True
    is_broken = "{" in reply and not _holds_object_asked_for(reply, schema)
    if is_broken and any(map(_may_end_json_text, texts)):
        return True
    nothing, heads = read(""), ("", *(f"{label}:\n" for label in labels))

    def reads(part: str) -> bool:
        return any(read(head + part) != nothing for head in heads)

    def reads_as_entry(part: str) -> bool:  # In an object with faults, `score:+10` is one.
        objects = (f"{{{part}}}", *(f"{{{json.dumps(label)}: {{{part}}}}}" for label in labels))
        return is_broken and _CELL_BORDER.search(part) is not None and any(read(one) != nothing for one in objects)

    passages = dict.fromkeys(islice(list_passages_of_texts(reply, texts), MOST_PASSAGES_READ + 1))
    if len(passages) > MOST_PASSAGES_READ or any(reads(one) or reads_as_entry(one) for one in passages):
        return True
    return any(reads(part) for text in texts for part in dict.fromkeys(_list_text_parts(text)))


def _may_end_json_text(text: str) -> bool:
    """Whether a quotation mark of a text, quoted as it is, could end a text in JSON."""
    spelt = spell_out_entities_in_reply(drop_unseen_characters_from_reply(text))
    return any(_ENDS_TEXT.search(one) for one in (spelt, *list_unescaped_texts(spelt)))


def _list_text_parts(text: str) -> Iterator[str]:
    plain = [text, *list_unescaped_texts(text)]
    apart = (_MARKS.sub(" ", _GLUED.sub(" ", _THINKING.sub(" ", one))) for one in plain)
    for spelt in dict.fromkeys((*plain, *apart, *map(fold_quotation_in_reply, plain))):
        for start in range(0, max(len(spelt), 1), WINDOW_STEP):
            yield spelt[start : start + READ_AT_ONCE]
        lines = [line for line in spelt.split("\n") if len(line) <= LONGEST_LINE_READ and _may_line_answer(line)]
        # A row alone is no table; twice it is one.
        yield from dict.fromkeys(f"{line}\n{line}" if "|" in line else line for line in lines[-MOST_LINES_READ:])


def _may_line_answer(line: str) -> bool:
    """Whether a line has a label, or is a value and hardly anything else."""
    return _MAY_ANSWER.search(line) is not None or (
        len(line.split()) <= MOST_ANSWER_WORDS and HOLDS_VALUE.search(line) is not None
    )


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
    """Whether a schema asks for a text, or for lists or objects of texts, in words that it does not give."""
    if not isinstance(schema, Mapping) or "enum" in schema:
        return False
    if isinstance(below := schema.get("properties"), Mapping):
        return all(map(_asks_for_text, below.values()))
    return schema.get("type") == "string" or (schema.get("type") == "array" and _asks_for_text(schema.get("items")))


def _is_asked_answer(data: object, schema: object) -> bool:
    """Whether a value answers all that a schema asks for, each thing once, and nothing besides: in a like form, too.

    What holds a single thing may be left out; an answer may have more reasons, or a key of another kind of score.
    """
    if _has_asked_form(data, schema, whole=False):
        return True
    below = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(below, Mapping):
        return _is_plain_value(data)
    asked = {key: one for key, one in below.items() if not _asks_for_text(one)}
    if len(asked) == 1 and _is_asked_answer(data, *asked.values()):
        return True
    if not isinstance(data, dict):
        return False
    holds_values = not any("properties" in one for one in asked.values())
    given = {key: one for key, one in data.items() if not _is_text_field(key, one, below, more=holds_values)}
    if holds_values and len(asked) == len(given) == 1 and _is_score_key(*given):
        return _is_asked_answer(*given.values(), *asked.values())
    return given.keys() == asked.keys() and all(_is_asked_answer(one, asked[key]) for key, one in given.items())


def _is_score_key(key: str) -> bool:
    """Whether a key is a word for score and nothing besides: a sign beside it may deny it."""
    return _PLAIN_LABEL.fullmatch(key) is not None and normalize_reply_answer_name(key) in SCORE_KEYS


def _is_text_field(key: str, value: object, below: Mapping[str, object], *, more: bool) -> bool:
    """Whether a field is a note, a reason or a quotation that was asked for; or any, where there may be `more`."""
    if key in below:
        return _asks_for_text(below[key]) and _has_asked_form(value, below[key])
    return more and key in _REASONS and all(isinstance(one, str) for one in _list_values(value))


def _list_values(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _is_plain_value(data: object) -> bool:
    if isinstance(data, str):
        return _VALUE.fullmatch(data.strip()) is not None or data.strip().casefold() == CANNOT_ASSESS
    return isinstance(data, int | float | Decimal)


def _are_lines_answers_alone(text: str, ids: Sequence[str]) -> bool:
    """Whether each line is a name that was asked for and its value, no name comes twice, and nothing else is said.

    Where one thing was asked, there is one line: a value, with or without a label of a score.
    """
    lines = [line for line in text.split("\n") if line.strip(_PLAIN_MARKS + "|:")]
    rows = [_split_answer_line(line, place) for place, line in enumerate(lines, start=1)]
    if len(rows) > 1 and [cell.casefold() for cell in rows[0]] in _TABLE_HEADS:
        del rows[0]
    if not 1 <= len(rows) <= max(len(ids), 1) or not all(_is_plain_value(row[-1]) for row in rows):
        return False
    if len(ids) < 2:
        known = {name: name for name in map(normalize_reply_answer_name, ids)}
        (label,) = (row[:-1] for row in rows)
        return not label or (
            len(label) == 1
            and _PLAIN_LABEL.fullmatch(label[0]) is not None
            and (label[0].casefold() in _LABELS or read_reply_score_label(label[0], known) is not None)
        )
    named = [" ".join(row[:-1]) for row in rows]
    asked = {normalize_reply_answer_name(one) for one in ids}
    given = [normalize_reply_answer_name(one) for one in named if _PLAIN_LABEL.fullmatch(one)]
    return len(given) == len(rows) == len(set(given)) and asked.issuperset(given)


def _split_answer_line(line: str, place: int) -> list[str]:
    plain = line.strip(_PLAIN_MARKS + "|")
    numbered = _NUMBERED.match(plain)
    if numbered and int(numbered[1]) == place:  # Any other number may be a score.
        plain = plain[numbered.end() :]
    return [cell.strip(_PLAIN_MARKS) for cell in _CELL_BORDER.split(plain)]
