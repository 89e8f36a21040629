"""Leanings: how much likelier yes is than no in a reply of one token, and from where on that counts as yes.

Small models say yes too readily, or no; each in its own measure, which shows in questions whose answers are known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from evenhand.judging._prompts import Prompts
from evenhand.judging._request import NoReply, Place, Reply

YES = frozenset({"yes", "是", "是的"})
NO = frozenset({"no", "否", "不", "不是"})
LEAST_MASS = 0.2  # Of all chances, those of yes and no together: below it the model did not answer the question.
LEAST_ORDERED = 0.8  # Of all pairs of a known yes and a known no; whoever guesses gets there once in fifty times.
BAND = 0.1  # Of half the distance between known yeses and known noes: as near to the threshold nothing is decided.
NOISE = 0.2  # At least so near: a question gets as much more or less after other questions than as the first one.
_MARKS = "*\"'`.,。，“”‘’「」"
_PAIR = re.compile(r"(?P<text>.+)\nyes: (?P<yes>.+)\nno: (?P<no>.+)")


@dataclass(frozen=True, slots=True)
class Known:
    """A question about a short text whose answer is known."""

    text: str
    asks: str
    answer: bool


@dataclass(frozen=True, slots=True)
class Calibration:
    """From which log-odds on a model means yes, and how near to that it means nothing."""

    threshold: float
    band: float

    def chance(self, leaning: float) -> float:
        """The chance of a yes, once the leaning of the model itself is taken off."""
        return 1 / (1 + math.exp(min(max(self.threshold - leaning, -50.0), 50.0)))

    def undecided(self, leaning: float) -> bool:
        """Whether it is too near the threshold to call."""
        return abs(leaning - self.threshold) < self.band


def known_questions(prompts: Prompts) -> tuple[Known, ...]:
    """The shipped questions, as many with yes as with no."""
    pairs = [found for block in prompts.body(KNOWN).split("\n\n") if (found := _PAIR.fullmatch(block.strip()))]
    return tuple(Known(pair["text"], pair[word], word == "yes") for pair in pairs for word in ("yes", "no"))


KNOWN = "odds-known"


def leaning_of(reply: Reply | NoReply) -> float | str:
    """The log-odds of yes against no, or why there are none."""
    if isinstance(reply, NoReply):
        return f"judge failed: {reply.why}"
    place = next((place for place in reply.places if _plain(place.token)), None)
    if place is None or not place.likely:
        return "unreadable: the reply does not say how likely its words were"
    yes, no = (_mass(place, words) for words in (YES, NO))
    if yes + no < LEAST_MASS:
        return f"unreadable: {place.token.strip()[:40]!r} where yes or no was asked for ({yes + no:.0%} of the chances)"
    # A word that is not among those shown is at most as likely as the last of them.
    least = math.exp(min(logprob for _, logprob in place.likely))
    return math.log(max(yes, least) / max(no, least))


def calibrated(answers: Sequence[bool], leanings: Sequence[float | str]) -> Calibration | str:
    """The threshold half way between the faintest known yeses and noes, or why there is none.

    The faintest quarter of each, since real outputs miss a criterion narrowly: the middle of all lies too low for them.
    """
    heard = [(answer, one) for answer, one in zip(answers, leanings, strict=True) if not isinstance(one, str)]
    yes, no = (sorted(one for answer, one in heard if answer is wanted) for wanted in (True, False))
    if 2 * min(len(yes), len(no)) <= len(answers) // 2:
        why = next((one for one in leanings if isinstance(one, str)), "nothing was asked")
        return f"this model does not answer known questions with yes or no ({why})"
    if fmean(one > other for one in yes for other in no) < LEAST_ORDERED:
        return "this model cannot tell known yeses from known noes"
    faint_yes, faint_no = yes[: max(1, len(yes) // 4)], no[-max(1, len(no) // 4) :]
    return Calibration((fmean(faint_yes) + fmean(faint_no)) / 2, max(NOISE, BAND * (fmean(yes) - fmean(no)) / 2))


def _mass(place: Place, words: frozenset[str]) -> float:
    return sum(math.exp(min(logprob, 0.0)) for token, logprob in place.likely if _plain(token) in words)


def _plain(token: str) -> str:
    return token.strip().strip(_MARKS).strip().lower()
