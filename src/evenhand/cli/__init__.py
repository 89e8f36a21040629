"""The command line: a module per command or group of commands. With the other doors, all that prints and exits."""

from evenhand.cli.entry import main

__all__ = ["main"]
