"""One judge: the options it is asked with, and its opinion on the outputs of a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from evenhand.errors import JudgeError
from evenhand.judging.answer_form import list_judged_criteria
from evenhand.judging.dialogues.listwise import ask_listwise
from evenhand.judging.dialogues.logprobs import ask_by_logprobs
from evenhand.judging.dialogues.pointwise import ask_pointwise, ask_sampled
from evenhand.judging.dialogues.yes_no_odds import ask_by_odds
from evenhand.judging.driver import DialogueDriver, await_judges_in_order
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.judging.questions import Dialogue
from evenhand.judging.results import OutputReview, explain_output_hidden_from_judge
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import to_exact_fraction
from evenhand.model.scorecard import Answers, Review
from evenhand.models.requests import Model, ModelSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Judges in order, each next one asked only where the one before it is unsure or near a threshold.

    `near` is a share of the scale; `least` is a score that must be reached, where one was asked for.
    """

    near: Fraction = Fraction(1, 20)
    least: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """How judges are asked."""

    language: str = "en"  # Or a folder of prompt texts.
    settings: ModelSettings = field(default_factory=ModelSettings)
    seed: int = 0
    each: bool = False  # One request per criterion instead of one for all.
    samples: int = 1  # Replies per question; from two on, a criterion gets their mean and its spread.
    logprobs: bool = False  # The mean over how likely each answer was, where the server tells.
    deadline: float | None = None  # Seconds that each judge may take in all.
    weights: Mapping[str, Fraction | float] = field(default_factory=dict)  # By judge; 1 where none is given.
    cascade: Cascade | None = None
    refuse: bool = False  # Show no judge an output in which a guard found an injection.

    def __post_init__(self) -> None:
        faults = [fault for fault in self._faults() if fault]
        if faults:
            raise JudgeError(*faults)

    def _faults(self) -> Iterator[str]:
        counts: dict[str, object] = {"seed": self.seed, "samples": self.samples}
        wrong = {name: one for name, one in counts.items() if not isinstance(one, int) or isinstance(one, bool)}
        yield from (f"{name} must be a whole number, got {value!r}" for name, value in wrong.items())
        if "samples" not in wrong and self.samples < 1:
            yield f"samples must be 1 or more, got {self.samples}"
        if self.each and (self.samples != 1 or self.logprobs):
            yield "one request per criterion cannot be combined with samples or logprobs"
        if not isinstance(self.refuse, bool):
            yield f"refuse must be true or false, got {self.refuse!r}"
        if not isinstance(self.language, str):
            yield f"language must be text, got {self.language!r}"
        if self.deadline is not None and not (isinstance(self.deadline, (int, float)) and self.deadline > 0):
            yield f"a deadline must be above 0 seconds, got {self.deadline!r}"
        if self.cascade is not None and self.weights:
            yield "a cascade takes no weights: each output keeps the answers of one judge"
        if not isinstance(self.weights, Mapping):
            yield f"weights map judges to numbers, got {self.weights!r}"
            return
        for judge, weight in self.weights.items():
            if not isinstance(weight, (int, float, Fraction)) or not weight > 0:
                yield f"the weight of {judge} must be a number above 0, got {weight!r}"


FALLBACK_REPLIES = 5  # Replies per question where logprobs were wanted and the server gives none.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOpinion:
    """What one judge said, by output."""

    judge: str
    reviews: Mapping[str, OutputReview] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    ranking: tuple[str, ...] | None = None
    abstained: str | None = None

    def review(self, how: JudgeOptions) -> Review:
        """The opinion as a review for the panel."""
        return Review(
            judge=self.judge,
            outputs=() if self.abstained else tuple(one.answers for one in self.reviews.values()),
            abstained=self.abstained,
            ranking=self.ranking,
            weight=to_exact_fraction(how.weights.get(self.judge, 1)),
        )


def make_judge_prompt_setup(model: Model, how: JudgeOptions) -> JudgeSetup:
    """How a model is asked."""
    return JudgeSetup(judge=model.name, prompts=load_prompts(how.language), settings=how.settings, seed=how.seed)


def judges_by_odds(judge: str, how: JudgeOptions) -> bool:
    """Whether a judge is asked for one token at a time: a small model in a file, unless something else is wanted."""
    return judge.startswith("gguf:") and not (how.each or how.logprobs or how.samples > 1)


def may_ask_judge_about(rubric: Rubric, sample: Sample, judge: str, *outputs: str) -> bool:
    """Nobody scores its own response unless asked to."""
    return rubric.method.panel.self_votes or all(sample.authors.get(output) != judge for output in outputs)


async def ask_judge_opinion(
    rubric: Rubric, sample: Sample, outputs: Sequence[str], driver: DialogueDriver, how: JudgeOptions
) -> JudgeOpinion:
    """Ask about those of the outputs that the judge may score, all at once or side by side as method and `how` say."""
    manner = make_judge_prompt_setup(driver.model, how)
    outputs = [output for output in outputs if may_ask_judge_about(rubric, sample, manner.judge, output)]
    hidden = [output for output in outputs if how.refuse and find_passage_addressing_judge(sample, output)]
    refused = {output: _withhold_output_from_judge(rubric, sample, output) for output in hidden}
    outputs = [output for output in outputs if output not in refused]
    if not outputs:
        return JudgeOpinion(judge=manner.judge, reviews=refused)
    alone = how.each or how.logprobs or how.samples > 1 or judges_by_odds(manner.judge, how)
    if rubric.method.dialogue == "listwise" and not alone:
        reviewed = await driver.run(ask_listwise(rubric, sample, outputs, manner))
        return JudgeOpinion(
            judge=manner.judge,
            reviews={
                **refused,
                **{one.answers.id: _fail_judged_safety_gate(rubric, sample, one) for one in reviewed.reviews},
            },
            order=reviewed.order,
            ranking=reviewed.ranking,
            abstained=reviewed.abstained,
        )
    dialogues = [_choose_dialogue(rubric, sample, output, manner, how) for output in outputs]
    told = await await_judges_in_order(list(map(driver.run, dialogues)))
    marked = [_fail_judged_safety_gate(rubric, sample, one) for one in told]
    return JudgeOpinion(judge=manner.judge, reviews={**refused, **dict(zip(outputs, marked, strict=True))})


def find_passage_addressing_judge(sample: Sample, output: str) -> GuardFinding | None:
    """The first passage of an output that speaks to its judge, where a guard has found one."""
    return next((one for one in sample.findings.get(output, ()) if one.guard == "injection"), None)


def _withhold_output_from_judge(rubric: Rubric, sample: Sample, output: str) -> OutputReview:
    """What counts for an output that no judge was shown: nothing is known, and why."""
    finding = find_passage_addressing_judge(sample, output)
    assert finding is not None
    hidden = explain_output_hidden_from_judge(finding.says, finding.text)
    scores = dict.fromkeys((leaf.id for leaf in list_judged_criteria(rubric)), hidden)
    answers = Answers(id=output, scores=scores, author=sample.authors.get(output))
    return _fail_judged_safety_gate(rubric, sample, OutputReview(answers=answers, judgments=()))


def _fail_judged_safety_gate(rubric: Rubric, sample: Sample, told: OutputReview) -> OutputReview:
    """Unsafe, where the rubric has a safety gate and the guard has found something."""
    if not rubric.safety_gate:
        return told
    found = next((one for one in sample.findings.get(told.answers.id, ()) if one.guard == "safety"), None)
    return replace(told, answers=replace(told.answers, unsafe=found.rule, passage=found.text)) if found else told


def _choose_dialogue(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, how: JudgeOptions
) -> Dialogue[OutputReview]:
    if how.logprobs:
        return ask_by_logprobs(
            rubric, sample, output, manner, replies=how.samples if how.samples > 1 else FALLBACK_REPLIES
        )
    if how.samples > 1:
        return ask_sampled(rubric, sample, output, manner, replies=how.samples)
    if judges_by_odds(manner.judge, how):
        return ask_by_odds(rubric, sample, output, manner)
    return ask_pointwise(rubric, sample, output, manner, each=how.each)
