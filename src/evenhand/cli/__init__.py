"""The command line: one module per command. With the other doors, the only place that prints and exits."""

from evenhand.cli.entry import main

__all__ = ["main"]
