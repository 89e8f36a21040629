"""What the safety guard looks for: harmful acts, and the words around an act that ask for it or excuse it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from evenhand.files.methods import load_library_data
from evenhand.guards.patterns import PatternTable, join_lines, join_list, read_word_classes

# In a Chinese sentence: between what asks and the act, and between the act and what explains it.
_CHINESE_GAP = r"[^。！？\n]"


@dataclass(frozen=True, kw_only=True, eq=False)  # Compared by identity, which is quick.
class HarmfulAct:
    """What a sentence must say; the triggers are looked up first, so that the pattern is seldom tried."""

    rule: str
    wording: str
    triggers: Set[str] = frozenset()
    when: Set[str] = frozenset()  # asked, wanted, ordered: harmful only then; harmful anywhere where there is none.
    after: str = ""  # A pattern of what must stand before it.

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The wording, compiled when it is first needed."""
        return re.compile(self.wording)


@dataclass(frozen=True, kw_only=True)
class SafetyPatterns:
    """All acts, and the patterns of what stands around them."""

    acts: Mapping[str, HarmfulAct]
    chinese_acts: Mapping[str, HarmfulAct]
    context: PatternTable
    real_names: Set[str]

    @cached_property
    def acts_by_trigger(self) -> Mapping[str, list[HarmfulAct]]:
        """The acts to try on a sentence with a word."""
        acts: dict[str, list[HarmfulAct]] = {}
        for act in self.acts.values():
            for trigger in act.triggers:
                acts.setdefault(trigger, []).append(act)
        return acts

    @cached_property
    def triggers(self) -> frozenset[str]:
        """The words that a sentence must have one of."""
        return frozenset(self.acts_by_trigger)


@cache
def load_safety_patterns() -> SafetyPatterns:
    """The patterns that ship, read once."""
    data = load_library_data("guards/safety.yaml")
    words = read_word_classes(data["words"])
    context = {name: join_lines(entry["pattern"], words) for name, entry in data["context"].items()}
    asked = join_asking_frames(join_lines(entry["pattern"], words) for entry in data["asked"].values())
    return SafetyPatterns(
        acts={
            name: read_harmful_act(rule, entry, words)
            for rule, entries in data["acts"].items()
            for name, entry in entries.items()
        },
        chinese_acts={
            name: _read_chinese_act(rule, entry, words, context)
            for rule, entries in data["chinese"].items()
            for name, entry in entries.items()
        },
        context=PatternTable({**context, "asked": asked}),
        real_names=frozenset(words["real"].split("|")),
    )


def join_asking_frames(frames: Iterable[str]) -> str:
    """A pattern of any of the frames, ending where the act begins."""
    return rf"\b(?:{'|'.join(frames)}) ?[\"']?$"


def read_harmful_act(rule: str, entry: Mapping[str, Any], words: Mapping[str, str]) -> HarmfulAct:
    """An act as its entry writes it down: by verbs and objects, verbs and things, things alone or a wording."""
    verbs, things = (join_list(entry.get(key, ""), words) for key in ("verbs", "things"))
    if "wording" in entry:
        wording = join_lines(entry["wording"], words)
    elif not things:
        wording = rf"{_either_form(verbs)} (?:{join_lines(entry['objects'], words)})"
    elif verbs:
        harmless = "|".join([words["harmless"], *filter(None, [join_list(entry.get("unless", ""), words)])])
        gap = rf"(?:(?!(?:{harmless})\b)[\w'$%-]+,? ){{0,5}}?"
        wording = rf"{_either_form(verbs)} {gap}(?:{_plurals(things)})\b(?!'s|['-]?[ -]?(?:{words['peaceful']}))"
    else:
        made = rf"(?:for|of|on) (?:an? |the |making )?(?:\w+ )?(?:{_plurals(things)})"
        wording = rf"\b(?:{words['recipe']})s? {made}\b(?! (?:{words['peaceful']}))"
    return HarmfulAct(
        rule=rule,
        wording=wording,
        triggers=frozenset(entry.get("triggers", "").split()) or _derive_triggers(verbs, things, words),
        when=frozenset(entry["when"].split(", ")) if "when" in entry else frozenset(),
        after=join_lines(entry.get("after", ""), words),
    )


def _read_chinese_act(
    rule: str, entry: Mapping[str, Any], words: Mapping[str, str], context: Mapping[str, str]
) -> HarmfulAct:
    act = join_lines(entry["wording"], words)
    if "when" in entry:
        asked = rf"{context['zh_asks']}{_CHINESE_GAP}{{0,10}}?(?:{act})"
        act = rf"{asked}|(?:{act}){_CHINESE_GAP}{{0,4}}?{context['zh_way']}"
    return HarmfulAct(rule=rule, wording=act)


def _either_form(verbs: str) -> str:
    """A pattern of every verb and its form in -ing, which is not tried where no word begins."""
    forms = sorted({form for verb in verbs.split("|") for form in (verb, _gerund(verb))})
    initials = "".join(sorted({form[0] for form in forms}))
    return rf"\b(?=[{initials}])(?:{'|'.join(forms)})"


def _gerund(verb: str) -> str:
    """The form in -ing: robbing, breaking into."""
    first, blank, rest = verb.partition(" ")
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgmnprt]|commit", first):
        first += first[-1]
    elif first.endswith("c"):
        first += "k"
    elif first.endswith("e") and not first.endswith(("ee", "oe")):
        first = first[:-1]
    return f"{first}ing{blank}{rest}"


def _plurals(things: str) -> str:
    return "|".join(f"{thing}(?:e?s)?" for thing in things.split("|"))


def _derive_triggers(verbs: str, things: str, words: Mapping[str, str]) -> Set[str]:
    """The first word of each thing, as one or as many; without things, the most telling word of each verb."""
    if things:
        firsts = {re.split("[ -]", thing)[0] for thing in things.split("|")}
        return frozenset(word + ending for word in firsts for ending in ("", "s", "es"))
    everyday = frozenset(words["everyday"].split("|"))
    return frozenset(word for verb in verbs.split("|") for word in _telling_words(verb, everyday))


def _telling_words(verb: str, everyday: Set[str]) -> tuple[str, ...]:
    """The longest word of a verb that is no everyday one, in the two forms of the verb."""
    words = verb.split()
    at = max(range(len(words)), key=lambda place: 0 if words[place] in everyday else len(words[place]))
    return tuple(re.split("[ -]", form)[at] for form in (verb, _gerund(verb)))
