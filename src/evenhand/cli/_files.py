"""Texts named on the command line: files, or standard input where the name is -."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import Fault, InputError
from evenhand.loading import decoded, read_text

LARGEST = 5_000_000


def read_outputs(names: Sequence[str]) -> dict[str, str]:
    """The texts by name, each named once."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(Fault(f"{twice!r} is named twice", "each output once"))
    return {name: read_output(name) for name in names}


def read_output(name: str) -> str:
    """The text of a file, or of standard input."""
    if name == "-":
        content = sys.stdin.buffer.read(LARGEST + 1) if sys.stdin else b""
        if len(content) > LARGEST:
            raise InputError(Fault(f"larger than the {LARGEST:,} bytes allowed", where="standard input"))
        return decoded(content, "standard input", InputError)
    return read_text(Path(name), LARGEST, InputError)
