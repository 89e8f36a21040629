"""Answers to a form checked against the text they are about: an invented quotation makes an answer unreadable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar
from unicodedata import category

from evenhand.judging.answer_form import ADVICE_KEY, CANNOT_ASSESS, ITEM_PREFIXES, AnswerGroup
from evenhand.judging.prompts import JudgePrompts
from evenhand.judging.questions import JudgeReplyReading
from evenhand.judging.reading.json_answers import read_json_reply_answers
from evenhand.judging.reading.reply_reader import read_reply_answers
from evenhand.judging.reading.reply_text import parse_clean_reply_object
from evenhand.judging.reading.score_labels import ReadAnswer, WantedReplyAnswer
from evenhand.judging.results import SEVERITIES, Severity, Suggestion
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored
from evenhand.model.scorecard import Evidence, Judgment

MOST_QUOTES = 10  # Three are asked for; looking up thousands in a long text would take a while.


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class EvidencedJudgment:
    """One answer with its evidence found in the text."""

    score: CriterionScore
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    absent: tuple[str, ...] = ()
    from_trace: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A further text of the answer, such as its feedback; empty where it has none."""
        given = self.more.get(name)
        return given.strip() if isinstance(given, str) else ""

    def judgment(self, judge: str, output: str, criterion: str) -> Judgment:
        """The item as a judge's answer on a criterion."""
        return Judgment(
            judge=judge,
            output=output,
            criterion=criterion,
            score=self.score,
            reason=self.reason,
            evidence=self.evidence,
            absent=self.absent,
            from_trace=self.from_trace,
            feedback=self.text("feedback") if self.more else "",
        )


def read_form_reply(text: str, groups: Sequence[AnswerGroup]) -> tuple[dict[str, ReadAnswer], object]:
    """The answers in a reply to a form, by item, and the JSON they were read from, if any."""
    data = parse_clean_reply_object(text.strip())
    asked = read_reply_as_asked(data, groups)
    if asked is not None:
        return asked, data
    found = read_reply_answers(text, _list_wanted_reply_answers(groups))
    return _key_reply_answers_by_item(found.answers, found.data, groups), found.data


def read_reply_form_part(said: object, groups: Sequence[AnswerGroup]) -> dict[str, ReadAnswer]:
    """The same for what a reply says of one output among several: its JSON, or its section of prose."""
    asked = read_reply_as_asked(said, groups)
    if asked is not None:
        return asked
    wanted = _list_wanted_reply_answers(groups)
    given = read_reply_answers(said, wanted).answers if isinstance(said, str) else read_json_reply_answers(said, wanted)
    return _key_reply_answers_by_item(given, said, groups)


def _list_wanted_reply_answers(groups: Sequence[AnswerGroup]) -> tuple[WantedReplyAnswer, ...]:
    """All that is asked, together: a group of one, read alone, would take any score without a name for its own."""
    return groups[0].wanted if len(groups) == 1 else tuple(one for group in groups for one in group.wanted)


def _key_reply_answers_by_item(
    given: Mapping[str, ReadAnswer], data: object, groups: Sequence[AnswerGroup]
) -> dict[str, ReadAnswer]:
    ids = [one.id for group in groups for one in group.wanted]
    shared = len(set(ids)) < len(ids)
    answers: dict[str, ReadAnswer] = {}
    for group in groups:
        own = given
        if shared:  # Where a statement and a criterion share an id, each is looked for under its own key.
            below = data.get(group.key) if isinstance(data, dict) else None
            own = read_json_reply_answers(below, group.wanted) if isinstance(below, dict) else {}
        prefix = ITEM_PREFIXES[group.key]
        answers |= {prefix + one.id: own[one.id] for one in group.wanted if one.id in own}
    return answers


def verify_form_evidence(
    answers: Mapping[str, ReadAnswer],
    groups: Sequence[AnswerGroup],
    text: QuotedEvidenceText,
    prompts: JudgePrompts,
    *,
    needs_evidence: bool,
) -> JudgeReplyReading[EvidencedJudgment]:
    """Every answer that was asked for with its evidence located; what is absent or invented is a fault.

    An abstention needs no evidence. One real quotation is enough: what was invented beside it is left out. What is
    stated to be absent is evidence for a low answer, and for a yes where something is not to be there.
    """
    items: dict[str, EvidencedJudgment] = {}
    faults: dict[str, Missing] = {}
    for key, wanted in [(group.key, wanted) for group in groups for wanted in group.wanted]:
        name = ITEM_PREFIXES[key] + wanted.id
        answer = answers.get(name)
        if answer is None:
            faults[name] = Missing.unreadable(prompts.say("missing"))
            continue
        score = answer.score
        if isinstance(score, Missing):
            if score.kind == "abstained":
                items[name] = EvidencedJudgment(score=score, reason=answer.reason, more=answer.more)
            else:
                faults[name] = replace(score, kind="unreadable")
            continue
        found, from_trace, stated, invented = _sort_judgment_evidence(answer.evidence, text)
        quoted = found or from_trace
        absent = tuple(stated) if stated and _may_judgment_lack_evidence(key, wanted, score) else ()
        needed = needs_evidence and key == "criteria" and not quoted
        if needed and wanted.scale.yes_no and _may_judgment_lack_evidence(key, wanted, score):
            # A bare no needs nothing, nor does a yes where something is not to be there: what is absent is not quoted.
            needed = False
        if invented and not quoted and not absent:
            faults[name] = Missing.unreadable(prompts.say("not_quoted", quote="…"), repr(invented[0][:80]))
        elif needed and not absent:
            faults[name] = Missing.unreadable(prompts.say("absent_high" if stated else "no_evidence"))
        else:
            items[name] = EvidencedJudgment(
                score=Scored(score.value, score.band, answer.reason),
                reason=answer.reason,
                evidence=tuple(found),
                absent=absent,
                from_trace=tuple(from_trace),
                more=answer.more,
            )
    return JudgeReplyReading(items=items, faults=faults)


def _may_judgment_lack_evidence(key: str, wanted: WantedReplyAnswer, score: Scored) -> bool:
    """Whether something may be lacking: a score below the middle, a no; with a fault that is looked for, also a yes."""
    low = key == "red_flags" or wanted.scale.share(score.value) < _MIDDLE
    return low or (wanted.of_absence and wanted.scale.yes_no)


# "absent: a source for the figures", in the words that prompts offer and in those that judges take for them.
_ABSENT = re.compile(
    r"[\W_]{0,4}(?:stated )?(?:absent|missing|not present|not found|缺失|缺少|未出现)\s{0,4}[:：]\s*(\S.*)", re.I | re.S
)
_MIDDLE = Fraction(1, 2)  # Of the scale: a score below its middle is a low one.


def _sort_judgment_evidence(
    given: Sequence[str], text: QuotedEvidenceText
) -> tuple[list[Evidence], list[str], list[str], list[str]]:
    """The evidence of an answer: quotations that were found, in the text or only in its trace, what is stated to be
    absent, and what was invented.

    A statement of absence that stands in the text word for word is a quotation like any other.
    """
    found: list[Evidence] = []
    from_trace: list[str] = []
    absent: list[str] = []
    invented: list[str] = []
    for quote in given[:MOST_QUOTES]:
        place = text.find(quote)
        if place is not None:
            found.append(place)
        elif text.trace and QuotedEvidenceText(text.trace).find(quote) is not None:
            from_trace.append(quote.strip())
        elif stated := _ABSENT.fullmatch(quote.strip()):
            absent.append(stated[1].strip(' "”」'))
        elif is_quotation_evidence(quote):
            invented.append(quote)
    return found, from_trace, absent, invented


_YES_NO_VALUES = {"yes": True, "no": False, "是": True, "否": False}
_CANNOT = (CANNOT_ASSESS, "无法判断")


def read_reply_as_asked(data: object, groups: Sequence[AnswerGroup]) -> dict[str, ReadAnswer] | None:
    """The answers of an object with all that was asked for and nothing else in its place."""
    if type(data) is not dict:
        return None
    answers: dict[str, ReadAnswer] = {}
    for group in groups:
        below = data.get(group.key)
        if type(below) is not dict or len(below) != len(group.wanted):
            return None
        for wanted in group.wanted:
            answer = _read_exact_reply_answer(below.get(wanted.shown_as or wanted.id), wanted.scale, group.more)
            if answer is None:
                return None
            answers[ITEM_PREFIXES[group.key] + wanted.id] = answer
    return answers


def _read_exact_reply_answer(given: object, scale: Scale, more: tuple[str, ...]) -> ReadAnswer | None:
    """One answer with its evidence, its reason, its further texts and its score, and no other keys."""
    last = ("band", "score") if scale.bands else ("answer",) if scale.yes_no else ("score",)
    if type(given) is not dict or len(given) != 2 + len(more) + len(last):
        return None
    reason, evidence, said = given.get("reason"), given.get("evidence"), given.get(last[0])
    if not isinstance(evidence, list) or not isinstance(reason, str):
        return None
    for text in evidence:
        if not isinstance(text, str):
            return None
    for name in more:
        if not isinstance(given.get(name), str):
            return None
    score: CriterionScore
    if said in _CANNOT:
        score = Missing("abstained", reason or CANNOT_ASSESS)
    elif scale.bands:
        score = scale.read({"band": said, "score": given.get("score")})
    elif scale.yes_no and isinstance(said, str) and said in _YES_NO_VALUES:
        score = scale.read(_YES_NO_VALUES[said])
    elif scale.yes_no or said is None or isinstance(said, str):
        return None
    else:
        score = scale.read(said)
    return ReadAnswer(score, reason, tuple(evidence), {name: given[name] for name in more} if more else {})


# Left out on both sides: quotation marks of any kind, and characters that nobody sees.
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_MARKS = "\"'`´“”„‟‘’‚‛«»‹›「」『』＂＇"
_IGNORED = re.compile(f"[{re.escape(_UNSEEN + _MARKS)}]+")
SHORT_QUOTE_LETTERS = 3  # A quotation with fewer letters or digits must be a whole word: "42" is not quoted from 1426.
_SPACE = re.compile(r"\s+")
# A neighbour that makes a word or a number longer; between characters of Chinese or Japanese there is no border.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_BEFORE = rf"(?<![^\W{_IDEOGRAPHS}])(?<!\d[.,])"
_BEHIND = rf"(?![^\W{_IDEOGRAPHS}])(?![.,]\d)"


def is_quotation_evidence(quotation: str) -> bool:
    """Whether there is a letter, a digit or a sign such as € in it: a full stop occurs everywhere and shows nothing."""
    return any(category(character) in ("So", "Sc") or category(character)[0] in "LN" for character in quotation)


@dataclass
class QuotedEvidenceText:
    """A text in which quotations are looked up, white space and quotation marks aside."""

    text: str
    trace: str = ""  # How it came about, as the judge saw it: may be quoted too, but is not the text.

    def find(self, quotation: str) -> Evidence | None:
        """Where the quotation stands, or None where it does not occur."""
        quotation = quotation.strip()
        shows = any(map(str.isalnum, quotation)) or is_quotation_evidence(quotation)  # As nearly every one, at once.
        if not quotation or not (shows or quotation == self.text.strip()):
            return None
        start = quotation[:SHORT_QUOTE_LETTERS]
        is_long = len(start) == SHORT_QUOTE_LETTERS and start.isalnum()
        at = self.text.find(quotation) if is_long else _find_quotation(quotation, self.text)
        if at >= 0:
            return Evidence(quotation, at, at + len(quotation))
        wanted = _SPACE.sub(" ", _IGNORED.sub("", quotation)).strip()
        plain, places = self._flat
        at = _find_quotation(wanted, plain) if wanted else -1
        return None if at < 0 else Evidence(quotation, places[at], places[at + len(wanted) - 1] + 1)

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """The text without what is ignored, and where each of its characters stands."""
        kept: list[str] = []
        places: list[int] = []
        for place, character in enumerate(self.text):
            space = character.isspace()
            if character in _UNSEEN or character in _MARKS or (space and kept and kept[-1] == " "):
                continue
            kept.append(" " if space else character)
            places.append(place)
        return "".join(kept), places


def _find_quotation(wanted: str, text: str) -> int:
    """Where it stands in the text, a short one as a whole word; -1 where it does not."""
    if sum(map(str.isalnum, wanted)) >= SHORT_QUOTE_LETTERS:
        return text.find(wanted)
    found = re.search(rf"{_BEFORE if wanted[0].isalnum() else ''}{re.escape(wanted)}"
                      rf"{_BEHIND if wanted[-1].isalnum() else ''}", text)  # fmt: skip
    return found.start() if found else -1


RevisionAdvice = tuple[Suggestion, ...]
T = TypeVar("T")


MOST_SUGGESTIONS = 2
FEW_SUGGESTIONS = "fewer suggestions"  # The key of what there is where two were asked for.


def read_judge_suggestions(
    reading: JudgeReplyReading[T | RevisionAdvice], prompts: JudgePrompts
) -> JudgeReplyReading[T | RevisionAdvice]:
    """The reading with its two suggestions, of more the two most severe; with the fault that there are fewer.

    One alone is kept beside the fault, for where the judge gives no other when asked again.
    """
    given = reading.data.get(ADVICE_KEY) if isinstance(reading.data, dict) else None
    found = [one for entry in given if (one := _read_judge_suggestion(entry))] if isinstance(given, list) else []
    advice = pick_severest_reply_suggestions(found)
    if len(advice) == MOST_SUGGESTIONS:
        return replace(reading, items={**reading.items, ADVICE_KEY: advice})
    some: dict[str, RevisionAdvice] = {FEW_SUGGESTIONS: advice} if advice else {}
    faults = {**reading.faults, ADVICE_KEY: Missing.unreadable(prompts.say("suggestions"))}
    return replace(reading, items={**reading.items, **some}, faults=faults)


def pick_severest_reply_suggestions(given: Iterable[Suggestion]) -> RevisionAdvice:
    """The two most severe of some suggestions, each said once."""
    return tuple(sorted(dict.fromkeys(given), key=lambda one: SEVERITIES.index(one.severity)))[:MOST_SUGGESTIONS]


def note_few_judge_suggestions(judge: str, advice: RevisionAdvice, why: str) -> tuple[str, ...]:
    """What the author is told where a judge has fewer than two suggestions."""
    if len(advice) >= MOST_SUGGESTIONS:
        return ()
    return (f"{judge}: one suggestion, two were asked for",) if advice else (f"{judge}: no suggestions ({why})",)


_SEVERITY_WORDS: dict[str, Severity] = {
    "high": "high", "medium": "medium", "low": "low", "高": "high", "中": "medium", "低": "low",
}  # fmt: skip


def _read_judge_suggestion(entry: object) -> Suggestion | None:
    if not isinstance(entry, dict):
        return None
    problem, suggestion, severity = (entry.get(name) for name in ("problem", "suggestion", "severity"))
    known = _SEVERITY_WORDS.get(severity.strip().lower()) if isinstance(severity, str) else None
    if not isinstance(problem, str) or not isinstance(suggestion, str) or known is None:
        return None
    if not problem.strip() or not suggestion.strip():
        return None
    return Suggestion(problem=problem.strip(), suggestion=suggestion.strip(), severity=known)
