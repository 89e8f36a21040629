"""What goes into a command and out: numbers are finite, untrusted text is escaped, a file is replaced once whole."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import UnsupportedOperation
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import click

from evenhand.errors import Fault, InputError, make_unwritable_file_error

# Control characters move the cursor or recolour; marks of direction and of no width reorder or hide what is read.
_CONTROL_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)


def escape_terminal_text(text: str) -> str:
    """The text with everything a terminal would act on written out, line breaks and tabs aside."""
    return _CONTROL_CHARACTERS.sub(lambda found: _escape_terminal_character(found[0]), text)


def escape_cli_line(text: str) -> str:
    """The cleaned text on one line."""
    return escape_terminal_text(text).replace("\n", "\\n").replace("\t", "\\t")


def escape_printed_json(text: str) -> str:
    """JSON that means the same, with those characters as escapes; outside strings it has none of them."""
    return _CONTROL_CHARACTERS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escape_terminal_character(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"


class FiniteNumberOption(click.FloatRange):
    """The type of an option for a number in a range, with decimals: nan and inf would slip through, or never end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, in its range."""
        with suppress(TypeError, ValueError):
            if not math.isfinite(float(value)):
                self.fail(f"{value} is not a finite number, such as 7.5.", param, ctx)
        return float(super().convert(value, param, ctx))


POSITIVE_NUMBER = FiniteNumberOption(0, min_open=True)


def open_command_stdin() -> BinaryIO | None:
    """Standard input as bytes, if there is one."""
    return sys.stdin.buffer if sys.stdin else None


@contextmanager
def print_until_reader_leaves() -> Iterator[None]:
    """Print until the reader has seen enough, as `head` does: that is neither an error nor a verdict."""
    try:
        yield
        if sys.stdout:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_command_stdout()


@contextmanager
def print_whole_output() -> Iterator[None]:
    """Print all of it, down to the disk, or fail with an OSError: a reader that has left has not been told."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()
    try:
        copy = os.dup(sys.stdout.fileno())
    except UnsupportedOperation:  # A program reads it in memory.
        yield
        return
    # A stream of its own, with a buffer: where Python was told to have none, a write cut short goes unnoticed.
    with os.fdopen(copy, "w", encoding=sys.stdout.encoding, errors=sys.stdout.errors) as whole:
        with redirect_stdout(whole):
            yield
        whole.flush()
        if stat.S_ISREG(os.fstat(copy).st_mode):
            os.fsync(copy)


def print_message(text: str, *, err: bool = False) -> None:
    """Print one line, or as much of it as there is a reader for; the exit code does not depend on that."""
    with print_until_reader_leaves():
        stream = sys.stderr if err else sys.stdout
        click.echo(_fit_message_to_terminal(text) if stream is not None and stream.isatty() else text, err=err)


def print_json(data: object) -> None:
    """Print data as JSON; where the output is not Unicode, with escapes."""
    plain = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf").lower()
    click.echo(escape_printed_json(json.dumps(data, ensure_ascii=plain, indent=2)))


def discard_command_stdout() -> None:
    """Send what is still to be printed nowhere, so that closing does not complain once more."""
    if sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(text: str) -> None:
    """Print to standard error, if there is one that can be written."""
    with suppress(OSError):
        text, is_terminal = escape_terminal_text(text), sys.stderr is not None and sys.stderr.isatty()
        click.echo(_fit_message_to_terminal(text) if is_terminal else text, err=True)


def print_import_marks(runs: Iterable[str]) -> None:
    """Say on standard error of runs that were imported that they were."""
    for run in runs:
        from evenhand.report.phrases import IMPORTED_RUN  # few runs need it

        print_error(f"run {run} {IMPORTED_RUN}")


def _fit_message_to_terminal(text: str) -> str:
    """The text broken between words to the width of a terminal; a file gets whole lines, which programs can search."""
    from rich.cells import cell_len

    width, rows = measure_terminal_width(), []
    for line in text.split("\n"):
        row, *words = line.split(" ")
        for word in words:
            if cell_len(f"{row} {word}") <= width:
                row = f"{row} {word}"
            else:
                rows.append(row)
                row = word
        rows.append(row)
    return "\n".join(rows)


def measure_terminal_width() -> int:
    """How wide the terminal is, or the file that stands in for it; within reason."""
    return min(max(20, shutil.get_terminal_size().columns), 1000)


@contextmanager
def open_output_option(output: str | None) -> Iterator[TextIO]:
    """The file to write to, there once all of it is; standard output where none is named."""
    if output is None:
        with print_until_reader_leaves():
            yield sys.stdout
        return
    from evenhand.workflows.report import open_user_report_file  # Whoever writes a file has loaded it.

    path = Path(output)
    refuse_output_option_folder(path)
    part = path.with_name(f".{path.name}.part")
    try:
        with open_user_report_file(part, path) as stream:
            yield stream
        part.replace(path)
    except OSError as problem:
        raise make_unwritable_file_error(output, problem) from None
    finally:
        part.unlink(missing_ok=True)


def refuse_output_option_folder(path: Path) -> None:
    """A folder cannot be written over."""
    if path.is_dir():
        raise InputError(Fault("it is a folder", "name a file in it", where=str(path)))
