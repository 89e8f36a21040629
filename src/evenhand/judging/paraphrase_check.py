"""The paraphrase check: an output with a flagged passage is judged once more without it, and a jump is a finding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.judging.cascade import PriceLookup
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.results import JudgedSample
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Scorecard
from evenhand.models.requests import Model
from evenhand.wording import pluralize_count

JUMP = Fraction(
    1, 10
)  # Of the scale, on average over the criteria: what a passage may be worth before it is a finding.


async def recheck_flagged_outputs(
    rubric: Rubric,
    sample: Sample,
    judged: JudgedSample,
    models: Sequence[Model],
    how: JudgeOptions,
    price: PriceLookup | None = None,
) -> tuple[JudgedSample, str]:
    """Judge flagged outputs again without their passages. What was judged, with the jumps found; and what was done."""
    flagged = {output: [one for one in found if one.guard == "injection"] for output, found in sample.findings.items()}
    cut = {output: _cut_flagged_passages(sample.outputs[output], found) for output, found in flagged.items()}
    outputs = {output: text for output, text in cut.items() if text and text != sample.outputs[output]}
    if not outputs:
        return judged, "paraphrase check: no passage was flagged that could be left out, so nothing was asked again"
    again = await ask_judges_for_reviews(rubric, replace(sample, outputs=outputs, findings={}), models, how, price)
    before = {card.id: card for card in judged.scores.scorecards}
    findings = dict(judged.findings)
    jumps = 0
    for card in again.scores.scorecards:
        raised = _measure_raised_share(rubric, before[card.id], card)
        if raised >= JUMP:
            jumps += 1
            scored = f"{before[card.id].score}, without it {card.score}"
            says = f"raises the score by {float(raised):.0%} of the scale ({scored})"
            jump = replace(flagged[card.id][0], rule="jump", says=says)
            findings[card.id] = (*findings.get(card.id, ()), jump)
    done = (
        f"paraphrase check: {pluralize_count(len(outputs), 'output')} judged once more without what was flagged, "
        f"{pluralize_count(len(again.calls), 'more request')}; {pluralize_count(jumps, 'score')} fell by a tenth of "
        "the scale or more"
    )
    return replace(judged, findings=findings, calls=(*judged.calls, *again.calls)), done


def _cut_flagged_passages(text: str, found: Iterable[GuardFinding]) -> str:
    for finding in sorted(found, key=lambda one: one.start, reverse=True):
        text = text[: finding.start] + text[finding.end :]
    return text.strip()


def _measure_raised_share(rubric: Rubric, before: Scorecard, after: Scorecard) -> Fraction:
    """How much of its scale a criterion lost without the passage, on average over those scored both times."""
    lost = [
        criterion.scale.share(one.value) - criterion.scale.share(other.value)
        for id, one in before.criteria.items()
        if isinstance(one, Scored)
        and isinstance(other := after.criteria.get(id), Scored)
        and (criterion := rubric.criterion(id))
    ]
    return sum(lost, Fraction(0)) / len(lost) if lost else Fraction(0)
