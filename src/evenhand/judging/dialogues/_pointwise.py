"""Pointwise: one output, all criteria, red flags and bonuses in one request, or one request for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evenhand.judging._advice import Advice, with_advice
from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._evidence import Item, hold, read_form
from evenhand.judging._form import Group, judged
from evenhand.judging._material import compose, pieces_of, texts_of
from evenhand.judging._prepared import ADVICE, one_by_one, whole
from evenhand.judging._prompts import Prompts
from evenhand.judging._quotes import Quoted
from evenhand.judging._request import Settings
from evenhand.judging._told import Manner, Told
from evenhand.model import Answers, Rubric, Sample, Scored, Unscored

CLAIMS = ("overall", "overall_passed", "overall_band")
# Where a judge that sees merit must show it.
NEED_EVIDENCE = ("checklist", "individual")


def pointwise(rubric: Rubric, sample: Sample, output: str, manner: Manner, *, each: bool = False) -> Dialogue[Told]:
    """Ask for every answer about one output. `each` asks one question per request."""
    questions = questions_about(rubric, sample, output, manner, each=each)
    readings = yield from ask(questions, manner.prompts)
    return told(rubric, sample, output, manner, readings)


def questions_about(
    rubric: Rubric,
    sample: Sample,
    output: str,
    manner: Manner,
    *,
    each: bool = False,
    settings: Settings | None = None,
    repeat: int = 0,
) -> list[Question[Item | Advice]]:
    """The requests about one output, with how to read their replies."""
    prompts = manner.prompts
    name = "pointwise" if rubric.method.dialogue == "listwise" else rubric.method.dialogue
    prepared = one_by_one(rubric, prompts, name) if each else (whole(rubric, prompts, name),)
    text = sample.outputs[output]
    quoted = Quoted(text)
    label = "submission" if name == "individual" else "output"
    pieces = pieces_of(prompts, sample.input, sample.context, sample.reference)
    pieces.append((prompts.say(label), label, text))
    return [
        Question(
            compose(name, part.outline, pieces, manner, settings=settings, repeat=repeat),
            _reader(part.groups, quoted, prompts, name, advises=name == "individual" and not each),
            texts_of(pieces),
        )
        for part in prepared
    ]


def told(
    rubric: Rubric, sample: Sample, output: str, manner: Manner, readings: Sequence[Reading[Item | Advice]]
) -> Told:
    """What the readings say about one output."""
    criteria = {leaf.id: item_of(readings, leaf.id) for leaf in judged(rubric)}
    flags = {one.id: item_of(readings, f"red_flags.{one.id}") for one in rubric.red_flags}
    bonuses = {one.id: item_of(readings, f"bonuses.{one.id}") for one in rubric.bonuses}
    advice = next((reading.items[ADVICE] for reading in readings if ADVICE in reading.items), ())
    missing = [reading.why_not(ADVICE) for reading in readings if ADVICE in reading.faults]
    answers = Answers(
        id=output,
        scores={id: item.score for id, item in criteria.items()},
        red_flags=_found(flags),
        bonuses=_found(bonuses),
        unanswered={id: item.score.why for id, item in (flags | bonuses).items() if isinstance(item.score, Unscored)},
        author=sample.authors.get(output),
        claims=_claims(readings),
        notes=tuple(f"{manner.judge}: no suggestions ({why})" for why in missing),
    )
    judgments = tuple(
        item.judgment(manner.judge, output, id) for group in (criteria, flags, bonuses) for id, item in group.items()
    )
    return Told(answers=answers, judgments=judgments, suggestions=advice if isinstance(advice, tuple) else ())


def item_of(readings: Sequence[Reading[Item | Advice]], name: str) -> Item:
    """An item from whichever reading has it; else the reason why none has."""
    for reading in readings:
        item = reading.items.get(name)
        if isinstance(item, Item):
            return item
    owner = next((one for one in readings if name in one.faults), None) or next(
        (one for one in readings if one.nothing), readings[0]
    )
    return Item(score=Unscored(owner.why_not(name)))


def _reader(
    groups: Sequence[Group], quoted: Quoted, prompts: Prompts, name: str, *, advises: bool
) -> Callable[[str], Reading[Item | Advice]]:
    def read(text: str) -> Reading[Item | Advice]:
        answers, data = read_form(text, groups)
        held = hold(answers, groups, quoted, prompts, needs_evidence=name in NEED_EVIDENCE)
        reading: Reading[Item | Advice] = Reading(items=dict(held.items), faults=held.faults, data=data)
        return with_advice(reading, prompts) if advises else reading

    return read


def _found(items: Mapping[str, Item]) -> dict[str, str]:
    """The statements that are true of the output, each with the judge's reason."""
    return {id: item.reason for id, item in items.items() if isinstance(item.score, Scored) and item.score.value == 1}


def _claims(readings: Sequence[Reading[Item | Advice]]) -> dict[str, object]:
    data = readings[0].data if len(readings) == 1 else None
    return {name: data[name] for name in CLAIMS if name in data} if isinstance(data, dict) else {}
