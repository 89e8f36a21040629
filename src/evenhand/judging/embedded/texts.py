"""Texts made ready once for all criteria: sentences with their words, and values, so that "five percent" is "5%"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache

from evenhand.judging.embedded.lexicon import (
    TextWord,
    find_embedded_words,
    is_embedded_content_word,
    load_embedded_lexicon_numbers,
    load_judge_lexicon,
    load_judge_pattern,
    load_judge_patterns,
    lower_claim_letters,
    stem_embedded_word,
)

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


Amount = Fraction | tuple[int, ...]
Reading = tuple[str, Amount] | None  # A kind and an amount; None where the words mean no value after all.
MOST_DIGITS = 40  # A longer row of digits is no value that anybody compares, and slow to calculate with.


@dataclass(frozen=True, slots=True)
class EmbeddedTextValue:
    """A value in the base unit of its kind. A kind of "" is a bare number."""

    kind: str
    amount: Amount
    raw: str
    start: int
    end: int
    noun: str = ""  # What a bare number counts, as far as the next word tells.
    bound: str = ""  # "most" or "least", where the words before it make it a limit.

    @property
    def is_year(self) -> bool:
        """Whether a bare number reads as a year."""
        return self.kind == "" and isinstance(self.amount, Fraction) and 1000 <= self.amount <= 2100

    @property
    def is_code(self) -> bool:
        """Whether a bare number reads as the name of something, such as a status or a room."""
        return self.kind == "" and self.raw.isdigit() and len(self.raw) > 2 and not self.is_year

    def means_same(self, other: EmbeddedTextValue) -> bool:
        """Whether both mean the same; a bare number equals one with a unit, and a limit equals what keeps it."""
        first, second = self.amount, other.amount
        if {self.kind, other.kind} == {"date", "full date"}:
            return isinstance(first, tuple) and isinstance(second, tuple) and first[:2] == second[:2]
        if self.kind != other.kind and "" not in (self.kind, other.kind):
            return False
        if not isinstance(first, Fraction) or not isinstance(second, Fraction):
            return first == second
        if self.bound and not other.bound:
            return second <= first if self.bound == "most" else second >= first
        if self.kind == other.kind == "time":
            return abs(first - second) * 12 <= max(first, second)  # Three months are twelve weeks, or ninety days.
        return first == second

    def is_comparable(self, other: EmbeddedTextValue) -> bool:
        """Whether one could have stood in place of the other."""
        if self.kind == other.kind == "":
            same_noun = self.noun == other.noun != "" and is_embedded_content_word(self.noun)
            both_codes = self.is_code and other.is_code and len(self.raw) == len(other.raw)
            return (self.is_year and other.is_year) or same_noun or both_codes
        return self.kind == other.kind or {self.kind, other.kind} == {"date", "full date"}


def find_values_of_claim(text: str) -> list[EmbeddedTextValue]:
    """Every value of a text, in order of place; what one reader has read, the ones after it leave alone."""
    taken = bytearray(len(text))
    found: list[EmbeddedTextValue] = []
    for name, pattern in load_judge_patterns("values", "readers").items():
        for match in pattern.finditer(text):
            start, end = match.span()
            reading = None if any(taken[start:end]) else _READERS[name](match)
            if reading is not None:
                taken[start:end] = b"\1" * (end - start)
                noun = None if reading[0] else load_judge_pattern("values", "counted_noun").match(text, end)
                limit = load_judge_pattern("values", "value_bound").search(text, max(0, start - 24), start)
                bound = "" if limit is None else "most" if limit["most"] else "least"
                counted = stem_embedded_word(noun[1]) if noun else ""
                found.append(EmbeddedTextValue(*reading, match.group().strip(), start, end, counted, bound))
    return sorted(found, key=lambda value: value.start)


def _read_growth_order_of_claim(match: re.Match[str]) -> Reading:
    """Growth as it is written inside O(…), in one spelling: "n*log(n)" and "N lg N" are "nlogn"."""
    bare = match[1].lower().replace("**", "^").translate(_POWERS)
    bare = re.sub(r"log[_{]*(?:2|10)\}*|\\?\b(?:lg|ln|log)\b", "log", bare)
    bare = re.sub(r"(\w)\1(?!\w)", r"\1^2", re.sub(r"[\s*·×⋅(){}\\$]|cdot|times", "", bare))
    return ("order", tuple(map(ord, bare))) if bare else None


_POWERS = str.maketrans({"²": "^2", "³": "^3", "₂": "2", "ⁿ": "^n"})
_ORDERS = {  # Growth in words.
    "constant": "1",
    "logarithmic": "logn",
    "linear": "n",
    "linearithmic": "nlogn",
    "quadratic": "n^2",
    "cubic": "n^3",
    "exponential": "2^n",
}


def _make_date_of_claim(day: int, month: int, year: int | None) -> Reading:
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    return ("date", (day, month)) if year is None else ("full date", (day, month, year))


def _read_named_date_of_claim(match: re.Match[str]) -> Reading:
    month = load_embedded_lexicon_numbers("values", "months")[lower_claim_letters(match["month"])]
    return _make_date_of_claim(int(match["day"]), month, int(match["year"]) if match["year"] else None)


def _read_numeric_date_of_claim(match: re.Match[str]) -> Reading:
    day, month, year = map(int, match.groups(default="0"))
    return _make_date_of_claim(day, month, (year if year > 99 else 2000 + year) if year else None)


def _read_pair_of_claim(match: re.Match[str]) -> Reading:
    first, second = _read_amount_of_claim(match[1]), _read_amount_of_claim(match[2])
    return ("pair", (int(first), int(second))) if first is not None and second is not None else None


def _read_month_of_claim(match: re.Match[str]) -> Reading:
    # "May" and "March" are also words: in lower case they are no months.
    month = load_embedded_lexicon_numbers("values", "months")[lower_claim_letters(match[0])]
    return ("month", Fraction(month)) if match[0][0].isupper() else None


def _read_clock_time_of_claim(match: re.Match[str]) -> Reading:
    hour, minute = int(match[1]), int(match[2] or 0)
    half = (match[3] or "").lower().replace(".", "")
    if hour > 24 or minute > 59 or (not half and match[2] is None):
        return None
    return "clock", Fraction((hour % 12 + 12 if half == "pm" else hour % 12 if half == "am" else hour) * 60 + minute)


def _read_version_of_claim(match: re.Match[str]) -> Reading:
    parts = match[1].split(".")
    return None if max(map(len, parts)) > MOST_DIGITS else ("version", tuple(map(int, parts)))


def _read_ordinal_of_claim(match: re.Match[str]) -> Reading:
    word, known = lower_claim_letters(match[1]), load_embedded_lexicon_numbers("values", "ordinals")
    if word in known:
        return "ordinal", Fraction(known[word])
    return ("ordinal", Fraction(int(word[:-2]))) if len(word) <= MOST_DIGITS else None


def _read_quantity_of_claim(match: re.Match[str]) -> Reading:
    amount = _read_amount_of_claim(match["number"])
    if amount is None or (lower_claim_letters(match["number"]) in ("one", "half a", "half an") and not match["unit"]):
        return None  # "One" alone is more often a pronoun.
    for scale in lower_claim_letters(match["scale"]).split():
        amount *= load_embedded_lexicon_numbers("values", "scales")[scale]
    if match["sign"] and lower_claim_letters(match["unit"] or "") == "m":
        amount *= 10**6
    unit = lower_claim_letters(match["sign"] or match["unit"] or "").split()
    kind, size = _load_units_of_claim()[unit[-1]] if unit else ("", Fraction(1))
    return kind, amount * size


@cache
def _load_units_of_claim() -> dict[str, tuple[str, Fraction]]:
    """Each unit with its kind and its size in the base unit of that kind."""
    kinds = load_judge_lexicon("values")["units"].items()
    sizes = [(kind, Fraction(size), names) for kind, one in kinds for size, names in one["sizes"].items()]
    return {name: (kind, size) for kind, size, names in sizes for name in names.split()}


def _read_amount_of_claim(text: str) -> Fraction | None:
    low = lower_claim_letters(text)
    if low[0].isdigit():
        plain = load_judge_pattern("values", "thousands_comma").sub("", low).replace(",", ".")
        return Fraction(plain) if plain.count(".") <= 1 and len(plain) <= MOST_DIGITS else None
    if "dozen" in low:
        return Fraction(12)
    if low.startswith("half"):
        return Fraction(1, 2)
    known = load_embedded_lexicon_numbers("values", "ones") | load_embedded_lexicon_numbers("values", "tens")
    return Fraction(sum(known.get(word, 0) for word in re.split(r"[-\s]", low)))


_READERS: dict[str, Callable[[re.Match[str]], Reading]] = {
    "order": _read_growth_order_of_claim,
    "order_in_words": lambda match: ("order", tuple(map(ord, _ORDERS[lower_claim_letters(match[1])]))),
    "iso_date": lambda match: _make_date_of_claim(int(match[3]), int(match[2]), int(match[1])),
    "day_month": _read_named_date_of_claim,
    "month_day": _read_named_date_of_claim,
    "numeric_date": _read_numeric_date_of_claim,
    "pair": _read_pair_of_claim,
    "pair_in_words": _read_pair_of_claim,
    "month": _read_month_of_claim,
    "weekday": lambda match: (
        "weekday",
        Fraction(load_embedded_lexicon_numbers("values", "weekdays")[lower_claim_letters(match[1])]),
    ),
    "clock_12": _read_clock_time_of_claim,
    "clock_24": _read_clock_time_of_claim,
    "version": _read_version_of_claim,
    "ordinal": _read_ordinal_of_claim,
    "quantity": _read_quantity_of_claim,
}
