"""Errors of a first hour: each says where it is, once, and what would work."""

from pathlib import Path

import pytest

from evenhand.errors import EvalError, InputError, JudgeError, suggest_close_word_in_error
from evenhand.evals.eval_definition import check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.models.model_names import parse_model_name
from tests.cli.command import evenhand

EVAL = "samples: {file}\nassertions: [{{contains: Hello}}]\n"


def refused(folder: Path, samples: str, name: str = "s.jsonl") -> list[str]:
    """What is wrong with the samples of a file."""
    (folder / name).write_text(samples, "utf-8")
    (folder / "eval.yaml").write_text(EVAL.format(file=name), "utf-8")
    with pytest.raises(InputError) as caught:
        check_eval_samples(load_eval(folder / "eval.yaml", {}))
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


def refused_eval(folder: Path, text: str) -> list[str]:
    """What is wrong with an eval file."""
    (folder / "eval.yaml").write_text(text, "utf-8")
    with pytest.raises(EvalError) as caught:
        load_eval(folder / "eval.yaml", {})
    return [str(fault).removeprefix(f"{folder}/") for fault in caught.value.faults]


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "  \n"])
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "a", "output": "y"', "it breaks off: Expecting ',' delimiter (column 26)"),
        ('{"id": "a", "output":', "it breaks off: Expecting value (column 22)"),
        (
            '{"id": "a", "output": "y',
            "a string is not closed (it breaks off at column 25; the string begins at column 23)",
        ),
        ('{"id": "ä", "output" 1}', "Expecting ':' delimiter (column 22)"),
    ],
)
def test_the_column_of_a_truncated_line_is_where_it_breaks_off(
    tmp_path: Path, line: str, said: str, ending: str
) -> None:
    """Whatever ends the line: a file that was cut off is not broken in column 1."""
    assert refused(tmp_path, line + ending) == [f"s.jsonl:1: not valid JSON: {said}"]


def test_a_fault_that_all_samples_share_is_one_line(tmp_path: Path) -> None:
    """With how many, and how to read the file as it is."""
    lines = "".join(f'{{"question": "{n}", "output": "x"}}\n' for n in range(200))

    assert refused(tmp_path, lines) == [
        "s.jsonl:1: unknown field 'question', in all 200 samples (to read it as input, write samples: {file: …, "
        "fields: {input: question}}; fields of your own belong under metadata)"
    ]


def test_faults_that_some_samples_share_are_counted_and_others_are_still_told(tmp_path: Path) -> None:
    """One kind of fault does not hide another."""
    lines = [f'{{"id": {n}, "inptu": 1}}' for n in range(7)] + ['{"id": 8, "turns": 1}', '{"id": 9, "turns": 1}']

    told = refused(tmp_path, "\n".join(lines))

    assert [one.split(" (")[0] for one in told] == [
        "s.jsonl:1: unknown field 'inptu', in 7 samples, first here",
        "s.jsonl:8: turns belongs to an output",
        "s.jsonl:9: turns belongs to an output",
    ]


def test_a_check_that_every_sample_gets_wrong_is_one_line(tmp_path: Path) -> None:
    """Also where the assertions of samples are at fault."""
    lines = "".join(f'{{"id": {n}, "output": "x", "assertions": [{{"contian": "y"}}]}}\n' for n in range(60))

    (told,) = refused(tmp_path, lines)

    assert "in all 60 samples" in told


def test_a_fault_that_all_samples_of_a_list_share_is_one_line(tmp_path: Path) -> None:
    """In the eval file itself, at the line of the first."""
    told = refused_eval(
        tmp_path, "samples:\n  - {id: a, question: x}\n  - {id: b, question: y}\nassertions: [{contains: x}]\n"
    )

    assert told == [
        "eval.yaml:2: unknown field 'question', in both samples (call it input; fields of your own belong under "
        "metadata)"
    ]


@pytest.mark.parametrize(
    ("column", "ours"),
    [("question", "input"), ("Expected Output", "reference"), ("answer", "output"), ("zebra", "input")],
)
def test_an_unknown_column_says_how_to_read_it(tmp_path: Path, column: str, ours: str) -> None:
    """Nobody should have to rewrite a table."""
    (told,) = refused(tmp_path, f"{column},id\na,b\n", "s.csv")

    assert f"to read it as {ours}, write samples: {{file: …, fields: {{{ours}: {column}}}}}" in told


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.csv", "id,input,output,reviewer\n1,a,b,Ann\n"),
        ("s.csv", "id,input,output,question\n1,a,b,Ann\n"),
        ("s.csv", "id,input,output,query,reference\n1,a,b,Ann,\n"),
        ("s.jsonl", '{"id": "1", "input": "a", "output": "b", "reviewer": "Ann"}\n'),
    ],
)
def test_an_unknown_field_beside_all_others_is_kept_as_the_hint_says(tmp_path: Path, name: str, text: str) -> None:
    """The input is there already; the mapping that is named works."""
    (told,) = refused(tmp_path, text, name)
    column = told.split("'")[1]

    assert f"to keep it, write samples: {{file: …, fields: {{metadata.{column}: {column}}}}}" in told
    fields = f"{{file: {name}, fields: {{metadata.{column}: {column}}}}}"
    (tmp_path / "eval.yaml").write_text(f"samples: {fields}\nassertions: [{{contains: x}}]\n", "utf-8")
    (sample,) = load_eval(tmp_path / "eval.yaml", {}).samples
    assert sample.metadata == {column: "Ann"}


@pytest.mark.parametrize("text", ["rubric:\n\tcriteria: []\n", "rubric:\n  criteria:\n  \t- {id: a}\n"])
def test_a_tab_is_called_a_tab(tmp_path: Path, text: str) -> None:
    """It cannot be seen, and the parser says only that it cannot start a token."""
    (told,) = refused_eval(tmp_path, f"samples: []\n{text}")

    assert "the line begins with a tab (YAML is indented with spaces: replace the tab by spaces)" in told


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("rubric: rubic.yaml", "no rubric 'rubic.yaml': there is no such file (did you mean 'rubric.yaml'?)"),
        ("rubrics: {'': nowhere/x.yaml}", "no rubric 'nowhere/x.yaml': there is no such file (a file beside"),
        ("judges: panel.yaml", "no judges 'panel.yaml': there is no such file"),
        ("prices: list.yaml", "no prices 'list.yaml': there is no such file"),
    ],
)
def test_a_file_that_is_missing_is_a_fault_of_the_line_that_names_it(tmp_path: Path, setting: str, said: str) -> None:
    """There is no line of the missing file to point at."""
    (tmp_path / "rubric.yaml").write_text("criteria: [{id: a, asks: b}]\n", "utf-8")
    told = refused_eval(tmp_path, f"samples: [{{id: a, output: b}}]\nname: x\n{setting}\n")

    assert told[0].startswith(f"eval.yaml:3: {said}")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpt-4o", "openai/gpt-4o"),
        ("o3-mini", "openai/o3-mini"),
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("llama3:8b", "ollama/llama3:8b"),
    ],
)
def test_a_model_without_its_provider_is_recognised(name: str, meant: str) -> None:
    """As their makers name them."""
    with pytest.raises(JudgeError) as caught:
        parse_model_name(name, {})

    assert f"(did you mean {meant}?)" in str(caught.value)


def test_the_name_of_a_baseline_is_the_name_of_a_run(tmp_path: Path) -> None:
    """Also with a variant behind it, and it is told as a baseline."""
    lines = "".join(f'{{"id": {n}, "outputs": {{"old": "Go {n}", "new": "Hello {n}"}}}}\n' for n in range(6))
    (tmp_path / "s.jsonl").write_text(lines, "utf-8")
    (tmp_path / "eval.yaml").write_text(EVAL.format(file="s.jsonl"), "utf-8")
    evenhand("run", "eval.yaml", folder=tmp_path)
    evenhand("baseline", "set", "latest", "--name", "main", folder=tmp_path)
    evenhand("run", "eval.yaml", "--fresh", folder=tmp_path)

    plain, explicit = (
        evenhand("compare", f"{name}:new", "latest:new", folder=tmp_path) for name in ("main", "baseline:main")
    )
    shown = evenhand("runs", "show", "main", folder=tmp_path)
    unknown = evenhand("runs", "show", "mian", folder=tmp_path)

    assert (plain.stdout, plain.returncode) == (explicit.stdout, explicit.returncode)
    assert "baseline main" in plain.stdout
    assert shown.returncode == 0
    assert unknown.returncode == 2


def test_an_output_under_a_misspelt_variant_is_noted(tmp_path: Path) -> None:
    """It would be left out without a word; another variant that all samples have is left out on purpose."""
    outputs = '"outputs": {"old": "Hello", "new": "Hello", "spare": "Hello"'
    lines = [f'{{"id": "{n}", "input": "x", {outputs}}}}}' for n in range(5)]
    lines[3] = lines[3].replace("}}", ', "neww": "Hello"}}')
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    (tmp_path / "eval.yaml").write_text(
        "samples: s.jsonl\nvariants: {old: {about: a}, new: {about: b}}\nassertions: [{contains: Hello}]\n"
    )

    ran = evenhand("run", "eval.yaml", folder=tmp_path)

    said = " ".join(ran.stderr.split())
    assert "1 sample has an output of 'neww', which is no variant of this eval (did you mean 'new'?)" in said
    assert "spare" not in said + ran.stdout


@pytest.mark.parametrize(("word", "known"), [("colour", "cluster"), ("nosuch", "voucher")])
def test_words_that_merely_share_letters_are_not_suggested(word: str, known: str) -> None:
    """A wrong suggestion costs more than none."""
    assert suggest_close_word_in_error(word, [known]) == ""
    assert suggest_close_word_in_error("acuracy", ["accuracy", known]) == "did you mean 'accuracy'?"
