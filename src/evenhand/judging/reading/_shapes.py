"""Answers in one JSON value, whatever its shape: by name, in lists, in objects inside objects, or a lone score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.judging.reading._items import SCORE_KEYS, ToRead, declines, read_item
from evenhand.judging.reading._names import Names, canonical
from evenhand.judging.reading._values import Answer, Wanted
from evenhand.loading import Twice
from evenhand.model import Kept, Unscored

TWICE = Unscored("unreadable: given twice with different answers")
MOST_LEVELS = 12
_NAMES: Kept[Names] = Kept()

# What an object says it is about; under the first four it is about nothing else.
_ABOUT = ("criterion", "dimension", "metric", "aspect", "criteria", "category", "id", "name", "key", "title", "label")
_STRICTLY = _ABOUT[:4]
_TEXTS = frozenset([
    "reason", "reasons", "reasoning", "reasonings", "explanation", "explanations", "justification",
    "justifications", "rationale", "rationales", "why", "feedback", "comment", "comments", "analysis",
    "evidence", "quote", "quotes", "citations", "excerpts", "example", "examples", "thinking",
])  # fmt: skip
_NO_ANSWERS = (
    "weight",
    "max",
    "min",
    "previous",
    "prior",
    "template",
    "schema",
    "quoted",
    "original",
    "expected",
    "权重",
)


def answers_from(data: object, wanted: Sequence[Wanted]) -> dict[str, Answer]:
    """What one JSON value answers of all that was asked; what it does not answer is absent."""
    by_id = {one.id: one for one in wanted}
    names = _NAMES.get((wanted,), lambda: Names(wanted)) if isinstance(wanted, tuple) else Names(wanted)
    declined = declines(data)
    if declined is not None:
        return {one.id: Answer(declined) for one in wanted}
    answers: dict[str, Answer] = {}
    for level in _levels(data):
        found: dict[str, list[Answer]] = {}
        for node in level:
            for candidate in _named(node, names):
                one = by_id[candidate.id]
                answer = read_item(ToRead(candidate.item, one.scale, one, node, alone=len(wanted) == 1))
                if answer and one.id not in answers:
                    found.setdefault(one.id, []).append(_once(answer, candidate.twice))
        answers.update({id: _agreed(given) for id, given in found.items()})
        if len(answers) == len(by_id):
            break  # What stands further in never overrides.
    if not answers and len(wanted) == 1:
        return _unnamed(data, wanted[0])
    return {one.id: answers[one.id] for one in wanted if one.id in answers}


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    item: object
    twice: bool


def _levels(data: object) -> Iterator[list[Mapping[str, object]]]:
    """The objects of a value, level by level; texts and what belongs to a reason are not looked into."""
    containers = [data]
    for _ in range(MOST_LEVELS):
        yield [node for node in containers if isinstance(node, dict)]
        containers = [child for node in containers for child in _children(node) if isinstance(child, (dict, list))]
        if not containers:
            return


def _children(node: object) -> Iterator[object]:
    if isinstance(node, list):
        yield from node
    elif isinstance(node, dict):
        yield from (value for key, value in node.items() if not _is_aside(canonical(str(key))))


def _is_aside(key: str) -> bool:
    """Whether what stands under a key is a text, or numbers that are no answers."""
    return key in _TEXTS or key.startswith(_NO_ANSWERS)


def _named(node: Mapping[str, object], names: Names) -> Iterator[_Candidate]:
    about = _about(node, names)
    if about:
        yield _Candidate(about, node, _contradicts_itself(node))
        return
    differing = set(node.differing()) if isinstance(node, Twice) else set()
    for key, item in node.items():
        id = names.id(str(key))
        if id is not None:
            yield _Candidate(id, item, key in differing or _contradicts_itself(item))


def _about(node: Mapping[str, object], names: Names) -> str | None:
    if not any(canonical(str(key)) in SCORE_KEYS for key in node):
        return None
    for key in _ABOUT:
        about = node.get(key)
        if isinstance(about, str) and (id := names.id(about)) is not None:
            return id
    return None


def _contradicts_itself(item: object) -> bool:
    """Whether an object gives its own score twice, differently."""
    return isinstance(item, Twice) and any(canonical(key) in SCORE_KEYS for key in item.differing())


def _unnamed(data: object, one: Wanted) -> dict[str, Answer]:
    """Only one thing was asked: the uppermost score is its answer, unless it is said to be about another."""
    for level in _levels(data):
        found = []
        for node in level:
            about_another = any(isinstance(node.get(key), str) for key in _STRICTLY) and one.id
            if about_another or not any(canonical(str(key)) in SCORE_KEYS for key in node):
                continue
            answer = read_item(ToRead(node, one.scale, one, node, alone=True))
            if answer:
                found.append(_once(answer, _contradicts_itself(node)))
        if found:
            return {one.id: _agreed(found)}
    return {}


def _once(answer: Answer, twice: bool) -> Answer:
    return Answer(TWICE, answer.reason, answer.evidence, answer.more) if twice else answer


def _agreed(given: Sequence[Answer]) -> Answer:
    return _once(given[-1], any(answer.score != given[-1].score for answer in given))
