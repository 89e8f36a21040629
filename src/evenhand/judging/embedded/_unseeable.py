"""What rules cannot see: tone, truth without a reference, quality, and what depends on material beyond the output."""

from __future__ import annotations

import re

from evenhand.judging.embedded._claim import speaks_of_saying
from evenhand.judging.embedded._words import EMPTY, Word, lowered, words_of


def unseeable(asks: str) -> str:
    """Why rules cannot answer a criterion; empty where they may try."""
    words = words_of(asks)
    quality = next(filter(_is_quality, words), None)
    named = [word for word in words if word.stem not in EMPTY and not _is_quality(word)]
    if quality and (_ABOUT_QUALITY.search(asks) or len(named) < 2 or not speaks_of_saying(asks)):
        return f"rules cannot weigh what is “{lowered(quality.raw)}”"
    if _BEYOND.search(asks):
        return "it depends on more than the words of the output"
    if _ALL.search(asks):
        return "it speaks of all of something, and rules see single passages"
    return ""


def _is_quality(word: Word) -> bool:
    low = lowered(word.raw)
    return low in _QUALITIES or low.removesuffix("ly") in _QUALITIES


_QUALITIES = frozenset(
    word
    for line in """
tone friendly polite warmth sincere honest rude kindly motivating pleasant considerate respect
exaggerated gentle patient patience empathy empathetic sympathetic respectful disrespectful condescending
patronising patronizing professional courteous formal informal casual enthusiastic encouraging reassuring neutral
balanced biased fair unfair objective persuasive convincing compelling engaging interesting boring entertaining
funny fun humour humor humorous witty charming moving touching elegant beautiful stylish creative original
originality imaginative fresh fluent idiomatic watertight entertain persuade ethically accurate accuracy true truth
truthful factual correct correctness reliable trustworthy credible plausible realistic sensible reasonable logical
rigorous coherent consistent justified justify reasoning safe safety harmful harmless dangerous risky ethical moral
appropriate inappropriate suitable helpful useful practical good bad great best better excellent poor quality
effective efficient insightful thoughtful deep shallow thorough well-written polished clear clarity understandable
simple easy difficult expertise expert feel feels sounds authentic human tactful diplomatic judgmental inspiring
memorable catchy appealing tasty worthwhile
""".splitlines()
    for word in line.split()
)
# "Is it …", "would …", or words for how a text comes across.
_ABOUT_QUALITY = re.compile(
    r"^\W*(?:is|are|was|were|would|could|can|how|should)\b|"
    r"\b(?:sounds?|feels?|reads?|comes? across|strikes?|tone|style|manner|in an? \w+ way|voice|seems?|looks?)\b",
    re.IGNORECASE,
)
_MATERIAL = (
    r"(?:policy|policies|sources?|task|trace|diff|code|record|conversation|passages?|material|article|original|facts?|"
    r"rules?|requirements?|question)"
)
# What the output is held against, or what would happen after it: neither is in its words.
_BEYOND = re.compile(
    "|".join(
        (
            rf"\b(?:that|which|as|what|than|where) (?:the |this |its )?{_MATERIAL}\b",
            r"\bthe (?:trace|diff|record|code) (?:shows?|adds?|does|has|puts|changes)\b",
            r"\b(?:was|were|is|are|been|as) (?:given|provided|supplied)\b",
            r"\b(?:given|provided) (?:policy|text|material|sources?|passages?|facts?)\b",
            r"\b(?:did|does|do) not (?:ask|exist|need|allow|touch|support)\b",
            r"\bnobody asked\b",
            r"\bcould have (?:failed|told)\b",
            r"\b(?:would|could|might|will) (?:not )?(?:compile|break|ask|hit|fail|act)\b",
            r"\bmade up\b|\binvent(?:s|ed)\b|\bunsupported\b|\bcontradict\w*",
        )
    ),
    re.IGNORECASE,
)
_ALL = re.compile(
    r"^\W*(?:(?:is|are|does|do|has|have|for)\s+)?(?:every|each|all|everything|nothing|none|most)\b|"
    r"\b(?:every|each) (?:comment|call|claim|requirement|question|step|change|statement|sentence|section|concern|"
    r"defect|source|figure|fact|point|part|term)\b",
    re.IGNORECASE,
)
