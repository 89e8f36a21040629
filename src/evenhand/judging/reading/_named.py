"""Several scores in prose: each must be named, in a line, a sentence or a section of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evenhand.judging.reading._bands import band_in
from evenhand.judging.reading._graded import Graded, Weight
from evenhand.judging.reading._names import label_of, names_of
from evenhand.judging.reading._prose import CONTRADICTS, another_scale, read_prose, settled, statements, without_scale
from evenhand.judging.reading._values import Answer, Wanted
from evenhand.model import Scale, Unscored

MOST_SECTIONS = 20
_HEAD = re.compile(r"^[ \t]*([^\n:：(\[|]{1,80}?)[ \t]*(?:[:：(\[|]|[-–—] |$)", re.MULTILINE)
_LAST_WORD = re.compile(
    r"^[\s#\-]{0,8}(?:my |the |here are (?:my |the )?)?(?:final|revised|updated|adjusted|corrected)\b"
    r"[^\n:0-9]{0,50}:?[ \t]*$|"
    r"^[\s#\-]{0,8}(?:最终|修订)[^\n:0-9]{0,20}:?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)


def read_named(text: str, wanted: Sequence[Wanted], least: Weight = Weight.SHARE) -> dict[str, Answer]:
    """What a plain text says on each of the things that were asked, where it names them."""
    names = names_of(wanted)
    answers = {}
    for scale in {one.scale: None for one in wanted}:
        own = without_scale(text, scale)
        found = [one for one in statements(own, scale, names) if one.weight >= least]
        sections = _sections(own, names) if least < Weight.LABEL else {}
        for one in [one for one in wanted if one.scale == scale]:
            direct = [given for given in found if given.whose == one.id]
            answer = _direct(own, scale, direct) if direct else _in_sections(sections.get(one.id, []), scale)
            answers.update({one.id: answer} if answer else {})
    return answers


def _direct(text: str, scale: Scale, found: list[Graded]) -> Answer:
    if another_scale(text, scale):
        return Answer(Unscored(f"unreadable: it speaks of another scale than {scale}"))
    score = settled(_last_words(text, found))
    return Answer(band_in(_line(text, found[-1]), scale, score), _rest(text, found[-1]))


def _last_words(text: str, found: list[Graded]) -> list[Graded]:
    """Under a heading such as "Revised scores" stands what counts."""
    at = [heading.start() for heading in _LAST_WORD.finditer(text)]
    after = [one for one in found if at and one.mention.start > at[-1]]
    return after or found


def _sections(text: str, names: Mapping[str, str]) -> dict[str, list[str]]:
    """What stands under each heading that names one, up to the next heading."""
    heads = [(head, label) for head in _HEAD.finditer(text) if (label := label_of(head[1], names))]
    heads = [(head, label) for head, label in heads if label.whose is not None or label.final]
    ends = [*(head.start() for head, _ in heads[1:]), len(text)]
    sections: dict[str, list[str]] = {}
    for (head, label), end in zip(heads, ends, strict=False):
        if label.whose is not None:
            sections.setdefault(label.whose, []).append(text[head.end() : end])
    return sections


def _in_sections(bodies: list[str], scale: Scale) -> Answer | None:
    read = [(body, read_prose(body, scale, {}, Weight.SHARE)) for body in bodies[-MOST_SECTIONS:]]
    scores = [band_in(body, scale, score) for body, score in read if score is not None]
    if not scores:
        return None
    return Answer(scores[0] if all(score == scores[0] for score in scores) else CONTRADICTS)


def _line(text: str, one: Graded) -> str:
    start = text.rfind("\n", 0, one.mention.start) + 1
    return text[start : one.mention.end] + _rest(text, one)


def _rest(text: str, one: Graded) -> str:
    """The reason that follows a score on its line."""
    return text[one.mention.end :].split("\n", maxsplit=1)[0].strip(" \t-–—:;,.()|\"'")
