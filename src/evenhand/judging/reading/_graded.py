"""How much a mention of a score weighs, by the words around it: from a bare number to an explicit last word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from evenhand.judging.reading._names import Label, label_of
from evenhand.judging.reading._numbers import Mention
from evenhand.model import Unscored


class Weight(IntEnum):
    """What an answer in prose rests on; only the heaviest in a reply count."""

    BARE = 1  # 2. The response is dull.
    SHARE = 2  # … 4/5 …
    PHRASE = 3  # … earning a score of 4 …
    LABEL = 4  # Score: 4
    FINAL = 5  # Final score: 4


@dataclass(frozen=True, slots=True)
class Graded:
    """A mention with its weight, and whose score it is where it is named."""

    mention: Mention
    weight: Weight
    whose: str | None = None


WINDOW = 120
_SCORE_NOUN = r"(?:score|scores|rating|grade|mark|评分|得分|分数|打分)"
_LABELLED = re.compile(r"(?:\A|[\n.;!?|,)]|\s[-–—]\s|\b(?:and|so|thus|therefore|with)\s)([^\n:=.;!?|,]{1,70}?)\s{0,3}"
                       r"(?:[:=]|->|=>|→|\s[-–—])\s{0,3}[\[(\"'{<\s]{0,6}(?:an?\s)?\Z", re.IGNORECASE)  # fmt: skip
_HEADED = re.compile(r"(?:\A|\n)([^\n]{1,70})\n\s{0,20}(?:[-+•]\s)?[\[(\"'{]{0,3}\Z")
_DIRECT = re.compile(
    rf"\b(final|overall|total)?\s?(?:\w{{3,20}}\s)?{_SCORE_NOUN}\s?(?:(?:of|is|was|as|at|to be|would be|will be|"
    r"should be|here is|it|equal to|comes to|=|为|是)\s?){0,3}(?::\s?)?(?:just |only |therefore |thus |an? )*"
    r"(?:perfect |solid |strong |low |high |full |maximum |minimum |near-perfect )?[\[(\"']{0,2}\Z",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:scor(?:e|es|ed|ing)|rat(?:e|ed|ing)|grad(?:e|ed|ing)|assign(?:ed|ing)?|giv(?:e|en|ing)|"
    r"award(?:ed|ing)?|earn(?:s|ed|ing)?|receiv(?:e|es|ed|ing)|deserv(?:e|es|ing)|merits?|warrants?|gets?|"
    r"say|go(?:ing)? with|settl(?:e|ing) on)"
    r"(?:\s[A-Za-z][\w'’\-]{0,30}){0,7}\s?(?:[:,]\s?)?[\[(\"']{0,2}\Z|(?:给|打|评为?|得)(?:出|了|予|到)?\s?\Z|"
    r"\b(?:this|it|that)(?:'s| is) (?:an? )(?:solid |strong |clear )?\Z|"
    r"\b(?:criterion|criteria|requirement|requirements|condition) (?:is|are|was|were|has been|have been) \Z",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"(?:\b(?:an?|of|as|at|it|is|be|been|with|on)|[:给打评得出了为])\s?[\[(\"']{0,2}\Z", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\bI\b|\bmy\b|我")
# 3 for A, 4 for B; 3 (clarity), 4 (style).
_SHARED_OUT = re.compile(
    r"\s(?:for|to|in|on)\s[^.,;\n]{1,30}(?:,|;|\sand)\s(?:and\s)?(?:an?\s)?[0-9][0-9./]*\s(?:for|to|in|on)\b"
    r"|\s?\([^()\n]{1,30}\)\s?(?:,|;|and)\s{0,2}[0-9][0-9./]*\s?\(",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:not|cannot|never|than|instead of|short of|would have|could|might|prevent\w*|needs?|needed|requires?|"
    r"required|where|whether|either|from (?:achieving|getting|receiving|earning|scoring|reaching)|scale|range|"
    r"claim(?:s|ed)?|mention(?:s|ed)?|report(?:s|ed)?|state[sd]|cite[sd]?|describe[sd]?|includ(?:es?|ing)|to score|"
    r"to (?:achieve|get|earn|receive|reach|merit|deserve|warrant|be))\b|n't\b|"
    r"\b(?:with|while|from|where)\s(?:an? )?\Z|不|没",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:if|unless|had it|were it)\b|如果", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"\s?(?:=|≡)|\s(?:means?|meaning|being|indicat\w+|represents?|would|could|might|requires?|is (?:for|given|reserved|"
    r"defined|when|the (?:best|worst|highest|lowest))|if|for (?:the )?(?:best|worst))\b|表示|代表",
    re.IGNORECASE,
)
_ENDS_WELL = re.compile(
    r"\s*(?:\Z|[\n.,;:!?)\]\"'|—–*]|-\s|\(|(?:for|in|on|because|since|as|due|with|based|overall|and|but|given|to)\b)",
    re.IGNORECASE,
)


def graded(text: str, mention: Mention, names: Mapping[str, str]) -> Graded | None:
    """The mention with its weight; None where nothing says that it is a score."""
    window = text[max(0, mention.start - WINDOW) : mention.start]
    label = _label(window, names)
    if (label is None or label.whose is None) and _SHARED_OUT.match(text, mention.end):
        mention = replace(mention, score=Unscored("unreadable: it gives several scores"))
    if label and not _begins_list(text, window, mention):
        return Graded(mention, Weight.FINAL if label.final else Weight.LABEL, label.whose)
    sentence = re.split(r"[.!?;]\s|\n", window)[-1]
    clause = re.split(r"[,:]\s", sentence)[-1]
    if _SUPPOSED.search(sentence) or _UNREAL.search(clause) or _EXPLAINS.match(text, mention.end) or mention.beyond:
        return None
    direct = _DIRECT.search(sentence)
    if direct:
        named = label_of(direct.group(), names)
        whose = named.whose if named and named.whose is not None else _named_after(text, mention, names)
        return Graded(mention, Weight.FINAL if direct[1] else Weight.PHRASE, whose)
    if not _ENDS_WELL.match(text, mention.end):
        return None
    named = label_of(re.split(r"[,(]\s?|\band\s", sentence.rstrip(' (["'))[-1], names)
    if named and named.whose is not None:
        return Graded(mention, Weight.PHRASE, named.whose)
    if _VERB.search(sentence) and (mention.whole or _INTRODUCED.search(sentence) or _FIRST_PERSON.search(sentence)):
        return Graded(mention, Weight.PHRASE, _named_after(text, mention, names))
    return Graded(mention, Weight.SHARE, _named_after(text, mention, names)) if mention.whole else None


def _label(window: str, names: Mapping[str, str]) -> Label | None:
    end = re.sub(r"\s(?:an?)\s\Z", "", window[-16:]).rstrip(" \t\n[(\"'{<")
    labelled = _LABELLED.search(window) if end.endswith((":", "=", ">", "→", "-", "–", "—")) else None
    if labelled:
        return label_of(labelled[1], names)
    if not window.rstrip(" \t[(\"'{-+•").endswith("\n"):
        return None
    headed = _HEADED.search(re.sub(r"\n\s*\n", "\n", window))
    return label_of(headed[1], names) if headed else None


def _begins_list(text: str, window: str, mention: Mention) -> bool:
    """My points: / 1."""
    below = window[len(window.rstrip()) :].count("\n") > 0
    return below and text[mention.end : mention.end + 1] in (".", ")")


def _named_after(text: str, mention: Mention, names: Mapping[str, str]) -> str | None:
    """… 4 out of 5 for coherence."""
    after = re.match(r"\s(?:for|in|on|in terms of)\s(?:the\s)?([\w\- ]{2,60}?)(?=\s*(?:[.,;:!?()\n]|\Z|and\b|as\b))",
                     text[mention.end : mention.end + 80], re.IGNORECASE)  # fmt: skip
    label = label_of(after[1], names) if after else None
    return label.whose if label else None
