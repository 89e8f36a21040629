"""What a reply is asked for, what is read from it, and whose score a label in it announces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from evenhand.judging.reading.reply_text import LONGEST_KEPT, normalize_reply_answer_name
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.scale import CriterionScore, Scale

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WantedReplyAnswer:
    """One thing a reply was asked for; `names` are other words the reply may use for it."""

    id: str
    scale: Scale
    names: tuple[str, ...] = ()
    of_absence: bool = False  # It asks for something not to be there: then a yes needs no quotation.
    shown_as: str = ""  # What a form calls it, where that is not its id.


@set_slots_directly
@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What a reply says on one thing; `more` holds the other keys of the answer's object."""

    score: CriterionScore
    reason: str = ""
    evidence: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class ReplyAnswers:
    """The answers of a reply; `data` is the JSON value they came from, None where they were read from prose."""

    answers: Mapping[str, ReadAnswer]
    data: object | None = None


_WORD = re.compile(r"[^\W_]+(?:'s)?")
_NUMBERING = re.compile(r"\A[\s#>\-+•·|]*(?:\(?[0-9]{1,2}[.):]|\(?[a-z][.)])?\s*", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\([^()]{0,60}\)|\[[^\[\]]{0,60}\]|\bout of [0-9]{1,3}\b")
_LETTERS = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")

_FILLING = frozenset([
    "the", "my", "a", "an", "your", "this", "its", "it", "for", "of", "on", "in", "is", "are", "was", "i",
    "i'd", "would", "be", "as", "here", "so", "thus", "therefore", "hence", "given", "assigned", "numeric",
    "numerical", "number", "single", "and", "by", "to", "give", "gives", "conclusion", "summary's",
])  # fmt: skip
_SCORE = frozenset([
    "score", "scores", "scoring", "rating", "ratings", "rate", "grade", "mark", "marks", "points", "point",
    "answer", "response", "result", "evaluation", "assessment", "judgment", "judgement", "verdict", "value",
    "level", "decision", "met", "satisfied", "passed", "criterion", "criteria",
])  # fmt: skip
_FINAL = frozenset([
    "final", "overall", "total", "revised", "updated", "adjusted", "corrected", "ultimate", "aggregate",
])  # fmt: skip
_CHINESE_SCORE = ("评分", "得分", "分数", "打分", "评级", "分值", "答案", "结论", "判断", "评价", "评估", "结果", "分")
_CHINESE_FINAL = ("最终", "总体", "综合", "最后", "整体", "总")
_CHINESE_FILLING = ("我的", "给出的", "给出", "的", "为", "是", "我", "该", "本", "项")


@dataclass(frozen=True, slots=True)
class ScoreLabel:
    """What stands before a score: whose it is (None: whoever's), and whether it is said to be the last word."""

    whose: str | None
    final: bool


def map_reply_answer_names(wanted: Sequence[WantedReplyAnswer]) -> dict[str, str]:
    """The id behind every name, in its compared form."""
    return {
        normalize_reply_answer_name(name): one.id
        for one in reversed(wanted)
        for name in (*one.names, one.id)
        if normalize_reply_answer_name(name)
    }


LONGEST_LABEL = 500  # Characters, beside those of a name.


def read_reply_score_label(text: str, names: Mapping[str, str]) -> ScoreLabel | None:
    """The label these words are; None where they are no label of a score that was asked for."""
    if len(text) > LONGEST_LABEL + max(map(len, names), default=0):
        return None
    text = _IN_BRACKETS.sub(" ", _NUMBERING.sub("", text, count=1)).strip(" \t\"'[](){}<>|.,:;-–—")
    whole = normalize_reply_answer_name(text)
    if whole in names:
        return ScoreLabel(names[whole], final=False)
    # In "Score A" the letter names something; in "A score" it does not.
    words = [word if at and word in _LETTERS else word.casefold() for at, word in enumerate(_WORD.findall(text))]
    rest = [word for word in words if word not in _FILLING and word not in _SCORE and word not in _FINAL]
    final = any(word in _FINAL for word in words)
    if not rest and any(word in _SCORE or word in _FINAL for word in words):
        return ScoreLabel(None, final)
    if rest and normalize_reply_answer_name("".join(rest)) in names:
        return ScoreLabel(names[normalize_reply_answer_name("".join(rest))], final)
    return _read_padded_reply_label(words, names) or _read_chinese_reply_label(whole, names)


_DEGREES = frozenset([
    "not", "very", "slightly", "somewhat", "mostly", "partly", "partially", "fully", "completely", "totally",
    "entirely", "highly", "moderately", "barely", "hardly", "rather", "quite", "fairly", "extremely", "largely",
    "minimally", "marginally", "strongly", "weakly", "perfectly", "mildly", "poorly",
])  # fmt: skip
_QUALITIES = frozenset([
    "perfect", "excellent", "outstanding", "exceptional", "great", "good", "solid", "decent", "fair", "adequate",
    "acceptable", "satisfactory", "average", "mediocre", "okay", "ok", "passable", "insufficient", "inadequate",
    "unsatisfactory", "unacceptable", "weak", "poor", "bad", "terrible", "awful", "high", "low", "medium", "moderate",
    "strong", "superb", "needs", "improvement", "agree", "disagree", "neutral", "above", "below", "near",
])  # fmt: skip
_COUNTED = frozenset(
    ["mentioned", "included", "applicable", "assessable", "found", "listed", "given", "sure", "enough"]
)
_PREFIX = re.compile(r"\A(?:un|in|ir|im|il|non|dis)(?=[a-z]{5})")
LEAST_STEM = 5
MOST_LEVEL_WORDS = 3


def names_score_level_in_reply(text: str, names: Mapping[str, str]) -> bool:
    """Whether the words name a level of a scale: Good, Very poor, Slightly related, and Coherent of coherence."""
    words = text.casefold().replace("-", " ").split()
    rest = [word for word in words if word not in _DEGREES]
    if not words or len(words) > MOST_LEVEL_WORDS or read_reply_score_label(text, {}) is not None:
        return False
    if all(word in _QUALITIES for word in rest):
        return bool(rest)
    if len(rest) != 1 or rest[0] in _COUNTED:
        return False
    stem = _PREFIX.sub("", rest[0])[:LEAST_STEM]
    of_asked = len(stem) == LEAST_STEM and any(name.startswith(stem) for name in names) and rest[0] not in names
    return of_asked or (len(words) > 1 and words[0] in _DEGREES)


class ReplyAnswerNames:
    """The id behind every name that a key may have; what a key turned out to be is remembered."""

    def __init__(self, wanted: Sequence[WantedReplyAnswer]) -> None:
        self.of = map_reply_answer_names(wanted)
        self._seen: dict[str, str | None] = {}

    def id(self, key: str) -> str | None:
        """The id that a key of an object stands for: accuracy, accuracy_score, Accuracy Rating."""
        if key in self._seen:
            return self._seen[key]
        label = read_reply_score_label(key, self.of)
        whose = label.whose if label else None
        if len(key) <= LONGEST_KEPT and len(self._seen) < MOST_KEPT:
            self._seen[key] = whose
        return whose


MOST_KEPT = 1000


def _read_padded_reply_label(words: list[str], names: Mapping[str, str]) -> ScoreLabel | None:
    """A name may itself hold such words: "level of detail score"."""
    for drop in (_SCORE | _FINAL, _FILLING):
        rest = words
        while rest and rest[-1] in drop:
            rest = rest[:-1]
        while (
            rest and rest[0] in _FILLING | _SCORE | _FINAL and normalize_reply_answer_name("".join(rest)) not in names
        ):
            rest = rest[1:]
        if rest and normalize_reply_answer_name("".join(rest)) in names:
            return ScoreLabel(names[normalize_reply_answer_name("".join(rest))], any(word in _FINAL for word in words))
    return None


def _read_chinese_reply_label(text: str, names: Mapping[str, str]) -> ScoreLabel | None:
    final = text.startswith(_CHINESE_FINAL)
    rest = text
    for part in (*_CHINESE_FILLING, *_CHINESE_FINAL, *_CHINESE_SCORE):
        rest = rest.replace(part, "") if rest not in names else rest
    if rest == text:
        return None
    if not rest:
        return ScoreLabel(None, final)
    return ScoreLabel(names[rest], final) if rest in names else None
