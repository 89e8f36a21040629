"""One judge: the options it is asked with, the driver that waits for its replies, and its opinion on a sample."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, Generic

from evenhand.errors import JudgeError, ModelError
from evenhand.judging.answer_form import list_judged_criteria
from evenhand.judging.dialogues.decisions import ask_judge_by_decisions
from evenhand.judging.dialogues.listwise import ask_judge_listwise, balance_orders_of_judges
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise, ask_judge_sampled
from evenhand.judging.dialogues.token_odds import ask_judge_by_logprobs, ask_judge_by_odds
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.judging.questions import Dialogue, R, T
from evenhand.judging.results import JudgeCall, OutputReview, explain_output_hidden_from_judge
from evenhand.judging.traces import show_trace_to_judge
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample
from evenhand.model.scale import to_exact_fraction
from evenhand.model.scorecard import Answers, Review, ScoreMap
from evenhand.models.model_names import is_decision_model_name
from evenhand.models.requests import Model, ModelSettings, NoReply, Reply, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Two judges: the cheap one sees all, the strong one what is unsure or near a threshold and a part of the rest.

    `near` is a share of the scale; `least` is a score that must be reached, where one was asked for. `share` of the
    rest is drawn at random; with `for_width` a run draws as many as an interval of that width takes, and with
    `spend` as many as the budget pays for.
    """

    near: Fraction = Fraction(1, 20)
    least: Fraction | None = None
    share: Fraction = Fraction(1, 5)
    for_width: Fraction | None = None
    spend: bool = False

    def __post_init__(self) -> None:
        checks = {
            f"pass_on: near must be from 0 to 1, got {self.near}": not 0 <= self.near <= 1,
            f"pass_on: share must be from 0 to 1, got {self.share}": not 0 <= self.share <= 1,
            f"for_width must be above 0, got {self.for_width}": self.for_width is not None and self.for_width <= 0,
            "for_width and spend both say how much is passed on: give one of them": self.for_width and self.spend,
        }
        if faults := [fault for fault, applies in checks.items() if applies]:
            raise JudgeError(*faults)

    def draws_sample(self, seed: int, content: str) -> bool:
        """Whether a sample that stands alone is in the random part: by a hash, so that it is the same each time."""
        return place_sample_in_cascade_draw(seed, content) < float(self.share)


def place_sample_in_cascade_draw(seed: int, content: str) -> float:
    """Where a sample stands in the random order of a cascade, from 0 to 1: by the seed and what the sample is."""
    digest = hashlib.sha256(f"cascade {seed} {content}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


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
    ignore_length: bool = False  # Tell judges that a longer output is not a better one.
    refuse: bool = False  # Show no judge an output in which a guard found an injection.
    maps: tuple[ScoreMap, ...] = ()  # Of judges' scores to people's scale.
    balance_orders: bool = True  # Across reviewers; False draws each order alone, as in older runs.
    paraphrase_check: bool = False  # Judge an output with an injection once more without it; a jump is a finding.

    def __post_init__(self) -> None:
        counts: dict[str, object] = {"seed": self.seed, "samples": self.samples}
        wrong = {name: one for name, one in counts.items() if not isinstance(one, int) or isinstance(one, bool)}
        late = self.deadline is not None and not (isinstance(self.deadline, (int, float)) and self.deadline > 0)
        mapped = isinstance(self.weights, Mapping)
        checks = {
            f"samples must be 1 or more, got {self.samples}": "samples" not in wrong and self.samples < 1,
            "one request per criterion cannot be combined with samples or logprobs": (
                self.each and (self.samples != 1 or self.logprobs)
            ),
            f"refuse must be true or false, got {self.refuse!r}": not isinstance(self.refuse, bool),
            "a paraphrase check needs outputs that judges are shown: leave out refuse": self.paraphrase_check
            and self.refuse,
            f"language must be text, got {self.language!r}": not isinstance(self.language, str),
            f"a deadline must be above 0 seconds, got {self.deadline!r}": late,
            "a cascade takes no weights: each output keeps the answers of one judge": self.cascade and self.weights,
            "a cascade takes no maps: what is passed on goes by what the cheap judge said": (
                self.cascade and self.maps
            ),
            f"weights map judges to numbers, got {self.weights!r}": not mapped,
        }
        faults = [f"{name} must be a whole number, got {value!r}" for name, value in wrong.items()]
        faults += [fault for fault, applies in checks.items() if applies]
        faults += [
            f"the weight of {judge} must be a number above 0, got {weight!r}"
            for judge, weight in (self.weights.items() if mapped else ())
            if not isinstance(weight, (int, float, Fraction)) or not weight > 0
        ]
        if faults:
            raise JudgeError(*faults)


async def await_judges_in_order(waiting: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """What each of several gives, in their order; an error of one is raised once none is under way any more.

    What the others ask is paid for, and whoever tidies up after the error must not do so before they have ended.
    """
    if len(waiting) == 1:  # One alone needs no task of its own.
        return [await waiting[0]]
    found = await asyncio.gather(*waiting, return_exceptions=True) if waiting else []
    errors = [one for one in found if isinstance(one, BaseException)]
    if errors:
        raise next((one for one in errors if not isinstance(one, asyncio.CancelledError)), errors[0])
    return [one for one in found if not isinstance(one, BaseException)]


QUICK_REPLY = 2_000  # Characters that are read at once; more are read in a thread, so that nobody waits for it.
LONGEST_REPLY = 200_000  # Characters that are read at all: some 50,000 tokens, thinking included.
CRITERION_WORK = 20  # Characters of text that take about as long as a criterion.
_LONG_TEXT = 30_000  # Characters; longer ones are read in a thread of their own, so that only they wait for each other.
_READER, _LONG_READER = (ThreadPoolExecutor(1, thread_name_prefix=f"evenhand-reader-{name}") for name in ("a", "b"))


async def run_text_work(length: int, work: Callable[..., T], *given: Any) -> T:
    """What a function makes of texts of that length in all; of long ones in a thread that reads long replies."""
    if length <= QUICK_REPLY:
        return work(*given)
    # One after another: several at once would only take the time from the loop.
    reader = _READER if length <= _LONG_TEXT else _LONG_READER
    return await asyncio.get_running_loop().run_in_executor(reader, work, *given)


def measure_rubric_work(rubric: Rubric, times: int = 1) -> int:
    """How many characters of text take as long as the criteria of a rubric, asked or scored so many times."""
    return CRITERION_WORK * len(rubric.leaves) * times


@dataclass(slots=True)
class DialogueDriver:
    """Runs the dialogues of one judge and keeps every call; after its deadline nothing more is waited for."""

    model: Model
    deadline: float | None = None  # Seconds from the first request.
    order: tuple[str, ...] = ()  # In which the judge sees outputs side by side; empty where it decides alone.
    calls: list[JudgeCall] = field(default_factory=list)
    _until: float | None = None

    async def run(self, dialogue: Dialogue[R], length: int = 0) -> R:
        """The result of a dialogue. A request that fails is answered with why, so that the dialogue decides.

        `length` is that of the texts which its first request is made of, where they may be long.
        """
        if self.deadline is not None and self._until is None:
            self._until = asyncio.get_running_loop().time() + self.deadline
        requests = await run_text_work(length, next, dialogue)
        while True:
            if len(requests) == 1:  # One alone needs nobody who waits for several.
                replies = [await self._ask(requests[0])]
            else:
                replies = await await_judges_in_order(list(map(self._ask, requests)))
            shown = sum([len(one.messages[-1].text) for one in requests])  # Prose is held against what was shown.
            said = sum([len(one.text) for one in replies if isinstance(one, Reply)])
            told: tuple[Request, ...] | _FinishedDialogue[R]
            told = await run_text_work(max(shown, said), _advance_dialogue, dialogue, replies)
            if isinstance(told, _FinishedDialogue):
                return told.result
            requests = told

    async def _ask(self, request: Request) -> Reply | NoReply:
        reply: Reply | NoReply
        try:
            if self._until is None:
                reply = await self.model.ask(request)
            else:
                async with asyncio.timeout_at(self._until):
                    reply = await self.model.ask(request)
        except ModelError as error:
            reply = NoReply(why=str(error), attempts=error.attempts)
        except TimeoutError:
            late = "" if self.deadline is None else f" of {self.deadline:g} s"
            reply = NoReply(why=f"missed its deadline{late}")
        self.calls.append(JudgeCall(self.model.name, request, reply))
        if isinstance(reply, Reply) and len(reply.text) > LONGEST_REPLY:
            return NoReply(why=f"its reply has {len(reply.text):,} characters: {LONGEST_REPLY:,} are read at most")
        return reply


@dataclass(frozen=True, slots=True)
class _FinishedDialogue(Generic[R]):
    """What a dialogue has come to."""

    result: R


def _advance_dialogue(
    dialogue: Dialogue[R], replies: Sequence[Reply | NoReply]
) -> tuple[Request, ...] | _FinishedDialogue[R]:
    """What a dialogue asks next, or its result: no thread can hand on a StopIteration."""
    try:
        return dialogue.send(replies)
    except StopIteration as done:
        return _FinishedDialogue(done.value)


FALLBACK_REPLIES = 5  # Replies per question where logprobs were wanted and the server gives none.


@set_slots_directly
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


def make_judge_dialogue_setup(model: Model, how: JudgeOptions) -> JudgeSetup:
    """How a model is asked."""
    prompts = load_prompts(how.language, ignore_length=how.ignore_length)
    return JudgeSetup(judge=model.name, prompts=prompts, settings=how.settings, seed=how.seed)


def judges_by_odds(judge: str, how: JudgeOptions) -> bool:
    """Whether a judge is asked for one token at a time: a small model in a file, unless something else is wanted."""
    return judge.startswith("gguf:") and not (how.each or how.logprobs or how.samples > 1)


async def ask_judge_opinion(
    rubric: Rubric, sample: Sample, outputs: Sequence[str], driver: DialogueDriver, how: JudgeOptions
) -> JudgeOpinion:
    """Ask about those of the outputs that the judge may score, all at once or side by side as method and `how` say."""
    manner = make_judge_dialogue_setup(driver.model, how)
    manner = replace(manner, order=driver.order) if driver.order else manner
    outputs = _list_outputs_judge_may_score(rubric, sample, outputs, manner.judge)
    reviews = _withhold_outputs_from_judge_prompt(rubric, sample, outputs) if how.refuse else {}
    outputs = [output for output in outputs if output not in reviews]
    if not outputs:
        return JudgeOpinion(judge=manner.judge, reviews=reviews)
    ask: Callable[[Rubric, Sample, str, JudgeSetup], Dialogue[OutputReview]] = partial(
        ask_judge_pointwise, each=how.each
    )
    listed, length = None, _measure_shown_texts(sample, outputs) + measure_rubric_work(rubric)
    if how.logprobs:
        ask = partial(ask_judge_by_logprobs, replies=how.samples if how.samples > 1 else FALLBACK_REPLIES)
    elif how.samples > 1:
        ask = partial(ask_judge_sampled, replies=how.samples)
    elif is_decision_model_name(manner.judge):
        ask = ask_judge_by_decisions
    elif judges_by_odds(manner.judge, how):
        ask = ask_judge_by_odds
    elif is_judge_asked_listwise(rubric, manner.judge, how):
        listed = await driver.run(ask_judge_listwise(rubric, sample, outputs, manner), length)
    told: Sequence[OutputReview]
    if listed is not None:
        told = listed.reviews
    elif len(outputs) == 1:
        told = [await driver.run(ask(rubric, sample, outputs[0], manner), length)]
    else:
        told = await await_judges_in_order([driver.run(ask(rubric, sample, one, manner), length) for one in outputs])
    if sample.traces:
        told = [_note_trace_hidden_from_judge(rubric, sample, one, manner) for one in told]
    if sample.findings:
        told = [_mark_judge_review_unsafe(rubric, sample, one) for one in told]
    opinion = JudgeOpinion(judge=manner.judge, reviews={**reviews, **{one.answers.id: one for one in told}})
    if listed is None:
        return opinion
    return replace(opinion, order=listed.order, ranking=listed.ranking, abstained=listed.abstained)


def _measure_shown_texts(sample: Sample, outputs: Sequence[str]) -> int:
    """How many characters a judge is shown of a sample, its trace aside."""
    texts = [sample.input, sample.reference, sample.context, *(sample.outputs[output] for output in outputs)]
    return sum(len(text) for text in texts if text)


def is_judge_asked_listwise(rubric: Rubric, judge: str, how: JudgeOptions) -> bool:
    """Whether a judge sees all outputs of a sample in one request."""
    if rubric.method.dialogue != "listwise" or how.each or how.logprobs or how.samples > 1:
        return False
    return not is_decision_model_name(judge) and not judges_by_odds(judge, how)


def _list_outputs_judge_may_score(rubric: Rubric, sample: Sample, outputs: Sequence[str], judge: str) -> list[str]:
    authors = {} if rubric.method.panel.self_votes else sample.authors  # Nobody scores its own response.
    return [output for output in outputs if authors.get(output) != judge]


def assign_orders_to_judges(
    rubric: Rubric, sample: Sample, drivers: Sequence[DialogueDriver], how: JudgeOptions
) -> None:
    """Give each judge that sees outputs side by side its order among the others."""
    if not how.balance_orders:
        return
    hidden = _withhold_outputs_from_judge_prompt(rubric, sample, list(sample.outputs)) if how.refuse else {}
    shown = [output for output in sample.outputs if output not in hidden]
    names = [one.model.name for one in drivers if is_judge_asked_listwise(rubric, one.model.name, how)]
    seen = {name: _list_outputs_judge_may_score(rubric, sample, shown, name) for name in names}
    orders = balance_orders_of_judges({name: own for name, own in seen.items() if own}, how.seed, sample.id)
    for driver in drivers:
        driver.order = orders.get(driver.model.name, ())


def _withhold_outputs_from_judge_prompt(
    rubric: Rubric, sample: Sample, outputs: Sequence[str]
) -> dict[str, OutputReview]:
    """What counts for the outputs that speak to their judge, which is not shown them: nothing is known, and why."""
    reviews = {}
    for output in outputs:
        finding = next((one for one in sample.findings.get(output, ()) if one.guard == "injection"), None)
        if finding is not None:
            hidden = explain_output_hidden_from_judge(finding.says, finding.text)
            scores = dict.fromkeys((leaf.id for leaf in list_judged_criteria(rubric)), hidden)
            answers = Answers(id=output, scores=scores, author=sample.authors.get(output))
            reviews[output] = _mark_judge_review_unsafe(rubric, sample, OutputReview(answers=answers, judgments=()))
    return reviews


def _note_trace_hidden_from_judge(
    rubric: Rubric, sample: Sample, told: OutputReview, manner: JudgeSetup
) -> OutputReview:
    """What the judge did not see of a trace, which is no fault of the output."""
    trace = sample.traces.get(told.answers.id)
    note = show_trace_to_judge(trace, rubric, manner.prompts).describe_shortening_for_judge() if trace else ""
    return replace(told, answers=replace(told.answers, notes=(*told.answers.notes, note))) if note else told


def find_passage_unsafe_to_judge(rubric: Rubric, sample: Sample, output: str) -> GuardFinding | None:
    """What makes an output unsafe: the first finding of the safety guard, where the rubric sets its gate."""
    findings = sample.findings.get(output, ()) if rubric.safety_gate else ()
    return next((one for one in findings if one.guard == "safety"), None)


def _mark_judge_review_unsafe(rubric: Rubric, sample: Sample, told: OutputReview) -> OutputReview:
    """Unsafe by the rubric's safety gate, where the guard has found something."""
    found = find_passage_unsafe_to_judge(rubric, sample, told.answers.id)
    return replace(told, answers=replace(told.answers, unsafe=found.rule, passage=found.text)) if found else told
