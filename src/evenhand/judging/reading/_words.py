"""Answers that are words: yes and no, and the ways to say that it cannot be judged."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from fractions import Fraction

from evenhand.judging.reading._numbers import MOST_NUMBERS, Mention, mentions
from evenhand.model import CriterionScore, Scale, Scored, Unscored

_YES = ["yes", "true", "met", "pass", "passed", "satisfied", "fulfilled", "是的", "是", "满足", "通过", "符合"]
_NO = [
    "no", "false", "unmet", "fail", "failed", "unsatisfied", "unfulfilled", "not met", "not satisfied", "not fulfilled",
    "not passed", "does not pass", "不是", "否", "不满足", "未满足", "没有满足", "不通过", "未通过", "不符合",
]  # fmt: skip
_ALL = dict.fromkeys(_YES, 1) | dict.fromkeys(_NO, 0)
_ONE = rf"(?<![A-Za-z\-])(?:{'|'.join(sorted(map(re.escape, _ALL), key=len, reverse=True))})(?![A-Za-z\-])"
_YES_NO = re.compile(rf"({_ONE})(\s?(?:/|\||,|\bor\b|\band\b)\s?{_ONE})?", re.IGNORECASE)
_CANNOT = re.compile(
    r"(?<![A-Za-z])(?:n\s?/\s?a|not applicable|not assessable"
    r"|(?:cannot|can't|can not|could not|unable to|impossible to|not possible to)[ _](?:be[ _])?"
    r"(?:assess|judge|evaluate|score|rate|determine)\w{0,2})(?![A-Za-z])|无法(?:评估|判断|评分|评价)|不适用",
    re.IGNORECASE,
)


def answers_as_words(text: str, scale: Scale) -> Iterator[Mention]:
    """Every mention that could be an answer on this scale: numbers, yes and no where asked, and that it cannot be."""
    yield from mentions(text, scale)
    if scale.yes_no:
        for word in deque(_YES_NO.finditer(text), maxlen=MOST_NUMBERS):
            both = Unscored(f"unreadable: {word.group()!r} is both")
            yield Mention(*word.span(), both if word[2] else Scored(Fraction(_ALL[word[1].lower()])), spelt=True)
    for cannot in deque(_CANNOT.finditer(text), maxlen=MOST_NUMBERS):
        yield Mention(*cannot.span(), abstained(text[cannot.end() : cannot.end() + 300]), spelt=True)


def yes_or_no(text: str) -> bool | None:
    """The answer that a short text is, with or without a reason after it."""
    word = _YES_NO.match(text.strip(" \t\n\"'*.([").replace("_", " "))
    if (
        word is None
        or word[2]
        or not re.match(r"\s*(?:\Z|[.,;:!?—–(\n)\-\]\"'*，。；：！（])", word.string[word.end() :])
    ):
        return None
    return bool(_ALL[word[1].lower()])


def says_it_cannot(text: str) -> bool:
    """Whether a short text declines to answer: n/a, cannot assess, 无法评估."""
    return bool(_CANNOT.match(text.strip(" \t\n\"'*.(").replace("_", " ")))


def abstained(reason: str) -> CriterionScore:
    """No score, with the judge's own reason."""
    reason = reason.split("\n", maxsplit=1)[0].strip(" \t:;,.()-–—\"'*")
    return Unscored(f"abstained: {reason or 'cannot assess'}")
