"""The shared data sets as rows."""

import json
from pathlib import Path
from typing import Any


def rows(shared: Path, name: str) -> list[dict[str, Any]]:
    """The lines of a JSONL file, by its path below the data sets."""
    return [json.loads(line) for line in (shared / "datasets" / name).read_text("utf-8").splitlines()]
