"""The report as one HTML file that works offline, from a mail attachment, with scripts off, and on paper."""

from evenhand.report.html._write import write_html

__all__ = ["write_html"]
