"""A contest written as HTML: one file without a script, which asks for nothing."""

from __future__ import annotations

from typing import Any, TextIO

from evenhand.report.contest._masked import masked_record
from evenhand.report.contest._page import page
from evenhand.report.html._shell import part, policy, template

HERE = "evenhand.report.contest"


def write_contest_html(record: dict[str, Any], stream: TextIO) -> None:
    """Write the report of a contest from its stable JSON; personal data in its texts is masked."""
    style = part("evenhand.report.html", "report.css") + part(HERE, "contest.css")
    shown = page(masked_record(record))
    stream.writelines(template(HERE, "contest.html.j2").generate(**shown, style=style, policy=policy(style)))
