"""Untrusted text in Markdown: it reads as it is, and is neither markup, nor a mention, nor a link."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from evenhand.report._inert import folded

# Entities never count as markup. Pipes and backslashes are entities too, because renderers differ in how they
# count backslashes before a pipe; a dollar sign would begin a formula.
_ENTITIES = {char: f"&#{ord(char)};" for char in "|\\`$"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_SPECIAL = str.maketrans({**_ENTITIES, **{char: f"\\{char}" for char in "*_[]~#"}})
_LIST = re.compile(r"^([-+](?!\d)|\d+[.)](?=\s|$))")  # Behind the mark of a list, these would begin another, or a rule.

# Mentions, issues, links, addresses and emoji are looked for in the text that was rendered, so escapes do not stop
# them: a character without width in the middle does.
_LINKED = re.compile(r"@|#(?=\w)|:(?=//)|:(?=[\w+-]+:)|(?<=\bmailto):|(?<=\bxmpp):|(?<=\bwww)\.|(?<=\bGH)-", re.I)
_BREAK = "\u200b"


def inert(text: object, most: int = 120) -> str:
    """A text as one line of Markdown that shows it and does nothing else."""
    broken = _LINKED.sub(lambda found: found[0] + _BREAK, folded(str(text), most))
    plain = _LIST.sub(lambda found: f"{_BREAK}{found[0]}", broken).translate(_SPECIAL)
    return plain.replace(_BREAK, "&#8203;")


def table(columns: Sequence[tuple[str, Sequence[str]]], left: Container[str]) -> list[str]:
    """The lines of a table; names and cells are Markdown already, those not on the left are numbers."""
    names = [name for name, _ in columns]
    rule = ["---" if name in left else "---:" for name in names]
    rows = zip(*(cells for _, cells in columns), strict=True)
    return [f"| {' | '.join(row)} |" for row in (names, rule, *rows)]
