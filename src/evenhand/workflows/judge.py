"""Ask judges from Python: a sample and a rubric in, scores with evidence out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.files.rubrics import load_rubric
from evenhand.guards.output_guards import flag_outputs_by_guards
from evenhand.judging.judge import (
    ask_judges_for_preferences,
    ask_judges_for_reviews,
    refuse_judge_maps_of_other_rubrics,
)
from evenhand.judging.open_judge import find_judge_by_name
from evenhand.judging.results import JudgedSample, Preferences
from evenhand.judging.second_judgments import cut_flagged_sentences_for_judge, flag_judged_score_jumps
from evenhand.judging.single_judge import JudgeOptions, run_text_work
from evenhand.model.rubric import Rubric
from evenhand.model.sample import OutputTrace, Sample
from evenhand.models.connections import Connections
from evenhand.models.prices import Prices
from evenhand.models.requests import EMBEDDED, Model, Request, TokenUsage
from evenhand.workflows.inputs import resolve_user_trace

RubricLike = Rubric | str | Path | Mapping[str, object]
SampleLike = Sample | str | Mapping[str, object]
JudgeLike = str | Model | Callable[[Request], object]
JudgesLike = JudgeLike | Sequence[JudgeLike]
SAMPLE_TEXTS = ("id", "input", "reference", "context")
SAMPLE_MAPS = ("outputs", "authors")
TRACE_FACTS = ("trace", "turns")  # Beside an output: how it came about.
DEFAULT_JUDGE_OPTIONS = JudgeOptions()


async def judge(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike = EMBEDDED,
    how: JudgeOptions = DEFAULT_JUDGE_OPTIONS,
    connections: Connections | None = None,
) -> JudgedSample:
    """Ask judges, named or opened, about the outputs of a sample, and score what they say.

    `connections` shares one session, budget and record between calls; without it the call opens and closes its own.
    """
    chosen, read = load_user_rubric(rubric), await flag_long_outputs_aside(resolve_user_sample(sample))
    async with _open_judge_connections_for_user(connections) as open_:
        models, price = open_user_judges(judges, open_), price_requested_replies(open_)
        refuse_judge_maps_of_other_rubrics(chosen, models, how)
        judged = await ask_judges_for_reviews(chosen, read, models, how, price)
        if how.paraphrase_check:
            judged, _ = await rejudge_user_outputs_without_flags(chosen, read, judged, models, how, price)
        return judged


async def rejudge_user_outputs_without_flags(
    rubric: Rubric,
    sample: Sample,
    judged: JudgedSample,
    models: Sequence[Model],
    how: JudgeOptions,
    price: Callable[[str, TokenUsage], Decimal | None],
) -> tuple[JudgedSample, str]:
    """Judge flagged outputs once more without what was flagged: scores that fall are findings. Also what was done."""
    cut = cut_flagged_sentences_for_judge(sample)
    if not cut.outputs:
        return judged, "paraphrase check: nothing was flagged that could be left out, so nothing was asked again"
    return flag_judged_score_jumps(rubric, judged, await ask_judges_for_reviews(rubric, cut, models, how, price))


async def prefer(
    rubric: RubricLike,
    sample: SampleLike,
    *,
    judges: JudgesLike,
    how: JudgeOptions = DEFAULT_JUDGE_OPTIONS,
    connections: Connections | None = None,
) -> Preferences:
    """Ask judges which of the outputs they prefer: every pair, in both orders."""
    chosen, read = load_user_rubric(rubric), await flag_long_outputs_aside(resolve_user_sample(sample))
    async with _open_judge_connections_for_user(connections) as open_:
        return await ask_judges_for_preferences(chosen, read, open_user_judges(judges, open_), how)


async def flag_long_outputs_aside(sample: Sample) -> Sample:
    """The sample with what guards find in its outputs, without holding up others while they are looked at."""
    return await run_text_work(sum(map(len, sample.outputs.values())), flag_outputs_by_guards, sample)


def resolve_user_sample(sample: SampleLike) -> Sample:
    """A sample from plain data: {"input": …, "output": …} or {"outputs": {name: text}}; a text is an output.

    An output with a trace is {"text": …, "trace": […], "turns": …}; beside `output`, `trace` and `turns` are its own.
    """
    if isinstance(sample, Sample):
        return _require_user_output(sample)
    if isinstance(sample, str):
        return Sample(outputs={"output": sample})
    if not isinstance(sample, Mapping):
        raise InputError(Fault(f"a sample is a text, a mapping or a Sample, got {type(sample).__name__}"))
    parts: dict[str, object] = dict(sample)
    if "output" in parts and "outputs" in parts:
        raise InputError(Fault("'output' and 'outputs' are the same field", "keep one of them"))
    if "output" in parts:
        beside = {name: parts.pop(name) for name in TRACE_FACTS if name in parts}
        alone = parts.pop("output")
        parts["outputs"] = {"output": {"text": alone, **beside} if beside else alone}
    parts["traces"] = _take_user_output_traces(parts)
    faults = [
        Fault(
            f"unknown field {name!r}",
            suggest_known_word_in_error(name, ("output", *SAMPLE_TEXTS, *SAMPLE_MAPS)),
            (name,),
        )
        for name in parts
        if name not in (*SAMPLE_TEXTS, *SAMPLE_MAPS, "traces")
    ]
    faults += [
        Fault(f"{name} must be text", path=(name,)) for name in SAMPLE_TEXTS if not isinstance(parts.get(name, ""), str)
    ]
    for name in SAMPLE_MAPS:
        given = parts.get(name, {})
        if not isinstance(given, Mapping) or not all(isinstance(text, str) for pair in given.items() for text in pair):
            faults.append(Fault(f"{name} must map names to texts", path=(name,)))
    if faults:
        raise InputError(*faults)
    return _require_user_output(Sample(**parts))  # type: ignore[arg-type]


def _require_user_output(sample: Sample) -> Sample:
    if not sample.outputs:
        raise InputError(Fault("a sample needs at least one output", "there is nothing to judge", ("outputs",)))
    return sample


def _take_user_output_traces(parts: dict[str, object]) -> dict[str, OutputTrace]:
    """The traces of outputs that are given as objects; the texts stay in their place."""
    given = parts.get("outputs")
    if not isinstance(given, Mapping):
        return {}
    objects = {name: one for name, one in given.items() if isinstance(one, Mapping)}
    faults = [
        Fault(
            f"unknown field {str(key)!r}",
            suggest_known_word_in_error(str(key), ("text", *TRACE_FACTS)),
            ("outputs", name),
        )
        for name, one in objects.items()
        for key in one
        if key not in ("text", *TRACE_FACTS)
    ]
    if faults:
        raise InputError(*faults)
    parts["outputs"] = {name: objects[name].get("text", "") if name in objects else one for name, one in given.items()}
    read = {name: resolve_user_trace(one.get("trace"), one.get("turns")) for name, one in objects.items()}
    return {name: trace for name, trace in read.items() if trace is not None}


def load_user_rubric(rubric: RubricLike) -> Rubric:
    """A rubric that is given, or the one that a name, a file or a mapping stands for."""
    return rubric if isinstance(rubric, Rubric) else load_rubric(rubric)


def price_requested_replies(connections: Connections) -> Callable[[str, TokenUsage], Decimal | None]:
    """What a reply of a model costs, as far as its price is known."""

    def cost(name: str, usage: TokenUsage) -> Decimal | None:
        price = connections.price(name)
        return price.cost(usage) if price else None

    return cost


@asynccontextmanager
async def _open_judge_connections_for_user(connections: Connections | None) -> AsyncIterator[Connections]:
    if connections is not None:
        if not isinstance(connections, Connections):
            raise InputError(f"connections must be Connections, got {type(connections).__name__}")
        yield connections
        return
    async with Connections(os.environ, prices=Prices.shipped()) as own:
        yield own


def open_user_judges(judges: JudgesLike, connections: Connections) -> list[Model]:
    """The judges, each opened by its name or adopted as it is."""
    several = list(judges) if isinstance(judges, (list, tuple)) else [judges]
    return [find_judge_by_name(connections, one) if isinstance(one, str) else connections.adopt(one) for one in several]
