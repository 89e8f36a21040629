"""What speaks against shipping a treatment that scored higher: rule 7, most serious first."""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.compare.decision import (
    ShippingObjection,
    describe_compared_samples_short_of_gate,
    object_to_treatment_missing_gate,
    treatment_difference_text,
)
from evenhand.compare.facts import ComparedLayerFacts, CompareFacts, JudgeAgreement
from evenhand.compare.paired_rows import word_shared_judges_difference
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED
from evenhand.stats.ratings import Agreement
from evenhand.wording import (
    format_number,
    format_percent_tenths,
    format_plural,
    format_score,
    format_signed,
    format_signed_beside,
    join_names,
    word_layer,
    word_layers_in_sentence,
)

LEAST_JUDGE_AGREEMENT = 0.4


def list_shipping_objections(facts: CompareFacts) -> list[ShippingObjection]:
    """All of them; the first decides."""
    found = []
    if facts.shared_judges_disagree:
        found.append(object_to_treatment_by_shared_judges(facts))
    if low := {name: layer for name, layer in facts.layers.items() if layer.below or layer.worse}:
        reasons = tuple(reason for name, layer in low.items() for reason in _list_low_layer_reasons(name, layer))
        step = f"Raise {word_layers_in_sentence(low)} before shipping."
        below, fell = (any(layer.below for layer in low.values()), any(layer.worse for layer in low.values()))
        what = join_names([*(["a layer is below its gate"] if below else []), *(["a layer fell"] if fell else [])])
        found.append(ShippingObjection(what=what, reasons=reasons, next_step=step))
    if missed := object_to_treatment_missing_gate(facts.treatment, facts.other_gates):
        found.append(missed)
    if facts.dropped:
        lost = f"{format_plural(facts.dropped, 'output')} of {facts.treatment}"
        reasons = (f"{lost} alone could not be scored, and left the comparison.",)
        step = f"Get a score for every output of {facts.treatment}, then compare again."
        found.append(ShippingObjection(what="the treatment lost outputs", reasons=reasons, next_step=step))
    if facts.large_losses is not None and facts.large_losses.too_many:
        allowed = f"{(facts.large_losses.allowed or 0.0) * 100:g}%"
        what = f"large losses could still make up more than {allowed} of the {facts.unit}s"
        step = f"Score more {facts.unit}s with both variants, and look at those that lost most."
        found.append(ShippingObjection(what=what, reasons=describe_large_treatment_losses(facts), next_step=step))
    if disagreement := describe_verdict_against_clusters(facts):
        step = "Look at the large clusters alone: they and the small ones moved in opposite directions."
        what = "samples and clusters disagree"
        found.append(ShippingObjection(what=what, reasons=disagreement, next_step=step))
    apart = [(name, one.pearson) for name, one in facts.agreed.items() if do_judges_put_verdict_in_doubt(one)]
    if apart:
        reasons = tuple(
            f"The judges of {name} disagree: mean correlation {format_number(one.value)}, "
            f"below {LEAST_JUDGE_AGREEMENT}."
            for name, one in apart
            if isinstance(one, Agreement)
        )
        step = "Read the outputs the judges differ most on, and sharpen the rubric or change a judge."
        found.append(ShippingObjection(what="the judges disagree", reasons=reasons, next_step=step))
    if facts.together is not None and not facts.together.significant:
        step = "Look at the layers one by one, or add samples."
        reasons = ("All layers together do not differ significantly.",) if facts.together.p is not None else ()
        found.append(ShippingObjection(what="the layers together do not differ", reasons=reasons, next_step=step))
    return found if facts.powered else [*found, _object_to_shipping_on_few_samples(facts)]


def _list_low_layer_reasons(name: str, layer: ComparedLayerFacts) -> Iterator[str]:
    if layer.below:
        mean, gate = (format_score(one, beside=layer.gate) for one in (layer.treatment_mean, layer.gate))
        short = describe_compared_samples_short_of_gate(layer.short)
        yield f"The {word_layer(name)} layer is {mean}, the gate is {gate}{short}."
    if layer.worse:
        yield lower_treatment_layer_reason(name, layer.difference)


def object_to_treatment_by_shared_judges(facts: CompareFacts) -> ShippingObjection:
    """That the judges which scored both outputs of a sample do not see what all judges together do."""
    step = "Let every judge score every output (panel: {self_votes: true}), or add a judge that wrote none."
    what = "the judges that scored both do not bear it out"
    says = word_shared_judges_difference(facts.shared_judges) if facts.shared_judges else what
    return ShippingObjection(what=what, says=says, reasons=(), next_step=step)


def _object_to_shipping_on_few_samples(facts: CompareFacts) -> ShippingObjection:
    matters = facts.smallest_effect
    reason = f"{facts.counted_pairs}: below {LEAST_NEEDED} the whole interval must lie at {matters:g} points or more"
    if facts.composite is not None and facts.composite.bounded:
        reason += f", and it begins at {format_signed_beside(facts.composite.low, matters)}"
    more = format_plural(LEAST_NEEDED - facts.units, f"more {facts.unit}")
    step = f"Score {more} with both variants to confirm it."
    return ShippingObjection(what="the samples are few", reasons=(f"{reason}.",), next_step=step)


def describe_verdict_against_clusters(facts: CompareFacts) -> tuple[str, ...]:
    """That the mean over samples and the mean over clusters have opposite signs, where they do."""
    if facts.clusters is None or not facts.clusters.means_disagree:
        return ()
    samples, clusters = (
        format_signed(one) for one in (facts.clusters.mean_over_samples, facts.clusters.mean_over_clusters)
    )
    return (f"Every sample counted once, the difference is {samples}; every cluster counted once, it is {clusters}.",)


def lower_treatment_layer_reason(name: str, found: Difference | None) -> str:
    """That a layer is lower, as a reason."""
    return f"The {word_layer(name)} layer is significantly lower: {treatment_difference_text(found)}."


def do_judges_put_verdict_in_doubt(agreed: JudgeAgreement) -> bool:
    """Whether the judges of a variant contradict each other; judges without spread cannot."""
    return isinstance(agreed.pearson, Agreement) and agreed.pearson.value < LEAST_JUDGE_AGREEMENT - 1e-9


def describe_large_treatment_losses(facts: CompareFacts) -> tuple[str, ...]:
    """Which share of samples may lose much although few or none were seen to."""
    losses = facts.large_losses
    if losses is None:
        return ()
    seen = f"{losses.seen:,} of {format_plural(facts.units, facts.unit)}" if losses.seen else f"No {facts.unit}"
    lost = (
        "has a sample that lost"
        if facts.clusters and losses.seen < 2
        else "have a sample that lost"
        if facts.clusters
        else "lost"
    )
    return (f"{seen} {lost} {losses.points:g} points; up to {format_percent_tenths(losses.upper)} could.",)
