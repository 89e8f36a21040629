"""Facts and rulings become a decision: the worst verdict is the headline, the best PROGRESS is named, four badges
are given.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.compare.decision import (
    VERDICTS_WORST_FIRST,
    Badge,
    BadgeColour,
    CompareDecision,
    Comparison,
    GateState,
    LayerVerdict,
    VariantColumn,
    describe_difference,
    describe_difference_chance,
    describe_points,
)
from evenhand.compare.facts import CompareFacts, JudgeAgreement
from evenhand.compare.measure import DecisionSettings
from evenhand.compare.rules import (
    LEAST_JUDGE_AGREEMENT,
    UNDECIDED_VERDICTS,
    apply_not_worse_margin,
    do_judges_disagree,
    rule_verdict,
)
from evenhand.stats.arrays import Undefined
from evenhand.stats.means import mean_interval
from evenhand.stats.ratings import AGREED, Agreement, band
from evenhand.wording import format_p_value, format_percent_tenths, format_plural, format_score, join_names


def conclude_decision(facts: Sequence[CompareFacts], setting: DecisionSettings) -> CompareDecision:
    """The decision over all treatments."""
    comparisons = tuple(_conclude_comparison(one) for one in facts)
    worst = min(comparisons, key=lambda one: VERDICTS_WORST_FIRST.index(one.verdict))
    best = max((one for one in comparisons if one.verdict == "PROGRESS"), key=_composite_estimate, default=None)
    also = ""
    if best and len(facts) > 1:
        also = f" Best of {len(facts)} treatments: {best.treatment} ({describe_points(best.composite)})."
    return CompareDecision(
        verdict=worst.verdict,
        control=setting.control,
        headline=worst.headline + also,
        sure=worst.sure,
        comparisons=comparisons,
        gates=setting.gates,
        best=best.treatment if best else None,
        exit_code=0 if all(one.passed for one in comparisons) else 1,
    )


LOWEST_COMPOSITE, HIGHEST_COMPOSITE = 1.0, 5.0  # The ends of the composite's scale: a mean is never off it.


def conclude_solo_decision(
    column: VariantColumn, clusters: Sequence[int], setting: DecisionSettings
) -> CompareDecision:
    """SOLO: the state of the gates, and nothing to compare with."""
    states = setting.gates[setting.control]
    scored = [(score, cluster) for score, cluster in zip(column.composite, clusters, strict=True) if score is not None]
    return CompareDecision(
        verdict="SOLO",
        control=setting.control,
        headline=f"SOLO: {setting.control} stands alone. {_describe_gate_states(states, len(scored))}",
        sure=_describe_solo_mean(scored),
        comparisons=(),
        gates=setting.gates,
        best=None,
        exit_code=0 if scored and all(state.passed for state in states) else 1,
    )


def _describe_solo_mean(scored: Sequence[tuple[float, int]]) -> str:
    if len({cluster for _, cluster in scored}) < 2:
        return "There is nothing to compare it with, and too few samples to say how sure its mean is."
    mean = mean_interval([score for score, _ in scored], clusters=[cluster for _, cluster in scored])
    return (
        f"There is nothing to compare it with; its mean composite is {format_score(mean.estimate)}, 95 % interval "
        f"{format_score(max(LOWEST_COMPOSITE, mean.low))} to "
        f"{format_score(min(HIGHEST_COMPOSITE, mean.high))}, from {format_plural(mean.n, 'sample')}."
    )


def _describe_gate_states(states: Sequence[GateState], scored: int) -> str:
    if not scored:
        return "Nothing could be scored."
    failed = [
        f"{state.gate} ({format_score(state.mean)}, {format_score(state.min)} asked)"
        for state in states
        if not state.passed
    ]
    if failed:
        return f"Below the gate: {join_names(failed)}."
    return f"All gates passed: {join_names(state.gate for state in states)}." if states else "It has no gates."


def _conclude_comparison(facts: CompareFacts) -> Comparison:
    found = apply_not_worse_margin(facts, rule_verdict(facts))
    return Comparison(
        treatment=facts.treatment,
        control=facts.control,
        verdict=found.verdict,
        headline=f"{found.verdict}: {found.says}.",
        sure=found.sure
        or describe_difference_chance(facts.composite, "the two were equal", _describe_adjusted_p_value(facts)),
        rule=found.rule,
        reasons=(_describe_pair_counts(facts), *_describe_measured_difference(facts), *found.why),
        next_step=found.next_step,
        composite=facts.composite,
        p=facts.p,
        layers={name: layer.difference for name, layer in facts.layers.items()},
        layer_verdicts={name: _conclude_layer_verdict(facts.facts_of_layer(name)) for name in facts.layers},
        criteria=facts.criteria,
        spread=facts.spread,
        not_worse=facts.not_worse if found.verdict in UNDECIDED_VERDICTS else None,
        pairs=facts.pairs,
        lost_by_treatment=facts.lost.lost_by_treatment,
        lost_by_control=facts.lost.lost_by_control,
        wins=facts.wins,
        ties=facts.ties,
        losses=facts.losses,
        power=facts.power,
        saturation=facts.saturation,
        badges=build_compare_badges(facts),
    )


def _conclude_layer_verdict(facts: CompareFacts) -> LayerVerdict:
    found = rule_verdict(facts)
    reasons = (*_describe_measured_difference(facts), *found.why)
    return LayerVerdict(verdict=found.verdict, rule=found.rule, reasons=reasons, next_step=found.next_step)


def _describe_pair_counts(facts: CompareFacts) -> str:
    return (
        f"{format_plural(facts.pairs, 'sample')} scored with both: {facts.treatment} higher in {facts.wins:,}, "
        f"equal in {facts.ties:,}, lower in {facts.losses:,}."
    )


def _describe_measured_difference(facts: CompareFacts) -> tuple[str, ...]:
    if facts.composite is None:
        return ()
    what = facts.what[0].upper() + facts.what[1:]
    return (f"{what} difference {describe_difference(facts.composite)}{_describe_adjusted_p_value(facts)}.",)


def _describe_adjusted_p_value(facts: CompareFacts) -> str:
    if facts.p is None or facts.tests == 1:
        return ""
    return f"; {format_p_value(facts.p)} adjusted for {facts.tests} treatments"


def _composite_estimate(comparison: Comparison) -> float:
    return comparison.composite.estimate if comparison.composite else 0.0


_BADGE_COLOURS: tuple[BadgeColour, ...] = ("green", "amber", "red")


def build_compare_badges(facts: CompareFacts) -> tuple[Badge, ...]:
    """Judges agree, difference significant, saturated, human-aligned."""
    return (
        _build_judges_agree_badge(facts),
        _build_significance_badge(facts),
        _build_saturation_badge(facts),
        build_human_aligned_badge(facts.aligned),
    )


def _build_judges_agree_badge(facts: CompareFacts) -> Badge:
    """The variant that its judges agree on least speaks for both."""
    seen = {name: agreed for name, agreed in facts.agreed.items() if isinstance(agreed.pearson, Agreement)}
    if not seen:
        why = next((found.pearson for found in facts.agreed.values()), None)
        says = "fewer than two judges" if why is None or isinstance(why, Agreement) else why.why
        return _build_badge("judges agree", "grey", None, says, "Ask a second judge, on outputs that differ.")
    name, agreed = max(
        seen.items(),
        key=lambda one: (_BADGE_COLOURS.index(_colour_judge_agreement(one[1])), -_mean_judge_correlation(one[1])),
    )
    says = f"mean correlation {format_score(_mean_judge_correlation(agreed))} of {agreed.judges} judges on {name}"
    if isinstance(agreed.alpha, Agreement):
        says += f", Krippendorff's α {format_score(agreed.alpha.value)}"
    asked = f"a mean correlation of {LEAST_JUDGE_AGREEMENT}" + (f" and an α of {AGREED}" if agreed.alpha else "")
    return _build_badge(
        "judges agree",
        _colour_judge_agreement(agreed),
        _mean_judge_correlation(agreed),
        says,
        f"Sharpen the rubric until the judges reach {asked}.",
    )


def _mean_judge_correlation(agreed: JudgeAgreement) -> float:
    assert isinstance(agreed.pearson, Agreement)
    return agreed.pearson.value


def _colour_judge_agreement(agreed: JudgeAgreement) -> BadgeColour:
    if do_judges_disagree(agreed):
        return "red"
    return band(agreed.alpha.value) if isinstance(agreed.alpha, Agreement) else "green"


def _build_significance_badge(facts: CompareFacts) -> Badge:
    name = "difference significant"
    if facts.composite is None or facts.p is None:
        says = f"{format_plural(facts.pairs, 'pair')}: nothing to test"
        return _build_badge(name, "grey", None, says, "Score the same samples with both variants.")
    several = f"; {format_p_value(facts.p)} adjusted for {facts.tests} treatments" if facts.tests > 1 else ""
    says = describe_difference(facts.composite) + several
    return _build_badge(
        name, "green" if facts.significant else "red", facts.p, says, "Add samples, or make a larger change."
    )


def _build_saturation_badge(facts: CompareFacts) -> Badge:
    found = facts.saturation
    if found is None or found.changed is None:
        return _build_badge(
            "saturated", "grey", None, "too few samples to tell", f"Score at least {facts.needed} samples."
        )
    width = format_percent_tenths(found.changed)
    says = f"each of the last three tenths of the samples changed the interval's width by {width} at most"
    if found.moved is not None:
        says += f", all moved the estimate by {format_percent_tenths(found.moved)} of its half-width"
    colour: BadgeColour = "red" if found.low_confidence else "green"
    return _build_badge("saturated", colour, found.changed, says, "Add samples until these are below 10 % and 50 %.")


def build_human_aligned_badge(found: Agreement | Undefined | None) -> Badge:
    """How far panel and people agree; grey where there are no labels."""
    name = "human-aligned"
    if found is None:
        step = "Have people score some of the outputs: evenhand calibrate labels.jsonl RUN."
        return _build_badge(name, "grey", None, "no labels", step)
    if isinstance(found, Undefined):
        return _build_badge(name, "grey", None, found.why, "Have people score more of the outputs.")
    says = (
        f"Krippendorff's α {format_score(found.value)} between panel and people, on {format_plural(found.n, 'output')}"
    )
    advice = f"Sharpen the rubric, or choose judges by evenhand calibrate, until α reaches {AGREED}."
    return _build_badge(name, band(found.value), found.value, says, advice)


def _build_badge(name: str, colour: BadgeColour, value: float | None, says: str, advice: str) -> Badge:
    return Badge(name=name, colour=colour, value=value, says=says, advice="" if colour == "green" else advice)
