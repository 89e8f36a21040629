"""The entry point of the command line: `--version` and `--help` answer before anything else is loaded."""

from __future__ import annotations

import io
import os
import sys

from evenhand._version import __version__

TYPE_CHECKING = False  # Type checkers read it as true; the module of that name costs 5 ms.

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ABOUT = "Score the work of language models against rubrics, explain every step, and decide."
EXAMPLES = (
    "evenhand init && evenhand run eval.yaml",
    "evenhand report latest --html -o report.html",
    "evenhand judge --rubric summary output.md --model openai/NAME",
    "evenhand score --rubric judge-skill answers.json",
    "evenhand score --rubric my-rubric.yaml answers.json --explain",
    "evenhand rubric list",
)
COMMAND_SUMMARIES = {
    "init": "Write a working eval with data, to begin with.",
    "run": "Run an eval: outputs, guards, assertions, judges, scores, a decision.",
    "runs": "List, show, watch, export, import, rescore and delete runs.",
    "report": "A run as HTML, Markdown, JUnit, JSON, CSV or Parquet.",
    "compare": "Two runs, or the variants of one: which is better, and how sure that is.",
    "baseline": "Pin a run under a name, for others to be compared with.",
    "history": "How the scores of an eval or a subject ran over time.",
    "calibrate": "Judges against people: agreement, bias, and which judges to ask.",
    "trust": "Whether judges may gate: how often they decide otherwise than people.",
    "labels": "Which outputs people should label next, and whether labels fit a run.",
    "align": "Edit a rubric so that its judges answer more like people.",
    "probe": "Whether a judge still is the one that was measured: sealed outputs, asked again.",
    "audit": "Whether the judges of a run are fit to decide: biases, agreement, gaps.",
    "sensitivity": "Whether the ranking of variants survives other weights.",
    "judge": "Ask models to judge outputs; score, decide, rank, and say why.",
    "contest": "Play contests: accept submissions, advise, pick a winner, and show why.",
    "view": "Open the workbench in the browser: look, drill down, compare.",
    "serve": "Serve the workbench and the REST API, and play contests.",
    "token": "Make, list and revoke the tokens with which others call the service.",
    "guard": "Look for injections, unsafe passages and personal data in files.",
    "models": "Which models can be asked, what they support, what they cost.",
    "score": "Turn criterion scores into a score, a decision, a ranking, and why.",
    "rubric": "List, show, check, start and draft rubrics.",
    "skill": "Instructions for an assistant that evaluates its own work.",
    "mcp": "Tools for an assistant, over the Model Context Protocol.",
}
OPTIONS = {"--version": "Show the version and exit.", "-h, --help": "Show this message and exit."}
WIDEST_PAGE = 80  # Columns that Click uses at most; on a narrower terminal it writes the page itself.


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        try:
            os.write(1, f"evenhand {__version__}\n".encode())
        except BrokenPipeError:
            pass  # Whoever asked has left.
        except OSError:
            sys.exit(2)
        return
    if sys.argv[1:] in (["--help"], ["-h"]) and _print_help_page():
        return
    drop_unwritable_stderr()
    try:
        from evenhand.cli.app import run_cli
    except Exception as error:
        if is_interrupt_wrapped(error):
            raise KeyboardInterrupt from None
        raise
    run_cli()


class LossyOutput(io.RawIOBase):
    """Writes what can be written, and drops what cannot: writing is never an error."""

    def __init__(self, target: Any) -> None:
        self._target = target
        self.name = target.name

    def writable(self) -> bool:
        """It is for writing alone."""
        return True

    def fileno(self) -> int:
        """The number of the file that is written to."""
        return int(self._target.fileno())

    def isatty(self) -> bool:
        """Whether that is a terminal."""
        return bool(self._target.isatty())

    def write(self, data: Any) -> int:
        """Write some of the data; all of it counts as written where nothing can be."""
        try:
            written = self._target.write(data)
        except OSError:
            return len(data)
        return len(data) if written is None else int(written)


class SharedTextStream(io.TextIOWrapper):
    """A stream that nobody can close, as others still write to it."""

    def close(self) -> None:
        """Write what is left, and stay open."""
        self.flush()


def drop_unwritable_stderr() -> None:
    """Let no command fail, or end with another exit code, because standard error cannot be written.

    Python itself ends with 120 where something is left to be written when it ends.
    """
    stream = sys.stderr
    if stream is not sys.__stderr__ or not isinstance(stream, io.TextIOWrapper):
        return  # There is none, or a program has put something in its place.
    is_buffered = isinstance(stream.buffer, io.BufferedWriter)
    lossy: Any = LossyOutput(stream.buffer.raw if is_buffered else stream.buffer)
    sys.stderr = SharedTextStream(
        io.BufferedWriter(lossy) if is_buffered else lossy,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
        write_through=stream.write_through,
    )


def is_interrupt_wrapped(error: BaseException) -> bool:
    """Whether an error came of Ctrl-C: Python 3.11 wraps what interrupts the building of a class in a RuntimeError."""
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and all(following is not one for one in chain):
        chain.append(following)
        following = following.__cause__ or following.__context__
    return any(isinstance(one, KeyboardInterrupt) for one in chain)


def _print_help_page() -> bool:
    """Print it, unless it is for Click to do so: on a narrow terminal, to say why nothing can be written, or where a
    program has put something in the place of standard output.
    """
    if sys.stdout is not sys.__stdout__:
        return False
    page = build_help_page(name_command_line_program(), measure_terminal_columns())
    try:
        if page is not None:
            os.write(1, page.encode())
    except BrokenPipeError:
        pass  # Whoever asked has left.
    except OSError:
        return False
    return page is not None


def build_help_page(program: str, columns: int) -> str | None:
    """The page as Click writes it for a program of this name; None where that takes a narrower page or a long name."""
    usage, room = f"Usage: {program} [OPTIONS] COMMAND [ARGS]...", WIDEST_PAGE - 2
    if columns < WIDEST_PAGE or len(usage) > room:
        return None
    lines = [usage, "", *(f"  {line}" for line in _break_help_page_line(ABOUT, room - 2)), ""]
    lines += [*(f"  {line}" for line in EXAMPLES), ""]
    for title, entries in (("Options:", OPTIONS), ("Commands:", COMMAND_SUMMARIES)):
        widest = max(map(len, entries))
        lines += [title] if title == "Options:" else ["", title]
        for name, text in entries.items():
            first, *others = _break_help_page_line(text, room - widest - 4)
            lines += [f"  {name:<{widest}}  {first}", *(f"{' ' * (widest + 4)}{line}" for line in others)]
    return "\n".join(lines) + "\n"


def _break_help_page_line(text: str, room: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > room:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    yield line


def measure_terminal_columns() -> int:
    """The columns of the terminal, as the environment or the system says; as many as a page takes where neither."""
    try:
        told = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        told = 0
    try:
        return told if told > 0 else os.get_terminal_size(1).columns or WIDEST_PAGE
    except OSError:
        return WIDEST_PAGE


def name_command_line_program() -> str:
    """The program as it was called: by its own name, or as a module of Python."""
    package = getattr(sys.modules["__main__"], "__package__", None)
    return f"python -m {package}" if package else os.path.basename(sys.argv[0])  # noqa: PTH119 - pathlib costs 3 ms.
