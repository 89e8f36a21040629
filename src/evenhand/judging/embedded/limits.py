"""What the embedded judge cannot answer, whatever the output says."""

from __future__ import annotations

from functools import cache

from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import explain_unjudgeable_claim, find_correctness_claim
from evenhand.judging.embedded.forms import judge_form_claim
from evenhand.judging.embedded.lexicon import load_judge_pattern
from evenhand.judging.embedded.named_things import split_claim_examples
from evenhand.judging.embedded.replies import can_judge_anchor, choose_evidence_text
from evenhand.judging.embedded.texts import JudgedText
from evenhand.model.scale import Criterion
from evenhand.wording import format_fraction


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
