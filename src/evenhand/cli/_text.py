"""Text on its way to a reader: untrusted text is shown, never obeyed; a reader may leave at any time."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Control characters move the cursor or recolour; bidirectional marks reorder what is read.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """The text with everything a terminal would act on written out, line breaks and tabs aside."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def one_line(text: str) -> str:
    """The cleaned text on one line."""
    return " ".join(clean(text).split())


@contextmanager
def while_read() -> Iterator[None]:
    """Print until the reader has seen enough, as `head` does: that is neither an error nor a verdict."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
