"""A reply over several responses, cut where their names head a section."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.judging.reading._names import canonical


def sections_of(text: str, labels: Sequence[str]) -> dict[str, str]:
    """What stands under each label; empty where the labels do not head sections, or one heads two."""
    known = {canonical(label): label for label in labels if canonical(label)}
    if not known:
        return {}
    names = "|".join(
        re.sub(r"(?:\\?[\s_\-])+", r"[\\s_\\-]{1,3}", re.escape(label)) for label in labels if canonical(label)
    )
    heading = re.compile(rf"^[ \t>\-+•]{{0,6}}(#{{0,6}}[ \t]*)([*_]{{0,3}})[\[(\"]?({names})[\])\"]?(?!\w)([*_]{{0,3}})"
                         r"(?:[ \t]*([:：.\-–—])|[ \t]*$)?[*_]{0,3}", re.MULTILINE | re.IGNORECASE)  # fmt: skip
    heads = [
        found for found in heading.finditer(text) if found[1].strip() or found[2] or found[5] or _alone(text, found)
    ]
    found = [known[canonical(head[3])] for head in heads]
    if not heads or len(set(found)) != len(found):
        return {}
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {label: text[head.end() : end].strip() for label, head, end in zip(found, heads, ends, strict=True)}


def _alone(text: str, found: re.Match[str]) -> bool:
    return text[found.end() : found.end() + 1] in ("", "\n")
