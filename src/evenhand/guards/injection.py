"""The injection guard: passages of an output that speak to its judge instead of doing the task."""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate

from evenhand.guards.injection_encodings import decode_hidden_text, reverse_text, rotate_letters
from evenhand.guards.injection_rules import (
    InjectionPattern,
    Place,
    find_pattern_matches,
    index_patterns_by_word,
    load_injection_patterns,
    load_rule_evidence,
)
from evenhand.guards.injection_scores import SentenceScores
from evenhand.guards.injection_text import TextView, load_vocabulary, normalise_text, restore_words
from evenhand.model.sample import GuardFinding

INJECTION_RULES: Mapping[str, str] = {
    "override": "tells the reader to set aside its instructions",
    "role": "gives the reader another role, or forges a message of the system",
    "extraction": "asks for the instructions that the reader was given",
    "hijack": "tells the judge what to answer",
    "delimiter": "forges the end of the text or the start of another part",
}
MOST_SHOWN = 160  # Characters of a passage that a finding repeats.
_SHORTEST_SIGN = 6  # Letters: shorter words stand in ordinary text when rotated or reversed.


def find_injections(text: str) -> tuple[GuardFinding, ...]:
    """The passages that speak to the judge, in the order of the text."""
    found = [
        _make_finding(text, rule, view.disguise, *view.locate(*place))
        for view in read_text_views(text)
        for rule, place in _find_passages(view)
    ]
    return tuple(_drop_overlaps(sorted(found, key=lambda finding: (finding.start, -finding.end))))


def read_text_views(text: str) -> Iterator[TextView]:
    """The text as it reads, then what is hidden in it."""
    plain = normalise_text(text)
    yield plain
    yield from restore_words(plain)
    rotated, backwards = _list_disguised_signs()
    if not rotated.isdisjoint(plain.known_words):
        yield rotate_letters(plain)
    if not backwards.isdisjoint(plain.known_words):
        yield reverse_text(plain)
    for hidden in decode_hidden_text(text):
        yield hidden.trace_through(normalise_text(hidden.text))


@cache
def _list_disguised_signs() -> tuple[frozenset[str], frozenset[str]]:
    """The longer words of the vocabulary in ROT13, and written backwards."""
    signs = [word for word in load_vocabulary() if len(word) >= _SHORTEST_SIGN]
    return frozenset(codecs.encode(word, "rot13") for word in signs), frozenset(word[::-1] for word in signs)


@cache
def _index_patterns() -> Mapping[str, tuple[InjectionPattern, ...]]:
    return index_patterns_by_word(load_injection_patterns())


def _find_passages(view: TextView) -> Iterator[tuple[str, Place]]:
    """What patterns match, unless the sentence explains; then the sentences that score enough where none matches."""
    scores = SentenceScores(view)
    evidence = load_rule_evidence()
    matched = [
        (rule, place)
        for rule, place in find_pattern_matches(view, _index_patterns())
        if scores.score_passage(*place) + evidence[rule] > 0
    ]
    yield from matched
    covered = _merge_places(place for _, place in matched)
    for rule, place in scores.find_injected_sentences():
        if not covered or not _overlaps(covered, *place):
            yield rule, place


def _merge_places(places: Iterable[Place]) -> list[Place]:
    """The places in order, each with the furthest end up to it, so that one look finds an overlap."""
    ordered = sorted(places)
    return list(zip((start for start, _ in ordered), accumulate((end for _, end in ordered), max), strict=True))


def _overlaps(covered: list[Place], start: int, end: int) -> bool:
    before = bisect_left(covered, (end, 0))
    return before > 0 and covered[before - 1][1] > start


def _make_finding(text: str, rule: str, disguise: str, start: int, end: int) -> GuardFinding:
    passage = text[start:end]
    start, passage = start + len(passage) - len(passage.lstrip()), passage.strip()
    shown = passage if len(passage) <= MOST_SHOWN else passage[: MOST_SHOWN - 1] + "…"
    says = f"{INJECTION_RULES[rule]} ({disguise})" if disguise else INJECTION_RULES[rule]
    return GuardFinding(guard="injection", rule=rule, says=says, text=shown, start=start, end=start + len(passage))


def _drop_overlaps(findings: Iterable[GuardFinding]) -> Iterator[GuardFinding]:
    """One finding for each passage and rule, where several overlap."""
    reached: dict[str, int] = {}
    for finding in findings:
        if finding.start >= reached.get(finding.rule, 0):
            reached[finding.rule] = finding.end
            yield finding
