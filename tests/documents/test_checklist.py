"""Document 002, the rubric evaluator: its blocks are rubric files as they stand, its tables hold."""

import json
import textwrap
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import RubricError, Scorecard, load_rubric, score
from evenhand.evals.eval_definition import check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.model.rubric import Rubric
from tests.cli.command import evenhand
from tests.documents.read import list_blocks, read_document, read_table


@pytest.fixture(scope="module")
def document(shared: Path) -> str:
    return read_document(shared, "002")


@pytest.fixture(scope="module")
def blocks(document: str) -> list[str]:
    """The checklist, the map of score ranges, and the array of them, which the document shows without its criterion."""
    checklist, ranges, array = list_blocks(document, "yaml")
    head = ranges[: ranges.index("    score_ranges:")]
    return [checklist, ranges, head + array]


def load_block(block: str, folder: Path) -> Rubric:
    path = folder / "rubric.yaml"
    path.write_text(textwrap.dedent(block), "utf-8")
    return load_rubric(path)


def compute_answers_scorecard(rubric: Rubric, **answers: object) -> Scorecard:
    return score(rubric, [{"id": "output", "scores": answers}]).scorecards[0]


def test_the_checklist_as_it_stands(blocks: list[str], tmp_path: Path) -> None:
    """A plain string is required and weighs 1; its id is made up and stays."""
    rubric = load_block(blocks[0], tmp_path)

    assert [(one.id, int(one.weight)) for one in rubric.criteria] == [
        ("rubric-1", 1),
        ("complexity", 2),
        ("examples", 1),
    ]
    all_met = compute_answers_scorecard(rubric, **{"rubric-1": True, "complexity": True, "examples": True})
    without_examples = compute_answers_scorecard(rubric, **{"rubric-1": True, "complexity": True, "examples": False})
    without_complexity = compute_answers_scorecard(rubric, **{"rubric-1": True, "complexity": False, "examples": True})
    assert (all_met.exact, all_met.verdict) == (Fraction(1), "pass")
    assert (without_examples.exact, without_examples.verdict) == (Fraction(3, 4), "borderline")
    assert (without_complexity.verdict, without_complexity.gates_failed) == ("fail", ("complexity",))


@pytest.mark.parametrize("form", [1, 2])
def test_both_forms_of_score_ranges_are_one_rubric(blocks: list[str], form: int, tmp_path: Path) -> None:
    """Each score lies in the range the document gives it; 7 is the least that passes the gate."""
    rubric = load_block(blocks[form], tmp_path)

    cards = {raw: compute_answers_scorecard(rubric, correctness=raw) for raw in range(11)}

    assert [card.exact for card in cards.values()] == [Fraction(raw, 10) for raw in range(11)]
    assert [card.verdict for card in cards.values()] == ["fail"] * 7 + ["borderline"] + ["pass"] * 3
    assert [bool(card.gates_failed) for card in cards.values()] == [True] * 7 + [False] * 4


def test_both_forms_have_the_same_ranges(blocks: list[str], tmp_path: Path) -> None:
    by_map, by_array = (load_block(block, tmp_path).criteria[0].scale for block in blocks[1:])

    assert by_map == by_array


@pytest.mark.parametrize(
    ("ranges", "told"),
    [
        ("{3: Minor bugs, 6: Correct}", "0"),
        ("[{score_range: [0, 4], expected_outcome: Bad}, {score_range: [6, 10], expected_outcome: Ok}]", "5"),
        ("[{score_range: [0, 6], expected_outcome: Bad}, {score_range: [6, 10], expected_outcome: Ok}]", "6"),
        (
            "[{score_range: [0, 4.5], expected_outcome: Bad}, {score_range: [5, 10], expected_outcome: Ok}]",
            "whole",
        ),
    ],
)
def test_ranges_that_the_document_forbids_are_refused(ranges: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(RubricError, match=told):
        load_block(f"rubrics:\n  - id: correctness\n    score_ranges: {ranges}\n", tmp_path)


def test_the_defaults_of_the_field_reference(document: str, tmp_path: Path) -> None:
    """Every field of the table is read, with its default; `description` is an alias."""
    fields = {row["Field"]: row["Default"] for row in read_table(document, "| Field")}
    assert (fields["id"], fields["weight"], fields["required"]) == ("auto-generated", "1.0", "true")

    rubric = load_block("rubrics:\n  - description: Names the page\n  - expected_outcome: Is short\n", tmp_path)

    assert [(one.id, int(one.weight)) for one in rubric.criteria] == [("rubric-1", 1), ("rubric-2", 1)]
    assert compute_answers_scorecard(rubric, **{"rubric-1": True, "rubric-2": False}).gates_failed == ("rubric-2",)
    with pytest.raises(RubricError, match="expected_outcome"):
        load_block("rubrics:\n  - id: empty\n", tmp_path)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([8, 8], "pass"),
        ([7, 7], "borderline"),
        ([6, 6], "borderline"),
        ([5, 5], "fail"),
        ([10, 2], "fail"),
        ([9, 6], "pass"),
    ],
)
def test_the_table_of_verdicts(document: str, answers: list[int], expected: str) -> None:
    """0.8 and 0.6 are on the better side, and a gate fails whatever the score is (10 and 2 average above 0.6)."""
    conditions = {row["Verdict"]: row["Condition"] for row in read_table(document, "| Verdict")}
    assert conditions["pass"].startswith("score >= 0.8")
    assert conditions["borderline"].startswith("score >= 0.6")
    ranges = {0: "bad", 5: "good"}
    rubric = load_rubric(
        {
            "rubrics": [
                {"id": "first", "weight": 2, "score_ranges": ranges},
                {"id": "second", "weight": 1, "required_min_score": 3, "score_ranges": ranges},
            ]
        }
    )

    card = compute_answers_scorecard(rubric, first=answers[0], second=answers[1])

    assert card.verdict == expected


def test_the_command_takes_the_block_from_the_document(blocks: list[str], tmp_path: Path) -> None:
    """What its author would type: score and judge with the file as it was printed."""
    (tmp_path / "rubric.yaml").write_text(blocks[0], "utf-8")
    answers: list[dict[str, Any]] = [{"id": "a", "scores": {"rubric-1": True, "complexity": False, "examples": True}}]
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf-8")
    (tmp_path / "a.md").write_text("Merge sort is a divide-and-conquer algorithm.", "utf-8")

    checked = evenhand("rubric", "check", "rubric.yaml", folder=tmp_path)
    scored = evenhand("score", "--rubric", "rubric.yaml", "answers.json", folder=tmp_path)
    judged = evenhand("judge", "--rubric", "rubric.yaml", "a.md", folder=tmp_path)

    assert (checked.returncode, checked.stderr) == (0, "")
    assert scored.returncode == 1
    assert "complexity" in scored.stdout
    assert judged.returncode in (0, 1), judged.stderr
    assert "rubric-1" in judged.stdout


@pytest.mark.parametrize("place", ["the eval", "a sample"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_block_is_the_rubric_of_an_eval_or_of_one_sample(
    blocks: list[str], number: int, place: str, tmp_path: Path
) -> None:
    """Copied to the top of an eval file, or into a sample: it asks what it asks as a file of its own."""
    block = textwrap.dedent(blocks[number])
    samples = "samples:\n  - id: sort\n    input: Explain merge sort.\n    output: It halves the list.\n"
    text = f"{samples}{textwrap.indent(block, '    ')}" if place == "a sample" else f"{samples}{block}"
    (tmp_path / "eval.yaml").write_text(text, "utf-8")

    eval = load_eval(tmp_path / "eval.yaml", {})
    eval = replace(eval, own_rubrics=check_eval_samples(eval).rubrics)

    (found,) = eval.all_rubrics.values()
    alone = load_block(block, tmp_path)
    assert (found.criteria, found.method) == (alone.criteria, alone.method)
