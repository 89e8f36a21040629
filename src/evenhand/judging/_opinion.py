"""One judge asked about several outputs of a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.judging._ask import Dialogue
from evenhand.judging._driver import Driver, together
from evenhand.judging._how import How
from evenhand.judging._prompts import load_prompts
from evenhand.judging._request import Model
from evenhand.judging._told import Manner, Told
from evenhand.judging.dialogues import likely, listwise, pointwise, sampled
from evenhand.model import Review, Rubric, Sample, exact

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


def may_judge(rubric: Rubric, sample: Sample, judge: str, *outputs: str) -> bool:
    """Nobody scores its own response unless asked to."""
    return rubric.method.panel.self_votes or all(sample.authors.get(output) != judge for output in outputs)


async def opinion(rubric: Rubric, sample: Sample, outputs: Sequence[str], driver: Driver, how: How) -> Opinion:
    """Ask about those of the outputs that the judge may score, all at once or side by side as method and `how` say."""
    manner = manner_of(driver.model, how)
    outputs = [output for output in outputs if may_judge(rubric, sample, manner.judge, output)]
    if not outputs:
        return Opinion(judge=manner.judge)
    if rubric.method.dialogue == "listwise" and not how.each and not how.logprobs and how.samples == 1:
        reviewed = await driver.run(listwise(rubric, sample, outputs, manner))
        return Opinion(
            judge=manner.judge,
            told={one.answers.id: one for one in reviewed.told},
            order=reviewed.order,
            ranking=reviewed.ranking,
            abstained=reviewed.abstained,
        )
    dialogues = [_dialogue(rubric, sample, output, manner, how) for output in outputs]
    told = await together(list(map(driver.run, dialogues)))
    return Opinion(judge=manner.judge, told=dict(zip(outputs, told, strict=True)))


def _dialogue(rubric: Rubric, sample: Sample, output: str, manner: Manner, how: How) -> Dialogue[Told]:
    if how.logprobs:
        return likely(rubric, sample, output, manner, replies=how.samples if how.samples > 1 else FALLBACK)
    if how.samples > 1:
        return sampled(rubric, sample, output, manner, replies=how.samples)
    return pointwise(rubric, sample, output, manner, each=how.each)
