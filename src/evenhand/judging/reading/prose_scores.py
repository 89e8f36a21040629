"""A score in prose: mentions weighed by the words around them; the heaviest bind, and where they contradict
nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from evenhand.judging.reading.reply_text import (
    find_judge_refusal,
)
from evenhand.judging.reading.score_labels import ScoreLabel, names_score_level_in_reply, read_reply_score_label
from evenhand.judging.reading.score_mentions import (
    ENDS_WELL,
    EXPLAINS,
    NUMBER_WORDS,
    ScoreMention,
    find_score_mentions_in_reply,
    is_score_taken_back,
)
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored


class MentionWeight(IntEnum):
    """What an answer in prose rests on; only the heaviest in a reply count."""

    BARE = 1  # 2. The response is dull.
    SHARE = 2  # … 4/5 …
    PHRASE = 3  # … earning a score of 4 …
    LABEL = 4  # Score: 4
    FINAL = 5  # Final score: 4


@dataclass(frozen=True, slots=True)
class WeighedMention:
    """A mention with its weight, and whose score it is where it is named."""

    mention: ScoreMention
    weight: MentionWeight
    whose: str | None = None


LABEL_WINDOW = 120
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
_LIST_IN_LINE = re.compile(r"1([.)]) [^\n]{0,300}?[.;,] 2\1 [^\W\d]")  # 1. It is too long. 2. It is dull.
_UNREAL = re.compile(
    r"\b(?:not|cannot|never|than|instead of|short of|would have|could|might|prevent\w*|needs?|needed|requires?|"
    r"required|where|whether|either|from (?:achieving|getting|receiving|earning|scoring|reaching)|scale|range|"
    r"claim(?:s|ed)?|mention(?:s|ed)?|report(?:s|ed)?|state[sd]|cite[sd]?|describe[sd]?|includ(?:es?|ing)|to score|"
    r"to (?:achieve|get|earn|receive|reach|merit|deserve|warrant|be))\b|n't\b|"
    r"\b(?:hardly|barely|scarcely|almost|nearly|nowhere|used to be|it was|the reference (?:got|gets|has|scored))\b|"
    r"\bconfidence\b|\b(?:with|while|from|where)\s(?:an? )?\Z|不|没",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:if|unless|had it|were it)\b|如果", re.IGNORECASE)
_CONCLUDES = re.compile(r"(?:earning|receiving|scoring|resulting in|therefore|thus|hence)\b", re.IGNORECASE)


def weigh_reply_score_mention(text: str, mention: ScoreMention, names: Mapping[str, str]) -> WeighedMention | None:
    """The mention with its weight; None where nothing says that it is a score."""
    window = text[max(0, mention.start - LABEL_WINDOW) : mention.start]
    levelled = _LEVELLED.search(window)
    if levelled and names_score_level_in_reply(levelled[1], names) and not _NEXT_LEVEL.match(text, mention.end):
        window = window[: levelled.start() + 1]
    label = _find_reply_score_label(window, names)
    if (label is None or label.whose is None) and _SHARED_OUT.match(text, mention.end):
        mention = replace(mention, score=Missing.unreadable("it gives several scores"))
    below = "\n" in window[len(window.rstrip()) :]
    begins_list = below and text[mention.end : mention.end + 1] in (".", ")")  # My points: / 1.
    if label and not begins_list:
        if is_score_taken_back(text, mention):
            mention = replace(mention, score=Missing.unreadable("its sentence counts with the number, or doubts it"))
        return WeighedMention(mention, MentionWeight.FINAL if label.final else MentionWeight.LABEL, label.whose)
    sentence = re.split(r"[.!?;]\s|\n", window)[-1]
    clause = re.split(r"[,:]\s", sentence)[-1]
    if _is_supposed(sentence, clause) or _UNREAL.search(clause) or EXPLAINS.match(text, mention.end) or mention.beyond:
        return None
    direct = _DIRECT.search(sentence)
    if direct:
        named = read_reply_score_label(direct.group(), names)
        whose = named.whose if named and named.whose is not None else _find_name_after_reply_score(text, mention, names)
        return WeighedMention(mention, MentionWeight.FINAL if direct[1] else MentionWeight.PHRASE, whose)
    if not ENDS_WELL.match(text, mention.end):
        return None
    named = read_reply_score_label(re.split(r"[,(]\s?|\band\s", sentence.rstrip(' (["'))[-1], names)
    if named and named.whose is not None:
        return WeighedMention(mention, MentionWeight.PHRASE, named.whose)
    if _VERB.search(sentence) and (mention.whole or _INTRODUCED.search(sentence) or _FIRST_PERSON.search(sentence)):
        return WeighedMention(mention, MentionWeight.PHRASE, _find_name_after_reply_score(text, mention, names))
    if not mention.whole:
        return None
    return WeighedMention(mention, MentionWeight.SHARE, _find_name_after_reply_score(text, mention, names))


def _is_supposed(sentence: str, clause: str) -> bool:
    """Whether it depends on an if; what a sentence concludes after one in its middle does not."""
    supposed = _SUPPOSED.search(sentence)
    return supposed is not None and not (sentence[: supposed.start()].strip() and _CONCLUDES.match(clause))


_LEVELLED = re.compile(r"[:=]\s{0,3}([A-Za-z][A-Za-z \-]{1,30}?)\s?(?::|,|[-–—](?=\s)|\()\s?\Z")  # Rating: Good - 4
_NEXT_LEVEL = re.compile(r"\)?\s?[,;/|]\s?(?:and\s)?[A-Za-z][A-Za-z \-]{1,30}\s?[:(=–-]\s?[0-9]")


def _find_reply_score_label(window: str, names: Mapping[str, str]) -> ScoreLabel | None:
    end = re.sub(r"\s(?:an?)\s\Z", "", window[-16:]).rstrip(" \t\n[(\"'{<")
    labelled = _LABELLED.search(window) if end.endswith((":", "=", ">", "→", "-", "–", "—")) else None
    if labelled:
        return read_reply_score_label(labelled[1], names)
    if not window.rstrip(" \t[(\"'{-+•").endswith("\n"):
        return None
    headed = _HEADED.search(re.sub(r"\n\s*\n", "\n", window))
    return read_reply_score_label(headed[1], names) if headed else None


def _find_name_after_reply_score(text: str, mention: ScoreMention, names: Mapping[str, str]) -> str | None:
    """… 4 out of 5 for coherence."""
    after = re.match(r"\s(?:for|in|on|in terms of)\s(?:the\s)?([\w\- ]{2,60}?)(?=\s*(?:[.,;:!?()\n]|\Z|and\b|as\b))",
                     text[mention.end : mention.end + 80], re.IGNORECASE)  # fmt: skip
    label = read_reply_score_label(after[1], names) if after else None
    return label.whose if label else None


SCORES_CONTRADICT = Missing.unreadable("different answers, and none is said to be the last word")
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


def read_prose_reply_score(
    text: str, scale: Scale, names: Mapping[str, str], least: MentionWeight = MentionWeight.BARE
) -> CriterionScore | None:
    """The one score that a plain text gives; None where it gives none."""
    if mentions_another_scale_in_reply(text, scale):
        return Missing.unreadable(f"it speaks of another scale than {scale}")
    text = remove_scale_echoes_from_reply(text, scale)
    found = find_reply_score_statements(text, scale, names)
    if least == MentionWeight.BARE and not found:
        found = _find_bare_reply_scores(text, scale, names)
        if found and find_judge_refusal(text):
            return Missing.unreadable("it abstains, and a number stands beside that")
    found = [one for one in found if one.weight >= least]
    if not found:
        return None
    named = [one for one in found if one.whose is not None and one.weight >= MentionWeight.LABEL]
    others = _count_other_reply_labels(text, names)
    if others and (named or (names and others > 1)):
        # Several things are scored: what is said of all of them is not said of this one.
        return settle_reply_score_statements(named) if named else _read_reply_score_before_breakdown(text, scale, least)
    return settle_reply_score_statements(found)


_OF_ALL = re.compile(r"\b(?:overall|total|average|mean|aggregate|sum)\b", re.IGNORECASE)


def _read_reply_score_before_breakdown(text: str, scale: Scale, least: MentionWeight) -> CriterionScore | None:
    """4 out of 5, on the first line, and then what it is made of."""
    opening = text.strip().split("\n", maxsplit=1)[0]
    if least > MentionWeight.BARE or _OF_ALL.search(opening) or _count_other_reply_labels(opening, {}):
        return None
    return read_prose_reply_score(opening, scale, {})


def find_reply_score_statements(text: str, scale: Scale, names: Mapping[str, str]) -> list[WeighedMention]:
    """Everything in the text that is said to be a score, in order."""
    all_mentions = sorted(find_score_mentions_in_reply(text, scale), key=lambda mention: mention.start)
    said = [mention for mention in all_mentions if not _LIST_IN_LINE.match(text, mention.start)]
    found = [one for mention in said if (one := weigh_reply_score_mention(text, mention, names))]
    found = [one for one in found if not one.mention.spelt or _counts_as_reply_score_word(text, one)]
    last = _find_last_line_reply_score(text, all_mentions)
    if last is None or not found:
        return found
    # It may be a quotation: beside a score or an abstention it weighs as much as that, and may contradict it.
    scores = ((one.weight, one.mention.score) for one in found)
    given = [weight for weight, score in scores if isinstance(score, Scored) or score.kind == "abstained"]
    return [*found, WeighedMention(last, max(given, default=MentionWeight.FINAL))]


def settle_reply_score_statements(found: Sequence[WeighedMention]) -> CriterionScore:
    """What the heaviest statements say, if they say one thing."""
    heaviest = max(one.weight for one in found)
    scores = [one.mention.score for one in found if one.weight == heaviest]
    read = {score.value if isinstance(score, Scored) else score.text for score in scores}
    return scores[-1] if len(read) == 1 else SCORES_CONTRADICT


def remove_scale_echoes_from_reply(text: str, scale: Scale) -> str:
    """The text without repetitions of the scale in brackets: Score (1-5): 4."""

    def keep(brackets: re.Match[str]) -> str:
        top = brackets[1] or brackets[2]
        return " " if re.fullmatch(r"[0-9]+", top) and int(top) == scale.max else brackets.group()

    return _IN_BRACKETS.sub(keep, text)


def mentions_another_scale_in_reply(text: str, scale: Scale) -> bool:
    """Whether the text speaks of a scale that ends elsewhere: 1 to 10 where 1 to 5 was asked."""
    tops = {int(next(top for top in found.groups() if top)) for found in _SCALE.finditer(text)}
    return any(top != scale.max and not (top == scale.max + 1 and scale.min == 0) for top in tops)


def _counts_as_reply_score_word(text: str, one: WeighedMention) -> bool:
    """A spelt number or a yes counts only where it is announced: "one" is often no number."""
    before = text[max(0, one.mention.start - 8) : one.mention.start]
    announced = re.search(r"(?:\bof|\bas|\bat|\ban?|\bit|\bis|:|给|打|评|得)\s?[\"'(]?\Z", before)
    return one.weight != MentionWeight.PHRASE or announced is not None


def _count_other_reply_labels(text: str, names: Mapping[str, str]) -> int:
    """How many other things are given a number of their own."""
    labels = {found[1].strip().casefold() for found in _OTHER_LABEL.finditer(text)}
    return sum(1 for label in labels if read_reply_score_label(label, names) is None and len(label.split()) <= 4)


def _find_last_line_reply_score(text: str, found: Sequence[ScoreMention]) -> ScoreMention | None:
    """A number that is all there is on the last line."""
    if not found:
        return None
    body = text.rstrip()
    line = body[body.rfind("\n") + 1 :]
    last = found[-1]
    before = line[: max(0, last.start - (len(body) - len(line)))]
    alone = last.start >= len(body) - len(line) and not before.strip(" \t\"'([-•")
    ends = not text[last.end :].strip(" \t\n.\"')]")
    return last if alone and ends and not _continues_list_in_reply(text, last) else None


def _continues_list_in_reply(text: str, mention: ScoreMention) -> bool:
    """Whether a number with a dot goes on with a list: the text was cut right after it."""
    if text[mention.end : mention.end + 1] not in (".", ")"):
        return False
    return any(True for _ in _LISTED.finditer(text, 0, mention.start)) or text[: mention.start].rstrip().endswith(":")


def _find_bare_reply_scores(text: str, scale: Scale, names: Mapping[str, str]) -> list[WeighedMention]:
    """A number that opens or closes the reply and that nothing else explains, or that follows its name of a level."""
    found = sorted(find_score_mentions_in_reply(text, scale), key=lambda mention: mention.start)
    if not found:
        return []
    readers = (_find_bracketed_reply_score, _find_trailing_reply_score, _find_last_line_reply_score)
    bare = [one for find in readers if (one := find(text, found))]
    bare += [one for one in (_find_leading_reply_score(text, found, scale),) if one]
    bare += _find_level_scores_in_reply(text, found, names)
    bare += _find_opening_yes_no_in_reply(text, found) if scale.yes_no else []
    return [WeighedMention(one, MentionWeight.BARE) for one in bare]


def _find_leading_reply_score(text: str, found: Sequence[ScoreMention], scale: Scale) -> ScoreMention | None:
    """2. The response … — but not the first item of a list, nor the question repeated."""
    first = found[0]
    if text[: first.start].strip(" \t\n\"'([-•#") or len({line[1] for line in _LISTED.finditer(text)}) > 1:
        return None
    rest = text[first.end :].split("\n", maxsplit=1)[0].strip()
    if not text[first.end :].strip():
        return first
    if not rest:
        stands_alone = text[first.end : first.end + 1] != "." or "\n" not in text.strip()
        return first if first.spelt or stands_alone else None
    in_words = text[first.start : first.end].lower() in NUMBER_WORDS
    goes_on = re.match(r"[.:,;)\]\"'(—–-]", rest) or (first.unit and _AFTER_UNIT.match(rest))
    if first.unit and len(found) > 1 and re.match(r"(?:for|because|since|as|due)\b", rest):
        return None  # 1 star for style, 3 for content
    if not goes_on or (rest[0] == "," and in_words):
        return None
    body = rest.lstrip(".:)]\"' ")
    read = [one.score.value if isinstance(one.score, Scored) else one.score.text for one in found[:2]]
    if body[:1].isdigit() and read[-1] != read[0]:
        return None
    if body.endswith("?") or "? " in body or re.match(r"[^\W\d][\w /&\-]{0,40}:", body):
        return None
    return None if rest[0] in ".)" and _may_begin_list_in_reply(text, first, body, scale) else first


_AFTER_UNIT = re.compile(r"!|(?:because|since|as|for|due)\b|(?:The|This|It|Its|I|While|Although|There|Overall)\b")
_FINDS_FAULT = re.compile(
    r"\b(?:not|no|none|nothing|never|neither|nor|without|hardly|barely|lack\w*|fail\w*|miss\w*|omits?|omitted|ignor\w+|"
    r"wrong\w*|poor\w*|bad\w*|weak\w*|dull|generic|vague|confus\w+|irrelevan\w+|unrelated|incoheren\w+|incorrect\w*|"
    r"inaccura\w+|incomplete|inconsisten\w+|unclear|uninteresting|unhelpful|unsupported|contradict\w*|nonsens\w+|"
    r"off-topic|disjointed|repetitive|false|fabricat\w+|hallucinat\w+)\b|n't\b",
    re.IGNORECASE,
)


def _may_begin_list_in_reply(text: str, first: ScoreMention, body: str, scale: Scale) -> bool:
    """A list begins with 1, and a text may be cut inside its first item.

    Where 1 is the lowest score and a whole paragraph then finds fault, it is the score: else only low scores were lost.
    """
    if text[first.start : first.end] != "1":
        return False
    if "\n" in text.strip():
        return True
    condemns = scale.min == 1 and body.endswith((".", "!", ")")) and _FINDS_FAULT.search(body)
    return len(body.split()) > 3 and not condemns


# Good: 3; Slightly related - 0.5; Excellent (5): …
_LEVEL_BEFORE = re.compile(
    r"(?:\A|\n)[ \t\-•\"']{0,6}([A-Za-z][A-Za-z \-]{1,40}?)[ \t]{0,2}(?::|[-–—](?=[ \t])|\()[ \t]{0,2}\Z"
)


def _find_level_scores_in_reply(
    text: str, found: Sequence[ScoreMention], names: Mapping[str, str]
) -> list[ScoreMention]:
    """The number after the name of a level that opens its line; a text that lists several levels gives none."""
    levels = []
    for mention in found:
        before = _LEVEL_BEFORE.search(text[max(0, mention.start - 60) : mention.start])
        if before and names_score_level_in_reply(before[1], names) and ENDS_WELL.match(text, mention.end):
            levels.append(mention)
    listed = any(_NEXT_LEVEL.match(text, mention.end) for mention in levels)
    return levels if len(levels) == 1 and not listed else []


def _find_opening_yes_no_in_reply(text: str, found: Sequence[ScoreMention]) -> list[ScoreMention]:
    """Every yes or no that opens a sentence: a reply that takes one back answers nothing."""
    words = [one for one in found if one.spelt and isinstance(one.score, Scored) and one.score.value in (0, 1)]
    opening = [one for one in words if re.search(r"(?:\A|[.!?\n])\s*\Z", text[max(0, one.start - 4) : one.start])]
    return [one for one in opening if re.match(r"\s*(?:\Z|[.,;:!\n])", text[one.end : one.end + 3])]


def _find_bracketed_reply_score(text: str, found: Sequence[ScoreMention]) -> ScoreMention | None:
    """The response is somewhat coherent (2). It …"""
    opening = re.match(r"[^.!?\n(]{0,60}\b(?:is|was|seems|appears)\b[^.!?\n(]{0,60}\((?=[0-9])", text)
    first = found[0]
    return first if opening and opening.end() == first.start and text[first.end : first.end + 2] == ")." else None


def _find_trailing_reply_score(text: str, found: Sequence[ScoreMention]) -> ScoreMention | None:
    """… of the conversation. 1"""
    last = found[-1]
    before = text[max(0, last.start - 40) : last.start]
    closes = re.search(r"[^\d\s][.!?]\s+\(?\Z|\s\(\Z|\A\s*(?:yes|no)[.,]?\s+\Z", before, re.IGNORECASE)
    after = text[last.end :].strip()
    if not closes or after.strip(" .)") or "\n" in after or (before.endswith("(") and not after.startswith(")")):
        return None
    if before.endswith("(") and re.search(r"\([0-9.]{1,4}\)\s?[,;]", before):
        return None  # Poor (1), good (3)
    return None if last.spelt or _continues_list_in_reply(text, last) else last
