"""What speaks against shipping a treatment that scored higher: rule 7, most serious first."""

from __future__ import annotations

from evenhand.compare.decision import ShippingObjection, describe_difference, object_to_missed_gate
from evenhand.compare.facts import CompareFacts, JudgeAgreement
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED
from evenhand.stats.ratings import Agreement
from evenhand.wording import format_plural, format_score, join_names

LEAST_JUDGE_AGREEMENT = 0.4


def list_shipping_objections(facts: CompareFacts) -> list[ShippingObjection]:
    """All of them; the first decides."""
    objections = (
        _object_to_low_layer(facts),
        _object_to_lost_outputs(facts),
        _object_to_judge_disagreement(facts),
        _object_to_few_samples(facts),
        object_to_missed_gate(facts.treatment, facts.other_gates),
    )
    return [one for one in objections if one]


def _object_to_low_layer(facts: CompareFacts) -> ShippingObjection | None:
    low = {name: layer for name, layer in facts.layers.items() if layer.below or layer.worse}
    if not low:
        return None
    reasons = tuple(
        f"Layer {name} is below its gate: {format_score(layer.treatment_mean)}, "
        f"and {format_score(layer.gate)} is asked."
        if layer.below
        else describe_lower_layer(name, layer.difference)
        for name, layer in low.items()
    )
    step = f"Bring {join_names(low)} up before shipping."
    return ShippingObjection(what="a layer is low", reasons=reasons, next_step=step)


def _object_to_lost_outputs(facts: CompareFacts) -> ShippingObjection | None:
    if not facts.dropped:
        return None
    lost = format_plural(facts.dropped, "output")
    return ShippingObjection(
        what="the treatment lost outputs",
        reasons=(f"{lost} of {facts.treatment} alone could not be scored, and left the comparison.",),
        next_step=f"Get a score for every output of {facts.treatment}, then compare again.",
    )


def _object_to_judge_disagreement(facts: CompareFacts) -> ShippingObjection | None:
    apart = [(name, one.pearson) for name, one in facts.agreed.items() if do_compared_judges_disagree(one)]
    reasons = tuple(
        f"The judges of {name} disagree: mean correlation {format_score(found.value)}, below {LEAST_JUDGE_AGREEMENT}."
        for name, found in apart
        if isinstance(found, Agreement)
    )
    step = "Read the outputs the judges differ most on, and sharpen the rubric or change a judge."
    return ShippingObjection(what="the judges disagree", reasons=reasons, next_step=step) if reasons else None


def _object_to_few_samples(facts: CompareFacts) -> ShippingObjection | None:
    if facts.pairs >= facts.needed:
        return None
    step = f"Score {format_plural(facts.needed - facts.pairs, 'more sample')} with both variants to confirm it."
    return ShippingObjection(what="the samples are few", reasons=(describe_needed_pairs(facts),), next_step=step)


def describe_needed_pairs(facts: CompareFacts) -> str:
    """Why it takes so many samples."""
    pairs = format_plural(facts.pairs, "pair")
    if facts.power is None or facts.needed == LEAST_NEEDED:
        return f"{pairs}, and the power band begins at {LEAST_NEEDED}."
    return (
        f"{pairs}; with differences this scattered (standard deviation {format_score(facts.power.sd)}) it takes "
        f"{facts.needed:,} to see a difference of {facts.power.smallest_effect:g} points four times out of five."
    )


def describe_lower_layer(name: str, found: Difference | None) -> str:
    """That a layer is lower, as a reason."""
    return f"Layer {name} is significantly lower: {describe_difference(found)}."


def do_compared_judges_disagree(agreed: JudgeAgreement) -> bool:
    """Whether the judges of a variant contradict each other; judges without spread cannot."""
    return isinstance(agreed.pearson, Agreement) and agreed.pearson.value < LEAST_JUDGE_AGREEMENT - 1e-9
