"""Passages of a reply that stand in the texts it judges: whose words are they?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evenhand.judging.reading.reply_text import (
    drop_unseen_characters_from_reply,
    fold_quotation_in_reply,
    spell_out_entities_in_reply,
)
from evenhand.judging.reading.score_mentions import VALUE_WORDS

MOST_ANSWER_WORDS = 3  # Of a text that is an answer: "cannot assess".
_STARS = "★⭐🌟☆"
_WORD = re.compile(rf"[0-9]+|[{_STARS}]+|[\u3040-\u9fff\uac00-\ud7af]|[^\W\d_\u3040-\u9fff\uac00-\ud7af]+")
_NO_PLAIN_WORD = re.compile(r"[^A-Za-z0-9]+")
HOLDS_VALUE = re.compile(  # Or a choice, or a refusal to give one.
    rf"[\d一二三四五六七八九十{_STARS}]|{VALUE_WORDS}|\b(?:tie|equal|both|neither|better|winner|[A-Z]"
    r"|cannot|can't|won't|unable|abstain|refuse|decline)\b|无法|不能|拒绝|平局|更好|更优|胜",
    re.IGNORECASE,
)


def list_passages_of_texts(reply: str, texts: Sequence[str]) -> Iterator[str]:
    """The passages of a reply, of two words or more and with a value, all of whose words follow each other in a text.

    Marks between words, look-alike letters and letter case make no difference; a value and the word beside it follow
    each other also where a text has no space around them. Each passage is spelt as in the reply, in plain characters,
    and as words alone: what a mark of the author's hides from the one reading shows in another.
    """
    given = _ReplyWords.read(reply)
    for words in given.find_copied_runs(texts):
        begins, ends = words[0].start, words[-1].end
        if len(words) > 1 and HOLDS_VALUE.search(given.said, begins, ends):
            passages = [given.said[begins:ends], given.spelt[given.places[begins] : given.places[ends - 1] + 1]]
            folded = [word.folded for word in words]
            for plain in (folded, list(filter(str.isascii, folded))):
                passages += [" ".join(plain), *_list_labelled_values(plain)]
            for passage in dict.fromkeys(passages):
                yield passage
                yield from (line for line in passage.split("\n") if line != passage and HOLDS_VALUE.search(line))


def blank_copied_words(reply: str, texts: Sequence[str]) -> str:
    """The reply without the words of passages that stand in a text: what the judge adds.

    And without those of lines that do as a whole, or whose only word does.
    """
    given = _ReplyWords.read(reply)
    letters = list(given.spelt)
    lines = {tuple(_list_folded_words(line)) for text in texts for line in text.split("\n")}
    lines |= {(word,) for line in lines for word in line}
    copied = [run for run in given.find_copied_runs(texts) if len(run) > 1]
    copied += [line for line in given.split_lines() if tuple(word.folded for word in line) in lines]
    for words in copied:
        for word in words:
            for place in range(given.places[word.start], given.places[word.end - 1] + 1):
                letters[place] = " "
    return "".join(letters)


@dataclass(frozen=True, slots=True)
class _ReplyWord:
    start: int
    end: int
    folded: str


@dataclass(frozen=True, slots=True)
class _ReplyWords:
    """A reply as it is spelt, in plain characters, with the place in it that each stands for, and its words."""

    spelt: str
    said: str
    places: Sequence[int]
    words: Sequence[_ReplyWord]

    @classmethod
    def read(cls, reply: str) -> _ReplyWords:
        spelt = unicodedata.normalize("NFC", spell_out_entities_in_reply(drop_unseen_characters_from_reply(reply)))
        said, places = _spell_in_plain_characters(spelt)
        words = [_ReplyWord(*word.span(), fold_quotation_in_reply(word[0])) for word in _WORD.finditer(said)]
        return cls(spelt, said, places, words)

    def find_copied_runs(self, texts: Sequence[str]) -> Iterator[Sequence[_ReplyWord]]:
        """The words of the reply, parted where two do not follow each other in a text."""
        follows = _JudgedWords(texts).follows
        return self._split(lambda one, other: not follows(one.folded, other.folded))

    def split_lines(self) -> Iterator[Sequence[_ReplyWord]]:
        """The words of each line that has any."""
        return self._split(lambda one, other: "\n" in self.said[one.end : other.start])

    def _split(self, is_parted: Callable[[_ReplyWord, _ReplyWord], bool]) -> Iterator[Sequence[_ReplyWord]]:
        start = 0
        for at in range(1, len(self.words) + 1):
            if at == len(self.words) or is_parted(self.words[at - 1], self.words[at]):
                yield self.words[start:at]
                start = at


def _list_folded_words(text: str) -> list[str]:
    return _WORD.findall(fold_quotation_in_reply(text))


def _list_labelled_values(words: Sequence[str]) -> Iterator[str]:
    """Each value of a passage with the words before it, as a label has them."""
    for at, word in enumerate(words):
        if at and HOLDS_VALUE.search(word):
            yield from (f"{' '.join(words[max(0, at - count) : at])}: {word}" for count in range(1, MOST_ANSWER_WORDS))


class _JudgedWords:
    """Which words follow each other in judged texts, read with look-alikes folded and as they stand."""

    def __init__(self, texts: Sequence[str]) -> None:
        whole = [one for text in texts for one in (text, *list_unescaped_texts(text))]
        folded = [fold_quotation_in_reply(text) for text in whole]
        self._pairs = {pair for text in folded for pair in pairwise(_WORD.findall(text))}
        self._run_together = ["".join(filter(str.isalnum, text)) for text in folded]
        self._run_together += [_NO_PLAIN_WORD.sub("", text).lower() for text in whole]
        self._known: dict[str, bool] = {}

    def follows(self, one: str, other: str) -> bool:
        """Whether two words stand side by side; signs that are letters to one reader part no label from its value."""
        if (one, other) in self._pairs:
            return True
        if HOLDS_VALUE.search(one) is None and HOLDS_VALUE.search(other) is None:
            return False
        together = one + other
        if together not in self._known:
            self._known[together] = any(together in text for text in self._run_together)
        return self._known[together]


def _spell_in_plain_characters(text: str) -> tuple[str, Sequence[int]]:
    """A text with `№` as `No` and the like, and for each character the place of the one that it stands for."""
    if text.isascii():
        return text, range(len(text))
    plain = [unicodedata.normalize("NFKC", character) for character in text]
    return "".join(plain), [place for place, part in enumerate(plain) for _ in part]


MOST_ESCAPED = 3  # Times that a text is taken for the text of a text.
_ESCAPE = re.compile(r"\\(?:([\"\\/nrt])|u([0-9a-fA-F]{4}))")


def list_unescaped_texts(piece: str) -> Iterator[str]:
    """A text as it is where it is the text of a text: without its escapes."""
    for _ in range(MOST_ESCAPED):
        if _ESCAPE.search(piece) is None:
            break
        piece = _ESCAPE.sub(_read_escape, piece)
        yield piece


def _read_escape(escape: re.Match[str]) -> str:
    return chr(int(escape[2], 16)) if escape[2] else {"n": "\n", "r": "\n", "t": "\t"}.get(escape[1], escape[1])
