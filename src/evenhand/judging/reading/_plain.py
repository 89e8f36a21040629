"""A reply as plain lines: marks of emphasis gone, full-width signs as ASCII, tags and boxes as labels."""

from __future__ import annotations

import re

_SIGNS = {ord(wide): chr(ord(wide) - 0xFEE0) for wide in "０１２３４５６７８９．，：／（）［］＝－＋％；！？～｜"}
_SIGNS |= {ord(sign): "-" for sign in "−‐‑"} | {ord(quote): '"' for quote in "“”"} | {ord(quote): "'" for quote in "‘’"}
_SIGNS |= {ord(sign): "" for sign in "`✅❌✔✘✓✗☑\ufe0f\u200b\u200c\u200d\ufeff"} | {
    ord(sign): " " for sign in "_\u00a0\u3000\u202f"
}
_SIGNS |= str.maketrans({"【": "[", "】": "]", "。": ". ", "、": ", ", "\r": "\n", "⁄": "/"})
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_STARS = re.compile(r"(?<![0-9*])\*+|(?<!\*)\*+(?![0-9*])")
_SPECIAL = re.compile(r"<\|[\w ]{1,40}\|>")
_TAG = re.compile(r"<(/?)([A-Za-z][\w \-]{0,40})/?>")
_BOX = re.compile(r"\[\[\s{0,4}([^\[\]\n]{1,40}?)\s{0,4}\]\]|\\boxed\{\s{0,4}(?:\\text\{)?([^{}\n]{1,40}?)\s{0,4}\}")
_BRACKETED = re.compile(r"\[([A-Za-z][A-Za-z ]{2,20})\]\s{0,3}:?\s{0,3}(?=[0-9])")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_LAYOUT = frozenset([
    "b", "i", "u", "em", "strong", "span", "p", "br", "li", "ul", "ol", "div", "td", "tr", "th", "table",
    "code", "pre", "h1", "h2", "h3", "h4", "hr", "sub", "sup",
])  # fmt: skip


def plain(text: str) -> str:
    """The same words without the marks around them."""
    text = _FENCE.sub("", text)
    text = _STRUCK.sub(" ", text)
    text = text.translate(_SIGNS)
    text = _STARS.sub("", text)
    text = _SPECIAL.sub(" ", text)
    text = _TAG.sub(_tag, text)
    text = _BRACKETED.sub(r"\n\1: ", text)
    return _BOX.sub(lambda box: f"\nfinal score: {box[1] or box[2]}\n", text)


def _tag(tag: re.Match[str]) -> str:
    name = tag[2].lower().strip()
    if name.split(" ")[0] in _LAYOUT:
        return "" if name in ("b", "i", "u", "em", "strong", "span") else " "
    return "\n" if tag[1] else f"\n{name}: "
