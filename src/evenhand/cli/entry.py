"""The entry point of the command line: `--version` and `--help` answer before anything else is loaded."""

from __future__ import annotations

import os
import sys

from evenhand._version import __version__


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
    from evenhand.cli.app import run_cli

    run_cli()


def _print_help_page() -> bool:
    """Print it, unless it is for Click to do so: on a narrow terminal, to say why nothing can be written, or where a
    program has put something in the place of standard output.
    """
    if sys.stdout is not sys.__stdout__:
        return False
    from evenhand.cli.help_page import build_help_page, measure_page_columns, name_program

    page = build_help_page(name_program(), measure_page_columns())
    try:
        if page is not None:
            os.write(1, page.encode())
    except BrokenPipeError:
        pass  # Whoever asked has left.
    except OSError:
        return False
    return page is not None
