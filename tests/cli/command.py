"""The command as a user runs it, in a process that need not import everything first."""

import os
import subprocess
import tempfile
from pathlib import Path

from tests.warm.processes import run

# Ours, and those by which a build server changes what is printed.
SETTINGS = ("LLM_COUNCIL_", "EVENHAND_", "OPENAI_", "ANTHROPIC_", "ORACLE_", "OLLAMA_", "GITHUB_")


def evenhand(
    *arguments: str, stdin: str = "", folder: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run it at 80 columns, in a folder where one is given, with no setting but those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    with tempfile.TemporaryDirectory() as aside:
        done = run(
            folder or Path.cwd(),
            *arguments,
            stdin=stdin,
            aside=Path(aside),
            environ={**kept, "COLUMNS": "80", **environ},
        )
    return subprocess.CompletedProcess(["evenhand", *arguments], done.code, done.out, done.err)
