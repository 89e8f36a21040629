"""Pointwise: one output, all criteria in one request or one request each, once or several times for a mean with
its spread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import stdev

from evenhand.errors import InputError
from evenhand.judging.answer_form import (
    ADVICE_KEY,
    AnswerGroup,
    list_judged_criteria,
    prepare_criterion_prompts,
    prepare_rubric_prompt,
)
from evenhand.judging.evidence import (
    EvidencedAnswer,
    QuotedText,
    RevisionAdvice,
    read_form_reply,
    read_judge_suggestions,
    verify_form_evidence,
)
from evenhand.judging.prompts import (
    JudgeSetup,
    Prompts,
    compose_judge_request,
    label_material_pieces,
)
from evenhand.judging.questions import Dialogue, JudgeQuestion, ReplyReading, ask_questions
from evenhand.judging.results import OutputReview
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.requests import ModelSettings

OVERALL_CLAIMS = ("overall", "overall_passed", "overall_band")
# Where a judge that sees merit must show it.
NEED_EVIDENCE = ("checklist", "individual")


def ask_pointwise(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, each: bool = False
) -> Dialogue[OutputReview]:
    """Ask for every answer about one output. `each` asks one question per request."""
    questions = build_pointwise_questions(rubric, sample, output, manner, each=each)
    readings = yield from ask_questions(questions, manner.prompts)
    return build_output_review(rubric, sample, output, manner, readings)


def build_pointwise_questions(
    rubric: Rubric,
    sample: Sample,
    output: str,
    manner: JudgeSetup,
    *,
    each: bool = False,
    settings: ModelSettings | None = None,
    repeat: int = 0,
) -> list[JudgeQuestion[EvidencedAnswer | RevisionAdvice]]:
    """The requests about one output, with how to read their replies."""
    prompts = manner.prompts
    name = "pointwise" if rubric.method.dialogue == "listwise" else rubric.method.dialogue
    prepared = (
        prepare_criterion_prompts(rubric, prompts, name) if each else (prepare_rubric_prompt(rubric, prompts, name),)
    )
    text = sample.outputs[output]
    quoted = QuotedText(text)
    label = "submission" if name == "individual" else "output"
    pieces = label_material_pieces(prompts, sample.input, sample.context, sample.reference)
    pieces.append((prompts.say(label), label, text))
    return [
        JudgeQuestion(
            compose_judge_request(name, part.outline, pieces, manner, settings=settings, repeat=repeat),
            partial(_read_pointwise_reply, part.groups, quoted, prompts, name, name == "individual" and not each),
            [text for _, _, text in pieces],
        )
        for part in prepared
    ]


def build_output_review(
    rubric: Rubric,
    sample: Sample,
    output: str,
    manner: JudgeSetup,
    readings: Sequence[ReplyReading[EvidencedAnswer | RevisionAdvice]],
) -> OutputReview:
    """What the readings say about one output."""
    criteria = {leaf.id: find_evidenced_answer(readings, leaf.id) for leaf in list_judged_criteria(rubric)}
    flags = {one.id: find_evidenced_answer(readings, f"red_flags.{one.id}") for one in rubric.red_flags}
    bonuses = {one.id: find_evidenced_answer(readings, f"bonuses.{one.id}") for one in rubric.bonuses}
    advice = next((reading.items[ADVICE_KEY] for reading in readings if ADVICE_KEY in reading.items), ())
    missing = [reading.explain_missing(ADVICE_KEY).text for reading in readings if ADVICE_KEY in reading.faults]
    data = readings[0].data if len(readings) == 1 else None
    answers = Answers(
        id=output,
        scores={id: item.score for id, item in criteria.items()},
        red_flags=_list_true_statements(flags),
        bonuses=_list_true_statements(bonuses),
        unanswered={id: item.score for id, item in (flags | bonuses).items() if isinstance(item.score, Missing)},
        author=sample.authors.get(output),
        claims={name: data[name] for name in OVERALL_CLAIMS if name in data} if isinstance(data, dict) else {},
        notes=tuple(f"{manner.judge}: no suggestions ({why})" for why in missing),
    )
    judgments = tuple(
        item.judgment(manner.judge, output, id) for group in (criteria, flags, bonuses) for id, item in group.items()
    )
    return OutputReview(answers=answers, judgments=judgments, suggestions=advice if isinstance(advice, tuple) else ())


def find_evidenced_answer(
    readings: Sequence[ReplyReading[EvidencedAnswer | RevisionAdvice]], name: str
) -> EvidencedAnswer:
    """An item from whichever reading has it; else the reason why none has."""
    for reading in readings:
        item = reading.items.get(name)
        if isinstance(item, EvidencedAnswer):
            return item
    owner = next((one for one in readings if name in one.faults), None) or next(
        (one for one in readings if one.unread), readings[0]
    )
    return EvidencedAnswer(score=owner.explain_missing(name))


def _read_pointwise_reply(
    groups: Sequence[AnswerGroup], quoted: QuotedText, prompts: Prompts, name: str, advises: bool, text: str
) -> ReplyReading[EvidencedAnswer | RevisionAdvice]:
    answers, data = read_form_reply(text, groups)
    held = verify_form_evidence(answers, groups, quoted, prompts, needs_evidence=name in NEED_EVIDENCE)
    reading: ReplyReading[EvidencedAnswer | RevisionAdvice] = ReplyReading(
        items=dict(held.items), faults=held.faults, data=data
    )
    return read_judge_suggestions(reading, prompts) if advises else reading


def _list_true_statements(items: Mapping[str, EvidencedAnswer]) -> dict[str, str]:
    """The statements that are true of the output, each with the judge's reason."""
    return {id: item.reason for id, item in items.items() if isinstance(item.score, Scored) and item.score.value == 1}


SAMPLING_TEMPERATURE = 1.0
LEAST_SAMPLED_REPLIES = 2


def ask_sampled(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, replies: int
) -> Dialogue[OutputReview]:
    """Ask for every answer about one output so many times; each criterion gets the mean of what could be read."""
    if replies < LEAST_SAMPLED_REPLIES:
        raise InputError(f"a mean with a spread takes {LEAST_SAMPLED_REPLIES} replies or more, got {replies}")
    questions = [
        question
        for repeat in range(replies)
        for question in build_pointwise_questions(
            rubric,
            sample,
            output,
            manner,
            settings=vary_repeat_settings(manner.settings, manner.seed, repeat),
            repeat=repeat,
        )
    ]
    readings = yield from ask_questions(questions, manner.prompts)
    return _average_judge_replies(
        rubric, [build_output_review(rubric, sample, output, manner, [reading]) for reading in readings]
    )


def vary_repeat_settings(settings: ModelSettings, seed: int, repeat: int) -> ModelSettings:
    """The settings of one repeat: warm enough to differ where nothing else is asked for, and with a seed of its own."""
    temperature = SAMPLING_TEMPERATURE if settings.temperature is None else settings.temperature
    return replace(settings, temperature=temperature, seed=seed + repeat)


def average_judgments(judgments: Sequence[Judgment]) -> Judgment:
    """Several judgments on one criterion as one: the mean, if more than half of them have a score."""
    scored = [(one, one.score) for one in judgments if isinstance(one.score, Scored)]
    if not 2 * len(scored) > len(judgments):
        return replace(judgments[0], score=_explain_unread_replies(judgments), reason="", evidence=())
    values = [score.value for _, score in scored]
    mean = sum(values, Fraction(0)) / len(values)
    nearest = min((one for one, _ in scored), key=lambda one: abs(_get_judge_answer_value(one) - mean))
    sd = stdev(map(float, values)) if len(values) > 1 else 0.0
    # A mean of bands is a number; it has the band of its replies only where they agree.
    bands = {score.band for _, score in scored}
    score = Scored(mean, bands.pop() if len(bands) == 1 else None, nearest.reason)
    return replace(nearest, score=score, spread=AnswerSpread(n=len(values), sd=sd, how="replies"))


def _explain_unread_replies(judgments: Sequence[Judgment]) -> Missing:
    """The one reason that all replies share, or every reason and how many replies have a score."""
    missing = [one.score for one in judgments if isinstance(one.score, Missing)]
    reasons = list(dict.fromkeys(missing))
    if len(reasons) == 1 and len(missing) == len(judgments):
        return reasons[0]
    told = "; ".join(one.text for one in reasons)
    return Missing("failed", f"{len(judgments) - len(missing)} of {len(judgments)} replies could be read: {told}")


def _get_judge_answer_value(judgment: Judgment) -> Fraction:
    assert isinstance(judgment.score, Scored)
    return judgment.score.value


def _average_judge_replies(rubric: Rubric, several: Sequence[OutputReview]) -> OutputReview:
    first = several[0]
    judgments = [average_judgments([one.judgments[place] for one in several]) for place in range(len(first.judgments))]
    return build_review_from_judgments(rubric, first, judgments)


def build_review_from_judgments(rubric: Rubric, first: OutputReview, judgments: Sequence[Judgment]) -> OutputReview:
    """Answers whose scores are those of the judgments; a statement is found where most say so."""
    count = len(first.answers.scores)
    criteria, statements = judgments[:count], judgments[count:]
    flags = statements[: len(rubric.red_flags)]
    bonuses = statements[len(rubric.red_flags) :]
    answers = replace(
        first.answers,
        scores={one.criterion: one.score for one in criteria},
        red_flags={one.criterion: one.reason for one in flags if _is_mostly_true(one)},
        bonuses={one.criterion: one.reason for one in bonuses if _is_mostly_true(one)},
        unanswered={one.criterion: one.score for one in statements if isinstance(one.score, Missing)},
        claims={},
    )
    return OutputReview(answers=answers, judgments=tuple(judgments))


def _is_mostly_true(judgment: Judgment) -> bool:
    return isinstance(judgment.score, Scored) and judgment.score.value > Fraction(1, 2)
