"""The report of a contest as one HTML file: who won and why, every path, and the events on a time line."""

from evenhand.report.contest._write import write_contest_html

__all__ = ["write_contest_html"]
