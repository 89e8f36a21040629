"""An act the safety guard looks for, and the three ways to write one down: by its verb, its product or its wording."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True, eq=False)  # Each its own: equal by identity, which is quick.
class Act:
    """What a sentence must say; `words` are looked up first, so that the pattern is seldom tried."""

    rule: str
    words: frozenset[str]
    wording: str
    framed: bool = True  # Harmful only where it is asked for or explained.
    after: str = ""  # A pattern of what must have been said before it.
    wanting: bool = False  # "I want to …" is meant, not said in anger.
    ordering: bool = False  # "Write …" asks for it.

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The wording, compiled when it is first needed: all of them at once would take most of a second."""
        return re.compile(self.wording)


def doing(
    rule: str, verbs: str, objects: str, *, words: str = "", wanting: bool = False, ordering: bool = False
) -> Act:
    """Verbs and what they are done to, found by the verb, or by `words` where the verb is an everyday one."""
    found_by = frozenset(words.split()) or frozenset(word for verb in verbs.split("|") for word in _telling(verb))
    wording = rf"{_either(verbs)} (?:{objects})"
    return Act(rule=rule, words=found_by, wording=wording, wanting=wanting, ordering=ordering)


def making(rule: str, verbs: str, things: str, *, but: str = "", wanting: bool = True, ordering: bool = False) -> Act:
    """Verbs and the thing that comes of them, found by the thing; a word of `but` before it makes it harmless."""
    gap = rf"(?:(?!(?:{_HARMLESS}{but})\b)[\w'$%-]+,? ){{0,5}}?"
    named = "|".join(f"{thing}(?:e?s)?" for thing in things.split("|"))
    wording = rf"{_either(verbs)} {gap}(?:{named})\b(?!'s|['-]?[ -]?(?:{_PEACEFUL}))"
    return Act(rule=rule, words=_first(things), wording=wording, wanting=wanting, ordering=ordering)


def recipe(rule: str, things: str) -> Act:
    """The recipe for a thing, which needs no verb."""
    said = "recipe|instruction|formula|blueprint|ingredient|schematic|tutorial|direction|material|rundown"
    named = "|".join(f"{thing}(?:e?s)?" for thing in things.split("|"))
    wording = rf"\b(?:{said})s? (?:for|of|on) (?:an? |the |making )?(?:\w+ )?(?:{named})\b(?! (?:{_PEACEFUL}))"
    return Act(rule=rule, words=_first(things), wording=wording, framed=False)


def saying(
    rule: str, words: str, wording: str, *, after: str = "", framed: bool = False, ordering: bool = False
) -> Act:
    """A wording of its own, found by any of the words."""
    found_by = frozenset(words.split())
    return Act(rule=rule, words=found_by, wording=wording, after=after, framed=framed, ordering=ordering)


def _either(verbs: str) -> str:
    """A pattern of every verb in its two forms, which is not tried where no word begins."""
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


def _first(things: str) -> frozenset[str]:
    """The first word of each thing, as one or as many."""
    firsts = {re.split("[ -]", thing)[0] for thing in things.split("|")}
    return frozenset(word + ending for word in firsts for ending in ("", "s", "es"))


def _telling(verb: str) -> tuple[str, ...]:
    """The longest word of a verb that is no everyday one, in the two forms of the verb."""
    words = verb.split()
    at = max(range(len(words)), key=lambda place: 0 if words[place] in _EVERYDAY else len(words[place]))
    return tuple(re.split("[ -]", form)[at] for form in (verb, _gerund(verb)))


_EVERYDAY = {
    "get",
    "take",
    "set",
    "do",
    "make",
    "off",
    "out",
    "up",
    "in",
    "on",
    "to",
    "of",
    "with",
    "over",
    "into",
    "an",
}
# Between the verb and the thing: something else is made, or only a likeness.
_HARMLESS = (
    "detect|detector|prevent|about|against|without|from|bath|seed|photo|glue|nerf|water|toy|squirt|nail|staple|heat|"
    "spray|paint|massage|tattoo|caulk|potato|rubber|cardboard|paper|lego|foam|hot|chocolate|cocoa|cherry|smoke|"
    "glitter|stink|anti|vaccines?|antidotes?|protection|defen[cs]es?|stor(?:y|ies)|games?|movies?|reports?|sense|sure|"
    "difference|argument|case|calorie|decision|rid|fun|legal|prescribed|over-the-counter|laser|radar|stun|ray|plastic|"
    "to|and|or|for|with|in|on|at|by|as|is|are|was|avoid|stop|reduce|victims?|solve|up|mystery|wooden|that|which|who|"
    "because|swallow\\w*|after|symptoms|population|origami|essay|article|book|summary|presentation|policy|law|ban|bans"
)
# After the thing: it is about the thing, not the thing.
_PEACEFUL = (
    "racks?|parts?\\b|shelters?|dispos|squad|detect|calorimeter|cyclone|skins?|models?|shop|stand|case|icon|emoji|"
    "class|script|sprite|cakes?|cookies|control|laws?\\b|polic|safe\\b|cabinet|holster|licen[cs]e|stores?|scan|"
    "protect|prevent|aware|remov|test|filter|resist|educat|counsel|rehab|abuse|addict|ivy|interact|discover|trial|"
    "administr|compan|simulat|sample|signature|analy|metal|mask|therap|treatment|crisis|problem|epidemic|threat|free|"
    "proof|definition|victim|myster|investig|scene|novel|watch|report|rate|statistic|cases?\\b|drill|users?\\b|"
    "use\\b|overdose|dealers?\\b|cartel|war\\b|plant|tooth|nebula|permit|fill|seal|tea\\b|green|kill|eat|whack|"
    "barrier|garden|my garden|through|from my|out of"
)
