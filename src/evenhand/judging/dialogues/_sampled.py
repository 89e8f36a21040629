"""Sampled: the same questions several times over, to a mean with its spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import stdev

from evenhand.errors import InputError
from evenhand.judging._ask import Dialogue, ask
from evenhand.judging._request import Settings
from evenhand.judging._told import Manner, Told
from evenhand.judging.dialogues._pointwise import questions_about, told
from evenhand.model import Judgment, Rubric, Sample, Scored, Spread, Unscored

TEMPERATURE = 1.0
LEAST = 2


def sampled(rubric: Rubric, sample: Sample, output: str, manner: Manner, *, replies: int) -> Dialogue[Told]:
    """Ask for every answer about one output so many times; each criterion gets the mean of what could be read."""
    if replies < LEAST:
        raise InputError(f"a mean with a spread takes {LEAST} replies or more, got {replies}")
    questions = [
        question
        for repeat in range(replies)
        for question in questions_about(
            rubric, sample, output, manner, settings=of_repeat(manner.settings, manner.seed, repeat), repeat=repeat
        )
    ]
    readings = yield from ask(questions, manner.prompts)
    return _together(rubric, [told(rubric, sample, output, manner, [reading]) for reading in readings])


def of_repeat(settings: Settings, seed: int, repeat: int) -> Settings:
    """The settings of one repeat: warm enough to differ where nothing else is asked for, and with a seed of its own."""
    temperature = TEMPERATURE if settings.temperature is None else settings.temperature
    return replace(settings, temperature=temperature, seed=seed + repeat)


def mean_of(judgments: Sequence[Judgment]) -> Judgment:
    """Several judgments on one criterion as one: the mean, if more than half of them have a score."""
    scored = [(one, one.score) for one in judgments if isinstance(one.score, Scored)]
    if not 2 * len(scored) > len(judgments):
        whys = list(dict.fromkeys(one.score.why for one in judgments if isinstance(one.score, Unscored)))
        why = f"{len(scored)} of {len(judgments)} replies could be read: {'; '.join(whys)}"
        why = whys[0] if len(whys) == 1 and not scored else why
        return replace(judgments[0], score=Unscored(why), reason="", evidence=())
    values = [score.value for _, score in scored]
    mean = sum(values, Fraction(0)) / len(values)
    nearest = min((one for one, _ in scored), key=lambda one: abs(_value(one) - mean))
    sd = stdev(map(float, values)) if len(values) > 1 else 0.0
    # A mean of bands is a number; it has the band of its replies only where they agree.
    bands = {score.band for _, score in scored}
    score = Scored(mean, bands.pop() if len(bands) == 1 else None, nearest.reason)
    return replace(nearest, score=score, spread=Spread(n=len(values), sd=sd, how="replies"))


def _value(judgment: Judgment) -> Fraction:
    assert isinstance(judgment.score, Scored)
    return judgment.score.value


def _together(rubric: Rubric, several: Sequence[Told]) -> Told:
    first = several[0]
    judgments = [mean_of([one.judgments[place] for one in several]) for place in range(len(first.judgments))]
    return from_judgments(rubric, first, judgments)


def from_judgments(rubric: Rubric, first: Told, judgments: Sequence[Judgment]) -> Told:
    """Answers whose scores are those of the judgments; a statement is found where most say so."""
    count = len(first.answers.scores)
    criteria, statements = judgments[:count], judgments[count:]
    flags = statements[: len(rubric.red_flags)]
    bonuses = statements[len(rubric.red_flags) :]
    answers = replace(
        first.answers,
        scores={one.criterion: one.score for one in criteria},
        red_flags={one.criterion: one.reason for one in flags if _mostly(one)},
        bonuses={one.criterion: one.reason for one in bonuses if _mostly(one)},
        unanswered={one.criterion: one.score.why for one in statements if isinstance(one.score, Unscored)},
        claims={},
    )
    return Told(answers=answers, judgments=tuple(judgments))


def _mostly(judgment: Judgment) -> bool:
    return isinstance(judgment.score, Scored) and judgment.score.value > Fraction(1, 2)
