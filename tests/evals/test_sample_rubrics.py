"""Rubrics of single samples: before that of the tag, before that of the eval, and refused with their lines."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evenhand import EvalError
from evenhand.evals.eval_definition import Eval, check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.evals.eval_schema import eval_schema

LIST = ["Mentions divide-and-conquer", {"id": "complexity", "expected_outcome": "States O(n log n)", "weight": 2.0}]


def checked(folder: Path, text: str, environ: Mapping[str, str] | None = None) -> Eval:
    (folder / "eval.yaml").write_text(text, "utf-8")
    found = load_eval(folder / "eval.yaml", environ or {})
    return replace(found, own_rubrics=check_eval_samples(found, environ).rubrics)


def names(eval: Eval) -> dict[str, str | None]:
    rubrics = {sample.id: eval.rubric_for_sample(sample) for sample in eval.samples}
    return {id: rubric.name if rubric else None for id, rubric in rubrics.items()}


def test_a_sample_s_own_rubric_comes_before_its_tag_s_and_the_eval_s(tmp_path: Path) -> None:
    """By name, by file beside the eval, as a mapping, or as a list."""
    (tmp_path / "mine.yaml").write_text("criteria: [It is mine]\n")
    samples: list[dict[str, Any]] = [
        {"id": "named", "output": "o", "tags": ["code"], "rubric": "summary"},
        {"id": "in-a-file", "output": "o", "rubric": "mine.yaml"},
        {"id": "mapped", "output": "o", "rubric": {"name": "polite", "criteria": ["It is polite"]}},
        {"id": "listed", "output": "o", "rubrics": LIST},
        {"id": "tagged", "output": "o", "tags": ["code"]},
        {"id": "plain", "output": "o"},
    ]
    whole = {
        "samples": samples,
        "rubric": {"name": "all", "criteria": ["It is good"]},
        "rubrics": {"code": "code-review"},
    }

    assert names(checked(tmp_path, yaml.safe_dump(whole))) == {
        "named": "summary",
        "in-a-file": "mine",
        "mapped": "polite",
        "listed": "listed",
        "tagged": "code-review",
        "plain": "all",
    }
    jsonschema.validate(whole, eval_schema())


@pytest.mark.parametrize("rest", ["", "assertions: [{contains: a}]\n"])
def test_rubrics_at_the_top_may_be_the_list_of_one_rubric(tmp_path: Path, rest: str) -> None:
    """Copied from where lists of criteria are called rubrics, it is the rubric for all samples."""
    text = f"samples: [{{id: a, output: o}}]\n{yaml.safe_dump({'rubrics': LIST})}{rest}"

    (rubric,) = checked(tmp_path, text).rubrics.values()

    assert list(rubric.leaves) == ["rubric-1", "complexity"]
    jsonschema.validate(yaml.safe_load(text), eval_schema())


def test_equal_rubrics_are_one(tmp_path: Path) -> None:
    """Whether they are written as a list, as a mapping in another order, or as the eval's own."""
    samples = [
        {"id": "a", "output": "o", "rubrics": [{"id": "x", "expected_outcome": "X", "weight": 2}]},
        {"id": "b", "output": "o", "rubric": {"criteria": [{"weight": 2, "id": "x", "expected_outcome": "X"}]}},
        {"id": "c", "output": "o", "rubric": {"criteria": ["It is good"]}},
        {"id": "d", "output": "o", "rubrics": [{"id": "x", "expected_outcome": "X", "weight": 3}]},
    ]

    found = checked(tmp_path, yaml.safe_dump({"samples": samples, "rubrics": ["It is good"]}))

    assert list(found.all_rubrics) == ["", "sample:a", "sample:d"]
    assert [found.find_rubric_key(sample) for sample in found.samples] == ["sample:a", "sample:a", "", "sample:d"]


def test_rubrics_of_one_name_that_differ_stay_apart(tmp_path: Path) -> None:
    """Two mappings may be called the same."""
    own = [{"id": id, "output": "o", "rubric": {"name": "code", "criteria": [id]}} for id in ("a", "b")]

    assert names(checked(tmp_path, yaml.safe_dump({"samples": own}))) == {"a": "code", "b": "code-2"}


def test_tables_have_rubrics_too(tmp_path: Path) -> None:
    """A name or JSON in one column, the list as JSON in another; an empty cell is none."""
    cells = ["a,o,summary,", 'b,o,"{""criteria"": [""It is polite""]}",', 'c,o,,"[""It is X""]"', "d,o,,"]
    (tmp_path / "s.csv").write_text("\n".join(["id,output,rubric,rubrics", *cells]))

    found = checked(tmp_path, "samples: s.csv\nrubric: code-review\n")

    assert names(found) == {"a": "summary", "b": "b", "c": "c", "d": "code-review"}


def test_settings_in_the_environment_reach_them(tmp_path: Path) -> None:
    """As they reach the rubrics of an eval."""
    environ = {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.30", "LLM_COUNCIL_WEIGHT_RELEVANCE": "0.15"}

    found = checked(tmp_path, "samples: [{id: a, output: o, rubric: council}]\n", environ)

    assert str(found.all_rubrics["sample:council"].leaves["accuracy"].weight) == "3/10"


@pytest.mark.parametrize(
    ("sample", "told"),
    [
        ("rubric: sumary", "eval.yaml:4: no rubric is called 'sumary' (did you mean 'summary'?"),
        ("rubric: gone.yaml", "eval.yaml:4: there is no rubric file 'gone.yaml'"),
        ("rubric: bad.yaml", "bad.yaml:2: weight must be above 0, got -1"),
        ("rubric: [a]", "eval.yaml:4: rubric is a name, a file or a mapping, got a list (call it rubrics)"),
        ("rubrics: {code: summary}", "eval.yaml:4: rubrics of a sample are a list of criteria, got an object"),
        ("rubrics: []", "eval.yaml:4: rubrics of a sample are a list of criteria, got nothing"),
        ("rubrics: [a]\n    rubric: summary", "eval.yaml:4: rubric and rubrics are the same field"),
        ("rubrics:\n      - a\n      - {id: b, wieght: 2}", "eval.yaml:6: unknown field 'wieght'"),
        ("rubric:\n      criteria:\n        - {id: b, asks: c, weight: 0}", "eval.yaml:6: weight must be above 0"),
    ],
)
def test_a_wrong_rubric_in_a_sample_is_refused_with_its_line(tmp_path: Path, sample: str, told: str) -> None:
    """Before any judge is asked."""
    (tmp_path / "bad.yaml").write_text("criteria:\n  - {id: a, asks: b, weight: -1}\n")

    with pytest.raises(EvalError) as refused:
        checked(tmp_path, f"samples:\n  - id: a\n    output: o\n    {sample}\nrubric: summary\n")

    assert told in str(refused.value)


def test_in_a_file_the_line_is_the_sample_s_and_a_shared_fault_is_told_once(tmp_path: Path) -> None:
    """A file that thirty samples name is wrong once."""
    (tmp_path / "bad.yaml").write_text("criteria: []\n")
    rows = [{"output": "o", "rubric": "bad.yaml"}] * 3 + [{"output": "o", "rubrics": [{"id": "a"}]}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))

    with pytest.raises(EvalError) as refused:
        checked(tmp_path, "samples: s.jsonl\n")

    lines = str(refused.value).splitlines()
    assert [line.partition(": ")[0].rpartition("/")[2] for line in lines] == ["bad.yaml:1", "s.jsonl:4"]


def test_two_rubrics_for_all_samples_are_refused(tmp_path: Path) -> None:
    """A list of rubrics and a rubric say the same thing."""
    with pytest.raises(EvalError, match=r"eval.yaml:3: rubric and a list of rubrics are both the rubric for all"):
        checked(tmp_path, "samples: [{output: o}]\nrubric: summary\nrubrics: [It is good]\n")


def test_a_gate_on_the_judges_may_rest_on_rubrics_of_samples_alone(tmp_path: Path) -> None:
    """An eval needs no rubric of its own for it."""
    own = checked(tmp_path, "samples: [{output: o, rubrics: [It is good]}]\ngates: {judge: 4}\n")

    assert list(own.gates) == ["judge"]
