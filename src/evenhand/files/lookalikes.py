"""Text as a reader takes it: look-alike letters as those they imitate, and without what nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache

from evenhand.files.methods import load_library_data_file


def fold_lookalike_letters(text: str, *, at_a_glance: bool = False) -> str:
    """The text in lower case, without unseen characters, each look-alike as what it imitates.

    With `at_a_glance`, also letters of other languages that pass for a Latin one in a single word.
    """
    folded = _FOLDED[at_a_glance]
    return _NOT_ASCII.sub(lambda run: run[0].translate(folded), text).lower()


def trace_lookalike_letters(text: str, *, at_a_glance: bool = False) -> list[int]:
    """For each character of the folded text, the place of the one that it stands for."""
    folded = _FOLDED[at_a_glance]
    places: list[int] = []
    for place, character in enumerate(text):
        places += [place] * (1 if character.isascii() else len(folded[ord(character)]))
    return places


class _FoldedCharacters(dict[int, str]):
    """What stands for a character, worked out once."""

    def __init__(self, load: Callable[[], Mapping[str, str]]) -> None:
        super().__init__()
        self._load = load

    def __missing__(self, code: int) -> str:
        if len(self) > 20_000:  # Enough for any language; a text of all characters must not stay in memory.
            self.clear()
        self[code] = folded = _fold_lookalike_character(chr(code), self._load())
        return folded


def _fold_lookalike_character(character: str, lookalikes: Mapping[str, str]) -> str:
    if 0xE0020 <= ord(character) <= 0xE007E:  # Tag characters: letters that machines read and nobody sees.
        return chr(ord(character) - 0xE0000).lower()
    if character in lookalikes:
        return lookalikes[character]
    # Marks go first: U+0345, which is one, would be a letter in lower case.
    letters = _drop_marks_of_letter(unicodedata.normalize("NFKD", character))
    if len(letters) == 1 and letters in lookalikes:  # A capital in bold may imitate another letter than a small one.
        return lookalikes[letters]
    plain = _drop_marks_of_letter(letters.casefold())
    return "".join(lookalikes.get(part, part) for part in plain if not _IGNORABLE.match(part))


def _drop_marks_of_letter(text: str) -> str:
    return "".join(part for part in text if unicodedata.category(part) not in ("Mn", "Me", "Cf"))


@cache
def _load_lookalikes() -> Mapping[str, str]:
    # Letters in squares, in circles and as flags follow each other in Unicode.
    table = {chr(first + n): chr(ord("a") + n) for first in (0x1F130, 0x1F150, 0x1F170, 0x1F1E6) for n in range(26)}
    for group in load_library_data_file("guards/injection/disguises.yaml")["lookalikes"].values():
        letters, read_as = group["letters"], group["read_as"]
        table |= zip(letters, read_as if len(letters) == len(read_as) else [read_as] * len(letters), strict=True)
    return table


@cache
def _load_lookalikes_at_a_glance() -> Mapping[str, str]:
    groups = load_library_data_file("guards/injection/disguises.yaml")["at_a_glance"]["letters"]
    return {**{letter: read_as for read_as, letters in groups.items() for letter in letters}, **_load_lookalikes()}


# What leaves no mark, as a class of a pattern: spaces, control characters, what Unicode says may be ignored when a text
# is shown, and format characters and fillers without a shape of their own (of hieroglyphs, of Khitan, of music).
UNSEEN_CHARACTERS = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U00013430-\U00013442\U00016fe4\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)

# What Unicode calls ignorable by default beyond marks and format characters (blank letters of Hangul, code points that
# are kept free for such), and the blank pattern of Braille.
_IGNORABLE = re.compile("[\u115f\u1160\u2065\u2800\u3164\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]")
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
_FOLDED = {False: _FoldedCharacters(_load_lookalikes), True: _FoldedCharacters(_load_lookalikes_at_a_glance)}
