"""Every command that a page shows is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import evenhand
from evenhand.cli.app import app

SOURCE = Path(evenhand.__file__).parent
COMMAND = re.compile(r"<(?:code|pre)>(evenhand [^<]*)")


def list_shown_commands() -> Iterator[tuple[str, str]]:
    """Each command with its template; what a page puts in is a word."""
    for path in sorted(SOURCE.rglob("*.html.j2")):
        for shown in COMMAND.findall(path.read_text("utf-8")):
            text = re.sub(r"\{%.*?%\}", " ", re.sub(r"\{\{.*?\}\}", "X", shown))
            yield from ((path.name, line) for line in text.splitlines() if line.startswith("evenhand "))


@pytest.mark.parametrize(("page", "shown"), sorted(set(list_shown_commands())))
def test_a_command_on_a_page_can_be_typed(page: str, shown: str) -> None:
    """Who copies it from there gets what the page promises, and no "no such option"."""
    command: click.Command | None = app
    context, words = click.Context(app), shlex.split(shown)[1:]
    while isinstance(command, click.Group) and words:
        command = command.get_command(context, words.pop(0))
    assert command is not None, page
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}

    assert [word for word in words if word.startswith("-") and word.partition("=")[0] not in known] == []
