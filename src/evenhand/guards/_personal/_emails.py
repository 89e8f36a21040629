"""E-mail addresses: from each @ outwards, as far as the letters of a name and of a domain go."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LONGEST_NAME = 64
_LONGEST_DOMAIN = 253
_INSIDE_NAME = frozenset("._%+-'&~")
_BEFORE_NAME = ".-'&~%"
_WIDE = "\u2e80"  # From here on scripts write no spaces: an address and the sentence around it touch.

# Labels of one script each: the sentence may go on in another right after the domain.
_DOMAIN = re.compile(
    rf"""
    (?: (?:[^\W_{_WIDE}-\U0010ffff] | -){{1,63}}+ | (?:(?=[{_WIDE}-\U0010ffff])[^\W_]){{1,63}}+ )
    (?: \. (?: (?:[^\W_{_WIDE}-\U0010ffff] | -){{1,63}}+ | (?:(?=[{_WIDE}-\U0010ffff])[^\W_]){{1,63}}+ ) ){{1,8}}+
    """,
    re.VERBOSE,
)
_TOP = re.compile(r"[^\W\d_]{2,24}|xn--[a-z0-9-]{1,59}", re.IGNORECASE)
_LOGIN = re.compile(r"://[^\s/?#]{0,200}\Z")
_REMOTE_PATH = re.compile(r":[\w.~-]{0,80}/")
_PICTURE_SIZE = re.compile(r"[1-9]x\.", re.IGNORECASE)


def emails(text: str) -> Iterator[tuple[int, int]]:
    """Where each e-mail address stands."""
    at = text.find("@")
    last = 0
    while at >= 0:
        start = _name_start(text, at, last)
        end = _domain_end(text, at + 1) if start < at else 0
        if end and not _is_machine(text, start, at, end):
            yield start, end
            last = end
        at = text.find("@", at + 1)


def _name_start(text: str, at: int, last: int) -> int:
    """Where the name before an @ begins, or the place of the @ where there is none."""
    start, least = at, max(last, at - _LONGEST_NAME - 1)
    wide = at > 0 and text[at - 1] >= _WIDE
    while start > least and (text[start - 1] in _INSIDE_NAME or _is_letter(text[start - 1], wide=wide)):
        start -= 1
    if at - start > _LONGEST_NAME:
        return at
    name = text[start:at].rpartition("..")[2].lstrip(_BEFORE_NAME)
    return at - len(name) if any(map(str.isalnum, name)) and name[-1] not in ".'" else at


def _is_letter(character: str, *, wide: bool) -> bool:
    return character.isalnum() and (character.isascii() or (character >= _WIDE) == wide)


def _domain_end(text: str, start: int) -> int:
    """Where the domain that begins here ends, or 0 where there is none."""
    found = _DOMAIN.match(text, start, start + _LONGEST_DOMAIN)
    if found is None:
        return 0
    labels = found[0].split(".")
    while labels and not _TOP.fullmatch(labels[-1].rstrip("-")):
        labels.pop()
    if len(labels) < 2 or any(label.startswith("-") for label in labels):
        return 0
    if len(labels) > 2 and labels[0].isdigit() and labels[1].isdigit():  # A version, as in package@1.0.beta.
        return 0
    return start + len(".".join(labels).rstrip("-"))


def _is_machine(text: str, start: int, at: int, end: int) -> bool:
    """Whether the @ names a login, a path on another machine or the size of a picture."""
    return bool(
        _LOGIN.search(text, max(0, start - 200), start)
        or _REMOTE_PATH.match(text, end)
        or _PICTURE_SIZE.match(text, at + 1)
    )
