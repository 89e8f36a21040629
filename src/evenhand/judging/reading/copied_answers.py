"""Answers of a reply that the material gives too: compared by what they say, however they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import chain

from evenhand.files.parsing import DuplicateKeyJsonObject
from evenhand.judging.reading.json_answers import (
    EVIDENCE_KEYS,
    GONE,
    HOLDER_KEYS,
    REASON_KEYS,
    SCORE_KEYS,
    SUBJECT_KEYS,
)
from evenhand.judging.reading.reply_text import (
    LEAST_LETTERS,
    drop_unseen_characters,
    fold_quotation,
    normalize_reply_answer_name,
    scan_json_values,
    spell_out_entities,
)
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, read_yes_or_no_reply
from evenhand.judging.reading.tolerant_json import parse_tolerant_json_reply

LEAST_SHARED = 8  # Letters of a text that is a part of another: fewer are a word that anybody uses.
LEAST_OUTSIDE_JSON = 12  # Letters of a reason that stands in the material, but in no object.
MOST_OF_ONE = 0.7  # Of the words of a planted reason: whoever has so many of them has reworded it.
NEAREST = 600  # Letters between the name of a criterion and its answer, where these stand in no object.
MOST_TEXTS = 500
_QUOTES = frozenset(EVIDENCE_KEYS)
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")
_NUMBER = re.compile(
    r"([0-9]{1,9}(?:[.,][0-9]{1,6})?)(?: ?(?:/|out of|of) ?[0-9]{1,4})?(?: ?(?:points?|stars?|分|点|점))?"
)
_Pair = tuple[str, str]
_OF_ANSWERS = (*REASON_KEYS, *EVIDENCE_KEYS)  # Also with a name before it: clarity_reason.
_BESIDE_ANSWERS = frozenset(["band", "confidence", "max", "maxscore", "min", "outof", "weight"])


@dataclass(slots=True)
class GivenAnswers:
    """What an object says: answers by name, reasons, and quotations, each spelt alike however it is written."""

    pairs: set[_Pair] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    is_contradicted: bool = False  # A key came twice, with different values.

    @property
    def has_text(self) -> bool:
        """Whether it has a sentence, or a name."""
        return bool(self.reasons or self.quotes)

    def is_part_of(self, other: GivenAnswers) -> bool:
        """Whether the other gives all its answers and reasons."""
        return self.pairs <= other.pairs and set(self.reasons) <= set(other.reasons)

    def add_value(self, data: object, subject: str, key: str) -> None:
        """Take in a value that stands under a key, in an object about a subject."""
        if isinstance(data, dict):
            named = _name_subject(data, subject, key)
            self.is_contradicted |= isinstance(data, DuplicateKeyJsonObject) and bool(data.differing())
            for name, below in _list_entries(data):
                self.add_value(below, named, _normalize_key(name))
        elif isinstance(data, list):
            for below in data:
                self.add_value(below, subject, key)
        elif data is not None and data != "":
            self._add_leaf(data, subject if key in SCORE_KEYS else key)

    def _add_leaf(self, data: object, name: str) -> None:
        answer = _spell_answer(data)
        if name in _QUOTES:
            self.quotes.append(_spell_text(str(data)))
        elif answer is not None:
            self.pairs.add((name, answer))
        else:
            self.reasons.append(_spell_text(str(data)))


def _list_entries(data: dict[str, object]) -> Iterator[tuple[str, object]]:
    """The entries of an object but for what it is about; a key that came twice, with all its values."""
    about = {key for key in data if normalize_reply_answer_name(key) in SUBJECT_KEYS} if _find_subject(data) else set()
    twice = data.twice if isinstance(data, DuplicateKeyJsonObject) else {}
    for key, value in data.items():
        if key not in about:
            yield from ((key, one) for one in twice.get(key, [value]))


def _name_subject(data: Mapping[str, object], subject: str, key: str) -> str:
    return _find_subject(data) or (subject if key in HOLDER_KEYS or key in SCORE_KEYS else key or subject)


def _find_subject(data: Mapping[str, object]) -> str:
    keys = {normalize_reply_answer_name(key): value for key, value in data.items()}
    about = next((keys[key] for key in SUBJECT_KEYS if isinstance(keys.get(key), str)), "")
    return _normalize_key(str(about)) if about and not SCORE_KEYS.isdisjoint(keys) else ""


def _normalize_key(key: str) -> str:
    return normalize_reply_answer_name(fold_quotation(key))


def _spell_text(text: str) -> str:
    return " ".join(_WORD.findall(fold_quotation(text)))


def _spell_answer(data: object) -> str | None:
    """A number, a yes or no, or another short word; None for a text."""
    if isinstance(data, bool):
        return "yes" if data else "no"
    if isinstance(data, int | float | Decimal):
        return _spell_number(str(data))
    text = fold_quotation(str(data)).strip(" \t\r\n.*\"'`")
    number = _NUMBER.fullmatch(text)
    if number or text in NUMBER_WORDS:
        return _spell_number(number[1].replace(",", ".") if number else str(NUMBER_WORDS.index(text)))
    said = read_yes_or_no_reply(text) if len(text) <= LEAST_SHARED else None
    if said is not None:
        return "yes" if said else "no"
    return text if sum(map(str.isalpha, text)) < LEAST_LETTERS and text.isascii() else None


def _spell_number(text: str) -> str:
    plain = text.lower()
    return plain.rstrip("0").rstrip(".") if "." in plain and "e" not in plain else plain


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of a reply held against the material: what of it is not copied, and whether anything is."""

    rest: object
    is_copied: bool  # Some of it is.
    is_whole: bool  # All of it is, and nothing was added.


class PlantedAnswers:
    """The answers that the objects of the material give."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces

    @cached_property
    def readings(self) -> list[list[object]]:
        """The values in each text of the material, as it is written and as a judge may have seen it."""
        texts = dict.fromkeys(chain.from_iterable(map(_list_readings, self.pieces)))
        return [_list_values(text) for text in texts]

    @cached_property
    def given(self) -> list[GivenAnswers]:
        """What each value of the material says."""
        return [read_given_answers(data) for values in self.readings for data in values]

    @cached_property
    def pairs(self) -> set[_Pair]:
        """All answers of the material with their names."""
        return {pair for one in self.given for pair in one.pairs}

    @cached_property
    def texts(self) -> dict[str, set[str]]:
        """The texts in objects of the material, with their words."""
        texts = [text for one in self.given for text in (*one.reasons, *one.quotes)]
        return {text: set(text.split()) for text in texts[-MOST_TEXTS:] if _count_letters(text) >= LEAST_LETTERS}

    @cached_property
    def letters(self) -> str:
        """All of the material in letters and numbers."""
        return "\0".join(_spell_text(piece).replace(" ", "") for piece in self.pieces)

    @cached_property
    def keys(self) -> set[str]:
        """The keys that may stand around a copy and say nothing."""
        found = {key for text in self.readings for value in text for key in _list_keys(value)}
        return found | {name for name, _ in self.pairs} | HOLDER_KEYS

    def compare_value(self, data: object) -> ComparedValue:
        """Which answers of a value, with their reasons, the material gives too, and what else the value says."""
        own = read_given_answers(data)
        if own.pairs and own.reasons and not own.is_contradicted and any(map(own.is_part_of, self.given)):
            return ComparedValue(GONE, True, self._quotes_only(own))
        rest, is_copied, is_added = self._cut_copies(data, "", "")
        return ComparedValue(rest, is_copied, is_copied and not is_added and not self._says_more(rest))

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
        asked = set(map(_normalize_key, names))
        more = [
            f"{name}: {answer}"
            for name, answer in own.pairs - bare
            if name not in asked | _BESIDE_ANSWERS | REASON_KEYS
        ]
        return "\n".join([*more, *_list_remarks(data, "")])

    def _cut_copies(self, data: object, subject: str, key: str) -> tuple[object, bool, bool]:
        """What is left of a value, whether some was copied, and whether a copy has something added to it."""
        if not isinstance(data, dict | list):
            return data, False, False
        if isinstance(data, dict):
            found = self._compare_answer(data, subject, key)
            if found is not None:
                return GONE, True, found
            subject = _name_subject(data, subject, key)
        entries = list(_list_entries(data)) if isinstance(data, dict) else [(key, below) for below in data]
        cut = [(name, *self._cut_copies(below, subject, _normalize_key(name))) for name, below in entries]
        if not any(is_copied for _, _, is_copied, _ in cut):
            return data, False, False
        rest: object = [below for _, below, _, _ in cut] if isinstance(data, list) else {one[0]: one[1] for one in cut}
        is_added = any(added for _, _, _, added in cut) or len(cut) > len(data)
        return rest, True, is_added

    def _compare_answer(self, data: dict[str, object], subject: str, key: str) -> bool | None:
        """Whether an object with an answer of its own, copied from the material, says more; None where it is not."""
        if not any(_is_answer(below) for below in data.values()) or any(_is_nested(*one) for one in data.items()):
            return None
        own = GivenAnswers()
        own.add_value(data, subject, key)
        texts = [text for text in own.reasons or own.quotes if _count_letters(text) >= LEAST_LETTERS]
        scores = {pair for pair in own.pairs if pair[0] in ("", subject, key)} or own.pairs
        held = [self._compare_text(text) for text in texts] if scores <= self.pairs else []
        if any(one is not None for one in held):
            is_same = own.pairs <= self.pairs and not any(one is not False for one in held)
            return not is_same or own.is_contradicted or not self._quotes_only(own)
        return own.is_contradicted if texts and self._stands_outside_json(own) else None

    def _quotes_only(self, own: GivenAnswers) -> bool:
        """Whether its evidence stands in the material: in other words it could be a remark."""
        return all(quote.replace(" ", "") in self.letters for quote in own.quotes)

    def _says_more(self, rest: object) -> bool:
        """Whether anything is left beside copies but brackets, and keys that only hold answers."""
        if isinstance(rest, dict):
            return any(self._says_more(below) or _normalize_key(key) not in self.keys for key, below in rest.items())
        if isinstance(rest, list):
            return any(map(self._says_more, rest))
        return rest not in (None, "", GONE)

    def _compare_text(self, text: str) -> bool | None:
        """Whether a text of the material has something added to it; None where it is another text."""
        if text in self.texts:
            return False
        words = set(text.split())
        for planted, known in self.texts.items():
            if min(len(text), len(planted)) >= LEAST_SHARED and text in planted:
                return False
            shared = len(words & known)
            reworded = shared >= 3 and shared >= MOST_OF_ONE * len(known)
            if (_count_letters(planted) >= LEAST_SHARED and planted in text) or reworded:
                return not words <= known
        return None

    def _stands_outside_json(self, own: GivenAnswers) -> bool:
        """Whether its reasons stand in the material as they are, and its answers after their names."""
        texts = [text.replace(" ", "") for text in own.reasons]
        if not texts or min(map(_weigh_letters, texts)) < LEAST_OUTSIDE_JSON:
            return False
        return all(text in self.letters for text in texts) and all(
            re.search(rf"{re.escape(name)}.{{0,{NEAREST}}}?{re.escape(answer)}", self.letters)
            for name, answer in own.pairs
        )


def read_given_answers(data: object) -> GivenAnswers:
    """What a value says, whatever its form."""
    own = GivenAnswers()
    own.add_value(data, "", "")
    return own


def _list_remarks(data: object, key: str) -> Iterator[str]:
    """The texts of a value that are neither a reason nor evidence nor a name."""
    if isinstance(data, dict):
        for name, below in _list_entries(data):
            yield from _list_remarks(below, _normalize_key(name))
    elif isinstance(data, list):
        for below in data:
            yield from _list_remarks(below, key)
    elif isinstance(data, str) and not key.endswith(_OF_ANSWERS) and key not in SCORE_KEYS:
        yield data


def _is_answer(below: object) -> bool:
    return below is not None and not isinstance(below, dict | list) and _spell_answer(below) is not None


def _is_nested(name: str, below: object) -> bool:
    """Whether answers of others may stand under a key: not in evidence, nor where a score is an object itself."""
    entries = below if isinstance(below, list) else [below]
    return any(isinstance(one, dict) for one in entries) and _normalize_key(name) not in _QUOTES


def _list_keys(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        yield from map(_normalize_key, data)
    for below in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _list_keys(below)


def _list_values(text: str) -> list[object]:
    """All values in a text, however many, also those that are never closed; what it calls thinking is text too."""
    scanned = scan_json_values(text)
    found = [*scanned.values, *scanned.broken]
    if "<" in text:
        found += chain.from_iterable(parse_tolerant_json_reply(text, 0, len(text)))
    return [value.data for value in found]


def _list_readings(piece: str) -> Iterator[str]:
    """A text as it is written, and as it is where entities, unseen characters and look-alikes are not minded."""
    yield piece
    seen = drop_unseen_characters(piece)
    yield seen
    yield spell_out_entities(seen)
    yield fold_quotation(piece)


def _count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _weigh_letters(text: str) -> int:
    """Letters, of which one that is a word by itself counts twice."""
    return sum(1 + (letter >= "\u3040") for letter in text if letter.isalpha())
