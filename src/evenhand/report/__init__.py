"""Views of what a run has stored: a report computes nothing, it shows."""

from importlib import import_module
from typing import TYPE_CHECKING

from evenhand.report import _figures as figures
from evenhand.report._annotations import annotations
from evenhand.report._badges import advised, answered
from evenhand.report._csv import write_csv
from evenhand.report._data import report_of
from evenhand.report._extent import counted, stands, unfinished
from evenhand.report._failing import failed_count
from evenhand.report._json import write_json
from evenhand.report._junit import write_junit
from evenhand.report._markdown import write_markdown
from evenhand.report._parquet import write_parquet
from evenhand.report._tables import comparison_columns, criterion_columns, variant_columns

if TYPE_CHECKING:
    from evenhand.report.contest import write_contest_html
    from evenhand.report.html import write_html

__all__ = [
    "advised",
    "annotations",
    "answered",
    "comparison_columns",
    "counted",
    "criterion_columns",
    "failed_count",
    "figures",
    "report_of",
    "stands",
    "unfinished",
    "variant_columns",
    "write_contest_html",
    "write_csv",
    "write_html",
    "write_json",
    "write_junit",
    "write_markdown",
    "write_parquet",
]


# Their templates cost more to load than all the others together.
_PAGES = {"write_contest_html": "evenhand.report.contest", "write_html": "evenhand.report.html"}


def __getattr__(name: str) -> object:
    if name in _PAGES:
        return getattr(import_module(_PAGES[name]), name)
    raise AttributeError(f"module 'evenhand.report' has no attribute {name!r}")
