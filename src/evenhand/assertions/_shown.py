"""Texts as a finding shows them: short, on one line, with nothing in them that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable

from evenhand.assertions._facts import Span

MOST_LISTED = 10


def shown(text: str, most: int = 60) -> str:
    """A text in quotation marks, cut where it is long; a backslash stays one, so that a pattern reads as written."""
    short = text if len(text) <= most else text[: most - 1] + "…"
    mark = '"' if "'" in short and '"' not in short else "'"
    plain = (letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in short)
    return f"{mark}{''.join(plain)}{mark}"


def listed(texts: Iterable[str]) -> str:
    """Several texts, those beyond ten only counted."""
    quoted = [shown(text, 40) for text in texts]
    more = len(quoted) - MOST_LISTED
    return ", ".join(quoted[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def passage(output: str, span: Span) -> str:
    """A passage of the output and its place."""
    return f"{shown(output[span[0] : span[1]])} at {place(output, span[0])}"


def place(output: str, start: int) -> str:
    """A place in the output as editors count it."""
    return f"line {output.count(chr(10), 0, start) + 1}, column {start - output.rfind(chr(10), 0, start)}"


def cut(text: str, most: int = 300) -> str:
    """A text of somebody else's on one line, cut where it is long."""
    line = " ".join(text[: 4 * most].split())
    line = "".join(letter if letter.isprintable() else "�" for letter in line)
    return line if len(line) <= most else line[: most - 1] + "…"
