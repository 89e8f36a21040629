"""Rubric files: the forms that load, and wrong files refused with file:line, what is wrong and what would work."""

import json
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
import yaml

from evenhand import RubricError, load_rubric
from evenhand.loading import (
    load_method,
    method_names,
    open_rubric,
    rubric_names,
    rubric_schema,
    rubric_source,
    starter_rubric,
    with_environment,
)
from evenhand.loading._criteria import CRITERION_FIELDS, GATE_FIELDS, STATEMENT_FIELDS
from evenhand.loading._library import LIBRARY
from evenhand.loading._rubrics import RUBRIC_FIELDS
from evenhand.model import STEPS, YES_NO, ZERO_TO_TEN
from evenhand.scoring import advise, fingerprint

CHECKLIST = """\
rubrics:
  - Mentions divide-and-conquer approach
  - id: complexity
    expected_outcome: States time complexity correctly
    weight: 2.0
    required: true
  - id: examples
    description: Includes code examples
    weight: 1.0
    required: false
"""
MAP = """\
rubrics:
  - id: correctness
    weight: 2.0
    required_min_score: 7
    score_ranges:
      0: Critical bugs
      3: Minor bugs
      6: Correct with minor issues
      9: Fully correct
"""
ARRAY = """\
rubrics:
  - id: correctness
    weight: 2.0
    required_min_score: 7
    score_ranges:
      - score_range: [0, 2]
        expected_outcome: Critical bugs
      - score_range: [3, 5]
        expected_outcome: Minor bugs
      - score_range: [6, 8]
        expected_outcome: Correct with minor issues
      - score_range: [9, 10]
        expected_outcome: Fully correct
"""


def faults(text: str, tmp_path: Path, name: str = "r.yaml") -> list[str]:
    """What is said about a wrong file, without the folder."""
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    return str(caught.value).replace(f"{tmp_path}/", "").splitlines()


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

    assert rubric.criteria == load_method("judge-skill").criteria


def test_a_string_flag_is_its_own_id() -> None:
    """Flags are strings or {id, asks, amount}."""
    rubric = load_rubric(
        {"method": "judge-skill", "red_flags": ["made up", {"id": "slow", "asks": "Takes long.", "amount": 1}]}
    )

    assert [(flag.id, flag.asks, flag.amount) for flag in rubric.red_flags] == [
        ("made up", "made up", None),
        ("slow", "Takes long.", Fraction(1)),
    ]


def test_all_faults_come_at_once_each_with_its_line(tmp_path: Path) -> None:
    """One round of corrections, not seven."""
    text = """\
name: broken
method: judge-skill
critera: []
criteria:
  - id: accuracy
    asks: Right?
    weight: 0
  - id: accuracy
    asks: Right again?
    wieght: 0.5
  - id: style
    weight: heavy
gates:
  - {criterion: acuracy, min: 5}
red_flags:
  - {id: slow, asks: Takes long., amount: -1}
"""

    assert faults(text, tmp_path) == [
        "r.yaml:3: unknown field 'critera' (did you mean 'criteria'?)",
        "r.yaml:7: weight must be above 0, got 0 (to subtract for a fault, list it under red_flags or give it "
        "negative points)",
        "r.yaml:8: the id 'accuracy' is used twice (ids are unique)",
        "r.yaml:10: unknown field 'wieght' (did you mean 'weight'?)",
        "r.yaml:11: criterion 'style' asks nothing (add asks (or expected_outcome), or score_ranges)",
        "r.yaml:12: weight must be a number, got 'heavy'",
        "r.yaml:14: gate names unknown criterion 'acuracy' (did you mean 'accuracy'?)",
        "r.yaml:16: amount must be above 0, got -1",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["r.yaml: the file is empty (evenhand rubric init writes a starter)"]),
        ("# only a comment\n", ["r.yaml: the file is empty (evenhand rubric init writes a starter)"]),
        ("- a\n- b\n", ["r.yaml:1: a rubric file is a mapping, got a list (see: evenhand rubric init)"]),
        (
            "name: x\n",
            [
                "r.yaml:1: no criteria: the method 'checklist' has none of its own, and the rubric lists none (list them under criteria)"
            ],
        ),
        (
            "criteria: []\n",
            [
                "r.yaml:1: no criteria: the method 'checklist' has none of its own, and the rubric lists none (list them under criteria)"
            ],
        ),
        ("method: jugde-skill\n", ["r.yaml:1: unknown method 'jugde-skill' (did you mean 'judge-skill'?)"]),
        (
            "criteria:\n  - {id: a}\n",
            ["r.yaml:2: criterion 'a' asks nothing (add asks (or expected_outcome), or score_ranges)"],
        ),
        (
            "method: council\ncriteria:\n  - {id: accuracy, weight: 0.5}\n  - {id: clarity, weight: 0.4}\n",
            ["r.yaml:2: the weights sum to 0.9, not 1 (council needs weights that sum to 1)"],
        ),
        (
            "method: council\ncriteria:\n  - {id: truth, asks: '?', weight: 1}\n",
            ["r.yaml:1: the ceiling of 'council' names unknown criterion 'accuracy' (known: truth)"],
        ),
        (
            "criteria:\n  - id: a\n    score_ranges: {0: x, 4: y}\n    required_min_score: 11\n",
            ["r.yaml:4: required_min_score 11 is outside 0–10"],
        ),
        (
            "criteria:\n  - id: a\n    score_ranges: {1: x, 4: y}\n",
            ["r.yaml:3: the ranges leave a gap at 0 (ranges cover 0 to 10 in whole numbers, without overlap or gap)"],
        ),
        (
            "criteria:\n  - id: a\n    score_ranges:\n      - {score_range: [0, 5], expected_outcome: x}\n"
            "      - {score_range: [5, 10], expected_outcome: y}\n",
            ["r.yaml:3: the ranges overlap at 5 (ranges cover 0 to 10 in whole numbers, without overlap or gap)"],
        ),
        (
            "criteria:\n  - id: a\n    score_ranges:\n      - {score_range: [0, 5], expected_outcome: x}\n"
            "      - {score_range: [7, 9], expected_outcome: y}\n",
            ["r.yaml:3: the ranges leave a gap at 6 (ranges cover 0 to 10 in whole numbers, without overlap or gap)"],
        ),
        (
            "criteria:\n  - id: a\n    score_ranges: {0: x, 2.5: y}\n",
            ["r.yaml:3: '2.5' is not a whole number from 0 to 10"],
        ),
        (
            "criteria:\n  - {id: a, asks: '?', required_min_score: 1, scale: yes/no}\n",
            ["r.yaml:2: required_min_score needs a scale of numbers (use 'required: true' for a yes/no criterion)"],
        ),
        (
            "method: oracle\ncriteria:\n  - {id: a, asks: '?', weight: 1}\n",
            [
                "r.yaml:2: 'oracle' penalises fixed criteria, and none is fixed (mark those that every task has with 'fixed: true')"
            ],
        ),
        (
            "method: judge-skill\ncriteria:\n  - {id: a, asks: '?', weight: 1, scale: 0-100}\n",
            [
                "r.yaml:3: criterion 'a' is answered on 0–100, but 'judge-skill' adds criteria up on 1–10 "
                "(use that scale, or weighted_mean with onto)"
            ],
        ),
        (
            "method: points\ncriteria:\n  - {id: a, asks: '?', points: -1}\n  - {id: b, asks: '?'}\n",
            [
                "r.yaml:2: no criterion has positive points (at least one must be worth points)",
                "r.yaml:4: criterion 'b' has no points (add points)",
            ],
        ),
        (
            "steps: [clamp, weighted_mean]\ncriteria: [a]\n",
            [
                "r.yaml:1: clamp needs min, max or both",
            ],
        ),
        (
            "steps:\n  - {clamp: {min: 0}}\n  - weighted_mean\ncriteria: [a]\n",
            [
                "r.yaml:2: 'clamp' cannot come first (the first step makes a number: weighted_sum, weighted_mean, "
                "layer_mean or points_share)",
                "r.yaml:3: 'weighted_mean' can only come first",
            ],
        ),
        (
            "steps: [wieghted_mean]\ncriteria: [a]\n",
            ["r.yaml:1: unknown step 'wieghted_mean' (did you mean 'weighted_mean'?)"],
        ),
        (
            "steps:\n  - weighted_mean\n  - ceiling: {criterion: a, belwo: 3, at: 0.5}\ncriteria: [a]\n",
            [
                "r.yaml:3: unknown field 'belwo' (did you mean 'below'?)",
                "r.yaml:3: ceiling needs below",
            ],
        ),
        (
            "method: judge-skill\npanel: {aggregate: average, quorum: 2}\n",
            [
                "r.yaml:2: aggregate 'average' is not known (known: borda, mean, median)",
                "r.yaml:2: quorum must be 0 or more and under 1, got 2 (0.5 asks for more than half of the reviewers)",
            ],
        ),
        (
            "criteria:\n  - {id: a, asks: x, expected_outcome: y}\n",
            ["r.yaml:2: 'asks' and 'expected_outcome' are the same field (keep one of them)"],
        ),
        (
            "criteria:\n  - {id: a, asks: x, anchors: {11: y}, scale: 1-10}\n",
            ["r.yaml:2: anchor 11–11 is outside the scale 1–10"],
        ),
        (
            "scale: 0-10\nsteps: [weighted_sum]\ncriteria:\n  - {id: a, asks: x}\n  - {id: b, asks: y}\n",
            [
                "r.yaml:3: the weights sum to 2, so the weighted sum leaves 0–10 (make them sum to 1, or use weighted_mean)"
            ],
        ),
        (
            "scale: 0-10\nsteps: [weighted_mean]\ncriteria:\n  - {id: a, asks: x, scale: 0-100}\n  - {id: b, asks: y, scale: yes/no}\n",
            [
                "r.yaml:4: criterion 'a' is answered on 0–100, but 'own' adds criteria up on 0–10 (use that scale, or weighted_mean with onto)",
                "r.yaml:5: criterion 'b' is answered on yes/no, but 'own' adds criteria up on 0–10 (use that scale, or weighted_mean with onto)",
            ],
        ),
        (
            "scale: 0-10\nsteps: [{weighted_mean: {onto: 0-100}}]\ncriteria: [a]\n",
            ["r.yaml:2: onto 0–100 is outside the scale of the score"],
        ),
        (
            "method: council\nscale: 1-5\n",
            ["r.yaml:2: scale has no effect on the method's own criteria (list criteria, or remove it)"],
        ),
        (
            "method: nope\ncriteria:\n  - {id: a, asks: x, wieght: 1}\n",
            [
                "r.yaml:1: unknown method 'nope' (known: checklist, council, council-v1, judge-skill, layered, oracle, points, score-ranges, tree)",
                "r.yaml:3: unknown field 'wieght' (did you mean 'weight'?)",
            ],
        ),
        (
            "method: gone.yaml\ncriteria: [a]\n",
            ["r.yaml:1: there is no method file 'gone.yaml' (its path is relative to the rubric)"],
        ),
        (
            "criteria:\n  - {id: a, asks: x, points: 2}\n  - {id: b, asks: y, points: -2, required: true}\n",
            [
                "r.yaml:3: a criterion with negative points cannot be required: that would demand the fault "
                "(turn the question round, or remove required)"
            ],
        ),
        (
            "criteria:\n  - {id: a, asks: x, points: 0}\n",
            ["r.yaml:2: points must not be 0 (a criterion worth nothing cannot be asked)"],
        ),
        (
            "method: judge-skill\ngates:\n  - {criterion: safety}\n",
            ["r.yaml:3: a gate on 'safety' needs min (as in {criterion: safety, min: 5})"],
        ),
        (
            "method: council\ncriteria: []\n",
            ["r.yaml:1: no criteria: the rubric lists none (list them under criteria)"],
        ),
        (
            "method: nope\npanel: {agregate: mean}\ngates: [{min: 3}]\nred_flags: [{amount: 1}]\n",
            [
                "r.yaml:1: unknown method 'nope' (known: checklist, council, council-v1, judge-skill, layered, oracle, points, score-ranges, tree)",
                "r.yaml:2: unknown field 'agregate' (did you mean 'aggregate'?)",
                "r.yaml:3: a gate needs a criterion (as in {criterion: accuracy, min: 5})",
                "r.yaml:4: a statement needs id and asks",
            ],
        ),
        (
            "criteria:\n  - {id: a, asks: x, wieght: 1}\nsteps: [weighted_mean]\nscale: 10-1\n",
            [
                "r.yaml:2: unknown field 'wieght' (did you mean 'weight'?)",
                "r.yaml:4: a scale runs upwards, got 10 to 1",
            ],
        ),
        ("criteria:\n  - ''\n", ["r.yaml:2: a criterion cannot be empty (write what is expected)"]),
        (
            "criteria: [a]\nscale: {bands: {A: [6, 10], B: [0, 4]}}\n",
            [
                "r.yaml:2: band 'A' runs from 6 to 10, expected it to start at 5 (bands cover the scale without overlap or gap)"
            ],
        ),
    ],
)
def test_a_rubric_that_cannot_be_right_is_refused(text: str, said: list[str], tmp_path: Path) -> None:
    """With file, line, what is wrong and what would work."""
    assert faults(text, tmp_path) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("criteria: [a]\ncriteria: [b]\n", "r.yaml:2: the key 'criteria' is given twice (keep one of them)"),
        ("criteria: [a\n", "r.yaml:2: not valid YAML: did not find expected ',' or ']'"),
        (
            "criteria: !!python/object:os.system [a]\n",
            "the tag 'tag:yaml.org,2002:python/object:os.system' is not understood",
        ),
        ("criteria: *nothing\n", "r.yaml:1: the alias *nothing names nothing above it"),
        ("criteria: &a [*a]\n", "r.yaml:1: the alias *a contains itself"),
        ("a: 1\n---\nb: 2\n", "r.yaml:2: a second document (one file holds one rubric: remove '---')"),
        ("criteria:\n  - {id: a, asks: x, weight: .nan}\n", "r.yaml:2: weight must be a number, got '.nan'"),
        ("criteria:\n  - {id: a, asks: x, weight: .inf}\n", "r.yaml:2: weight must be a number, got '.inf'"),
        (
            "criteria:\n  - {id: a, asks: x, weight: 1e999999999}\n",
            "r.yaml:2: weight cannot be used: the number is too large",
        ),
        ("criteria:\n  - {id: a, asks: x, weight: 1e-999999999}\n", "the number of decimals is too large"),
        ("criteria: " + "[" * 5000 + "\n", "r.yaml:1: nested more than 60 deep"),
        ("criteria: [a, \x00]\n", "r.yaml:1: not valid YAML"),
        (
            "criteria:\n  - {id: a, asks: x, weight: 1e9999999999999999999}\n",
            "r.yaml:2: weight cannot be used: the number is too large",
        ),
        ("criteria:\n  - {id: a, asks: x, weight: 1/0}\n", "r.yaml:2: weight divides by zero"),
        (
            "criteria:\n  - {id: a, score_ranges: {low: bad, high: good}}\n",
            "r.yaml:2: 'low' is not a whole number from 0 to 10",
        ),
        ("criteria:\n  - {id: a, score_ranges: {0: }}\n", "r.yaml:2: a range is described by a text, got nothing"),
        ("method: " + "m" * 300 + ".yaml\n", "r.yaml:1: there is no method file"),
        ("? [a]\n: b\n", "r.yaml:1: a key must be a word or a number"),
    ],
)
def test_a_hostile_yaml_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """Nothing is constructed, nothing explodes."""
    assert said in "\n".join(faults(text, tmp_path))


def test_aliases_that_explode_are_refused(tmp_path: Path) -> None:
    """Ten levels of ten aliases are ten thousand million entries."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    assert faults("\n".join(lines), tmp_path) == ["r.yaml:6: more than 200,000 entries (is this the right file?)"]


def test_aliases_cannot_nest_deeper_than_text(tmp_path: Path) -> None:
    """Fifty aliases, each inside the next, are fifty levels more."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 200)]

    assert faults("\n".join(lines), tmp_path) == ["r.yaml:59: nested more than 60 deep"]


@pytest.mark.parametrize("weight", ["1/3", "0.25"])
def test_a_weight_may_be_a_fraction(weight: str, tmp_path: Path) -> None:
    """Thirds have no decimals."""
    (tmp_path / "r.yaml").write_text(f"criteria:\n  - {{id: a, asks: x, weight: {weight}}}\n")

    assert load_rubric(tmp_path / "r.yaml").criteria[0].weight == Fraction(weight)
    assert load_rubric({"criteria": [{"id": "a", "asks": "x", "weight": Fraction(weight)}]}).criteria[
        0
    ].weight == Fraction(weight)


def test_advice_is_quick_on_large_rubrics() -> None:
    """Where there are too many combinations to try, nothing is said."""
    many = [{"id": f"c{n}", "asks": "x?", "weight": 1 + n / 7, "required": False} for n in range(200)]
    huge = [
        "x?",
        {"id": "b", "asks": "y?", "scale": {"min": 0, "max": 10**9, "integers": True}, "anchors": {0: "none"}},
    ]

    assert advise(load_rubric({"criteria": many})) == []
    assert advise(load_rubric({"criteria": huge})) == []


def test_a_plain_alias_is_fine(tmp_path: Path) -> None:
    """The same anchors for two criteria."""
    text = "criteria:\n  - {id: a, asks: x, scale: &s 1-5}\n  - {id: b, asks: y, scale: *s}\n"
    (tmp_path / "r.yaml").write_text(text)

    assert len({c.scale for c in load_rubric(tmp_path / "r.yaml").criteria}) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"criteria": ["a"]', "r.json:1: not valid JSON: the file ends too early"),
        ('{"criteria": ["a",]}', "r.json:1: not valid JSON: expected a value, found ']'"),
        ('{"criteria": ["a"]} x', "r.json:1: not valid JSON: expected"),
        ("{'criteria': []}", "r.json:1: not valid JSON: expected a key in quotes"),
        ('{\n"criteria": [],\n"criteria": []}', "r.json:3: the key 'criteria' is given twice"),
        (
            '{"criteria": [{"id": "a",\n"asks": "x", "weight": NaN}]}',
            "r.json:2: not valid JSON: expected a value, found 'NaN}]}'",
        ),
        ('{"a":' * 5000, "r.json:1: nested more than 60 deep"),
        (
            '{"criteria": [{"id": "a", "asks": "x", "weight": "2"}]}',
            "r.json:1: weight must be a number, got the text '2'",
        ),
    ],
)
def test_a_hostile_json_file_is_refused(text: str, said: str, tmp_path: Path) -> None:
    """The same care for JSON."""
    assert said in "\n".join(faults(text, tmp_path, "r.json"))


def test_a_file_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    """100 MB of rubric is a mistake or an attack."""
    path = tmp_path / "r.yaml"
    with path.open("wb") as file:
        file.truncate(100_000_000)

    with pytest.raises(RubricError, match="larger than the 5,000,000 bytes allowed"):
        load_rubric(path)


def test_a_file_in_another_encoding_is_refused_with_the_line(tmp_path: Path) -> None:
    """Latin-1 from an old editor."""
    (tmp_path / "r.yaml").write_bytes(b"criteria:\n  - caf\xe9\n")

    with pytest.raises(RubricError, match=r"r.yaml:2: not UTF-8 text \(save the file as UTF-8\)"):
        load_rubric(tmp_path / "r.yaml")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("concil", "no rubric is called 'concil' (did you mean 'council'? or name a file)"),
        ("missing.yaml", "missing.yaml: cannot be read: no such file or directory"),
        (".", ".: cannot be read: is a directory"),
    ],
)
def test_a_source_that_is_not_there(source: str, said: str) -> None:
    """The nearest name, or the reason."""
    with pytest.raises(RubricError) as caught:
        load_rubric(source)

    assert str(caught.value) == said


@pytest.mark.parametrize("name", rubric_names())
def test_every_shipped_rubric_is_without_fault_and_without_warning(name: str) -> None:
    """We keep our own advice: anchors for every scale, nothing vague, gates that bite."""
    rubric = load_rubric(name)

    assert advise(rubric) == []
    assert all(leaf.anchors or leaf.scale is YES_NO for leaf in rubric.leaves.values())


@pytest.mark.parametrize("name", sorted(path.stem for path in (LIBRARY / "rubrics").glob("*.yaml")))
def test_every_ready_rubric_has_what_a_practitioner_expects(name: str) -> None:
    """Five or more criteria with five anchors each, red flags and bonuses."""
    rubric = load_rubric(name)

    assert len(rubric.criteria) >= 5
    assert all(len(criterion.anchors) == 5 for criterion in rubric.criteria)
    assert len(rubric.red_flags) >= 4
    assert len(rubric.bonuses) >= 3


def test_the_seven_ready_rubrics_ship() -> None:
    """And the four that methods bring along."""
    assert set(rubric_names()) == {
        "judge-skill", "council", "council-v1", "layered",
        "code-review", "technical-writing", "research-report", "summary", "rag-answer", "customer-support",
        "agent-trajectory",
    }  # fmt: skip


def test_the_starter_is_a_rubric_without_warnings(tmp_path: Path) -> None:
    """A newcomer's first file must be a good one."""
    (tmp_path / "rubric.yaml").write_text(starter_rubric())

    assert advise(load_rubric(tmp_path / "rubric.yaml")) == []


def test_the_schema_accepts_what_loads_and_refuses_what_does_not() -> None:
    """Editors underline what the reader would refuse."""
    check = jsonschema.Draft202012Validator(rubric_schema())
    good = [yaml.safe_load(rubric_source(path.stem)) for path in (LIBRARY / "rubrics").glob("*.yaml")]
    good += [yaml.safe_load(text) for text in (CHECKLIST, ARRAY, starter_rubric())]
    good += [json.loads(json.dumps(yaml.safe_load(MAP)))]
    methods = [yaml.safe_load((LIBRARY / "methods" / f"{name}.yaml").read_text()) for name in method_names()]
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
    schema = rubric_schema()

    assert set(schema["properties"]) == set(RUBRIC_FIELDS)
    assert set(schema["$defs"]["criterion"]["properties"]) == set(CRITERION_FIELDS)
    assert set(schema["$defs"]["statement"]["properties"]) == set(STATEMENT_FIELDS)
    assert set(schema["$defs"]["gate"]["properties"]) == set(GATE_FIELDS)
    assert len(schema["$defs"]["step"]["anyOf"]) == len(STEPS)


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

    assert rubric.criteria[0] == load_method("council").criteria[0]


@pytest.mark.parametrize("name", rubric_names())
def test_a_shipped_rubric_can_be_copied_and_changed(name: str, tmp_path: Path) -> None:
    """`rubric show NAME --yaml > mine.yaml` gives a file that loads as the same rubric."""
    (tmp_path / "mine.yaml").write_text(rubric_source(name))

    assert fingerprint(load_rubric(tmp_path / "mine.yaml")) == fingerprint(load_rubric(name))


def test_a_method_refuses_references_to_criteria_it_does_not_have(tmp_path: Path) -> None:
    """Misspelt tie-breaks and settings would do nothing, silently."""
    (tmp_path / "m.yaml").write_text(
        "scale: 0-10\ncriterion_scale: 0-10\nsteps: [weighted_mean]\nties: [acuracy]\n"
        "criteria: [{id: accuracy, asks: x}]\nenvironment: {X: {weight: clarity}}\n"
    )

    assert faults("method: m.yaml\n", tmp_path) == [
        "m.yaml:4: tie-break by unknown criterion 'acuracy' (did you mean 'accuracy'?)",
        "m.yaml:6: X sets the weight of unknown criterion 'clarity' (known: accuracy)",
    ]


def test_a_fault_in_a_method_file_names_that_file(tmp_path: Path) -> None:
    """Not the rubric that uses it."""
    (tmp_path / "strict.yaml").write_text("scale: {min: 0, max: 10}\nsteps:\n  - weighted_maen\n")

    said = faults("method: strict.yaml\ncriteria: [a]\n", tmp_path)

    assert said == ["strict.yaml:3: unknown step 'weighted_maen' (did you mean 'weighted_mean'?)"]


def test_the_environment_overrides_the_file_and_changes_the_fingerprint() -> None:
    """Documented variables that do nothing are a rival's fault."""
    rubric = load_rubric("council")
    environ = {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.45", "LLM_COUNCIL_WEIGHT_CLARITY": "0.10", "HOME": "/x"}

    changed = with_environment(rubric, environ)

    assert [float(c.weight) for c in changed.criteria] == [0.45, 0.1, 0.2, 0.15, 0.1]
    assert fingerprint(changed) != fingerprint(rubric)
    assert with_environment(rubric, {"PATH": "x", "LLM_COUNCIL_WEIGHT_CLARITY": ""}) == rubric


def test_the_cap_on_unsafe_outputs_is_a_setting() -> None:
    """LLM_COUNCIL_SAFETY_SCORE_CAP, default 0.0."""
    changed = with_environment(load_rubric("council"), {"LLM_COUNCIL_SAFETY_SCORE_CAP": "2.5"})

    assert str(changed.method.steps[-1].at) == "5/2"  # type: ignore[attr-defined]


def test_relevance_means_nothing_to_the_first_version() -> None:
    """It has no such criterion."""
    rubric = load_rubric("council-v1")

    assert with_environment(rubric, {"LLM_COUNCIL_WEIGHT_RELEVANCE": "0.9"}) == rubric


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"LLM_COUNCIL_WEIGHT_ACCURACY": "0.5"},
            "environment (LLM_COUNCIL_WEIGHT_ACCURACY): the weights sum to 1.15, not 1 (council needs weights that sum to 1)",
        ),
        (
            {"LLM_COUNCIL_SAFETY_SCORE_CAP": "20"},
            "environment (LLM_COUNCIL_SAFETY_SCORE_CAP): cap at 20 is outside the scale 0–10",
        ),
        (
            {"LLM_COUNCIL_WEIGHT_ACCURACY": "lots"},
            "environment variable LLM_COUNCIL_WEIGHT_ACCURACY: must be a number, got 'lots'",
        ),
    ],
)
def test_a_wrong_setting_names_its_variable(environ: dict[str, str], said: str) -> None:
    """The place of a fault is not always a file."""
    with pytest.raises(RubricError) as caught:
        with_environment(load_rubric("council"), environ)

    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("total", "accepted"), [("0.6509", True), ("0.651", False), ("0.6491", True), ("0.649", False)]
)
def test_weights_within_a_thousandth_of_one_are_accepted_as_they_are(total: str, accepted: bool) -> None:
    """|Σ−1| < 0.001, and never rescaled."""
    rubric = {
        "method": "judge-skill",
        "criteria": [{"id": "a", "asks": "?", "weight": 0.35}, {"id": "b", "asks": "?", "weight": float(total)}],
    }

    if accepted:
        assert load_rubric(rubric).criteria[1].weight == Fraction(total)
    else:
        with pytest.raises(RubricError, match="the weights sum to"):
            load_rubric(rubric)


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ("criteria:\n  - {id: a, asks: How right?, scale: 1-10}\n", "criterion 'a' has no anchors"),
        ("criteria:\n  - The answer is appropriate\n", "criterion 'rubric-1' asks for 'appropriate'"),
        (
            "method: judge-skill\ngates:\n  - {criterion: safety, min: 1}\n",
            "the gate safety of at least 1 can never fail: 1–10 starts there",
        ),
        (
            "method: judge-skill\ngates:\n  - {criterion: safety, min: 11}\n",
            "the gate safety of at least 11 must always fail: 1–10 ends before it",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, weight: 10}\n  - {id: b, asks: y?, weight: 10}\n"
            "  - {id: c, asks: z?, weight: 0.01, required: false}\n",
            "the weight of 'c' can change no decision: the verdict is the same whatever it is answered",
        ),
        (
            "method: judge-skill\ncriteria:\n  - {id: a, asks: x, weight: 0.9999}\n  - {id: b, asks: y, weight: 0.0001}\n",
            "the weight of 'b' hardly matters: from worst to best it moves the score by 0.0009",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, points: 2}\nmethod: checklist\n",
            "'checklist' does nothing with the points of 'a'",
        ),
        ("criteria:\n  - {id: a, asks: x?, points: 2, weight: 3}\n", "'points' does nothing with the weight of 'a'"),
        (
            "criteria:\n  - {id: a, asks: x?, points: 2}\n  - {id: b, asks: y?, points: -2}\ngates: [{criterion: b}]\n",
            "the gate on 'b' demands a fault",
        ),
        (
            "criteria:\n  - {id: a, asks: x?, weight: 5.5}\n  - {id: b, asks: y?, weight: 3.5}\n"
            "  - {id: c, asks: z?, weight: 1, required: false}\n",
            "the weight of 'c' can change no decision",
        ),
        (
            "method: council\ncriteria: [{id: accuracy, weight: 1, fixed: true}]\n",
            "'council' does nothing with 'fixed' of 'accuracy'",
        ),
        ("method: council\nred_flags: [slow]\n", "red_flags are listed but 'council' does nothing with them"),
        (
            "method: oracle\ncriteria:\n  - {id: a, asks: x, weight: 1, fixed: true}\n",
            "1 fixed of 1 criteria: a task has 3 fixed ones and 1 to 3 of its own",
        ),
    ],
)
def test_a_careful_colleague_points_it_out(rubric: str, said: str, tmp_path: Path) -> None:
    """Valid, and worth a second look."""
    (tmp_path / "r.yaml").write_text(rubric)

    advice = advise(open_rubric(tmp_path / "r.yaml").rubric)

    assert any(entry.what.startswith(said) for entry in advice), advice


def test_a_weight_that_can_tip_the_verdict_is_not_warned_about() -> None:
    """With 6, 3 and 1 the last one lifts 0.9 to 1 — and 0.5 to 0.6 in another split."""
    plain = [{"id": f"c{n}", "asks": "x?", "weight": 1, "required": False} for n in range(5)]

    assert advise(load_rubric({"criteria": plain})) == []
