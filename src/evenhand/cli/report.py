"""evenhand report: a stored run as a page, a comment, a test report or a table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evenhand.cli.output import (
    escape_terminal_text,
    open_output_option,
    print_message,
    print_until_reader_leaves,
    refuse_output_option_folder,
)
from evenhand.errors import Fault, InputError
from evenhand.report import find_report_writer

PAGE_ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown"}
FORMAT_ENDINGS = {**PAGE_ENDINGS, ".xml": "junit", ".json": "json", ".csv": "csv", ".parquet": "parquet"}


@click.command("report")
@click.argument("run", metavar="RUN")
@click.option("--html", "format", flag_value="html", help="One self-contained page.")
@click.option("--markdown", "format", flag_value="markdown", help="For a pull request.")
@click.option("--junit", "format", flag_value="junit", help="JUnit XML, for CI.")
@click.option("--json", "format", flag_value="json", help="Everything, as data.")
@click.option("--csv", "format", flag_value="csv", help="One row for each result.")
@click.option("--parquet", "format", flag_value="parquet", help="One row for each result; needs the extra 'parquet'.")
@click.option("--full", is_flag=True, help="Without a format: print everything, not only what matters most.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def report_command(run: str, format: str | None, full: bool, output: str | None) -> int:
    """Report RUN: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand run` shows it.
    """
    from evenhand.workflows.report import open_report

    if format is None and output is not None:
        format = FORMAT_ENDINGS.get(Path(output).suffix.lower())
        if format is None:
            names = ", ".join(f"--{name}" for name in dict.fromkeys(FORMAT_ENDINGS.values()))
            raise InputError(Fault(f"which format is {output!r}?", f"name one: {names}"))
    if format == "html" and output is None and sys.stdout.isatty():
        raise InputError(Fault("a page is not for a terminal", "name a file: -o report.html"))
    with open_report(None, run) as (head, samples):
        if format is None:
            from evenhand.cli.run_tables import print_run

            with print_until_reader_leaves():
                print_run(head, full=full)
            return 0
        if format == "parquet":
            if output is None:
                raise InputError(Fault("Parquet is binary", "name a file: -o run.parquet"))
            refuse_output_option_folder(Path(output))
            find_report_writer("parquet")(head, samples, Path(output))
        else:
            with open_output_option(output) as stream:
                find_report_writer(format)(head, samples, stream)
    if output is not None:
        print_message(f"written: {escape_terminal_text(output)}", err=True)
    return 0
