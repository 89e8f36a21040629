"""Scores from log probabilities: one criterion at a time, and the mean over how likely each answer was."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.judging.answer_form import (
    format_criteria_prompt,
    format_scale_prompt,
    list_judged_criteria,
    list_questions_for_judge,
    tag_sample_for_judge,
)
from evenhand.judging.dialogues.pointwise import (
    average_repeated_judgments,
    build_review_from_judgments,
    vary_repeated_judge_settings,
)
from evenhand.judging.prompts import (
    Dialogue,
    JudgeSetup,
    PromptOutline,
    compose_judge_request,
    explain_silent_judge,
)
from evenhand.judging.reading.quoted_material import read_own_score_in_reply
from evenhand.judging.reading.reply_reader import read_reply_score
from evenhand.judging.reading.reply_text import find_judge_refusal, strip_thinking_from_reply
from evenhand.judging.results import OutputReview
from evenhand.judging.traces import label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Criterion, Missing, Scale, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.requests import NoReply, Reply, Request, TokenLogprobs

MOST_TOKENS_SHOWN = 20
LEAST_MASS = 0.5  # Below it the likely tokens are mostly not answers, and say little about one.
_LEVELS = 21  # A scale with more levels than a server shows tokens has no mean to speak of.


def ask_judge_by_logprobs(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, replies: int
) -> Dialogue[OutputReview]:
    """Ask each criterion by itself and read the probabilities of the score's tokens.

    Where the server gives none, or they cannot be told apart, that criterion is asked so many times instead.
    """
    criteria = list_questions_for_judge(rubric)
    shown = (sample.input, sample.context, sample.reference, sample.outputs[output])
    answers = yield tuple(_build_judge_logprobs_prompt(rubric, one, sample, output, manner) for one in criteria)
    judgments: dict[int, Judgment] = {}
    for place, (criterion, reply) in enumerate(zip(criteria, answers, strict=True)):
        found = _read_reply_score_from_logprobs(criterion, reply, manner, shown)
        if found is not None:
            judgments[place] = _build_logprobs_judgment(manner, output, criterion, found, reply)
        elif isinstance(reply, NoReply):
            judgments[place] = _build_logprobs_judgment(manner, output, criterion, explain_silent_judge(reply), reply)
    rest = [place for place in range(len(criteria)) if place not in judgments]
    if rest:
        again = yield tuple(
            _build_judge_logprobs_prompt(rubric, criteria[place], sample, output, manner, repeat)
            for place in rest
            for repeat in range(1, replies + 1)
        )
        for number, place in enumerate(rest):
            one, own = criteria[place], again[number * replies : (number + 1) * replies]
            judgments[place] = average_repeated_judgments(
                [
                    _build_logprobs_judgment(manner, output, one, _read_sampled_reply_score(one, reply, shown), reply)
                    for reply in own
                ]
            )
    ordered = [judgments[place] for place in range(len(criteria))]
    scores = {one.criterion: one.score for one in ordered[: len(list_judged_criteria(rubric))]}
    blank = OutputReview(answers=Answers(id=output, scores=scores, author=sample.authors.get(output)), judgments=())
    return build_review_from_judgments(rubric, blank, ordered)


def read_reply_score_chances(scale: Scale, places: Sequence[TokenLogprobs], line: str) -> dict[Fraction, float] | None:
    """How likely each answer on the scale was, at the place after the last `line`; None where that is not told."""
    place = _find_reply_score_token(places, line)
    if place is None or not (scale.integers or scale.yes_no) or scale.max - scale.min >= _LEVELS:
        return None
    words = {str(level): Fraction(level) for level in range(int(scale.min), int(scale.max) + 1)}
    if scale.yes_no:
        words = {"yes": Fraction(1), "no": Fraction(0), "是": Fraction(1), "否": Fraction(0)}
    tokens: dict[str, float] = {}
    for spelt, logprob in place.likely:
        token = spelt.strip().strip("*\"'").lower()
        tokens[token] = tokens.get(token, 0.0) + math.exp(min(logprob, 0.0))
    found: dict[Fraction, float] = {}
    for token, chance in tokens.items():
        value = words.get(token)
        if value is None:
            continue
        # "1" may be the first half of "10": only a tokenizer that is seen to write it whole tells them apart.
        longer = [word for word in words if word != token and word.startswith(token)]
        if longer and not any(word in tokens for word in longer):
            return None
        found[value] = found.get(value, 0.0) + chance
    return found if sum(found.values()) >= LEAST_MASS else None


def _read_reply_score_from_logprobs(
    criterion: Criterion, reply: Reply | NoReply, manner: JudgeSetup, shown: Sequence[str]
) -> tuple[Scored, AnswerSpread] | None:
    """The mean over the likely answers, where the reply itself says one of them and was not cut off."""
    scale = criterion.scale
    if isinstance(reply, NoReply) or not reply.places or reply.stop == "length":
        return None
    found = read_reply_score_chances(scale, reply.places, manner.prompts.say("score"))
    said = read_own_score_in_reply(
        reply.text, shown, criterion.id, lambda text: read_reply_score(text, scale, criterion.id)
    )
    if not found or not isinstance(said, Scored) or said.value not in found:
        return None
    mass = sum(found.values())
    mean = sum(float(value) * chance for value, chance in found.items()) / mass
    variance = sum((float(value) - mean) ** 2 * chance for value, chance in found.items()) / mass
    exactly = Fraction(f"{min(max(mean, float(scale.min)), float(scale.max)):.6f}")
    return Scored(exactly), AnswerSpread(n=1, sd=math.sqrt(variance), how="logprobs")


def _find_reply_score_token(places: Sequence[TokenLogprobs], line: str) -> TokenLogprobs | None:
    """The place of the answer's first token: the first with something to read after the last "Score:"."""
    text, ends = "", []
    for place in places:
        text += place.token
        ends.append(len(text))
    starts = [found.end() for found in re.finditer(rf"{re.escape(line)}[\s*\"']*[:：]", text, re.IGNORECASE)]
    if not starts:
        return None
    after = [place for place, end in zip(places, ends, strict=True) if end > starts[-1]]
    return next((place for place in after if place.token.strip().strip("*\"'")), None)


def _build_judge_logprobs_prompt(
    rubric: Rubric, criterion: Criterion, sample: Sample, output: str, manner: JudgeSetup, repeat: int = 0
) -> Request:
    prompts, text = manner.prompts, sample.outputs[output]
    form = f"{prompts.say('score')}: <{format_scale_prompt(criterion.scale, prompts)} | {prompts.say('cannot')}>"
    halves = prompts.fill("sampled", criteria=format_criteria_prompt([criterion], prompts), form=form)
    settings = replace(manner.settings, top_logprobs=MOST_TOKENS_SHOWN)
    if repeat:
        settings = vary_repeated_judge_settings(manner.settings, manner.seed, repeat)
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    pieces += label_trace_for_prompt(rubric, sample.traces.get(output), prompts)
    pieces.append((prompts.say("output"), "output", text))
    outline = PromptOutline(halves=halves, ids=(criterion.id,))
    return compose_judge_request("sampled", outline, pieces, manner, settings=settings, repeat=repeat)


def _read_sampled_reply_score(criterion: Criterion, reply: Reply | NoReply, shown: Sequence[str]) -> Scored | Missing:
    if isinstance(reply, NoReply):
        return explain_silent_judge(reply)
    id, scale = criterion.id, criterion.scale
    score = read_own_score_in_reply(reply.text, shown, id, lambda text: read_reply_score(text, scale, id))
    if isinstance(score, Missing) and (refused := find_judge_refusal(reply.text)):
        return Missing("abstained", refused)
    return score


def _build_logprobs_judgment(
    manner: JudgeSetup,
    output: str,
    criterion: Criterion,
    score: Scored | Missing | tuple[Scored, AnswerSpread],
    reply: Reply | NoReply,
) -> Judgment:
    plain, spread = score if isinstance(score, tuple) else (score, None)
    reason = strip_thinking_from_reply(reply.text).strip() if isinstance(reply, Reply) else ""
    if isinstance(plain, Scored):
        plain = replace(plain, why=reason)
    return Judgment(
        judge=manner.judge, output=output, criterion=criterion.id, score=plain, reason=reason, spread=spread
    )
