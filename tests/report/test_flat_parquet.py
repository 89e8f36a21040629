"""Parquet: typed columns, nested lists, row groups; a file that is there is whole."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from evenhand import InputError
from evenhand.report import data_files as _parquet
from evenhand.report.data_files import write_parquet
from tests.report.example import head, hostile_samples, samples
from tests.report.texts import hostile, with_text


def test_results_are_rows_with_types(tmp_path: Path) -> None:
    """What was not measured is null, and a column of nulls has its type all the same."""
    write_parquet(head(), samples(), tmp_path / "run.parquet")

    table = pq.read_table(tmp_path / "run.parquet")
    first, *_ = table.to_pylist()
    result = next(iter(samples(1)))["results"][0]
    assert table.num_rows == 48
    assert table.schema.field("score").type == pa.float64()
    assert table.schema.field("cluster").type == pa.string()
    assert first["criterion:tone"] == result["scorecard"]["criteria"]["tone"]
    assert first["judgments"][0]["evidence"] == result["judgments"][0]["evidence"]
    assert [one["passed"] for one in first["assertions"]] == [one["passed"] for one in result["assertions"]]
    assert json.loads(first["scorecard"]) == result["scorecard"]
    failed = next(row for row in table.to_pylist() if row["state"] == "failed")
    assert [failed[name] for name in ("score", "composite", "output", "cost", "trace")] == [None] * 5


def test_the_file_says_what_run_it_is(tmp_path: Path) -> None:
    """The head travels with the rows."""
    write_parquet(head(), [], tmp_path / "run.parquet")

    metadata = pq.read_schema(tmp_path / "run.parquet").metadata
    assert json.loads(metadata[b"evenhand"]) == head()


def test_rows_are_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays flat as samples grow."""
    monkeypatch.setattr(_parquet, "ROW_GROUP_SIZE", 10)

    write_parquet(head(), samples(), tmp_path / "run.parquet")

    file = pq.ParquetFile(tmp_path / "run.parquet")
    assert [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)] == [10, 10, 10, 10, 8]


@hostile
def test_every_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Unchanged: Parquet is for programs."""
    path = tmp_path_factory.mktemp("texts") / "run.parquet"
    whole, few = with_text(text)

    write_parquet(whole, few, path)

    read = pq.read_table(path, columns=["id", "output", "judgments"]).to_pylist()
    assert {row["id"] for row in read} == {text}
    assert {one["reason"] for row in read for one in row["judgments"]} == {text}


def test_data_that_is_no_text_becomes_json(tmp_path: Path) -> None:
    """An assertion may have looked for a list."""
    one = next(iter(samples(1)))
    one["results"][0]["assertions"][0] |= {"looked_for": ["a", "b"], "found": 3}

    write_parquet(head(), [one], tmp_path / "run.parquet")

    assertion = pq.read_table(tmp_path / "run.parquet").to_pylist()[0]["assertions"][0]
    assert (assertion["looked_for"], assertion["found"]) == ('["a", "b"]', "3")


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    """Parquet holds UTF-8, which has none."""
    write_parquet(head(), [{**next(iter(samples(1))), "id": "a\ud800"}], tmp_path / "run.parquet")

    assert pq.read_table(tmp_path / "run.parquet")["id"][0].as_py() == "a\ufffd"


def test_a_file_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    """What was there before stays."""
    (tmp_path / "run.parquet").write_text("before")

    def broken() -> Iterator[dict[str, Any]]:
        yield from samples(2)
        raise OSError("the store is gone")

    with pytest.raises(OSError, match="the store is gone"):
        write_parquet(head(), broken(), tmp_path / "run.parquet")

    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("run.parquet", "before")]


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(InputError, match=r"pip install '/path/to/evenhand\[parquet\]'"):
        write_parquet(head(), [], tmp_path / "run.parquet")


def test_hostile_samples_are_data(tmp_path: Path) -> None:
    """They come back word for word."""
    write_parquet(head(), hostile_samples(), tmp_path / "run.parquet")

    assert pq.read_table(tmp_path / "run.parquet")["id"][0].as_py() == "<script>alert(1)</script> 0"
