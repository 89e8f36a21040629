"""Assertions as files write them: forms that mean the same, faults with their lines, a schema for editors."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from evenhand.assertions.assertion import Assertion, AssertionSet
from evenhand.assertions.kinds import ASSERTION_KINDS, KIND_ALIASES, build_assertions_schema
from evenhand.assertions.reading import read_assertions, read_plain_assertions
from evenhand.errors import Fault
from evenhand.files.parsing import parse_yaml_tree
from evenhand.files.tree import find_node_line
from tests.assertions.builders import checked, one

EXAMPLES: dict[str, list[object]] = {
    "contains": ["refund", 5, {"text": "refund", "ignore_case": True}],
    "not_contains": ["refund"],
    "contains_all": [["a", "b"], {"texts": ["a"]}],
    "contains_any": [["a", "b"], "a"],
    "equals": ["Paris", "", {}, {"to": "Paris"}, {"ignore_case": True}],
    "not_equals": ["Paris", {}],
    "regex": [r"\d+", {"pattern": "a", "ignore_case": True, "weight": 2}],
    "json_valid": [True, False],
    "json_schema": [{"type": "object"}, {}],
    "semantic_similarity": [0.8, {"min": 1, "to": "text"}],
    "rouge_n_min": [0.4, "2/5", {"min": 0.4, "n": 2}],
    "bleu_min": [0, {"min": 0.4, "to": "text"}],
    "levenshtein_max": [5, {"max": 5, "to": "text", "ignore_case": True}],
    "tool_output_contains": ["text", {"tool": "search", "text": "Berlin"}],
    "tool_input_contains": ["text", {"tool": "search", "text": "Berlin"}],
    "tool_input_not_contains": ["text"],
    "faithfulness": [0.8, {"min": 0.8}],
    "answer_relevancy": [0.8],
    "context_recall": [0.8],
    "starts_with": ["Dear"],
    "ends_with": ["Yours"],
    "min_length": [10, {"min": 10}],
    "max_length": [10],
    "word_count_min": [10],
    "word_count_max": [10],
    "cost_max": [0.01, {"max": 0.01, "not": True}],
    "latency_max": [2000],
    "turns_min": [1],
    "turns_max": [3],
    "tools_called": ["search", ["search", "open"]],
    "tool_called": ["search"],
    "tools_not_called": [["search"]],
    "tools_count_min": [1],
    "tools_count_max": [3],
    "custom": ["python:my_checks:polite", {"command": ["./check.sh", "-v"]}, {"function": "python:a.b:c.d"}],
    "assert_set": [
        {"any": [{"contains": "a"}], "weight": 3},
        {"all": [{"min_length": 1}, {"assert_set": {"any": [{"max_length": 9}]}}], "not": True, "name": "size"},
    ],
}
BAD: list[object] = [
    "json_valid",
    {},
    {"not": True},
    {"contians": "a"},
    {"contains": ""},
    {"contains": None},
    {"contains": ["a"]},
    {"contains": {}},
    {"contains": "a", "regex": "b"},
    {"contains": "a", "ignorecase": True},
    {"contains": "a", "n": 2},
    {"contains": {"text": "a", "n": 2}},
    {"contains": "a", "weight": 0},
    {"contains": "a", "weight": -1},
    {"contains": "a", "weight": "heavy"},
    {"contains": "a", "not": "yes"},
    {"contains": "a", "name": " "},
    {"contains_all": []},
    {"contains_all": ["a", ""]},
    {"starts_with": " "},
    {"json_valid": "true"},
    {"json_schema": [1]},
    {"bleu_min": 1.1},
    {"bleu_min": -0.1},
    {"bleu_min": "most"},
    {"rouge_n_min": {"n": 2}},
    {"rouge_n_min": {"min": 0.5, "n": 0}},
    {"min_length": 2.5},
    {"max_length": -1},
    {"cost_max": -1},
    {"tools_called": []},
    {"custom": "polite"},
    {"custom": {}},
    {"custom": {"command": "check.sh"}},
    {"custom": {"command": []}},
    {"custom": {"command": ["a"], "function": "python:a:b"}},
    {"assert_set": [{"contains": "a"}]},
    {"assert_set": {}},
    {"assert_set": {"any": []}},
    {"assert_set": {"any": {"contains": "a"}}},
    {"assert_set": {"any": [{"contains": "a"}], "all": [{"contains": "a"}]}},
    {"assert_set": {"any": [{"contains": ""}]}},
]
SCHEMA = {**build_assertions_schema(), "$ref": "#/$defs/assertions"}
GOOD = [{word: argument} for word, arguments in EXAMPLES.items() for argument in arguments]


def test_every_kind_has_an_example() -> None:
    """Here, so that the reader and the schema are held to all of them; the method lists 34."""
    assert set(EXAMPLES) == {*ASSERTION_KINDS, *KIND_ALIASES, "assert_set"}
    assert [sum(kind.layer == layer for kind in ASSERTION_KINDS.values()) for layer in ("fact", "behavior")] == [19, 15]


def test_the_schema_is_one() -> None:
    """By the schema of schemas."""
    schema_of_schemas = Draft202012Validator(Draft202012Validator.META_SCHEMA)

    assert [error.message for error in schema_of_schemas.iter_errors(SCHEMA)] == []


@pytest.mark.parametrize("data", GOOD, ids=json.dumps)
def test_what_the_reader_accepts_the_schema_accepts(data: dict[str, object]) -> None:
    """An editor marks nothing that works."""
    assert _schema_accepts(data)
    assert isinstance(one(data), (Assertion, AssertionSet))


@pytest.mark.parametrize("data", BAD, ids=json.dumps)
def test_what_the_reader_refuses_the_schema_refuses(data: object) -> None:
    """An editor marks what will be refused; a fault has a path into the list."""
    faults: list[Fault] = []

    read = read_plain_assertions([data], Path(), faults, ("assertions",))

    assert read == ()
    assert faults
    assert all(fault.path[:2] == ("assertions", 0) for fault in faults)
    assert not _schema_accepts(data)


@pytest.mark.parametrize(
    ("one_way", "another"),
    [
        ({"contains": "a", "ignore_case": True}, {"contains": {"text": "a", "ignore_case": True}}),
        ({"rouge_n_min": 0.4, "n": 2}, {"rouge_n_min": {"min": "2/5", "n": 2}}),
        ({"contains_any": "a"}, {"contains_any": ["a"]}),
        ({"tool_called": "a"}, {"tools_called": ["a"]}),
        ({"bleu_min": 0.5, "weight": 2, "not": True}, {"bleu_min": {"min": 0.5, "weight": 2, "not": True}}),
        (
            {"assert_set": {"any": [{"bleu_min": 1}]}, "name": "x"},
            {"assert_set": {"any": [{"bleu_min": 1}], "name": "x"}},
        ),
    ],
)
def test_two_ways_to_write_the_same(one_way: dict[str, object], another: dict[str, object]) -> None:
    """What may stand beside a kind may stand in its mapping."""
    assert one(one_way) == one(another)


def test_faults_are_told_with_their_lines() -> None:
    """All at once; what is right beside them is read."""
    text = """\
- contains: refund
- contians: refund
- {regex: "(", weight: 2}
- bleu_min:
    min: 1.5
- contains: a
  weight: 0
- assert_set:
    any:
      - contains: a
      - max_length: 5
- json_schema:
    type: objekt
- assert_set:
    all:
      - min_length: x
"""
    tree = parse_yaml_tree(text)
    assert tree is not None
    faults: list[Fault] = []

    read = read_assertions(tree, Path(), faults, ())

    assert [one.title for one in read] == ["contains 'refund'"]
    assert [(find_node_line(tree, fault.path), fault.what) for fault in faults] == [
        (2, "unknown assertion 'contians'"),
        (3, "pattern does not compile: missing ) at position 1"),
        (5, "min must lie between 0 and 1, got 1.5"),
        (7, "weight must be above 0"),
        (8, "a set mixes layers: \"contains 'a'\" look at facts, the others at behavior"),
        (12, "schema is not a JSON Schema: 'objekt' is not valid under any of the given schemas"),
        (16, "min must be a number, got 'x'"),
    ]
    assert faults[0].hint == "did you mean 'contains'?"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("schema.json", '{"minimum": 0.5, "type": ["number", "null"]}'),
        ("schema.yaml", "minimum: 0.5\ntype: [number, 'null']"),
    ],
)
def test_a_schema_may_stand_in_a_file(tmp_path: Path, name: str, text: str) -> None:
    """Found from the folder of the eval; its content counts, not its name."""
    (tmp_path / name).write_text(text, "utf-8")
    faults: list[Fault] = []

    read = read_plain_assertions([{"json_schema": name}], tmp_path, faults)

    assert faults == []
    assert read == (one({"json_schema": {"type": ["number", "null"], "minimum": 0.5}}),)


def test_a_broken_file_is_told_with_its_line(tmp_path: Path) -> None:
    """The line of the schema file, not of the eval only."""
    (tmp_path / "schema.json").write_text('{\n"type": }', "utf-8")
    faults: list[Fault] = []

    read_plain_assertions([{"json_schema": "schema.json"}], tmp_path, faults)

    assert f"cannot be taken from {tmp_path}/schema.json:2: not valid JSON" in faults[0].what


@pytest.mark.parametrize(("data", "count"), [(None, 0), ([], 0), ("contains: a", 1), ({"contains": "a"}, 1)])
def test_assertions_are_a_list_or_nothing(data: object, count: int) -> None:
    """Anything else is a fault with a hint."""
    faults: list[Fault] = []

    assert read_plain_assertions(data, Path(), faults) == ()
    assert [fault.hint for fault in faults] == ["begin each with a dash: - contains: refund"] * count


def test_data_nested_without_end_is_a_fault() -> None:
    """A line of JSONL may hold anything."""
    deep: object = {"contains": "a"}
    for _ in range(100):
        deep = {"assert_set": {"any": [deep]}}
    faults: list[Fault] = []

    assert read_plain_assertions([deep], Path(), faults, ("samples", 3)) == ()
    assert [str(fault) for fault in faults] == ["samples[3]: nested more than 60 deep"]


def test_words_are_texts_and_numbers_exact() -> None:
    """YAML's `yes` is a text to look for, and 0.3 is three tenths."""
    tree = parse_yaml_tree("[{contains: yes}, {contains: 1.50}, {cost_max: 0.3}]")
    assert tree is not None
    faults: list[Fault] = []

    read = read_assertions(tree, Path(), faults, ())

    assert [one.title for one in read] == ["contains 'yes'", "contains '1.50'", "cost_max 0.3"]


def test_every_rule_takes_the_parameters_of_its_kind() -> None:
    """The table and the functions cannot drift: every example is checked."""
    for data in GOOD:
        assert checked(data, "text").layer in ("fact", "behavior")


def _schema_accepts(data: object) -> bool:
    return Draft202012Validator(SCHEMA).is_valid([data])
