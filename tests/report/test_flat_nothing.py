"""A run in which nothing was measured: every format can say so."""

import io
import re
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.run_tables import print_run
from evenhand.report import find_report_writer
from evenhand.report.ci_reports import render_github_report_annotations
from evenhand.report.data_files import write_parquet
from tests.report.example import head, samples

NOTHING: dict[str, Any] = {
    "results": 2, "scored": 0, "incomplete": 0, "failed": 2, "score": None, "composite": None, "layers": {},
    "criteria": {}, "verdicts": {}, "assertions": {"passed": 0, "failed": 0, "unanswered": 0}, "assertion_rates": [],
    "distribution": {"of": "score", "edges": [], "counts": []}, "cost": {"outputs": None, "judges": None},
    "tokens": {"input": 0, "output": 0}, "latency_ms": None,
}  # fmt: skip
DECISION = {
    "verdict": "SOLO", "headline": "nothing was scored", "sure": "", "next_step": "see why below", "reasons": [],
    "exit_code": 1, "best": None, "gates": {}, "comparisons": [],
}  # fmt: skip


def nothing() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The head and two samples whose only output failed."""
    whole = head(judges=[], agreement=[], flags=[], consistency=[], decision=DECISION)
    whole["variants"] = [{"name": "old", "role": "control", "about": "", **NOTHING}]
    whole["eval"] |= {"rubrics": [], "assertions": []}
    whole["cost"] = {"outputs": None, "judges": None, "total": None, "unpriced": 0}
    failed = [one["results"][0] for one in samples() if one["results"][0]["state"] == "failed"]
    return whole, [{**one, "results": failed} for one in samples(2)]


@pytest.mark.parametrize("name", ["markdown", "junit", "json", "csv"])
def test_every_format_says_that_nothing_was_scored(name: str) -> None:
    """The reason is in it, and no number that nobody measured."""
    stream = io.StringIO(newline="")

    find_report_writer(name)(*nothing(), stream)

    assert "connection reset by peer" in stream.getvalue()
    assert not re.search(r"\b(?:nan|inf)\b|0\.00\b", stream.getvalue(), re.IGNORECASE)


def test_parquet_and_annotations_too(tmp_path: Path) -> None:
    """The first annotation is the verdict, as an error."""
    whole, failed = nothing()

    write_parquet(whole, failed, tmp_path / "run.parquet")
    first, *_ = render_github_report_annotations(whole, failed)

    assert (tmp_path / "run.parquet").stat().st_size > 0
    assert first == "::error title=Evenhand%3A SOLO::nothing was scored Next: see why below"


def test_the_terminal_shows_how_many_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict, one table, the failures."""
    print_run(nothing()[0])

    text = capsys.readouterr().out
    assert "variant  scored  failed\nold      0 of 2       2\n" in text
    assert text.startswith("SOLO: nothing was scored\n  next: see why below\n")
    assert "no JSON object in it" in text
