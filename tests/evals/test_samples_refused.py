"""Wrong and hostile sample files: refused with file:line, all at once, and without a traceback."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import MOST_FAULTS_SHOWN, EvalError, Fault
from evenhand.evals import json_lines as _samples_lines
from evenhand.evals.eval_definition import count_eval_samples
from evenhand.evals.sample import EvalSample
from tests.evals.samples import DATA, said, source, unopened


def test_all_faults_of_a_file_come_at_once_each_with_its_line(tmp_path: Path) -> None:
    """One round of corrections, and before any call is paid for."""
    lines = [
        '{"inptu": "a"}',
        "nothing",
        '{"id": "x", "output": 1.5}',
        '{"id": "", "output": "a", "outputs": {}}',
        '{"cost": 1}',
        '{"output": "a", "cost": -1, "latency_ms": "fast", "turns": 1.5, "trace": [{"nme": "s"}]}',
        '{"outputs": {"a": {"txt": "b"}}}',
        '{"input": [{"role": "tool", "text": "x"}]}',
        '{"id": "twice"}',
        '{"id": "twice"}',
        '{"tags": 3, "metadata": [], "context": [1], "reference": 1.5, "author": ""}',
        "[1]",
        '{"id": "a", "id": "b"}',
    ]

    assert said(tmp_path, "s.jsonl", "\n".join(lines)) == [
        "s.jsonl:1: unknown field 'inptu' (did you mean 'input'?; fields of your own belong under metadata)",
        "s.jsonl:2: not valid JSON: Expecting value (column 1)",
        "s.jsonl:3: output must be a text or an object with a text, got a number (put it in quotes)",
        "s.jsonl:4: output and outputs are the same field (keep one of them)",
        "s.jsonl:4: id cannot be empty (leave it out)",
        "s.jsonl:5: cost belongs to an output (give the output too)",
        "s.jsonl:6: unknown field 'nme' in trace[0] (did you mean 'name'?)",
        "s.jsonl:6: trace[0] needs the name of a tool",
        "s.jsonl:6: cost must be a number from 0 up, got -1",
        "s.jsonl:6: latency_ms must be a number from 0 up, got 'fast'",
        "s.jsonl:6: turns must be a whole number, got 1.5",
        "s.jsonl:7: unknown field 'txt' in outputs.a (did you mean 'text'?)",
        "s.jsonl:7: outputs.a has no text (leave the output out where there is none)",
        "s.jsonl:8: input[0].role 'tool' is not known (known: system, user, assistant; calls of tools belong into the "
        "trace of an output)",
        "s.jsonl:10: the id 'twice' is used twice, first in s.jsonl:9 (each id is unique)",
        "s.jsonl:11: author must be the name of a model, got an empty text",
        "s.jsonl:11: reference must be text, got a number (put it in quotes)",
        "s.jsonl:11: context must be text, got a list",
        "s.jsonl:11: tags must be a list of texts, or one text with commas",
        "s.jsonl:11: metadata must be an object, got a list",
        "s.jsonl:12: a sample is an object with fields, got a list (as in {\"input\": …, \"output\": …})",
        "s.jsonl:13: the field 'id' is given twice",
    ]  # fmt: skip


def test_reading_stops_when_enough_is_told(tmp_path: Path) -> None:
    """A file of a million lines, each wrong in its own way, gives fifty faults, not a million."""
    lines = [f'{{"x{number}": 1}}' for number in range(MOST_FAULTS_SHOWN * 3)]
    samples = source(tmp_path, "s.jsonl", "\n".join(lines))

    with pytest.raises(EvalError) as caught:
        list(samples)

    assert len(caught.value.faults) == MOST_FAULTS_SHOWN


class Many:
    """Samples from somewhere else."""

    where = "many"

    def __iter__(self) -> Iterator[EvalSample]:
        return (EvalSample(id=str(number)) for number in range(MOST_FAULTS_SHOWN * 3))


@pytest.mark.parametrize("kind", ["a file", "another source"])
def test_looking_further_stops_when_enough_is_told(tmp_path: Path, kind: str) -> None:
    """The same where another room finds the faults."""
    samples = source(tmp_path, "s.jsonl", "{}\n" * (MOST_FAULTS_SHOWN * 3)) if kind == "a file" else Many()
    looked: list[str] = []

    def also(sample: EvalSample, faults: list[Fault]) -> None:
        looked.append(sample.id)
        faults.append(Fault(f"wrong: {sample.id}"))

    with pytest.raises(EvalError) as caught:
        count_eval_samples(samples, also)

    assert (len(looked), len(caught.value.faults)) == (MOST_FAULTS_SHOWN, MOST_FAULTS_SHOWN)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"input": "\\ud83d"}', "s.jsonl:1: half a character (a lone surrogate), which no file can hold"),
        (b'{"metadata": {"\\u0000": 1}}', "s.jsonl:1: a NUL character, which no database can hold"),
        (b'{"input": "a\0b"}', "s.jsonl:1: not valid JSON: Invalid control character (column 13)"),
        (b'{"input": "\xff"}', "s.jsonl:1: not UTF-8 text (save the file as UTF-8)"),
        (b'\xff\xfe{\0', "s.jsonl:1: not UTF-8 text (save the file as UTF-8)"),
        (b'{"metadata": {"x": NaN}}', "s.jsonl:1: not valid JSON: NaN is not a number in JSON"),
        (b'{"metadata": {"x": -Infinity}}', "s.jsonl:1: not valid JSON: -Infinity is not a number in JSON"),
        (b'{"metadata": {"x": 1e999}}', "s.jsonl:1: the number 1e999 is too large"),
        (b'{"metadata": ' + b"9" * 5000 + b"}", "s.jsonl:1: Exceeds the limit (4300 digits) for integer string "
         "conversion: value has 5000 digits"),
        (b'{"metadata": ' + b"[" * 200_000, "s.jsonl:1: nested more than 60 deep"),
        (b'{"metadata": {"x": ' + b"[" * 70 + b"]" * 70 + b"}}", "s.jsonl:1: nested more than 60 deep"),
        (b"", "s.jsonl: there are no samples (a run needs at least one)"),
        (b"\n\n", "s.jsonl: there are no samples (a run needs at least one)"),
    ],
)  # fmt: skip
def test_hostile_lines_are_refused_with_their_place(tmp_path: Path, content: bytes, complaint: str) -> None:
    """No traceback, whatever stands there."""
    assert said(tmp_path, "s.jsonl", content) == [complaint]


def test_an_endless_line_is_passed_over_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never held in memory, and what follows it is still looked at."""
    monkeypatch.setattr(_samples_lines, "LONGEST_LINE", 100)
    content = '{"input": "' + "x" * 1000 + '"}\n{"nput": 1}\n{"id": "' + "y" * 200

    assert said(tmp_path, "s.jsonl", content) == [
        "s.jsonl:1: longer than the 10,000,000 bytes allowed for one sample",
        "s.jsonl:2: unknown field 'nput' (did you mean 'input'?; fields of your own belong under metadata)",
        "s.jsonl:3: longer than the 10,000,000 bytes allowed for one sample",
    ]


@pytest.mark.parametrize(
    ("node", "complaint"),
    [
        ("/dev/zero", "samples: /dev/zero: is not a regular file (it is read more than once: save what it gives to a "
         "file)"),
        ("/tmp", "samples: /tmp: is a folder (name a file in it)"),
        ("none.jsonl", "samples: /none.jsonl: cannot be read: no such file or directory"),
        ("a\0b", "samples: /a\0b: cannot be read: embedded null byte"),
        ("etc/passwd", "samples: /etc/passwd: the name does not tell the format (write {file: …, format: jsonl}, "
         "or json, csv, parquet)"),
        (None, "samples: samples are a list or a file, got nothing (as in samples: samples.jsonl)"),
        ({}, "samples: samples need a file (as in {file: samples.csv, fields: {input: question}})"),
        ({"file": "/etc/passwd", "format": "xml"}, "samples.format: format 'xml' is not known (known: csv, json, "
         "jsonl, parquet)"),
        ({"file": "/etc/passwd", "format": "csv", "fields": {"inptu": "x"}}, "samples.fields.inptu: a sample has no "
         "field 'inptu' (did you mean 'input'?)"),
    ],
)  # fmt: skip
def test_what_cannot_be_samples_is_said_at_its_place_in_the_eval_file(node: object, complaint: str) -> None:
    """Before anything is read: devices and folders give nothing, or never end."""
    assert unopened(node)[:1] == [complaint]


@given(st.binary(max_size=300) | st.lists(DATA.map(json.dumps)).map("\n".join).map(str.encode))
@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.csv", "s.parquet"])
def test_whatever_a_file_holds_it_gives_samples_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    """No traceback out of anybody's data."""
    folder = tmp_path_factory.getbasetemp()

    samples = source(folder, name, content)

    try:
        assert count_eval_samples(samples).samples == len(list(samples))
    except EvalError as error:
        assert all(fault.where.startswith(str(folder / name)) for fault in error.faults)
