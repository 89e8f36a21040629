"""Whether a value says anything beside what the material holds: keys and values are compared whole, marks included."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from evenhand.judging.reading.json_answers import EVIDENCE_KEYS, HOLDER_KEYS, REASON_KEYS, SCORE_KEYS, SUBJECT_KEYS
from evenhand.judging.reading.reply_text import LEAST_LETTERS, fold_quotation_in_reply
from evenhand.judging.reading.score_mentions import NUMBER_WORDS

# Tags of thinking are taken out of a reply where they stand in the material.
_SPACE_AND_QUOTES = re.compile(r"(?:[\s\"'“”‘’„«»`]|</?(?:think|thinking|thought|reasoning|scratchpad)>)+")
_JOINTS = re.compile(r"(?<=\w)[\s_\-]+(?=\w)")
_CUT = re.compile(r"\[?(?:…|\.{3,})\]?")
# A number as forms have it; the same with words or marks around it is a remark.
_PLAIN_NUMBER = re.compile(
    r"[+]?([0-9]{1,9}(?:[.,][0-9]{1,6})?)(?:(?:/|outof|of)[0-9]{1,4})?(?:points?|stars?|分|点|점)?"
)
_PLAIN_WORDS = frozenset([*NUMBER_WORDS, "yes", "no", "true", "false", "是", "否"])
_KEYS_OF_TEXTS = frozenset([*EVIDENCE_KEYS, *REASON_KEYS])
_KEYS_OF_FORMS = frozenset([*_KEYS_OF_TEXTS, *HOLDER_KEYS, *SCORE_KEYS, *SUBJECT_KEYS])


def split_at_cuts(text: str) -> list[str]:
    """A text without the dots that stand for what is left out, in its pieces."""
    return _CUT.split(text)


def spell_whole(text: str) -> str:
    """A text with all its marks, but for spaces and quotation marks, which a quotation may change."""
    return _SPACE_AND_QUOTES.sub("", fold_quotation_in_reply(text))


@dataclass(frozen=True, slots=True)
class MaterialWords:
    """The keys and values that stand in the material, and all of its text."""

    keys: frozenset[str]
    values: frozenset[str]
    text: str

    @classmethod
    def collect(cls, values: Collection[object], texts: Collection[str]) -> MaterialWords:
        """Those of the values in it, and of its texts."""
        found = [one for value in values for one in _list_leaves(value)]
        keys = {_spell_key(key) for key, _ in found}
        said = {_spell_leaf(leaf) for _, leaf in found}
        return cls(frozenset(keys) | _KEYS_OF_FORMS, frozenset(said), "\0".join(map(spell_whole, texts)))

    def has_all_of(self, data: object) -> bool:
        """Whether every key of a value is one of a form or of the material, and every text stands in the material."""
        return all(
            (name := _spell_key(key)) in self.keys and self._has_leaf(name, leaf) for key, leaf in _list_leaves(data)
        )

    def _has_leaf(self, key: str, leaf: object) -> bool:
        spelt = _spell_leaf(leaf)
        if not isinstance(leaf, str):
            return True  # It is compared as an answer.
        is_answer = key not in _KEYS_OF_TEXTS and (spelt in _PLAIN_WORDS or _PLAIN_NUMBER.fullmatch(spelt) is not None)
        if is_answer or spelt in self.values:
            return True
        is_long = sum(map(str.isalpha, spelt)) >= LEAST_LETTERS
        return not spelt or (is_long and _CUT.search(leaf) is None and spelt in self.text)


def _list_leaves(data: object, key: str = "") -> Iterator[tuple[str, object]]:
    """All that a value holds, each with the key that it stands under; keys with nothing under them too."""
    if isinstance(data, dict):
        for name, below in data.items():
            yield str(name), None
            yield from _list_leaves(below, str(name))
    elif isinstance(data, list):
        for below in data:
            yield from _list_leaves(below, key)
    else:
        yield key, data


def _spell_key(key: str) -> str:
    return _JOINTS.sub("", _SPACE_AND_QUOTES.sub(" ", fold_quotation_in_reply(key)).strip())


def _spell_leaf(leaf: object) -> str:
    return "" if leaf is None else spell_number(str(leaf)) if not isinstance(leaf, str) else spell_whole(leaf)


def spell_number(text: str) -> str:
    """A number as it is compared: 10 for 10.0 and 1e1."""
    plain = text.lower()
    if "." not in plain and "e" not in plain:
        return plain
    try:
        number = Decimal(plain)
        is_short = number.is_finite() and abs(number.adjusted()) < 30
    except ArithmeticError:
        return plain
    return f"{number.normalize():f}" if is_short else plain
