"""Replies in exactly the form asked for, read as they stand; whatever differs is for the reader of real replies."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.judging._form import CANNOT, Group
from evenhand.judging.reading import Answer, clean_object
from evenhand.model import CriterionScore, Scale, Unscored

_WORDS = {"yes": True, "no": False}


def as_asked(text: str, groups: Sequence[Group]) -> tuple[dict[str, Answer], object] | None:
    """The answers of a reply that is one JSON object with all that was asked for and nothing in its place."""
    data = clean_object(text.strip())
    answers = answers_as_asked(data, groups)
    return None if answers is None else (answers, data)


def answers_as_asked(data: object, groups: Sequence[Group]) -> dict[str, Answer] | None:
    """The same for the part of a reply that is about one output."""
    if type(data) is not dict:
        return None
    answers: dict[str, Answer] = {}
    for group in groups:
        below = data.get(group.key)
        if type(below) is not dict or len(below) != len(group.wanted):
            return None
        for wanted in group.wanted:
            answer = _answer(below.get(wanted.id), wanted.scale, group.more)
            if answer is None:
                return None
            answers[group.item(wanted.id)] = answer
    return answers


def _answer(given: object, scale: Scale, more: tuple[str, ...]) -> Answer | None:
    """One answer with its evidence, its reason, its further texts and its score, and no other keys."""
    last = ("band", "score") if scale.bands else ("answer",) if scale.yes_no else ("score",)
    if type(given) is not dict or len(given) != 2 + len(more) + len(last):
        return None
    reason, evidence, said = given.get("reason"), given.get("evidence"), given.get(last[0])
    if not isinstance(evidence, list) or not _texts(reason, *evidence, *(given.get(name) for name in more)):
        return None
    score = Unscored(f"abstained: {reason or CANNOT}") if said == CANNOT else _score(said, given.get("score"), scale)
    if score is None:
        return None
    return Answer(score, str(reason), tuple(evidence), {name: given[name] for name in more})


def _score(said: object, number: object, scale: Scale) -> CriterionScore | None:
    if scale.bands:
        return scale.read({"band": said, "score": number})
    if scale.yes_no:
        return scale.read(_WORDS[said]) if isinstance(said, str) and said in _WORDS else None
    return None if said is None or isinstance(said, str) else scale.read(said)


def _texts(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)
