"""Labels are about texts: a changed output voids them, an old label binds to none, and both are said."""

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from evenhand.calibrate.labelled_outputs import collect_labelled_outputs
from evenhand.calibrate.labels import Label, bind_labels_to_outputs, describe_label_binding, read_human_labels
from evenhand.errors import InputError
from evenhand.runs.kept_texts import format_run_output_digest, number_run_output_text, reduce_kept_row
from tests.calibrate.tables import table


def content(text: str | None) -> dict[str, Any]:
    return {"output": None if text is None else {"text": text}}


def digest(text: str) -> str:
    return format_run_output_digest(number_run_output_text(content(text)))


RUN = table(
    {"j": {"tone": [1, 2, 3]}},
    output=np.array([number_run_output_text(content(text)) for text in ("one", "two", None)]),
)


def label(sample: int, output: str | None) -> Label:
    plain = Label(sample=f"s{sample:04}", variant="only", criterion="tone", rater="r", score=Fraction(3))
    return replace(plain, output=output)


def test_the_digest_is_the_beginning_of_the_sha256_of_the_text() -> None:
    """So that whoever collects labels elsewhere can write it."""
    assert digest("Grüße") == sha256("Grüße".encode()).hexdigest()[:16]
    assert number_run_output_text(content(None)) == 0


def test_a_changed_output_voids_its_labels() -> None:
    """The one about another text is left out; the one without a digest, and of an output without text, are unbound."""
    given = [label(0, digest("one")), label(1, digest("two, before")), label(1, None), label(2, digest("three"))]

    found = bind_labels_to_outputs(RUN, given)

    assert found.labels == (given[0], given[2], given[3])
    assert found.void == (given[1],)
    assert found.unbound == 2
    assert collect_labelled_outputs(RUN, given).void == (given[1],)


def test_any_repeat_of_an_output_is_the_one_that_was_labelled() -> None:
    """A live variant makes another text each time; a person saw one of them."""
    twice = replace(RUN, sample=np.array([0, 0, 1]), samples=("s0000", "s0001"))

    assert bind_labels_to_outputs(twice, [label(0, digest("two"))]).void == ()


def test_labels_that_are_all_void_measure_nothing() -> None:
    """Silence would look like a run that nobody labelled."""
    with pytest.raises(InputError, match="every label is void"):
        collect_labelled_outputs(RUN, [label(0, digest("other"))])


def test_it_is_said_with_counts_and_ids() -> None:
    """Not more ids than can be read."""
    void = [label(number, digest("x")) for number in range(7)]

    lines = list(describe_label_binding(void, 1))

    assert lines == [
        "7 labels are void, not counted: the output has changed since it was labelled (s0000/only, s0001/only, "
        "s0002/only, s0003/only, s0004/only and 2 more).",
        "1 label is bound to no text: a changed output would not be noticed.",
    ]
    assert list(describe_label_binding([], 0)) == []


def test_the_digest_outlives_a_text_that_is_not_kept() -> None:
    """With keep: none a label is still bound; a run from before digests does not know."""
    whole: dict[str, Any] = {"output": {"text": "one"}, "judgments": [], "assertions": [], "cluster": None}
    row = {"position": 0, "repeat": 0, "content": json.dumps(whole)}

    kept = json.loads(reduce_kept_row("results", row, "none")["content"])

    assert kept["output"]["text"] == ""
    assert number_run_output_text(kept) == number_run_output_text(whole)
    del kept["original"]["text"]
    assert number_run_output_text(kept) == 0


def test_a_line_that_waits_for_its_score_is_no_label_yet() -> None:
    """A template is read while somebody is still at work on it; one that nobody has begun is refused."""
    waiting = '{"sample": "s0000", "criterion": "tone", "rater": null, "score": null, "text": "one"}'
    done = '{"sample": "s0001", "criterion": "tone", "rater": "r", "score": 2, "text": "two", "input": "?"}'

    assert len(read_human_labels(f"{waiting}\n{done}", "labels.jsonl", RUN)) == 1
    with pytest.raises(InputError, match="no labels in it yet: 1 line waits for a score"):
        read_human_labels(waiting, "labels.jsonl", RUN)
