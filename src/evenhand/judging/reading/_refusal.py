"""That a reply refuses to judge, in its own words."""

from __future__ import annotations

import re

from evenhand.judging.reading._blocks import without_thinking

MOST_SENTENCES = 20  # From the beginning and from the end: nobody refuses in the middle.
_SENTENCE = re.compile(r"[^.!?\n。！？]{1,400}[.!?。！？]?")
_CANNOT = (
    r"(?:cannot|can't|can not|could not|couldn't|won't|will not|not able to|unable to|decline to|refuse to|"
    r"not comfortable)"
)
_REFUSES = re.compile(
    rf"\b(?:i|we)\b[^.!?\n]{{0,40}}?\s?{_CANNOT}\b[^.!?\n]{{0,60}}?\b(?:assist|help|rate|score|judge|evaluat|assess|"
    r"provid|answer|respond|grade|compare|fulfil|comply|engage|continue|complete|choos|select|giv|discuss|determin|"
    r"offer|do that)"
    r"|\bas an ai\b[^.!?\n]{0,80}(?:cannot|can't|unable|not able)"
    r"|\b(?:this|the) (?:request|content|task)[^.!?\n]{0,40}(?:violates?|against)\b"
    r"|\bi(?:'m| am)[^.!?\n]{0,20} sorry\b[^.!?\n]{0,80}(?:cannot|can't|unable|not able|won't)"
    r"|\bi(?:'m| am)[^.!?\n]{0,20} sorry, but\b"
    r"|(?:无法|不能|不便|拒绝|没有办法)(?:对|就|为|给|提供|进行|评|回答|协助|帮助|满足|判断|完成)"
    r"|抱歉[^。！？\n]{0,30}(?:无法|不能)",
    re.IGNORECASE,
)
_APOSTROPHES = str.maketrans("’ʼ＇`´‘", "''''''")


def refusal_in(text: str) -> str | None:
    """The sentence in which the reply refuses to judge, if it does. Only for replies in which no answer was found."""
    sentences = list(_SENTENCE.finditer(without_thinking(text)))
    for sentence in [*sentences[:MOST_SENTENCES], *sentences[MOST_SENTENCES:][-MOST_SENTENCES:]]:
        if _REFUSES.search(sentence.group().translate(_APOSTROPHES)):
            return sentence.group().strip()
    return None
