"""All guards over one text or every output of a sample; and the safety guard: passages that ask for harm or explain
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

from evenhand.files.methods import load_library_data_file
from evenhand.guards.guarded_text import PatternTable, fill_in_guard_words, read_guard_word_classes
from evenhand.guards.injection import find_injections
from evenhand.guards.personal_data import find_personal_data
from evenhand.model.sample import GuardFinding, Sample

SAFETY_RULES = {
    "dangerous_instructions": "a way to hurt, rob or deceive others, or to make explosives, poison or drugs",
    "weapon_making": "a way to make or come by firearms or other weapons",
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
# Patterns of the context between which an act is explained: before it, and after it.
_GIVEN_BETWEEN = (
    ("to", "then"), ("opens", "involves"), ("opens_to", "orders"), ("if_you_want", "orders_harm"),
    ("want_to", "question"), ("you_can", "by_means"), ("you_do", "by_doing"), ("can_i", "at_home"),
)  # fmt: skip
_PERSONAL_NUMBERS = frozenset({"ssn", "card", "iban"})
_LONG_NUMBER = re.compile(r"[0-9](?:[^0-9]{0,6}[0-9]){7}")  # Cheap: most texts have no such row, and are done with.
_AROUND_NUMBER = 80  # Characters on either side of a number that may say that it is nobody's.
_SET_IN = re.compile(r"\b[a-z][\w'’]* in (?:the )?([A-Z][\w'’-]*)")


def find_unsafe_passages(text: str, patterns: SafetyPatterns | None = None) -> tuple[GuardFinding, ...]:
    """Every passage that asks for harm or explains how to do it, in order of its start."""
    patterns = patterns or load_safety_guard_patterns()
    triggers = patterns.acts_by_trigger.keys()
    # In small letters and with one kind of apostrophe, each character where it was.
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(letter.lower()[0] for letter in text)
    if not folded.isascii():
        folded = folded.translate(_APOSTROPHES)
    words = folded.translate(_PUNCTUATION)
    chinese = not folded.isascii() and _CHINESE.search(folded) is not None
    found: dict[tuple[str, int], GuardFinding] = {}  # By rule and act: windows that overlap may both hold the act.
    for start, end in _split_guarded_sentences(text):
        present = triggers & words[start:end].split()
        if not present and not chinese:
            continue
        for rule, place in _match_unsafe_sentence(text[start:end], folded[start:end], present, patterns):
            if (rule, start + place) not in found:
                found[rule, start + place] = _cut_unsafe_passage(rule, text, (start, end), start + place)
    # Numbers that tell one person's identity or money, unless the words around say that they are made up.
    for number in find_personal_data(text) if not text.isascii() or _LONG_NUMBER.search(text) else ():
        around = text[max(0, number.start - _AROUND_NUMBER) : number.end + _AROUND_NUMBER].lower()
        if number.rule in _PERSONAL_NUMBERS and not patterns.context["made_up"].search(around):
            finding = replace(number, guard="safety", rule="pii_exposure")
            found.setdefault((finding.rule, finding.start), finding)
    return tuple(sorted(set(found.values()), key=lambda finding: (finding.start, finding.end, finding.rule)))


def _split_guarded_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, or of each window of a sentence that is too long."""
    ends = [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not (match[0][0] == "." and _ITEM_NUMBER.search(text[max(0, match.start() - 6) : match.start()]))
    ]
    start = 0
    for end in (*ends, len(text)):
        while end - start > _WINDOW:
            yield start, start + _WINDOW
            start += _WINDOW - _OVERLAP
        if start < end:
            yield start, end
        start = end


def _match_unsafe_sentence(
    sentence: str, folded: str, triggers: Set[str], patterns: SafetyPatterns
) -> Iterator[tuple[str, int]]:
    """The rules that a sentence breaks, once each, with the place of the act."""
    context = patterns.context
    if not folded.isascii() and context["zh_trigger"].search(folded) and not context["zh_excuse"].search(folded):
        for act in patterns.chinese_acts.values():
            if match := act.pattern.search(folded):
                yield act.rule, match.start()
    even = _WHITE_SPACE.sub(" ", folded)
    broken: set[str] = set()
    for act in dict.fromkeys(act for word in sorted(triggers) for act in patterns.acts_by_trigger[word]):
        place = None if act.rule in broken else _match_unsafe_act(act, even, sentence, patterns)
        if place is not None:
            broken.add(act.rule)
            yield act.rule, _restore_unsafe_place(folded, place)


def _match_unsafe_act(act: HarmfulAct, even: str, sentence: str, patterns: SafetyPatterns) -> int | None:
    """Where the act begins that is asked for or explained, and that nothing excuses."""
    for match in act.pattern.finditer(even):
        head, tail = even[: match.start()], even[match.end() :]
        if act.after and not re.search(act.after, head):
            continue
        if act.when and not _asks_or_gives_unsafe_act(act, head, match[0], tail, patterns.context):
            continue
        # Set in something whose name is no real place: most often a game or a film.
        in_fiction = any(name not in patterns.real_names for name in _SET_IN.findall(sentence))
        if not in_fiction and not _excuse_unsafe_sentence(head, match[0], tail, patterns.context):
            return match.start()
    return None


def _asks_or_gives_unsafe_act(act: HarmfulAct, head: str, act_text: str, tail: str, context: PatternTable) -> bool:
    """Whether the words before and after an act ask for a way to do it, or give one."""
    names_act = act_text.partition(" ")[0].endswith("ing")  # "Hacking an account" orders nothing.
    return bool(
        context["asked"].search(head)
        or context["listed"].search(head)
        or (context["opens"].search(head) and (context["titles"].search(tail) if names_act else "ordered" in act.when))
        or (context["wanted"].search(head) and ("wanted" in act.when or context["asks_next"].search(tail)))
        or any(context[before].search(head) and context[after].search(tail) for before, after in _GIVEN_BETWEEN)
    )


def _excuse_unsafe_sentence(head: str, act: str, tail: str, context: PatternTable) -> bool:
    """Whether the sentence itself refuses, hinders, condemns, tells or makes up what it names."""
    sentence = head + act + tail
    clause = head[max((turn.end() for turn in context["turn"].finditer(head)), default=0) :]
    if any(context[reason].search(clause) for reason in ("hindered", "refused", "narrated", "defined")):
        return True
    if context["fiction"].search(sentence) or context["at_work"].search(sentence):
        return True
    condemned = context["refused"].search(tail) or context["condemned"].search(sentence)
    return bool(condemned) and not context["gives"].search(sentence)


def _restore_unsafe_place(folded: str, place: int) -> int:
    """Where a place lies once white space is as wide again as it was."""
    for gap in _WHITE_SPACE.finditer(folded):
        if gap.start() >= place:
            break
        place += len(gap[0]) - 1
    return place


def _cut_unsafe_passage(rule: str, text: str, sentence: tuple[int, int], place: int) -> GuardFinding:
    """The sentence, or where that is long the part of it around the act."""
    start, end = sentence
    if end - start > LONGEST_PASSAGE:
        cut = max(start, min(place - LONGEST_PASSAGE // 3, end - LONGEST_PASSAGE))
        start = cut if cut == start else text.find(" ", cut, place) + 1 or cut
        end = min(end, start + LONGEST_PASSAGE)
    shown = text[start:end]
    start, end = start + len(shown) - len(shown.lstrip()), end - len(shown) + len(shown.rstrip())
    return GuardFinding(guard="safety", rule=rule, says=SAFETY_RULES[rule], text=text[start:end], start=start, end=end)


# Harmful acts, and the words around an act that ask for it or excuse it: read from library/guards.

ASKING_FRAMES = "\\b(?:%s) ?[\"']?$"  # Any of the frames, ending where the act begins.
# In a Chinese sentence: between what asks and the act, and between the act and what explains it.
_CHINESE_GAP = r"[^。！？\n]"


@dataclass(frozen=True, kw_only=True, eq=False)  # Compared by identity, which is quick.
class HarmfulAct:
    """What a sentence must say; the triggers are looked up first, so that the pattern is seldom tried."""

    rule: str
    find_wording: Callable[[], str]
    triggers: Set[str] = frozenset()
    when: Set[str] = frozenset()  # asked, wanted, ordered: harmful only then; harmful anywhere where there is none.
    after: str = ""  # A pattern of what must stand before it.

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The wording, put together and compiled when it is first needed."""
        return re.compile(self.find_wording())


@dataclass(frozen=True, kw_only=True)
class SafetyPatterns:
    """All acts, and the patterns of what stands around them."""

    acts: Mapping[str, HarmfulAct]
    chinese_acts: Mapping[str, HarmfulAct]
    context: PatternTable
    real_names: Set[str]

    @cached_property
    def acts_by_trigger(self) -> Mapping[str, list[HarmfulAct]]:
        """The acts to try on a sentence with a word; a sentence without any of the words is harmless."""
        acts: dict[str, list[HarmfulAct]] = {}
        for act in self.acts.values():
            for trigger in act.triggers:
                acts.setdefault(trigger, []).append(act)
        return acts


@cache
def load_safety_guard_patterns() -> SafetyPatterns:
    """The patterns that ship, read once."""
    data = load_library_data_file("guards/safety.yaml")
    words = read_guard_word_classes(data["words"])
    asked = {"pattern": ASKING_FRAMES % "|".join(entry["pattern"] for entry in data["asked"].values())}
    context = PatternTable({**data["context"], "asked": asked}, words)
    return SafetyPatterns(
        acts={
            name: read_unsafe_act(rule, entry, words)
            for rule, entries in data["acts"].items()
            for name, entry in entries.items()
        },
        chinese_acts={
            name: HarmfulAct(rule=rule, find_wording=partial(_build_chinese_harmful_act_pattern, entry, context))
            for rule, entries in data["chinese"].items()
            for name, entry in entries.items()
        },
        context=context,
        real_names=frozenset(words["real"].split("|")),
    )


def read_unsafe_act(rule: str, entry: Mapping[str, Any], words: Mapping[str, str]) -> HarmfulAct:
    """An act as its entry writes it down: by verbs and objects, verbs and things, things alone or a wording."""
    verbs, things = (fill_in_guard_words(entry.get(key, "").replace(", ", "|"), words) for key in ("verbs", "things"))
    triggers = set(entry.get("triggers", "").split())
    if not triggers and things:  # The first word of each thing, as one or as many.
        firsts = {re.split("[ -]", thing)[0] for thing in things.split("|")}
        triggers = {word + ending for word in firsts for ending in ("", "s", "es")}
    elif not triggers:
        # The longest word of each verb that is no everyday one, in the two forms of the verb.
        everyday = frozenset(words["everyday"].split("|"))
        for verb in verbs.split("|"):
            parts = verb.split()
            at = max(range(len(parts)), key=lambda place: 0 if parts[place] in everyday else len(parts[place]))
            triggers |= {re.split("[ -]", form)[at] for form in (verb, _form_unsafe_gerund(verb))}
    return HarmfulAct(
        rule=rule,
        find_wording=lambda: fill_in_guard_words(
            entry.get("wording") or _build_harmful_act_pattern(entry, verbs, things), words
        ),
        triggers=frozenset(triggers),
        when=frozenset(entry["when"].split(", ")) if "when" in entry else frozenset(),
        after=fill_in_guard_words(entry.get("after", ""), words),
    )


def _build_harmful_act_pattern(entry: Mapping[str, Any], verbs: str, things: str) -> str:
    """The pattern of an act that is written down without one; names in braces are still to be filled in."""
    plurals = "|".join(f"{thing}(?:e?s)?" for thing in things.split("|"))
    if not things:
        return rf"{_build_harmful_verb_pattern(verbs)} (?:{entry['objects']})"
    if not verbs:
        made = rf"(?:for|of|on|to) (?:an? |the |making )?(?:(?!(?:{{harmless}})\b)[\w-]+ ){{0,2}}?(?:{plurals})"
        return rf"\b(?:{{recipe}})s? (?:(?:are |is )?(?:needed|required|used) )?{made}\b(?! (?:{{peaceful}}))"
    harmless = "|".join(["{harmless}", *filter(None, [entry.get("unless", "").replace(", ", "|")])])
    gap = rf"(?:(?!(?:{harmless})\b)[\w'$%-]+,? ){{0,5}}?"
    return rf"{_build_harmful_verb_pattern(verbs)} {gap}(?:{plurals})\b(?!'s|['-]?[ -]?(?:{{peaceful}}))"


def _build_chinese_harmful_act_pattern(entry: Mapping[str, Any], context: PatternTable) -> str:
    act = entry["wording"]
    if "when" in entry:
        asks, way = (context[name].pattern for name in ("zh_asks", "zh_way"))
        act = rf"{asks}{_CHINESE_GAP}{{0,10}}?(?:{act})|(?:{act}){_CHINESE_GAP}{{0,4}}?{way}"
    return fill_in_guard_words(act, context.words)


def _build_harmful_verb_pattern(verbs: str) -> str:
    """A pattern of every verb and its form in -ing, which is not tried where no word begins."""
    forms = sorted({form for verb in verbs.split("|") for form in (verb, _form_unsafe_gerund(verb))})
    initials = "".join(sorted({form[0] for form in forms}))
    return rf"\b(?=[{initials}])(?:{'|'.join(forms)})"


def _form_unsafe_gerund(verb: str) -> str:
    """The form in -ing: robbing, breaking into."""
    first, blank, rest = verb.partition(" ")
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]|commit", first):
        first += first[-1]
    elif first.endswith("c"):
        first += "k"
    elif first.endswith("e") and not first.endswith(("ee", "oe")):
        first = first[:-1]
    return f"{first}ing{blank}{rest}"


GUARDS: Mapping[str, Callable[[str], tuple[GuardFinding, ...]]] = {
    "injection": find_injections,
    "safety": find_unsafe_passages,
    "personal": find_personal_data,
}
# What is done with a finding where nothing else is asked for: the output is judged all the same, inside the fence.
GUARD_ACTIONS: Mapping[str, str] = {"injection": "flag", "safety": "flag", "personal": "mask"}


def list_guard_findings(text: str, guards: Collection[str] = tuple(GUARDS)) -> tuple[GuardFinding, ...]:
    """What the guards find in a text, in order of place."""
    found = [finding for name in GUARDS if name in guards for finding in GUARDS[name](text)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.end)))


def flag_outputs_by_guards(sample: Sample) -> Sample:
    """The sample with what the guards find in its outputs; outputs without a finding are not listed."""
    found = {name: list_guard_findings(text) for name, text in sample.outputs.items()}
    return replace(sample, findings={name: findings for name, findings in found.items() if findings})
