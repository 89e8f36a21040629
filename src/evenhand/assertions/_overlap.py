"""Rules on how near an output comes to another text: ROUGE, BLEU, edit distance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from evenhand.assertions._facts import Facts, Found, unanswered
from evenhand.assertions._text import compared_with
from evenhand.assertions._words import compared_words
from evenhand.model import written

MOST_COMPARED = 10**10  # Characters of one text times characters of the other: half a second.
ORDERS = (1, 2, 3, 4)


def rouge_n_min(facts: Facts, *, min: Fraction, n: int, to: str | None) -> Found:
    """The F1 of the runs of n words that output and text share."""
    wanted = compared_words(compared_with(facts, to))
    if len(wanted) < n:
        return unanswered(f"the text to compare with has {len(wanted)} words, fewer than {n}")
    value = rouge(compared_words(facts.made.text), wanted, n)
    return Found(passed=value >= min, found=f"ROUGE-{n} of {written(value, 4)}")


def rouge(words: Sequence[str], wanted: Sequence[str], n: int) -> Fraction:
    """ROUGE-N as F1: twice the shared runs over the runs of both (Lin 2004), each run shared as often as in both."""
    ours, theirs = _runs(words, n), _runs(wanted, n)
    return Fraction(2 * (ours & theirs).total(), ours.total() + theirs.total())


def bleu_min(facts: Facts, *, min: Fraction, to: str | None) -> Found:
    """Sentence BLEU against one text."""
    words, wanted = compared_words(facts.made.text), compared_words(compared_with(facts, to))
    if not wanted:
        return unanswered("the text to compare with has no words")
    shares = precisions(words, wanted)
    shortness = _shortness(len(words), len(wanted))
    value = float(shares) ** (1 / len(ORDERS)) * shortness
    # Without a penalty the fourth power is a fraction, and a score on the threshold is on it.
    passed = shares >= min ** len(ORDERS) if shortness == 1 else value >= min
    return Found(passed=passed, found=f"BLEU of {value:.4f}")


def precisions(words: Sequence[str], wanted: Sequence[str]) -> Fraction:
    """The product of the shares of runs of 1 to 4 words; from 2 on, one is added to both counts (Lin and Och 2004)."""
    product = Fraction(1)
    for n in ORDERS:
        ours, theirs = _runs(words, n), _runs(wanted, n)
        added = 0 if n == 1 else 1
        total = ours.total() + added
        product *= Fraction((ours & theirs).total() + added, total) if total else 0
    return product


def levenshtein_max(facts: Facts, *, max: int, to: str | None, ignore_case: bool) -> Found:
    """Letters to put in, take out or change until the output is the text, white space at both ends aside."""
    output, wanted = facts.made.text.strip(), compared_with(facts, to)
    if ignore_case:
        output, wanted = output.casefold(), wanted.casefold()
    if len(output) * len(wanted) > MOST_COMPARED:
        return unanswered(f"too long to compare: {len(output):,} characters with {len(wanted):,}")
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - slow to load, and few evals ask for it.

    distance = Levenshtein.distance(output, wanted)
    return Found(passed=distance <= max, found=f"{distance} {'edit' if distance == 1 else 'edits'} away")


def _runs(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def _shortness(words: int, wanted: int) -> float:
    """What an output shorter than the text is multiplied with."""
    if words >= wanted:
        return 1
    return math.exp(1 - wanted / words) if words else 0
