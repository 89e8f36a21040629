"""The injection guard: passages of an output that speak to its judge, or that no language and no code writes."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Any

from evenhand.files.methods import LIBRARY, load_library_data_file
from evenhand.guards.guarded_text import (
    GuardedTextView,
    Place,
    decode_hidden_injection,
    find_injection_signs,
    load_injection_words,
    normalise_guarded_text,
    restore_injection_words,
    reverse_guarded_text,
    rotate_injected_letters,
)
from evenhand.guards.injection_scores import (
    InjectionSentenceScores,
    classify_injection_word,
    load_injection_signal_words,
    load_injection_weights,
    split_sentences,
)
from evenhand.model.sample import GuardFinding

# Each has a file in library/guards/injection; a word tries its patterns in this order.
INJECTION_RULES: Mapping[str, str] = {
    "override": "tells the reader to set aside its instructions",
    "role": "gives the reader another role, or forges a message of the system",
    "extraction": "asks for the instructions that the reader was given",
    "hijack": "tells the judge what to answer",
    "delimiter": "forges the end of the text or the start of another part",
}
NONSENSE = "puts together what no language or code does, as a search for what moves a judge would"
MOST_SHOWN = 160  # Characters of a passage that a finding repeats.


def find_injections(text: str) -> tuple[GuardFinding, ...]:
    """The passages that speak to the judge, in the order of the text."""
    found = [
        _make_injection_finding(text, rule, view.disguise, *view.locate(*place))
        for view in read_guarded_text_views(text)
        for rule, place in _find_injection_passages(view)
    ]
    found += [_make_injection_finding(text, "nonsense", "", *place) for place in find_injected_nonsense(text)]
    kept: list[GuardFinding] = []
    reached: dict[str, int] = {}  # By rule: of findings that overlap, one is enough.
    for finding in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        if finding.start >= reached.get(finding.rule, 0):
            reached[finding.rule] = finding.end
            kept.append(finding)
    return tuple(kept)


def read_guarded_text_views(text: str) -> Iterator[GuardedTextView]:
    """The text as it reads, then what is hidden in it."""
    plain = normalise_guarded_text(text)
    yield plain
    yield from restore_injection_words(plain)
    signs = load_injection_words()
    if not signs.rotated.isdisjoint(plain.known_words):
        yield rotate_injected_letters(plain)
    if not signs.backwards.isdisjoint(plain.known_words):
        yield reverse_guarded_text(plain)
    for hidden in decode_hidden_injection(text):
        yield hidden.trace_through(normalise_guarded_text(hidden.text))


def _find_injection_passages(view: GuardedTextView) -> Iterator[tuple[str, Place]]:
    """What patterns match, unless the sentence explains; then the sentences that score enough where none matches."""
    rules = load_injection_rules()
    matched = list(find_injection_pattern_matches(view, rules.patterns))
    if not matched and view.text.isascii() and view.known_words.isdisjoint(load_injection_signal_words()):
        return
    scores = InjectionSentenceScores(view, split_sentences(view.text))
    matched = [(rule, place) for rule, place in matched if scores.score_passage(*place) + rules.evidence[rule] > 0]
    yield from matched
    covered = {number for _, place in matched for number in scores.list_sentence_numbers(*place)}
    for words, place in scores.find_injected_sentences(except_numbers=covered):
        yield _choose_injection_rule(words), place


def _choose_injection_rule(words: Iterable[str]) -> str:
    """The rule whose classes weigh most among the words."""
    weights = load_injection_weights()
    present = {name for word in words for name in classify_injection_word(word)}
    sums = {
        rule: sum(max(0.0, weights.get(name, 0.0)) for name in names & present)
        for rule, names in load_injection_rules().classes.items()
    }
    return max(sums, key=lambda rule: (sums[rule], rule == "hijack"))


def _make_injection_finding(text: str, rule: str, disguise: str, start: int, end: int) -> GuardFinding:
    passage = text[start:end]
    start, passage = start + len(passage) - len(passage.lstrip()), passage.strip()
    shown = passage if len(passage) <= MOST_SHOWN else passage[: MOST_SHOWN - 1] + "…"
    says = NONSENSE if rule == "nonsense" else INJECTION_RULES[rule]
    says = f"{says} ({disguise})" if disguise else says
    return GuardFinding(guard="injection", rule=rule, says=says, text=shown, start=start, end=start + len(passage))


# The patterns of the rules, read from library/guards/injection when first used.

_PATTERN_FIELDS = ("starts_with", "followed_by", "preceded_by", "not_preceded_by", "text_has")
_BEHIND = 60  # Characters before the word that a pattern may look at.
_AROUND = 300  # Characters on either side of a quotation that may say what it is about.


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionPattern:
    """A wording of one rule. In its expressions a space is any separators, `~30` up to 30 characters."""

    rule: str
    starts_with: tuple[str, ...]  # The words that a passage can start with.
    followed_by: str
    preceded_by: str  # What must stand just before the word.
    not_preceded_by: str
    text_has: frozenset[str]  # One of these must be in the text, where the words alone are too common.

    def match_at(self, text: str, start: int, end: int) -> Place | None:
        """The passage that the word between `start` and `end` belongs to, if it is one."""
        found = _compile_injection_pattern(self.followed_by).match(text, end)
        if found is None:
            return None
        back = max(0, start - _BEHIND)
        line = text.rfind("\n", back, start) + 1 or back  # What stands on another line takes nothing back.
        if self.not_preceded_by and _compile_injection_pattern(rf"(?:{self.not_preceded_by})\Z").search(
            text, line, start
        ):
            return None
        if not self.preceded_by:
            return start, found.end()
        lead = _compile_injection_pattern(rf"(?:{self.preceded_by})\Z").search(text, back, start)
        return (lead.start(), found.end()) if lead else None


PatternsByWord = Mapping[str, tuple[InjectionPattern, ...]]  # The patterns that each word can start.


def find_injection_pattern_matches(view: GuardedTextView, patterns: PatternsByWord) -> Iterator[tuple[str, Place]]:
    """The rules whose patterns match, and where in the view; quoted examples of attacks are left out."""
    possible = {
        word: tuple(one for one in patterns[word] if not one.text_has or not one.text_has.isdisjoint(view.known_words))
        for word in view.known_words & patterns.keys()
    }
    starts = []  # Words that a pattern can start with, and where they stand.
    at = 0  # The space before the next word, or one before that: what lies between was passed and starts no pattern.
    for word in view.spaced.split():
        if possible.get(word):
            at = view.spaced.index(f" {word} ", at)
            starts.append((word, at))
        at += len(word) + 1
    if not view.text.isascii():
        possible |= {word: candidates for word, candidates in patterns.items() if not word.isascii()}
        starts += [
            (word, at) for word in patterns if not word.isascii() for at in find_injection_signs(word, view.text)
        ]
    for word, start in starts:
        for pattern in possible[word]:
            place = pattern.match_at(view.text, start, start + len(word))
            if place and not _is_quoted_injection_example(view.text, place[0]):
                yield pattern.rule, place


def _is_quoted_injection_example(text: str, start: int) -> bool:
    """Whether the passage opens a quotation that the text calls an example of an attack: spoken about, not spoken."""
    before = text[max(0, start - 90) : start]
    if before[-1:] not in ("'", '"', "`"):
        return False
    introduction, topic = _load_injection_mention_patterns()
    return bool(introduction.search(before)) and bool(topic.search(text, max(0, start - _AROUND), start + _AROUND))


@cache
def _load_injection_mention_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    file = load_library_data_file("guards/injection/mentions.yaml")
    return re.compile(file["introduction"]["pattern"]), re.compile(file["topic"]["pattern"])


@cache
def _compile_injection_pattern(pattern: str) -> re.Pattern[str]:
    # Compiled at first use: most texts need few of the patterns, and starting up must stay quick.
    gaps = re.sub(r"~(\d+)", r"[^.!?;]{0,\1}?(?<![a-z0-9])", pattern.replace(" ", r"(?:[\W_]{1,4})"))
    return re.compile(gaps, re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRules:
    """All patterns, what a match of each rule adds to the score of its sentence, and the classes of words by which
    a sentence without a match is put under a rule.
    """

    patterns: PatternsByWord
    evidence: Mapping[str, float]
    classes: Mapping[str, frozenset[str]]


@cache
def load_injection_rules() -> InjectionRules:
    """The rules that ship, read once."""
    files = {name: load_library_data_file(f"guards/injection/{name}.yaml") for name in (*INJECTION_RULES, "chinese")}
    patterns: dict[str, tuple[InjectionPattern, ...]] = {}
    for pattern in (read_injection_pattern(entry, file) for file in files.values() for entry in file["patterns"]):
        for word in pattern.starts_with:
            patterns[word] = (*patterns.get(word, ()), pattern)
    return InjectionRules(
        patterns=patterns,
        evidence={rule: float(files[rule]["evidence"]) for rule in INJECTION_RULES},
        classes={rule: frozenset(files[rule]["classes"].split()) for rule in INJECTION_RULES},
    )


def read_injection_pattern(entry: Mapping[str, str], file: Mapping[str, Any]) -> InjectionPattern:
    """A pattern from its entry in a file, with the fragments of that file put in."""
    text = {field: entry.get(field, "") for field in _PATTERN_FIELDS}
    for field in _PATTERN_FIELDS:
        while named := re.search(r"\{([a-z_]+)\}", text[field]):
            text[field] = text[field].replace(named[0], str(file["fragments"][named[1]]))
    return InjectionPattern(
        rule=entry.get("rule") or file["rule"],
        starts_with=tuple(text["starts_with"].split()),
        followed_by=text["followed_by"],
        preceded_by=text["preceded_by"],
        not_preceded_by=text["not_preceded_by"],
        text_has=frozenset(text["text_has"].split()),
    )


_SIZES = (16, 30)  # Units of a passage that is weighed: those of short suffixes, and of longer ones.
_FEWEST = 8  # Units below which nothing is said.
_NEAR = 200  # Characters between two odd joints that may belong to one passage.
_OFTEN = 2  # A pair of units that the text has more often belongs to what the text is: code, a table, a log.
# A capital after a small letter, or a mark or a foreign letter that no space sets apart. To start with that class of
# characters keeps the search quick.
_ODD_JOINT = re.compile(r"[A-Z!-&(-+/:-@\[-`{-~\x80-\U0010ffff](?:(?<=[a-z][A-Z])|(?<=\S[^A-Za-z])(?=\S))")
_UNIT = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+|\s+|.", re.DOTALL)


def find_injected_nonsense(text: str) -> tuple[Place, ...]:
    """The passages whose units follow each other as in no ordinary text, in order."""
    odd = [match.start() for match in _ODD_JOINT.finditer(text)]
    if all(after - before > _NEAR for before, after in pairwise(odd)):
        return ()  # Prose, as nearly every text.
    units, places = split_injected_nonsense_units(text)
    if len(units) < _FEWEST:
        return ()
    profile = load_nonsense_profile()
    weights, each = profile.weights, profile.each
    weighed = [
        each + weights.get(pair, 0.0) + weights.get(triple, 0.0) for pair, triple in list_nonsense_features(units)
    ]
    sums = list(accumulate(weighed, initial=0.0))
    above = [total + profile.always * place / _SIZES[-1] for place, total in enumerate(sums)]
    windows = [(start, start + size) for size in _SIZES for start in range(len(units) - size + 1)]
    unlikely = [
        _trim_injected_nonsense(above, first, last)
        for first, last in windows or [(0, len(units))]
        if sums[last] - sums[first] + profile.always > 0
    ]
    found: list[Place] = []
    for first, last in sorted(unlikely):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple((places[first][0], places[last - 1][1]) for first, last in found)


def _trim_injected_nonsense(above: Sequence[float], first: int, last: int) -> Place:
    """The passage without what ordinary text it has at its ends, and with what belongs to it beyond them."""
    middle = (first + last) // 2
    before = range(max(0, first - _SIZES[-1]), middle)
    after = range(middle + 1, min(len(above), last + _SIZES[-1]))
    return min(before, key=above.__getitem__), max(after, key=above.__getitem__)


def split_injected_nonsense_units(text: str) -> tuple[list[str], list[Place]]:
    """The class of each unit, marked where a space stands before it, and its place; spaces are no units."""
    units: list[str] = []
    places: list[Place] = []
    space = ""
    for match in _UNIT.finditer(text):
        unit = classify_nonsense_unit(match[0])
        if unit == " ":
            space = "_"
        else:
            units.append(space + unit)
            places.append(match.span())
            space = ""
    return units, places


def list_nonsense_features(units: Sequence[str]) -> list[tuple[str, str]]:
    """For each unit the pair and the triple that it ends; of a pair that the text has often, only that it does."""
    padded = ["\n", "\n", *units]
    pairs = [f"{before} {unit}" for before, unit in pairwise(padded[1:])]
    often = {pair for pair, count in Counter(pairs).items() if count > _OFTEN}
    return [
        ("again", f"again {pair[-1]}") if pair in often else (pair, f"{before} {pair}")
        for before, pair in zip(padded, pairs, strict=False)
    ]


@lru_cache(maxsize=8192)
def classify_nonsense_unit(unit: str) -> str:
    """A letter for a word by how common it is, its case and its alphabet; a mark stands for itself."""
    first = unit[0]
    if first.isspace():
        return "\n" if "\n" in unit else " "
    if not first.isalnum():
        return first if first.isascii() else "¤"
    if first.isdecimal() and first.isascii():
        return "0"
    profile = load_nonsense_profile()
    if not first.isascii():
        return next((name for name, low, high in profile.alphabets if low <= ord(first) <= high), "o")
    if unit.isupper():
        return "A" if len(unit) > 1 else "X"
    kind = profile.words.get(unit.lower()) or ("u" if len(unit) > 2 else "s")
    return kind if first.islower() else kind.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class NonsenseProfile:
    """Kinds of words, alphabets, and the fitted weights of pairs and triples of units."""

    words: Mapping[str, str]
    alphabets: tuple[tuple[str, int, int], ...]
    weights: Mapping[str, float]
    always: float
    each: float


@cache
def load_nonsense_profile() -> NonsenseProfile:
    """The profile that ships, read once."""
    data = load_library_data_file("guards/injection/nonsense.yaml")
    weights: dict[str, float] = json.loads((LIBRARY / "nonsense.json").read_text("utf-8"))["weights"]
    return NonsenseProfile(
        words=dict.fromkeys(data["common_words"]["words"].split(), "w")
        | dict.fromkeys(data["function_words"]["words"].split(), "f"),
        alphabets=tuple(
            (name[0], int(entry["codes"][0], 16), int(entry["codes"][1], 16))
            for name, entry in data["alphabets"].items()
        ),
        weights=weights,
        always=weights.pop("always"),
        each=weights.pop("each"),
    )
