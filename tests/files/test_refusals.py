"""Wrong and hostile rubric files: refused with file:line, what is wrong, what would work, and all at once."""

from fractions import Fraction
from pathlib import Path

import pytest

from evenhand import RubricError, load_rubric
from tests.files.files import faults


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
        "r.yaml:7: weight must be above 0, got 0 (leave the criterion out if it is not to count)",
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
            "method: council\ncriteria:\n  - {id: accuracy, weight: 60}\n  - {id: clarity, weight: 40}\n",
            ["r.yaml:2: the weights sum to 100, not 1 (council needs weights that sum to 1; write 60 as 60% or 0.6)"],
        ),
        (
            "criteria:\n  - {asks: x, weight: a%}\n  - {asks: y, weight: -4%}\n  - {asks: z, points: 4%}\n",
            [
                "r.yaml:2: weight must be a number or a percentage, got 'a%'",
                "r.yaml:3: weight must be above 0, got -0.04 (to subtract for a fault, list it under red_flags or "
                "give it negative points)",
                "r.yaml:4: points must be a number, got '4%'",
            ],
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
        (
            "criteria:\n  - 'Mentions: it'\n  - Mentions: the divide step\n",
            [
                "r.yaml:3: unknown field 'Mentions' (a sentence with a colon must be quoted: \"Mentions: the divide step\")"
            ],
        ),
        (
            'criteria:\n  - Says "hello": it isn\'t loud\n',
            [
                "r.yaml:2: unknown field 'Says \"hello\"' (a sentence with a colon must be quoted: 'Says \"hello\": it isn''t loud')"
            ],
        ),
        *(
            (
                f"criteria:\n  - It is short.\n  - {bare}\n",
                [f"r.yaml:3: a criterion is a sentence, got {got} (write what is expected, as in 'It names a price.')"],
            )
            for bare, got in (("42", "'42'"), ("yes", "'yes'"), ("null", "nothing"))
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
            "r.json:2: not valid JSON: expected a value, found 'NaN'",
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


def test_an_id_that_was_written_as_a_criterions_text_is_pointed_out(tmp_path: Path) -> None:
    """A text in the list is a new criterion of weight 1, which the sum of the weights alone does not show."""
    text = "method: council\ncriteria:\n  - {id: accuracy, weight: 0.9}\n  - clarity\n"

    assert faults(text, tmp_path) == [
        "r.yaml:2: the weights sum to 1.9, not 1 ('clarity' was read as a new criterion of weight 1; "
        "write {id: clarity} for the one that council has)"
    ]
