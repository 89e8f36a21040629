"""What ships: rubrics and the starter without a warning, and a schema that knows what the reader knows."""

import asyncio
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from evenhand import Sample, load_rubric
from evenhand.files.criteria import CRITERION_FIELDS, GATE_FIELDS, STATEMENT_FIELDS
from evenhand.files.methods import LIBRARY, list_method_yaml_names, list_rubric_file_names, read_starter_rubric_yaml
from evenhand.files.rubric_schema import build_rubric_file_schema
from evenhand.files.rubrics import RUBRIC_FIELDS, read_rubric_file_text
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.model.method import STEPS
from evenhand.model.scale import YES_NO
from evenhand.scoring.rubric_advice import find_doubtful_score_parts
from evenhand.scoring.scores import compute_fingerprint
from tests.files.files import ARRAY, CHECKLIST, MAP
from tests.judging.scripted import Scripted


@pytest.mark.parametrize("name", list_rubric_file_names())
def test_every_shipped_rubric_is_without_fault_and_without_warning(name: str) -> None:
    """We keep our own advice: anchors for every scale, nothing vague, gates that bite."""
    rubric = load_rubric(name)

    assert find_doubtful_score_parts(rubric) == []
    assert all(leaf.anchors or leaf.scale is YES_NO for leaf in rubric.leaves.values())


@pytest.mark.parametrize("name", sorted(path.stem for path in (LIBRARY / "rubrics").glob("*.yaml")))
def test_every_ready_rubric_has_what_a_practitioner_expects(name: str) -> None:
    """Five or more criteria with five anchors each, red flags and bonuses."""
    rubric = load_rubric(name)

    assert len(rubric.criteria) >= 5
    assert all(len(criterion.anchors) == 5 for criterion in rubric.criteria)
    assert len(rubric.red_flags) >= 4
    assert len(rubric.bonuses) >= 3


def test_the_ten_ready_rubrics_ship() -> None:
    """And the four that methods bring along."""
    assert set(list_rubric_file_names()) == {
        "judge-skill", "council", "council-v1", "layered",
        "code-review", "technical-writing", "research-report", "summary", "rag-answer", "customer-support",
        "agent-trajectory", "skill-review", "code-change", "runbook",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["skill-review", "code-change", "runbook"])
def test_a_domain_rubric_keeps_the_seven_dimensions(name: str) -> None:
    """With their weights; what is special to the domain are the questions, the anchors, the red flags and the bonuses."""
    rubric, general = load_rubric(name), load_rubric("judge-skill")

    assert {one.id: one.weight for one in rubric.criteria} == {one.id: one.weight for one in general.criteria}
    assert {one.asks for one in rubric.criteria}.isdisjoint(one.asks for one in general.criteria)


def test_the_starter_is_a_rubric_without_warnings(tmp_path: Path) -> None:
    """A newcomer's first file must be a good one."""
    (tmp_path / "rubric.yaml").write_text(read_starter_rubric_yaml())

    assert find_doubtful_score_parts(load_rubric(tmp_path / "rubric.yaml")) == []


def test_the_schema_accepts_what_loads_and_refuses_what_does_not() -> None:
    """Editors underline what the reader would refuse."""
    check = jsonschema.Draft202012Validator(build_rubric_file_schema())
    good = [yaml.safe_load(read_rubric_file_text(path.stem)) for path in (LIBRARY / "rubrics").glob("*.yaml")]
    good += [yaml.safe_load(text) for text in (CHECKLIST, ARRAY, read_starter_rubric_yaml())]
    good += [json.loads(json.dumps(yaml.safe_load(MAP)))]
    methods = [yaml.safe_load((LIBRARY / "methods" / f"{name}.yaml").read_text()) for name in list_method_yaml_names()]
    good += [{"criteria": ["x"], "steps": method["steps"]} for method in methods]
    bad = [
        {"critera": []},
        {"criteria": [{"wieght": 1}]},
        {"criteria": [{"weight": 0}]},
        {"steps": ["ceiling"]},
        {"steps": [{"clamp": {"mim": 1}}]},
        {"gates": [{"min": 1}]},
        {"panel": {"aggregate": "average"}},
        {"criteria": [{"score_ranges": {"1": "x"}}]},
    ]

    assert [list(check.iter_errors(rubric)) for rubric in good] == [[]] * len(good)
    assert [check.is_valid(rubric) for rubric in bad] == [False] * len(bad)


def test_the_schema_knows_every_field_the_reader_knows() -> None:
    """They cannot drift apart."""
    schema = build_rubric_file_schema()

    assert set(schema["properties"]) == set(RUBRIC_FIELDS)
    assert set(schema["$defs"]["criterion"]["properties"]) == set(CRITERION_FIELDS)
    assert set(schema["$defs"]["statement"]["properties"]) == set(STATEMENT_FIELDS)
    assert set(schema["$defs"]["gate"]["properties"]) == set(GATE_FIELDS)
    assert len(schema["$defs"]["step"]["anyOf"]) == len(STEPS)


@pytest.mark.parametrize("name", list_rubric_file_names())
def test_a_shipped_rubric_can_be_copied_and_changed(name: str, tmp_path: Path) -> None:
    """`rubric show NAME --yaml > mine.yaml` gives a file that loads as the same rubric."""
    (tmp_path / "mine.yaml").write_text(read_rubric_file_text(name))

    assert compute_fingerprint(load_rubric(tmp_path / "mine.yaml")) == compute_fingerprint(load_rubric(name))


@pytest.mark.parametrize("name", list_rubric_file_names())
def test_every_shipped_rubric_can_be_judged(name: str) -> None:
    """No criterion is called like a field of replies."""
    rubric = load_rubric(name)
    judge = Scripted(lambda _: "I cannot assess this.")

    judged = asyncio.run(ask_judges_for_reviews(rubric, Sample(outputs={"a": "A text."}), [judge]))

    assert len(judge.asked) == 1
    assert judged.scores["a"].verdict == "incomplete"
