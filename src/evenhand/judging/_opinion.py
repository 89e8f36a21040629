"""One judge asked about several outputs of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.judging._ask import Dialogue
from evenhand.judging._driver import Driver, together
from evenhand.judging._form import judged
from evenhand.judging._how import How
from evenhand.judging._prompts import load_prompts
from evenhand.judging._request import Model
from evenhand.judging._told import Manner, Told
from evenhand.judging.dialogues import likely, listwise, odds, pointwise, sampled
from evenhand.model import Answers, Finding, Review, Rubric, Sample, Unscored, exact

FALLBACK = 5  # Replies per question where logprobs were wanted and the server gives none.


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one judge said, by output."""

    judge: str
    told: Mapping[str, Told] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    ranking: tuple[str, ...] | None = None
    abstained: str | None = None

    def review(self, how: How) -> Review:
        """The opinion as a review for the panel."""
        return Review(
            judge=self.judge,
            outputs=() if self.abstained else tuple(one.answers for one in self.told.values()),
            abstained=self.abstained,
            ranking=self.ranking,
            weight=exact(how.weights.get(self.judge, 1)),
        )


def manner_of(model: Model, how: How) -> Manner:
    """How a model is asked."""
    return Manner(judge=model.name, prompts=load_prompts(how.language), settings=how.settings, seed=how.seed)


def by_odds(judge: str, how: How) -> bool:
    """Whether a judge is asked for one token at a time: a small model in a file, unless something else is wanted."""
    return judge.startswith("gguf:") and not (how.each or how.logprobs or how.samples > 1)


def may_judge(rubric: Rubric, sample: Sample, judge: str, *outputs: str) -> bool:
    """Nobody scores its own response unless asked to."""
    return rubric.method.panel.self_votes or all(sample.authors.get(output) != judge for output in outputs)


async def opinion(rubric: Rubric, sample: Sample, outputs: Sequence[str], driver: Driver, how: How) -> Opinion:
    """Ask about those of the outputs that the judge may score, all at once or side by side as method and `how` say."""
    manner = manner_of(driver.model, how)
    outputs = [output for output in outputs if may_judge(rubric, sample, manner.judge, output)]
    hidden = [output for output in outputs if how.refuse and injected(sample, output)]
    refused = {output: _refused(rubric, sample, output) for output in hidden}
    outputs = [output for output in outputs if output not in refused]
    if not outputs:
        return Opinion(judge=manner.judge, told=refused)
    alone = how.each or how.logprobs or how.samples > 1 or by_odds(manner.judge, how)
    if rubric.method.dialogue == "listwise" and not alone:
        reviewed = await driver.run(listwise(rubric, sample, outputs, manner))
        return Opinion(
            judge=manner.judge,
            told={**refused, **{one.answers.id: _marked(rubric, sample, one) for one in reviewed.told}},
            order=reviewed.order,
            ranking=reviewed.ranking,
            abstained=reviewed.abstained,
        )
    dialogues = [_dialogue(rubric, sample, output, manner, how) for output in outputs]
    told = await together(list(map(driver.run, dialogues)))
    marked = [_marked(rubric, sample, one) for one in told]
    return Opinion(judge=manner.judge, told={**refused, **dict(zip(outputs, marked, strict=True))})


def injected(sample: Sample, output: str) -> Finding | None:
    """The first passage of an output that speaks to its judge, where a guard has found one."""
    return next((one for one in sample.findings.get(output, ()) if one.guard == "injection"), None)


def _refused(rubric: Rubric, sample: Sample, output: str) -> Told:
    """What counts for an output that no judge was shown: nothing is known, and why."""
    finding = injected(sample, output)
    assert finding is not None
    why = f"refused: it {finding.says} (“{finding.text}”), so no judge was shown it"
    scores = dict.fromkeys((leaf.id for leaf in judged(rubric)), Unscored(why))
    answers = Answers(id=output, scores=scores, author=sample.authors.get(output))
    return _marked(rubric, sample, Told(answers=answers, judgments=()))


def _marked(rubric: Rubric, sample: Sample, told: Told) -> Told:
    """Unsafe, where the rubric has a safety gate and the guard has found something."""
    if not rubric.safety_gate:
        return told
    found = next((one for one in sample.findings.get(told.answers.id, ()) if one.guard == "safety"), None)
    return replace(told, answers=replace(told.answers, unsafe=found.rule, passage=found.text)) if found else told


def _dialogue(rubric: Rubric, sample: Sample, output: str, manner: Manner, how: How) -> Dialogue[Told]:
    if how.logprobs:
        return likely(rubric, sample, output, manner, replies=how.samples if how.samples > 1 else FALLBACK)
    if how.samples > 1:
        return sampled(rubric, sample, output, manner, replies=how.samples)
    if by_odds(manner.judge, how):
        return odds(rubric, sample, output, manner)
    return pointwise(rubric, sample, output, manner, each=how.each)
