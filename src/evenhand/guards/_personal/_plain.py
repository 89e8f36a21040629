"""Plain text: digits and signs of any script as ASCII, and nothing unseen, so that disguise hides no number."""

from __future__ import annotations

import re

_UNSEEN_RANGES = (
    "\u00ad\u0332-\u0338\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_DASHES = "‐‑‒–—―−﹘﹣"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
# The zero of each row of ten digits in the scripts of today, and of the five mathematical alphabets.
_ZEROS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐"
_MATHEMATICAL_ZEROS = "𝟎𝟘𝟢𝟬𝟶"
_FOLDS = {
    **dict.fromkeys(_DASHES, "-"),
    **dict.fromkeys(_SPACES, " "),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **{chr(ord(zero) + digit): str(digit) for zero in _ZEROS + _MATHEMATICAL_ZEROS for digit in range(10)},
}
# Characters beyond U+FFFF as one range: each of its own would be compared with every character of a text.
_FOLDED = re.compile("[" + "".join(character for character in _FOLDS if ord(character) <= 0xFFFF) + "𝟎-𝟿]")
_UNSEEN = re.compile(f"[{_UNSEEN_RANGES}]")


def plain(text: str) -> tuple[str, list[int] | None]:
    """The text in plain characters, and the place of each in the text where that is not its own."""
    if text.isascii():
        return text, None
    folded = _FOLDED.sub(lambda found: _FOLDS[found[0]], text)
    if not _UNSEEN.search(folded):
        return folded, None
    places: list[int] = []
    last = 0
    for unseen in _UNSEEN.finditer(folded):
        places += range(last, unseen.start())
        last = unseen.end()
    return _UNSEEN.sub("", folded), [*places, *range(last, len(folded))]
