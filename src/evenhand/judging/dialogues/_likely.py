"""Likely: one question at a time, and the mean over how likely each answer was, where the server tells."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.judging._ask import Dialogue
from evenhand.judging._form import criteria_text, judged, scale_text
from evenhand.judging._material import MARKER, MATERIAL, Outline, compose, pieces_of
from evenhand.judging._prepared import as_criterion
from evenhand.judging._request import NoReply, Place, Reply, Request
from evenhand.judging._told import Manner, Told
from evenhand.judging.dialogues._sampled import from_judgments, mean_of, of_repeat
from evenhand.judging.reading import read_score, refusal_in, without_thinking
from evenhand.model import Answers, Criterion, Judgment, Rubric, Sample, Scale, Scored, Spread, Unscored

MOST_TOKENS_SHOWN = 20
LEAST_MASS = 0.5  # Below it the likely tokens are mostly not answers, and say little about one.
_LEVELS = 21  # A scale with more levels than a server shows tokens has no mean to speak of.


def likely(rubric: Rubric, sample: Sample, output: str, manner: Manner, *, replies: int) -> Dialogue[Told]:
    """Ask each criterion by itself and read the probabilities of the score's tokens.

    Where the server gives none, or they cannot be told apart, that criterion is asked so many times instead.
    """
    criteria = [*judged(rubric), *map(as_criterion, (*rubric.red_flags, *rubric.bonuses))]
    answers = yield tuple(_request(one, sample, output, manner) for one in criteria)
    judgments: dict[int, Judgment] = {}
    for place, (criterion, reply) in enumerate(zip(criteria, answers, strict=True)):
        found = _from_places(criterion, reply, manner)
        if found is not None:
            judgments[place] = _judgment(manner, output, criterion, found, reply)
        elif isinstance(reply, NoReply):
            judgments[place] = _judgment(manner, output, criterion, Unscored(f"judge failed: {reply.why}"), reply)
    rest = [place for place in range(len(criteria)) if place not in judgments]
    if rest:
        again = yield tuple(
            _request(criteria[place], sample, output, manner, repeat)
            for place in rest
            for repeat in range(1, replies + 1)
        )
        for number, place in enumerate(rest):
            own = again[number * replies : (number + 1) * replies]
            judgments[place] = _mean(manner, output, criteria[place], own)
    ordered = [judgments[place] for place in range(len(criteria))]
    scores = {one.criterion: one.score for one in ordered[: len(judged(rubric))]}
    blank = Told(answers=Answers(id=output, scores=scores, author=sample.authors.get(output)), judgments=())
    return from_judgments(rubric, blank, ordered)


def chances(scale: Scale, places: Sequence[Place], line: str) -> dict[Fraction, float] | None:
    """How likely each answer on the scale was, at the place after the last `line`; None where that is not told."""
    place = _answer_place(places, line)
    if place is None or not (scale.integers or scale.yes_no) or scale.max - scale.min >= _LEVELS:
        return None
    words = _words(scale)
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


def _from_places(criterion: Criterion, reply: Reply | NoReply, manner: Manner) -> tuple[Scored, Spread] | None:
    """The mean over the likely answers, where the reply itself says one of them and was not cut off."""
    scale = criterion.scale
    if isinstance(reply, NoReply) or not reply.places or reply.stop == "length":
        return None
    found = chances(scale, reply.places, manner.prompts.say("score"))
    said = read_score(reply.text, scale, criterion.id)
    if not found or not isinstance(said, Scored) or said.value not in found:
        return None
    mass = sum(found.values())
    mean = sum(float(value) * chance for value, chance in found.items()) / mass
    variance = sum((float(value) - mean) ** 2 * chance for value, chance in found.items()) / mass
    exactly = Fraction(f"{min(max(mean, float(scale.min)), float(scale.max)):.6f}")
    return Scored(exactly), Spread(n=1, sd=math.sqrt(variance), how="logprobs")


def _answer_place(places: Sequence[Place], line: str) -> Place | None:
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


def _words(scale: Scale) -> Mapping[str, Fraction]:
    if scale.yes_no:
        return {"yes": Fraction(1), "no": Fraction(0), "是": Fraction(1), "否": Fraction(0)}
    return {str(level): Fraction(level) for level in range(int(scale.min), int(scale.max) + 1)}


def _request(criterion: Criterion, sample: Sample, output: str, manner: Manner, repeat: int = 0) -> Request:
    prompts, text = manner.prompts, sample.outputs[output]
    form = f"{prompts.say('score')}: <{scale_text(criterion.scale, prompts)} | {prompts.say('cannot')}>"
    halves = prompts.fill(
        "sampled", criteria=criteria_text([criterion], prompts), form=form, marker=MARKER, material=MATERIAL
    )
    settings = replace(manner.settings, top_logprobs=MOST_TOKENS_SHOWN)
    if repeat:
        settings = of_repeat(manner.settings, manner.seed, repeat)
    pieces = pieces_of(prompts, sample.input, sample.context, sample.reference)
    pieces.append((prompts.say("output"), "output", text))
    outline = Outline(halves=halves, ids=(criterion.id,))
    return compose("sampled", outline, pieces, manner, settings=settings, repeat=repeat)


def _mean(manner: Manner, output: str, criterion: Criterion, replies: Sequence[Reply | NoReply]) -> Judgment:
    return mean_of([_judgment(manner, output, criterion, _read(criterion, reply), reply) for reply in replies])


def _read(criterion: Criterion, reply: Reply | NoReply) -> Scored | Unscored:
    if isinstance(reply, NoReply):
        return Unscored(f"judge failed: {reply.why}")
    score = read_score(reply.text, criterion.scale, criterion.id)
    if isinstance(score, Unscored) and (refused := refusal_in(reply.text)):
        return Unscored(f"abstained: {refused}")
    return score


def _judgment(
    manner: Manner,
    output: str,
    criterion: Criterion,
    score: Scored | Unscored | tuple[Scored, Spread],
    reply: Reply | NoReply,
) -> Judgment:
    plain, spread = score if isinstance(score, tuple) else (score, None)
    reason = without_thinking(reply.text).strip() if isinstance(reply, Reply) else ""
    if isinstance(plain, Scored):
        plain = replace(plain, why=reason)
    return Judgment(
        judge=manner.judge, output=output, criterion=criterion.id, score=plain, reason=reason, spread=spread
    )
