"""Write golden files anew, on purpose: `python -m tests.golden.freeze [NAME…]`.

Without a name every session in `sessions/` is played, and what its commands print now takes the place of what they
printed. A new case is a new `$ evenhand …` line in a session (the docstring of `session` says what else can be in one);
frozen once, the test holds it. Read the difference before you commit it: each line of it is a change that users see.
"""

import sys
import tempfile
from pathlib import Path

from tests.golden.session import SESSIONS, play


def freeze(name: str) -> None:
    """Play a session and write down what came of it."""
    file = SESSIONS / f"{name}.txt"
    with tempfile.TemporaryDirectory() as folder:
        steps = play(file.read_text("utf-8"), Path(folder))
    file.write_text("".join(step.written() for step in steps), "utf-8")


def main(names: list[str]) -> None:
    """Freeze the sessions that are named, or all."""
    for name in names or sorted(file.stem for file in SESSIONS.glob("*.txt")):
        freeze(name)


if __name__ == "__main__":
    main(sys.argv[1:])
