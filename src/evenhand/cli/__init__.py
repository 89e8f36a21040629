"""The command line: `--version` answers before anything else is loaded."""

from __future__ import annotations

import os
import sys

from evenhand._version import __version__


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        _write_version()
        return
    from evenhand.cli._app import run  # noqa: PLC0415

    run()


def _write_version() -> None:
    try:
        os.write(1, f"evenhand {__version__}\n".encode())
    except BrokenPipeError:
        pass  # Whoever asked has left.
    except OSError:
        sys.exit(2)
