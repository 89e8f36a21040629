"""Text as a reader takes it: look-alike letters as those they imitate, and without what nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from evenhand.files.methods import load_library_data_file


def fold_lookalikes(text: str) -> str:
    """The text in lower case, without unseen characters, each look-alike as what it imitates."""
    return _NOT_ASCII.sub(lambda run: run[0].translate(_FOLDED), text).lower()


def trace_lookalikes(text: str) -> list[int]:
    """For each character of the folded text, the place of the one that it stands for."""
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place] * (1 if character.isascii() else len(_FOLDED[ord(character)]))
    return places


class _FoldedCharacters(dict[int, str]):
    """What stands for a character, worked out once."""

    def __missing__(self, code: int) -> str:
        if len(self) > 20_000:  # Enough for any language; a text of all characters must not stay in memory.
            self.clear()
        self[code] = folded = _fold_lookalike_character(chr(code))
        return folded


def _fold_lookalike_character(character: str) -> str:
    if 0xE0020 <= ord(character) <= 0xE007E:  # Tag characters: letters that machines read and nobody sees.
        return chr(ord(character) - 0xE0000).lower()
    lookalikes = _load_lookalikes()
    if character in lookalikes:
        return lookalikes[character]
    plain = unicodedata.normalize("NFKD", character).casefold()
    seen = (part for part in plain if unicodedata.category(part) not in ("Mn", "Me", "Cf"))
    return "".join(lookalikes.get(part, part) for part in seen if not _IGNORABLE.match(part))


@cache
def _load_lookalikes() -> Mapping[str, str]:
    # Letters in squares, in circles and as flags follow each other in Unicode.
    table = {chr(first + n): chr(ord("a") + n) for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for n in range(26)}
    for group in load_library_data_file("guards/injection/disguises.yaml")["lookalikes"].values():
        letters, read_as = group["letters"], group["read_as"]
        table |= zip(letters, read_as if len(letters) == len(read_as) else [read_as] * len(letters), strict=True)
    return table


# What Unicode calls ignorable by default beyond marks and format characters (blank letters of Hangul, code points that
# are kept free for such), and the blank pattern of Braille.
_IGNORABLE = re.compile("[\u115f\u1160\u2065\u2800\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_FOLDED = _FoldedCharacters()
