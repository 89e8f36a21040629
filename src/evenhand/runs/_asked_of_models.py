"""Assertions that rules alone cannot answer: questions to the judges from 0 to 10, and nearness of word vectors."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from evenhand.assertions import Assertion, Facts, Measured
from evenhand.judging import Judged
from evenhand.loading import load_rubric
from evenhand.model import Rubric, Sample

QUESTIONS = {
    "faithfulness": {
        0: "Nothing the output states follows from the context, or it contradicts the context.",
        3: "Some of what the output states follows from the context.",
        7: "Most of what the output states follows from the context.",
        10: "Everything the output states follows from the context.",
    },
    "answer_relevancy": {
        0: "The output does not answer the question.",
        3: "Some of the output answers the question.",
        7: "Most of the output answers the question.",
        10: "All of the output answers the question, and nothing in it is beside the point.",
    },
    "context_recall": {
        0: "Nothing the output states is found in the context.",
        3: "Some of what the output states is found in the context.",
        7: "Most of what the output states is found in the context.",
        10: "Everything the output states is found in the context.",
    },
}  # fmt: skip


@cache
def question(kind: str) -> Rubric:
    """The rubric that asks one such question."""
    levels = {str(start): text for start, text in QUESTIONS[kind].items()}
    return load_rubric({"name": kind, "criteria": [{"id": kind, "score_ranges": levels}]})


def material(assertion: Assertion, facts: Facts) -> Sample | str:
    """What the judges are shown, or why they cannot be asked. Recall asks for the reference, found in the context."""
    needs = {"faithfulness": "context", "answer_relevancy": "input", "context_recall": "context"}[assertion.kind]
    shown = facts.reference if assertion.kind == "context_recall" else facts.made.text
    if not getattr(facts, needs).strip():
        return f"the sample has no {needs}"
    if not shown.strip():
        return "the sample has no reference" if assertion.kind == "context_recall" else "the output is empty"
    context = facts.context if needs == "context" else ""
    return Sample(outputs={"output": shown}, input=facts.input, context=context)


def answer(judged: Judged) -> Measured:
    """What the judges' answer comes to, as a share."""
    card = judged.scores.scorecards[0]
    reasons = [one.reason for one in judged.judgments if one.reason]
    if card.exact is None:
        return Measured(why="; ".join(dict.fromkeys(entry.why for entry in card.missing)) or "no score")
    return Measured(value=card.exact, found=reasons[0] if reasons else "")


def nearness(assertion: Assertion, facts: Facts) -> Measured:
    """How near the output is in meaning to the reference, or to the text that the assertion names."""
    from evenhand.judging.embedded import similarity  # noqa: PLC0415 - word vectors take half a second to load.

    other = str(dict(assertion.arguments).get("to") or facts.reference)
    if not other.strip():
        return Measured(why="the sample has no reference")
    if not facts.made.text.strip():
        return Measured(why="the output is empty")
    value = similarity(facts.made.text, other)
    if value is None:
        return Measured(why="it needs word vectors: pip install 'evenhand[embedded]'")
    return Measured(value=Fraction(value).limit_denominator(10_000))
