"""Words that were taken apart or written with digits, put together again before the rules read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from evenhand.guards._injection._normal import View

_WORD = re.compile(r"[a-z0-9@$]+")

# What most passages are made of, besides the words that rules start with.
_USUAL = (
    "ignore disregard forget override bypass skip follow all any the your these those this that every each and "
    "with for previous prior above earlier preceding original initial system instructions instruction "
    "directions directives prompt prompts rules rule guidelines guidance rubric criteria grading scoring "
    "evaluation message answer submission response essay output work text paper code full marks mark score "
    "scores grade perfect highest maximum top best excellent correct pass passed accepted approved met give "
    "assign award rate judge grader evaluator reviewer examiner only reply respond must should you are now not "
    "before were told given developer mode reveal print repeat winner choose select"
)
VOCABULARY = frozenset(_USUAL.split())
_LETTERS = frozenset(
    "bcefghjklnopqruvwyz"
)  # Not those that stand alone in ordinary English: a, I, and what follows an apostrophe.
_LEET = str.maketrans("013457@$", "oieastas")
_APART = re.compile(r"(?<![a-z0-9])[a-z0-9@$](?:[\s._*|/,+~-]{1,3}[a-z0-9@$](?![a-z0-9@$])){3,}|[a-z]{9,}")
_MIXED = re.compile(r"[a-z]+[013457@$][a-z0-9@$]*|[013457@$]+[a-z][a-z0-9@$]*")
_HAN_APART = re.compile(r"(?<=[\u4e00-\u9fff])[\s._*|/-]{1,2}(?=[\u4e00-\u9fff])")
_HAN_ROW = re.compile(r"(?:[\u4e00-\u9fff][\s._*|/-]{1,2}){4}")


def mended(view: View) -> Iterator[View]:
    """The view with split or disguised words made whole; nothing where the text has none."""
    known = view.known
    if len(known & _LETTERS) >= 3 or max(map(len, known), default=0) >= 20 or not known.isdisjoint(_together()):
        yield from _segmented(view)
    if any(word.translate(_LEET) in VOCABULARY for word in known if not word.isalpha() and not word.isdigit()):
        yield View(_MIXED.sub(_lettered, view.text), lambda: view.trace, "in digits for letters")
    if _halved(known) and not _splittable().isdisjoint(map("".join, pairwise(view.words))):
        yield _rejoined(view)
    if not view.text.isascii() and _HAN_ROW.search(view.text):
        yield _without(view, [gap.span() for gap in _HAN_APART.finditer(view.text)])


def _lettered(word: re.Match[str]) -> str:
    return word[0].translate(_LEET)


def _segmented(view: View) -> Iterator[View]:
    """The view with runs of single letters, and words run together, cut into the words that they spell."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for run in _APART.finditer(view.text):
        found = [place for place in range(*run.span()) if view.text[place].isalnum()]
        spelt = "".join(view.text[place] for place in found).translate(_LEET)
        words = list(_spelling().finditer(spelt))
        if len(run[0]) == len(spelt) > sum(len(word[0]) for word in words):
            continue  # A long word of its own, or a part of one.
        pieces += [view.text[done : run.start()], *(f" {word[0]}" for word in words), " "]
        places += range(done, run.start())
        for word in words:
            places += [found[word.start()], *found[slice(*word.span())]]
        places.append(run.end() - 1)
        done = run.end()
    if done:
        places += range(done, len(view.text))
        yield View("".join([*pieces, view.text[done:]]), lambda: _at(view, places), "in single letters")


def _halved(known: frozenset[str]) -> bool:
    """Whether both halves of some word are there: cheaper than to look at all neighbours."""
    halves = _halves()
    return any(not halves[first].isdisjoint(known) for first in halves.keys() & known)


def _rejoined(view: View) -> View:
    """The view without what stands between two halves of a word."""
    cuts = []
    found = list(_WORD.finditer(view.text))
    for first, second in pairwise(found):
        if second.start() - first.end() <= 2 and first[0] + second[0] in _splittable():
            cuts.append((first.end(), second.start()))
    return _without(view, cuts)


def _without(view: View, cuts: Sequence[tuple[int, int]]) -> View:
    edges = [0, *(edge for cut in cuts for edge in cut), len(view.text)]
    kept = list(zip(edges[::2], edges[1::2], strict=True))
    text = "".join(view.text[start:end] for start, end in kept)
    return View(text, lambda: _at(view, [place for piece in kept for place in range(*piece)]), "in split words")


def _at(view: View, places: Sequence[int]) -> tuple[list[int], list[int]]:
    starts, ends = view.trace
    return [starts[place] for place in places], [ends[place] for place in places]


@cache
def _splittable() -> frozenset[str]:
    return frozenset(word for word in VOCABULARY if len(word) >= 5)


@cache
def _halves() -> dict[str, frozenset[str]]:
    halves: dict[str, set[str]] = {}
    for word in _splittable():
        for cut in range(1, len(word)):
            halves.setdefault(word[:cut], set()).add(word[cut:])
    return {first: frozenset(seconds) for first, seconds in halves.items()}


@cache
def _together() -> frozenset[str]:
    """Two words without the space between them."""
    first = (
        "ignore",
        "disregard",
        "forget",
        "all",
        "any",
        "the",
        "your",
        "previous",
        "prior",
        "above",
        "full",
        "perfect",
    )
    return frozenset(one + two for one in first for two in VOCABULARY if len(two) >= 5)


@cache
def _spelling() -> re.Pattern[str]:
    return re.compile("|".join(sorted(VOCABULARY, key=len, reverse=True)))
