"""A rubric by rule, without any model: each sentence of a task that says what must be so becomes a yes/no criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.wording import shorten_text_to_line

MOST_SCAFFOLD_CRITERIA = 12
LONGEST_SENTENCE = 300
_REQUIRES = re.compile(
    r"\b(must|shall|has to|have to|needs? to|required?|never|may not|cannot|only|at least|at most|no more than|"
    r"exactly|without|should|ought to|do not|don't|make sure|ensure)\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(must|shall|never|may not|cannot|required?|at least|at most|no more than|exactly)\b", re.IGNORECASE
)
_LISTED = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])\s+(.+)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_WORD = re.compile(r"[a-z0-9]{3,}")
_COMMON_WORDS = frozenset(
    (
        "the", "and", "for", "must", "shall", "should", "has", "have", "with", "that", "this", "from", "are", "not",
        "never", "only", "each", "any", "all", "its", "into", "than", "them", "they", "when", "where", "which", "will",
        "can", "may", "output", "answer", "text", "least", "most", "more", "need", "needs", "sure", "make", "ensure",
        "does",
    )
)  # fmt: skip


def scaffold_rubric_fields(name: str, task: str) -> dict[str, Any]:
    """The fields of a checklist made of a task's own sentences; what says must, or the like, gates the verdict."""
    sentences = list(dict.fromkeys(_list_requirements(task)))[:MOST_SCAFFOLD_CRITERIA]
    if not sentences:
        hint = "write what an output must do as sentences or as a list, or name a model with --proposer"
        raise InputError(Fault("the task says nothing that an output could be held against", hint))
    ids: list[str] = []
    for sentence in sentences:
        ids.append(_make_id(sentence, ids))
    return {
        "name": name,
        "about": "Made by rule from the sentences of the task: read each question before you rely on it.",
        "method": "checklist",
        "criteria": [_build_criterion(id, one) for id, one in zip(ids, sentences, strict=True)],
    }


def _build_criterion(id: str, sentence: str) -> Mapping[str, Any]:
    return {
        "id": id,
        "asks": f"Does the output do what the task says here: “{sentence}”",
        "required": bool(_MUST.search(sentence)),
        "anchors": {
            "yes": "A passage of the output can be pointed at that does it, whole.",
            "no": "Nothing in the output does it, or only a part of it.",
        },
    }


def _list_requirements(task: str) -> Iterator[str]:
    """Items of lists and sentences that require something; where there is none, all sentences."""
    lines = [
        line for line in task.splitlines() if line.strip() and not line.lstrip().startswith(("#", "```", "|", ">"))
    ]
    listed = [found[1] for line in lines if (found := _LISTED.match(line))]
    prose = " ".join(line.strip() for line in lines if not _LISTED.match(line))
    sentences = [one for one in _SENTENCE_END.split(prose) if one.strip()]
    requiring = [*listed, *(one for one in sentences if _REQUIRES.search(one))]
    for one in requiring or sentences:
        line = shorten_text_to_line(one, LONGEST_SENTENCE)
        if any(letter.isalnum() for letter in line):
            yield line


def _make_id(sentence: str, taken: list[str]) -> str:
    """Two or three words of the sentence that name it, unlike every other id."""
    words = [word for word in _WORD.findall(sentence.lower()) if word not in _COMMON_WORDS]
    base = "-".join(words[:2])[:36] or "requirement"
    number = 2
    id = base
    while id in taken:
        id, number = f"{base}-{number}", number + 1
    return id
