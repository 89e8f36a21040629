"""CSV: a row for each result, numbers as numbers, and no text that a spreadsheet would calculate."""

import csv
import io
import re
from typing import Any

import pytest

from evenhand.report.data_files import LONGEST_CELL, escape_report_csv_cell, write_csv
from evenhand.report.untrusted_text import escape_acting_report_characters
from tests.report.example import head, hostile_samples, samples
from tests.report.texts import hostile, with_text


def rows(whole: dict[str, Any], some: Any) -> list[dict[str, str]]:
    stream = io.StringIO(newline="")
    write_csv(whole, some, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue().removeprefix("\ufeff"), newline="")))


def unquoted(text: str) -> str:
    """What the docs say of reading back: one quote before a formula is ours."""
    return text[1:] if re.match(r"'+[\s\u200b-\u200d\u2060\ufeff]*[=+\-@＝＋－＠]|'+[\t\r\n]", text) else text


def test_there_is_a_row_for_each_result() -> None:
    """With a column for each layer and each criterion."""
    read = rows(head(), samples())

    assert len(read) == 48
    assert list(read[0]) == [
        "id", "variant", "repeat", "state", "score", "composite", "layer:fact", "layer:behavior", "layer:judge",
        "criterion:accuracy", "criterion:completeness", "criterion:tone", "criterion:brevity", "verdict",
        "assertions_passed", "assertions_failed", "cost", "latency_ms", "why", "output",
    ]  # fmt: skip
    first = next(iter(samples(1)))["results"][0]
    assert float(read[0]["score"]) == first["score"]
    assert float(read[0]["criterion:tone"]) == first["scorecard"]["criteria"]["tone"]
    assert read[0]["output"] == first["output"]["text"]


def test_what_was_not_measured_is_empty() -> None:
    """Not zero, and no word that a column of numbers could not hold."""
    failed = next(row for row in rows(head(), samples()) if row["state"] == "failed")

    assert [failed[name] for name in ("score", "composite", "layer:fact", "criterion:tone", "cost", "output")] == [
        ""
    ] * 6
    assert failed["why"].startswith("the command ended")


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "\u200b=1", "＝1", "＋1", "'=1",
     '=HYPERLINK("https://example.com")'],
)  # fmt: skip
def test_a_formula_is_a_text(text: str) -> None:
    """A quote before it, which a spreadsheet shows as part of the text or swallows; either way nothing is run."""
    assert escape_report_csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "'tis", "1-2", "x@example.com", "_-_", "é"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    """A quote before every text would be a nuisance."""
    assert escape_report_csv_cell(text) == text


def test_numbers_below_zero_stay_numbers() -> None:
    """They begin with a minus, but they are no texts."""
    one = next(iter(samples(1)))
    one["results"] = [{**one["results"][0], "score": -0.5}]

    assert rows(head(), [one])[0]["score"] == "-0.5"


@hostile
def test_every_text_can_be_read_back(text: str) -> None:
    """Line breaks, quotes and commas too; what would act on a terminal is written out."""
    whole, few = with_text(text)

    read = rows(whole, few)

    shown = escape_acting_report_characters(text)
    assert {unquoted(row["id"]) for row in read} == {shown}
    assert [unquoted(row["variant"]) for row in read[:2]] == [f"old{shown}", f"new{shown}"]
    assert {unquoted(row["output"]) for row in read} == {shown}


def test_a_text_longer_than_a_cell_is_cut() -> None:
    """Beyond 32,767 characters a spreadsheet spills into the next row, where a formula could begin."""
    shown = escape_report_csv_cell("x" * 100_000)

    assert len(shown) == LONGEST_CELL
    assert shown.endswith("x…")
    assert escape_report_csv_cell("x" * LONGEST_CELL) == "x" * LONGEST_CELL
    assert len(escape_report_csv_cell("\x1b" * LONGEST_CELL)) == LONGEST_CELL


def test_the_file_says_that_it_is_unicode() -> None:
    """Excel asks for the mark."""
    stream = io.StringIO(newline="")

    write_csv(head(), [], stream)

    assert stream.getvalue().startswith("\ufeffid,variant,")


def test_hostile_samples_do_nothing() -> None:
    """No escape code and no turned direction in the file."""
    stream = io.StringIO(newline="")

    write_csv(head(), hostile_samples(), stream)

    assert not set("\x00\x1b\x07\u202e\u2066") & set(stream.getvalue())
