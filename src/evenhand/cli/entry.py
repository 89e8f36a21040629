"""The entry point of the command line: `--version` answers before anything else is loaded."""

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
    from evenhand.cli.app import run_cli

    run_cli()
