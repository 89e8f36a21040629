"""Judges from a file of their own: what `evenhand calibrate --write` writes, an eval can name."""

from fractions import Fraction
from pathlib import Path

import pytest

from evenhand import EvalError
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import load_eval

LEAST = "samples: [{id: a, input: Hi, output: Hello}]\nassertions: [{contains: Hello}]\njudges: panel.yaml\n"


def eval_with(folder: Path, panel: str | None) -> Eval:
    (folder / "eval.yaml").write_text(LEAST, "utf-8")
    if panel is not None:
        (folder / "panel.yaml").write_text(panel, "utf-8")
    return load_eval(folder / "eval.yaml", {})


def test_names_in_a_file_are_the_judges(tmp_path: Path) -> None:
    """Beside the eval, with the lines of that file for messages."""
    found = eval_with(tmp_path, '# chosen\njudges:\n  - "embedded"\n  - "python:a:b"\n')

    assert found.judges == ("embedded", "python:a:b")
    assert found.judge_places == (f"{tmp_path}/panel.yaml:3", f"{tmp_path}/panel.yaml:4")


def test_weights_in_a_file_are_their_weights(tmp_path: Path) -> None:
    """Exact, as if they stood in the eval."""
    found = eval_with(tmp_path, 'judges:\n  "embedded": 0.68\n  "python:a:b": 0.32\n')

    assert found.judges == ("embedded", "python:a:b")
    assert found.how.weights == {"embedded": Fraction(17, 25), "python:a:b": Fraction(8, 25)}


@pytest.mark.parametrize(
    ("panel", "told"),
    [
        (
            None,
            "eval.yaml:3: no judges 'panel.yaml': there is no such file "
            "(evenhand calibrate --write writes such a file)",
        ),
        ("", "panel.yaml: the file is empty (evenhand calibrate --write writes such a file)"),
        ("judge: [embedded]", "panel.yaml:1: unknown field 'judge' (did you mean 'judges'?)"),
        ("{}", "panel.yaml:1: no judges in it"),
        ("judges:\n  a: much", "panel.yaml:2: the weight of a must be a number"),
        ("judges:\n  - a\n  - {b: 1}", "panel.yaml:3: a judge is a name, got a mapping"),
    ],
)
def test_what_is_wrong_with_the_file_is_told_with_its_lines(tmp_path: Path, panel: str | None, told: str) -> None:
    """Not with those of the eval that names it."""
    with pytest.raises(EvalError) as refused:
        eval_with(tmp_path, panel)

    assert str(refused.value).removeprefix(f"{tmp_path}/").startswith(told)


def test_a_file_that_names_itself_is_no_circle(tmp_path: Path) -> None:
    """One file deep: a name inside it is the name of a judge."""
    assert eval_with(tmp_path, "judges: panel.yaml").judges == ("panel.yaml",)
