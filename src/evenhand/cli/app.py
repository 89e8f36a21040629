"""The commands by name, loaded when they are called, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from evenhand._version import __version__
from evenhand.cli.output import discard_command_stdout, print_error, print_message, print_until_reader_leaves
from evenhand.errors import EvenhandError, suggest_close_word_in_error

EXIT_BAD_INPUT = 2
EXIT_OUR_FAULT = 3

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


class LazyCommandGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table above."""
        return list(COMMAND_SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, loaded now; for a misspelt one, say which one is near."""
        if cmd_name not in COMMAND_SUMMARIES:
            hint = suggest_close_word_in_error(cmd_name, COMMAND_SUMMARIES)
            if hint:
                raise click.UsageError(f"No such command {cmd_name!r}: {hint}", ctx)
            return None
        command: click.Command = getattr(import_module(f"evenhand.cli.{cmd_name}"), f"{cmd_name}_command")
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that leaves early ends it in peace."""
        if any(name.startswith(("LLM_COUNCIL_", "ORACLE_LLM_")) for name in os.environ):  # Few commands need it loaded.
            from evenhand.workflows.inputs import list_unknown_settings

            for warning in list_unknown_settings(os.environ):
                print_message(f"note: {warning}", err=True)
        with print_until_reader_leaves():
            return super().invoke(ctx)
        return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMAND_SUMMARIES.items()))


@click.group(cls=LazyCommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="evenhand %(version)s")
def app() -> None:
    """Score the work of language models against rubrics, explain every step, and decide.

    \b
    evenhand init && evenhand run eval.yaml
    evenhand report latest --html -o report.html
    evenhand judge --rubric summary output.md --model openai/NAME
    evenhand score --rubric judge-skill answers.json
    evenhand score --rubric my-rubric.yaml answers.json --explain
    evenhand rubric list
    """


def run_cli() -> NoReturn:
    """Run a command; whatever goes wrong ends in a sentence and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = app(standalone_mode=False) or 0
    except EvenhandError as error:
        code = _print_failure(str(error), EXIT_BAD_INPUT)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        usage = f"{context.get_usage()}\n" if context else ""
        code = _print_failure(f"{usage}{error.format_message()}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        code = _print_failure("stopped", 130)
    except OSError as error:
        discard_command_stdout()
        code = _print_failure(f"the output cannot be written: {(error.strerror or str(error)).lower()}", EXIT_BAD_INPUT)
    except Exception as error:
        if os.environ.get("EVENHAND_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}"
        code = _print_failure(
            f"a fault of Evenhand itself, please report it: {what} (EVENHAND_TRACEBACK=1 shows more)", EXIT_OUR_FAULT
        )
    sys.exit(code)


def _print_failure(message: str, code: int) -> int:
    print_error(message)
    return code
