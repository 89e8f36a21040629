"""Scores for sentences that no fixed wording covers: fitted weights of the words and classes that meet in them."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from math import inf
from operator import attrgetter

from evenhand.files.methods import LIBRARY, load_library_data_file
from evenhand.guards.guarded_text import GuardedTextView, Place, find_injection_signs

Feature = str | tuple[str, str]
WordClasses = Mapping[str, tuple[str, ...]]

# What the words alone score, in one sentence and in two: below, the rest has hardly ever made up for it.
_WORTH_SCORING, _PAIR_WORTH_SCORING = -3.0, -2.2
_SIGNAL = 0.9  # Nearly every sentence that scores enough has a word that alone scores this much.
_MOST_WORDS = 80  # Of two sentences that are scored as one.
_START = attrgetter("start")


@dataclass(frozen=True, slots=True)
class InjectionSentenceScores:
    """The scores of a view's sentences, each worked out once: above zero, a sentence speaks to a judge."""

    view: GuardedTextView
    sentences: Sequence[InjectionSentence]
    _scores: dict[tuple[int, bool], float] = field(default_factory=dict)

    def find_injected_sentences(self, except_numbers: Collection[int] = ()) -> Iterator[tuple[set[str], Place]]:
        """The sentences, alone or two in a row, that score enough: their words and their place."""
        view, numbers = self.view, set(range(len(self.sentences)))
        if view.text.isascii():
            signals = view.known_words & load_injection_signal_words()
            places = [at for word in signals for at in find_injection_signs(f" {word} ", view.spaced)]
            numbers = {max(0, bisect_right(self.sentences, at, key=_START) - 1) for at in places}
        always = load_injection_weights()["always"]
        # A first look at the words rules out most of them.
        sums = {
            number: sum(map(_score_injection_word, set(self.sentences[number].words)))
            for number in sorted(numbers.difference(except_numbers))
        }
        done = 0
        for number, alone in sums.items():
            first = self.sentences[number]
            both = always + alone + sums.get(number + 1, -inf)
            for paired, worth in ((False, always + alone > _WORTH_SCORING), (True, both > _PAIR_WORTH_SCORING)):
                if worth and first.start >= done and self._score(number, paired) > 0:
                    last = self.sentences[number + paired]
                    done = last.end
                    passage = view.text[first.start : last.end]
                    start = last.end - len(passage.lstrip())
                    yield {*first.words, *last.words}, (start, first.start + len(passage.rstrip()))

    def score_passage(self, start: int, end: int) -> float:
        """The best score of a sentence, or of two in a row, that has a part of this passage."""
        numbers = self.list_sentence_numbers(start, end)
        tried = [(number, paired) for number in numbers for paired in (False, True)]
        tried += [(numbers[0] - 1, True)] if numbers[0] else []
        return max(self._score(*one) for one in tried)

    def list_sentence_numbers(self, start: int, end: int) -> range:
        """The sentences that have a part of this passage."""
        first = max(0, bisect_right(self.sentences, start, key=_START) - 1)
        return range(first, max(first + 1, bisect_left(self.sentences, end, key=_START)))

    def _score(self, number: int, paired: bool) -> float:
        if (number, paired) not in self._scores:
            sentence = _join_short_injection_sentences(self.sentences, number) if paired else self.sentences[number]
            weights = load_injection_weights()
            features = list_injection_features(sentence) if sentence else ()
            score = weights["always"] + sum([weights.get(feature, 0.0) for feature in features])
            self._scores[number, paired] = score if sentence else -inf
        return self._scores[number, paired]


def list_injection_sentences(view: GuardedTextView) -> Iterator[InjectionSentence]:
    """All that can be scored in a view: what the weights are fitted on."""
    sentences = split_sentences(view.text)
    for number, sentence in enumerate(sentences):
        yield sentence
        if both := _join_short_injection_sentences(sentences, number):
            yield both


@cache
def load_injection_weights() -> Mapping[Feature, float]:
    """The fitted weights of all features; of two classes near each other where the name has " > "."""
    written: dict[str, float] = json.loads((LIBRARY / "injection.json").read_text("utf-8"))["weights"]
    pairs = {name: name.partition(" > ") for name in written}
    return {(pairs[name][0], pairs[name][2]) if pairs[name][1] else name: value for name, value in written.items()}


@cache
def load_injection_signal_words() -> frozenset[str]:
    """The words in Latin letters that alone score enough to look at the sentence."""
    weighted = [name for name in load_injection_weights() if isinstance(name, str) and name.startswith("word ")]
    latin = {word for word in (name.removeprefix("word ") for name in weighted) if word.isascii() and word.isalnum()}
    return frozenset(
        word for word in latin | load_injection_lexicon().english.keys() if _score_injection_word(word) > _SIGNAL
    )


@lru_cache(maxsize=8192)
def _score_injection_word(word: str) -> float:
    """What a word alone scores: quick to tell, and enough to leave most sentences at that."""
    weights = load_injection_weights()
    return weights.get(f"word {word}", 0.0) + sum(weights.get(name, 0.0) for name in classify_injection_word(word))


def _join_short_injection_sentences(sentences: Sequence[InjectionSentence], number: int) -> InjectionSentence | None:
    """A sentence and the next as one, if there is a next and both are not too long."""
    if number + 1 >= len(sentences):
        return None
    first, following = sentences[number], sentences[number + 1]
    both = InjectionSentence(first.text, first.start, following.end)
    return both if len(both.words) <= _MOST_WORDS else None


# Sentences as classes of words.

_REACH = 4  # Words after a word that count as near it.
_LONGEST = 400  # Characters: a longer sentence is cut, so that no text makes a sentence that says everything.
_LENGTHS = (7, 14, 24, 40)  # Words: each is one feature longer.
_HIGH = 0.85  # Of the most that there is: a mark that a hijack asks for.
_STOP = r"(?<![.!?;])[.!?;]++[\"')\]]*+(?:\s+|$)|\n\s{0,9}\n\s*"
_BREAK = re.compile(_STOP)
_HAN_BREAK = re.compile(rf"{_STOP}|(?<=[\u4e00-\u9fff\d\"')\]])[.!?;]+(?=[\u4e00-\u9fff\"'(\[])")
# A number that hangs on letters is a name, as in s20.
_NUMBER = r"(?<![a-z\d])\d+(?:\.\d+)?(?: ?(?:/|out of|of) ?\d+)?%?"
_TOKEN = rf"a ?\+(?!\w)|[a-z]+|{_NUMBER}|[\"`\[{{<=#|!?(\n:$_]"
_LATIN_TOKEN = re.compile(_TOKEN)
_MARK_CLASSES = frozenset(("score", "verdict", "heads", "rate", "good", "accept"))
_PUNCTUATION = {
    ":": "colon", '"': "quote", "`": "code", "[": "bracket", "{": "brace", "<": "angle", "=": "equals", "#": "hash",
    "\n": "line", "|": "bar", "!": "cry", "?": "question", "(": "paren", "$": "dollar", "_": "underscore",
}  # fmt: skip


@dataclass(eq=False)
class InjectionSentence:
    """Where it stands in the text, its words, and the classes of each; worked out on demand, as few are worth it."""

    text: str  # The whole text.
    start: int
    end: int

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Words, numbers and the punctuation that says something."""
        tokens = _LATIN_TOKEN if self.text.isascii() else _compile_mixed_injection_token()
        return tuple(tokens.findall(self.text, self.start, self.end))

    @cached_property
    def classes(self) -> tuple[tuple[str, ...], ...]:
        """The classes of each word."""
        return tuple(_classify_injection_words(self.words))


def split_sentences(text: str) -> list[InjectionSentence]:
    """The sentences of a normalised text."""
    stops = _BREAK if text.isascii() else _HAN_BREAK
    sentences = []
    start = 0
    for end in [*[stop.end() for stop in stops.finditer(text)], len(text)]:
        while end - start > _LONGEST:
            space = text.rfind(" ", start + _LONGEST // 2, start + _LONGEST)
            middle = space if space > 0 else start + _LONGEST
            sentences.append(InjectionSentence(text, start, middle))
            start = middle
        if start < end:
            sentences.append(InjectionSentence(text, start, end))
        start = end
    return sentences


def list_injection_features(sentence: InjectionSentence) -> set[Feature]:
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
    for word in (sentence.words[place] for place in plain):
        # A single letter says nothing: it is a variable, a label or a line of a table.
        if len(word) > 1 or not word.isascii() or word in ("a", "i"):
            found.add(f"word {word}")
    if plain:
        found.update([f"first {name}" for name in classes[plain[0]] or ("other word",)])
    found.add(f"length {sum(len(plain) > length for length in _LENGTHS)}")
    return found


@lru_cache(maxsize=8192)
def classify_injection_word(word: str) -> tuple[str, ...]:
    """What a word is, alone."""
    lexicon = load_injection_lexicon()
    if word in lexicon.english:
        return lexicon.english[word]
    if word in _PUNCTUATION:
        return (_PUNCTUATION[word],)
    if not word[0].isdecimal():
        return ("top",) if word[-1] == "+" else lexicon.chinese.get(word, ())
    given, *most = re.findall(r"\d+(?:\.\d+)?", word)  # What a number says as a mark.
    if most:
        share = float(given) / (float(most[0]) or 1)
        return ("full mark" if share == 1 else "high mark" if _HIGH <= share < 1 else "fraction",)
    if word[-1] == "%":
        return ("full mark" if given == "100" else "number",)
    if given in ("10", "100", "5", "20", "50"):
        return ("ten",)
    return ("high" if re.fullmatch(r"8[5-9]|9\d?|1\.0|30|40|58|60|150", given) else "number",)


def _classify_injection_words(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    phrases = load_injection_lexicon().phrases
    for place, word in enumerate(words):
        if place > 1 and words[place - 1] == "=" and word[0].isdecimal():
            # A value of what has nothing to do with marks is a setting, as in limit=5.
            names = classify_injection_word(words[place - 2])
            yield classify_injection_word(word) if not _MARK_CLASSES.isdisjoint(names) else ("number",)
        elif word in phrases:
            more = [name for rest, name in phrases[word] if words[place + 1 : place + 1 + len(rest)] == rest]
            yield (*classify_injection_word(word), *more)
        else:
            yield classify_injection_word(word)


@dataclass(frozen=True, slots=True)
class InjectionLexicon:
    """The classes of each word, and of phrases: by the first word, the other words and the class."""

    english: WordClasses
    chinese: WordClasses
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]


@cache
def load_injection_lexicon() -> InjectionLexicon:
    """The classes that ship, read once."""
    data = load_library_data_file("guards/injection/lexicon.yaml")
    groups, irregular = data["classes"], data["irregular_verbs"]["forms"]
    english: dict[str, tuple[str, ...]] = {}
    chinese: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    forms = [(name, group["words"]) for name, group in groups.items() if "words" in group]
    for name, verb in ((name, verb) for name, group in groups.items() for verb in group.get("verbs", "").split()):
        stem = verb.removesuffix("e")
        third = verb[:-1] + "ies" if verb.endswith(("fy", "ply", "py")) else verb + "s"
        past = stem[:-1] + "ied" if verb.endswith(("fy", "ply")) else stem + "ed"
        forms += [
            (name, verb),
            (f"{name}-s", f"{third} {verb}es" if verb.endswith(("s", "sh", "ch", "x")) else third),
            (f"{name}-ing", stem + "ing"),
            (f"{name}-ed", past),
        ]
        others = irregular.get(verb, "").split()
        forms += [(f"{name}-ing" if form.endswith("ing") else f"{name}-ed", form) for form in others]
    for name, words in forms:
        for word in words.split():
            english[word] = tuple(dict.fromkeys((*english.get(word, ()), name)))
    for name, group in groups.items():
        for word in group.get("chinese", "").split():
            if not re.fullmatch("[a-z]+", word):  # Those stand among the English words.
                chinese[word] = (*chinese.get(word, ()), name)
        for phrase in filter(None, group.get("phrases", "").split(", ")):
            first, *rest = phrase.replace("'", " ").split()
            phrases[first] = (*phrases.get(first, ()), (tuple(rest), name))
    return InjectionLexicon(english, chinese, phrases)


@cache
def _compile_mixed_injection_token() -> re.Pattern[str]:
    longest_first = sorted(load_injection_lexicon().chinese, key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest_first), _TOKEN, "[\u4e00-\u9fff]"]))
