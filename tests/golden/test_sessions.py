"""What commands print, what they ask of judges and how they exit is what it was when it was frozen."""

from pathlib import Path

import pytest

from tests.golden.session import SESSIONS, play

NAMES = sorted(file.stem for file in SESSIONS.glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_a_session_goes_as_it_went(name: str, tmp_path: Path) -> None:
    """To the byte, apart from ids, times, durations, versions, ports and the folder."""
    frozen = (SESSIONS / f"{name}.txt").read_text("utf-8")

    steps = play(frozen, tmp_path)

    assert "".join(step.written() for step in steps) == frozen
