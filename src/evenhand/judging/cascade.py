"""Cascades: a cheap judge first, a stronger one only where the answer is unsure or near a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from evenhand.judging.results import CascadeSavings, JudgedSample, OutputReview
from evenhand.judging.single_judge import Cascade, DialogueDriver, JudgeOpinion, JudgeOptions, ask_judge_opinion
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Answers, Scorecard
from evenhand.models.requests import Reply, TokenUsage
from evenhand.scoring.engine import compute_answers_scorecard
from evenhand.scoring.scores import JudgingSetup, compute_scorecards_and_ranks, rank_scorecards

PriceLookup = Callable[[str, TokenUsage], Decimal | None]


@dataclass(slots=True)
class _CascadeState:
    """What was said so far: by output the answers that count and whose they are; by judge what it was not asked."""

    reviews: dict[str, OutputReview] = field(default_factory=dict)
    decided_by: dict[str, str] = field(default_factory=dict)
    opinions: list[JudgeOpinion] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def judge_by_cascade(
    rubric: Rubric,
    sample: Sample,
    drivers: Sequence[DialogueDriver],
    how: JudgeOptions,
    asked: JudgingSetup,
    price: PriceLookup | None,
) -> JudgedSample:
    """Ask the judges in order; each output keeps the answers of the last judge that could give them."""
    heard = await _hold_judge_dialogues_in_turn(rubric, sample, drivers, how)
    answers = []
    for output in sample.outputs:
        blank = Answers(id=output, author=sample.authors.get(output), notes=("nobody but its author was asked",))
        answers.append(heard.reviews[output].answers if output in heard.reviews else blank)
    scores = compute_scorecards_and_ranks(rubric, answers, asked)
    if len(set(heard.decided_by.values())) > 1 and scores.ranking:
        scores = replace(scores, ranking=None, notes=(*scores.notes, "not ranked: decided by different judges"))
    told = [one for said in heard.opinions for one in said.reviews.values()]
    return JudgedSample(
        scores=scores,
        judgments=tuple(judgment for one in told for judgment in one.judgments),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        suggestions={output: one.suggestions for output, one in heard.reviews.items() if one.suggestions},
        orders={one.judge: one.order for one in heard.opinions if one.order},
        decided_by=heard.decided_by,
        findings=sample.findings,
        saved=CascadeSavings(
            outputs=len(heard.skipped),
            of=len(sample.outputs) * (len(drivers) - 1),
            cost=_price_replies_of_unasked_judges(drivers, heard.skipped, len(sample.outputs), price),
        ),
    )


async def _hold_judge_dialogues_in_turn(
    rubric: Rubric, sample: Sample, drivers: Sequence[DialogueDriver], how: JudgeOptions
) -> _CascadeState:
    assert how.cascade is not None
    heard = _CascadeState()
    open_ = list(sample.outputs)
    for driver in drivers:
        name = driver.model.name
        heard.skipped += [name] * (len(sample.outputs) - len(open_))
        said = await ask_judge_opinion(rubric, sample, open_, driver, how)
        heard.opinions.append(said)
        better = {
            output: one
            for output, one in said.reviews.items()
            if _replaces_earlier_judge_reply(rubric, one, heard.reviews.get(output))
        }
        heard.reviews |= better
        heard.decided_by |= dict.fromkeys(better, name)
        open_ = _find_outputs_for_next_judge(rubric, heard.reviews, how.cascade)
        if open_ and (rubric.method.dialogue == "listwise" or not rubric.method.verdicts):
            open_ = list(heard.reviews)  # A ranking over different judges would be none.
        open_ += [output for output in sample.outputs if output not in heard.reviews]
    return heard


def _replaces_earlier_judge_reply(rubric: Rubric, new: OutputReview, old: OutputReview | None) -> bool:
    """Whether a later answer takes the place of an earlier one: not where it is worth less than that was."""
    if old is None or compute_answers_scorecard(rubric, new.answers).exact is not None:
        return True
    return compute_answers_scorecard(rubric, old.answers).exact is None


def _find_outputs_for_next_judge(rubric: Rubric, told: Mapping[str, OutputReview], rule: Cascade) -> list[str]:
    """The outputs whose decision another judge might change."""
    cards = {output: compute_answers_scorecard(rubric, one.answers) for output, one in told.items()}
    close = set(_find_close_judge_cascade_outputs(rubric, list(cards.values()), rule.near))
    return [
        output
        for output, card in cards.items()
        if output in close
        or _needs_next_judge(rubric, card, rule)
        or _do_judge_replies_disagree(rubric, told[output], rule.near)
    ]


def _needs_next_judge(rubric: Rubric, card: Scorecard, rule: Cascade) -> bool:
    if card.exact is None:
        return True
    span = rubric.method.scale.max - rubric.method.scale.min
    limits = [threshold.from_ for threshold in rubric.method.verdicts]
    limits += [rule.least] if rule.least is not None else []
    if any(abs(card.exact - limit) <= rule.near * span for limit in limits):
        return True
    for gate in rubric.all_gates:
        criterion, score = rubric.criterion(gate.criterion), card.criteria.get(gate.criterion)
        if criterion is None or not isinstance(score, Scored) or criterion.scale.yes_no:
            continue  # A yes/no gate is never near: it is met or not.
        if abs(score.value - gate.min) <= rule.near * (criterion.scale.max - criterion.scale.min):
            return True
    return False


def _do_judge_replies_disagree(rubric: Rubric, told: OutputReview, near: Fraction) -> bool:
    """Whether the judge's own replies lie too far apart."""
    for judgment in told.judgments:
        criterion = rubric.criterion(judgment.criterion)
        if judgment.spread is not None and criterion is not None:
            span = criterion.scale.max - criterion.scale.min
            if judgment.spread.sd > float(2 * near * span):
                return True
    return False


def _find_close_judge_cascade_outputs(rubric: Rubric, cards: Sequence[Scorecard], near: Fraction) -> Iterator[str]:
    """Without thresholds the decision is the first place: the first and all that nearly reach it."""
    places = [place for place in rank_scorecards(rubric, cards) if place.exact is not None] if len(cards) > 1 else []
    if rubric.method.verdicts or len(places) < 2 or places[0].exact is None:
        return
    span = rubric.method.scale.max - rubric.method.scale.min
    close = [place.id for place in places if place.exact is not None and places[0].exact - place.exact <= near * span]
    if len(close) > 1:
        yield from close


def _price_replies_of_unasked_judges(
    drivers: Sequence[DialogueDriver], skipped: Sequence[str], outputs: int, price: PriceLookup | None
) -> Decimal | None:
    """What the judges that were not asked would have cost, had their replies been as long as the first judge's."""
    if price is None or not skipped:
        return None if skipped else Decimal(0)
    usages = [call.reply.usage for call in drivers[0].calls if isinstance(call.reply, Reply)]
    total = Decimal(0)
    for judge in skipped:
        for usage in usages:
            cost = price(judge, usage)
            if cost is None:
                return None
            total += cost / outputs
    return total
