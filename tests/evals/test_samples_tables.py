"""Samples out of CSV, Parquet and JSON lists: the same samples, with places for what is wrong."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from evenhand.evals.eval_definition import count_eval_samples
from evenhand.evals.sample import EvalSample
from evenhand.model.sample import ToolCall, VariantOutput
from tests.evals.samples import FULL, SAMPLE, said, source, unopened


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_is_read_as_spreadsheets_write_it(tmp_path: Path, separator: str, end: str) -> None:
    """A byte order mark, any separator, cells of several lines, empty cells for what is absent."""
    rows = [
        ["id", "input", "output.old", "outputs.new-4.1", "outputs.new-4.1.cost", "metadata.topic", "tags"],
        ["1", f'"two{end}lines{separator} ""quoted"""', "a", "b", "0.50", "x", '"p, q"'],
        ["", "", "", "", "", "", ""],
        ["2", "plain", "", "c", "", "", ""],
    ]
    content = "\ufeff" + end.join(separator.join(row) for row in rows)

    first, second = source(tmp_path, "s.csv", content)

    assert first == EvalSample(
        id="1",
        input=f'two{end}lines{separator} "quoted"',
        outputs={"old": VariantOutput(text="a"), "new-4.1": VariantOutput(text="b", cost=Decimal("0.50"))},
        tags=("p", "q"),
        metadata={"topic": "x"},
    )
    assert second == EvalSample(id="2", input="plain", outputs={"new-4.1": VariantOutput(text="c")})


@pytest.mark.parametrize(
    ("content", "complaints"),
    [
        (b"id,inptu\n1,a\n", ["s.csv:1: unknown column 'inptu' (did you mean 'input'?; a column of your own is called "
                              "metadata.inptu, one with outputs outputs.inptu)"]),
        (b"input,input\n1,a\n", ["s.csv:1: the columns 'input' and 'input' give the same field"]),
        (b'input\n"a\nb\n', ["s.csv:2: a cell that does not end (is a quotation mark not closed?)"]),
        (b'input\n"a"b\n', ["s.csv:2: not valid CSV: ',' expected after '\"' (inside quotation marks write \"\" "
                            "for \")"]),
        (b'id,input\n"a\nb",x\n1,2,3\n4,\xff\n5,\0\n6,y\n',
         ["s.csv:4: 3 cells where the header has 2 (a cell with the separator in it stands in quotation marks)",
          "s.csv:5: not UTF-8 text (save the file as UTF-8)",
          "s.csv:6: a NUL character, which no database can hold"]),
        (b'input\n"\xff\n\xff"\na,b\n',
         ["s.csv:2: not UTF-8 text (save the file as UTF-8)",
          "s.csv:3: not UTF-8 text (save the file as UTF-8)",
          "s.csv:4: 2 cells where the header has 1 (a cell with the separator in it stands in quotation marks)"]),
        (b"in\xffput\na\nb\n", ["s.csv:1: not UTF-8 text (save the file as UTF-8)"]),
        (b"output,cost\na,much\n", ["s.csv:2: cost must be a number from 0 up, got 'much'"]),
        (b"output,trace\na,[1\n", ["s.csv:2: trace: not valid JSON: it breaks off: Expecting ',' delimiter "
                                  "(column 3)"]),
        (b"input\ra\rb", ["s.csv:1: lines end in a way that CSV does not (save the file with line breaks of Windows or "
                          "Unix)"]),
        (b"", ["s.csv: there are no samples (a run needs at least one)"]),
    ],
)  # fmt: skip
def test_wrong_csv_is_refused_with_its_line(tmp_path: Path, content: bytes, complaints: list[str]) -> None:
    """A wrong header is told once, not for every row; a line is a line of the file, however many a cell has."""
    assert said(tmp_path, "s.csv", content) == complaints


def test_a_cell_beyond_the_usual_limit_is_read(tmp_path: Path) -> None:
    """The standard library stops at 131,072 characters."""
    (sample,) = source(tmp_path, "s.csv", "input\n" + "x" * 300_000)

    assert len(sample.input) == 300_000


def test_columns_with_other_names_are_told_apart_by_the_eval(tmp_path: Path) -> None:
    """A data set as it was found, in either form."""
    fields = {"input": "question", "outputs.old": "answer", "metadata.topic": "topic"}
    row = {"question": "q", "answer": "a", "topic": "t"}

    (by_csv,) = source(tmp_path, "s.csv", f"{','.join(row)}\n{','.join(row.values())}\n", fields=fields)
    (by_json,) = source(tmp_path, "s.jsonl", json.dumps(row), fields=fields)

    wanted = EvalSample(id="sample-1", input="q", outputs={"old": VariantOutput(text="a")}, metadata={"topic": "t"})
    assert (by_csv, by_json) == (wanted, wanted)


def test_a_renaming_of_what_is_not_there_is_refused(tmp_path: Path) -> None:
    """It is a misspelling."""
    complaints = said(tmp_path, "s.csv", "question\na\n", fields={"input": "qestion", "metadata.q": "question"})

    assert complaints == ["s.csv:1: there is no column 'qestion' (did you mean 'question'?)"]


def test_a_json_list_is_read_with_lines_for_its_faults(tmp_path: Path) -> None:
    """Small files only; larger ones are JSONL."""
    assert list(source(tmp_path, "s.json", json.dumps([FULL]))) == [SAMPLE]
    assert said(tmp_path, "s.json", '[{"input": "a"},\n{"inptu": "b"}]') == [
        "s.json:2: unknown field 'inptu' (did you mean 'input'?; fields of your own belong under metadata)"
    ]
    assert said(tmp_path, "s.json", '{"a": 1}\n{"a": 2}') == [
        "s.json: not valid JSON: Extra data (one object per line is JSONL: write format: jsonl)"
    ]
    assert said(tmp_path, "s.json", '{"a": 1}') == ['s.json: expected a list of samples (as in [{"input": …}, …])']


@pytest.mark.parametrize("dotted", [True, False])
def test_parquet_is_read_from_structures_and_from_dotted_names(tmp_path: Path, dotted: bool) -> None:
    """What is null is absent."""
    trace = [{"name": "search", "input": "x", "output": None}]
    flat = {"outputs.old": ["a", None], "outputs.new": ["b", "c"], "outputs.new.cost": [0.5, None],
            "outputs.new.trace": [trace, None], "metadata.n": [1, 2]}  # fmt: skip
    nested = {
        "outputs": [
            {"old": "a", "new": {"text": "b", "cost": 0.5, "trace": trace}},
            {"old": None, "new": {"text": "c"}},
        ],
        "metadata": [{"n": 1}, {"n": 2}],
    }
    columns = {"id": [1, 2], "input": ["q", "r"], "tags": [["t"], []], **(flat if dotted else nested)}
    pq.write_table(pa.table(columns), tmp_path / "s.parquet", row_group_size=1)

    first, second = source(tmp_path, "s.parquet", (tmp_path / "s.parquet").read_bytes())

    made = VariantOutput(text="b", cost=Decimal("0.5"), trace=(ToolCall("search", "x", None),))
    outputs = {"old": VariantOutput(text="a"), "new": made}
    assert first == EvalSample(id="1", input="q", outputs=outputs, tags=("t",), metadata={"n": 1})
    assert second == EvalSample(id="2", input="r", outputs={"new": VariantOutput(text="c")}, metadata={"n": 2})


def test_wrong_parquet_is_refused_with_its_row(tmp_path: Path) -> None:
    """Not a number, NUL, columns nobody knows, and files that are no Parquet."""
    table = pa.table({"output": ["a", "b\0", "c"], "cost": [0.5, 1.0, float("nan")]})
    pq.write_table(table, tmp_path / "s.parquet")
    pq.write_table(pa.table({"outptu": ["a"]}), tmp_path / "t.parquet")

    assert said(tmp_path, "s.parquet", (tmp_path / "s.parquet").read_bytes()) == [
        "s.parquet: row 2: a NUL character, which no database can hold",
        "s.parquet: row 3: the number nan, which JSON does not know",
    ]
    assert said(tmp_path, "t.parquet", (tmp_path / "t.parquet").read_bytes()) == [
        "t.parquet: unknown column 'outptu' (did you mean 'output'?; a column of your own is called metadata.outptu, "
        "one with outputs outputs.outptu)"
    ]
    assert said(tmp_path, "u.parquet", b"PAR1, not")[0].startswith("u.parquet: not valid Parquet: ")


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most evals have no Parquet in them, so it is an extra."""
    (tmp_path / "s.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    faults = unopened("s.parquet", tmp_path)

    assert faults == [
        f"samples: {tmp_path}/s.parquet: Parquet cannot be read here (pip install '/path/to/evenhand[parquet]')"
    ]


def test_the_name_of_a_sample_does_not_depend_on_the_kind_of_file(tmp_path: Path) -> None:
    """A data set that moves from CSV to JSONL is the same data set."""
    by_csv = source(tmp_path, "s.csv", "id,output,cost\na,b,0.1\n")
    by_json = source(tmp_path, "s.jsonl", '{"cost": 0.1, "output": "b", "id": "a"}')

    assert count_eval_samples(by_csv).digest == count_eval_samples(by_json).digest
