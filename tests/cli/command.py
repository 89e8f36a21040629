"""The command as a user runs it."""

import os
import subprocess
import sys
from pathlib import Path

# Ours, and those by which a build server changes what is printed.
SETTINGS = ("LLM_COUNCIL_", "EVENHAND_", "OPENAI_", "ANTHROPIC_", "ORACLE_", "OLLAMA_", "GITHUB_")


def evenhand(
    *arguments: str, stdin: str = "", folder: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run it at 80 columns, in a folder where one is given, with no setting but those given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**kept, "COLUMNS": "80", **environ},
    )
