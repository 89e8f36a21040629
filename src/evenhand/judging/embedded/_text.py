"""An output made ready once for all criteria: sentences with their words and values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from evenhand.judging.embedded._sentences import Sentence, sentences_of
from evenhand.judging.embedded._values import Value, values_of
from evenhand.judging.embedded._vectors import Vectors
from evenhand.judging.embedded._words import Word, words_of

LOOKED_AT = 10_000  # Sentences of one text whose words are looked at: as many as in a long book.


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence made ready for comparison."""

    sentence: Sentence
    words: tuple[Word, ...]
    stems: frozenset[str]
    values: tuple[Value, ...]


class Text:
    """A text made ready for comparison with many claims."""

    def __init__(self, text: str, vectors: Vectors | None = None) -> None:
        self.text = text
        self.vectors = vectors
        self.sentences = sentences_of(text)
        self.lines = [_line(sentence) for sentence in self.sentences[:LOOKED_AT]]
        self.stems = frozenset(stem for line in self.lines for stem in line.stems)
        self.values = [value for line in self.lines for value in line.values]
        self.plain = " ".join(text.casefold().split())
        self._holding = Counter(stem for line in self.lines for stem in line.stems)

    @property
    def cut(self) -> bool:
        """Whether there are sentences whose words are not looked at."""
        return len(self.sentences) > len(self.lines)

    def has(self, quote: str) -> bool:
        """Whether these very words stand in it, letter case and white space aside."""
        return " ".join(quote.casefold().split()) in self.plain

    def rarity(self, stem: str) -> float:
        """How much it says that a stem is found: little, where nearly every sentence has it."""
        others = len(self.lines) - 1
        return 1.0 if others < 1 or not self._holding[stem] else 1 - 0.65 * (self._holding[stem] - 1) / others

    def around(self, at: int) -> list[Line]:
        """A sentence with those before and after it."""
        return self.lines[max(0, at - 1) : at + 2]

    def likeness(self, words: str) -> tuple[float, float]:
        """How near the nearest sentence, and the nearest two in a row, are to these words; 0 without vectors."""
        if self.vectors is None or not self.lines or not words:
            return 0.0, 0.0
        row = self.vectors.of([words])[0]
        single, pairs = self._rows
        return float((single @ row).max()), float((pairs @ row).max())

    @cached_property
    def _rows(self) -> tuple[Any, Any]:
        """A row for each sentence, and one for each two in a row."""
        assert self.vectors is not None
        texts = [line.sentence.text for line in self.lines]
        single = self.vectors.of(texts)
        return single, self.vectors.of([" ".join(two) for two in pairwise(texts)]) if texts[1:] else single


def _line(sentence: Sentence) -> Line:
    words = tuple(words_of(sentence.text))
    return Line(sentence, words, frozenset(word.stem for word in words), tuple(values_of(sentence.text)))
