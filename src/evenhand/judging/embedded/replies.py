"""Replies of the embedded judge in the form that every judge is asked for, and what it cannot answer at all."""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from evenhand.errors import RefusedError
from evenhand.judging.answer_form import ASKS_FOR_ABSENCE, CANNOT_ASSESS
from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import (
    EmbeddedDecision,
    explain_unjudgeable_claim,
    find_correctness_claim,
    judge_criterion_claim,
    judge_statement_claim,
)
from evenhand.judging.embedded.forms import judge_form_claim
from evenhand.judging.embedded.lexicon import load_judge_pattern
from evenhand.judging.embedded.named_things import split_claim_examples
from evenhand.judging.embedded.texts import JudgedText, shorten_judged_passage
from evenhand.model.scale import Anchor, Criterion
from evenhand.models.requests import Request, RequestSubject
from evenhand.wording import format_fraction, format_number_for_json

FURTHER_TEXT = {"individual": "feedback", "gate": "revision_hint"}  # What some dialogues ask for beside an answer.
MOST_TEXTS = 64  # Outputs and references kept ready; criteria of one output are asked one after another.
Answer = dict[str, object]


class EmbeddedReplier:
    """Answers requests by rules."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, JudgedText] = OrderedDict()
        self._turn = threading.Lock()  # Long rubrics are answered in a thread, others beside it.

    def reply(self, request: Request) -> str:
        """The reply, as JSON; a RefusedError where the request asks for more than answers to criteria."""
        about = request.about
        if about is None or not about.asked or request.dialogue in ("sampled", "likely"):
            raise RefusedError(f"embedded answers criteria about one output at a time; it cannot do {request.dialogue}")
        reply: dict[str, object]
        if request.labels:
            reply = {"responses": {one: self._answer_criteria(about, f"response-{one}") for one in request.labels}}
        else:
            tag = "submission" if "submission" in about.texts else "output"
            answers = self._answer_criteria(about, tag, FURTHER_TEXT.get(request.dialogue))
            reply = {**answers}
            if request.dialogue == "individual":
                asked = [criterion for key, criterion in about.asked if key == "criteria"]
                reply["revision_suggestions"] = _reply_with_suggestions(asked, answers["criteria"])
        return json.dumps(reply, ensure_ascii=False)

    def _answer_criteria(
        self, about: RequestSubject, tag: str, further: str | None = None
    ) -> dict[str, dict[str, Answer]]:
        """The answer to each criterion, under the key of the reply where it belongs."""
        text = self._prepare_text(about.texts[tag])
        reference, context = (
            self._prepare_text(about.texts[name]) if about.texts.get(name, "").strip() else None
            for name in ("reference", "context")
        )
        groups: dict[str, dict[str, Answer]] = {}
        for key, criterion in about.asked:
            answer = _answer_criterion_embedded(criterion, text, reference, context)
            if further and key == "criteria":
                reason = str(answer["reason"])
                answer[further] = f"{criterion.asks} {reason[:1].upper()}{reason[1:]}."
            groups.setdefault(key, {})[criterion.id] = answer
        return groups

    def _prepare_text(self, text: str) -> JudgedText:
        with self._turn:
            if text not in self._texts:
                self._texts[text] = JudgedText(text)
                if len(self._texts) > MOST_TEXTS:
                    self._texts.popitem(last=False)
            return self._texts[text]


def _answer_criterion_embedded(
    criterion: Criterion, text: JudgedText, reference: JudgedText | None, context: JudgedText | None
) -> Answer:
    if criterion.scale.yes_no:
        decision = judge_criterion_claim(criterion.asks, text, reference)
        answer = CANNOT_ASSESS if decision.holds is None else "yes" if decision.holds else "no"
        quote = decision.quote
        if decision.holds and not quote and not ASKS_FOR_ABSENCE.match(criterion.asks):
            quote = text.opening  # What is counted in the whole text begins there; what is absent has no quotation.
        return {"evidence": [quote] if quote else [], "reason": decision.reason, "answer": answer}
    placed = judge_scale_level(criterion, text, reference, context)
    value = CANNOT_ASSESS if placed.value is None else format_number_for_json(placed.value)
    bands = [one.id for one in criterion.scale.bands if placed.value is not None and one.min <= placed.value <= one.max]
    band = {"band": (*bands, CANNOT_ASSESS)[0]} if criterion.scale.bands else {}
    evidence = [placed.quote] if placed.quote else []
    return {"evidence": evidence, "reason": placed.reason, **band, "score": value}


def _reply_with_suggestions(asked: Sequence[Criterion], given: Mapping[str, Answer]) -> list[Answer]:
    """Two, as far as there are two dimensions: what is lacking first, then what a person or a model has to look at."""
    scores = {one.id: given[one.id].get("score") for one in asked}
    ranks = {id: float(score) if isinstance(score, (int, float)) else math.inf for id, score in scores.items()}
    found: list[Answer] = [
        {
            "problem": f"{criterion.id}: {given[criterion.id]['reason']}",
            "suggestion": f"Look at this again: {criterion.asks}",
            "severity": "medium" if ranks[criterion.id] < math.inf else "low",
        }
        for criterion in sorted(asked, key=lambda one: ranks[one.id])
    ]
    return found[:2]


LEAST_DECIDED = 4  # Statements that must be decided before a share of them says anything.
MOST_STATEMENTS = 60  # Statements of one text that are looked at.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePlacement:
    """Where on its scale a criterion lies; None where it cannot be told."""

    value: Fraction | None
    reason: str
    quote: str = ""


def judge_scale_level(
    criterion: Criterion, text: JudgedText, reference: JudgedText | None, context: JudgedText | None
) -> ScalePlacement:
    """A level of the criterion's scale, as far as it can be checked: by its anchors, then by other texts."""
    anchors = sorted(criterion.anchors, key=lambda one: -one.max)
    placed = (
        _place_embedded_by_anchors(criterion, anchors, text) if anchors and can_judge_anchor(anchors[0], text) else None
    )
    if placed is not None and placed.value is not None:
        return placed
    placed = _place_by_judged_texts(criterion, text, reference, context) or placed
    if placed is not None:
        return placed
    # No level; but where the question alone can be answered, that is told.
    decision = judge_criterion_claim(criterion.asks, text)
    if decision.holds is None:
        told = "it does not guess a level: rules can check neither its anchors nor a reference"
        return _leave_level_to_other_judge(told)
    word = "yes" if decision.holds else "no"
    return _leave_level_to_other_judge(
        f"it does not guess a level; to the question itself it says {word}: {decision.reason}"
    )


def can_judge_anchor(anchor: Anchor, text: JudgedText) -> bool:
    """Whether an anchor names something that can be looked for: a form, a value, a name, a quotation."""
    claim = extract_claim(anchor.text)
    return judge_form_claim(anchor.text, text) is not None or bool(claim.values or claim.quoted or claim.names)


def _place_embedded_by_anchors(criterion: Criterion, anchors: Sequence[Anchor], text: JudgedText) -> ScalePlacement:
    """The highest anchor that holds; one that cannot be told ends the search."""
    for anchor in anchors:
        if not can_judge_anchor(anchor, text):
            return _leave_level_to_other_judge(f"anchor “{anchor.text}”: it names nothing that could be looked for")
        decision = judge_criterion_claim(anchor.text, text)
        if decision.holds is None:
            return _leave_level_to_other_judge(f"anchor “{anchor.text}”: {decision.reason}")
        if decision.holds:
            value = _round_judged_level(anchor.min, criterion)
            reason = f"“{anchor.text}” holds: {decision.reason}"
            return ScalePlacement(value=value, reason=reason, quote=decision.quote)
    return _leave_level_to_other_judge("none of its anchors holds")


def _leave_level_to_other_judge(reason: str) -> ScalePlacement:
    return ScalePlacement(value=None, reason=reason)


def _place_by_judged_texts(
    criterion: Criterion, text: JudgedText, reference: JudgedText | None, context: JudgedText | None
) -> ScalePlacement | None:
    """What a reference or the material given shows; None where the criterion is not about them."""
    is_complete, is_true, by_material = _match_criterion_to_judged_texts(criterion)
    if is_true and by_material and not is_complete and context is not None:
        check = _judge_statement_claims(text, context)
        own = [(line, replace(decision, quote=line)) for line, decision in check.decided]
        told = f"sentences of the output are in the material given{check.describe_absent()}"
        return replace(check, decided=own).place(criterion, told)
    if reference is not None and load_judge_pattern("decisions", "asks_overall").search(criterion.asks):
        check = _judge_statement_claims(reference, text)
        share = f"{len(check.held)} of {len(check.decided)} statements of the reference are in it"
        told = f"a level for the whole is not guessed; of what could be decided, {share}{check.describe_absent()}"
        return _leave_level_to_other_judge(told)
    if not is_complete and not is_true:
        return None
    if reference is None:
        return _leave_level_to_other_judge("it needs a reference to check against, and none was given")
    check = _judge_statement_claims(reference, text)
    if is_complete:
        return check.place(criterion, f"statements of the reference are in it{check.describe_absent()}")
    taken_up = replace(check, decided=[one for one in check.decided if one[1].holds or one[1].against])
    told = "statements of the reference that it takes up are right"
    against = next((decision for _, decision in taken_up.decided if decision.against), None)
    if against:
        told += f"; one is not: {against.reason}, in “{shorten_judged_passage(against.quote, 80)}”"
    return taken_up.place(criterion, told)


def choose_evidence_text(criterion: Criterion) -> str:
    """Which text would give the criterion a level: "reference", "context", or none."""
    is_complete, is_true, by_material = _match_criterion_to_judged_texts(criterion)
    if load_judge_pattern("decisions", "asks_overall").search(criterion.asks) or not (is_complete or is_true):
        return ""
    return "context" if is_true and by_material and not is_complete else "reference"


def _match_criterion_to_judged_texts(criterion: Criterion) -> list[bool]:
    """Whether a criterion asks if all is there, if it is true, and if it agrees with what was given."""
    named = f"{criterion.id} {criterion.asks}"
    patterns = ("asks_if_complete", "asks_if_true", "asks_by_material")
    return [load_judge_pattern("decisions", name).search(named) is not None for name in patterns]


def _judge_statement_claims(statements: JudgedText, text: JudgedText) -> _EmbeddedStatementCheck:
    """Hold the statements of one text against another."""
    lines = [one.text for one in statements.prepared if len(one.words) > 3][:MOST_STATEMENTS]
    decided = [(line, judge_statement_claim(line, text)) for line in lines]
    return _EmbeddedStatementCheck(decided=[one for one in decided if one[1].holds is not None], asked=len(lines))


@dataclass(frozen=True, slots=True)
class _EmbeddedStatementCheck:
    """Statements of one text held against another: those that could be decided, of how many."""

    decided: list[tuple[str, EmbeddedDecision]]
    asked: int

    @property
    def held(self) -> list[EmbeddedDecision]:
        return [decision for _, decision in self.decided if decision.holds]

    def place(self, criterion: Criterion, told: str) -> ScalePlacement:
        """The share of the decided statements that hold, put onto the scale; no level where too few were decided."""
        held, decided = self.held, len(self.decided)
        reason, unclear = f"{len(held)} of {decided} {told}", self.asked - decided
        if decided < LEAST_DECIDED or 2 * unclear > decided:
            return _leave_level_to_other_judge(
                f"{unclear} of {self.asked} statements could not be decided; of the others, {reason}"
            )
        share = Fraction(len(held), decided)
        value = criterion.scale.min + share * (criterion.scale.max - criterion.scale.min)
        all_decisions = (*held, *(decision for _, decision in self.decided))
        quote = next((decision.quote for decision in all_decisions if decision.quote), "")
        return ScalePlacement(value=_round_judged_level(value, criterion), reason=reason, quote=quote)

    def describe_absent(self) -> str:
        """The first statement that was not found, where there is one."""
        absent = next((statement for statement, decision in self.decided if not decision.holds), "")
        return f"; not found: “{shorten_judged_passage(absent, 80)}”" if absent else ""


def _round_judged_level(value: Fraction, criterion: Criterion) -> Fraction:
    is_whole = criterion.scale.integers or bool(criterion.scale.bands)
    return Fraction(math.floor(value + Fraction(1, 2))) if is_whole else Fraction(round(value * 10), 10)


def explain_criterion_unfit_for_judge(criterion: Criterion, *, has_reference: bool, has_context: bool) -> str:
    """Why rules can give no answer to a criterion; empty where they may."""
    if criterion.scale.yes_no:
        return _explain_question_unfit_for_judge(criterion.asks, has_reference=has_reference)
    if criterion.anchors and all(can_judge_anchor(anchor, _prepare_any_judged_text()) for anchor in criterion.anchors):
        return ""
    needed = choose_evidence_text(criterion)
    if (needed == "reference" and has_reference) or (needed == "context" and (has_context or has_reference)):
        return ""
    least, most = format_fraction(criterion.scale.min), format_fraction(criterion.scale.max)
    scale = f"it asks for a {'band and a ' if criterion.scale.bands else ''}score from {least} to {most}"
    return f"{scale}, which takes a reference to check against" if needed else scale


def _explain_question_unfit_for_judge(asks: str, *, has_reference: bool) -> str:
    asks, _ = split_claim_examples(asks)
    claim = extract_claim(asks)
    if judge_form_claim(asks, _prepare_any_judged_text()) is not None or claim.quoted:
        return ""
    correctness = find_correctness_claim(asks, claim)
    if correctness:
        return "" if has_reference else f"what is “{correctness}” takes a reference, and there is none"
    if load_judge_pattern("claims", "mention").match(asks):
        return ""
    if "reference" in asks.lower() and not has_reference:
        return "it takes a reference, and there is none"
    return explain_unjudgeable_claim(asks, claim)


@cache
def _prepare_any_judged_text() -> JudgedText:
    """A check of form needs a text to look at; any will do to see whether there is such a check."""
    return JudgedText("It is a text of the usual kind, and that is all there is to it.")
