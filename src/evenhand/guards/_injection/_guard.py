"""The injection guard: passages of an output that speak to its judge instead of doing the task."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

from evenhand.guards._injection._chinese import CHINESE
from evenhand.guards._injection._claims import CLAIMS
from evenhand.guards._injection._delimiter import DELIMITERS
from evenhand.guards._injection._encodings import decoded, rotated, turned
from evenhand.guards._injection._extraction import EXTRACTIONS
from evenhand.guards._injection._marks import MARKS
from evenhand.guards._injection._normal import View, normal
from evenhand.guards._injection._orders import ORDERS
from evenhand.guards._injection._override import OVERRIDES
from evenhand.guards._injection._role import ROLES
from evenhand.guards._injection._rules import RULES, Rule, by_word
from evenhand.guards._injection._splits import VOCABULARY, mended
from evenhand.guards._injection._weigh import Weighing
from evenhand.model import Finding

__all__ = ["RULES", "injections"]

MOST_SHOWN = 160
# What a pattern adds to the weight of the sentence that it matches in: a sentence that explains or tells outweighs it.
_EVIDENCE: Mapping[str, float] = {"override": 7, "role": 6, "extraction": 7, "delimiter": 6, "hijack": 3}
_BY_WORD = by_word((*OVERRIDES, *ROLES, *EXTRACTIONS, *MARKS, *ORDERS, *CLAIMS, *DELIMITERS, *CHINESE))
_HAN = tuple(word for word in _BY_WORD if not word.isascii())
_SIGNS = frozenset(word for word in VOCABULARY if len(word) >= 6)
_ROTATED = frozenset(rotated(normal(word)).text for word in _SIGNS)
_TURNED = frozenset(word[::-1] for word in _SIGNS)

# A passage in quotation marks that the sentence calls an example is spoken about, not spoken.
_ABOUT = re.compile(
    r"(?:such as|for (?:example|instance)|e\.g|phrases?|like|called|"
    r"attack\w*|injections?|jailbreaks?|例如|比如|所谓|攻击|注入)"
    r"[^\n]{0,40}[\"'`]$"
)
_TOPIC = re.compile(r"injection|jailbreak|attack|filter|attempt|trick|malicious|注入|攻击|越狱")


def injections(text: str) -> tuple[Finding, ...]:
    """The passages that speak to the judge, in the order of the text."""
    found = [
        _finding(text, rule, view.disguise, *view.span(*place))
        for view in views(text)
        for rule, place in _passages(view)
    ]
    return tuple(_apart(sorted(found, key=lambda finding: (finding.start, -finding.end))))


def views(text: str) -> Iterator[View]:
    """The text as it reads, then what is hidden in it."""
    plain = normal(text)
    yield plain
    yield from mended(plain)
    if not _ROTATED.isdisjoint(plain.known):
        yield rotated(plain)
    if not _TURNED.isdisjoint(plain.known):
        yield turned(plain)
    for hidden in decoded(text):
        yield hidden.behind(normal(hidden.text), hidden.disguise)


def _passages(view: View) -> Iterator[tuple[str, tuple[int, int]]]:
    """The rules that match, and where in the view; then the sentences that weigh enough where none does."""
    weighing = Weighing(view)
    named = [(name, place) for name, place in _matches(view) if weighing.around(*place) + _EVIDENCE[name] > 0]
    yield from named
    reached = _reached(place for _, place in named)
    for name, (start, end) in weighing.heavy():
        if not reached or not _overlaps(reached, start, end):
            yield name, (start, end)


def _matches(view: View) -> Iterator[tuple[str, tuple[int, int]]]:
    for word, rules, start in _openings(view):
        for rule in rules:
            place = rule.find(view.text, start, start + len(word))
            if place and not _quoted(view.text, place[0]):
                yield rule.name, place


def _reached(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order, each with the furthest end up to it, so that one look finds an overlap."""
    ordered = sorted(places)
    return list(zip((start for start, _ in ordered), accumulate((end for _, end in ordered), max), strict=True))


def _overlaps(reached: list[tuple[int, int]], start: int, end: int) -> bool:
    before = bisect_left(reached, (end, 0))
    return before > 0 and reached[before - 1][1] > start


def _openings(view: View) -> Iterator[tuple[str, list[Rule], int]]:
    """Where a word stands that a rule can start with, and the rules that can start there."""
    starting = {
        word: [rule for rule in _BY_WORD[word] if not rule.near or not rule.near.isdisjoint(view.known)]
        for word in view.known & _BY_WORD.keys()
    }
    at = 0  # The space before the next word, or one before that: what lies between was passed and starts no rule.
    for word in view.words:
        if starting.get(word):
            at = view.spaced.index(f" {word} ", at)
            yield word, starting[word], at
        at += len(word) + 1
    for sign in () if view.text.isascii() else _HAN:
        for at in _places(sign, view.text):
            yield sign, [*_BY_WORD[sign]], at


def _places(sign: str, text: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _quoted(text: str, start: int) -> bool:
    before = text[max(0, start - 90) : start]
    return (
        before[-1:] in ("'", '"', "`")
        and bool(_ABOUT.search(before))
        and bool(_TOPIC.search(text, max(0, start - 300), start + 300))
    )


def _finding(text: str, rule: str, disguise: str, start: int, end: int) -> Finding:
    passage = text[start:end]
    start, passage = start + len(passage) - len(passage.lstrip()), passage.strip()
    end = start + len(passage)
    shown = passage if len(passage) <= MOST_SHOWN else passage[: MOST_SHOWN - 1] + "…"
    says = f"{RULES[rule]} ({disguise})" if disguise else RULES[rule]
    return Finding(guard="injection", rule=rule, says=says, text=shown, start=start, end=end)


def _apart(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One finding for each passage and rule, where several overlap."""
    reached: dict[str, int] = {}
    for finding in findings:
        if finding.start >= reached.get(finding.rule, 0):
            reached[finding.rule] = finding.end
            yield finding
