"""Outputs judged again: by a strong judge where a cheap one is unsure (a cascade), and without a flagged passage."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from evenhand.judging.results import CascadePath, CascadeSavings, JudgedSample, OutputReview, PassedOn
from evenhand.judging.single_judge import Cascade, DialogueDriver, JudgeOpinion, JudgeOptions, ask_judge_opinion
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Answers, Scorecard
from evenhand.models.requests import Reply, TokenUsage
from evenhand.scoring.engine import compute_answers_scorecard
from evenhand.scoring.scores import (
    JudgingSetup,
    compute_scorecards_and_ranks,
    note_reviewer_ranks_against_scorecards,
    rank_scorecards,
)
from evenhand.wording import pluralize_count

PriceLookup = Callable[[str, TokenUsage], Decimal | None]


async def judge_by_cascade(
    rubric: Rubric,
    sample: Sample,
    drivers: Sequence[DialogueDriver],
    how: JudgeOptions,
    asked: JudgingSetup,
    price: PriceLookup | None,
    draw: bool | None = None,
) -> JudgedSample:
    """Ask the cheap judge, and the strong one if the sample is passed on; each output keeps the answers of one.

    A sample is passed on as a whole, so that its outputs are compared by one judge. `draw` says whether it is in the
    random part; without it, the sample stands alone: its own hash says so, and a close first place is passed on too.
    """
    assert how.cascade is not None
    cheap, strong = drivers
    first = await ask_judge_opinion(rubric, sample, list(sample.outputs), cheap, how)
    passed_on = _why_ask_next_judge(rubric, sample, first.reviews, how, draw)
    opinions = [first]
    if passed_on:
        opinions.append(await ask_judge_opinion(rubric, sample, list(sample.outputs), strong, how))
    reviews, decided_by = _choose_cascade_reviews(rubric, opinions)
    answers = []
    for output in sample.outputs:
        blank = Answers(id=output, author=sample.authors.get(output), notes=("nobody but its author was asked",))
        answers.append(reviews[output].answers if output in reviews else blank)
    scores = compute_scorecards_and_ranks(rubric, answers, asked)
    claims = note_reviewer_ranks_against_scorecards(rubric, [one.review(how) for one in opinions])
    scores = replace(scores, notes=(*scores.notes, *claims))
    if len(set(decided_by.values())) > 1 and scores.ranking:
        scores = replace(scores, ranking=None, notes=(*scores.notes, "not ranked: decided by different judges"))
    left = 0 if passed_on else len(sample.outputs)
    return JudgedSample(
        scores=scores,
        judgments=tuple(judgment for said in opinions for one in said.reviews.values() for judgment in one.judgments),
        calls=tuple(call for driver in drivers for call in driver.calls),
        seed=how.seed,
        suggestions={output: one.suggestions for output, one in reviews.items() if one.suggestions},
        orders={one.judge: one.order for one in opinions if one.order},
        decided_by=decided_by,
        findings=sample.findings,
        cascade=CascadePath(
            cheap=cheap.model.name,
            strong=strong.model.name,
            passed_on=passed_on,
            cheap_cards={
                output: compute_answers_scorecard(rubric, one.answers) for output, one in first.reviews.items()
            },
        ),
        saved=CascadeSavings(
            outputs=left,
            of=len(sample.outputs),
            cost=_price_replies_of_unasked_judge(cheap, strong.model.name, price) if left else Decimal(0),
        ),
    )


def _why_ask_next_judge(
    rubric: Rubric, sample: Sample, told: Mapping[str, OutputReview], how: JudgeOptions, draw: bool | None
) -> PassedOn:
    """Near, where the strong judge might change the decision on an output; else whether it is drawn."""
    assert how.cascade is not None
    cards = {output: compute_answers_scorecard(rubric, one.answers) for output, one in told.items()}
    unsure = any(
        _needs_next_judge(rubric, card, how.cascade) or _do_judge_replies_disagree(rubric, told[output], how.cascade)
        for output, card in cards.items()
    )
    if unsure or cards.keys() != sample.outputs.keys():
        return "near"
    if draw is None:
        if _is_judged_first_place_close(rubric, list(cards.values()), how.cascade.near):
            return "near"
        draw = how.cascade.draws_sample(how.seed, repr((sample.id, sample.input, dict(sample.outputs))))
    return "drawn" if draw else ""


def _choose_cascade_reviews(
    rubric: Rubric, opinions: Sequence[JudgeOpinion]
) -> tuple[dict[str, OutputReview], dict[str, str]]:
    """The answers that count for each output, and whose they are: the last judge's that came to a score."""
    reviews: dict[str, OutputReview] = {}
    decided_by: dict[str, str] = {}
    for said in opinions:
        for output, one in said.reviews.items():
            old = reviews.get(output)
            if (
                old is None
                or compute_answers_scorecard(rubric, one.answers).exact is not None
                or compute_answers_scorecard(rubric, old.answers).exact is None
            ):
                reviews[output], decided_by[output] = one, said.judge
    return reviews, decided_by


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


def _do_judge_replies_disagree(rubric: Rubric, told: OutputReview, rule: Cascade) -> bool:
    """Whether the judge's own replies lie too far apart."""
    for judgment in told.judgments:
        criterion = rubric.criterion(judgment.criterion)
        if judgment.spread is not None and criterion is not None:
            span = criterion.scale.max - criterion.scale.min
            if judgment.spread.sd > float(2 * rule.near * span):
                return True
    return False


def _is_judged_first_place_close(rubric: Rubric, cards: Sequence[Scorecard], near: Fraction) -> bool:
    """Without thresholds the decision is the first place: whether another output nearly reaches it."""
    places = [place.exact for place in rank_scorecards(rubric, cards)] if len(cards) > 1 else []
    scored = [exact for exact in places if exact is not None]
    if rubric.method.verdicts or len(scored) < 2:
        return False
    return scored[0] - scored[1] <= near * (rubric.method.scale.max - rubric.method.scale.min)


def _price_replies_of_unasked_judge(cheap: DialogueDriver, judge: str, price: PriceLookup | None) -> Decimal | None:
    """What the strong judge would have cost, had its replies been as long as the cheap one's."""
    usages = [call.reply.usage for call in cheap.calls if isinstance(call.reply, Reply)]
    costs = [None if price is None else price(judge, usage) for usage in usages]
    return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))


JUMP = Fraction(1, 10)  # Of the scale, on average over the criteria: what a passage may be worth.
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]|\n+")


def cut_flagged_sentences_for_judge(sample: Sample) -> Sample:
    """The outputs that the injection guard flagged, without what it flagged; none where nothing would be left."""
    cut = {
        output: _cut_flagged_passages_for_judge(sample.outputs[output], found)
        for output, found in sample.findings.items()
    }
    outputs = {output: text for output, text in cut.items() if text and text != sample.outputs[output].strip()}
    return replace(sample, outputs=outputs, findings={})


def flag_judged_score_jumps(rubric: Rubric, judged: JudgedSample, again: JudgedSample) -> tuple[JudgedSample, str]:
    """What was judged, with a finding for each score that fell without what was flagged; and what was done."""
    before = {card.id: card for card in judged.scores.scorecards}
    findings = dict(judged.findings)
    jumps = 0
    for card in again.scores.scorecards:
        raised = _measure_judged_score_drop(rubric, before[card.id], card)
        if raised >= JUMP:
            jumps += 1
            flagged = next(one for one in findings[card.id] if one.guard == "injection")
            scored = f"{before[card.id].score}, without it {card.score}"
            says = f"raises the score by {float(raised):.0%} of the scale ({scored})"
            findings[card.id] = (*findings[card.id], replace(flagged, rule="jump", says=says))
    done = (
        f"paraphrase check: {pluralize_count(len(again.scores.scorecards), 'output')} judged once more "
        f"without what was flagged, {pluralize_count(len(again.calls), 'more request')}; "
        f"{pluralize_count(jumps, 'score')} fell by a tenth of the scale or more"
    )
    return replace(judged, findings=findings, calls=(*judged.calls, *again.calls)), done


def _cut_flagged_passages_for_judge(text: str, found: Iterable[GuardFinding]) -> str:
    """The text without what was flagged, nor the rest of a sentence that speaks to the judge: it may move one too."""
    edges = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    spans = []
    for one in (finding for finding in found if finding.guard == "injection"):
        first, last = bisect_right(edges, one.start) - 1, bisect_left(edges, one.end)
        line_end = text.find("\n", one.end) % (len(text) + 1)  # A suffix goes on to the end of its line.
        spans.append((one.start, line_end) if one.rule == "nonsense" else (edges[first], edges[last]))
    kept, done = "", 0
    for start, end in sorted(spans):
        kept, done = kept + text[done : max(done, start)], max(done, end)
    return (kept + text[done:]).strip()


def _measure_judged_score_drop(rubric: Rubric, before: Scorecard, after: Scorecard) -> Fraction:
    """How much of its scale a criterion lost without the passage, on average over those scored both times."""
    lost = [
        criterion.scale.share(one.value) - criterion.scale.share(other.value)
        for id, one in before.criteria.items()
        if isinstance(one, Scored)
        and isinstance(other := after.criteria.get(id), Scored)
        and (criterion := rubric.criterion(id))
    ]
    return sum(lost, Fraction(0)) / len(lost) if lost else Fraction(0)
