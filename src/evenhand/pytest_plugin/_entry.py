"""What a test tells the session about an output it scored: one text, which any process can send to any other."""

from __future__ import annotations

import json
from dataclasses import asdict

from evenhand.pytest_plugin._scoring import Rows
from evenhand.pytest_plugin._verdict import ScoredOutput


def entry_of(scored: ScoredOutput, rows: Rows | None) -> str:
    """The text; `rows` are for the report, where one is asked for."""
    return json.dumps(
        {
            "test": scored.test,
            "variant": scored.variant,
            "state": scored.state,
            "composite": scored.composite,
            "missed": list(scored.missed),
            "problems": list(scored.problems),
            "rows": None if rows is None else asdict(rows),
        }
    )
