"""A single score in prose: the heaviest statements bind, and where they contradict each other nothing is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evenhand.judging.reading._graded import Graded, Weight, graded
from evenhand.judging.reading._names import label_of
from evenhand.judging.reading._numbers import WORDS, Mention
from evenhand.judging.reading._words import answers_as_words
from evenhand.model import CriterionScore, Scale, Scored, Unscored

CONTRADICTS = Unscored("unreadable: different answers, and none is said to be the last word")
_SCALE = re.compile(
    r"\bscale\s(?:of|from|is|:|ranging from)?\s?\(?[0-9]{1,3}\s?(?:-|–|to|through)\s?([0-9]{1,3})\b"
    r"|\bscale of ([0-9]{1,3})\b(?!\s?(?:-|–|to\b|through))|\b([0-9]{1,3})[- ]point scale"
    r"|[(\[][01]\s?(?:-|–|to)\s?([0-9]{1,3})[)\]]",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(
    r"\(\s?(?:on an? (?:scale|range) (?:of|from) )?(?:from )?[0-9.]{1,5}\s?(?:-|–|to)\s?([0-9.]{1,5})\s?(?:scale)?\)"
    r"|\[\s?[0-9.]{1,5}\s?(?:-|–|to)\s?([0-9.]{1,5})\s?\](?=\s?:)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-+•][ \t])?\(?([0-9]{1,3})(?:[.):]|[ \t]?[-–—=])[ \t]", re.MULTILINE)
_OTHER_LABEL = re.compile(r"^[ \t\-+•#>0-9.)]{0,12}([^\W\d][^\n:|]{1,40}?)\s?[:=]\s?[0-9]", re.MULTILINE)


def read_prose(text: str, scale: Scale, names: Mapping[str, str], least: Weight = Weight.BARE) -> CriterionScore | None:
    """The one score that a plain text gives; None where it gives none."""
    if another_scale(text, scale):
        return Unscored(f"unreadable: it speaks of another scale than {scale}")
    text = without_scale(text, scale)
    found = statements(text, scale, names)
    if least == Weight.BARE:
        found = found or _bare(text, scale)
    found = [one for one in found if one.weight >= least]
    if not found:
        return None
    named = [one for one in found if one.whose is not None and one.weight >= Weight.LABEL]
    others = _others(text, names)
    if others and (named or (names and others > 1)):
        # Several things are scored: what is said of all of them is not said of this one.
        return settled(named) if named else None
    return settled(found)


def statements(text: str, scale: Scale, names: Mapping[str, str]) -> list[Graded]:
    """Everything in the text that is said to be a score, in order."""
    all_mentions = sorted(answers_as_words(text, scale), key=lambda mention: mention.start)
    found = [one for mention in all_mentions if (one := graded(text, mention, names))]
    found = [one for one in found if not one.mention.spelt or _word_counts(text, one)]
    last = _last_line(text, all_mentions)
    return [*found, Graded(last, Weight.FINAL)] if last and found else found


def settled(found: Sequence[Graded]) -> CriterionScore:
    """What the heaviest statements say, if they say one thing."""
    heaviest = max(one.weight for one in found)
    scores = [one.mention.score for one in found if one.weight == heaviest]
    return scores[-1] if len(set(map(_meaning, scores))) == 1 else CONTRADICTS


def without_scale(text: str, scale: Scale) -> str:
    """The text without repetitions of the scale in brackets: Score (1-5): 4."""

    def keep(brackets: re.Match[str]) -> str:
        top = brackets[1] or brackets[2]
        return " " if re.fullmatch(r"[0-9]+", top) and int(top) == scale.max else brackets.group()

    return _IN_BRACKETS.sub(keep, text)


def _meaning(score: CriterionScore) -> object:
    return score.value if isinstance(score, Scored) else score.why


def another_scale(text: str, scale: Scale) -> bool:
    """Whether the text speaks of a scale that ends elsewhere: 1 to 10 where 1 to 5 was asked."""
    tops = {int(next(top for top in found.groups() if top)) for found in _SCALE.finditer(text)}
    return any(top != scale.max and not (top == scale.max + 1 and scale.min == 0) for top in tops)


def _word_counts(text: str, one: Graded) -> bool:
    """A spelt number or a yes counts only where it is announced: "one" is often no number."""
    return one.weight != Weight.PHRASE or bool(
        re.search(
            r"(?:\bof|\bas|\bat|\ban?|\bit|\bis|:|给|打|评|得)\s?[\"'(]?\Z",
            text[max(0, one.mention.start - 8) : one.mention.start],
        )
    )


def _others(text: str, names: Mapping[str, str]) -> int:
    """How many other things are given a number of their own."""
    labels = {found[1].strip().casefold() for found in _OTHER_LABEL.finditer(text)}
    return sum(1 for label in labels if label_of(label, names) is None and len(label.split()) <= 4)


def _last_line(text: str, found: Sequence[Mention]) -> Mention | None:
    """A number that is all there is on the last line."""
    if not found:
        return None
    body = text.rstrip()
    line = body[body.rfind("\n") + 1 :]
    last = found[-1]
    before = line[: max(0, last.start - (len(body) - len(line)))]
    alone = last.start >= len(body) - len(line) and not before.strip(" \t\"'([-•")
    return last if alone and not text[last.end :].strip(" \t\n.\"')]") and not _continues_list(text, last) else None


def _continues_list(text: str, mention: Mention) -> bool:
    """Whether a number with a dot goes on with a list: the text was cut right after it."""
    if text[mention.end : mention.end + 1] not in (".", ")"):
        return False
    return any(True for _ in _LISTED.finditer(text, 0, mention.start)) or text[: mention.start].rstrip().endswith(":")


def _bare(text: str, scale: Scale) -> list[Graded]:
    """A number that opens or closes the reply and that nothing else explains."""
    found = sorted(answers_as_words(text, scale), key=lambda mention: mention.start)
    if not found:
        return []
    bare = [one for find in (_leading, _in_brackets, _trailing, _last_line) if (one := find(text, found))]
    return [Graded(one, Weight.BARE) for one in [*bare, *(_opening_words(text, found) if scale.yes_no else [])]]


def _leading(text: str, found: Sequence[Mention]) -> Mention | None:
    """2. The response … — but not the first item of a list, nor the question repeated."""
    first = found[0]
    if text[: first.start].strip(" \t\n\"'([-•#") or len({line[1] for line in _LISTED.finditer(text)}) > 1:
        return None
    rest = text[first.end :].split("\n", maxsplit=1)[0].strip()
    if not rest or not text[first.end :].strip():
        return first if not text[first.end :].strip() or first.spelt or _stands_alone(text, first) else None
    if not re.match(r"[.:,;)\]\"'(—–-]", rest) or (rest[0] == "," and text[first.start : first.end].lower() in WORDS):
        return None
    body = rest.lstrip(".:)]\"' ")
    if body[:1].isdigit() and len(found) > 1 and _meaning(found[1].score) != _meaning(first.score):
        return None
    listed = rest[0] in ".)" and isinstance(first.score, Scored) and first.score.value == 1 and not first.spelt
    if body.endswith("?") or "? " in body or re.match(r"[^\W\d][\w /&\-]{0,40}:", body):
        return None
    # A list begins with 1, and a text may be cut inside its first item.
    return None if listed and (len(body.split()) > 3 or "\n" in text.strip()) else first


def _opening_words(text: str, found: Sequence[Mention]) -> list[Mention]:
    """Every yes or no that opens a sentence: a reply that takes one back answers nothing."""
    words = [one for one in found if one.spelt and isinstance(one.score, Scored) and one.score.value in (0, 1)]
    opening = [one for one in words if re.search(r"(?:\A|[.!?\n])\s*\Z", text[max(0, one.start - 4) : one.start])]
    return [one for one in opening if re.match(r"\s*(?:\Z|[.,;:!\n])", text[one.end : one.end + 3])]


def _stands_alone(text: str, mention: Mention) -> bool:
    return text[mention.end : mention.end + 1] != "." or "\n" not in text.strip()


def _in_brackets(text: str, found: Sequence[Mention]) -> Mention | None:
    """The response is somewhat coherent (2). It …"""
    opening = re.match(r"[^.!?\n(]{0,60}\b(?:is|was|seems|appears)\b[^.!?\n(]{0,60}\((?=[0-9])", text)
    first = found[0]
    return first if opening and opening.end() == first.start and text[first.end : first.end + 2] == ")." else None


def _trailing(text: str, found: Sequence[Mention]) -> Mention | None:
    """… of the conversation. 1"""
    last = found[-1]
    before = text[max(0, last.start - 40) : last.start]
    closes = re.search(r"[^\d\s][.!?]\s+\(?\Z|\s\(\Z|\A\s*(?:yes|no)[.,]?\s+\Z", before, re.IGNORECASE)
    after = text[last.end :].strip()
    if not closes or after.strip(" .)") or "\n" in after or (before.endswith("(") and not after.startswith(")")):
        return None
    return None if last.spelt or _continues_list(text, last) else last
