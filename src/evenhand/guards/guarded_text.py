"""Text as guards read it: look-alikes as the letters they imitate, split words whole, codes undone; and patterns as
data.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import Any
from urllib.parse import unquote

from evenhand.files.lookalikes import fold_lookalike_letters, trace_lookalike_letters
from evenhand.files.methods import load_library_data_file

Place = tuple[int, int]  # Where a passage begins and ends.
Trace = tuple[Sequence[int], Sequence[int]]  # Where each character begins and ends in the text as it was given.


@dataclass(eq=False)
class GuardedTextView:
    """A text to search, and the way back from each of its characters to the text as it was given."""

    text: str
    find_trace: Callable[[], Trace]
    disguise: str = ""  # How the text was hidden, in a few words; empty where it was not.
    spaced: str = field(init=False)  # With a space for all that is no letter or digit, and one more at each end.
    known_words: frozenset[str] = field(init=False)  # The different words in Latin letters.

    def __post_init__(self) -> None:
        self.spaced = f" {self.text.encode('ascii', 'replace').translate(_TO_SPACES).decode('ascii')} "
        self.known_words = frozenset(self.spaced.split())

    def locate(self, start: int, end: int) -> Place:
        """The place in the given text of a passage of this one."""
        starts, ends = self.trace
        return min(starts[start], starts[end - 1]), max(ends[start], ends[end - 1])

    def trace_through(self, inner: GuardedTextView) -> GuardedTextView:
        """A view of this view's text, led back to the text as it was given."""

        def join_guarded_text_traces() -> Trace:
            (starts, ends), (inner_starts, inner_ends) = self.trace, inner.trace
            return [starts[start] for start in inner_starts], [ends[end - 1] for end in inner_ends]

        return GuardedTextView(inner.text, join_guarded_text_traces, self.disguise)

    @cached_property
    def trace(self) -> Trace:
        """Worked out on demand: most texts have no finding."""
        return self.find_trace()


def normalise_guarded_text(text: str) -> GuardedTextView:
    """The text in lower case, without unseen characters, each look-alike as what it imitates."""
    if text.isascii():
        return GuardedTextView(text.lower(), lambda: (range(len(text)), range(1, len(text) + 1)))
    return GuardedTextView(fold_lookalike_letters(text), lambda: _trace_folded_injection(text))


def restore_injection_words(view: GuardedTextView) -> Iterator[GuardedTextView]:
    """The view with split or disguised words made whole; nothing where the text has none."""
    known, signs = view.known_words, load_injection_words()
    if len(known & _LONE_LETTERS) >= 3 or max(map(len, known), default=0) >= 20 or not known.isdisjoint(signs.joined):
        yield from _respace_injected_words(view)
    if any(word.translate(_LEET) in signs.words for word in known if not word.isalpha() and not word.isdigit()):
        letters = _WITH_DIGITS.sub(lambda word: word[0].translate(_LEET), view.text)
        yield GuardedTextView(letters, lambda: view.trace, "in digits for letters")
    # Whether both halves of some word are there: cheaper than to look at all neighbours.
    has_halves = any(not signs.halves[first].isdisjoint(known) for first in signs.halves.keys() & known)
    if has_halves and not signs.splittable.isdisjoint(map("".join, pairwise(view.spaced.split()))):
        yield _rejoin_injected_words(view)
    if not view.text.isascii() and _HAN_SPACED.search(view.text):
        yield _cut_injection_gaps(view, [gap.span() for gap in _HAN_GAP.finditer(view.text)])


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionWords:
    """The words that most injections are made of, and the forms in which they are hidden."""

    words: frozenset[str]
    splittable: frozenset[str]
    halves: Mapping[str, frozenset[str]]  # The first parts of words, and how each can go on.
    joined: frozenset[str]  # Two words without the space between them.
    rotated: frozenset[str]  # In ROT13.
    backwards: frozenset[str]


@cache
def load_injection_words() -> InjectionWords:
    """The words that ship, read once."""
    disguises = load_library_data_file("guards/injection/disguises.yaml")
    words = disguises["vocabulary"]["words"].split()
    splittable = frozenset(word for word in words if len(word) >= 5)
    halves: dict[str, set[str]] = {}
    for word in splittable:
        for cut in range(1, len(word)):
            halves.setdefault(word[:cut], set()).add(word[cut:])
    long = [word for word in words if len(word) >= _SHORTEST_SIGN]
    return InjectionWords(
        words=frozenset(words),
        splittable=splittable,
        halves={first: frozenset(seconds) for first, seconds in halves.items()},
        joined=frozenset(one + two for one in disguises["run_together"]["words"].split() for two in splittable),
        rotated=frozenset(codecs.encode(word, "rot13") for word in long),
        backwards=frozenset(word[::-1] for word in long),
    )


def find_injection_signs(sign: str, text: str) -> Iterator[int]:
    """Where a sign stands in a text."""
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _respace_injected_words(view: GuardedTextView) -> Iterator[GuardedTextView]:
    """The view with runs of single letters, and words run together, cut into the words that they spell."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for run in _LETTERS_APART.finditer(view.text):
        found = [place for place in range(*run.span()) if view.text[place].isalnum()]
        spelt = "".join(view.text[place] for place in found).translate(_LEET)
        words = list(_find_injected_words(spelt))
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
        text = "".join([*pieces, view.text[done:]])
        yield GuardedTextView(text, lambda: _trace_injection_places(view, places), "in single letters")


def _rejoin_injected_words(view: GuardedTextView) -> GuardedTextView:
    """The view without what stands between two halves of a word."""
    splittable = load_injection_words().splittable
    gaps = [
        (first.end(), second.start())
        for first, second in pairwise(_WORD.finditer(view.text))
        if second.start() - first.end() <= 2 and first[0] + second[0] in splittable
    ]
    return _cut_injection_gaps(view, gaps)


def _cut_injection_gaps(view: GuardedTextView, gaps: Sequence[Place]) -> GuardedTextView:
    edges = [0, *(edge for gap in gaps for edge in gap), len(view.text)]
    kept = list(zip(edges[::2], edges[1::2], strict=True))
    text = "".join(view.text[start:end] for start, end in kept)
    return GuardedTextView(
        text, lambda: _trace_injection_places(view, chain(*(range(*piece) for piece in kept))), "in split words"
    )


def _trace_injection_places(view: GuardedTextView, places: Iterable[int]) -> Trace:
    starts, ends = view.trace
    kept = [(starts[place], ends[place]) for place in places]
    return [start for start, _ in kept], [end for _, end in kept]


def _trace_folded_injection(text: str) -> Trace:
    starts = trace_lookalike_letters(text)
    return starts, [place + 1 for place in starts]


def _find_injected_words(spelt: str) -> Iterator[re.Match[str]]:
    """The words in a run of letters, looked for step by step: while one search lasts, no other thread goes on."""
    pattern, at = _compile_injection_words(), 0
    while at < len(spelt):
        end = at + _LETTERS_AT_ONCE
        for word in pattern.finditer(spelt, at, end + _LONGEST_WORD):
            if word.start() >= end:
                break
            yield word
            at = word.end()
        at = max(at, end)


@cache
def _compile_injection_words() -> re.Pattern[str]:
    return re.compile("|".join(sorted(load_injection_words().words, key=len, reverse=True)))


# Text that was encoded so that a machine reads it and a person does not.

_DEPTH = 2  # A code within a code is undone; deeper ones would let a short text make much work.
_LEAST = 3  # Escapes: one or two are ordinary.
_LONG = 20  # Characters without a space: shorter runs hide too little to say anything.
_READABLE = 0.9  # Share of letters, digits, spaces and punctuation in what was decoded.


def decode_hidden_injection(text: str, depth: int = _DEPTH) -> Iterator[GuardedTextView]:
    """What the encoded parts of the text say, each with its place; nothing for an ordinary text."""
    views: list[GuardedTextView] = []
    if _ESCAPE_MARKS.search(text):
        views += _decode_injected_escapes(text)
    if max(map(len, text.split()), default=0) >= _LONG or _HEX_PAIRS.search(text):
        views += _decode_injected_code_runs(text)
    for view in views:
        yield view
        if depth > 1:
            yield from map(view.trace_through, decode_hidden_injection(view.text, depth - 1))


def rotate_injected_letters(view: GuardedTextView) -> GuardedTextView:
    """The view with every letter moved on by thirteen."""
    return GuardedTextView(codecs.encode(view.text, "rot13"), lambda: view.trace, "in ROT13")


def reverse_guarded_text(view: GuardedTextView) -> GuardedTextView:
    """The view read from the end."""
    return GuardedTextView(view.text[::-1], lambda: (view.trace[0][::-1], view.trace[1][::-1]), "written backwards")


def _decode_injected_escapes(text: str) -> Iterator[GuardedTextView]:
    """The whole text with its character escapes undone, since letters and escapes may be mixed."""
    escapes = [match.span() for match in _ESCAPES.finditer(text)]
    if sum(end - start for start, end in escapes) < 3 * _LEAST:
        return
    undone = [_decode_one_injected_escape(text[start:end]) for start, end in escapes]
    edges = [0, *chain.from_iterable(escapes), len(text)]
    kept = [text[start:end] for start, end in list(pairwise(edges))[::2]]
    pieces = [piece for pair in zip(kept, [*undone, ""], strict=True) for piece in pair]
    yield GuardedTextView("".join(pieces), lambda: _trace_injection_pieces(edges, pieces), "in character codes")


def _decode_one_injected_escape(escape: str) -> str:
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[0] == "&":
        return html.unescape(escape)
    return "".join(chr(int(digits, 16)) for digits in re.findall(r"[0-9a-fA-F]+", re.sub(r"\\[uUxX]", " ", escape)))


def _trace_injection_pieces(edges: list[int], pieces: list[str]) -> Trace:
    """The trace of pieces that are kept and replaced by turns."""
    starts: list[int] = []
    ends: list[int] = []
    for number, ((start, end), piece) in enumerate(zip(pairwise([*edges, edges[-1]]), pieces, strict=True)):
        replaced = number % 2
        starts += [start] * len(piece) if replaced else range(start, end)
        ends += [end] * len(piece) if replaced else range(start + 1, end + 1)
    return starts, ends


def _decode_injected_code_runs(text: str) -> Iterator[GuardedTextView]:
    """What each long run of code letters or code numbers says, where it says something readable."""
    for match in _LONG_RUN.finditer(text):
        yield from _view_decoded_injection(_decode_injected_base64(match[0]), match, "in base64")
        yield from _view_decoded_injection(_decode_injected_hexadecimal(match[0]), match, "in hexadecimal")
    for match in _HEX_PAIRS.finditer(text):
        yield from _view_decoded_injection(_decode_injected_hexadecimal(match[0]), match, "in hexadecimal")


def _view_decoded_injection(decoded: str, match: re.Match[str], disguise: str) -> Iterator[GuardedTextView]:
    size = len(decoded)
    readable = sum(character.isalnum() or character in " \n\t.,:;!?'\"-/(){}<>[]|_" for character in decoded)
    if decoded and readable >= _READABLE * size:
        yield GuardedTextView(decoded, lambda: ([match.start()] * size, [match.end()] * size), disguise)


def _decode_injected_base64(run: str) -> str:
    letters = re.sub(r"[\s=]", "", run).replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _decode_injected_hexadecimal(run: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"0[xX]|[^0-9a-fA-F]", "", run)).decode()
    except ValueError:
        return ""


_SHORTEST_SIGN = 6  # Letters: shorter words stand in ordinary text when rotated or reversed.
_TO_SPACES = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789@$" else 32 for code in range(256))
_WORD = re.compile(r"[a-z0-9@$]+")
# Not those that stand alone in ordinary English: a, I, and what follows an apostrophe.
_LONE_LETTERS = frozenset("bcefghjklnopqruvwyz")
_LEET = str.maketrans("013457@$", "oieastas")
_LETTERS_AT_ONCE = 10_000
_LONGEST_WORD = 40  # Letters, and none of the words has as many.
_LETTERS_APART = re.compile(r"(?<![a-z0-9])[a-z0-9@$](?:[\s._*|/,+~-]{1,3}[a-z0-9@$](?![a-z0-9@$])){3,}|[a-z]{9,}")
_WITH_DIGITS = re.compile(r"[a-z]+[013457@$][a-z0-9@$]*|[013457@$]+[a-z][a-z0-9@$]*")
_HAN_GAP = re.compile(r"(?<=[\u4e00-\u9fff])[\s._*|/-]{1,2}(?=[\u4e00-\u9fff])")
_HAN_SPACED = re.compile(r"(?:[\u4e00-\u9fff][\s._*|/-]{1,2}){4}")
_ESCAPE_MARKS = re.compile(r"&#?\w|%[0-9a-fA-F]|\\[uxUX]")
_ESCAPES = re.compile(
    r"&#[xX]?[0-9a-fA-F]{2,7};?|&[a-zA-Z]{2,8};|(?:%[0-9a-fA-F]{2})+"
    r"|(?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{2,5}\}|\\x[0-9a-fA-F]{2})+"
)
_LONG_RUN = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LONG},}}(?:\r?\n[A-Za-z0-9+/_-]{{4,}}=*$)*={{0,2}}", re.M
)
# The code of a letter, a digit or a space starts with 2 to 7; to start with that class keeps the search quick.
_HEX_PAIRS = re.compile(
    r"[2-7](?<![0-9A-Za-wyz].)[0-9a-fA-F][\s,:]{1,2}(?:(?:0x)?[0-9a-fA-F]{2}[\s,:]{1,2}){6,}(?:0x)?[0-9a-fA-F]{2}"
)


_NAME = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class PatternTable:
    """Patterns by name. Each is compiled at its first lookup: all of them at once would take most of a second."""

    entries: Mapping[str, Mapping[str, Any]]
    words: Mapping[str, str]  # What {name} stands for in the patterns.
    _compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            self._compiled[name] = re.compile(fill_in_guard_words(self.entries[name]["pattern"], self.words))
        return self._compiled[name]


def read_guard_word_classes(entries: Mapping[str, Any]) -> dict[str, str]:
    """Named words as patterns; a class may name those above it."""
    words: dict[str, str] = {}
    for name, entry in entries.items():
        listed = entry["list"].replace(", ", "|") if "list" in entry else entry["pattern"]
        words[name] = fill_in_guard_words(listed, words)
    return words


def fill_in_guard_words(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern on one line, with each {name} replaced by the words of that name."""
    return _NAME.sub(lambda found: words[found[1]], pattern.replace("\n", ""))
