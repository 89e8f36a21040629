"""The commands by name, loaded when they are called, and what happens when one fails."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NoReturn

import click

from evenhand._version import __version__
from evenhand.cli.entry import ABOUT, COMMAND_SUMMARIES, EXAMPLES, is_interrupt_wrapped
from evenhand.cli.output import (
    discard_command_stdout,
    print_error,
    print_import_marks,
    print_message,
    print_until_reader_leaves,
)
from evenhand.errors import (
    EvenhandError,
    find_unreadable_import_error,
    mark_errors_about_imports,
    suggest_close_word_in_error,
)

EXIT_BAD_INPUT = 2
EXIT_OUR_FAULT = 3
COMMAND_HOMES = {  # The modules of commands that stand beside others of their group.
    "audit": "trust",
    "baseline": "runs",
    "mcp": "serve",
    "report": "runs",
    "sensitivity": "trust",
    "skill": "init",
    "token": "serve",
    "view": "serve",
}


class LazyCommandGroup(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which the page of `--help` lists them."""
        return list(COMMAND_SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, loaded now; for a misspelt one, say which one is near."""
        if cmd_name not in COMMAND_SUMMARIES:
            hint = suggest_close_word_in_error(cmd_name, COMMAND_SUMMARIES)
            if hint:
                raise click.UsageError(f"No such command {cmd_name!r}: {hint}", ctx)
            return None
        home = import_module(f"evenhand.cli.{COMMAND_HOMES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(home, f"{cmd_name}_command")
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that leaves early ends it in peace."""
        if any(name.startswith(("LLM_COUNCIL_", "ORACLE_LLM_")) for name in os.environ):  # Few commands need it loaded.
            from evenhand.workflows.inputs import list_unknown_environment_settings

            for warning in list_unknown_environment_settings(os.environ):
                print_message(f"note: {warning}", err=True)
        with print_until_reader_leaves():
            return super().invoke(ctx)
        return 0

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMAND_SUMMARIES.items()))


# The command line: every command is a part of it.
app = click.version_option(__version__, message="evenhand %(version)s")(
    LazyCommandGroup(
        "app",
        help="\n".join((ABOUT, "", "\b", *EXAMPLES)),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


def run_cli() -> NoReturn:
    """Run a command; whatever goes wrong ends in a sentence and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with mark_errors_about_imports():
            code = app(standalone_mode=False) or 0
    except EvenhandError as error:
        code = _print_refusal(error)
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
        code = _print_failure("stopped", 130) if is_interrupt_wrapped(error) else _print_own_fault(error)
    sys.exit(code)


def _print_refusal(error: EvenhandError) -> int:
    code = _print_failure(str(error), EXIT_BAD_INPUT)
    print_import_marks(error.imported_runs)
    return code


def _print_own_fault(error: Exception) -> int:
    if os.environ.get("EVENHAND_TRACEBACK"):
        raise error
    if (unreadable := find_unreadable_import_error(error)) is not None:
        return _print_refusal(unreadable)
    what = f"{type(error).__name__}: {error}"
    told = f"a fault of Evenhand itself, please report it: {what} (EVENHAND_TRACEBACK=1 shows more)"
    return _print_failure(told, EXIT_OUR_FAULT)


def _print_failure(message: str, code: int) -> int:
    print_error(message)
    return code
