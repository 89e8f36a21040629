"""Odds: one question of one token at a time, answered by how much likelier yes is than no."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from evenhand.judging._ask import Dialogue
from evenhand.judging._form import CANNOT, judged
from evenhand.judging._material import MARKER, MATERIAL, Outline, Piece, compose, pieces_of
from evenhand.judging._prepared import as_criterion
from evenhand.judging._request import Request
from evenhand.judging._told import Manner, Told
from evenhand.judging.dialogues._leaning import Calibration, calibrated, known_questions, leaning_of
from evenhand.judging.dialogues._likely import MOST_TOKENS_SHOWN
from evenhand.judging.dialogues._sampled import from_judgments
from evenhand.model import Anchor, Answers, Criterion, Judgment, Rubric, Sample, Scored, Spread, Unscored, written


@dataclass(frozen=True, slots=True)
class _Answered:
    """A score, what it rests on, and how sure it is."""

    score: Scored | Unscored
    reason: str = ""
    sd: float | None = None


def odds(rubric: Rubric, sample: Sample, output: str, manner: Manner) -> Dialogue[Told]:
    """Ask each criterion as questions of yes or no. A scale is asked by its anchors, from low to high.

    Questions with known answers go first: they show how readily this model says yes.
    """
    criteria = [*judged(rubric), *map(as_criterion, (*rubric.red_flags, *rubric.bonuses))]
    asked = [list(_questions(criterion, manner)) for criterion in criteria]
    known = known_questions(manner.prompts) if any(asked) else ()
    pieces = pieces_of(manner.prompts, sample.input, sample.context, sample.reference)
    pieces.append((manner.prompts.say("output"), "output", sample.outputs[output]))
    requests = [_request(_met(one.asks, manner), _alone(one.text, manner), manner) for one in known]
    requests += [
        _request(question, pieces, manner, criterion.id)
        for criterion, questions in zip(criteria, asked, strict=True)
        for question in questions
    ]
    leanings = list(map(leaning_of, (yield tuple(requests))))
    rule = calibrated([one.answer for one in known], leanings[: len(known)])
    told, rest = [], iter(leanings[len(known) :])
    for criterion, questions in zip(criteria, asked, strict=True):
        answered = _answered(criterion, [next(rest) for _ in questions], rule)
        told.append(_judgment(manner, output, criterion, answered))
    scores = {one.criterion: one.score for one in told[: len(judged(rubric))]}
    blank = Told(answers=Answers(id=output, scores=scores, author=sample.authors.get(output)), judgments=())
    return from_judgments(rubric, blank, told)


def _questions(criterion: Criterion, manner: Manner) -> Iterator[str]:
    """What is asked: whether it is met, or whether each level above the lowest is reached."""
    if criterion.scale.yes_no:
        yield _met(criterion.asks, manner)
        return
    for anchor in _levels(criterion)[1:]:
        yield manner.prompts.fill("odds-level", asks=criterion.asks, level=anchor.text)[0]


def _levels(criterion: Criterion) -> list[Anchor]:
    return sorted(criterion.anchors, key=lambda anchor: (anchor.min, anchor.max))


def _met(asks: str, manner: Manner) -> str:
    return manner.prompts.fill("odds-met", asks=asks)[0]


def _alone(text: str, manner: Manner) -> list[Piece]:
    return [(manner.prompts.say("output"), "output", text)]


def _request(question: str, pieces: Sequence[Piece], manner: Manner, *ids: str) -> Request:
    """The material first and the question last: what comes before the question is read once for all of them."""
    halves = manner.prompts.fill("odds", question=question, marker=MARKER, material=MATERIAL)
    settings = replace(manner.settings, temperature=0.0, max_tokens=1, top_logprobs=MOST_TOKENS_SHOWN)
    # Composed without ids, which would go into the marker and part the beginnings of the questions.
    return replace(compose("odds", Outline(halves=halves, ids=()), pieces, manner, settings=settings), ids=ids)


def _answered(criterion: Criterion, leanings: Sequence[float | str], rule: Calibration | str) -> _Answered:
    why = next((one for one in leanings if isinstance(one, str)), None)
    if why is not None:
        return _Answered(Unscored(why))
    if not leanings:
        return _cannot("a scale without anchors at two levels or more has nothing to ask by")
    if isinstance(rule, str):
        return _cannot(rule)
    heard = [one for one in leanings if not isinstance(one, str)]
    if all(map(rule.undecided, heard)):
        return _cannot(f"{_spoken(heard[0], rule)}: too near to call")
    return _yes_or_no(heard[0], rule) if criterion.scale.yes_no else _level(criterion, heard, rule)


def _cannot(why: str) -> _Answered:
    return _Answered(Unscored(f"abstained: {CANNOT}: {why}"))


def _yes_or_no(leaning: float, rule: Calibration) -> _Answered:
    chance = rule.chance(leaning)
    yes = leaning > rule.threshold
    reason = f"{'yes' if yes else 'no'}: {_spoken(leaning, rule)}"
    return _Answered(Scored(Fraction(int(yes)), why=reason), reason, math.sqrt(chance * (1 - chance)))


def _level(criterion: Criterion, leanings: Sequence[float], rule: Calibration) -> _Answered:
    """The mean over the middles of the anchors, each as likely as the questions leave it."""
    levels = _levels(criterion)
    reached = [1.0, *falling([rule.chance(one) for one in leanings]), 0.0]
    chances = [here - above for here, above in pairwise(reached)]
    middles = [float(anchor.min + anchor.max) / 2 for anchor in levels]
    mean = sum(middle * chance for middle, chance in zip(middles, chances, strict=True))
    sd = math.sqrt(sum((middle - mean) ** 2 * chance for middle, chance in zip(middles, chances, strict=True)))
    value = Fraction(f"{mean:.6f}")
    band = None
    if criterion.scale.bands:
        value = Fraction(round(mean))
        band = next(one.id for one in criterion.scale.bands if one.min <= value <= one.max)
    said = [f"at least {written(level.min)}: {_times(one)}" for level, one in zip(levels[1:], leanings, strict=True)]
    reason = f"{'; '.join(said)} ({_meant(rule)})"
    return _Answered(Scored(value, band, reason), reason, sd)


def falling(chances: Sequence[float]) -> list[float]:
    """The nearest chances that never rise: whoever reaches a level has reached those below it."""
    pools: list[tuple[float, int]] = []
    for chance in chances:
        total, count = chance, 1
        while pools and pools[-1][0] / pools[-1][1] < total / count:
            above = pools.pop()
            total, count = total + above[0], count + above[1]
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]


def _spoken(leaning: float, rule: Calibration) -> str:
    return f"{_times(leaning)} (log-odds {leaning:+.2f}; {_meant(rule)})"


def _meant(rule: Calibration) -> str:
    return f"this model means yes above {round(rule.threshold, 2) + 0.0:+.2f}"  # Plus zero: no "-0.00".


def _times(leaning: float) -> str:
    more, less = ("yes", "no") if leaning >= 0 else ("no", "yes")
    times = math.exp(min(abs(leaning), 50.0))
    if times < 1.05:
        return "yes and no are equally likely"
    spelt = f"{times:,.0f}" if times >= 10 else f"{times:.1f}".removesuffix(".0")
    return f"{more} is {spelt} times as likely as {less}"


def _judgment(manner: Manner, output: str, criterion: Criterion, answered: _Answered) -> Judgment:
    return Judgment(
        judge=manner.judge,
        output=output,
        criterion=criterion.id,
        score=answered.score,
        reason=answered.reason,
        spread=None if answered.sd is None else Spread(n=1, sd=answered.sd, how="logprobs"),
    )
