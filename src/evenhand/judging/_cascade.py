"""Cascades: a cheap judge first, a stronger one only where the answer is unsure or near a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from evenhand.judging._driver import Driver
from evenhand.judging._how import Cascade, How
from evenhand.judging._judged import Judged, Saved
from evenhand.judging._opinion import Opinion, opinion
from evenhand.judging._prompts import load_prompts
from evenhand.judging._request import Reply, Usage
from evenhand.judging._told import Manner, Told
from evenhand.model import Answers, Rubric, Sample, Scorecard, Scored
from evenhand.scoring import Asked, rank, score_outputs, scorecard

Price = Callable[[str, Usage], Decimal | None]


async def cascade(
    rubric: Rubric, sample: Sample, drivers: Sequence[Driver], how: How, asked: Asked, price: Price | None
) -> Judged:
    """Ask the judges in order; each output keeps the answers of the last judge that was asked about it."""
    assert how.cascade is not None
    told: dict[str, Told] = {}
    decided_by: dict[str, str] = {}
    opinions: list[Opinion] = []
    skipped: list[tuple[str, str]] = []
    unsure = list(sample.outputs)
    for driver in drivers:
        skipped += [(output, driver.model.name) for output in sample.outputs if output not in unsure]
        name = driver.model.name
        mine = [output for output in unsure if sample.authors.get(output) != name or rubric.method.panel.self_votes]
        if not mine:
            continue
        manner = Manner(judge=name, prompts=load_prompts(how.language), settings=how.settings, seed=how.seed)
        said = await opinion(rubric, sample, mine, driver, manner, how)
        opinions.append(said)
        better = {output: one for output, one in said.told.items() if _counts(rubric, one, told.get(output))}
        told |= better
        decided_by |= dict.fromkeys(better, name)
        unsure = _unsure(rubric, told, how.cascade)
        if unsure and (rubric.method.dialogue == "listwise" or not rubric.method.verdicts):
            unsure = list(told)  # A ranking over different judges would be none.
        unsure += [output for output in sample.outputs if output not in told]
    nobody = Answers(id="", notes=("nobody but its author was asked",))
    answers = [
        told[output].answers if output in told else replace(nobody, id=output, author=sample.authors.get(output))
        for output in sample.outputs
    ]
    scores = score_outputs(rubric, answers, asked)
    if len(set(decided_by.values())) > 1 and scores.ranking:
        scores = replace(scores, ranking=None, notes=(*scores.notes, "not ranked: decided by different judges"))
    return Judged(
        scores=scores,
        judgments=tuple(judgment for one in opinions for each in one.told.values() for judgment in each.judgments),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        suggestions={output: one.suggestions for output, one in told.items() if one.suggestions},
        orders={one.judge: one.order for one in opinions if one.order},
        decided_by=decided_by,
        saved=Saved(
            outputs=len(skipped),
            of=len(sample.outputs) * (len(drivers) - 1),
            cost=_cost(drivers, skipped, len(sample.outputs), price),
        ),
    )


def _counts(rubric: Rubric, new: Told, old: Told | None) -> bool:
    """Whether a later answer takes the place of an earlier one: not where it is worth less than that was."""
    if old is None or scorecard(rubric, new.answers).exact is not None:
        return True
    return scorecard(rubric, old.answers).exact is None


def _unsure(rubric: Rubric, told: Mapping[str, Told], rule: Cascade) -> list[str]:
    """The outputs whose decision another judge might change."""
    cards = {output: scorecard(rubric, one.answers) for output, one in told.items()}
    close = set(_close_ranks(rubric, list(cards.values()), rule.near))
    return [
        output
        for output, card in cards.items()
        if output in close or _is_unsure(rubric, card, rule) or _spreads(rubric, told[output], rule.near)
    ]


def _is_unsure(rubric: Rubric, card: Scorecard, rule: Cascade) -> bool:
    if card.exact is None:
        return True
    span = rubric.method.scale.max - rubric.method.scale.min
    limits = [threshold.from_ for threshold in rubric.method.verdicts]
    limits += [rule.least] if rule.least is not None else []
    if any(abs(card.exact - limit) <= rule.near * span for limit in limits):
        return True
    return any(_near_gates(rubric, card, rule.near))


def _near_gates(rubric: Rubric, card: Scorecard, near: Fraction) -> Iterator[bool]:
    """A yes/no gate is never near: it is met or not."""
    for gate in rubric.all_gates():
        criterion, score = rubric.criterion(gate.criterion), card.criteria.get(gate.criterion)
        if criterion is not None and isinstance(score, Scored) and not criterion.scale.yes_no:
            span = criterion.scale.max - criterion.scale.min
            yield abs(score.value - gate.min) <= near * span


def _spreads(rubric: Rubric, told: Told, near: Fraction) -> bool:
    """Whether the judge's own replies lie too far apart."""
    for judgment in told.judgments:
        criterion = rubric.criterion(judgment.criterion)
        if judgment.spread is not None and criterion is not None:
            span = criterion.scale.max - criterion.scale.min
            if judgment.spread.sd > float(2 * near * span):
                return True
    return False


def _close_ranks(rubric: Rubric, cards: Sequence[Scorecard], near: Fraction) -> Iterator[str]:
    """Without thresholds the decision is the first place: the first and all that nearly reach it."""
    places = [place for place in rank(rubric, cards) if place.exact is not None] if len(cards) > 1 else []
    if rubric.method.verdicts or len(places) < 2 or places[0].exact is None:
        return
    span = rubric.method.scale.max - rubric.method.scale.min
    close = [place.id for place in places if place.exact is not None and places[0].exact - place.exact <= near * span]
    if len(close) > 1:
        yield from close


def _cost(
    drivers: Sequence[Driver], skipped: Sequence[tuple[str, str]], outputs: int, price: Price | None
) -> Decimal | None:
    """What the judges that were not asked would have cost, had their replies been as long as the first judge's."""
    if price is None or not skipped:
        return None if skipped else Decimal(0)
    usages = [call.reply.usage for call in drivers[0].calls if isinstance(call.reply, Reply)]
    total = Decimal(0)
    for _, judge in skipped:
        for usage in usages:
            cost = price(judge, usage)
            if cost is None:
                return None
            total += cost / outputs
    return total
