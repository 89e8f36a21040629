"""Texts made ready once for all criteria: sentences with their words and values, and the language."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from evenhand.judging.embedded.lexicon import load_judge_lexicon, load_judge_pattern
from evenhand.judging.embedded.values import EmbeddedTextValue, find_values_of_claim
from evenhand.judging.embedded.words import TextWord, find_embedded_words

MOST_SENTENCES = 10_000  # Sentences of one text whose words are looked at: as many as in a long book.
WRAPPED = 60  # A line at least so long that ends without a mark goes on in the next one.
LONGEST_SENTENCE = 600  # What runs on without an end mark is cut, so that a quotation stays readable.


@dataclass(frozen=True, slots=True)
class JudgedSentence:
    """A sentence made ready for comparison."""

    text: str
    words: tuple[TextWord, ...]
    stems: frozenset[str]
    values: tuple[EmbeddedTextValue, ...]


class JudgedText:
    """A text made ready for comparison with many claims."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = " ".join(text.casefold().split())
        self.sentences = split_sentences(text)
        self.prepared = []
        for sentence in self.sentences[:MOST_SENTENCES]:
            words = tuple(
                find_embedded_words(_PLACEHOLDER_HOST.sub(lambda host: host[1] + " " * len(host[2]), sentence))
            )
            stems = frozenset(word.stem for word in words)
            self.prepared.append(JudgedSentence(sentence, words, stems, tuple(find_values_of_claim(sentence))))
        self.is_cut = len(self.sentences) > len(self.prepared)  # There are sentences that are not looked at.
        self.values = [value for sentence in self.prepared for value in sentence.values]
        self._sentences_with = Counter(stem for sentence in self.prepared for stem in sentence.stems)
        self.stems = frozenset(self._sentences_with)

    @property
    def opening(self) -> str:
        """The first sentence that can be quoted; of a text without one, all of it."""
        found = (one.text for one in self.prepared if sum(map(str.isalnum, one.text)) > 2)
        return next(found, self.text.strip())

    def contains_claimed_phrase(self, phrase: str) -> bool:
        """Whether these very words stand in it, letter case, white space and hyphens aside."""
        return " ".join(phrase.casefold().split()) in self.plain or contains_claim_words(self.text, phrase)

    def weigh_claim_stem(self, stem: str) -> float:
        """How much it says that a stem is found: little, where nearly every sentence has it."""
        others, holding = len(self.prepared) - 1, self._sentences_with[stem]
        return 1.0 if others < 1 or not holding else 1 - 0.65 * (holding - 1) / others


def contains_claim_words(text: str, phrase: str, *, inflected: bool = False) -> bool:
    """Whether words stand in a text in this order: whole, in any case, with a hyphen or a space or none between them.

    `inflected` takes other forms of the same words too.
    """
    for joint in (" ", ""):  # "Divide-and-conquer" is "divide and conquer", and "fine-tuned" is "finetuned".
        wanted, given = (" ".join(_HYPHEN.sub(joint, one).casefold().split()) for one in (phrase, text))
        if inflected:
            stems, own = ([word.stem for word in find_embedded_words(one)] for one in (wanted, given))
            runs = (own[at : at + len(stems)] for at in range(len(own) - len(stems) + 1))
            if stems and any(run == stems for run in runs):
                return True
        elif wanted and re.search(_compile_words_of_claim(wanted), given):
            return True
    return False


# Host names that RFC 2606 reserves: https://example.org is no example of anything, and says nothing else.
_PLACEHOLDER_HOST = re.compile(
    r"(https?://|www\.|@)((?:[\w-]+\.)*(?:example\.(?:com|org|net|edu)|[\w-]+\.(?:example|test|invalid)))(?![\w-])"
)
_HYPHEN = re.compile(r"(?<=\w)[-‐‑](?=\w)")


@lru_cache(maxsize=1000)
def _compile_words_of_claim(words: str) -> re.Pattern[str]:
    """A pattern for whole words, as far as they begin and end with a letter or digit; "LH 1234" is "LH1234"."""
    before, after = (r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else "")
    return re.compile(before + re.sub(r"(?<=[a-z])(?=\d)", r"\\s?", re.escape(words)) + after)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, without the space around them; list items and headings are their own."""
    sentences, start = [], 0
    for match in load_judge_pattern("texts", "sentence_end").finditer(text):
        if not _judged_sentence_goes_on(text, start, match):
            sentences += _cut_long_judged_sentence(text[start : match.end()])
            start = match.end()
    return sentences + _cut_long_judged_sentence(text[start:])


def _cut_long_judged_sentence(sentence: str) -> list[str]:
    pieces = (sentence[at : at + LONGEST_SENTENCE].strip() for at in range(0, len(sentence), LONGEST_SENTENCE))
    return [piece for piece in pieces if piece]


def _judged_sentence_goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the sentence goes on: after an abbreviation, or in a paragraph whose lines are wrapped."""
    after = text[end.end() : end.end() + 8]
    if "\n" not in end.group():
        before = text[max(0, end.start() - 8) : end.start()]
        abbreviated = load_judge_pattern("texts", "abbreviation").search(before)
        return bool(abbreviated) or (before.endswith("No.") and after[:1].isdigit())
    line = text[text.rfind("\n", 0, end.start()) + 1 : end.start()].rstrip()
    if end.group().count("\n") > 1 or not line or line[-1] in ".!?:;。！？；|":
        return False
    wrapped = after[:1].islower() or len(line) >= WRAPPED
    return wrapped and not load_judge_pattern("texts", "item_start").match(after)


def shorten_judged_passage(passage: str, most: int) -> str:
    """A passage as a reason shows it: on one line, and cut where it is long."""
    line = " ".join(passage.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def detect_judged_language(text: str) -> str | None:
    """The language with most of its common words in a text; None where there are too few of them."""
    words, counts = _count_judge_lexicon_words(text)
    likeliest = max(counts, key=lambda name: counts[name])
    return likeliest if counts[likeliest] >= max(1, words // 20) else None


def detect_language_unfit_for_judge(text: str) -> str:
    """The language of a text that is plainly not English; empty where it is, or where it cannot be told."""
    _, counts = _count_judge_lexicon_words(text)
    likeliest = max(counts, key=lambda name: counts[name])
    return likeliest if counts[likeliest] >= max(4, 3 * counts["english"]) and likeliest != "english" else ""


def _count_judge_lexicon_words(text: str) -> tuple[int, dict[str, int]]:
    """How many words a text has, and how many of them are common words of each language."""
    words = load_judge_pattern("texts", "latin_word").findall(text.casefold())
    times = Counter(words)
    counts = {
        name: sum(times[word] for word in entry["words"].split())
        for name, entry in load_judge_lexicon("texts")["languages"].items()
    }
    chinese = len(load_judge_pattern("texts", "chinese_character").findall(text))
    return len(words), {**counts, "chinese": chinese if chinese > len(words) else 0}
