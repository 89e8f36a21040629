"""Answers to a form, held against the text they are about: an invented quotation makes an answer unreadable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.judging._as_asked import answers_as_asked, as_asked
from evenhand.judging._ask import Reading
from evenhand.judging._form import Group
from evenhand.judging._prompts import Prompts
from evenhand.judging._quotes import Quoted
from evenhand.judging.reading import Answer, Wanted, answers_from, read_answers
from evenhand.model import CriterionScore, Evidence, Judgment, Scored, Unscored

MOST_QUOTES = 10  # Three are asked for; looking up thousands in a long text would take a while.


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One answer with its evidence found in the text."""

    score: CriterionScore
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
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
            feedback=self.text("feedback"),
        )


def read_form(text: str, groups: Sequence[Group]) -> tuple[dict[str, Answer], object]:
    """The answers in a reply to a form, by item, and the JSON they were read from, if any."""
    asked = as_asked(text, groups)
    if asked is not None:
        return asked
    found = read_answers(text, _wanted(groups))
    return _by_item(found.answers, found.data, groups), found.data


def read_part(said: object, groups: Sequence[Group]) -> dict[str, Answer]:
    """The same for what a reply says of one output among several: its JSON, or its section of prose."""
    asked = answers_as_asked(said, groups)
    if asked is not None:
        return asked
    wanted = _wanted(groups)
    given = read_answers(said, wanted).answers if isinstance(said, str) else answers_from(said, wanted)
    return _by_item(given, said, groups)


def _wanted(groups: Sequence[Group]) -> tuple[Wanted, ...]:
    """All that is asked, together: a group of one, read alone, would take any score without a name for its own."""
    return groups[0].wanted if len(groups) == 1 else tuple(one for group in groups for one in group.wanted)


def _by_item(given: Mapping[str, Answer], data: object, groups: Sequence[Group]) -> dict[str, Answer]:
    ids = [one.id for group in groups for one in group.wanted]
    shared = len(set(ids)) < len(ids)
    answers: dict[str, Answer] = {}
    for group in groups:
        own = _below(data, group) if shared else given
        answers |= {group.item(one.id): own[one.id] for one in group.wanted if one.id in own}
    return answers


def _below(data: object, group: Group) -> Mapping[str, Answer]:
    """Where a statement and a criterion share an id, each is looked for under its own key."""
    below = data.get(group.key) if isinstance(data, dict) else None
    return answers_from(below, group.wanted) if isinstance(below, dict) else {}


def hold(
    answers: Mapping[str, Answer], groups: Sequence[Group], text: Quoted, prompts: Prompts, *, needs_evidence: bool
) -> Reading[Item]:
    """Every answer that was asked for with its evidence located; what is absent or invented is a fault."""
    items: dict[str, Item] = {}
    faults: dict[str, str] = {}
    for group in groups:
        for wanted in group.wanted:
            name = group.item(wanted.id)
            if name not in answers:
                faults[name] = prompts.say("missing")
                continue
            answer = answers[name]
            needed = needs_evidence and group.key == "criteria" and not _is_no(wanted.scale.yes_no, answer)
            item = held(answer, text, prompts, needed=needed)
            if isinstance(item, Item):
                items[name] = item
            else:
                faults[name] = item
    return Reading(items=items, faults=faults)


def held(answer: Answer, text: Quoted, prompts: Prompts, *, needed: bool) -> Item | str:
    """The answer with its evidence located, or what is wrong with it.

    An abstention needs no evidence. One real quotation is enough: what was invented beside it is left out.
    """
    score = answer.score
    if isinstance(score, Unscored):
        if score.why.startswith("abstained"):
            return Item(score=score, reason=answer.reason, more=answer.more)
        return score.why.removeprefix("unreadable: ")
    quotes = [quote for quote in answer.evidence[:MOST_QUOTES] if quote.strip()]
    found = tuple(place for quote in quotes if (place := text.find(quote)))
    if quotes and not found:
        return prompts.say("not_quoted", quote=repr(quotes[0][:80]))
    if needed and not found:
        return prompts.say("no_evidence")
    kept = Scored(score.value, score.band, answer.reason)
    return Item(score=kept, reason=answer.reason, evidence=found, more=answer.more)


def _is_no(yes_no: bool, answer: Answer) -> bool:
    """What is absent cannot be quoted."""
    return yes_no and isinstance(answer.score, Scored) and answer.score.value == 0
