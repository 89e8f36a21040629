"""The safety guard: passages that ask for harm or explain how it is done, each judged in its own sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from evenhand.guards.patterns import PatternTable
from evenhand.guards.safety_patterns import HarmfulAct, SafetyPatterns, load_safety_patterns
from evenhand.model.sample import GuardFinding

SAFETY_RULES = {
    "dangerous_instructions": "a way to hurt, rob, deceive or wrong others, or to make or sell drugs",
    "weapon_making": "a way to make or come by explosives, weapons or poison",
    "malware_hacking": "a way to break into accounts or systems, or to make malicious software",
    "self_harm": "a way to hurt or kill oneself, or encouragement to do so",
    "pii_exposure": "private data of a person, or a way to come by it",
}
LONGEST_PASSAGE = 160  # Characters of a passage that are shown.
_WINDOW = 400  # Characters read together: a longer sentence is read in windows that overlap.
_OVERLAP = 120
_SENTENCE_END = re.compile(r"[.!?\n。！？][\"'”’)\]*]{0,3}(?:\s+|(?<=[\n。！？]))")
_ITEM_NUMBER = re.compile(r"(?:^|\n)[ \t]*\d{1,3}$")  # What stands before the full stop in `1. `, which opens an item.
_PUNCTUATION = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./0123456789:;<=>?@[\\]^_`{|}~“”…—–•", " "))
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ´＇`", "'"))
_CHINESE = re.compile("[\u4e00-\u9fff]")
_WHITE_SPACE = re.compile(r"\s+")
_SET_IN = re.compile(r"\b[a-z][\w'’]* in (?:the )?([A-Z][\w'’-]*)")


def find_unsafe_passages(text: str, patterns: SafetyPatterns | None = None) -> tuple[GuardFinding, ...]:
    """Every passage that asks for harm or explains how to do it, in order of its start."""
    patterns = patterns or load_safety_patterns()
    triggers = patterns.triggers
    folded = _fold_case(text)
    words = folded.translate(_PUNCTUATION)
    chinese = not folded.isascii() and _CHINESE.search(folded) is not None
    found: dict[tuple[str, int], GuardFinding] = {}  # By rule and act: windows that overlap may both hold the act.
    for start, end in _split_sentences(text):
        present = triggers.intersection(words[start:end].split())
        if not present and not chinese:
            continue
        for rule, place in _match_sentence(text[start:end], folded[start:end], present, patterns):
            if (rule, start + place) not in found:
                found[rule, start + place] = _cut_passage(rule, text, (start, end), start + place)
    return tuple(sorted(set(found.values()), key=lambda finding: (finding.start, finding.end, finding.rule)))


def _fold_case(text: str) -> str:
    """The text in small letters and with one kind of apostrophe, each character where it was."""
    small = text.lower()
    if len(small) != len(text):
        small = "".join(letter.lower()[0] for letter in text)
    return small if small.isascii() else small.translate(_APOSTROPHES)


def _split_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, or of each window of a sentence that is too long."""
    start = 0
    for end in _sentence_ends(text):
        while end - start > _WINDOW:
            yield start, start + _WINDOW
            start += _WINDOW - _OVERLAP
        if start < end:
            yield start, end
        start = end


def _sentence_ends(text: str) -> Iterator[int]:
    for match in _SENTENCE_END.finditer(text):
        if not (match[0][0] == "." and _ITEM_NUMBER.search(text[max(0, match.start() - 6) : match.start()])):
            yield match.end()
    yield len(text)


def _match_sentence(
    sentence: str, folded: str, triggers: Set[str], patterns: SafetyPatterns
) -> Iterator[tuple[str, int]]:
    """The rules that a sentence breaks, once each, with the place of the act."""
    if not folded.isascii():
        yield from _match_chinese_acts(folded, patterns)
    even = _WHITE_SPACE.sub(" ", folded)
    broken: set[str] = set()
    for act in dict.fromkeys(act for word in sorted(triggers) for act in patterns.acts_by_trigger[word]):
        place = None if act.rule in broken else _match_act(act, even, sentence, patterns)
        if place is not None:
            broken.add(act.rule)
            yield act.rule, _restore_place(folded, place)


def _match_chinese_acts(sentence: str, patterns: SafetyPatterns) -> Iterator[tuple[str, int]]:
    context = patterns.context
    if context["zh_trigger"].search(sentence) and not context["zh_excuse"].search(sentence):
        for act in patterns.chinese_acts.values():
            if match := act.pattern.search(sentence):
                yield act.rule, match.start()


def _match_act(act: HarmfulAct, even: str, sentence: str, patterns: SafetyPatterns) -> int | None:
    """Where the act begins that is asked for or explained, and that nothing excuses."""
    for match in act.pattern.finditer(even):
        head, tail = even[: match.start()], even[match.end() :]
        if act.after and not re.search(act.after, head):
            continue
        if act.when and not _is_asked_or_given(act, head, tail, patterns.context):
            continue
        if not _excuse_sentence(head, match[0], tail, patterns.context) and not _is_set_in_fiction(sentence, patterns):
            return match.start()
    return None


def _is_asked_or_given(act: HarmfulAct, head: str, tail: str, context: PatternTable) -> bool:
    """Whether the words before and after an act ask for a way to do it, or give one."""
    return bool(
        context["asked"].search(head)
        or context["listed"].search(head)
        or ("ordered" in act.when and context["opens"].search(head))
        or (context["wanted"].search(head) and ("wanted" in act.when or context["asks_next"].search(tail)))
        or (context["to"].search(head) and context["then"].search(tail))
        or (context["opens"].search(head) and context["involves"].search(tail))
    )


def _excuse_sentence(head: str, act: str, tail: str, context: PatternTable) -> bool:
    """Whether the sentence itself refuses, hinders, condemns, tells or makes up what it names."""
    sentence = head + act + tail
    clause = head[max((turn.end() for turn in context["turn"].finditer(head)), default=0) :]
    if any(context[reason].search(clause) for reason in ("hindered", "refused", "narrated", "defined")):
        return True
    if context["fiction"].search(sentence) or context["at_work"].search(sentence):
        return True
    condemned = context["refused"].search(tail) or context["condemned"].search(sentence)
    return bool(condemned) and not context["gives"].search(sentence)


def _is_set_in_fiction(sentence: str, patterns: SafetyPatterns) -> bool:
    """Whether the sentence is set in something whose name is no real place: most often a game or a film."""
    return any(name not in patterns.real_names for name in _SET_IN.findall(sentence))


def _restore_place(folded: str, place: int) -> int:
    """Where a place lies once white space is as wide again as it was."""
    for gap in _WHITE_SPACE.finditer(folded):
        if gap.start() >= place:
            break
        place += len(gap[0]) - 1
    return place


def _cut_passage(rule: str, text: str, sentence: tuple[int, int], place: int) -> GuardFinding:
    """The sentence, or where that is long the part of it around the act."""
    start, end = sentence
    if end - start > LONGEST_PASSAGE:
        cut = max(start, min(place - LONGEST_PASSAGE // 3, end - LONGEST_PASSAGE))
        start = cut if cut == start else text.find(" ", cut, place) + 1 or cut
        end = min(end, start + LONGEST_PASSAGE)
    shown = text[start:end]
    start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
    return GuardFinding(guard="safety", rule=rule, says=SAFETY_RULES[rule], text=text[start:end], start=start, end=end)
