"""One answer in JSON: a number, a word, or an object with a score, a reason and more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from evenhand.judging.reading._bands import read_bands
from evenhand.judging.reading._names import canonical, names_of
from evenhand.judging.reading._plain import plain
from evenhand.judging.reading._prose import read_prose
from evenhand.judging.reading._values import Answer, Wanted
from evenhand.judging.reading._words import abstained, says_it_cannot, yes_or_no
from evenhand.model import CriterionScore, Scale, Scored, Unscored

_NUMBERS = [
    "finalscore", "finalrating", "overallscore", "overallrating", "totalscore", "finalgrade", "score", "rating",
    "grade", "points", "value",
    "overall", "评分", "得分", "分数", "总分",
]  # fmt: skip
_VERDICTS = [
    "answer", "satisfied", "met", "ismet", "criterionmet", "criteriamet", "issatisfied", "finalverdict",
    "finalanswer", "passed", "pass", "verdict", "judgment", "judgement", "decision",
    "result", "结论", "答案", "判断",
]  # fmt: skip
SCORE_KEYS = frozenset([*_NUMBERS, *_VERDICTS])
_REASONS = [
    "reason", "reasoning", "explanation", "justification", "rationale", "why", "comment", "comments",
    "analysis", "理由", "原因", "说明", "feedback",
]  # fmt: skip
_EVIDENCE = ("evidence", "quote", "quotes", "citations", "excerpts")
_TOPS = frozenset(["max", "maxscore", "maximum", "maxpoints", "outof", "scalemax", "maxrating"])
_DECLINES = frozenset([
    "abstain", "abstained", "abstention", "cannotassess", "cantassess", "unassessable", "notapplicable",
])  # fmt: skip
_ABOUT = frozenset(["criterion", "dimension", "metric", "aspect", "id", "name", "key", "title"])
_USED = SCORE_KEYS | {*_REASONS[:-1], *_EVIDENCE} | _ABOUT
MOST_NESTED = 3
FIELD_NAMES = _USED | _TOPS | _DECLINES  # What the keys of an answer may be called, and so no criterion.


@dataclass(frozen=True, slots=True)
class ToRead:
    """An answer as it stands in its value, and what was asked."""

    item: object
    scale: Scale
    wanted: Wanted
    parent: Mapping[str, object]
    alone: bool  # Nothing else was asked, so a reason beside the answer is its reason.


def read_item(given: ToRead) -> Answer | None:
    """The answer; None where there is none, such as an object without a score."""
    if isinstance(given.item, dict):
        return _from_object(given.item, given.scale)
    reason = _reason_beside(given)
    evidence = _texts(given.parent, _EVIDENCE) if given.alone else ()
    return Answer(_score(given.item, given.scale, reason), reason, evidence)


def declines(data: object) -> CriterionScore | None:
    """That an object as a whole says it gives no answer."""
    if not isinstance(data, dict):
        return None
    keys = _by_name(data)
    if not any(keys.get(key) is True for key in _DECLINES) or any(key in keys for key in SCORE_KEYS):
        return None
    return abstained(next((text for key in _REASONS if (text := _text(keys.get(key)))), ""))


def _from_object(item: Mapping[str, object], scale: Scale) -> Answer | None:
    keys = _by_name(item)
    reason = next((text for key in _REASONS if (text := _text(keys.get(key)))), "")
    score = _object_score(keys, scale, reason)
    if score is None:
        return None
    more = {key: value for key, value in item.items() if canonical(str(key)) not in _USED}
    evidence = tuple(text for key in _EVIDENCE if key in keys for text in _each(keys[key]))
    return Answer(score, reason, evidence, more)


def _object_score(keys: Mapping[str, object], scale: Scale, reason: str) -> CriterionScore | None:
    if any(keys.get(key) is True for key in _DECLINES):
        return abstained(reason)
    for top in _TOPS & keys.keys():
        if isinstance(keys[top], (int, Decimal)) and keys[top] != scale.max:
            return Unscored(f"unreadable: it is on another scale than {scale}, out of {keys[top]}")
    if scale.bands and "band" in keys:
        if isinstance(keys["band"], str) and says_it_cannot(keys["band"]):
            return abstained(reason)
        return read_bands(keys["band"], _first(keys), scale)
    tiers = [[*_NUMBERS, *_VERDICTS]] if scale.yes_no else [_NUMBERS, _VERDICTS]
    for tier in tiers:
        given = [_nested(keys[key], scale, reason) for key in tier if key in keys]
        if given:
            return _agreed([one for one in given if one is not None])
    return None


def _first(keys: Mapping[str, object]) -> object:
    return next((keys[key] for key in _NUMBERS if key in keys), None)


def _nested(value: object, scale: Scale, reason: str) -> CriterionScore | None:
    """The score itself, or one object further in."""
    for _ in range(MOST_NESTED):
        if not isinstance(value, dict) or (scale.bands and "band" in value):
            break
        value = _first(_by_name(value))
    if isinstance(value, dict):
        return _object_score(_by_name(value), scale, reason)
    return _score(value, scale, reason)


def _agreed(given: list[CriterionScore]) -> CriterionScore | None:
    scored = [one for one in given if isinstance(one, Scored)]
    if any(one.value != scored[0].value for one in scored):
        return Unscored("unreadable: its own keys contradict each other")
    return (scored or given or [None])[0]


def _score(value: object, scale: Scale, reason: str) -> CriterionScore:
    if value is None:
        return abstained(reason) if reason else Unscored("not answered")
    if not isinstance(value, str):
        return scale.read(value)
    if says_it_cannot(value):
        return abstained(reason)
    word = yes_or_no(value) if scale.is_share else None
    if word is not None:
        return scale.read(word)
    read = read_prose(plain(value), scale, names_of(()))
    return read if read is not None else Unscored(f"unreadable: {_shortened(value)} is no answer on {scale}")


def _reason_beside(given: ToRead) -> str:
    """{"accuracy": 8, "accuracy_reason": …}, {"scores": {…}, "reasons": {…}}, or the only reason there is."""
    names = {canonical(name) for name in (given.wanted.id, *given.wanted.names)}
    for key, value in given.parent.items():
        for reason in _REASONS:
            if canonical(key) in {name + reason for name in names} and _text(value):
                return _text(value)
    keys = _by_name(given.parent)
    return next((text for key in _REASONS if (text := _text(keys.get(key)))), "") if given.alone else ""


def _by_name(item: Mapping[str, object]) -> dict[str, object]:
    return {canonical(str(key)): value for key, value in item.items()}


def _text(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _texts(item: Mapping[str, object], keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for key, value in item.items() if canonical(str(key)) in keys for text in _each(value))


def _each(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        text = part.get("quote") or part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text.strip():
            yield text


def _shortened(text: str) -> str:
    quoted = repr(text.strip())
    return quoted if len(quoted) <= 60 else quoted[:59] + "…"
