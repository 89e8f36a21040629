"""The safety guard: passages that ask for harm or explain how it is done, each judged where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from evenhand.guards._safety._acts import Act
from evenhand.guards._safety._chinese import unsafe_chinese
from evenhand.guards._safety._context import asked_or_given, passes
from evenhand.guards._safety._rules import ACTS, RULES
from evenhand.model import Finding

__all__ = ["LONGEST", "RULES", "unsafe"]

LONGEST = 160  # Characters of a passage that are shown.
_SEEN = 400  # Characters looked at together: a longer sentence is looked at in pieces that overlap.
_OVERLAP = 120
_END = re.compile(r"[.!?\n。！？][\"'”’)\]*]{0,3}(?:\s+|(?<=[\n。！？]))")
_BREAKS = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~“”…—–•", " "))
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ´＇`", "'"))
_CHINESE = re.compile("[\u4e00-\u9fff]")
_SPACE = re.compile(r"\s+")
_NUMBERED = re.compile(r"(?:^|\n)[ \t]*\d{1,3}$")  # What stands before the mark in `1. `, which opens an item.
_ACTS_OF: dict[str, list[Act]] = {}
for _act in ACTS:
    for _word in _act.words:
        _ACTS_OF.setdefault(_word, []).append(_act)
_TRIGGERS = frozenset(_ACTS_OF)


def unsafe(text: str) -> tuple[Finding, ...]:
    """Every passage that asks for harm or explains how to do it, in order of its start."""
    plain = _plain(text)
    bare = plain.translate(_BREAKS)
    chinese = not plain.isascii() and _CHINESE.search(plain) is not None
    found: dict[tuple[str, int], Finding] = {}  # By rule and act: pieces that overlap may both hold the act.
    for start, end in _pieces(text):
        words = _TRIGGERS.intersection(bare[start:end].split())
        if not words and not chinese:
            continue
        for rule, at in _broken(text[start:end], plain[start:end], words):
            if (rule, start + at) not in found:
                found[rule, start + at] = _finding(rule, text, (start, end), start + at)
    return tuple(sorted(set(found.values()), key=lambda finding: (finding.start, finding.end, finding.rule)))


def _plain(text: str) -> str:
    """In small letters and with one kind of apostrophe, each character where it was."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(letter.lower()[0] for letter in text)
    return small if small.isascii() else small.translate(_APOSTROPHES)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, those too long to look at in pieces."""
    start = 0
    for end in _ends(text):
        while end - start > _SEEN:
            yield start, start + _SEEN
            start += _SEEN - _OVERLAP
        if start < end:
            yield start, end
        start = end


def _ends(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        if not (match[0][0] == "." and _NUMBERED.search(text[max(0, match.start() - 6) : match.start()])):
            yield match.end()
    yield len(text)


def _broken(sentence: str, plain: str, words: Set[str]) -> Iterator[tuple[str, int]]:
    """The rules that a sentence breaks, once each, with the place of the act."""
    if not plain.isascii():
        yield from unsafe_chinese(plain)
    even = _SPACE.sub(" ", plain)
    broken: set[str] = set()
    for act in dict.fromkeys(act for word in sorted(words) for act in _ACTS_OF[word]):
        place = None if act.rule in broken else _place(act, even, sentence)
        if place is not None:
            broken.add(act.rule)
            yield act.rule, _unmoved(plain, place)


def _place(act: Act, even: str, sentence: str) -> int | None:
    """Where the act begins that is asked for or explained, and that nothing excuses."""
    for match in act.pattern.finditer(even):
        head, tail = even[: match.start()], even[match.end() :]
        if act.after and not re.search(act.after, head):
            continue
        if act.framed and not asked_or_given(head, tail, wanting=act.wanting, ordering=act.ordering):
            continue
        if not passes(head, match[0], tail, sentence):
            return match.start()
    return None


def _unmoved(plain: str, place: int) -> int:
    """Where a place lies once white space is as wide again as it was."""
    for gap in _SPACE.finditer(plain):
        if gap.start() >= place:
            break
        place += len(gap[0]) - 1
    return place


def _finding(rule: str, text: str, piece: tuple[int, int], place: int) -> Finding:
    """The sentence, or where that is long the part of it around the act."""
    start, end = piece
    if end - start > LONGEST:
        cut = max(start, min(place - LONGEST // 3, end - LONGEST))
        start = cut if cut == start else text.find(" ", cut, place) + 1 or cut
        end = min(end, start + LONGEST)
    shown = text[start:end]
    start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
    return Finding(guard="safety", rule=rule, says=RULES[rule], text=text[start:end], start=start, end=end)
