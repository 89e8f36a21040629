"""The rules that make a verdict, in order: the first that fits decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from evenhand.compare.decision import (
    CompareVerdict,
    describe_compared_samples_short_of_gate,
    object_to_treatment_missing_gate,
    treatment_difference_chance_text,
    treatment_difference_points_text,
    treatment_difference_text,
)
from evenhand.compare.facts import (
    GATE_TOLERANCE,
    ComparedClusters,
    CompareFacts,
)
from evenhand.compare.shipping import (
    advise_against_position_picks,
    advise_for_margin,
    count_more_samples_for_verdict,
    describe_large_treatment_losses,
    describe_verdict_against_clusters,
    list_shipping_objections,
    lower_treatment_layer_reason,
    object_to_treatment_by_shared_judges,
    word_treatment_points,
)
from evenhand.stats.power import LEAST_NEEDED
from evenhand.wording import (
    format_p_value,
    format_percent,
    format_plural,
    format_score,
    format_signed_beside,
    join_names,
    word_layer,
    word_layers_in_sentence,
    word_p_value,
)

FEWEST_PAIRS = 5
FEWEST_CLUSTERS = 6  # With five, even five equal signs come up in 1 of 16 comparisons.
LARGEST_CLUSTER_SHARE = 0.5
LOST_OUTPUTS_LEVEL = 0.01
UNCLEAR_VERDICTS: tuple[CompareVerdict, ...] = ("NOISE", "UNDERPOWERED")  # Neither better nor worse.


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRuling:
    """A verdict, the rule that made it, why, and what to do next; `sure` where not the composite decided."""

    verdict: CompareVerdict
    rule: str
    says: str
    why: tuple[str, ...]
    next_step: str
    sure: str = ""


def rule_verdict(facts: CompareFacts) -> VerdictRuling:
    """The first rule that fits; what it leaves open may still be shown not to be worse by more than was asked."""
    rules: tuple[Callable[[CompareFacts], VerdictRuling | None], ...] = (
        _rule_verdict_lost_outputs,
        _rule_verdict_too_few_pairs,
        _rule_verdict_composite_lower,
        _rule_verdict_layer_below_gate,
        _rule_verdict_shared_judges,
        _rule_verdict_layers_together,
        _rule_no_difference,
    )
    found = next(filter(None, (rule(facts) for rule in rules)), None) or _rule_verdict_composite_higher(facts)
    return found if found.verdict not in UNCLEAR_VERDICTS else _rule_verdict_not_worse(facts, found)


def _rule_verdict_not_worse(facts: CompareFacts, found: VerdictRuling) -> VerdictRuling:
    asked = facts.not_worse
    if asked is None:
        return found
    level, low = f"{asked.level * 100:.4g}%", format_signed_beside(asked.low, -asked.by)
    bound = f"the {level} lower bound, which holds for every distribution of scores, is {low}"
    if not asked.holds:
        few = f" It takes {format_plural(asked.needed, facts.unit)} at least, even if all differences were 0."
        why = f"It may be worse by more than {asked.by:g} points: {bound}.{few if facts.units < asked.needed else ''}"
        return replace(found, why=(*found.why, why), next_step=advise_for_margin(facts, asked) or found.next_step)
    gate = object_to_treatment_missing_gate(facts.treatment, facts.other_gates)
    return replace(
        found,
        says=f"{found.says}, and {facts.treatment} is not worse by more than {asked.by:g} points"
        + (f", but {gate.says}" if gate else ""),
        why=(*found.why, f"Not worse by more than {asked.by:g}: {bound}.", *describe_large_treatment_losses(facts)),
        next_step=gate.next_step if gate else f"Ship {facts.treatment} if it is cheaper, faster or simpler.",
    )


def _rule_verdict_lost_outputs(facts: CompareFacts) -> VerdictRuling | None:
    if facts.lost.p >= LOST_OUTPUTS_LEVEL:
        return None
    lost = facts.lost
    why = (
        f"{facts.treatment} has no score for {format_plural(lost.lost_by_treatment, facts.unit)} that {facts.control} "
        f"scored, and {facts.control} for {lost.lost_by_control:,} that {facts.treatment} scored "
        f"({format_p_value(lost.p)})."
    )
    return VerdictRuling(
        verdict="REGRESS",
        rule="2. the treatment lost outputs",
        says=f"{facts.treatment} has no score on {format_plural(lost.lost_by_treatment, facts.unit)} that "
        f"{facts.control} has scores for",
        why=(why,),
        next_step=f"Find out why outputs of {facts.treatment} have no score (see the failures), then compare again.",
        sure=f"If both lost outputs equally often, so many losses on one side would come up in "
        f"{word_p_value(facts.lost.p)} ({format_p_value(facts.lost.p)}).",
    )


def _rule_verdict_too_few_pairs(facts: CompareFacts) -> VerdictRuling | None:
    if facts.clusters is not None and facts.pairs >= FEWEST_PAIRS:
        return _rule_verdict_too_few_clusters(facts, facts.clusters)
    if facts.pairs >= FEWEST_PAIRS:
        return None
    return VerdictRuling(
        verdict="UNDERPOWERED",
        rule="3. fewer than 5 pairs",
        says=f"{format_plural(facts.pairs, 'pair')} are too few to compare {facts.treatment} with {facts.control}"
        if facts.pairs != 1
        else f"one pair is too few to compare {facts.treatment} with {facts.control}",
        why=(f"Below {FEWEST_PAIRS} pairs nothing is significant.",),
        next_step=f"Score at least {max(facts.needed, LEAST_NEEDED):,} {facts.unit}s with both variants.",
    )


def _rule_verdict_too_few_clusters(facts: CompareFacts, clusters: ComparedClusters) -> VerdictRuling | None:
    """No test of clustered samples keeps its level with so few of them, or where one outweighs all others."""
    if clusters.count < FEWEST_CLUSTERS:
        rule = f"3. fewer than {FEWEST_CLUSTERS} clusters"
        why = f"Below {FEWEST_CLUSTERS} clusters nothing is significant: samples of one cluster are not independent."
    elif clusters.largest_share > LARGEST_CLUSTER_SHARE + GATE_TOLERANCE:
        rule = "3. one cluster holds more than half of the samples"
        why = f"One cluster holds {format_percent(clusters.largest_share)} of the samples, and would decide alone."
    else:
        return None
    return VerdictRuling(
        verdict="UNDERPOWERED",
        rule=rule,
        says=f"{facts.counted_pairs} are too few to compare {facts.treatment} with {facts.control}",
        why=(why,),
        next_step="Add samples of other clusters, or set `per: cluster` to give each cluster one vote."
        if clusters.count >= FEWEST_CLUSTERS
        else f"Score samples of at least {max(facts.needed, LEAST_NEEDED):,} clusters with both variants.",
    )


def _rule_verdict_composite_lower(facts: CompareFacts) -> VerdictRuling | None:
    if not facts.worse or facts.shared_judges_disagree:
        return None
    return VerdictRuling(
        verdict="REGRESS",
        rule=f"4. the {facts.what} is significantly lower",
        says=f"{facts.treatment} is worse than {facts.control} ({word_treatment_points(facts)})",
        why=(
            f"The {facts.what} is significantly lower.",
            *_describe_fallen_verdict_layers(facts),
            *describe_verdict_against_clusters(facts),
        ),
        next_step=f"Do not ship {facts.treatment}; look first at the samples that lost most.",
    )


def _rule_verdict_layer_below_gate(facts: CompareFacts) -> VerdictRuling | None:
    fallen = {name: layer for name, layer in facts.layers.items() if layer.fell_below_gate}
    if not fallen:
        return None
    why = _describe_fallen_verdict_layers(facts)
    sure = [name for name, layer in fallen.items() if layer.worse_among_all]
    first = next(iter(sure or fallen))
    chance = treatment_difference_chance_text(
        fallen[first].difference, f"the two were equal in the {word_layer(first)} layer"
    )
    if sure:
        return VerdictRuling(
            verdict="REGRESS",
            rule="5. a layer fell below its gate, significantly",
            says=f"{facts.treatment} fell below the gate in {word_layers_in_sentence(sure)}",
            why=why,
            next_step=f"Do not ship {facts.treatment}; raise {word_layers_in_sentence(sure)} first.",
            sure=chance,
        )
    if facts.shared_judges_disagree and any(layer.worse for layer in fallen.values()):
        doubt = object_to_treatment_by_shared_judges(facts)
        return VerdictRuling(
            verdict="CAUTIOUS",
            rule=f"5. a layer fell below its gate, but {doubt.what}",
            says=f"{facts.treatment} fell below the gate in {word_layers_in_sentence(fallen)}, but {doubt.says}",
            why=why,
            next_step=doubt.next_step,
            sure=chance,
        )
    return VerdictRuling(
        verdict="CAUTIOUS",
        rule="5. a layer fell below its gate, not significantly",
        says=f"{facts.treatment} fell below the gate in {word_layers_in_sentence(fallen)}, which may be chance",
        why=why,
        next_step=f"Look at {word_layers_in_sentence(fallen)} before shipping, "
        "or add samples to see whether the fall is real.",
        sure=chance,
    )


def _describe_fallen_verdict_layers(facts: CompareFacts) -> tuple[str, ...]:
    """Each layer that reached its gate with the control and does not with the treatment."""
    return tuple(
        f"The {word_layer(name)} layer fell below its gate of {format_score(layer.gate, beside=layer.gate)}: from "
        f"{format_score(layer.control.mean, beside=layer.gate)} to "
        f"{format_score(layer.treatment.mean, beside=layer.gate)} ({treatment_difference_text(layer.difference)})"
        f"{describe_compared_samples_short_of_gate(layer.short)}."
        for name, layer in facts.layers.items()
        if layer.fell_below_gate
    )


def _rule_verdict_shared_judges(facts: CompareFacts) -> VerdictRuling | None:
    """What the judges do not bear out that scored both outputs of a sample may come from who was allowed to vote."""
    if facts.better or not facts.shared_judges_disagree:  # What holds back a PROGRESS is told with all that does.
        return None
    all_judges = "4. the {} is significantly lower" if facts.worse else "6. the {} does not differ"
    rule = f"{all_judges.format(facts.what)}, but the judges that scored both do not bear it out"
    found = object_to_treatment_by_shared_judges(facts)
    compared = "is worse than" if facts.worse else "cannot be told from"
    points = treatment_difference_points_text(facts.composite)
    return VerdictRuling(
        verdict="CAUTIOUS",
        rule=rule,
        says=f"{facts.treatment} {compared} {facts.control} ({points}), but {found.says}",
        why=(f"The {facts.what} is significantly lower.",)
        if facts.worse
        else (_no_treatment_difference_reason(facts),),
        next_step=found.next_step,
    )


def _rule_verdict_layers_together(facts: CompareFacts) -> VerdictRuling | None:
    """Only where it was asked for: layers that moved against each other leave the composite where it was."""
    lower = any(layer.worse for layer in facts.layers.values())  # The next rule names that layer.
    if facts.better or lower or facts.together is None or not facts.together.significant:
        return None
    return VerdictRuling(
        verdict="CAUTIOUS",
        rule=f"6. the {facts.what} does not differ, but the layers together do",
        says=f"{facts.treatment} differs from {facts.control} in its layers, and the {facts.what} hides it",
        why=(_no_treatment_difference_reason(facts), "The layers together differ significantly."),
        next_step="Look at the layers one by one: some went up where others went down.",
    )


def _rule_no_difference(facts: CompareFacts) -> VerdictRuling | None:
    """Rule 6, whose first half holds back and whose second says whether a difference that matters is ruled out."""
    if facts.better:
        return None
    worse = {name: layer.difference for name, layer in facts.layers.items() if layer.worse}
    if not worse:
        return _rule_underpowered(facts) or _rule_noise(facts)
    return VerdictRuling(
        verdict="CAUTIOUS",
        rule=f"6. the {facts.what} does not differ, but a layer is significantly lower",
        says=f"{facts.treatment} is lower than {facts.control} in {word_layers_in_sentence(worse)}",
        why=(
            _no_treatment_difference_reason(facts),
            *(lower_treatment_layer_reason(name, found) for name, found in worse.items()),
        ),
        next_step=f"Look at what {facts.treatment} lost in {word_layers_in_sentence(worse)} before shipping.",
        sure=treatment_difference_chance_text(
            next(iter(worse.values())), f"the two were equal in the {word_layer(next(iter(worse)))} layer"
        ),
    )


def _no_treatment_difference_reason(facts: CompareFacts) -> str:
    return f"The {facts.what} does not differ significantly."


def _rule_underpowered(facts: CompareFacts) -> VerdictRuling | None:
    if not facts.few and not facts.reaches_effect and not facts.hides_effect:
        return None
    open_end = "the interval still reaches a difference that matters"
    if facts.hides_effect and not facts.reaches_effect:
        open_end = "answers by position could hide a difference that matters"
    takes = f"ruling out a difference takes at least {LEAST_NEEDED}{' clusters' if facts.clusters else ''}"
    why = (f"{facts.counted_pairs}: {takes}.",) if facts.few else ()
    few = f"there are fewer than {LEAST_NEEDED} {'clusters' if facts.clusters else 'pairs'}"
    return VerdictRuling(
        verdict="UNDERPOWERED",
        rule=f"6. the {facts.what} does not differ, and {few if facts.few else open_end}",
        says=f"{facts.counted_pairs} cannot tell {facts.treatment} from {facts.control} "
        f"({treatment_difference_points_text(facts.composite)})",
        why=(
            _no_treatment_difference_reason(facts),
            *why,
            *_reached_treatment_effect_reason(facts),
            *describe_verdict_against_clusters(facts),
        ),
        next_step=advise_against_position_picks(facts) or _advise_more_samples_for_verdict(facts),
    )


def _reached_treatment_effect_reason(facts: CompareFacts) -> tuple[str, ...]:
    """Which ends of the interval hold a difference that would matter."""
    found, matters = facts.open_difference, facts.smallest_effect
    if found is None:
        return ()
    if not found.bounded:
        return (f"A difference of {matters:g} points is not ruled out: the interval has no bounds.",)
    ends = [
        format_signed_beside(end, limit)
        for end, limit in ((found.low, -matters), (found.high, matters))
        if abs(end) >= matters - GATE_TOLERANCE and end * limit > 0
    ]
    return (f"A difference of {matters:g} points is not ruled out: the interval reaches {join_names(ends)}.",)


def _advise_more_samples_for_verdict(facts: CompareFacts) -> str:
    more = format_plural(count_more_samples_for_verdict(facts), f"more {facts.unit}")
    if facts.units < facts.needed:
        show = f"{facts.needed:,} show a difference of {facts.smallest_effect:g} points four times out of five"
        return f"Score {more} with both variants: {show}."
    settles = "that settles it four times out of five if the difference is as it was seen"
    return f"Score about {more} with both variants: {settles}."


def _rule_noise(facts: CompareFacts) -> VerdictRuling:
    return VerdictRuling(
        verdict="NOISE",
        rule=f"6. the {facts.what} does not differ",
        says=(
            f"{facts.treatment} cannot be told from {facts.control} "
            f"({treatment_difference_points_text(facts.composite)})"
        ),
        why=(
            _no_treatment_difference_reason(facts),
            _ruled_out_treatment_effect_reason(facts),
            *describe_verdict_against_clusters(facts),
        ),
        next_step=(
            f"Keep the cheaper of the two; to see a difference below {facts.smallest_effect:g} points takes more "
            "samples (evenhand compare RUN --power)."
        ),
    )


def _ruled_out_treatment_effect_reason(facts: CompareFacts) -> str:
    found, matters = facts.composite, facts.smallest_effect
    says = f"The interval rules out a difference of {matters:g} points or more"
    if found is None or found.low == found.high:
        return f"{says}."
    low, high = format_signed_beside(found.low, -matters), format_signed_beside(found.high, matters)
    return f"{says}: it ends at {low} and {high}."


def _rule_verdict_composite_higher(facts: CompareFacts) -> VerdictRuling:
    """Rule 7: all that speaks against shipping is told, the first of it decides."""
    why = f"The {facts.what} is significantly higher."
    says = f"{facts.treatment} is better than {facts.control} ({word_treatment_points(facts)})"
    held = list_shipping_objections(facts)
    if not held:
        return VerdictRuling(
            verdict="PROGRESS",
            rule=f"7. the {facts.what} is significantly higher, and nothing holds it back",
            says=says,
            why=(why, *describe_large_treatment_losses(facts)),
            next_step=f"Ship {facts.treatment}.",
        )
    return VerdictRuling(
        verdict="CAUTIOUS",
        rule=f"7. the {facts.what} is significantly higher, but {held[0].what}",
        says=f"{says}, but {held[0].says or held[0].what}",
        why=(why, *(reason for one in held for reason in one.reasons)),
        next_step=held[0].next_step,
    )
