"""The forms in which a rubric loads."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from evenhand import load_rubric
from evenhand.errors import RubricError
from evenhand.files.methods import load_shipped_method_file
from evenhand.model.scale import ZERO_TO_TEN
from tests.files.files import ARRAY, CHECKLIST, MAP


def test_the_checklist_form_loads(tmp_path: Path) -> None:
    """Strings, both names of the question, weights and required."""
    (tmp_path / "r.yaml").write_text(CHECKLIST)

    rubric = load_rubric(tmp_path / "r.yaml")

    assert rubric.method.name == "checklist"
    assert rubric.name == "r"
    assert [(c.id, c.asks, float(c.weight), c.required) for c in rubric.criteria] == [
        ("rubric-1", "Mentions divide-and-conquer approach", 1.0, True),
        ("complexity", "States time complexity correctly", 2.0, True),
        ("examples", "Includes code examples", 1.0, False),
    ]


def test_both_forms_of_score_ranges_are_the_same_rubric() -> None:
    """A map of lower bounds is short for the list of ranges; JSON gives its keys as strings."""
    by_map, by_array = (load_rubric(yaml.safe_load(text)) for text in (MAP, ARRAY))
    from_json = load_rubric(json.loads(json.dumps(yaml.safe_load(MAP))))

    assert by_map == by_array == from_json
    assert by_map.method.name == "score-ranges"
    assert [(int(a.min), int(a.max)) for a in by_map.criteria[0].anchors] == [(0, 2), (3, 5), (6, 8), (9, 10)]
    assert by_map.criteria[0].scale == ZERO_TO_TEN


def test_a_json_file_is_a_rubric_too(tmp_path: Path) -> None:
    """Emoji written as surrogate pairs, slashes with a backslash: JSON as other tools write it."""
    path = tmp_path / "r.json"
    path.write_text('{"criteria": [{"id": "a", "asks": "smile \\ud83d\\ude00 and\\/or \\u00e9", "weight": 1e0}]}')

    assert load_rubric(path).criteria[0].asks == "smile 😀 and/or é"


@pytest.mark.parametrize("word", ["no", "on", "yes", "null", "1.0", "0x1f", "2026-11-15"])
def test_an_id_is_text_whatever_it_looks_like(word: str, tmp_path: Path) -> None:
    """`id: no` is not the boolean false."""
    (tmp_path / "r.yaml").write_text(f"criteria:\n  - id: '{word}'\n    asks: x\n")

    assert load_rubric(tmp_path / "r.yaml").criteria[0].id == word


def test_without_a_method_the_kind_of_criteria_decides() -> None:
    """Checklist, score ranges, points or a tree."""
    kinds = {
        "checklist": {"id": "a", "asks": "?"},
        "score-ranges": {"id": "a", "asks": "?", "scale": "1-5"},
        "points": {"id": "a", "asks": "?", "points": 3},
        "tree": {"id": "a", "children": ["x", "y"]},
    }

    assert {name: load_rubric({"criteria": [entry]}).method.name for name, entry in kinds.items()} == {
        name: name for name in kinds
    }


def test_without_criteria_the_methods_own_apply() -> None:
    """A domain rubric may add flags only."""
    rubric = load_rubric({"method": "judge-skill", "red_flags": ["slow"]})

    assert rubric.criteria == load_shipped_method_file("judge-skill").criteria


def test_a_string_flag_is_its_own_id() -> None:
    """Flags are strings or {id, asks, amount}."""
    rubric = load_rubric(
        {"method": "judge-skill", "red_flags": ["made up", {"id": "slow", "asks": "Takes long.", "amount": 1}]}
    )

    assert [(flag.id, flag.asks, flag.amount) for flag in rubric.red_flags] == [
        ("made up", "made up", None),
        ("slow", "Takes long.", Fraction(1)),
    ]


@pytest.mark.parametrize("weight", ["1/3", "0.25"])
def test_a_weight_may_be_a_fraction(weight: str, tmp_path: Path) -> None:
    """Thirds have no decimals."""
    (tmp_path / "r.yaml").write_text(f"criteria:\n  - {{id: a, asks: x, weight: {weight}}}\n")

    assert load_rubric(tmp_path / "r.yaml").criteria[0].weight == Fraction(weight)
    assert load_rubric({"criteria": [{"id": "a", "asks": "x", "weight": Fraction(weight)}]}).criteria[
        0
    ].weight == Fraction(weight)


def test_a_method_may_stand_in_its_own_file(tmp_path: Path) -> None:
    """Beside the rubric, with grades and verdicts."""
    (tmp_path / "strict.yaml").write_text(
        "scale: {min: 0, max: 10, decimals: 1}\ncriterion_scale: 0-10\nsteps: [weighted_mean]\n"
        "grades: [{grade: top, from: 9, label: Ship}, {grade: rest, from: 0}]\nverdicts: {pass: 9}\n"
    )
    (tmp_path / "r.yaml").write_text("method: strict.yaml\ncriteria:\n  - {id: a, asks: Right?}\n")

    rubric = load_rubric(tmp_path / "r.yaml")

    assert (rubric.method.name, str(rubric.criteria[0].scale)) == ("strict", "0–10")


def test_a_criterion_of_the_method_keeps_what_is_not_said_anew() -> None:
    """Weight, question, anchors and scale of the method's own criterion of that id."""
    rubric = load_rubric(
        {"method": "council", "criteria": [{"id": "accuracy"}, {"id": "brevity", "asks": "?", "weight": 0.65}]}
    )

    assert rubric.criteria[0] == load_shipped_method_file("council").criteria[0]


@pytest.mark.parametrize(("written", "weight"), [("40%", "0.4"), ("'12.5%'", "0.125"), ("100%", "1"), ("0.4", "0.4")])
def test_a_weight_may_be_a_percentage(written: str, weight: str, tmp_path: Path) -> None:
    """As people write the parts of a hundred."""
    (tmp_path / "r.yaml").write_text(f"criteria:\n  - {{asks: x, weight: {written}}}\n")

    assert load_rubric(tmp_path / "r.yaml").criteria[0].weight == Fraction(weight)


def test_percentages_and_decimals_are_the_same_rubric() -> None:
    """Fingerprints go by what is meant."""
    shares = {"correctness": "60%", "safety": "40%"}, {"correctness": 0.6, "safety": 0.4}
    one, other = (
        load_rubric({"method": "judge-skill", "criteria": [{"id": id, "weight": weight} for id, weight in own.items()]})
        for own in shares
    )

    assert one == other


def test_what_only_a_rubric_has_is_sent_there(tmp_path: Path) -> None:
    """Whoever copies a method file, and adds red flags to it, learns where they go."""
    (tmp_path / "own.yaml").write_text("scale: 0-1\nsteps: [weighted_mean]\nties: []\nred_flags: [x]\n")

    with pytest.raises(
        RubricError, match=r"unknown field 'red_flags' \(it belongs in a rubric with 'method: own.yaml'"
    ):
        load_rubric(tmp_path / "own.yaml")
