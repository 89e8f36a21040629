"""The page of --help, which is written before Click is loaded."""

import os
import subprocess
import sys

import click
import pytest

from evenhand.cli.app import app
from evenhand.cli.entry import WIDEST_PAGE, build_help_page


@pytest.mark.parametrize("program", ["evenhand", "python -m evenhand", "a-name-of-some-length"])
@pytest.mark.parametrize("columns", [WIDEST_PAGE, 132])
def test_the_page_is_what_click_would_write(program: str, columns: int) -> None:
    """Nobody sees which of the two wrote it, whatever the table of commands says."""
    context = click.Context(app, info_name=program, help_option_names=["-h", "--help"], terminal_width=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        written = app.get_help(context)

    assert build_help_page(program, columns) == f"{written}\n"


@pytest.mark.parametrize(("program", "columns"), [("evenhand", WIDEST_PAGE - 1), ("e" * 60, WIDEST_PAGE)])
def test_a_page_that_has_to_be_broken_elsewhere_is_left_to_click(program: str, columns: int) -> None:
    """Click knows how to break a line of usage, and to fit a narrow terminal."""
    assert build_help_page(program, columns) is None


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("columns", ["60", "79", "80", "200", "0", "many"])
def test_both_spellings_print_it_at_every_width(option: str, columns: str) -> None:
    """A width that cannot be is as good as none."""
    script = "import sys; from evenhand.cli.app import run_cli; run_cli()"
    environ = {**os.environ, "COLUMNS": columns}
    ours, theirs = (
        subprocess.run([sys.executable, *how, option], capture_output=True, text=True, check=True, env=environ).stdout
        for how in (["-m", "evenhand"], ["-c", script])
    )

    assert ours.startswith("Usage: python -m evenhand [OPTIONS]")
    assert ours.replace("python -m evenhand", "-c", 1) == theirs
