"""Listwise: one reviewer reads every response to a question, anonymous and in an order of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from evenhand.judging._advice import Advice
from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._evidence import Item, hold, read_part
from evenhand.judging._form import Group
from evenhand.judging._labels import label_in, letters, shuffled, under, under_labels
from evenhand.judging._material import compose, pieces_of, texts_of
from evenhand.judging._prepared import listed
from evenhand.judging._prompts import Prompts
from evenhand.judging._quotes import Quoted
from evenhand.judging._told import Manner, Reviewed, Told
from evenhand.judging.dialogues._pointwise import told
from evenhand.model import Rubric, Sample, Scale, Scored, Unscored

WHOLE = "holistic"
WORDS_FOR_WHOLE = (WHOLE, "overall", "score", "rating", "total")


def listwise(rubric: Rubric, sample: Sample, outputs: Sequence[str], manner: Manner) -> Dialogue[Reviewed]:
    """Ask one reviewer about several outputs in one request."""
    order = shuffled(outputs, manner.seed, manner.judge, sample.id)
    shown = dict(zip(letters(len(order)), order, strict=True))
    (reading,) = yield from ask([_question(rubric, sample, shown, manner)], manner.prompts)
    each = {output: _of_one(rubric, sample, label, output, manner, reading) for label, output in shown.items()}
    refused = reading.nothing.startswith("abstained")
    return Reviewed(
        told=tuple(each[output] for output in outputs),
        order=tuple(order),
        ranking=_ranking(reading.data, shown),
        abstained=reading.nothing.removeprefix("abstained: ") if refused else None,
    )


def _question(rubric: Rubric, sample: Sample, shown: Mapping[str, str], manner: Manner) -> Question[Item | Advice]:
    prompts, labels = manner.prompts, tuple(shown)
    part = listed(rubric, prompts, labels)
    pieces = pieces_of(prompts, sample.input, sample.context, sample.reference)
    pieces += [
        (prompts.say("response", letter=label), f"response-{label}", sample.outputs[output])
        for label, output in shown.items()
    ]
    request = compose("listwise", part.outline, pieces, manner)
    texts = {label: Quoted(sample.outputs[output]) for label, output in shown.items()}
    return Question(request, _reader(texts, part.groups, prompts, rubric.method.holistic), texts_of(pieces))


def _reader(
    texts: Mapping[str, Quoted], groups: Sequence[Group], prompts: Prompts, holistic: Scale | None
) -> Callable[[str], Reading[Item | Advice]]:
    def read(text: str) -> Reading[Item | Advice]:
        found, data = under_labels(text, tuple(texts), prompts.phrases["response"])
        items: dict[str, Item | Advice] = {}
        faults: dict[str, str] = {}
        for label, quoted in texts.items():
            answers = read_part(found.get(label), groups)
            held = hold(answers, groups, quoted, prompts, needs_evidence=False)
            items |= {f"{label}/{name}": item for name, item in held.items.items()}
            faults |= {f"{label}/{name}": fault for name, fault in held.faults.items()}
            whole = _whole(found.get(label), holistic)
            if whole and not answers:
                items[f"{label}/{WHOLE}"] = Item(score=whole)
        return Reading(items=items, faults=faults, data=data)

    return read


def _whole(said: object, scale: Scale | None) -> Scored | None:
    """A score for the whole output, where the method takes one."""
    if isinstance(said, dict):
        said = next((said[word] for word in WORDS_FOR_WHOLE if word in said), None)
    score = scale.read(said) if scale and said is not None and not isinstance(said, (dict, str)) else None
    return score if isinstance(score, Scored) else None


def _of_one(
    rubric: Rubric, sample: Sample, label: str, output: str, manner: Manner, reading: Reading[Item | Advice]
) -> Told:
    """What the reading says about one output, the label taken off."""
    start = f"{label}/"
    own: Reading[Item | Advice] = Reading(
        items={name.removeprefix(start): item for name, item in reading.items.items() if name.startswith(start)},
        faults={name.removeprefix(start): why for name, why in reading.faults.items() if name.startswith(start)},
        nothing=reading.nothing,
        data=_entry(reading.data, label),
    )
    result = told(rubric, sample, output, manner, [own])
    whole = own.items.get(WHOLE)
    # Once a reviewer has said anything by the rubric, also that it cannot, a score for the whole no longer stands in.
    if isinstance(whole, Item) and len(own.items) == 1 and not isinstance(whole.score, Unscored):
        answers = replace(result.answers, holistic=whole.score)
        return replace(result, answers=answers)
    return result


def _entry(data: object, label: str) -> object:
    return under(data, [label]).get(label)


def _ranking(data: object, shown: Mapping[str, str]) -> tuple[str, ...] | None:
    """The reviewer's own list, kept as a claim."""
    given = data.get("ranking") if isinstance(data, dict) else None
    if not isinstance(given, list):
        return None
    names = [shown.get(label_in(entry)) for entry in given if isinstance(entry, str)]
    return tuple(name for name in names if name) or None
