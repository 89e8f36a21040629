"""Horizontal scoring: submissions side by side, one dimension at a time, anonymous, from where each stood alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._evidence import Item, held
from evenhand.judging._form import Group, answer_schema, answers_text, bands_text, closed, criteria_text, judged
from evenhand.judging._labels import letters, shuffled, under_labels
from evenhand.judging._material import MARKER, MATERIAL, Outline, Piece, compose, pieces_of, texts_of
from evenhand.judging._prompts import Prompts
from evenhand.judging._quotes import Quoted
from evenhand.judging._told import Manner, Told
from evenhand.judging.reading import Wanted, answers_from
from evenhand.model import Answers, Criterion, Judgment, Rubric, Scored, Unscored

MOST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """A submission with what it was judged to be on its own."""

    id: str
    text: str
    judgments: Mapping[str, Judgment]  # By dimension.


def horizontal(
    rubric: Rubric, task: str, submissions: Sequence[Anchored], manner: Manner
) -> Dialogue[tuple[Told, ...]]:
    """Score at most three submissions against each other: one request per dimension, all at once."""
    if len(submissions) > MOST:
        raise InputError(f"at most {MOST} submissions are compared side by side, got {len(submissions)}")
    texts = {one.id: one for one in submissions}
    order = shown_order(list(texts), manner)
    shown = {label: texts[id] for label, id in zip(letters(len(order)), order, strict=True)}
    dimensions = judged(rubric)
    questions = [_question(rubric, criterion, task, shown, manner) for criterion in dimensions]
    readings = yield from ask(questions, manner.prompts)
    labels = {one.id: label for label, one in shown.items()}
    return tuple(_of_one(one.id, labels[one.id], dimensions, readings, manner) for one in submissions)


def shown_order(ids: Sequence[str], manner: Manner) -> list[str]:
    """Who is A, B and C to a judge: the seed and the judge decide, the same for every dimension."""
    return shuffled(ids, manner.seed, manner.judge, "horizontal")


def _question(
    rubric: Rubric, criterion: Criterion, task: str, shown: Mapping[str, Anchored], manner: Manner
) -> Question[Item]:
    prompts, labels = manner.prompts, tuple(shown)
    group = Group("submissions", tuple(Wanted(label, criterion.scale) for label in labels))
    halves = prompts.fill(
        "horizontal",
        criteria=criteria_text([criterion], prompts),
        bands=bands_text(criterion.scale, rubric, prompts),
        form='{\n  "submissions": {\n' + answers_text(group, prompts, "    ") + "\n  }\n}",
        marker=MARKER,
        material=MATERIAL,
    )
    schema = closed({"submissions": closed(dict.fromkeys(labels, answer_schema(criterion.scale)))})
    pieces = pieces_of(prompts, task)
    for label, one in shown.items():
        pieces += _pieces(label, one, criterion.id, prompts)
    outline = Outline(halves=halves, ids=(criterion.id,), schema=schema, labels=labels)
    texts = {label: Quoted(one.text) for label, one in shown.items()}
    return Question(
        compose("horizontal", outline, pieces, manner), _reader(texts, criterion, prompts), texts_of(pieces)
    )


def _pieces(label: str, one: Anchored, dimension: str, prompts: Prompts) -> list[Piece]:
    """The submission, and where it stood alone: the passage is the author's text, so it goes inside the fence too."""
    pieces = [(prompts.say("candidate", letter=label), f"submission-{label}", one.text)]
    alone = one.judgments.get(dimension)
    if alone is not None and isinstance(alone.score, Scored):
        passage = "\n".join(quote.text for quote in alone.evidence)
        pieces.append((prompts.say("anchor", band=alone.score.band), f"submission-{label}-alone", passage))
    return pieces


def _reader(texts: Mapping[str, Quoted], criterion: Criterion, prompts: Prompts) -> Callable[[str], Reading[Item]]:
    def read(reply: str) -> Reading[Item]:
        found, data = under_labels(reply, tuple(texts), prompts.phrases["candidate"])
        items: dict[str, Item] = {}
        faults: dict[str, str] = {}
        for label, text in texts.items():
            said = answers_from({criterion.id: found.get(label)}, [Wanted(criterion.id, criterion.scale)])
            if criterion.id not in said:
                faults[label] = prompts.say("missing")
                continue
            item = held(said[criterion.id], text, prompts, needed=True)
            if isinstance(item, Item):
                items[label] = item
            else:
                faults[label] = item
        return Reading(items=items, faults=faults, data=data)

    return read


def _of_one(
    id: str, label: str, dimensions: Sequence[Criterion], readings: Sequence[Reading[Item]], manner: Manner
) -> Told:
    items = {
        criterion.id: reading.items.get(label) or Item(score=Unscored(reading.why_not(label)))
        for criterion, reading in zip(dimensions, readings, strict=True)
    }
    return Told(
        answers=Answers(id=id, scores={name: item.score for name, item in items.items()}),
        judgments=tuple(item.judgment(manner.judge, id, name) for name, item in items.items()),
    )
