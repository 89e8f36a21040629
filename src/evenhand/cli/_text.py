"""Text on its way to a reader: untrusted text is shown, never obeyed; a reader may leave at any time."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

# Control characters move the cursor or recolour; marks of direction and of no width reorder or hide what is read.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def clean(text: str) -> str:
    """The text with everything a terminal would act on written out, line breaks and tabs aside."""
    return _CONTROLS.sub(lambda found: _escaped(found[0]), text)


def one_line(text: str) -> str:
    """The cleaned text on one line."""
    return clean(text).replace("\n", "\\n").replace("\t", "\\t")


def clean_json(text: str) -> str:
    """JSON that means the same, with those characters as escapes; outside strings it has none of them."""
    return _CONTROLS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"


@contextmanager
def while_read() -> Iterator[None]:
    """Print until the reader has seen enough, as `head` does: that is neither an error nor a verdict."""
    try:
        yield
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        forget_output()


def tell(text: str, *, err: bool = False) -> None:
    """Print one line, or as much of it as there is a reader for; the exit code does not depend on that."""
    with while_read():
        click.echo(text, err=err)


def tell_json(data: object) -> None:
    """Print data as JSON; where the output is not Unicode, with escapes."""
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower()
    click.echo(clean_json(json.dumps(data, ensure_ascii=plain, indent=2)))


def forget_output() -> None:
    """Send what is still to be printed nowhere, so that closing does not complain once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Print to standard error, if there is one that can be written."""
    with suppress(OSError):
        click.echo(clean(text), err=True)
