"""Valid objects by default, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from evenhand.errors import Fault, InputError
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample, ToolCall, VariantOutput
from evenhand.model.scale import NOT_ANSWERED, CriterionScore, Number, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers

DEFAULT_OUTPUT = "An answer."


def rubric(*criteria: str | Mapping[str, object], **more: object) -> Rubric:
    """A rubric of these criteria, each a mapping as in a file, or an id that is asked about with yes or no.

    A keyword is a field of the rubric file, as in method="judge-skill".
    """
    listed = [{"id": one, "asks": f"Is it {one}?"} if isinstance(one, str) else one for one in criteria]
    return load_rubric({"name": "test", **({"criteria": listed} if listed else {}), **more})


def sample(
    output: str = DEFAULT_OUTPUT,
    *,
    input: str = "A question?",
    reference: str = "",
    context: str = "",
    id: str = "sample",
) -> Sample:
    """A sample with one output, called "output"."""
    return Sample(outputs={"output": output}, input=input, reference=reference, context=context, id=id)


def made(
    text: str = DEFAULT_OUTPUT,
    *,
    trace: Iterable[str | ToolCall] | None = None,
    cost: Number | None = None,
    latency_ms: float | None = None,
    turns: int | None = None,
    author: str | None = None,
) -> VariantOutput:
    """An output with how it came about; in a trace, a text is a call of the tool of that name."""
    if isinstance(trace, str):
        raise InputError(Fault("a trace is a list of calls", f"as in trace=[{trace!r}]"))
    calls = None if trace is None else tuple(ToolCall(one) if isinstance(one, str) else one for one in trace)
    price = None if cost is None else Decimal(str(cost))
    return VariantOutput(text=text, trace=calls, cost=price, latency_ms=latency_ms, turns=turns, author=author)


def answers(id: str = "output", /, **scores: Number | bool | None) -> Answers:
    """What a judge says about one output, criterion by criterion; None is a criterion that it left open."""
    return Answers(id=id, scores={criterion: _build_fake_score(value) for criterion, value in scores.items()})


def _build_fake_score(value: Number | bool | None) -> CriterionScore:
    if value is None:
        return NOT_ANSWERED
    return Scored(to_exact_fraction(int(value) if isinstance(value, bool) else value))
