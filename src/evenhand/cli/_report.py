"""evenhand report: a stored run as a page, a comment, a test report or a table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from evenhand.cli._text import clean, tell, while_read
from evenhand.cli._written import opened, refuse_folder
from evenhand.errors import Fault, InputError

FORMATS = ("html", "markdown", "junit", "json", "csv", "parquet")


@click.command("report")
@click.argument("run", metavar="RUN")
@click.option("--html", "format", flag_value="html", help="One self-contained page.")
@click.option("--markdown", "format", flag_value="markdown", help="For a pull request.")
@click.option("--junit", "format", flag_value="junit", help="JUnit XML, for CI.")
@click.option("--json", "format", flag_value="json", help="Everything, as data.")
@click.option("--csv", "format", flag_value="csv", help="One row for each result.")
@click.option("--parquet", "format", flag_value="parquet", help="One row for each result; needs the extra 'parquet'.")
@click.option("--output", "-o", metavar="FILE", help="Write it to this file.")
def command(run: str, format: str | None, output: str | None) -> int:
    """Report RUN: its id, the beginning of one, "latest" or "latest:NAME".

    Without a format it is shown here as `evenhand run` shows it.
    """
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.reporting import whole_report  # noqa: PLC0415

    if format is None and output is not None:
        format = _format_of(output)
    if format == "html" and output is None and sys.stdout.isatty():
        raise InputError(Fault("a page is not for a terminal", "name a file: -o report.html"))
    with stored() as store:
        head, samples = whole_report(store, run)
        if format is None:
            from evenhand.cli._run_view import show_run  # noqa: PLC0415

            with while_read():
                show_run(head)
            return 0
        if format == "parquet":
            _write_parquet(head, samples, output)
        else:
            with opened(output) as stream:
                _writer(format)(head, samples, stream)
    if output is not None:
        tell(f"written: {clean(output)}", err=True)
    return 0


def _format_of(output: str) -> str:
    endings = {".html": "html", ".htm": "html", ".md": "markdown", ".xml": "junit", ".json": "json", ".csv": "csv"}
    found = {**endings, ".parquet": "parquet"}.get(Path(output).suffix.lower())
    if found is None:
        raise InputError(Fault(f"which format is {output!r}?", f"name one: {', '.join('--' + one for one in FORMATS)}"))
    return found


def _writer(format: str) -> Callable[..., None]:
    from evenhand import report  # noqa: PLC0415

    writer: Callable[..., None] = getattr(report, f"write_{format}")
    return writer


def _write_parquet(head: object, samples: object, output: str | None) -> None:
    if output is None:
        raise InputError(Fault("Parquet is no text", "name a file: -o run.parquet"))
    refuse_folder(Path(output))
    _writer("parquet")(head, samples, Path(output))
