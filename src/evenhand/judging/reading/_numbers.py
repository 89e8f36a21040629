"""Scores as people write them in a text: 4/5, four out of five, 7,5, 4分; what is a range, a hedge or another scale."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evenhand.model import CriterionScore, Scale, Unscored, exact

# Of a text full of numbers only the last are looked at: a score stands near the end of it.
MOST_NUMBERS = 500
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_CHINESE = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"两": 2, "〇": 0}
_DIGITS = r"[0-9]+(?:[.,][0-9]+)*"
_ONE = rf"(?:{_DIGITS}|\b(?:{'|'.join(WORDS)})\b)"
_NUMBER = re.compile(rf"{_DIGITS}|\b(?:{'|'.join(WORDS)})\b|[{''.join(_CHINESE)}](?=\s?[分/])", re.IGNORECASE)
_OF = re.compile(
    rf"\s{{0,3}}(?:/\s{{0,3}}({_ONE})(?:\s?分)?(?![0-9/]|\.[0-9])"
    rf"|\s[(]?out\s+of\s+(?:a\s+)?(?:(?:possible|maximum|total|max)\s+)?(?:of\s+)?({_ONE})\)?"
    rf"|[(]out\s+of\s+({_ONE})\)|\sof\s({_DIGITS})(?=[\s.,;)]*(?:\Z|[.,;)\n]))"
    rf"|分?\s?[(,]?\s?(?:满分|总分)\s?(?:为|是|:)?\s?({_DIGITS})\s?分?\)?)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"\s{{0,3}}分?\s{{0,3}}(?:-|–|—|~|\bto\b|\bor\b|\bthrough\b|\bversus\b|\bvs\.?|至|到|或)"
    rf"\s{{0,3}}(?:a\s+|an\s+|maybe\s+|perhaps\s+|even\s+|possibly\s+)?({_ONE})(?![A-Za-z])",
    re.IGNORECASE,
)
_ANOTHER = re.compile(
    rf"[ \t]{{0,3}}(?:[,;/|&]|->|=>|→|\band\b)[ \t]{{0,3}}{_ONE}(?![A-Za-z])|[ \t]{{1,3}}{_DIGITS}(?![A-Za-z])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"[^\n.!?]{{0,40}}?\band\s{{1,3}}({_ONE})", re.IGNORECASE)
_HEDGE_AFTER = re.compile(
    r"\s?\+(?![0-9])|\s?[½¼¾⅓⅔?]|-?ish\b|\s+and\s+(?:a|one|three)\s+(?:quarter|third)|\s+point\s+\w|"
    r"\s+(?:percent|per cent|hundred|thousand|million|billion|dozen)\b|"
    r"\s+or\s+(?:so|higher|lower|more|less|above|below|maybe)\b|\s*±"
    r"|[,\s(]+(?:maybe|possibly|perhaps)\s+(?:a\s+|an\s+|even\s+|or\s+)*(?:[0-9]|one|two|three|four|five)\b",
    re.IGNORECASE,
)
_HEDGE_BEFORE = re.compile(
    r"(?:\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|at least|at most|up to|less than|more than|"
    r"over|under|above|below|close to|maybe|perhaps|possibly|somewhere)\s+(?:a |an )?"
    r"|(?<![-=])[<>≤≥~≈±]=?\s?|大约|约|至少|不到|超过)\Z",
    re.IGNORECASE,
)
_BEFORE_BETWEEN = re.compile(r"\bbetween\s+(?:a |an )?\Z|介于\s?\Z", re.IGNORECASE)
_HALF = re.compile(r"\s+and\s+(?:a|one)\s+half\b", re.IGNORECASE)
_GLUED_AFTER = re.compile(r"-?[a-z]|[A-Z_]|:[0-9]{2}\b|\.[a-z]")
_TOP_BEFORE = re.compile(
    r"(?:\bout of (?:a )?(?:(?:possible|maximum|total|max) )?(?:of )?|\bmax(?:imum)?(?: score)?(?: of| is|:)? |"
    r"满分\s?(?:为|是|:)?\s?)\Z",
    re.IGNORECASE,
)
_STARS = re.compile(r"\s{0,2}(?:stars?|points?|marks?)\b|\s?[分星%]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A score that a text mentions: where, and how it reads on the scale."""

    start: int
    end: int
    score: CriterionScore
    whole: bool = False  # It says out of how many, and that is the top of the scale.
    spelt: bool = False  # A word, not digits: "one" is often no number.
    beyond: bool = False  # A range beyond the scale, such as the 3-7 of a match.


def mentions(text: str, scale: Scale) -> Iterator[Mention]:
    """Every number that could be a score, ranges and hedges as unreadable; echoes of the scale are left out."""
    at = 0
    for number in deque(_NUMBER.finditer(text), maxlen=MOST_NUMBERS):
        if number.start() < at or _glued(text, number):
            continue
        mention = _mention(text, number, scale)
        at = mention.end
        if not _echoes(text, mention, scale):
            yield mention


def _glued(text: str, number: re.Match[str]) -> bool:
    """Whether it is part of a name, a date or an amount: GPT-4, 3D, 4:30, $5, 2.1.3."""
    before, start = text[max(0, number.start() - 2) : number.start()], number.start()
    if before and (
        re.match(r"[A-Za-z0-9_$€£#@\\/^]", before[-1]) or re.fullmatch(r"[\w)][-–.]|[^\s:=(\[\"]\.", before)
    ):
        return True
    if start and before[-1] == "," and len(before) == 2 and before[0].isdigit():
        return True
    if _TOP_BEFORE.search(text[max(0, start - 30) : start]):
        return True  # Out of how many, with the number itself elsewhere.
    return bool(_GLUED_AFTER.match(text, number.end())) or number.group().count(".") > 1


def _mention(text: str, number: re.Match[str], scale: Scale) -> Mention:
    start, end = number.span()
    value = value_of(number.group())
    before = text[max(0, start - 16) : start]
    spelt = not number.group()[0].isdigit()
    if before.endswith("-") and value is not None:
        value, start = -value, start - 1
    elif before.endswith(".") and value is not None and not spelt:
        value, start = value.scaleb(-len(number.group())), start - 1
    half = _HALF.match(text, end)
    if half and value is not None:
        value, end = value + Decimal("0.5"), half.end()
    ranged = _RANGE.match(text, end) or (_BEFORE_BETWEEN.search(before) and _BETWEEN.match(text, end))
    if ranged:
        beyond = any(one is None or not scale.min <= one <= scale.max for one in (value, value_of(ranged[1])))
        end = _of(text, ranged.end())[1]
        return Mention(start, end, Unscored(f"unreadable: {text[start:end]!r} is a range"), spelt=spelt, beyond=beyond)
    top, end = _of(text, end)
    again = _RANGE.match(text, end) if top is not None else None
    if again or _ANOTHER.match(text, end) or _HEDGE_AFTER.match(text, end) or _HEDGE_BEFORE.search(before):
        end = again.end() if again else end
        return Mention(start, end, Unscored(f"unreadable: {text[start:end]!r} is not one number"), spelt=spelt)
    stars = _STARS.match(text, end)
    end = stars.end() if stars else end
    score = _score(text[start:end], value, top, scale)
    return Mention(start, end, score, whole=top is not None and top == scale.max, spelt=spelt)


def _of(text: str, at: int) -> tuple[Fraction | None, int]:
    """Out of how many, where the text says so."""
    of = _OF.match(text, at)
    if of is None:
        return None, at
    top = value_of(next(group for group in of.groups() if group))
    return (Fraction(0) if top is None else Fraction(top)), of.end()


def _score(text: str, value: Decimal | None, top: Fraction | None, scale: Scale) -> CriterionScore:
    if value is None:
        return Unscored(f"unreadable: {text!r} is not one number")
    if (top is not None and top != scale.max) or (text.endswith("%") and scale.max != 100):
        return Unscored(f"unreadable: {text!r} is on another scale than {scale}")
    return read_number(value, scale)


def read_number(value: Decimal, scale: Scale) -> CriterionScore:
    """A number on a scale, its band aside."""
    if not scale.bands:
        return scale.read(value)
    fault = scale.fault_of(exact(value)) if abs(value) < 10**6 else f"{value} is too large"
    plain = Scale(min=scale.min, max=scale.max, integers=scale.integers)
    return Unscored(f"unreadable: {fault}") if fault else plain.read(value)


def value_of(text: str) -> Decimal | None:
    """The number that a word or digits stand for; None where it could be more than one."""
    if text in _CHINESE:
        return Decimal(_CHINESE[text])
    if text.lower() in WORDS:
        return Decimal(WORDS.index(text.lower()))
    if len(text) > 20:
        return None
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", text):
        return Decimal(text.replace(",", ""))
    if re.fullmatch(r"[0-9]+(?:[.,][0-9]+)?", text):
        return Decimal(text.replace(",", "."))
    return None


def _echoes(text: str, mention: Mention, scale: Scale) -> bool:
    """Whether it only repeats the scale: 1-5, from 1 to 5, between 1 and 5."""
    ends = re.findall(_ONE, text[mention.start : mention.end], re.IGNORECASE)
    if len(ends) < 2 or mention.whole or not isinstance(mention.score, Unscored):
        return False
    low, high = value_of(ends[0]), value_of(ends[1])
    return low is not None and high is not None and high == scale.max and low in (0, 1, scale.min) and low < high
