"""What commands print, what they ask of judges and how they exit is what it was when it was frozen."""

from itertools import zip_longest
from pathlib import Path

import pytest

from tests.golden.session import SESSIONS, play

NAMES = sorted(file.stem for file in SESSIONS.glob("*.txt"))
AROUND = 12


@pytest.mark.parametrize("name", NAMES)
def test_a_session_goes_as_it_went(name: str, tmp_path: Path) -> None:
    """To the byte, apart from ids, times, durations, versions, ports and the folder."""
    frozen = (SESSIONS / f"{name}.txt").read_text("utf-8")

    steps = play(frozen, tmp_path)

    played = "".join(step.written() for step in steps)
    if played != frozen:  # Comparing texts of this length line by line takes pytest minutes.
        pytest.fail(_first_difference(frozen.split("\n"), played.split("\n")))


def _first_difference(frozen: list[str], played: list[str]) -> str:
    both = enumerate(zip_longest(frozen, played))
    place = next(number for number, (before, now) in both if before != now)
    command = next((line for line in reversed(played[:place]) if line.startswith("$")), "")
    told = [f"line {place + 1}, {command}"]
    told += [f"  {line}" for line in frozen[max(0, place - AROUND) : place]]
    told += [f"- {line}" for line in frozen[place : place + AROUND]]
    told += [f"+ {line}" for line in played[place : place + AROUND]]
    return "\n".join(told)
