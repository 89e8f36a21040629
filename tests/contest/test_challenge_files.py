"""Challenges in a JSONL file: in order of time, refused with every fault and its line."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.contest.read_submissions import read_ranking_challenges
from evenhand.contest.task import Challenge
from evenhand.errors import ContestError

NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)


def test_challenges_come_in_order_of_time(tmp_path: Path) -> None:
    """Of those at one moment, as they stand in the file; without any line there is none."""
    late = {"by": "heron", "at": "2026-12-02T13:00:00+01:00", "reason": "B has no source."}
    early = {"by": "wren", "at": "2026-12-02T11:59:59Z", "reason": "Mine is better."}
    path = _put(tmp_path / "challenges.jsonl", f"{json.dumps(late)}\n\n{json.dumps(early)}\n")

    found = read_ranking_challenges(path)

    assert found == (
        Challenge(by="wren", at=NOON - timedelta(seconds=1), reason="Mine is better."),
        Challenge(by="heron", at=NOON, reason="B has no source."),
    )
    assert read_ranking_challenges(_put(tmp_path / "none.jsonl", "")) == ()


def test_all_that_is_wrong_with_challenges_is_told_at_once(tmp_path: Path) -> None:
    """Each with its line."""
    wordless = '{"by": "heron", "at": "2026-12-02T12:00:00Z", "reason": " "}'
    path = _put(tmp_path / "c.jsonl", f'{{"by": "", "at": "2026-12-02", "why": "x"}}\n{wordless}\nnull\n')

    with pytest.raises(ContestError) as refused:
        read_ranking_challenges(path)

    assert [str(fault).removeprefix(f"{tmp_path}/").split(" (")[0] for fault in refused.value.faults] == [
        "c.jsonl:1: unknown field 'why'",
        "c.jsonl:1: by cannot be empty",
        "c.jsonl:1: at 2026-12-02 has no time of day",
        "c.jsonl:1: reason is missing",
        "c.jsonl:2: reason cannot be empty",
        "c.jsonl:3: expected an object, got null",
    ]


def _put(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path
