"""Pointwise: one output, all criteria in one request or one request each, once or several times for a mean with
its spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import stdev

from evenhand.errors import InputError
from evenhand.judging.answer_form import (
    ADVICE_KEY,
    ITEM_PREFIXES,
    NOTES_KEY,
    WHOLE_KEY,
    AnswerGroup,
    list_judged_criteria,
    prepare_criterion_prompts,
    prepare_rubric_prompt,
    tag_sample_for_judge,
)
from evenhand.judging.evidence import (
    FEW_SUGGESTIONS,
    EvidencedJudgment,
    QuotedEvidenceText,
    RevisionAdvice,
    note_few_judge_suggestions,
    pick_severest_reply_suggestions,
    read_form_reply,
    read_judge_suggestions,
    verify_form_evidence,
)
from evenhand.judging.prompts import JudgePrompts, JudgeSetup, compose_judge_request
from evenhand.judging.questions import Dialogue, JudgeQuestion, JudgeReplyReading, ask_judge_questions
from evenhand.judging.results import OutputReview
from evenhand.judging.traces import find_prompt_trace_text, label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing, Scale, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.requests import ModelSettings

OVERALL_CLAIMS = ("overall", "overall_passed", "overall_band")
# Where a judge that sees merit must show it.
NEED_EVIDENCE = ("checklist", "individual")


def ask_judge_pointwise(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, each: bool = False
) -> Dialogue[OutputReview]:
    """Ask for every answer about one output. `each` asks one question per request."""
    questions = build_pointwise_judge_questions(rubric, sample, output, manner, each=each)
    readings = yield from ask_judge_questions(questions, manner.prompts)
    return build_judge_output_review(rubric, sample, output, manner, readings)


def build_pointwise_judge_questions(
    rubric: Rubric,
    sample: Sample,
    output: str,
    manner: JudgeSetup,
    *,
    each: bool = False,
    settings: ModelSettings | None = None,
    repeat: int = 0,
) -> list[JudgeQuestion[EvidencedJudgment | RevisionAdvice]]:
    """The requests about one output, with how to read their replies."""
    prompts = manner.prompts
    name = "pointwise" if rubric.method.dialogue == "listwise" else rubric.method.dialogue
    label = "submission" if name == "individual" else "output"
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    pieces += label_trace_for_prompt(rubric, sample.traces.get(output), prompts) if sample.traces else []
    quoted = QuotedEvidenceText(sample.outputs[output], find_prompt_trace_text(pieces) if sample.traces else "")
    pieces.append((prompts.say(label), label, quoted.text))
    return [
        JudgeQuestion(
            compose_judge_request(name, part.outline, pieces, manner, settings=settings, repeat=repeat),
            partial(_read_pointwise_reply, part.groups, quoted, prompts, name, name == "individual" and not each),
            pieces,
        )
        for part in (prepare_criterion_prompts if each else prepare_rubric_prompt)(rubric, prompts, name)
    ]


def build_judge_output_review(
    rubric: Rubric,
    sample: Sample,
    output: str,
    manner: JudgeSetup,
    readings: Sequence[JudgeReplyReading[EvidencedJudgment | RevisionAdvice]],
) -> OutputReview:
    """What the readings say about one output."""
    found = {
        name: item
        for reading in reversed(readings)
        for name, item in reading.items.items()
        if isinstance(item, EvidencedJudgment)
    }
    criteria = {
        leaf.id: found.get(leaf.id) or _explain_missing_reply(readings, leaf.id)
        for leaf in list_judged_criteria(rubric)
    }
    statements: dict[str, dict[str, EvidencedJudgment]] = {"red_flags": {}, "bonuses": {}}
    true: dict[str, dict[str, str]] = {"red_flags": {}, "bonuses": {}}  # Each with the judge's reason.
    for kind, each in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        for one in each:
            name = ITEM_PREFIXES[kind] + one.id
            item = statements[kind][one.id] = found.get(name) or _explain_missing_reply(readings, name)
            if isinstance(item.score, Scored) and item.score.value == 1:
                true[kind][one.id] = item.reason
    flags, bonuses = statements.values()
    advice, notes = (
        _take_judge_suggestions_from_replies(manner.judge, readings)
        if rubric.method.dialogue == "individual"
        else ((), ())
    )
    data = readings[0].data if len(readings) == 1 else None
    said = data if isinstance(data, dict) else {}
    remark, whole = said.get(NOTES_KEY), said.get(WHOLE_KEY)  # About the output as a whole.
    answers = Answers(
        id=output,
        scores={id: item.score for id, item in criteria.items()},
        red_flags=true["red_flags"],
        bonuses=true["bonuses"],
        unanswered={id: item.score for id, item in (flags | bonuses).items() if isinstance(item.score, Missing)},
        author=sample.authors.get(output),
        claims={name: said[name] for name in OVERALL_CLAIMS if name in said},
        notes=notes,
        remark=" ".join(remark.split()) if isinstance(remark, str) else "",
        whole=None if whole is None or rubric.whole_scale is None else _read_whole_reply(rubric.whole_scale, whole),
    )
    judgments = [
        item.judgment(manner.judge, output, id) for group in (criteria, flags, bonuses) for id, item in group.items()
    ]
    return OutputReview(answers=answers, judgments=tuple(judgments), suggestions=advice)


def _read_whole_reply(scale: Scale, given: object) -> Scored | None:
    """The score for the whole; what is not on its scale is none."""
    given = given.get("score") if isinstance(given, dict) else given
    score = None if given is None else scale.read(given)
    return score if isinstance(score, Scored) else None


def _take_judge_suggestions_from_replies(
    judge: str, readings: Sequence[JudgeReplyReading[EvidencedJudgment | RevisionAdvice]]
) -> tuple[RevisionAdvice, tuple[str, ...]]:
    """The suggestions that were given, and a note where two were to come and did not."""
    keys = (ADVICE_KEY, FEW_SUGGESTIONS)
    given = (reading.items[key] for reading in readings for key in keys if key in reading.items)
    advice = next((one for one in given if isinstance(one, tuple)), ())
    silent = [reading.explain_missing(ADVICE_KEY).text for reading in readings if ADVICE_KEY in reading.faults]
    silent += [reading.unread.text for reading in readings if reading.unread]
    return advice, note_few_judge_suggestions(
        judge, advice, (*silent, "not asked for: each criterion has its own request")[0]
    )


def _explain_missing_reply(
    readings: Sequence[JudgeReplyReading[EvidencedJudgment | RevisionAdvice]], name: str
) -> EvidencedJudgment:
    """Why no reading has an item: its own fault, or that of a reply that was not read."""
    at_fault = [one for one in readings if name in one.faults] or [one for one in readings if one.unread] or readings
    return EvidencedJudgment(score=at_fault[0].explain_missing(name))


def _read_pointwise_reply(
    groups: Sequence[AnswerGroup],
    quoted: QuotedEvidenceText,
    prompts: JudgePrompts,
    name: str,
    advises: bool,
    text: str,
) -> JudgeReplyReading[EvidencedJudgment | RevisionAdvice]:
    answers, data = read_form_reply(text, groups)
    held = verify_form_evidence(answers, groups, quoted, prompts, needs_evidence=name in NEED_EVIDENCE)
    reading: JudgeReplyReading[EvidencedJudgment | RevisionAdvice] = JudgeReplyReading(
        items=dict(held.items), faults=held.faults, data=data
    )
    return read_judge_suggestions(reading, prompts) if advises else reading


SAMPLING_TEMPERATURE = 1.0
LEAST_SAMPLED_REPLIES = 2


def ask_judge_sampled(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, replies: int
) -> Dialogue[OutputReview]:
    """Ask for every answer about one output so many times; each criterion gets the mean of what could be read."""
    if replies < LEAST_SAMPLED_REPLIES:
        raise InputError(f"a mean with a spread takes {LEAST_SAMPLED_REPLIES} replies or more, got {replies}")
    questions = []
    for repeat in range(replies):
        settings = vary_repeated_judge_settings(manner.settings, manner.seed, repeat)
        questions += build_pointwise_judge_questions(rubric, sample, output, manner, settings=settings, repeat=repeat)
    readings = yield from ask_judge_questions(questions, manner.prompts)
    several = [build_judge_output_review(rubric, sample, output, manner, [reading]) for reading in readings]
    judgments = [average_repeated_judgments(given) for given in zip(*(one.judgments for one in several), strict=True)]
    review = build_review_from_judgments(rubric, several[0], judgments)
    advice = pick_severest_reply_suggestions(one for each in several for one in each.suggestions)
    notes = several[0].answers.notes if not advice else note_few_judge_suggestions(manner.judge, advice, "")
    wholes = [one.answers.whole.value for one in several if isinstance(one.answers.whole, Scored)]
    whole = Scored(sum(wholes, Fraction(0)) / len(wholes)) if wholes else None
    return replace(review, answers=replace(review.answers, notes=notes, whole=whole), suggestions=advice)


def vary_repeated_judge_settings(settings: ModelSettings, seed: int, repeat: int) -> ModelSettings:
    """The settings of one repeat: warm enough to differ where nothing else is asked for, and with a seed of its own."""
    temperature = SAMPLING_TEMPERATURE if settings.temperature is None else settings.temperature
    return replace(settings, temperature=temperature, seed=seed + repeat)


def average_repeated_judgments(judgments: Sequence[Judgment]) -> Judgment:
    """Several judgments on one criterion as one: the mean, if more than half of them have a score."""
    scored = [(one, one.score) for one in judgments if isinstance(one.score, Scored)]
    if not 2 * len(scored) > len(judgments):
        return replace(
            judgments[0], score=_explain_unread_replies(judgments), reason="", evidence=(), absent=(), from_trace=()
        )
    values = [score.value for _, score in scored]
    mean = sum(values, Fraction(0)) / len(values)
    nearest, _ = min(scored, key=lambda one: abs(one[1].value - mean))
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


def build_review_from_judgments(rubric: Rubric, first: OutputReview, judgments: Sequence[Judgment]) -> OutputReview:
    """Answers whose scores are those of the judgments; a statement is found where most say so."""
    count = len(first.answers.scores)
    criteria, statements = judgments[:count], judgments[count:]
    flags = len(rubric.red_flags)
    red_flags, bonuses = (
        {one.criterion: one.reason for one in part if isinstance(one.score, Scored) and 2 * one.score.value > 1}
        for part in (statements[:flags], statements[flags:])
    )
    answers = replace(
        first.answers,
        scores={one.criterion: one.score for one in criteria},
        red_flags=red_flags,
        bonuses=bonuses,
        unanswered={one.criterion: one.score for one in statements if isinstance(one.score, Missing)},
        claims={},
    )
    return OutputReview(answers=answers, judgments=tuple(judgments))
