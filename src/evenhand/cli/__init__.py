"""The command line: `--version` answers before anything else is loaded."""

from __future__ import annotations

import sys

from evenhand._version import __version__


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] == ["--version"]:
        print(f"evenhand {__version__}")
        return
    from evenhand.cli._app import run  # noqa: PLC0415

    run()
