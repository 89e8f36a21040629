"""What is said beside a verdict: objections to shipping a treatment (rule 7, most serious first), how many
more samples it takes, and four badges.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isfinite
from statistics import NormalDist

from evenhand.compare.decision import (
    Badge,
    BadgeColour,
    ShippingObjection,
    describe_compared_samples_short_of_gate,
    object_to_treatment_missing_gate,
    treatment_difference_points_text,
    treatment_difference_text,
)
from evenhand.compare.facts import (
    SIGNIFICANCE_LEVEL,
    ComparedLayerFacts,
    CompareFacts,
    JudgeAgreement,
    NotWorseResult,
    adjusted_treatments_p_value_text,
    does_treatment_effect_reach,
)
from evenhand.compare.paired_rows import word_shared_judges_difference
from evenhand.stats.arrays import Undefined
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED, USUAL_POWER, count_pairs_for_scale_bound
from evenhand.stats.ratings import AGREED, Agreement, band
from evenhand.wording import (
    format_number,
    format_percent_tenths,
    format_plural,
    format_rounded,
    format_score,
    format_signed,
    format_signed_beside,
    join_names,
    word_layer,
    word_layers_in_sentence,
)

LEAST_JUDGE_AGREEMENT = 0.4


def word_treatment_points(facts: CompareFacts) -> str:
    """The difference of a headline, and that it is a small one where the interval rules out one that matters."""
    points = treatment_difference_points_text(facts.composite)
    if facts.composite is None or does_treatment_effect_reach(facts.composite, facts.smallest_effect):
        return points
    return f"{points}, less than the smallest effect of {facts.smallest_effect:g}"


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
    if unsure := {name: layer for name, layer in facts.layers.items() if layer.open}:
        what = "a layer is not known to pass its gate"
        reasons = tuple(_explain_open_layer_gate(facts, name, layer) for name, layer in unsure.items())
        found.append(ShippingObjection(what=what, reasons=reasons, next_step=_advise_scoring_every_output(facts)))
    if missed := object_to_treatment_missing_gate(facts.treatment, facts.other_gates):
        found.append(missed)
    if facts.dropped:
        lost = f"{format_plural(facts.dropped, 'output')} of {facts.treatment}"
        reasons = (f"{lost} alone could not be scored, and left the comparison.",)
        step = _advise_scoring_every_output(facts)
        says, what = f"{facts.treatment} lost outputs", "the treatment lost outputs"
        found.append(ShippingObjection(what=what, says=says, reasons=reasons, next_step=step))
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
        step = f"Look at the layers one by one, or add {facts.unit}s."
        reasons = ("All layers together do not differ significantly.",) if facts.together.p is not None else ()
        found.append(ShippingObjection(what="the layers together do not differ", reasons=reasons, next_step=step))
    return found if facts.powered else [*found, _object_to_shipping_on_few_samples(facts)]


def _list_low_layer_reasons(name: str, layer: ComparedLayerFacts) -> Iterator[str]:
    if layer.below:
        mean, gate = (format_score(one, beside=layer.gate) for one in (layer.treatment.mean, layer.gate))
        short = describe_compared_samples_short_of_gate(layer.short)
        yield f"The {word_layer(name)} layer is {mean}, the gate is {gate}{short}."
    if layer.worse:
        yield lower_treatment_layer_reason(name, layer.difference)


def _explain_open_layer_gate(facts: CompareFacts, name: str, layer: ComparedLayerFacts) -> str:
    reached = layer.treatment
    mean, lowest, gate = (format_score(one, beside=layer.gate) for one in (reached.mean, reached.lowest, layer.gate))
    have = "has" if reached.missing == 1 else "have"
    without = f"{format_plural(reached.missing, 'output')} of {facts.treatment} {have} no score"
    worst = f"with the lowest for each it would be {lowest}, below the gate of {gate}"
    return f"The {word_layer(name)} layer is {mean}, and {without}: {worst}."


def _advise_scoring_every_output(facts: CompareFacts) -> str:
    return f"Get a score for every output of {facts.treatment}, then compare again."


def object_to_treatment_by_shared_judges(facts: CompareFacts) -> ShippingObjection:
    """That the judges which scored both outputs of a sample do not see what all judges together do."""
    step = "Let every judge score every output (panel: {self_votes: true}), or add a judge that wrote none."
    what = "the judges that scored both do not bear it out"
    says = word_shared_judges_difference(facts.shared_judges) if facts.shared_judges else what
    return ShippingObjection(what=what, says=says, reasons=(), next_step=step)


def _object_to_shipping_on_few_samples(facts: CompareFacts) -> ShippingObjection:
    matters = facts.smallest_effect
    below = f"below {LEAST_NEEDED}{' clusters' if facts.clusters else ''}"
    reason = f"{facts.counted_pairs}: {below} the whole interval must lie at {matters:g} points or more"
    if facts.composite is not None and facts.composite.bounded:
        reason += f", and it begins at {format_signed_beside(facts.composite.low, matters)}"
    more = format_plural(LEAST_NEEDED - facts.units, f"more {facts.unit}")
    step = f"Score {more} with both variants to confirm it."
    return ShippingObjection(what=f"the {facts.unit}s are few", reasons=(f"{reason}.",), next_step=step)


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


def describe_position_picks(facts: CompareFacts) -> tuple[str, ...]:
    """The judges of pairs that followed the position, and how far off that may leave the difference."""
    if not facts.picks:
        return ()
    told = [
        f"{one.judge} picked by position in {one.followed:,} of {format_plural(one.pairs, 'pair')}"
        for one in facts.picks
    ]
    hidden = f" of up to {format_rounded(facts.hidden, 2)} points" if isfinite(facts.hidden) else ""
    counted = (
        f"such answers say nothing about which output is better, count as ties, and could hide a difference{hidden}"
    )
    return (f"{join_names(told)}: {counted}.",)


def advise_against_position_picks(facts: CompareFacts) -> str:
    """What to do where no number of samples would settle it; empty where more of them could."""
    if not facts.hides_effect:
        return ""
    judges = join_names([one.judge for one in facts.picks])
    return f"Ask another judge than {judges}: answers that go by position settle nothing, however many there are."


def advise_for_margin(facts: CompareFacts, asked: NotWorseResult) -> str:
    """What to do where it was asked whether a treatment is not worse, and it may be; empty where samples do not decide.

    As many more as could show it at all; where differences scatter, as many as narrow the bound enough, should the
    truth be what was seen. A bound from equal differences shrinks as fast as their number grows, others by its root.
    """
    if facts.composite is None or facts.hides_effect:
        return ""
    estimate, margin = facts.composite.estimate, f"{asked.by:g} points"
    room = asked.by + estimate
    if room <= 0:
        return f"Keep {facts.control}: {facts.treatment} was lower by {margin} or more in these {facts.unit}s."
    shrinks = ((estimate - asked.low) / room) ** (2 if facts.composite.sd else 1)
    wanted = max(asked.needed, ceil(facts.units * shrinks), facts.units + 1)
    more = format_plural(wanted - facts.units, f"more {facts.unit}")
    if wanted == asked.needed:
        return f"Score at least {more} with both variants: fewer cannot rule out a loss of more than {margin}."
    return (
        f"Score about {more} with both variants: that rules out a loss of more than {margin} if the rest is like these."
    )


def count_more_samples_for_verdict(facts: CompareFacts) -> int:
    """How many more samples the next step asks for, where the interval leaves open whether there is a difference.

    First as many as show `smallest_effect` four times out of five. Where these are there, as many as narrow the
    interval enough, with the same chance, that it leaves out 0 or `smallest_effect`, should the truth be what was seen.
    """
    found = facts.composite
    if found is None or facts.units < facts.needed:
        return max(1, facts.needed - facts.units)
    normal = NormalDist()
    alarm, seen = normal.inv_cdf(1 - SIGNIFICANCE_LEVEL / 2), normal.inv_cdf(USUAL_POWER)
    shown = normal.inv_cdf(1 - min(facts.p or 1.0, 0.999) / 2) / alarm
    reach, room = max(found.high - found.estimate, found.estimate - found.low), facts.smallest_effect
    ruled_out = (room - abs(found.estimate)) / reach if reach else 1.0
    if found.is_scale_bound:
        return max(1, _count_units_for_scale_bound(facts, found) - facts.units)
    narrower = ((alarm + seen) / alarm / max(shown, ruled_out)) ** 2
    return max(1, ceil(facts.units * (narrower - 1)))


def _count_units_for_scale_bound(facts: CompareFacts, found: Difference) -> int:
    """At how many units the interval leaves out 0, or `smallest_effect`, should the rest be as equal as these are."""
    seen, span = abs(found.estimate), facts.span
    assert span is not None  # Else there is no bound on a scale.
    toward, beyond = found.estimate - found.low, found.high - found.estimate
    if found.estimate < 0:
        toward, beyond = beyond, toward
    ways = ((seen, span + seen, toward), (facts.smallest_effect - seen, span - seen, beyond))
    wanted = [
        # What a few others leave open shrinks about as fast as the number grows.
        ceil(facts.units * reach / away) if found.sd else count_pairs_for_scale_bound(away, room, level=found.level)
        for away, room, reach in ways
        if 0 < away < room
    ]
    return min(wanted, default=facts.units)


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


_BADGE_COLOURS: tuple[BadgeColour, ...] = ("green", "amber", "red")


def grade_treatment_by_badges(facts: CompareFacts) -> tuple[Badge, ...]:
    """Judges agree, difference significant, saturated, human-aligned."""
    return (
        _grade_treatment_agreement(facts),
        _grade_treatment_significance(facts),
        _grade_treatment_saturation(facts),
        grade_treatment_human_alignment(facts.aligned),
    )


def _grade_treatment_agreement(facts: CompareFacts) -> Badge:
    """The variant that its judges agree on least speaks for both."""
    seen = {
        name: (agreed.pearson.value, agreed)
        for name, agreed in facts.agreed.items()
        if isinstance(agreed.pearson, Agreement)
    }
    if not seen:
        why = {name: one.pearson.why for name, one in facts.agreed.items() if isinstance(one.pearson, Undefined)}
        each = [f"{reason} on {name}" for name, reason in why.items()]
        says = "; ".join(each if len(set(why.values())) > 1 else dict.fromkeys(why.values())) or "fewer than two judges"
        hint = (
            "Score more outputs that differ with all judges." if why else "Ask a second judge, on outputs that differ."
        )
        return _make_treatment_grade_badge("judges agree", "grey", None, says, hint)
    name = max(
        seen, key=lambda one: (_BADGE_COLOURS.index(_grade_compared_variant_judges(seen[one][1])), -seen[one][0])
    )
    correlation, agreed = seen[name]
    says = f"mean correlation {format_number(correlation)} of {agreed.judges} judges on {name}"
    if isinstance(agreed.alpha, Agreement):
        says += f", Krippendorff's α {format_number(agreed.alpha.value)}"
    advice = _advise_on_judge_agreement(correlation, agreed)
    return _make_treatment_grade_badge(
        "judges agree", _grade_compared_variant_judges(agreed), correlation, says, advice
    )


def _advise_on_judge_agreement(correlation: float, agreed: JudgeAgreement) -> str:
    """What is still to be reached; judges that correlate well differ in level, which no clearer rubric may change."""
    if not isinstance(agreed.alpha, Agreement):
        wanted = f"a mean correlation of {LEAST_JUDGE_AGREEMENT}" + (f" and an α of {AGREED}" if agreed.alpha else "")
    elif correlation < LEAST_JUDGE_AGREEMENT:
        wanted = f"a mean correlation of {LEAST_JUDGE_AGREEMENT} and an α of {AGREED}"
    elif correlation < AGREED:
        wanted = f"an α of {AGREED}"
    else:
        return f"They order outputs alike and differ in level{_LEVEL_ADVICE[agreed.normalised]}."
    return f"Sharpen the rubric until the judges reach {wanted}."


_LEVEL_ADVICE = {
    None: ": anchor each point of the scale, so that it means the same to every judge",
    False: ": let the panel step normalise (normalise: z)",
    True: ", which normalise: z takes out of the score; α is of what they gave",
}


def _grade_compared_variant_judges(agreed: JudgeAgreement) -> BadgeColour:
    if do_judges_put_verdict_in_doubt(agreed):
        return "red"
    return band(agreed.alpha.value) if isinstance(agreed.alpha, Agreement) else "green"


def _grade_treatment_significance(facts: CompareFacts) -> Badge:
    name = "difference significant"
    if facts.composite is None or facts.p is None:
        says = f"{format_plural(facts.pairs, 'pair')}: nothing to test"
        return _make_treatment_grade_badge(name, "grey", None, says, "Score the same samples with both variants.")
    says = treatment_difference_text(facts.composite) + adjusted_treatments_p_value_text(facts)
    colour: BadgeColour = "green" if facts.significant else "red"
    return _make_treatment_grade_badge(name, colour, facts.p, says, "To be significant, p must be below 0.05.")


def _grade_treatment_saturation(facts: CompareFacts) -> Badge:
    found = facts.saturation
    if found is None or found.changed is None:
        advice = f"It takes at least {LEAST_NEEDED} {facts.unit}s."
        return _make_treatment_grade_badge("saturated", "grey", None, f"too few {facts.unit}s to tell", advice)
    width = format_percent_tenths(found.changed)
    says = f"the last 30% of the {facts.unit}s changed the interval's width by at most {width} per tenth"
    if found.moved is not None:
        says += f" and moved the estimate by {format_percent_tenths(found.moved)} of the half-width"
    colour: BadgeColour = "green" if found.saturated else "red"
    advice = f"To be saturated, these must be below 10% and 50%, with at least {LEAST_NEEDED} {facts.unit}s."
    return _make_treatment_grade_badge("saturated", colour, found.changed, says, advice)


def grade_treatment_human_alignment(found: Agreement | Undefined | None) -> Badge:
    """How far panel and people agree; grey where there are no labels."""
    name = "human-aligned"
    if found is None:
        step = "Have people score some of the outputs: evenhand calibrate labels.jsonl RUN."
        return _make_treatment_grade_badge(name, "grey", None, "no labels", step)
    if isinstance(found, Undefined):
        return _make_treatment_grade_badge(name, "grey", None, found.why, "Have people score more of the outputs.")
    outputs = format_plural(found.n, "output")
    says = f"Krippendorff's α {format_number(found.value)} between panel and people, on {outputs}"
    advice = f"Sharpen the rubric, or choose judges by evenhand calibrate, until α reaches {AGREED}."
    return _make_treatment_grade_badge(name, band(found.value), found.value, says, advice)


def _make_treatment_grade_badge(name: str, colour: BadgeColour, value: float | None, says: str, advice: str) -> Badge:
    return Badge(name=name, colour=colour, value=value, says=says, advice="" if colour == "green" else advice)
