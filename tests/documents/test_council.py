"""Document 001, structured rubric scoring: its JSON, code, tables and settings, with METHODS' corrections."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand import Rubric, load_rubric, score
from tests.cli.command import evenhand
from tests.documents.read import list_blocks, read_document, read_table


@pytest.fixture(scope="module")
def document(shared: Path) -> str:
    return read_document(shared, "001")


@pytest.fixture(scope="module")
def printed(document: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two reviews that the document prints: one score for the whole, and one per criterion."""
    first, second = (json.loads(block) for block in list_blocks(document, "json"))
    return first, second


def _percents(rows: list[dict[str, str]], column: str) -> dict[str, int]:
    found = {row["Criterion"].lower(): re.match(r"(\d+)%", row[column]) for row in rows}
    return {name: int(share[1]) for name, share in found.items() if share}


def _weights(rubric: Rubric) -> dict[str, int]:
    return {one.id: int(one.weight * 100) for one in rubric.criteria}


def test_the_weights_of_both_versions(document: str) -> None:
    updated = read_table(document, "| Updated |")

    assert _weights(load_rubric("council-v1")) == _percents(read_table(document, "| Weight |"), "Weight")
    assert _weights(load_rubric("council-v1")) == _percents(updated, "Original")
    assert _weights(load_rubric("council")) == _percents(updated, "Updated")


def test_the_printed_evaluations_give_the_printed_scores(printed: tuple[dict[str, Any], ...]) -> None:
    """8.15 for A and 6.00 for C; Response B is 8.10, not the 8.0 that was printed, and that is said."""
    _, evaluations = printed
    outputs = [
        {"id": id, "scores": {name: value for name, value in given.items() if name not in ("overall", "notes")}}
        | {"overall": given["overall"]}
        for id, given in evaluations["evaluations"].items()
    ]

    scores = score("council-v1", outputs)

    assert {card.id: float(card.score or 0) for card in scores.scorecards} == {
        "Response A": 8.15,
        "Response B": 8.1,
        "Response C": 6.0,
    }
    assert scores.ranking is not None
    assert [place.id for place in scores.ranking] == evaluations["ranking"]
    noted = {card.id: " ".join(map(str, card.notes)) for card in scores.scorecards}
    assert "differs from 8.10" in noted["Response B"]
    assert "claimed" not in noted["Response A"] + noted["Response C"]


def test_both_printed_reviews_are_read_word_for_word(document: str, tmp_path: Path) -> None:
    """As they stand in the document, by the command: nothing has to be renamed first."""
    told = []
    for number, block in enumerate(list_blocks(document, "json")):
        (tmp_path / f"{number}.json").write_text(block, "utf-8")
        done = evenhand("score", "-r", "council-v1", f"{number}.json", "--json", folder=tmp_path)
        told.append(
            {card["id"]: (card["score"], " ".join(card["notes"])) for card in json.loads(done.stdout)["scorecards"]}
        )

    assert [{id: score for id, (score, _) in one.items()} for one in told] == [
        {"Response A": 8.0, "Response B": 6.0},
        {"Response A": 8.15, "Response B": 8.1, "Response C": 6.0},
    ]
    assert "Factually solid" in told[1]["Response A"][1]
    assert "claimed score 8.0 differs from 8.10" in told[1]["Response B"][1]


def _defined(document: str, name: str) -> Callable[[Mapping[str, float]], float]:
    """The function that the document prints, to run beside ours."""
    (code,) = (block for block in list_blocks(document, "python") if f"def {name}(" in block)
    scope: dict[str, Any] = {"Dict": dict}
    exec(code, scope)  # The document's own example.
    return scope[name]  # type: ignore[no-any-return]


@pytest.mark.parametrize("accuracy", [1, 3, 4, 4.5, 5, 6, 6.5, 7, 8, 10])
@pytest.mark.parametrize("others", [(9, 9, 9), (10, 10, 10), (2, 5, 7), (1, 1, 1)])
def test_our_ceiling_is_the_one_that_is_printed(document: str, accuracy: float, others: tuple[int, ...]) -> None:
    printed = _defined(document, "calculate_weighted_score_with_accuracy_ceiling")
    scores = dict(zip(("accuracy", "completeness", "conciseness", "clarity"), (accuracy, *others), strict=True))

    (card,) = score("council-v1", [{"id": "output", "scores": scores}]).scorecards

    assert float(card.score or 0) == pytest.approx(
        printed(scores), abs=0.0101
    )  # Floats round 5.175 down; ours is exact.


def test_the_weighted_score_without_its_ceiling(document: str) -> None:
    """The first function printed: above an accuracy of 7 no ceiling applies, and both agree."""
    printed = _defined(document, "calculate_weighted_score")
    scores = {"accuracy": 7, "completeness": 9, "conciseness": 9, "clarity": 8}

    (card,) = score("council-v1", [{"id": "output", "scores": scores}]).scorecards

    assert float(card.score or 0) == printed(scores) == 8.1


def test_the_well_written_hallucination_is_capped(document: str) -> None:
    """It would have 6.90 by weights alone (the document says 7.35), and gets 4."""
    (example,) = re.findall(r"A well-written hallucination \((.*?)\)", document)
    scores = {name.lower(): int(value) for name, value in re.findall(r"(\w+)=(\d+)", example)}

    (card,) = score("council-v1", [{"id": "output", "scores": scores}]).scorecards

    assert card.score == 4
    assert [round(float(step.after or 0), 2) for step in card.steps][:2] == [6.9, 4.0]


def test_what_is_skipped_in_the_printed_code_is_missing_here(document: str) -> None:
    """The printed code takes a criterion that was left out as nothing at all; no number is made up for it here."""
    printed = _defined(document, "calculate_weighted_score_with_accuracy_ceiling")
    scores = {"completeness": 9, "conciseness": 9, "clarity": 9}

    (card,) = score("council-v1", [{"id": "output", "scores": scores}]).scorecards

    assert printed(scores) == pytest.approx(5.85)
    assert (card.score, card.verdict) == (None, "incomplete")


def test_every_row_of_the_table_of_ceilings(document: str) -> None:
    for row in read_table(document, "| Accuracy Score | Ceiling"):
        accuracy = {"< 5": 4, "5-6": 6, "≥ 7": 7}[row["Accuracy Score"]]
        most = re.match(r"[\d.]+", row["Ceiling"])
        scores = {one.id: 10 for one in load_rubric("council").criteria} | {"accuracy": accuracy}

        (card,) = score("council", [{"id": "output", "scores": scores}]).scorecards

        assert float(card.score or 0) == (float(most[0]) if most else 8.95), row


def test_every_criterion_is_anchored_at_the_documents_levels(document: str) -> None:
    """Five tables of five levels: what our rubric gives the judge covers the same scores, in words of our own."""
    for criterion in load_rubric("council").criteria:
        section = document[document.index(f"### {criterion.id.title()} Anchors") :]
        printed = [row["Score"] for row in read_table(section, "| Score |")]

        anchors = [f"{anchor.min}-{anchor.max}" for anchor in criterion.anchors]

        assert len(printed) == 5
        assert anchors == printed, criterion.id


def test_the_printed_weights_can_be_set_by_their_variables(document: str, tmp_path: Path) -> None:
    """The configuration that is printed, with other numbers; a sum other than 1 is refused."""
    (code,) = (block for block in list_blocks(document, "python") if "RUBRIC_WEIGHTS" in block)
    names = re.findall(r"LLM_COUNCIL_WEIGHT_\w+", code)
    assert len(names) == 4
    other = dict(zip(names, ("0.25", "0.25", "0.25", "0.25"), strict=True))
    answers = [{"id": "a", "scores": {"accuracy": 10, "completeness": 8, "conciseness": 8, "clarity": 6}}]
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf-8")

    command = ("score", "--rubric", "council-v1", "answers.json", "--json")
    scored = evenhand(*command, folder=tmp_path, **other)
    refused = evenhand(*command, folder=tmp_path, **{**other, names[0]: "0.5"})

    assert json.loads(scored.stdout)["scorecards"][0]["score"] == 8
    assert refused.returncode == 2
    assert "1.25" in refused.stderr


def test_the_exported_settings_of_the_safety_gate(document: str, tmp_path: Path) -> None:
    """The shell block as printed turns the gate on and caps at 0; without it nothing is looked for."""
    (block,) = list_blocks(document, "bash")
    exported = dict(re.findall(r"^export (\w+)=(\S+)$", block, re.MULTILINE))
    scores = {one.id: 9 for one in load_rubric("council").criteria}
    answers = [{"id": "a", "scores": scores, "unsafe": "weapon_making"}]
    (tmp_path / "answers.json").write_text(json.dumps(answers), "utf-8")

    by_default = evenhand("score", "--rubric", "council", "answers.json", "--json", folder=tmp_path)
    gated = evenhand("score", "--rubric", "council", "answers.json", "--json", folder=tmp_path, **exported)

    assert exported == {"LLM_COUNCIL_SAFETY_GATE": "true", "LLM_COUNCIL_SAFETY_SCORE_CAP": "0.0"}
    assert json.loads(by_default.stdout)["scorecards"][0]["score"] == 0  # A finding already made always caps.
    assert json.loads(gated.stdout)["scorecards"][0]["score"] == 0
