"""Answers in one JSON value, whatever its shape, and objects under keys that nobody asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from evenhand.files.parsing import DuplicateKeyJsonObject
from evenhand.judging.reading.prose_scores import read_prose_reply_score
from evenhand.judging.reading.reply_text import (
    normalize_reply_answer_name,
    strip_reply_markup,
)
from evenhand.judging.reading.score_labels import (
    ReadAnswer,
    ReplyAnswerNames,
    WantedReplyAnswer,
    map_reply_answer_names,
)
from evenhand.judging.reading.score_mentions import (
    is_score_all_of_reply,
    make_judge_abstention,
    read_yes_or_no_reply,
    says_judge_cannot_assess,
)
from evenhand.model.rubric import RubricIdentityCache
from evenhand.model.scale import NOT_ANSWERED, CriterionScore, Missing, Scale, Scored

GIVEN_TWICE = Missing.unreadable("given twice with different answers")
MOST_LEVELS = 12
_NAMES: RubricIdentityCache[ReplyAnswerNames] = RubricIdentityCache()

# What an object says it is about; under the first four it is about nothing else.
SUBJECT_KEYS = (
    "criterion", "dimension", "metric", "aspect", "criteria", "category", "id", "name", "key", "title", "label",
)  # fmt: skip
_STRICTLY = SUBJECT_KEYS[:4]
TEXT_KEYS = frozenset([
    "reason", "reasons", "reasoning", "reasonings", "explanation", "explanations", "justification",
    "justifications", "rationale", "rationales", "why", "feedback", "comment", "comments", "analysis",
    "evidence", "quote", "quotes", "citations", "excerpts", "example", "examples", "thinking",
])  # fmt: skip
# What a judge says to the author or of the whole may tell of a refusal, too.
REMARK_KEYS = TEXT_KEYS | {"notes", "note", "hint", "revisionhint", "problem", "suggestion", "severity", "absent"}
_NO_ANSWERS = re.compile(
    r"weight|previous|prior|template|schema|quoted|original|expected|权重"
    r"|(?:max|min)(?:imum)?(?:s|possible|scores?|points?|ratings?|grades?|values?)?\Z"  # And no "mine".
)


def read_json_reply_answers(data: object, wanted: Sequence[WantedReplyAnswer]) -> dict[str, ReadAnswer]:
    """What one JSON value answers of all that was asked; what it does not answer is absent."""
    by_id = {one.id: one for one in wanted}
    names = (
        _NAMES.get((wanted,), lambda: ReplyAnswerNames(wanted))
        if isinstance(wanted, tuple)
        else ReplyAnswerNames(wanted)
    )
    declined = read_declined_reply_answer(data)
    if declined is not None:
        return {one.id: ReadAnswer(declined) for one in wanted}
    answers: dict[str, ReadAnswer] = {}
    for level in _walk_reply_levels(data):
        found: dict[str, list[ReadAnswer]] = {}
        for node in level:
            for id, item, twice in _find_reply_answer_candidates(node, names):
                answer = _read_raw_reply_answer(item, by_id[id], node, alone=len(wanted) == 1)
                if answer and id not in answers:
                    found.setdefault(id, []).append(_mark_reply_answer_given_twice(answer, twice))
        answers.update({id: _agree_on_json_reply_answers(given) for id, given in found.items()})
        if len(answers) == len(by_id):
            break  # What stands further in never overrides.
    if not answers and len(wanted) == 1:
        return _read_unnamed_reply_score(data, wanted[0])
    return {one.id: answers[one.id] for one in wanted if one.id in answers}


def _walk_reply_levels(data: object) -> Iterator[list[Mapping[str, object]]]:
    """The objects of a value, level by level; texts and what belongs to a reason are not looked into."""
    containers = [data]
    for _ in range(MOST_LEVELS):
        yield [node for node in containers if isinstance(node, dict)]
        children: list[object] = []
        for node in containers:
            if isinstance(node, list):
                children += node
            elif isinstance(node, dict):
                named = ((normalize_reply_answer_name(str(key)), value) for key, value in node.items())
                children += [value for key, value in named if key not in TEXT_KEYS and not _NO_ANSWERS.match(key)]
        containers = [child for child in children if isinstance(child, (dict, list))]
        if not containers:
            return


def _find_reply_answer_candidates(
    node: Mapping[str, object], names: ReplyAnswerNames
) -> Iterator[tuple[str, object, bool]]:
    """What may be an answer: whose, the item, and whether it is given twice, differently."""
    about = _find_reply_answer_subject(node, names)
    if about:
        yield about, node, _gives_reply_score_twice(node)
        return
    differing = set(node.differing()) if isinstance(node, DuplicateKeyJsonObject) else set()
    for key, item in node.items():
        id = names.id(str(key))
        if id is not None:
            yield id, item, key in differing or _gives_reply_score_twice(item)


def _find_reply_answer_subject(node: Mapping[str, object], names: ReplyAnswerNames) -> str | None:
    if not any(normalize_reply_answer_name(str(key)) in SCORE_KEYS for key in node):
        return None
    for key in SUBJECT_KEYS:
        about = node.get(key)
        if isinstance(about, str) and (id := names.id(about)) is not None:
            return id
    return None


def _gives_reply_score_twice(item: object) -> bool:
    """Whether an object gives its own score twice, differently."""
    return isinstance(item, DuplicateKeyJsonObject) and any(
        normalize_reply_answer_name(key) in SCORE_KEYS for key in item.differing()
    )


def _read_unnamed_reply_score(data: object, one: WantedReplyAnswer) -> dict[str, ReadAnswer]:
    """Only one thing was asked: the uppermost score is its answer, unless it is said to be about another."""
    for level in _walk_reply_levels(data):
        found = []
        for node in level:
            about_another = any(isinstance(node.get(key), str) for key in _STRICTLY) and one.id
            if about_another or not any(normalize_reply_answer_name(str(key)) in SCORE_KEYS for key in node):
                continue
            answer = _read_raw_reply_answer(node, one, node, alone=True)
            if answer:
                found.append(_mark_reply_answer_given_twice(answer, _gives_reply_score_twice(node)))
        if found:
            return {one.id: _agree_on_json_reply_answers(found)}
    return {}


def _mark_reply_answer_given_twice(answer: ReadAnswer, twice: bool) -> ReadAnswer:
    return ReadAnswer(GIVEN_TWICE, answer.reason, answer.evidence, answer.more) if twice else answer


def _agree_on_json_reply_answers(given: Sequence[ReadAnswer]) -> ReadAnswer:
    return _mark_reply_answer_given_twice(given[-1], any(answer.score != given[-1].score for answer in given))


_NUMBERS = [
    "finalscore", "finalrating", "overallscore", "overallrating", "totalscore", "finalgrade", "score", "rating",
    "grade", "points", "value", "correctedscore", "revisedscore", "adjustedscore", "updatedscore",
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
REASON_KEYS = frozenset(_REASONS) - {"comment", "comments"}  # A comment may be on the answer, and not for it.
EVIDENCE_KEYS = ("evidence", "quote", "quotes", "citations", "excerpts")
_TOPS = frozenset(["max", "maxscore", "maximum", "maxpoints", "outof", "scalemax", "maxrating"])
_DECLINES = frozenset([
    "abstain", "abstained", "abstention", "cannotassess", "cantassess", "unassessable", "notapplicable",
])  # fmt: skip
_SUBJECT_FIELDS = frozenset(["criterion", "dimension", "metric", "aspect", "id", "name", "key", "title"])
_USED = SCORE_KEYS | {*_REASONS[:-1], *EVIDENCE_KEYS} | _SUBJECT_FIELDS
MOST_NESTED = 3
FIELD_NAMES = _USED | _TOPS | _DECLINES  # What the keys of an answer may be called, and so no criterion.


def _read_raw_reply_answer(
    item: object, one: WantedReplyAnswer, parent: Mapping[str, object], *, alone: bool
) -> ReadAnswer | None:
    """The answer; None where there is none, such as an object without a score.

    `alone` says that nothing else was asked, so that a reason beside the answer is its reason.
    """
    if isinstance(item, dict):
        return _read_reply_answer_object(item, one.scale)
    reason = _find_reply_reason_beside(one, parent, alone=alone)
    keys = [(normalize_reply_answer_name(str(key)), value) for key, value in parent.items()] if alone else []
    evidence = tuple(text for key, value in keys if key in EVIDENCE_KEYS for text in _iterate_reply_quotes(value))
    return ReadAnswer(_read_json_reply_score(item, one.scale, reason), reason, evidence)


def read_declined_reply_answer(data: object) -> CriterionScore | None:
    """That an object as a whole says it gives no answer."""
    if not isinstance(data, dict):
        return None
    keys = _key_reply_by_answer_name(data)
    if not any(keys.get(key) is True for key in _DECLINES) or any(key in keys for key in SCORE_KEYS):
        return None
    return make_judge_abstention(_find_own_reply_reason(keys))


def _read_reply_answer_object(item: Mapping[str, object], scale: Scale) -> ReadAnswer | None:
    keys = _key_reply_by_answer_name(item)
    reason = _find_own_reply_reason(keys)
    score = _read_reply_object_score(keys, scale, reason)
    if score is None:
        return None
    more = {key: value for key, value in item.items() if normalize_reply_answer_name(str(key)) not in _USED}
    evidence = tuple(text for key in EVIDENCE_KEYS if key in keys for text in _iterate_reply_quotes(keys[key]))
    return ReadAnswer(score, reason, evidence, more)


def _read_reply_object_score(keys: Mapping[str, object], scale: Scale, reason: str) -> CriterionScore | None:
    if any(keys.get(key) is True for key in _DECLINES):
        return make_judge_abstention(reason)
    for top in _TOPS & keys.keys():
        if isinstance(keys[top], (int, Decimal)) and keys[top] != scale.max:
            return Missing.unreadable(f"it is on another scale than {scale}, out of …", keys[top])
    if scale.bands and "band" in keys:
        if isinstance(keys["band"], str) and says_judge_cannot_assess(keys["band"]):
            return make_judge_abstention(reason)
        return read_reply_band_score(keys["band"], _find_reply_number_value(keys), scale)
    tiers = [[*_NUMBERS, *_VERDICTS]] if scale.yes_no else [_NUMBERS, _VERDICTS]
    for tier in tiers:
        given = [_read_nested_reply_score(keys[key], scale, reason) for key in tier if key in keys]
        if given:
            scored = [one for one in given if isinstance(one, Scored)]
            if any(one.value != scored[0].value for one in scored):
                return Missing.unreadable("its own keys contradict each other")
            return next((one for one in (*scored, *given) if one is not None), None)
    return None


def _find_reply_number_value(keys: Mapping[str, object]) -> object:
    return next((keys[key] for key in _NUMBERS if key in keys), None)


def _read_nested_reply_score(value: object, scale: Scale, reason: str) -> CriterionScore | None:
    """The score itself, or one object further in."""
    for _ in range(MOST_NESTED):
        if not isinstance(value, dict) or (scale.bands and "band" in value):
            break
        value = _find_reply_number_value(_key_reply_by_answer_name(value))
    if isinstance(value, dict):
        return _read_reply_object_score(_key_reply_by_answer_name(value), scale, reason)
    return _read_json_reply_score(value, scale, reason)


def _read_json_reply_score(value: object, scale: Scale, reason: str) -> CriterionScore:
    if value is None:
        return make_judge_abstention(reason) if reason else NOT_ANSWERED
    if not isinstance(value, str):
        return scale.read(value)
    if says_judge_cannot_assess(value):
        return make_judge_abstention(reason)
    word = read_yes_or_no_reply(value) if scale.is_share else None
    if word is not None:
        return scale.read(word)
    read = _read_score_alone(value, scale)
    quoted = repr(value.strip())
    shown = quoted if len(quoted) <= 60 else quoted[:59] + "…"
    return Missing.unreadable(f"… is no answer on {scale}", shown) if read is None else read


def _read_score_alone(value: str, scale: Scale) -> CriterionScore | None:
    """What a text says that is a score and nothing else: in "9 (lowered to 3)" words behind it change it."""
    text = strip_reply_markup(value)
    read = read_prose_reply_score(text, scale, map_reply_answer_names(()))
    return None if isinstance(read, Scored) and not is_score_all_of_reply(text, scale) else read


def _find_reply_reason_beside(one: WantedReplyAnswer, parent: Mapping[str, object], *, alone: bool) -> str:
    """{"accuracy": 8, "accuracy_reason": …}, {"scores": {…}, "reasons": {…}}, or the only reason there is."""
    names = {normalize_reply_answer_name(name) + reason for name in (one.id, *one.names) for reason in _REASONS}
    for key, value in parent.items():
        if normalize_reply_answer_name(key) in names and _join_reply_reason(value):
            return _join_reply_reason(value)
    return _find_own_reply_reason(_key_reply_by_answer_name(parent)) if alone else ""


def _find_own_reply_reason(keys: Mapping[str, object]) -> str:
    return next((text for key in _REASONS if (text := _join_reply_reason(keys.get(key)))), "")


def _key_reply_by_answer_name(item: Mapping[str, object]) -> dict[str, object]:
    return {normalize_reply_answer_name(str(key)): value for key, value in item.items()}


def _join_reply_reason(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _iterate_reply_quotes(value: object) -> Iterator[str]:
    for part in value if isinstance(value, list) else [value]:
        text = part.get("quote") or part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text.strip():
            yield text


def read_reply_band_score(band: object, score: object, scale: Scale) -> CriterionScore:
    """A band and a number as the scale reads them, with the band written in any case."""
    spelt = normalize_reply_answer_name(re.sub(r"\Aband\s*", "", str(band).strip(), flags=re.IGNORECASE))
    id = next((one.id for one in scale.bands if normalize_reply_answer_name(one.id) == spelt), band)
    if isinstance(score, str):
        bandless = Scale(min=scale.min, max=scale.max, integers=scale.integers)
        read = _read_score_alone(score, bandless)
        score = read.value if isinstance(read, Scored) else score
    return scale.read({"band": id, "score": score})


def add_band_named_in_reply(text: str, scale: Scale, score: CriterionScore) -> CriterionScore:
    """A number that was read in prose, with the only band that the prose names."""
    if not scale.bands or isinstance(score, Missing):
        return score
    ids = "|".join(sorted((re.escape(band.id) for band in scale.bands), key=len, reverse=True))
    named = re.findall(rf"\bband\s?(?::|=|is|-)?\s?[\"'(\[]?({ids})(?!\w)", text, re.IGNORECASE)
    beside = re.findall(rf"(?<!\w)({ids})\s?[(\[:,\-–—]\s?[0-9]", text)
    bands = {found.lower() for found in named or beside}
    if len(bands) != 1:
        return Missing.unreadable("it names no band" if not bands else "it names several bands")
    return read_reply_band_score(bands.pop(), Decimal(score.value.numerator) / score.value.denominator, scale)
