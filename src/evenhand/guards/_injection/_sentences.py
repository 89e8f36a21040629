"""Sentences as classes of words: what the weighing of a sentence looks at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from evenhand.guards._injection._lexicon import english, sayings
from evenhand.guards._injection._lexicon_chinese import chinese

Feature = str | tuple[str, str]

REACH = 4  # Words after a word that count as near it.
_LONGEST = 400  # Characters: a longer sentence is cut, so that no text makes a sentence that says everything.
_STOP = r"[.!?;]+[\"')\]]*(?:\s+|$)|\n\s{0,9}\n\s*"
_BREAK = re.compile(_STOP)
_HAN_BREAK = re.compile(rf"{_STOP}|(?<=[\u4e00-\u9fff\d\"')\]])[.!?;]+(?=[\u4e00-\u9fff\"'(\[])")
_NUMBER = r"\d+(?:\.\d+)?(?: ?(?:/|out of|of) ?\d+)?%?"
_REST = rf"a ?\+(?!\w)|[a-z]+|{_NUMBER}|[\"`\[{{<=#|!?(\n:$_]"
_LATIN = re.compile(_REST)
_MARKS = {
    ":": "colon", '"': "quote", "`": "code", "[": "bracket", "{": "brace", "<": "angle", "=": "equals", "#": "hash",
    "\n": "line", "|": "bar", "!": "cry", "?": "question", "(": "paren", "$": "dollar", "_": "underscore",
}  # fmt: skip
_LENGTHS = (7, 14, 24, 40)
_HIGH = 0.85  # Of the most that there is: a mark that a hijack asks for.


class Sentence:
    """Where it stands in the text, its words, and the classes of each; worked out on demand, as few are worth it."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self._text = text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words, numbers and the marks that say something."""
        tokens = _LATIN if self._text.isascii() else _mixed()
        return tuple(tokens.findall(self._text, self.start, self.end))

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """The classes of each word."""
        return tuple(_classes(self.words))

    def joined(self, following: Sentence) -> Sentence:
        """This sentence and the next as one."""
        return Sentence(self._text, self.start, following.end)


def sentences(text: str) -> list[Sentence]:
    """The sentences of a normalised text."""
    stops = _BREAK if text.isascii() else _HAN_BREAK
    edges = [0, *[stop.end() for stop in stops.finditer(text)]]
    if edges[-1] < len(text):
        edges.append(len(text))
    return [Sentence(text, start, end) for edge in pairwise(edges) for start, end in _cut(text, *edge)]


def features(sentence: Sentence) -> set[Feature]:
    """Classes, pairs of classes near each other, single words, how it opens and how long it is."""
    found: set[Feature] = set()
    classes = sentence.classes
    for place, here in enumerate(classes):
        if here:
            near = [name for there in classes[place + 1 : place + 1 + REACH] for name in there]
            for name in here:
                found.add(name)
                found.update([(name, other) for other in near])
    plain = [place for place, word in enumerate(sentence.words) if word not in _MARKS]
    found.update([f"word {sentence.words[place]}" for place in plain])
    if plain:
        found.update([f"first {name}" for name in classes[plain[0]] or ("other word",)])
    found.add(f"length {sum(len(plain) > length for length in _LENGTHS)}")
    return found


def _cut(text: str, start: int, end: int) -> Sequence[tuple[int, int]]:
    if end - start <= _LONGEST:
        return ((start, end),)
    places = []
    while end - start > _LONGEST:
        space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        middle = space if space > 0 else start + _LONGEST
        places.append((start, middle))
        start = middle
    return [*places, (start, end)]


def _classes(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    said = sayings()
    for place, word in enumerate(words):
        if word in said:
            more = [name for rest, name in said[word] if words[place + 1 : place + 1 + len(rest)] == rest]
            yield (*classes_of(word), *more)
        else:
            yield classes_of(word)


@lru_cache(maxsize=8192)
def classes_of(word: str) -> tuple[str, ...]:
    """What a word is, alone."""
    if word in english():
        return english()[word]
    if word in _MARKS:
        return (_MARKS[word],)
    if word[0].isdecimal():
        return (_amount(word),)
    return ("top",) if word[-1] == "+" else chinese().get(word, ())


def _amount(word: str) -> str:
    """What a number says as a mark."""
    given, *most = re.findall(r"\d+(?:\.\d+)?", word)
    if most:
        share = float(given) / (float(most[0]) or 1)
        return "full mark" if share == 1 else "high mark" if _HIGH <= share < 1 else "fraction"
    if word[-1] == "%":
        return "full mark" if given == "100" else "number"
    if given in ("10", "100", "5", "20", "50"):
        return "ten"
    return "high" if re.fullmatch(r"8[5-9]|9\d?|1\.0|30|40|58|60|150", given) else "number"


@cache
def _mixed() -> re.Pattern[str]:
    longest = sorted(chinese(), key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest), _REST, "[\u4e00-\u9fff]"]))
