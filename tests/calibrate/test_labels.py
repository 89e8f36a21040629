"""Labels: every line that cannot be right is refused with its number and what would work."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.calibrate.labels import Label, read_human_label_row, read_human_labels
from evenhand.errors import InputError
from evenhand.runs.columns import RunTable
from tests.calibrate.tables import table

TWO = table({"j": {"tone": [1, 2, 3, 4], "facts": [1, 1, 5, 5]}}, variants=("old", "new"))
ONE = table({"j": {"tone": [1, 2]}})


def line(**changes: Any) -> str:
    """One right label, but for the changes; None leaves a field out."""
    right = {"sample": "s0000", "variant": "new", "criterion": "tone", "rater": "r1", "score": 4}
    return json.dumps({name: value for name, value in {**right, **changes}.items() if value is not None})


def faults(text: str, run: RunTable = TWO) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_human_labels(text, "labels.jsonl", run)
    return [str(fault) for fault in refused.value.faults]


def test_a_fault_that_all_lines_share_is_told_once() -> None:
    """A wrong field name in every line is one mistake; another one is still told."""
    wrong = [line(score=None, sample=f"s000{n % 2}")[:-1] + ', "value": 4}' for n in range(17)]

    said = faults("\n".join(wrong))
    mixed = faults("\n".join([*wrong, line(variant="odd")]))

    assert [one.split(" (")[0] for one in said] == [
        "labels.jsonl:1: unknown field 'value', in all 17 lines",
        "labels.jsonl:1: no score, in all 17 lines",
    ]
    assert mixed[0].startswith("labels.jsonl:1: unknown field 'value', in 17 lines, first here")
    assert mixed[2].startswith("labels.jsonl:18: the run has no variant 'odd'")


def test_a_label_says_who_gave_which_output_what() -> None:
    """Empty lines are passed over, and a score is the number that was written."""
    found = read_human_labels(f"\n{line()}\n\n{line(sample='s0001', variant='old', score=1)}\n", "labels.jsonl", TWO)

    assert [(one.sample, one.variant, one.rater, one.score) for one in found] == [
        ("s0000", "new", "r1", Fraction(4)),
        ("s0001", "old", "r1", Fraction(1)),
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sample": "s000"}, "the run has no sample 's000' (did you mean 's0001'?)"),
        ({"criterion": "tome"}, "the run has no criterion 'tome' (did you mean 'tone'?)"),
        ({"variant": "news"}, "the run has no variant 'news' (did you mean 'new'?)"),
        ({"variant": None}, "which variant? the run has several (one of old, new)"),
        ({"score": 6}, "6 is outside the scale of 'tone' (whole numbers from 1 to 5)"),
        ({"score": 2.5}, "2.5 is between the levels of 'tone' (whole numbers from 1 to 5)"),
        ({"score": "4"}, "score must be a number"),
        ({"score": True}, "score must be a number"),
        ({"score": None}, "no score"),
        ({"rater": None}, "no rater"),
        ({"rater": " "}, "rater must be text"),
        ({"at": "yesterday"}, "at is not a time with its zone: 'yesterday'"),
        ({"output": "the text"}, "output is not the digest of a text"),
        ({"chance": 0, "batch": 1}, "chance must be a number above 0, up to 1"),
        ({"chance": 0.5}, "chance and batch come together"),
        ({"chance": 0.5, "batch": 0}, "batch must be a whole number from 1"),
        ({"schema": 99}, "written by a newer Evenhand (schema 99, this one knows 2)"),
        ({"scorre": 1}, "unknown field 'scorre' (did you mean 'score'?)"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(changes: dict[str, Any], told: str) -> None:
    """The second line is at fault, whatever is wrong with it."""
    found = faults(f"{line(rater='r0')}\n{line(**changes)}\n")

    assert len(found) == 1
    assert found[0].startswith(f"labels.jsonl:2: {told}")


def test_a_person_labels_an_output_once() -> None:
    """Two answers of one person contradict each other, and nobody can say which counts."""
    found = faults(f"{line()}\n{line(rater='r2')}\n{line(score=5)}\n")

    assert found == ["labels.jsonl:3: r1 labelled this in line 1 already (keep one of them)"]


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file_is_refused(text: str) -> None:
    """Nothing to hold judges against."""
    assert faults(text)[0].startswith("labels.jsonl: no labels in it (one object per line:")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not valid JSON"),
        ('{"sample": "s1', "not valid JSON: a string is not closed (it breaks off at column 15; the string begins"),
        ("[1]", "expected an object"),
        ('{"sample": "s0000", "sample": "s0001", "variant": "new", "criterion": "tone", "rater": "r", "score": 1}',
         "'sample' is given twice"),
        (line(score=1).replace(": 1", ": 1e400"), "the score cannot be used"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_label_is_refused(text: str, told: str) -> None:
    """Half a line, a list, a field given twice, a number beyond counting."""
    assert faults(text)[0].startswith(f"labels.jsonl:1: {told}")


def test_every_fault_is_told_at_once() -> None:
    """Whoever mends a file wants to do it in one go."""
    found = faults(f"{line(sample='x', score=9)}\n{line(criterion='y')}\n")

    assert [fault.split(": ")[0] for fault in found] == ["labels.jsonl:1", "labels.jsonl:1", "labels.jsonl:2"]


def test_a_run_with_one_variant_needs_none_named() -> None:
    """There is only one thing that can be meant."""
    (found,) = read_human_labels(line(variant=None), "labels.jsonl", ONE)

    assert found.variant == "only"


def test_the_score_as_a_whole_can_be_labelled_too() -> None:
    """On the scale of the method, with decimals."""
    (found,) = read_human_labels(line(criterion="score", score=3.25), "labels.jsonl", TWO)

    assert (found.criterion, found.score) == ("score", Fraction(13, 4))


def test_a_criterion_with_two_scales_is_not_labelled() -> None:
    """Nobody could tell which scale a 4 is on."""
    rubric = TWO.frame.rubrics[0]
    other = {**rubric, "criteria": [{**rubric["criteria"][0], "scale": "1–10", "ends": [1.0, 10.0]}]}
    both = table({"j": {"tone": [1]}}, frame=_with(TWO, rubric, other))

    assert "two rubrics of the run ask 'tone' on different scales" in faults(line(variant=None), both)[0]


@given(
    st.builds(
        Label,
        sample=st.text(),
        variant=st.text(),
        criterion=st.text(),
        rater=st.text(),
        score=st.fractions(),
        output=st.none() | st.just("0123456789abcdef"),
        chance=st.none() | st.fractions(0, 1),
        batch=st.none() | st.integers(1, 99),
        schema=st.none() | st.just(2),
    )
)
def test_what_the_store_keeps_comes_back(label: Label) -> None:
    """The score is exact, whatever it is."""
    assert read_human_label_row({**label.to_stored_row("now"), "run": "x"}) == replace(label, at="now")


def _with(run: RunTable, *rubrics: Any) -> Any:
    return replace(run.frame, rubrics=rubrics, variants={"only": ""}, control="only")
