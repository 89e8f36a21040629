"""Texts with places for parts of a sample: {input}, {context}, {metadata.topic}; {{ and }} stand for braces."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property

from evenhand.errors import EvalError, Fault, OutputError, nearest
from evenhand.runs._sample import RunSample

PLACES = ("input", "reference", "context", "id")

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


@dataclass(frozen=True)
class Template:
    """A text with places; one that cannot be filled is refused at birth."""

    text: str

    def __post_init__(self) -> None:
        _ = self._parts

    def filled(self, sample: RunSample) -> str:
        """The text for a sample; an OutputError where the sample lacks a part of its metadata."""
        literals, names = self._parts
        filled = [
            text for pair in zip(literals, (_value(name, sample) for name in names), strict=False) for text in pair
        ]
        return "".join((*filled, literals[-1]))

    @property
    def is_input(self) -> bool:
        """Whether it is the input and nothing else."""
        return self.text.strip() == "{input}"

    @cached_property
    def _parts(self) -> tuple[list[str], list[str]]:
        """The texts around the places, one more than places, and the names of the places."""
        literals, names, end = [""], [], 0
        for token in _TOKEN.finditer(self.text):
            literals[-1] += self.text[end : token.start()]
            end = token.end()
            if token[0] in ("{{", "}}"):
                literals[-1] += token[0][0]
            else:
                names.append(_checked(token[0], token[1]))
                literals.append("")
        literals[-1] += self.text[end:]
        return literals, names


def _checked(token: str, name: str | None) -> str:
    if name is None:
        raise EvalError(Fault(f"a single {token!r}", f"write {token * 2} for a brace that is none of ours"))
    if name not in PLACES and not (name.startswith("metadata.") and len(name) > len("metadata.")):
        hint = nearest(name[:40], [*PLACES, "metadata.NAME"])
        raise EvalError(Fault(f"unknown place {token[:60]}", f"{hint}; {{{{ and }}}} stand for braces"))
    return name


def _value(name: str, sample: RunSample) -> str:
    if name in PLACES:
        return str(getattr(sample, name))
    key = name.removeprefix("metadata.")
    if key not in sample.metadata:
        raise OutputError(f"the sample has no metadata {key!r}, which the prompt asks for")
    value = sample.metadata[key]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
