"""The material of a request: everything that is not ours, labelled and inside the fence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.judging._fence import Fence
from evenhand.judging._prompts import Prompts
from evenhand.judging._request import Matter, Message, Request, Settings
from evenhand.judging._told import Manner
from evenhand.model import Criterion

# A label in words, the name of its tag, and the text.
Piece = tuple[str, str, str]


def pieces_of(prompts: Prompts, question: str = "", context: str = "", reference: str = "") -> list[Piece]:
    """What a judge is shown beside outputs, as far as there is any."""
    given = {"question": question, "context": context, "reference": reference}
    return [(prompts.say(name), name, text) for name, text in given.items() if text.strip()]


def texts_of(pieces: Sequence[Piece]) -> list[str]:
    """The texts alone, without their labels."""
    return [text for _, _, text in pieces]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A prompt in its two halves, what it asks for, and the schema of the answer."""

    halves: tuple[str, str]
    ids: tuple[str, ...]
    schema: Mapping[str, object] | None = None
    labels: tuple[str, ...] = ()
    asked: tuple[tuple[str, Criterion], ...] = ()  # Each criterion with the key its answer belongs under.


def compose(
    dialogue: str,
    outline: Outline,
    pieces: Sequence[Piece],
    manner: Manner,
    *,
    settings: Settings | None = None,
    repeat: int = 0,
) -> Request:
    """A request: what stays the same as the system's words, then the task with the material in its fence."""
    system, task = outline.halves
    salt = "/".join((str(manner.seed), dialogue, str(repeat), *outline.ids, *outline.labels))
    fence = Fence(texts_of(pieces), salt)
    material = "\n\n".join(f"{label}:\n{fence.around(tag, text)}" for label, tag, text in pieces)
    return Request(
        dialogue=dialogue,
        # The material goes in last: nothing inside it is ever searched for places.
        messages=(
            Message("system", system, repeats=True),
            Message("user", task.replace(MARKER, fence.marker).replace(MATERIAL, material)),
        ),
        ids=outline.ids,
        labels=outline.labels,
        schema=outline.schema,
        settings=_settled(settings or manner.settings),
        repeat=repeat,
        about=Matter(outline.asked, {tag: text for _, tag, text in pieces}),
    )


def _settled(settings: Settings) -> Settings:
    return settings if settings.temperature is not None else replace(settings, temperature=0.0)


# What the halves of a prompt are filled with until a request is composed.
MARKER = "{{marker}}"
MATERIAL = "{{material}}"
