"""Words: how they are counted, and how they are compared."""

from __future__ import annotations

import regex

# Chinese and Japanese are written without spaces between words: there, each character counts as one.
_ALONE = r"\p{Han}\p{Hiragana}\p{Katakana}"
_WITH_MARKS = regex.compile(rf"[{_ALONE}]|[\p{{L}}\p{{N}}][^\s{_ALONE}]*+")
_BARE = regex.compile(rf"[{_ALONE}]|(?:(?![{_ALONE}])[\p{{L}}\p{{M}}\p{{N}}])++")


def counted_words(text: str) -> int:
    """How many words a text has: what white space parts, if there is a letter or a digit in it."""
    return sum(1 for _ in _WITH_MARKS.finditer(text))


def compared_words(text: str) -> list[str]:
    """The words of a text for comparing: letters and digits only, in small letters."""
    return [word.casefold() for word in _BARE.findall(text)]
