"""A rubric may extend another: criteria, flags, bonuses and gates are added, or changed by their ids."""

from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from evenhand.errors import InputError, RubricError
from evenhand.evals.eval_file import load_eval
from evenhand.files.rubric_schema import build_rubric_file_schema
from evenhand.files.rubrics import load_rubric, open_rubric_with_file_lines
from evenhand.scoring.scores import compute_fingerprint
from evenhand.workflows.run import RunOptions, check_user_run

CHILD = """\
name: patch-review
extends: judge-skill
criteria:
  - {id: correctness, weight: 0.15}
  - {id: tests, asks: Is every change covered by a test?, weight: 0.1}
red_flags:
  - {id: secret, asks: A key is shown., amount: 1}
"""


def write(folder: Path, **files: str) -> Path:
    """Files by name, without their ending; the last one."""
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / f"{list(files)[-1]}.yaml"


def refused(path: Path) -> str:
    with pytest.raises(RubricError) as caught:
        load_rubric(path)
    return str(caught.value).replace(f"{path.parent}/", "")


def test_criteria_are_added_to_those_of_the_method_or_changed(tmp_path: Path) -> None:
    """Only what is said differs: the question and the anchors of correctness stay."""
    rubric, parent = load_rubric(write(tmp_path, child=CHILD)), load_rubric("judge-skill")

    weights = {id: leaf.weight for id, leaf in rubric.leaves.items()}

    assert list(weights) == [*parent.leaves, "tests"]
    assert (weights["correctness"], weights["safety"]) == (Fraction("0.15"), Fraction("0.1"))
    assert rubric.leaves["correctness"].anchors == parent.leaves["correctness"].anchors
    assert (rubric.name, rubric.method) == ("patch-review", parent.method)
    assert [flag.id for flag in rubric.red_flags] == ["secret"]


def test_a_rubric_without_changes_scores_as_its_parent(tmp_path: Path) -> None:
    """Whether it is a method, a shipped rubric or a file: the fingerprint is the same."""
    for parent in ("judge-skill", "skill-review", "code-review", "council"):
        (tmp_path / "same.yaml").write_text(f"extends: {parent}\n")
        (tmp_path / "next.yaml").write_text("extends: same.yaml\n")

        marks = [
            compute_fingerprint(load_rubric(one)) for one in (parent, tmp_path / "same.yaml", tmp_path / "next.yaml")
        ]

        assert len(set(marks)) == 1, parent


def test_flags_bonuses_and_gates_are_changed_by_id(tmp_path: Path) -> None:
    """Field by field; a text that is an id of the parent's leaves it as it is."""
    grandchild = """\
extends: child.yaml
red_flags: [secret, {id: wide, asks: It touches more than it must.}]
bonuses: [{id: test, asks: A test comes with it.}]
gates: [{criterion: tests, min: 5}]
"""
    again = """\
extends: grandchild.yaml
red_flags: [{id: secret, amount: 0.25}]
gates: [{criterion: tests, min: 6}, {criterion: safety, min: 4}]
"""
    rubric = load_rubric(write(tmp_path, child=CHILD, grandchild=grandchild, again=again))

    assert [(flag.id, flag.asks, flag.amount) for flag in rubric.red_flags] == [
        ("secret", "A key is shown.", Fraction("0.25")),
        ("wide", "It touches more than it must.", None),
    ]
    assert [bonus.id for bonus in rubric.bonuses] == ["test"]
    assert [(gate.criterion, gate.min) for gate in rubric.gates] == [("tests", Fraction(6)), ("safety", Fraction(4))]


def test_texts_of_a_checklist_keep_their_ids(tmp_path: Path) -> None:
    """A new text counts on; one of the parent's is changed by the id that it got. The method stays what it was."""
    parent = "criteria: [Names the cause, Gives a fix]\n"
    child = "extends: parent.yaml\ncriteria: [Names a link, {id: rubric-2, required: false}, {id: x, asks: Why?, scale: 1-5}]\n"

    rubric = load_rubric(write(tmp_path, parent=parent, child=child))

    assert [(one.id, one.asks, one.required) for one in rubric.criteria] == [
        ("rubric-1", "Names the cause", True),
        ("rubric-2", "Gives a fix", False),
        ("rubric-3", "Names a link", True),
        ("x", "Why?", True),
    ]
    assert rubric.method.name == "checklist"


def test_another_scale_takes_the_place_of_scale_ranges_and_anchors(tmp_path: Path) -> None:
    """Anchors of the old scale would say nothing about the new one."""
    parent = "criteria: [{id: depth, asks: How deep?, score_ranges: {0: Flat., 5: Deep.}}]\n"
    child = "extends: parent.yaml\ncriteria: [{id: depth, scale: 1-5, expected_outcome: It goes deep.}]\n"

    (one,) = load_rubric(write(tmp_path, parent=parent, child=child)).criteria

    assert (str(one.scale), one.anchors, one.asks) == ("1–5", (), "It goes deep.")


def test_a_method_file_of_the_parent_is_found_from_its_folder(tmp_path: Path) -> None:
    """Paths in a file are relative to it, whoever extends it."""
    (tmp_path / "house").mkdir()
    method = "scale: {min: 1, max: 10, decimals: 1}\ncriterion_scale: {min: 1, max: 10}\nsteps: [weighted_sum]\nweights_sum_to: 1\n"
    write(
        tmp_path / "house",
        method=f"name: house\n{method}",
        parent="method: method.yaml\ncriteria: [{id: a, asks: A?}]\n",
    )

    rubric = load_rubric(write(tmp_path, child="extends: house/parent.yaml\ncriteria: [{id: a, weight: 100%}]\n"))

    assert (rubric.method.name, list(rubric.leaves)) == ("house", ["a"])


def test_weights_must_still_sum_to_1(tmp_path: Path) -> None:
    """Said at the line of the list, with where the other weights come from."""
    path = write(tmp_path, child=CHILD.replace("weight: 0.15", "weight: 0.2"))

    assert refused(path) == (
        "child.yaml:3: the weights sum to 1.05, not 1 "
        "(judge-skill needs weights that sum to 1; judge-skill brings weights of its own: set them anew)"
    )


def test_faults_are_told_at_their_own_lines(tmp_path: Path) -> None:
    """Though the parent's entries stand before them; what is inherited stands at the line of extends."""
    child = """\
extends: parent.yaml
red_flags:
  - {id: new, asks: New., amuont: 1}
criteria:
  - {id: b, asks: B?, scale: 10-1}
  - {id: b}
gates: [{criterion: c, min: 1}]
"""
    parent = "criteria: [{id: a, asks: A?}]\nred_flags: [{id: old, asks: Old.}]\nmethod: points\n"

    told = refused(write(tmp_path, parent=parent.replace("method: points\n", ""), child=child))

    assert told.splitlines() == [
        "child.yaml:3: unknown field 'amuont' (did you mean 'amount'?)",
        "child.yaml:5: a scale runs upwards, got 10 to 1",
        "child.yaml:6: criterion 'b' asks nothing (add asks (or expected_outcome), or score_ranges)",
        "child.yaml:6: the id 'b' is used twice (ids are unique)",
        "child.yaml:7: gate names unknown criterion 'c' (known: a, b)",
    ]
    assert refused(write(tmp_path, parent=parent, child="name: x\nextends: parent.yaml\n")).startswith(
        "parent.yaml:1: "
    )


def test_what_cannot_be_extended_is_refused(tmp_path: Path) -> None:
    """With where, what, and what would work."""
    cases = {
        "extends: judge-skil\n": "one.yaml:1: no rubric is called 'judge-skil' (did you mean 'judge-skill'? or a file",
        "name: x\nextends: [a]\n": "one.yaml:2: extends must be text, got a list",
        "extends: one.yaml\n": "one.yaml:1: a rubric cannot extend itself: one.yaml → one.yaml",
        "extends: council\nmethod: council\n": "one.yaml:2: method comes with the rubric that is extended",
        "extends: council\nscale: 1-5\n": "one.yaml:2: scale comes with the rubric that is extended",
        "extends: council\nsteps: [weighted_sum]\n": "one.yaml:2: steps comes with the rubric that is extended",
        "extends: council\ncritera: [a]\n": "one.yaml:2: unknown field 'critera'",
    }

    for text, why in cases.items():
        assert refused(write(tmp_path, one=text)).startswith(why), text

    assert refused(write(tmp_path, b="name: b\nextends: a.yaml\n", a="extends: b.yaml\n")) == (
        "b.yaml:2: a rubric cannot extend itself: a.yaml → b.yaml → a.yaml (name another one)"
    )


def write_chain(folder: Path, length: int) -> Path:
    """So many files that extend each other; the one that extends all others."""
    chain = {f"c{at}": f"name: c{at}\nextends: c{at + 1}.yaml\n" for at in range(length - 1)}
    write(folder, **chain, **{f"c{length - 1}": "criteria: [Names the cause]\n"})
    return folder / "c0.yaml"


def test_a_long_chain_of_rubrics_is_refused(tmp_path: Path) -> None:
    """Each is read while the one before waits: 300 of them were more than Python bears."""
    assert list(load_rubric(write_chain(tmp_path, 20)).leaves) == ["rubric-1"]
    for length in (21, 300):
        assert refused(write_chain(tmp_path, length)) == (
            "c19.yaml:2: more than 20 files extend each other, and this is number 20 "
            "(write out here what the further ones say, and remove extends)"
        )


def test_a_sample_names_no_long_chain_either(tmp_path: Path) -> None:
    """What a file of samples names is looked through before it is read as a rubric."""
    write_chain(tmp_path, 1_000)
    (tmp_path / "samples.jsonl").write_text('{"id": "a", "input": "x", "output": "y", "rubric": "c0.yaml"}\n')
    write(tmp_path, eval="samples: samples.jsonl\njudges: [embedded]\n")
    eval = load_eval(tmp_path / "eval.yaml")

    with pytest.raises(InputError, match="more than 20 files extend each other"):
        check_user_run(eval, RunOptions())


def test_advice_points_at_the_entry_it_is_about(tmp_path: Path) -> None:
    """The eighth criterion of the rubric is the second entry of the file."""
    opened = open_rubric_with_file_lines(write(tmp_path, child=CHILD))

    assert opened.locate(("criteria", 7)).endswith("child.yaml:5")
    assert opened.locate(("criteria", 3)).endswith("child.yaml:2")


def test_a_rubric_inside_an_eval_may_extend_too(tmp_path: Path) -> None:
    """Its faults have the lines of the eval."""
    start = "samples: [{input: a, output: b}]\njudges: [embedded]\nrubric:\n  extends: checks.yaml\n  criteria:\n"
    write(tmp_path, checks="criteria: [Names the cause]\n", eval=f"{start}    - Names a link\n")
    rubric = next(iter(load_eval(tmp_path / "eval.yaml").rubrics.values()))
    write(tmp_path, eval=f"{start}    - Names a link\n    - {{id: rubric-2}}\n")

    assert list(rubric.leaves) == ["rubric-1", "rubric-2"]
    with pytest.raises(InputError, match=r"eval.yaml:7: criterion 'rubric-2' asks nothing"):
        load_eval(tmp_path / "eval.yaml")


def test_plain_data_may_extend_and_stays_as_it_was() -> None:
    """From Python, a shipped rubric by name."""
    data = {"extends": "judge-skill", "bonuses": ["test"]}

    rubric = load_rubric(data)

    assert [bonus.id for bonus in rubric.bonuses] == ["test"]
    assert data == {"extends": "judge-skill", "bonuses": ["test"]}


def test_the_schema_knows_extends() -> None:
    """Editors accept it, with no criteria beside it."""
    jsonschema.validate({"extends": "judge-skill", "red_flags": ["a"]}, build_rubric_file_schema())


def test_what_a_rubric_says_about_itself_is_its_own(tmp_path: Path) -> None:
    """Name, purpose, the reason for weights and tags are not those of the parent."""
    parent = "name: parent\nabout: For notes.\nwhy: Asked around.\ntags: [notes]\ncriteria: [Names the cause]\n"

    rubric = load_rubric(write(tmp_path, parent=parent, child="extends: parent.yaml\n"))

    assert (rubric.name, rubric.about, rubric.why, rubric.tags) == ("child", "", "", ())


def test_no_line_of_the_parent_is_told_as_one_of_the_child(tmp_path: Path) -> None:
    """What is inherited stands where extends stands."""
    parent = "name: parent\n\n\ncriteria:\n  - Names the cause\n  - Gives a fix\nred_flags:\n  - shouts\n"
    opened = open_rubric_with_file_lines(write(tmp_path, parent=parent, child="name: child\nextends: parent.yaml\n"))

    places = [("criteria", 1), ("red_flags", 0), ("criteria",), ("method",)]

    assert {opened.locate(place).rpartition(":")[2] for place in places} == {"2"}
