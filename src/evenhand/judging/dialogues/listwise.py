"""Several outputs in one question. Listwise: one judge reads every output of a sample, anonymous under letters and in
an order of its own. Pairwise: which of two outputs is better, asked in both orders, so that a position wins nothing.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice, product
from string import ascii_uppercase

from evenhand.files.parsing import DuplicateKeyJsonObject
from evenhand.judging.answer_form import (
    CANNOT_ASSESS,
    TEXT_SCHEMA,
    AnswerSchema,
    build_reply_schema,
    format_criteria_prompt,
    list_judged_criteria,
    prepare_rubric_prompt,
    tag_sample_for_judge,
)
from evenhand.judging.dialogues.pointwise import build_judge_output_review
from evenhand.judging.evidence import (
    EvidencedJudgment,
    QuotedEvidenceText,
    RevisionAdvice,
    read_reply_form_part,
    verify_form_evidence,
)
from evenhand.judging.prompts import JudgeSetup, PromptOutline, compose_judge_request
from evenhand.judging.questions import Dialogue, JudgeQuestion, JudgeReplyReading, ask_judge_questions
from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_text import find_json_values_in_reply, split_reply_sections
from evenhand.judging.results import ListwiseReview, OutputReview, Preference
from evenhand.judging.traces import find_prompt_trace_text, label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing, Scale, Scored

HOLISTIC = "holistic"
HOLISTIC_KEYS = (HOLISTIC, "overall", "score", "rating", "total")


def ask_judge_listwise(
    rubric: Rubric, sample: Sample, outputs: Sequence[str], manner: JudgeSetup
) -> Dialogue[ListwiseReview]:
    """Ask one reviewer about several outputs in one request, in the order that a panel gave it, or one of its own."""
    order = manner.order or shuffle_outputs_for_judge(outputs, manner.seed, manner.judge, sample.id)
    shown = dict(zip(make_output_letters_for_judge(len(order)), order, strict=True))
    (reading,) = yield from ask_judge_questions(
        [_build_listwise_judge_question(rubric, sample, shown, manner)], manner.prompts
    )
    each = {
        output: _make_listwise_judge_review(rubric, sample, label, output, manner, reading)
        for label, output in shown.items()
    }
    unread = reading.unread
    return ListwiseReview(
        reviews=tuple(each[output] for output in outputs),
        order=tuple(order),
        ranking=_read_ranking_in_reply(reading.data, shown),
        abstained=unread.why if unread and unread.kind == "abstained" else None,
    )


def _build_listwise_judge_question(
    rubric: Rubric, sample: Sample, shown: Mapping[str, str], manner: JudgeSetup
) -> JudgeQuestion[EvidencedJudgment | RevisionAdvice]:
    prompts, labels = manner.prompts, tuple(shown)
    (part,) = prepare_rubric_prompt(rubric, prompts, "listwise", labels)
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    for label, output in shown.items():
        pieces += label_trace_for_prompt(rubric, sample.traces.get(output), prompts, label)
        pieces.append((prompts.say("response", letter=label), f"response-{label}", sample.outputs[output]))
    texts = {
        label: QuotedEvidenceText(sample.outputs[output], find_prompt_trace_text(pieces, label))
        for label, output in shown.items()
    }

    def read(text: str) -> JudgeReplyReading[EvidencedJudgment | RevisionAdvice]:
        found, data = read_reply_under_letters(text, labels, prompts.phrases["response"])
        items: dict[str, EvidencedJudgment | RevisionAdvice] = {}
        faults: dict[str, Missing] = {}
        for label, quoted in texts.items():
            answers = read_reply_form_part(found.get(label), part.groups)
            held = verify_form_evidence(answers, part.groups, quoted, prompts, needs_evidence=False)
            items |= {f"{label}/{name}": item for name, item in held.items.items()}
            faults |= {f"{label}/{name}": fault for name, fault in held.faults.items()}
            whole = _read_holistic_reply_score(found.get(label), rubric.method.holistic)
            if whole and not answers:
                items[f"{label}/{HOLISTIC}"] = EvidencedJudgment(score=whole)
        return JudgeReplyReading(items=items, faults=faults, data=data)

    return JudgeQuestion(compose_judge_request("listwise", part.outline, pieces, manner), read, pieces)


def _read_holistic_reply_score(said: object, scale: Scale | None) -> Scored | None:
    """A score for the whole output, where the method takes one."""
    if isinstance(said, dict):
        said = next((said[word] for word in HOLISTIC_KEYS if word in said), None)
    score = scale.read(said) if scale and said is not None and not isinstance(said, (dict, str)) else None
    return score if isinstance(score, Scored) else None


def _make_listwise_judge_review(
    rubric: Rubric,
    sample: Sample,
    label: str,
    output: str,
    manner: JudgeSetup,
    reading: JudgeReplyReading[EvidencedJudgment | RevisionAdvice],
) -> OutputReview:
    """What the reading says about one output, the label taken off."""
    start = f"{label}/"
    own: JudgeReplyReading[EvidencedJudgment | RevisionAdvice] = JudgeReplyReading(
        items={name.removeprefix(start): item for name, item in reading.items.items() if name.startswith(start)},
        faults={name.removeprefix(start): why for name, why in reading.faults.items() if name.startswith(start)},
        unread=reading.unread,
        data=find_in_reply_under_letters(reading.data, [label]).get(label),
    )
    result = build_judge_output_review(rubric, sample, output, manner, [own])
    whole = own.items.get(HOLISTIC)
    # Once a reviewer has said anything by the rubric, also that it cannot, a score for the whole no longer stands in.
    if isinstance(whole, EvidencedJudgment) and len(own.items) == 1 and not isinstance(whole.score, Missing):
        return replace(result, answers=replace(result.answers, holistic=whole.score))
    return result


def _read_ranking_in_reply(data: object, shown: Mapping[str, str]) -> tuple[str, ...] | None:
    """The reviewer's own list, kept as a claim."""
    given = data.get("ranking") if isinstance(data, dict) else None
    if not isinstance(given, list):
        return None
    names = [shown.get(parse_judge_reply_label(entry)) for entry in given if isinstance(entry, str)]
    return tuple(name for name in names if name) or None


# "A", "Response A", "response_a", "ResponseA", "回答A"; "responses" is no label S.
_LABEL = re.compile(
    r"""[\s"'(\[*]*
        (?:(?i:response|submission|output|answer|candidate)(?:[\s_\-:#]+|(?=[A-Z])) | (?:回答|提交|回复)\s*)?
        (?P<letters>[A-Za-z]{1,2}) [\s"')\]*:.]*""",
    re.VERBOSE,
)
# Where answers about each output may stand, beside the top; a list of places or counts is none.
_HOLDERS = ("responses", "evaluations", "scores", "ratings", "results", "reviews", "submissions", "outputs", "answers")


def shuffle_outputs_for_judge(names: Sequence[str], seed: int, *who: str) -> list[str]:
    """The names in an order that only the seed and who asks decide."""
    order = list(names)
    random.Random("/".join((str(seed), *who))).shuffle(order)
    return order


def balance_orders_of_judges(
    outputs: Mapping[str, Sequence[str]], seed: int, sample: str
) -> dict[str, tuple[str, ...]]:
    """By judge the order of its outputs, so that each output has each place equally often, as far as numbers allow.

    The first judge's order is shuffled; each judge after it takes that order turned, or turned and reversed, where its
    outputs share fewest places with those before: a further judge changes no order of others.
    """
    if not outputs:
        return {}
    (first, shown), *_ = outputs.items()
    base = shuffle_outputs_for_judge(shown, seed, first, sample)
    base += [name for name in dict.fromkeys(chain.from_iterable(outputs.values())) if name not in base]
    seats: Counter[tuple[int, str]] = Counter()
    orders: dict[str, tuple[str, ...]] = {}
    for judge, names in outputs.items():
        own = [name for name in base if name in names]
        turned = [tuple(one[place:] + one[:place]) for one in (own, own[::-1]) for place in range(len(own))]
        taken = Counter(orders.values())
        orders[judge] = min(turned, key=lambda order: (sum(seats[seat] for seat in enumerate(order)), taken[order]))
        seats.update(enumerate(orders[judge]))
    return orders


def make_output_letters_for_judge(number: int) -> tuple[str, ...]:
    """A, B, C … Z, AA, AB …"""
    words = ("".join(parts) for length in count(1) for parts in product(ascii_uppercase, repeat=length))
    return tuple(islice(words, number))


def read_reply_under_letters(text: str, labels: Sequence[str], heading: str) -> tuple[dict[str, object], object]:
    """What stands under each label, and the JSON it was found in; without JSON, the section of prose under its heading.

    The last complete value with most of the labels binds; one that breaks off only where no complete one has any.
    """
    found = [
        (said, value)
        for value in reversed(find_json_values_in_reply(text))
        if (said := find_in_reply_under_letters(value.data, labels))
    ]
    if found:
        best, bound = max(found, key=lambda one: (one[1].complete, len(one[0])))
        later = [other for other, value in found if value.complete and value.start > bound.start]
        unclear = {label for other in later for label, said in other.items() if best.get(label, said) != said}
        return {label: said for label, said in best.items() if label not in unclear}, bound.data
    headings = {heading.format(letter=label): label for label in labels}
    return {headings[name]: section for name, section in split_reply_sections(text, list(headings)).items()}, None


def find_in_reply_under_letters(data: object, labels: Sequence[str]) -> dict[str, object]:
    """What an object says of each label: at its top, or under a key that holds answers."""
    places = [data]
    if isinstance(data, dict):
        places += [data[key] for key in data if isinstance(key, str) and key.strip().lower() in _HOLDERS]
    found = [_find_listwise_reply_entries(place, labels) for place in places]
    # Objects are answers; bare numbers are at most a score for the whole.
    return max(found, key=lambda one: (sum(isinstance(said, dict) for said in one.values()), len(one)), default={})


def _find_listwise_reply_entries(data: object, labels: Sequence[str]) -> dict[str, object]:
    """The entries whose names are labels; one that is named twice with different answers is left out."""
    named: dict[str, list[object]] = {}
    if isinstance(data, dict):
        twice = data.twice if isinstance(data, DuplicateKeyJsonObject) else {}
        for key, said in data.items():
            named.setdefault(parse_judge_reply_label(str(key)), []).extend(twice.get(key, [said]))
    elif isinstance(data, list):
        for entry in data:
            if isinstance(entry, dict):
                given = (entry.get(key) for key in ("label", "response", "submission", "id", "name"))
                name = next((one for one in given if isinstance(one, str)), "")
                named.setdefault(parse_judge_reply_label(name), []).append(entry)
    known = {label: named[label] for label in labels if label in named}
    return {label: said[0] for label, said in known.items() if all(one == said[0] for one in said)}


def parse_judge_reply_label(text: str) -> str:
    """The letter in a name such as "Response A"; empty where it is no such name."""
    found = _LABEL.fullmatch(text)
    return found["letters"].upper() if found else ""


WINNER = "winner"
TIE = "tie"
LABELS = ("A", "B")
CHOICES = {
    **{label: (label, f"Response {label}", f"Output {label}", f"回答 {label}") for label in LABELS},
    TIE: (TIE, "equal", "neither", "both", "平局", "一样好"),
    CANNOT_ASSESS: (CANNOT_ASSESS, "cannot_assess", "unable to assess", "无法评估", "无法判断"),
}


@dataclass(frozen=True, slots=True)
class PairwiseChoice:
    """What a judge chose, and why."""

    label: str
    reason: str


def ask_judge_pairwise(
    rubric: Rubric, sample: Sample, first: str, second: str, manner: JudgeSetup
) -> Dialogue[Preference]:
    """Ask which of two outputs is better, once with each of them first.

    A judge that names the same place both times follows the place: a tie, counted as position bias.
    """
    orders = ((first, second), (second, first))
    questions = [_build_pairwise_judge_question(rubric, sample, order, manner) for order in orders]
    readings = yield from ask_judge_questions(questions, manner.prompts)
    votes = [_read_pairwise_judge_vote(reading, order) for reading, order in zip(readings, orders, strict=True)]
    missing = [vote.text for vote in votes if isinstance(vote, Missing)]
    names = tuple(vote if isinstance(vote, str) else None for vote in votes)
    decided = not missing and names[0] == names[1]
    return Preference(
        judge=manner.judge,
        first=first,
        second=second,
        winner=names[0] if decided and names[0] != TIE else None,
        votes=(names[0], names[1]),
        position_bias=not missing and set(names) == {first, second},
        reasons=tuple(reading.items[WINNER].reason for reading in readings if WINNER in reading.items),
        why_not="; ".join(dict.fromkeys(missing)),
    )


def _build_pairwise_judge_question(
    rubric: Rubric, sample: Sample, order: tuple[str, str], manner: JudgeSetup
) -> JudgeQuestion[PairwiseChoice]:
    prompts = manner.prompts
    criteria = format_criteria_prompt(list_judged_criteria(rubric), prompts)
    words = [*LABELS, prompts.say("tie"), prompts.say("cannot")]
    blank = " | ".join(f'"{word}"' for word in words)
    form = f'{{"reason": "…", "{WINNER}": <{blank}>}}'
    schema: AnswerSchema = build_reply_schema({"reason": TEXT_SCHEMA, WINNER: {"type": "string", "enum": words}})
    halves = prompts.fill("pairwise", criteria=criteria, form=form)
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    for label, name in zip(LABELS, order, strict=True):
        pieces += label_trace_for_prompt(rubric, sample.traces.get(name), prompts, label)
        pieces.append((prompts.say("response", letter=label), f"response-{label}", sample.outputs[name]))
    outline = PromptOutline(halves=halves, ids=(WINNER,), schema=schema, labels=LABELS)
    return JudgeQuestion(
        compose_judge_request("pairwise", outline, pieces, manner), _read_pairwise_reply_choice, pieces
    )


def _read_pairwise_reply_choice(text: str) -> JudgeReplyReading[PairwiseChoice]:
    choice = read_reply_choice(text, CHOICES)
    if isinstance(choice, Missing):
        return JudgeReplyReading(faults={WINNER: choice})
    objects = [
        value.data for value in find_json_values_in_reply(text) if isinstance(value.data, dict) and WINNER in value.data
    ]
    data = objects[-1] if objects else {}
    return JudgeReplyReading(items={WINNER: PairwiseChoice(choice, str(data.get("reason", "")))}, data=data or None)


def _read_pairwise_judge_vote(reading: JudgeReplyReading[PairwiseChoice], order: tuple[str, str]) -> str | Missing:
    """The name of the output that was chosen, a tie, or why there is no choice."""
    choice = reading.items.get(WINNER)
    if choice is None:
        return reading.explain_missing(WINNER)
    if choice.label == CANNOT_ASSESS:
        return Missing("abstained", choice.reason or CANNOT_ASSESS)
    return dict(zip(LABELS, order, strict=True)).get(choice.label, TIE)
