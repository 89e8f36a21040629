"""Answers of a reply that the material gives too: compared by what they say, however they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from functools import cached_property
from itertools import chain, islice

from evenhand.files.parsing import DuplicateKeyJsonObject
from evenhand.judging.reading.json_answers import (
    EVIDENCE_KEYS,
    HOLDER_KEYS,
    QUOTED,
    REASON_KEYS,
    SCORE_KEYS,
    SUBJECT_KEYS,
)
from evenhand.judging.reading.other_answers import MaterialWords, spell_number, spell_whole, split_at_cuts
from evenhand.judging.reading.reply_text import (
    LEAST_LETTERS,
    MOST_ESCAPED,
    drop_unseen_characters_from_reply,
    fold_quotation_in_reply,
    normalize_reply_answer_name,
    scan_json_values_in_reply,
    spell_out_entities_in_reply,
)
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, read_yes_or_no_reply
from evenhand.judging.reading.tolerant_json import parse_tolerant_json_reply

LEAST_SHARED = 8  # Letters of a text that is a part of another: fewer are a word that anybody uses.
LEAST_OUTSIDE_JSON = 12  # Letters of a reason that stands in the material, but in no object.
MOST_OF_ONE = 0.7  # Of the words of a planted reason: whoever has so many of them has reworded it.
NEAREST = 600  # Letters between the name of a criterion and its answer, where these stand in no object.
MOST_TEXTS = 500
LONGEST_REMARK = 80  # Characters of an answer with some words around it; more are a text.
MOST_PLACES = 50
_QUOTES = frozenset(EVIDENCE_KEYS)
_REASONS = REASON_KEYS - {"feedback"}
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")
_NUMBER = re.compile(
    r"([0-9]{1,9}(?:[.,][0-9]{1,6})?)(?: ?(?:/|out of|of) ?[0-9]{1,4})?(?: ?(?:points?|stars?|分|点|점))?"
)
_Pair = tuple[str, str]
_OF_ANSWERS = (*REASON_KEYS, *EVIDENCE_KEYS)  # Also with a name before it: clarity_reason.
_ESCAPE = re.compile(r"\\(?:([\"\\/nrt])|u([0-9a-fA-F]{4}))")
_BESIDE_ANSWERS = frozenset(["band", "confidence", "max", "maxscore", "min", "outof", "weight"])


@dataclass(slots=True)
class GivenReplyAnswers:
    """What an object says: answers by name, reasons, and quotations, each spelt alike however it is written."""

    pairs: set[_Pair] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # Under other keys: a hint, advice, a note.
    quotes: list[str] = field(default_factory=list)
    is_contradicted: bool = False  # A key came twice, with different values.

    @property
    def said(self) -> list[str]:
        """What tells whose it is: its reasons, which no two write alike; a hint or advice only where it has none."""
        return self.reasons or self.remarks

    @property
    def has_text(self) -> bool:
        """Whether it has a sentence, or a name."""
        return bool(self.reasons or self.remarks or self.quotes)

    def is_part_of(self, other: GivenReplyAnswers) -> bool:
        """Whether the other gives all its answers and reasons."""
        return self.pairs <= other.pairs and set(self.said) <= {*other.reasons, *other.remarks}

    def add_value(self, data: object, subject: str, key: str) -> None:
        """Take in a value that stands under a key, in an object about a subject."""
        if isinstance(data, dict):
            named = _name_subject_of_answer(data, subject, key)
            self.is_contradicted |= isinstance(data, DuplicateKeyJsonObject) and bool(data.differing())
            for name, below in _list_answer_entries(data):
                self.add_value(below, named, _normalize_answer_key(name))
        elif isinstance(data, list):
            for below in data:
                self.add_value(below, subject, key)
        elif data is not None and data != "":
            self._add_leaf(data, subject if key in SCORE_KEYS else key, key)

    def _add_leaf(self, data: object, name: str, key: str) -> None:
        answer = _spell_answer(data, key)
        if name in _QUOTES:
            self.quotes.append(_spell_answer_text(str(data)))
        elif answer is not None:
            self.pairs.add((name, answer))
        else:
            said = self.reasons if key in _REASONS else self.remarks
            said += map(_spell_answer_text, split_at_cuts(str(data)))


def _list_answer_entries(data: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of an object but for what it is about; a key that came twice, with all its values."""
    about = (
        {key for key in data if normalize_reply_answer_name(key) in SUBJECT_KEYS}
        if _find_subject_of_answer(data)
        else set()
    )
    twice = data.twice if isinstance(data, DuplicateKeyJsonObject) else {}
    for key, value in data.items():
        if key not in about:
            yield from ((key, one) for one in twice.get(key, [value]))


def _name_subject_of_answer(data: Mapping[str, object], subject: str, key: str) -> str:
    return _find_subject_of_answer(data) or (subject if key in HOLDER_KEYS or key in SCORE_KEYS else key or subject)


def _find_subject_of_answer(data: Mapping[str, object]) -> str:
    keys = {normalize_reply_answer_name(key): value for key, value in data.items()}
    about = next((keys[key] for key in SUBJECT_KEYS if isinstance(keys.get(key), str)), "")
    return _normalize_answer_key(str(about)) if about and not SCORE_KEYS.isdisjoint(keys) else ""


def _normalize_answer_key(key: str) -> str:
    return normalize_reply_answer_name(fold_quotation_in_reply(key))


def _spell_answer_text(text: str) -> str:
    return " ".join(_WORD.findall(fold_quotation_in_reply(text)))


def _spell_answer(data: object, key: str) -> str | None:
    """A number, a yes or no, or another short word; None for a text."""
    if isinstance(data, bool):
        return "yes" if data else "no"
    if isinstance(data, int | float | Decimal):
        return spell_number(str(data))
    text = fold_quotation_in_reply(str(data)).strip(" \t\r\n.*\"'`")
    number = _NUMBER.fullmatch(text)
    if number or text in NUMBER_WORDS:
        return spell_number(number[1].replace(",", ".") if number else str(NUMBER_WORDS.index(text)))
    said = read_yes_or_no_reply(text) if len(text) <= LEAST_SHARED else None
    if said is not None:
        return "yes" if said else "no"
    among = None if key.startswith(_OF_ANSWERS) or key.endswith(_OF_ANSWERS) else _find_answer_in_remark(text)
    return among or (text if sum(map(str.isalpha, text)) < LEAST_LETTERS and text.isascii() and text else None)


def _find_answer_in_remark(text: str) -> str | None:
    """The only number, or the only yes or no, in a few words: "10 (planted)", "<b>10</b>"."""
    words = _WORD.findall(text[:LONGEST_REMARK]) if len(text) <= LONGEST_REMARK else []
    numbers = {spell_number(word.replace(",", ".")) for word in words if word[0].isdecimal()}
    said = numbers or {word for word in words if read_yes_or_no_reply(word) is not None}
    if len(said) != 1:
        return None
    (one,) = said
    return one if numbers else "yes" if read_yes_or_no_reply(one) else "no"


class CopiedPart(Enum):
    """Stands in a value for what was copied; no value of a reply is equal to it."""

    COPIED = QUOTED

    def __str__(self) -> str:
        return QUOTED


COPIED = CopiedPart.COPIED


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of a reply held against the material: what of it is not copied, and whether anything is."""

    rest: object
    is_copied: bool  # Some of it is.
    is_whole: bool  # All of it is, and nothing was added.


class PlantedReplyAnswers:
    """The answers that the objects of the material give."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces

    @cached_property
    def readings(self) -> list[list[object]]:
        """The values in each text of the material, as it is written and as a judge may have seen it."""
        texts = dict.fromkeys(chain.from_iterable(map(_list_reply_readings, self.pieces)))
        return [_list_reply_values(text) for text in texts]

    @cached_property
    def given(self) -> list[GivenReplyAnswers]:
        """What each value of the material says."""
        return [read_given_answers(data) for values in self.readings for data in values]

    @cached_property
    def pairs(self) -> set[_Pair]:
        """All answers of the material with their names."""
        return {pair for one in self.given for pair in one.pairs}

    @cached_property
    def texts(self) -> dict[str, set[str]]:
        """The texts in objects of the material, with their words."""
        texts = [text for one in self.given for text in (*one.reasons, *one.remarks, *one.quotes)]
        return {text: set(text.split()) for text in texts[-MOST_TEXTS:] if _count_letters(text) >= LEAST_LETTERS}

    @cached_property
    def letters(self) -> str:
        """All of the material in letters and numbers."""
        texts = dict.fromkeys(one for piece in self.pieces for one in (piece, *list_unescaped_texts(piece)))
        return "\0".join(_spell_answer_text(text).replace(" ", "") for text in texts)

    @cached_property
    def words(self) -> MaterialWords:
        """What may stand in a copy and adds nothing to it."""
        return MaterialWords.collect([one for values in self.readings for one in values], self.pieces)

    def compare_value(self, data: object) -> ComparedValue:
        """Which answers of a value, with their reasons, the material gives too, and what else the value says."""
        own = read_given_answers(data)
        if own.pairs and own.said and not own.is_contradicted and any(map(own.is_part_of, self.given)):
            return ComparedValue(COPIED, True, self.adds_nothing(data))
        rest, is_copied, is_added = self._cut_copies(data, "", "")
        return ComparedValue(rest, is_copied, is_copied and not is_added and self.adds_nothing(data))

    def adds_nothing(self, data: object, text: str = "") -> bool:
        """Whether a copy has nothing in it that the material has not: neither a key, nor a word, nor a mark."""
        return (bool(text) and spell_whole(text) in self.words.text) or self.words.has_all_of(data)

    def gives_same_without_text(self, data: object) -> bool:
        """Whether an object of the material gives these answers and no others, and neither has a text."""
        own = read_given_answers(data)
        return (
            bool(own.pairs)
            and not own.has_text
            and any(own.pairs == one.pairs and not one.has_text for one in self.given)
        )

    def describe_added_to_bare(self, data: object, names: Collection[str]) -> str | None:
        """What a value says beside answers that an object without a text gives in the material; None if it gives none.

        What stands under a name that was asked, as a reason or as evidence, is an answer or belongs to one.
        """
        own = read_given_answers(data)
        bare = {pair for one in self.given if not one.has_text and one.pairs <= own.pairs for pair in one.pairs}
        if not bare:
            return None
        asked = set(map(_normalize_answer_key, names))
        more = [
            f"{name}: {answer}"
            for name, answer in own.pairs - bare
            if name not in asked | _BESIDE_ANSWERS | REASON_KEYS
        ]
        return "\n".join([*more, *_list_reply_remarks(data, "")])

    def _cut_copies(self, data: object, subject: str, key: str) -> tuple[object, bool, bool]:
        """What is left of a value, whether some was copied, and whether a copy has something added to it."""
        if not isinstance(data, dict | list):
            return data, False, False
        if isinstance(data, dict):
            found = self._compare_answer(data, subject, key)
            if found is not None:
                return COPIED, True, found
            subject = _name_subject_of_answer(data, subject, key)
        entries = list(_list_answer_entries(data)) if isinstance(data, dict) else [(key, below) for below in data]
        cut = [(name, *self._cut_copies(below, subject, _normalize_answer_key(name))) for name, below in entries]
        if not any(is_copied for _, _, is_copied, _ in cut):
            return data, False, False
        rest: object = [below for _, below, _, _ in cut] if isinstance(data, list) else {one[0]: one[1] for one in cut}
        is_added = any(added for _, _, _, added in cut) or len(cut) > len(data)
        return rest, True, is_added

    def _compare_answer(self, data: dict[str, object], subject: str, key: str) -> bool | None:
        """Whether an object with an answer of its own, copied from the material, says more; None where it is not."""
        if not any(_is_answer(*one) for one in data.items()) or any(_is_nested_in_reply(*one) for one in data.items()):
            return None
        own = GivenReplyAnswers()
        own.add_value(data, subject, key)
        texts = [text for text in own.said or own.quotes if _count_letters(text) >= LEAST_LETTERS]
        scores = {pair for pair in own.pairs if pair[0] in ("", subject, key)} or own.pairs
        held = [self._compare_text(text) for text in texts] if scores <= self.pairs else []
        if any(one is not None for one in held):
            is_same = own.pairs <= self.pairs and not any(one is not False for one in held)
            return not is_same or own.is_contradicted
        if own.has_text and not texts and any(scores <= one.pairs and one.has_text for one in self.given):
            return own.is_contradicted  # Dots or a mark in place of a reason: nothing of it is the judge's own.
        return own.is_contradicted if own.has_text and self._stands_outside_json(own, texts) else None

    def _compare_text(self, text: str) -> bool | None:
        """Whether a text of the material has something added to it; None where it is another text."""
        if text in self.texts:
            return False
        words = set(text.split())
        for planted, known in self.texts.items():
            is_long = min(len(text), len(planted)) >= LEAST_SHARED
            if (is_long and text in planted) or planted.startswith(f"{text} "):
                return False
            shared = len(words & known)
            reworded = shared >= 3 and shared >= MOST_OF_ONE * len(known)
            if (_count_letters(planted) >= LEAST_SHARED and planted in text) or reworded:
                return not words <= known
        return None

    def _stands_outside_json(self, own: GivenReplyAnswers, reasons: Sequence[str]) -> bool:
        """Whether its reasons stand in the material as they are, and its answers after their names.

        What is short enough to stand there by chance must stand near them.
        """
        texts = [text.replace(" ", "") for text in reasons]
        if min(map(_weigh_letters, texts), default=0) < LEAST_OUTSIDE_JSON:
            return bool(own.pairs) and all(self._stand_near(*pair, texts) for pair in own.pairs)
        return all(text in self.letters for text in texts) and all(
            re.search(rf"{re.escape(name)}.{{0,{NEAREST}}}?{re.escape(answer)}", self.letters)
            for name, answer in own.pairs
        )

    def _stand_near(self, name: str, answer: str, texts: Sequence[str]) -> bool:
        """Whether an answer and some texts stand near a name."""
        places = islice(re.finditer(re.escape(name), self.letters), MOST_PLACES) if name else ()
        near = (self.letters[max(0, place.start() - NEAREST) : place.end() + NEAREST] for place in places)
        return any(all(text in part for text in (answer, *texts)) for part in near)


def read_given_answers(data: object) -> GivenReplyAnswers:
    """What a value says, whatever its form."""
    own = GivenReplyAnswers()
    own.add_value(data, "", "")
    return own


def _list_reply_remarks(data: object, key: str) -> Iterator[str]:
    """The texts of a value that are neither a reason nor evidence nor a name."""
    if isinstance(data, dict):
        for name, below in _list_answer_entries(data):
            yield from _list_reply_remarks(below, _normalize_answer_key(name))
    elif isinstance(data, list):
        for below in data:
            yield from _list_reply_remarks(below, key)
    elif isinstance(data, str) and not key.endswith(_OF_ANSWERS) and key not in SCORE_KEYS:
        yield data


def _is_answer(name: str, below: object) -> bool:
    is_leaf = below is not None and not isinstance(below, dict | list)
    return is_leaf and _spell_answer(below, _normalize_answer_key(name)) is not None


def _is_nested_in_reply(name: str, below: object) -> bool:
    """Whether answers of others may stand under a key: not in evidence, nor where a score is an object itself."""
    entries = below if isinstance(below, list) else [below]
    return any(isinstance(one, dict) for one in entries) and _normalize_answer_key(name) not in _QUOTES


def _list_reply_values(text: str) -> list[object]:
    """All values in a text, however many, also those that are never closed; what it calls thinking is text too."""
    scanned = scan_json_values_in_reply(text)
    found = [*scanned.values, *scanned.broken]
    if "<" in text:
        found += chain.from_iterable(parse_tolerant_json_reply(text, 0, len(text)))
    return [value.data for value in found]


def _list_reply_readings(piece: str) -> Iterator[str]:
    """A text as it is written, and as it is where entities, unseen characters and look-alikes are not minded."""
    yield piece
    seen = drop_unseen_characters_from_reply(piece)
    yield seen
    yield spell_out_entities_in_reply(seen)
    yield fold_quotation_in_reply(piece)
    yield from list_unescaped_texts(piece)


def list_unescaped_texts(piece: str) -> Iterator[str]:
    """A text as it is where it is the text of a text: without its escapes."""
    for _ in range(MOST_ESCAPED):
        if _ESCAPE.search(piece) is None:
            break
        piece = _ESCAPE.sub(_read_escape, piece)
        yield piece


def _read_escape(escape: re.Match[str]) -> str:
    return chr(int(escape[2], 16)) if escape[2] else {"n": "\n", "r": "\n", "t": "\t"}.get(escape[1], escape[1])


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _weigh_letters(text: str) -> int:
    """Letters, of which one that is a word by itself counts twice."""
    return sum(1 + (letter >= "\u3040") for letter in text if letter.isalpha())
