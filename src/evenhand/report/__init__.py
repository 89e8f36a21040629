"""Views of stored runs and contests: HTML pages, Markdown, CSV, JUnit, Parquet. They compute nothing."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

_WRITER_MODULES = {"html": "html.page_file", "markdown": "markdown_report", "junit": "ci_reports"}
_WRITER_MODULES |= dict.fromkeys(("json", "csv", "parquet"), "data_files")


def find_report_writer(format: str) -> Callable[..., None]:
    """The function that writes a run in a format; only that format's packages are loaded."""
    module = import_module(f"evenhand.report.{_WRITER_MODULES[format]}")
    writer: Callable[..., None] = getattr(module, f"write_{format}")
    return writer
