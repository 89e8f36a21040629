"""Cascades: a cheap judge first, a stronger one only where the answer is unsure or near a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from evenhand.judging._driver import Driver
from evenhand.judging._how import Cascade, How
from evenhand.judging._judged import Judged, Saved
from evenhand.judging._opinion import Opinion, opinion
from evenhand.judging._request import Reply, Usage
from evenhand.judging._told import Told
from evenhand.model import Answers, Rubric, Sample, Scorecard, Scored
from evenhand.scoring import Asked, rank, score_outputs, scorecard

Price = Callable[[str, Usage], Decimal | None]


@dataclass(slots=True)
class _Heard:
    """What was said so far: by output the answers that count and whose they are; by judge what it was not asked."""

    told: dict[str, Told] = field(default_factory=dict)
    decided_by: dict[str, str] = field(default_factory=dict)
    opinions: list[Opinion] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


async def cascade(
    rubric: Rubric, sample: Sample, drivers: Sequence[Driver], how: How, asked: Asked, price: Price | None
) -> Judged:
    """Ask the judges in order; each output keeps the answers of the last judge that could give them."""
    heard = await _hear(rubric, sample, drivers, how)
    scores = score_outputs(rubric, [_answers(sample, output, heard.told) for output in sample.outputs], asked)
    if len(set(heard.decided_by.values())) > 1 and scores.ranking:
        scores = replace(scores, ranking=None, notes=(*scores.notes, "not ranked: decided by different judges"))
    told = [one for said in heard.opinions for one in said.told.values()]
    return Judged(
        scores=scores,
        judgments=tuple(judgment for one in told for judgment in one.judgments),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        suggestions={output: one.suggestions for output, one in heard.told.items() if one.suggestions},
        orders={one.judge: one.order for one in heard.opinions if one.order},
        decided_by=heard.decided_by,
        findings=sample.findings,
        saved=Saved(
            outputs=len(heard.skipped),
            of=len(sample.outputs) * (len(drivers) - 1),
            cost=_cost(drivers, heard.skipped, len(sample.outputs), price),
        ),
    )


async def _hear(rubric: Rubric, sample: Sample, drivers: Sequence[Driver], how: How) -> _Heard:
    assert how.cascade is not None
    heard = _Heard()
    open_ = list(sample.outputs)
    for driver in drivers:
        name = driver.model.name
        heard.skipped += [name] * (len(sample.outputs) - len(open_))
        said = await opinion(rubric, sample, open_, driver, how)
        heard.opinions.append(said)
        better = {output: one for output, one in said.told.items() if _counts(rubric, one, heard.told.get(output))}
        heard.told |= better
        heard.decided_by |= dict.fromkeys(better, name)
        open_ = _unsure(rubric, heard.told, how.cascade)
        if open_ and (rubric.method.dialogue == "listwise" or not rubric.method.verdicts):
            open_ = list(heard.told)  # A ranking over different judges would be none.
        open_ += [output for output in sample.outputs if output not in heard.told]
    return heard


def _answers(sample: Sample, output: str, told: Mapping[str, Told]) -> Answers:
    if output in told:
        return told[output].answers
    return Answers(id=output, author=sample.authors.get(output), notes=("nobody but its author was asked",))


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


def _cost(drivers: Sequence[Driver], skipped: Sequence[str], outputs: int, price: Price | None) -> Decimal | None:
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
