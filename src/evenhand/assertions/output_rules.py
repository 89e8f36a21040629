"""Rules on the text of an output: contains, equals, starts and ends with, regex, ROUGE, BLEU, edit distance, JSON."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Never

import regex

from evenhand.assertions.rule_inputs import (
    AssertionFacts,
    AssertionFinding,
    CheckLimitExceeded,
    TextSpan,
    compile_assertion_pattern,
    leave_assertion_unanswered,
    search_asserted_pattern,
)
from evenhand.wording import format_fraction, format_quoted_texts, quote_text, shorten_text_to_line


def check_contains_assertion(facts: AssertionFacts, *, text: str, ignore_case: bool) -> AssertionFinding:
    """The text stands somewhere in the output."""
    output = facts.made.text
    span = find_asserted_text(output, text, ignore_case)
    if span:
        return AssertionFinding(passed=True, found=describe_asserted_place(output, *span), span=span)
    return AssertionFinding(passed=False, found=_describe_missing_asserted_text(output, text, ignore_case))


def check_not_contains_assertion(facts: AssertionFacts, *, text: str, ignore_case: bool) -> AssertionFinding:
    """The text stands nowhere in the output."""
    span = find_asserted_text(facts.made.text, text, ignore_case)
    found = describe_asserted_place(facts.made.text, *span) if span else "not there"
    return AssertionFinding(passed=span is None, found=found, span=span)


def check_contains_all_assertion(
    facts: AssertionFacts, *, texts: tuple[str, ...], ignore_case: bool
) -> AssertionFinding:
    """Every one of the texts stands in the output."""
    spans = [find_asserted_text(facts.made.text, text, ignore_case) for text in texts]
    missing = [text for text, span in zip(texts, spans, strict=True) if span is None]
    if missing:
        found = f"{len(texts) - len(missing)} of {len(texts)}; not there: {format_quoted_texts(missing)}"
        return AssertionFinding(passed=False, found=found)
    return AssertionFinding(passed=True, found=f"all {len(texts)}", span=spans[0])


def check_contains_any_assertion(
    facts: AssertionFacts, *, texts: tuple[str, ...], ignore_case: bool
) -> AssertionFinding:
    """At least one of the texts stands in the output."""
    output = facts.made.text
    span = next(filter(None, (find_asserted_text(output, text, ignore_case) for text in texts)), None)
    found = describe_asserted_place(output, *span) if span else "none of them"
    return AssertionFinding(passed=span is not None, found=found, span=span)


def check_equals_assertion(facts: AssertionFacts, *, to: str | None, ignore_case: bool) -> AssertionFinding:
    """The output is the text, white space at both ends aside."""
    fold = str.casefold if ignore_case else str
    wanted = choose_asserted_text(facts, to)
    if fold(facts.made.text.strip()) == fold(wanted):
        return AssertionFinding(passed=True, found="the same")
    return _find_asserted_text_difference(facts.made.text, wanted, ignore_case)


def check_not_equals_assertion(facts: AssertionFacts, *, to: str | None, ignore_case: bool) -> AssertionFinding:
    """The output is not the text, white space at both ends aside."""
    found = check_equals_assertion(facts, to=to, ignore_case=ignore_case)
    return replace(found, passed=not found.passed)


def check_starts_with_assertion(facts: AssertionFacts, *, text: str, ignore_case: bool) -> AssertionFinding:
    """The output begins with the text, white space before it aside."""
    output = facts.made.text
    start = len(output) - len(output.lstrip())
    wanted, fold = text.lstrip(), str.casefold if ignore_case else str
    passed = fold(output[start:]).startswith(fold(wanted))
    span = find_asserted_text(output[start:], wanted, ignore_case) if passed else None
    return _quote_asserted_edge(passed, output, start, start + (span[1] if span else len(wanted)))


def check_ends_with_assertion(facts: AssertionFacts, *, text: str, ignore_case: bool) -> AssertionFinding:
    """The output ends with the text, white space after it aside."""
    output, wanted = facts.made.text.rstrip(), text.rstrip()
    start = max(0, len(output) - len(wanted))
    passed = output.endswith(wanted)
    if ignore_case and output.casefold().endswith(wanted.casefold()):
        passed, start = True, _find_asserted_ending(output, len(wanted.casefold()))
    return _quote_asserted_edge(passed, output, start, len(output))


def check_regex_assertion(facts: AssertionFacts, *, pattern: str, ignore_case: bool) -> AssertionFinding:
    """The pattern matches somewhere in the output."""
    output = facts.made.text
    try:
        match = search_asserted_pattern(compile_assertion_pattern(pattern, ignore_case), output)
    except CheckLimitExceeded as problem:
        return leave_assertion_unanswered(f"the pattern {problem}")
    if match is None:
        return AssertionFinding(passed=False, found="no match")
    if match.start() == match.end():
        found = f"a match of nothing at {describe_asserted_place(output, match.start())}"
        return AssertionFinding(passed=True, found=found)
    return AssertionFinding(passed=True, found=describe_asserted_place(output, *match.span()), span=match.span())


def find_asserted_text(output: str, text: str, ignore_case: bool) -> TextSpan | None:
    """Where a text stands first. Without case, by Unicode's full folding, so that STRASSE is found in Straße."""
    if not ignore_case:
        start = output.find(text)
        return None if start < 0 else (start, start + len(text))
    folded, wanted = output.casefold(), text.casefold()
    start = folded.find(wanted)
    if start < 0:
        return None
    end = start + len(wanted)
    if len(folded) == len(output):
        return start, end
    origin = [index for index, letter in enumerate(output) for _ in letter.casefold()]
    return origin[start], origin[end - 1] + 1


def describe_asserted_place(output: str, start: int, end: int | None = None) -> str:
    """A place in the output as editors count it, after the passage there where its end is given too."""
    passage = "" if end is None else f"{quote_text(output[start:end])} at "
    return f"{passage}line {output.count(chr(10), 0, start) + 1}, column {start - output.rfind(chr(10), 0, start)}"


def choose_asserted_text(facts: AssertionFacts, to: str | None) -> str:
    """The text that the output is held against."""
    return (facts.reference if to is None else to).strip()


def _describe_missing_asserted_text(output: str, text: str, ignore_case: bool) -> str:
    if not output.strip():
        return "the output is empty"
    nearly = None if ignore_case else find_asserted_text(output, text, ignore_case=True)
    return f"not there; in other case {describe_asserted_place(output, *nearly)}" if nearly else "not there"


def _find_asserted_text_difference(output: str, wanted: str, ignore_case: bool) -> AssertionFinding:
    """What stands at the first place where two texts part."""
    start = len(output) - len(output.lstrip())
    stripped = output.strip()
    fold = str.casefold if ignore_case else str
    pairs = enumerate(zip(stripped, wanted, strict=False))
    parted = next((index for index, (one, two) in pairs if fold(one) != fold(two)), min(len(stripped), len(wanted)))
    here, there = stripped[parted:], wanted[parted:]
    is_said = f"{quote_text(here, 30)} stands" if here else "the output ends"
    is_wanted = quote_text(there, 30) if there else "the end"
    found = f"{is_said} where {is_wanted} should, at {describe_asserted_place(output, start + parted)}"
    span = _clip_asserted_span(output, start + parted, start + len(stripped))
    return AssertionFinding(passed=False, found=found, span=span)


def _quote_asserted_edge(passed: bool, output: str, start: int, end: int) -> AssertionFinding:
    found = quote_text(output[start:end]) if output[start:end] else "the output is empty"
    return AssertionFinding(passed=passed, found=found, span=_clip_asserted_span(output, start, end))


def _find_asserted_ending(output: str, folded: int) -> int:
    """Where the ending begins that has so many letters when its case is folded."""
    start = len(output)
    while folded > 0:
        start -= 1
        folded -= len(output[start].casefold())
    return start


def _clip_asserted_span(output: str, start: int, end: int) -> TextSpan | None:
    end = min(end, len(output))
    return (start, end) if start < end else None


MOST_COMPARED_CHARACTERS = 10**10  # Characters of one text times characters of the other: half a second.
BLEU_ORDERS = (1, 2, 3, 4)


def check_rouge_n_assertion(facts: AssertionFacts, *, min: Fraction, n: int, to: str | None) -> AssertionFinding:
    """The F1 of the runs of n words that output and text share."""
    wanted = split_asserted_words(choose_asserted_text(facts, to))
    if len(wanted) < n:
        return leave_assertion_unanswered(f"the text to compare with has {len(wanted)} words, fewer than {n}")
    value = compute_asserted_rouge_n(split_asserted_words(facts.made.text), wanted, n)
    return AssertionFinding(passed=value >= min, found=f"ROUGE-{n} of {format_fraction(value, 4)}")


def compute_asserted_rouge_n(words: Sequence[str], wanted: Sequence[str], n: int) -> Fraction:
    """ROUGE-N as F1: twice the shared runs over the runs of both (Lin 2004), each run shared as often as in both."""
    ours, theirs = _count_asserted_ngrams(words, n), _count_asserted_ngrams(wanted, n)
    return Fraction(2 * (ours & theirs).total(), ours.total() + theirs.total())


def check_bleu_assertion(facts: AssertionFacts, *, min: Fraction, to: str | None) -> AssertionFinding:
    """Sentence BLEU against one text."""
    words, wanted = split_asserted_words(facts.made.text), split_asserted_words(choose_asserted_text(facts, to))
    if not wanted:
        return leave_assertion_unanswered("the text to compare with has no words")
    shares = multiply_asserted_ngram_precisions(words, wanted)
    shortness = 1.0  # What an output shorter than the text is multiplied with.
    if len(words) < len(wanted):
        shortness = math.exp(1 - len(wanted) / len(words)) if words else 0
    value = float(shares) ** (1 / len(BLEU_ORDERS)) * shortness
    # Without a penalty the fourth power is a fraction, and a score on the threshold is on it.
    passed = shares >= min ** len(BLEU_ORDERS) if shortness == 1 else value >= min
    return AssertionFinding(passed=passed, found=f"BLEU of {value:.4f}")


def multiply_asserted_ngram_precisions(words: Sequence[str], wanted: Sequence[str]) -> Fraction:
    """The product of the shares of runs of 1 to 4 words; from 2 on, one is added to both counts (Lin and Och 2004)."""
    product = Fraction(1)
    for n in BLEU_ORDERS:
        ours, theirs = _count_asserted_ngrams(words, n), _count_asserted_ngrams(wanted, n)
        added = 0 if n == 1 else 1
        total = ours.total() + added
        product *= Fraction((ours & theirs).total() + added, total) if total else 0
    return product


def check_levenshtein_assertion(
    facts: AssertionFacts, *, max: int, to: str | None, ignore_case: bool
) -> AssertionFinding:
    """Letters to put in, take out or change until the output is the text, white space at both ends aside."""
    output, wanted = facts.made.text.strip(), choose_asserted_text(facts, to)
    if ignore_case:
        output, wanted = output.casefold(), wanted.casefold()
    if len(output) * len(wanted) > MOST_COMPARED_CHARACTERS:
        return leave_assertion_unanswered(f"too long to compare: {len(output):,} characters with {len(wanted):,}")
    from rapidfuzz.distance import Levenshtein  # slow to load, and few evals ask for it.

    distance = Levenshtein.distance(output, wanted)
    return AssertionFinding(passed=distance <= max, found=f"{distance} {'edit' if distance == 1 else 'edits'} away")


def _count_asserted_ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


# Chinese and Japanese are written without spaces between words: there, each character counts as one.
_UNSPACED_SCRIPTS = r"\p{Han}\p{Hiragana}\p{Katakana}"
_COUNTED_WORD = regex.compile(rf"[{_UNSPACED_SCRIPTS}]|[\p{{L}}\p{{N}}][^\s{_UNSPACED_SCRIPTS}]*+")
_COMPARED_WORD = regex.compile(rf"[{_UNSPACED_SCRIPTS}]|(?:(?![{_UNSPACED_SCRIPTS}])[\p{{L}}\p{{M}}\p{{N}}])++")


def count_asserted_words(text: str) -> int:
    """How many words a text has: what white space parts, if there is a letter or a digit in it."""
    return sum(1 for _ in _COUNTED_WORD.finditer(text))


def split_asserted_words(text: str) -> list[str]:
    """The words of a text for comparing: letters and digits only, in small letters."""
    return [word.casefold() for word in _COMPARED_WORD.findall(text)]


NESTED_TOO_DEEP = "the output is nested too deep to be read"


def check_json_valid_assertion(facts: AssertionFacts, *, valid: bool) -> AssertionFinding:
    """The whole output is one JSON value, white space around it aside."""
    try:
        value = _parse_asserted_json(facts.made.text)
    except RecursionError:
        return leave_assertion_unanswered(NESTED_TOO_DEEP)
    except _NotJson as problem:
        return AssertionFinding(passed=not valid, found=f"not JSON: {problem}")
    words = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return AssertionFinding(passed=valid, found=f"JSON: {words.get(type(value), 'a number')}")


def check_json_schema(facts: AssertionFacts, *, schema: str) -> AssertionFinding:
    """The output is JSON that the schema accepts."""
    from evenhand.assertions.schema_validation import (
        find_asserted_schema_fault,  # slow to load, and few evals ask for it.
    )

    try:
        fault = find_asserted_schema_fault(_parse_asserted_json(facts.made.text), schema)
    except RecursionError:
        return leave_assertion_unanswered(NESTED_TOO_DEEP)
    except CheckLimitExceeded as problem:
        return leave_assertion_unanswered(str(problem))
    except _NotJson as problem:
        return AssertionFinding(passed=False, found=f"not JSON: {problem}")
    if fault is None:
        return AssertionFinding(passed=True, found="JSON that the schema accepts")
    found = f"at {shorten_text_to_line(fault.path, 100)}: {shorten_text_to_line(fault.message)}"
    return AssertionFinding(passed=False, found=found)


class _NotJson(Exception):  # noqa: N818
    """What stands where JSON should."""


def _parse_asserted_json(output: str) -> object:
    """The value of a JSON text, its numbers exactly as written."""
    if not output.strip():
        raise _NotJson("the output is empty")
    try:
        return json.loads(
            output,
            parse_float=read_asserted_json_number,
            parse_int=read_asserted_json_integer,
            parse_constant=_refuse_asserted_json_constant,
        )
    except json.JSONDecodeError as problem:
        fenced = "; it stands in a code fence" if output.lstrip().startswith("```") else ""
        raise _NotJson(f"{problem.msg} at {describe_asserted_place(output, problem.pos)}{fenced}") from None


def _refuse_asserted_json_constant(word: str) -> Never:
    raise _NotJson(f"{word} is no JSON number")


# JSON values: numbers exactly as they are written, and when two values are equal.

LONGEST_WHOLE = 400  # Digits; beyond them Python's int is slow to read, or refuses to be.


class JsonNumber(Decimal):
    """A decimal that a message shows as JSON does."""

    def __repr__(self) -> str:
        return str(self)


def read_asserted_json_number(text: str) -> JsonNumber:
    """The number a JSON text means; infinite where its exponent is beyond counting."""
    try:
        return JsonNumber(text)
    except InvalidOperation:
        return JsonNumber("-Infinity" if text.startswith("-") else "Infinity")


def read_asserted_json_integer(text: str) -> int | JsonNumber:
    """The whole number a JSON text means."""
    return int(text) if len(text) <= LONGEST_WHOLE else read_asserted_json_number(text)


def is_asserted_json_integer(value: object) -> bool:
    """Whether a value is a whole number; 1.0 is one, true is not."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, int) and not isinstance(value, bool)


def is_asserted_multiple(value: int | Decimal, of: int | Decimal) -> bool | None:
    """Whether one number is a multiple of another; None where they are too large to tell."""
    if not all(abs(Decimal(one).adjusted()) <= LONGEST_WHOLE for one in (value, of) if one):
        return None
    return (Fraction(value) / Fraction(of)).denominator == 1


def build_asserted_json_identity(value: object) -> object:
    """Something hashable that two JSON values share when they are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, dict):
        return "object", frozenset((key, build_asserted_json_identity(entry)) for key, entry in value.items())
    if isinstance(value, list):
        return "list", tuple(map(build_asserted_json_identity, value))
    return type(value) if isinstance(value, bool) else "plain", value
