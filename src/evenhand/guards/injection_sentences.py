"""Sentences as classes of words: what the injection guard scores where no pattern matches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any

from evenhand.files.methods import load_library_data

Feature = str | tuple[str, str]
WordClasses = Mapping[str, tuple[str, ...]]

_REACH = 4  # Words after a word that count as near it.
_LONGEST = 400  # Characters: a longer sentence is cut, so that no text makes a sentence that says everything.
_LENGTHS = (7, 14, 24, 40)  # Words: each is one feature longer.
_HIGH = 0.85  # Of the most that there is: a mark that a hijack asks for.
_STOP = r"[.!?;]+[\"')\]]*(?:\s+|$)|\n\s{0,9}\n\s*"
_BREAK = re.compile(_STOP)
_HAN_BREAK = re.compile(rf"{_STOP}|(?<=[\u4e00-\u9fff\d\"')\]])[.!?;]+(?=[\u4e00-\u9fff\"'(\[])")
_NUMBER = r"\d+(?:\.\d+)?(?: ?(?:/|out of|of) ?\d+)?%?"
_TOKEN = rf"a ?\+(?!\w)|[a-z]+|{_NUMBER}|[\"`\[{{<=#|!?(\n:$_]"
_LATIN_TOKEN = re.compile(_TOKEN)
_PUNCTUATION = {
    ":": "colon", '"': "quote", "`": "code", "[": "bracket", "{": "brace", "<": "angle", "=": "equals", "#": "hash",
    "\n": "line", "|": "bar", "!": "cry", "?": "question", "(": "paren", "$": "dollar", "_": "underscore",
}  # fmt: skip


class InjectionSentence:
    """Where it stands in the text, its words, and the classes of each; worked out on demand, as few are worth it."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self._text = text

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words, numbers and the punctuation that says something."""
        tokens = _LATIN_TOKEN if self._text.isascii() else _compile_mixed_token()
        return tuple(tokens.findall(self._text, self.start, self.end))

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """The classes of each word."""
        return tuple(_classify_words(self.words))

    def join(self, following: InjectionSentence) -> InjectionSentence:
        """This sentence and the next as one."""
        return InjectionSentence(self._text, self.start, following.end)


def split_sentences(text: str) -> list[InjectionSentence]:
    """The sentences of a normalised text."""
    stops = _BREAK if text.isascii() else _HAN_BREAK
    edges = [0, *[stop.end() for stop in stops.finditer(text)]]
    if edges[-1] < len(text):
        edges.append(len(text))
    return [InjectionSentence(text, start, end) for edge in pairwise(edges) for start, end in _cut_long(text, *edge)]


def list_sentence_features(sentence: InjectionSentence) -> set[Feature]:
    """Classes, pairs of classes near each other, single words, how it opens and how long it is."""
    found: set[Feature] = set()
    classes = sentence.classes
    for place, here in enumerate(classes):
        if here:
            near = [name for there in classes[place + 1 : place + 1 + _REACH] for name in there]
            for name in here:
                found.add(name)
                found.update([(name, other) for other in near])
    plain = [place for place, word in enumerate(sentence.words) if word not in _PUNCTUATION]
    found.update([f"word {sentence.words[place]}" for place in plain])
    if plain:
        found.update([f"first {name}" for name in classes[plain[0]] or ("other word",)])
    found.add(f"length {sum(len(plain) > length for length in _LENGTHS)}")
    return found


@lru_cache(maxsize=8192)
def classify_word(word: str) -> tuple[str, ...]:
    """What a word is, alone."""
    english = load_english_classes()
    if word in english:
        return english[word]
    if word in _PUNCTUATION:
        return (_PUNCTUATION[word],)
    if word[0].isdecimal():
        return (_classify_number(word),)
    return ("top",) if word[-1] == "+" else load_chinese_classes().get(word, ())


@cache
def load_english_classes() -> WordClasses:
    """The classes of each English word."""
    classes = load_lexicon()["classes"]
    groups = [(name, group["words"]) for name, group in classes.items() if "words" in group]
    groups += [form for name, group in classes.items() for form in _inflect_verbs(name, group.get("verbs", ""))]
    table: dict[str, tuple[str, ...]] = {}
    for name, words in groups:
        for word in words.split():
            table[word] = tuple(dict.fromkeys((*table.get(word, ()), name)))
    return table


@cache
def load_chinese_classes() -> WordClasses:
    """The classes of each Chinese word."""
    table: dict[str, tuple[str, ...]] = {}
    for name, group in load_lexicon()["classes"].items():
        for word in group.get("chinese", "").split():
            if not re.fullmatch("[a-z]+", word):  # Those stand among the English words.
                table[word] = (*table.get(word, ()), name)
    return table


@cache
def load_lexicon() -> Any:
    """The classes of words, and the irregular verbs."""
    return load_library_data("guards/injection/lexicon.yaml")


@cache
def _load_phrases() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """What takes several words to say: by the first word, the other words and the class."""
    table: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    for name, group in load_lexicon()["classes"].items():
        for phrase in filter(None, group.get("phrases", "").split(", ")):
            first, *rest = phrase.replace("'", " ").split()
            table[first] = (*table.get(first, ()), (tuple(rest), name))
    return table


def _inflect_verbs(name: str, verbs: str) -> Iterator[tuple[str, str]]:
    """The verbs of a class and their other forms, each under the class of that form."""
    irregular = load_lexicon()["irregular_verbs"]["forms"]
    yield name, verbs
    for verb in verbs.split():
        stem = verb.removesuffix("e")
        past = stem[:-1] + "ied" if verb.endswith(("fy", "ply")) else stem + "ed"
        third = verb[:-1] + "ies" if verb.endswith(("fy", "ply", "py")) else verb + "s"
        yield f"{name}-s", f"{third} {verb}es" if verb.endswith(("s", "sh", "ch", "x")) else third
        yield f"{name}-ing", stem + "ing"
        yield f"{name}-ed", past
        for form in irregular.get(verb, "").split():
            yield f"{name}-ing" if form.endswith("ing") else f"{name}-ed", form


def _cut_long(text: str, start: int, end: int) -> Sequence[tuple[int, int]]:
    places = []
    while end - start > _LONGEST:
        space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
        middle = space if space > 0 else start + _LONGEST
        places.append((start, middle))
        start = middle
    return [*places, (start, end)]


def _classify_words(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    phrases = _load_phrases()
    for place, word in enumerate(words):
        if word in phrases:
            more = [name for rest, name in phrases[word] if words[place + 1 : place + 1 + len(rest)] == rest]
            yield (*classify_word(word), *more)
        else:
            yield classify_word(word)


def _classify_number(word: str) -> str:
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
def _compile_mixed_token() -> re.Pattern[str]:
    longest_first = sorted(load_chinese_classes(), key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest_first), _TOKEN, "[\u4e00-\u9fff]"]))
