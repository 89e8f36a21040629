"""Assertions that no rule can check: judges or word vectors answer them."""

from __future__ import annotations

import importlib
import logging
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.assertions.assertion import Assertion
from evenhand.assertions.facts import AssertionFacts, AssertionMeasurement
from evenhand.files.rubrics import load_rubric
from evenhand.judging.results import JudgedSample
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding, Sample

JUDGE_QUESTIONS = {
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
def eval_question_rubric(kind: str) -> Rubric:
    """The rubric that asks one such question."""
    levels = {str(start): text for start, text in JUDGE_QUESTIONS[kind].items()}
    return load_rubric({"name": kind, "criteria": [{"id": kind, "score_ranges": levels}]})


def eval_question_material(
    assertion: Assertion, facts: AssertionFacts, findings: tuple[GuardFinding, ...]
) -> Sample | str:
    """What the judges are shown, with what guards found in the output, or why they cannot be asked.

    Recall asks for the reference, found in the context.
    """
    needs = {"faithfulness": "context", "answer_relevancy": "input", "context_recall": "context"}[assertion.kind]
    shown = facts.reference if assertion.kind == "context_recall" else facts.made.text
    if not getattr(facts, needs).strip():
        return f"the sample has no {needs}"
    if not shown.strip():
        return "the sample has no reference" if assertion.kind == "context_recall" else "the output is empty"
    context = facts.context if needs == "context" else ""
    found = {"output": findings} if findings and shown is facts.made.text else {}
    return Sample(outputs={"output": shown}, input=facts.input, context=context, findings=found)


def measure_eval_question_answer(judged: JudgedSample) -> AssertionMeasurement:
    """What the judges' answer comes to, as a share."""
    card = judged.scores.scorecards[0]
    reasons = [one.reason for one in judged.judgments if one.reason]
    if card.exact is None:
        return AssertionMeasurement(why="; ".join(dict.fromkeys(entry.why for entry in card.missing)) or "no score")
    return AssertionMeasurement(value=card.exact, found=reasons[0] if reasons else "")


def measure_eval_sample_similarity(assertion: Assertion, facts: AssertionFacts) -> AssertionMeasurement:
    """How near the output is in meaning to the reference, or to the text that the assertion names."""
    other = str(dict(assertion.arguments).get("to") or facts.reference)
    if not other.strip():
        return AssertionMeasurement(why="the sample has no reference")
    if not facts.made.text.strip():
        return AssertionMeasurement(why="the output is empty")
    value = _measure_sample_text_similarity(facts.made.text, other)
    if value is None:
        return AssertionMeasurement(why="it needs word vectors: pip install '/path/to/evenhand[embedded]'")
    return AssertionMeasurement(value=Fraction(value).limit_denominator(10_000))


def _measure_sample_text_similarity(one: str, other: str) -> float | None:
    """How near two texts are in meaning, from 0 to 1; None where the word vectors are not installed."""
    vectors = _load_sample_similarity_vectors()
    if vectors is None:
        return None
    # Half of a surrogate pair is no text to the tokenizer.
    first, second = vectors.embed([text.encode("utf-8", "replace").decode() for text in (one, other)], norm=True)
    return min(1.0, max(0.0, float(first @ second)))


@cache
def _load_sample_similarity_vectors() -> Any:
    """The word vectors, loaded once: that takes half a second. None where `wordllama` is not installed."""
    try:
        wordllama = importlib.import_module("wordllama")
    except ImportError:
        return None
    logging.getLogger("wordllama").setLevel(logging.ERROR)
    # Its own folder as the cache: what it ships is found there, and nothing is downloaded.
    home = Path(str(wordllama.__file__)).parent
    return wordllama.WordLlama.load(cache_dir=home, dim=256, disable_download=True)
