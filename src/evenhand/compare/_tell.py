"""Facts and rulings put into a decision: the worst verdict is the headline, the best PROGRESS is named."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.compare._badges import badges
from evenhand.compare._column import Column
from evenhand.compare._decision import WORST_FIRST, Comparison, Decision, GateState, LayerVerdict
from evenhand.compare._facts import Facts
from evenhand.compare._measure import Setting
from evenhand.compare._rules import UNDECIDED, ruling, with_margin
from evenhand.compare._words import chance, difference, listed, number, plural, points, probability
from evenhand.stats import mean_interval


def told(facts: Sequence[Facts], setting: Setting) -> Decision:
    """The decision over all treatments."""
    comparisons = tuple(_comparison(one) for one in facts)
    worst = min(comparisons, key=lambda one: WORST_FIRST.index(one.verdict))
    best = max((one for one in comparisons if one.verdict == "PROGRESS"), key=_estimate, default=None)
    also = ""
    if best and len(facts) > 1:
        also = f" Best of {len(facts)} treatments: {best.treatment} ({points(best.composite)})."
    return Decision(
        verdict=worst.verdict,
        control=setting.control,
        headline=worst.headline + also,
        sure=worst.sure,
        comparisons=comparisons,
        gates=setting.gates,
        best=best.treatment if best else None,
        exit_code=0 if all(one.passed for one in comparisons) else 1,
    )


LOW, HIGH = 1.0, 5.0  # The ends of the composite's scale: a mean is never off it.


def told_alone(column: Column, clusters: Sequence[int], setting: Setting) -> Decision:
    """SOLO: the state of the gates, and nothing to compare with."""
    states = setting.gates[setting.control]
    scored = [(score, cluster) for score, cluster in zip(column.composite, clusters, strict=True) if score is not None]
    return Decision(
        verdict="SOLO",
        control=setting.control,
        headline=f"SOLO: {setting.control} stands alone. {_gates(states, len(scored))}",
        sure=_alone(scored),
        comparisons=(),
        gates=setting.gates,
        best=None,
        exit_code=0 if scored and all(state.passed for state in states) else 1,
    )


def _alone(scored: Sequence[tuple[float, int]]) -> str:
    if len({cluster for _, cluster in scored}) < 2:
        return "There is nothing to compare it with, and too few samples to say how sure its mean is."
    mean = mean_interval([score for score, _ in scored], clusters=[cluster for _, cluster in scored])
    return (
        f"There is nothing to compare it with; its mean composite is {number(mean.estimate)}, 95 % interval "
        f"{number(max(LOW, mean.low))} to {number(min(HIGH, mean.high))}, from {plural(mean.n, 'sample')}."
    )


def _gates(states: Sequence[GateState], scored: int) -> str:
    if not scored:
        return "Nothing could be scored."
    failed = [f"{state.gate} ({number(state.mean)}, {number(state.min)} asked)" for state in states if not state.passed]
    if failed:
        return f"Below the gate: {listed(failed)}."
    return f"All gates passed: {listed(state.gate for state in states)}." if states else "It has no gates."


def _comparison(facts: Facts) -> Comparison:
    found = with_margin(facts, ruling(facts))
    return Comparison(
        treatment=facts.treatment,
        control=facts.control,
        verdict=found.verdict,
        headline=f"{found.verdict}: {found.says}.",
        sure=found.sure or chance(facts.composite, "the two were equal", _adjusted(facts)),
        rule=found.rule,
        reasons=(_counted(facts), *_measured(facts), *found.why),
        next_step=found.next_step,
        composite=facts.composite,
        p=facts.p,
        layers={name: layer.difference for name, layer in facts.layers.items()},
        layer_verdicts={name: _of_layer(facts.of_layer(name)) for name in facts.layers},
        criteria=facts.criteria,
        spread=facts.spread,
        not_worse=facts.not_worse if found.verdict in UNDECIDED else None,
        pairs=facts.pairs,
        lost_by_treatment=facts.lost.lost_by_treatment,
        lost_by_control=facts.lost.lost_by_control,
        wins=facts.wins,
        ties=facts.ties,
        losses=facts.losses,
        power=facts.power,
        saturation=facts.saturation,
        badges=badges(facts),
    )


def _of_layer(facts: Facts) -> LayerVerdict:
    found = ruling(facts)
    reasons = (*_measured(facts), *found.why)
    return LayerVerdict(verdict=found.verdict, rule=found.rule, reasons=reasons, next_step=found.next_step)


def _counted(facts: Facts) -> str:
    return (
        f"{plural(facts.pairs, 'sample')} scored with both: {facts.treatment} higher in {facts.wins:,}, equal in "
        f"{facts.ties:,}, lower in {facts.losses:,}."
    )


def _measured(facts: Facts) -> tuple[str, ...]:
    if facts.composite is None:
        return ()
    what = facts.what[0].upper() + facts.what[1:]
    return (f"{what} difference {difference(facts.composite)}{_adjusted(facts)}.",)


def _adjusted(facts: Facts) -> str:
    if facts.p is None or facts.tests == 1:
        return ""
    return f"; {probability(facts.p)} adjusted for {facts.tests} treatments"


def _estimate(comparison: Comparison) -> float:
    return comparison.composite.estimate if comparison.composite else 0.0
