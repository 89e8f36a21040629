"""What a reader is asked for and what it hands back: plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from evenhand.model import CriterionScore, Scale

_NOTHING: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing a reply was asked for; `names` are other words the reply may use for it."""

    id: str
    scale: Scale
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply says on one thing; `more` holds the other keys of the answer's object."""

    score: CriterionScore
    reason: str = ""
    evidence: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=lambda: _NOTHING)


@dataclass(frozen=True, slots=True)
class Value:
    """A JSON-like object or array in a text, and where; not complete where it breaks off."""

    data: object
    complete: bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Found:
    """The answers of a reply; `data` is the JSON value they came from, None where they were read from prose."""

    answers: Mapping[str, Answer]
    data: object | None = None
