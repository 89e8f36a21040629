"""Mentions of a score in a text: numbers, yes and no, and that it cannot be assessed; ranges and hedges are
unreadable.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evenhand.model.scale import CriterionScore, Missing, Scale, Scored

# Of a text full of numbers only the last are looked at: a score stands near the end of it.
MOST_NUMBERS = 500
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_CHINESE = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"两": 2, "〇": 0}
_DIGITS = r"[0-9]+(?:[.,][0-9]+)*"
_ONE = rf"(?:{_DIGITS}|\b(?:{'|'.join(NUMBER_WORDS)})\b)"
_NUMBER = re.compile(rf"{_DIGITS}|\b(?:{'|'.join(NUMBER_WORDS)})\b|[{''.join(_CHINESE)}](?=\s?[分/])", re.IGNORECASE)
_OF = re.compile(
    rf"\s{{0,3}}(?:/\s{{0,3}}({_ONE})(?:\s?分)?(?![0-9/]|\.[0-9])"
    rf"|\s[(]?out\s+of\s+(?:a\s+)?(?:(?:possible|maximum|total|max)\s+)?(?:of\s+)?({_ONE})\)?"
    rf"|[(]out\s+of\s+({_ONE})\)|(?:\s(?:stars?|points?))?\sof\s({_ONE})(?=[\s.,;)]*(?:\Z|[.,;)\n]))"
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
class ScoreMention:
    """A score that a text mentions: where, and how it reads on the scale."""

    start: int
    end: int
    score: CriterionScore
    whole: bool = False  # It says out of how many, and that is the top of the scale.
    spelt: bool = False  # A word, not digits: "one" is often no number.
    unit: bool = False  # It says what it counts, stars or out of how many: no item of a list.
    beyond: bool = False  # A range beyond the scale, such as the 3-7 of a match.


ENDS_WELL = re.compile(  # A reason, or nothing; not what it counts, nor what it is not.
    r"\s*(?:\Z|[\n.,;:!?)\]\"'|—–*]|-\s|\(|(?:for|in|on|because|since|as|due|with|based|overall|and|but|given|to)\b)",
    re.IGNORECASE,
)
EXPLAINS = re.compile(
    r"\s?(?:=|≡)|\s(?:means?|meaning|being|indicat\w+|represents?|would|could|might|requires?|is (?:for|given|reserved|"
    r"defined|when|the (?:best|worst|highest|lowest))|if|for (?:the )?(?:best|worst))\b|表示|代表",
    re.IGNORECASE,
)
_NEXT_LABEL = re.compile(r"\s*#|\s+[^\W\d][\w /&-]{0,40}:")
_TAKEN_BACK = re.compile(
    r"[\s,(–—-]{0,4}(?:\?|\b(?:maybe|perhaps|possibly|probably)\b)"
    r"|[^\n]{0,60}?\b(?:not (?:sure|certain)|unsure|uncertain"
    r"|(?:correction|correct(?:ed|ing)|wait|no|actually|minus|less|plus|lowered|raised|reduced|revised|adjusted|changed"
    r"|downgraded|upgraded|deductions?|mean|meant|rather|should|now|make it)\b[^\n\w]{0,3}(?:[a-z]+[^\n\w]{0,3}){0,2}?"
    r"(?:[0-9]|one|two|three|four|five|six|seven|eight|nine|ten)\b)",
    re.IGNORECASE,
)


def is_score_taken_back(text: str, mention: ScoreMention) -> bool:
    """Whether what follows a number says what it counts, doubts it, changes it or corrects it."""
    ends = ENDS_WELL.match(text, mention.end) or _NEXT_LABEL.match(text, mention.end)
    return ends is None or _TAKEN_BACK.match(text, mention.end) is not None


def find_number_mentions_in_reply(text: str, scale: Scale) -> Iterator[ScoreMention]:
    """Every number that could be a score, ranges and hedges as unreadable; echoes of the scale are left out."""
    at = 0
    for number in deque(_NUMBER.finditer(text), maxlen=MOST_NUMBERS):
        if number.start() < at or _is_reply_number_glued(text, number):
            continue
        mention = _read_number_mention_in_reply(text, number, scale)
        at = mention.end
        if not _echoes_scale_in_reply(text, mention, scale):
            yield mention


def _is_reply_number_glued(text: str, number: re.Match[str]) -> bool:
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


def _read_number_mention_in_reply(text: str, number: re.Match[str], scale: Scale) -> ScoreMention:
    start, end = number.span()
    value = parse_reply_number_word(number.group())
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
        beyond = any(
            one is None or not scale.min <= one <= scale.max for one in (value, parse_reply_number_word(ranged[1]))
        )
        end = _read_scale_top_in_reply(text, ranged.end())[1]
        return ScoreMention(
            start, end, Missing.unreadable("… is a range", repr(text[start:end])), spelt=spelt, beyond=beyond
        )
    top, end = _read_scale_top_in_reply(text, end)
    again = _RANGE.match(text, end) if top is not None else None
    if again or _ANOTHER.match(text, end) or _HEDGE_AFTER.match(text, end) or _HEDGE_BEFORE.search(before):
        end = again.end() if again else end
        return ScoreMention(start, end, Missing.unreadable("… is not one number", repr(text[start:end])), spelt=spelt)
    stars = _STARS.match(text, end)
    end = stars.end() if stars else end
    if stars and top is None:
        top, end = _read_scale_top_in_reply(text, end)  # 4 stars out of 5
    given = text[start:end]
    score: CriterionScore
    if value is None:
        score = Missing.unreadable("… is not one number", repr(given))
    elif (top is not None and top != scale.max) or (given.endswith("%") and scale.max != 100):
        score = Missing.unreadable(f"… is on another scale than {scale}", repr(given))
    else:
        score = _read_reply_number_on_scale(value, scale)
    whole = top is not None and top == scale.max
    return ScoreMention(start, end, score, whole=whole, spelt=spelt, unit=whole or stars is not None)


def _read_scale_top_in_reply(text: str, at: int) -> tuple[Fraction | None, int]:
    """Out of how many, where the text says so."""
    of = _OF.match(text, at)
    if of is None:
        return None, at
    top = parse_reply_number_word(next(group for group in of.groups() if group))
    return (Fraction(0) if top is None else Fraction(top)), of.end()


def _read_reply_number_on_scale(value: Decimal, scale: Scale) -> CriterionScore:
    """A number on a scale, its band aside."""
    if not scale.bands:
        return scale.read(value)
    if abs(value) >= 10**6:
        return Missing.unreadable("… is too large", value)
    return Scale(min=scale.min, max=scale.max, integers=scale.integers).read(value)


def parse_reply_number_word(text: str) -> Decimal | None:
    """The number that a word or digits stand for; None where it could be more than one."""
    if text in _CHINESE:
        return Decimal(_CHINESE[text])
    if text.lower() in NUMBER_WORDS:
        return Decimal(NUMBER_WORDS.index(text.lower()))
    if len(text) > 20:
        return None
    if re.fullmatch(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?", text):
        return Decimal(text.replace(",", ""))
    if re.fullmatch(r"[0-9]+(?:[.,][0-9]+)?", text):
        return Decimal(text.replace(",", "."))
    return None


def _echoes_scale_in_reply(text: str, mention: ScoreMention, scale: Scale) -> bool:
    """Whether it only repeats the scale: 1-5, from 1 to 5, between 1 and 5."""
    ends = re.findall(_ONE, text[mention.start : mention.end], re.IGNORECASE)
    if len(ends) < 2 or mention.whole or not isinstance(mention.score, Missing):
        return False
    low, high = parse_reply_number_word(ends[0]), parse_reply_number_word(ends[1])
    return low is not None and high is not None and high == scale.max and low in (0, 1, scale.min) and low < high


_YES = ["yes", "true", "met", "pass", "passed", "satisfied", "fulfilled", "是的", "是", "满足", "通过", "符合"]
_NO = [
    "no", "false", "unmet", "fail", "failed", "unsatisfied", "unfulfilled", "not met", "not satisfied", "not fulfilled",
    "not passed", "does not pass", "不是", "否", "不满足", "未满足", "没有满足", "不通过", "未通过", "不符合",
]  # fmt: skip
_ALL = dict.fromkeys(_YES, 1) | dict.fromkeys(_NO, 0)
_ONE_YES_NO = rf"(?<![A-Za-z\-])(?:{'|'.join(sorted(map(re.escape, _ALL), key=len, reverse=True))})(?![A-Za-z\-])"
_YES_NO = re.compile(rf"({_ONE_YES_NO})(\s?(?:/|\||,|\bor\b|\band\b)\s?{_ONE_YES_NO})?", re.IGNORECASE)
_CANNOT = re.compile(
    r"(?<![A-Za-z])(?:n\s?/\s?a|not applicable|not assessable"
    r"|(?:cannot|can't|can not|could not|unable to|impossible to|not possible to)[ _](?:be[ _])?"
    r"(?:assess|judge|evaluate|score|rate|determine)\w{0,2})(?![A-Za-z])|无法(?:评估|判断|评分|评价)|不适用",
    re.IGNORECASE,
)

_ENDS_ANSWER = re.compile(r"[\s.!:;,*)\]}\"'。，；：！）]*")
_OPENS = r"[\s*(\[{\"'（]{0,20}"
_LABEL_BEFORE = re.compile(rf"{_OPENS}(?:[^\W\d][\w /&-]{{0,40}}[:=]{_OPENS})?\+?")

# All that is read as a value but for digits; a Chinese number needs what it counts behind it.
VALUE_WORDS = rf"(?:\b(?:{'|'.join(NUMBER_WORDS)})\b|{_ONE_YES_NO}|{_CANNOT.pattern})"


def find_score_mentions_in_reply(text: str, scale: Scale) -> Iterator[ScoreMention]:
    """Every mention that could be an answer on this scale: numbers, yes and no where asked, and that it cannot be."""
    yield from find_number_mentions_in_reply(text, scale)
    if scale.yes_no:
        for word in deque(_YES_NO.finditer(text), maxlen=MOST_NUMBERS):
            both = Missing.unreadable("… is both", repr(word.group()))
            yield ScoreMention(*word.span(), both if word[2] else Scored(Fraction(_ALL[word[1].lower()])), spelt=True)
    for cannot in deque(_CANNOT.finditer(text), maxlen=MOST_NUMBERS):
        yield ScoreMention(*cannot.span(), make_judge_abstention(text[cannot.end() : cannot.end() + 300]), spelt=True)


def read_yes_or_no_reply(text: str) -> bool | None:
    """The answer that a short text is and nothing else: what follows a yes may take it back."""
    word = _YES_NO.match(text.strip(" \t\n\"'*.([").replace("_", " "))
    if word is None or word[2] or not _ENDS_ANSWER.fullmatch(word.string, word.end()):
        return None
    return bool(_ALL[word[1].lower()])


def is_score_all_of_reply(text: str, scale: Scale) -> bool:
    """Whether a text is one score, with or without a label before it, and nothing else: no remark that changes it."""
    mentions = list(find_score_mentions_in_reply(text, scale))
    if len(mentions) != 1:
        return False
    before, after = text[: mentions[0].start], text[mentions[0].end :]
    return _ENDS_ANSWER.fullmatch(after) is not None and _LABEL_BEFORE.fullmatch(before) is not None


def says_judge_cannot_assess(text: str) -> bool:
    """Whether a short text declines to answer: n/a, cannot assess, 无法评估."""
    return bool(_CANNOT.match(text.strip(" \t\n\"'*.(").replace("_", " ")))


def make_judge_abstention(reason: str) -> CriterionScore:
    """No score, with the judge's own reason."""
    reason = reason.split("\n", maxsplit=1)[0].strip(" \t:;,.()-–—\"'*")
    return Missing("abstained", reason or "cannot assess")


ABSTAINED = "(abstained)"
Answer = Fraction | str  # A score or a choice.


def list_answer_values(items: Mapping[str, object]) -> dict[str, Answer]:
    """The score or the choice that each item is; what is no answer, such as advice, is left out."""
    found = {
        id: getattr(item, "label", None) or find_answer_value(getattr(item, "score", None))
        for id, item in items.items()
    }
    return {id: value for id, value in found.items() if value is not None}


def find_answer_value(score: object) -> Answer | None:
    """The value of a score, the sign of an abstention, and nothing where there is no answer."""
    if isinstance(score, Scored):
        return score.value
    return ABSTAINED if isinstance(score, Missing) and score.kind == "abstained" else None
