"""The paraphrase check: an output with a flagged passage is judged once more without it, and a jump is a finding."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from evenhand.judging.results import JudgedSample
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Scorecard
from evenhand.wording import pluralize_count

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
