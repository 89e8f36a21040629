"""The decision between a control and its treatments: check, measure, rule, conclude.

The worst verdict is the headline, the best PROGRESS is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TypedDict, Unpack

import numpy as np

from evenhand.compare.decision import (
    VERDICTS_WORST_FIRST,
    CompareDecision,
    CompareVerdict,
    Comparison,
    ForcedComparison,
    GateState,
    LayerVerdict,
    VariantColumn,
    describe_gates_missed_by_variant,
    treatment_difference_chance_text,
    treatment_difference_points_text,
    treatment_difference_text,
)
from evenhand.compare.facts import (
    CompareFacts,
    LossShare,
    PositionPicks,
    adjusted_treatments_p_value_text,
    compared_layers_reason,
)
from evenhand.compare.measure import (
    DecisionSettings,
    ShortSamplesByVariant,
    measure_compared_layers,
    measure_treatments,
)
from evenhand.compare.paired_rows import (
    ComparedRows,
    JudgeRowsByVariant,
    describe_judges_shared_by_variants,
    measure_compared_variant_agreement,
)
from evenhand.compare.rules import UNCLEAR_VERDICTS, VerdictRuling, rule_verdict
from evenhand.compare.shipping import describe_position_picks, grade_treatment_by_badges
from evenhand.compare.variant_gates import (
    SingleVariant,
    decide_single_variant,
    describe_forced_comparison,
    hold_single_variant_to_gates,
)
from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.stats.arrays import CountedPer, Undefined
from evenhand.stats.multiple_tests import Looks
from evenhand.stats.ratings import Agreement
from evenhand.wording import format_plural

DEFAULT_LAYER_GATE = 3.5
EQUAL_DIFFERENCES = "Most differences are equal, so the interval is a bound that holds for every distribution."
TIE_DECIMALS = 9  # Means that differ only after them differ by rounding.


class DecisionTerms(TypedDict, total=False):
    """How variants are compared, as far as an eval says it; the settings of a decision say what holds otherwise."""

    per: CountedPer
    smallest_effect: float
    span: float | None
    criterion_spans: Mapping[str, float]
    smallest_loss: LossShare
    multivariate: bool
    tie_breaks: Sequence[str]
    judge_scale: tuple[float, float] | None
    layer_weights: Mapping[str, float]
    normalises: bool


def decide_comparison(  # noqa: PLR0913 - each is a fact about the run that no other holds.
    columns: Mapping[str, VariantColumn],
    *,
    control: str,
    clusters: Sequence[int],
    samples: Sequence[int] | None = None,
    seed: int,
    gates: Mapping[str, float] | None = None,
    judges: JudgeRowsByVariant | None = None,
    aligned: Agreement | Undefined | None = None,
    not_worse_by: float | None = None,
    stopped_early: bool = False,
    looks: Looks | None = None,
    tell_looks: bool = False,
    other_gates: Mapping[str, tuple[GateState, ...]] | None = None,
    short_samples: ShortSamplesByVariant | None = None,
    forced: ForcedComparison | None = None,
    picks: Mapping[str, tuple[PositionPicks, ...]] | None = None,
    **terms: Unpack[DecisionTerms],
) -> CompareDecision:
    """The verdict of every treatment against the control. Layers without a gate of their own are held to 3.5.

    Rows of one of `clusters` are not independent; those of one of `samples` are its repeats (without `samples`, a
    cluster is a sample). The difference is the mean over samples or, `per` cluster, over clusters. `judges` holds, per
    variant, one row of scores per judge, on `judge_scale`; `aligned` is how far the panel agrees with people. With
    `not_worse_by`, a treatment that cannot be told from the control passes where it is surely not worse by more than
    that. With `looks`, intervals and p-values hold although the run was looked at while it came in; it `stopped_early`
    where one of them settled it. `other_gates` are those of each variant beside the layers: whoever misses one does not
    ship. `short_samples` names, by variant and layer, what is below the gate of a layer. `tie_breaks` are criteria that
    rank treatments with equal means; `layer_weights` are those in the composite. With `multivariate`, all layers
    together are tested too. `span` lies between the ends of the scale of composites and layers (`criterion_spans`: of
    criteria); None where there are none. While losses as large as `smallest_loss` says could make up its share, a
    treatment does not ship. `picks` has, by treatment, the judges of pairs that follow the position: what they left
    undecided rules out no difference. A decision that was `forced` passes nothing.
    """
    layers = check_columns_to_compare(columns, control, clusters, gates or {}, not_worse_by)
    rows = ComparedRows.number(clusters, samples, terms.get("per", "sample"))
    setting = DecisionSettings(
        control=control,
        layer_gates={layer: (gates or {}).get(layer, DEFAULT_LAYER_GATE) for layer in layers},
        reached={name: measure_compared_layers(column, rows, layers) for name, column in columns.items()},
        other_gates=other_gates or {},
        short_samples=short_samples or {},
        agreed=measure_compared_variant_agreement(
            judges or {}, tuple(columns), len(clusters), normalises=terms.get("normalises", False)
        ),
        judges=judges or {},
        aligned=aligned,
        not_worse_by=not_worse_by,
        treatments=max(1, len(columns) - 1),
        seed=seed,
        stopped_early=stopped_early,
        looks=looks,
        tell_looks=tell_looks,
        forced=forced,
        picks=picks or {},
        **terms,
    )
    if len(columns) == 1:
        return _decide_without_treatment(columns[control], rows, setting)
    return _conclude_decision(measure_treatments(columns, rows, setting), setting)


def _conclude_decision(facts: Sequence[CompareFacts], setting: DecisionSettings) -> CompareDecision:
    """The decision over all treatments."""
    rulings = [(one, rule_verdict(one)) for one in facts]
    lead, worst = _find_leading_treatment(rulings, setting.tie_breaks)
    better = [one for one, found in rulings if found.verdict == "PROGRESS"]
    best = _find_best_treatment(better, setting.tie_breaks)
    missed = [reason for one in facts for reason in describe_gates_missed_by_variant(one.treatment, one.other_gates)]
    reasons = dict.fromkeys((*_list_verdict_reasons(lead, worst), *missed))
    held = [found for one, found in rulings if not _may_treatment_ship(one, found)]
    step = worst if not held or worst in held else held[0]  # What keeps the exit code from 0 is what is to be done.
    early, looked = _early_verdict_reasons(setting, worst.verdict)
    mark, doubts, advice = describe_forced_comparison(setting.forced) if setting.forced else ("", (), "")
    says = ". ".join((worst.says, *_name_best_treatment(facts, lead, best, setting.tie_breaks), *early))
    return CompareDecision(
        verdict=worst.verdict,
        exit_code=1 if held or missed or setting.forced else 0,
        headline=f"{says}{mark}.",
        sure=_verdict_chance_reason(lead, worst),
        control=setting.control,
        best=best.treatment if best else None,
        gates=_list_compared_gate_states(setting),
        comparisons=tuple(_conclude_comparison(*pair, setting) for pair in rulings),
        reasons=(*reasons, *looked, *doubts),
        next_step=advice or _name_whose_step(rulings, step),
    )


def _name_whose_step(rulings: Sequence[tuple[CompareFacts, VerdictRuling]], step: VerdictRuling) -> str:
    """What to do next; of several treatments, for which of them."""
    [whose, *_] = (one.treatment for one, found in rulings if found is step)
    if len(rulings) == 1 or whose in step.next_step:
        return step.next_step
    return f"For {whose}: {step.next_step[0].lower()}{step.next_step[1:]}"


def _may_treatment_ship(facts: CompareFacts, found: VerdictRuling) -> bool:
    """Whether it is better, or surely not worse by more than was asked."""
    not_worse = bool(facts.not_worse and facts.not_worse.holds and found.verdict in UNCLEAR_VERDICTS)
    return found.verdict == "PROGRESS" or not_worse


def _find_leading_treatment(
    rulings: Sequence[tuple[CompareFacts, VerdictRuling]], tie_breaks: Sequence[str]
) -> tuple[CompareFacts, VerdictRuling]:
    """The treatment that headline, reasons and next step are about: one with the worst verdict.

    Of several, one that does not ship, since the exit code is about it; then the best, or of REGRESS the worst.
    """
    worst = min((found.verdict for _, found in rulings), key=VERDICTS_WORST_FIRST.index)
    among = [pair for pair in rulings if pair[1].verdict == worst]
    among = [pair for pair in among if not _may_treatment_ship(*pair)] or among
    choose = min if worst == "REGRESS" else max
    return choose(among, key=lambda pair: _rank_treatment(pair[0], tie_breaks))


def _find_best_treatment(facts: Iterable[CompareFacts], tie_breaks: Sequence[str]) -> CompareFacts | None:
    """The one whose composite rose most; of equals, the one that a tie-break of the rubric puts first."""
    return max(facts, key=lambda one: _rank_treatment(one, tie_breaks), default=None)


def _rank_treatment(facts: CompareFacts, tie_breaks: Sequence[str]) -> list[float]:
    measured = [facts.composite, *(facts.criteria.get(id) for id in tie_breaks)]
    return [round(difference.estimate, TIE_DECIMALS) if difference else 0.0 for difference in measured]


def _name_best_treatment(
    facts: Sequence[CompareFacts], lead: CompareFacts, best: CompareFacts | None, tie_breaks: Sequence[str]
) -> tuple[str, ...]:
    """The best of several that may be shipped; where another one scored higher, that it is the best of these."""
    if best is None or len(facts) == 1:
        return ()
    if best is lead:
        return (f"It is the best of {len(facts)} treatments",)
    which = "Best" if best is _find_best_treatment(facts, tie_breaks) else "Best to ship"
    points = treatment_difference_points_text(best.composite)
    return (f"{which} of {len(facts)} treatments: {best.treatment} ({points})",)


def _early_verdict_reasons(
    setting: DecisionSettings, verdict: CompareVerdict
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """For the headline that the run stopped early, and as a reason that it was looked at while it came in."""
    if setting.looks is None or not setting.tell_looks:
        return (), ()
    *earlier, used = setting.looks.taken
    after = f"after {used:,} of {setting.looks.planned:,} samples"
    times = f"{len(earlier) + 1} times, last" if earlier else "once,"
    looked = f"The run was looked at {times} {after}; intervals and p allow for that."
    settled = "settled" if verdict in ("PROGRESS", "REGRESS") else "the difference is settled"
    return ((f"Stopped {after}: {settled}",) if setting.stopped_early else ()), (looked,)


def _list_compared_gate_states(setting: DecisionSettings) -> dict[str, tuple[GateState, ...]]:
    """All gates of every variant, those of the layers first."""
    states = {}
    for variant, reached in setting.reached.items():
        own = hold_single_variant_to_gates(reached, setting.layer_gates, setting.short_samples.get(variant, {}))
        states[variant] = (*own, *setting.other_gates.get(variant, ()))
    return states


def _decide_without_treatment(column: VariantColumn, rows: ComparedRows, setting: DecisionSettings) -> CompareDecision:
    reached, short = setting.reached[setting.control], setting.short_samples.get(setting.control, {})
    alone = SingleVariant(
        name=setting.control,
        composites=np.array(column.composite, np.float64),
        clusters=rows.clusters,
        samples=rows.samples,
        per=rows.per,
        layer_gates=hold_single_variant_to_gates(reached, setting.layer_gates, short),
        other_gates=setting.other_gates.get(setting.control, ()),
    )
    return decide_single_variant(alone, setting.forced)


def _conclude_comparison(facts: CompareFacts, found: VerdictRuling, setting: DecisionSettings) -> Comparison:
    mark, doubts, advice = describe_forced_comparison(setting.forced) if setting.forced else ("", (), "")
    missed = describe_gates_missed_by_variant(facts.treatment, facts.other_gates)
    layer_verdicts = {}
    for name in facts.layers:
        alone = facts.facts_of_layer(name)
        one = rule_verdict(alone)
        reasons = (*_treatment_difference_reason(alone), *one.why)
        layer_verdicts[name] = LayerVerdict(
            verdict=one.verdict, rule=one.rule, reasons=reasons, next_step=one.next_step, p=alone.p
        )
    return Comparison(
        treatment=facts.treatment,
        control=facts.control,
        verdict=found.verdict,
        headline=f"{found.verdict}: {found.says}{mark}.",
        sure=_verdict_chance_reason(facts, found),
        rule=found.rule,
        reasons=(*dict.fromkeys((*_list_verdict_reasons(facts, found), *missed)), *doubts),
        next_step=advice or found.next_step,
        composite=facts.composite,
        p=facts.p,
        layers={name: layer.difference for name, layer in facts.layers.items()},
        layer_verdicts=layer_verdicts,
        criteria=facts.criteria,
        spread=facts.spread,
        not_worse=facts.not_worse if found.verdict in UNCLEAR_VERDICTS else None,
        pairs=facts.pairs,
        samples=facts.samples,
        lost_by_treatment=facts.lost.lost_by_treatment,
        lost_by_control=facts.lost.lost_by_control,
        wins=facts.wins,
        ties=facts.ties,
        losses=facts.losses,
        power=facts.power,
        saturation=facts.saturation,
        badges=grade_treatment_by_badges(facts),
        together=facts.together,
        clusters=facts.clusters,
        shared_judges=facts.shared_judges,
    )


def _verdict_chance_reason(facts: CompareFacts, found: VerdictRuling) -> str:
    adjusted = adjusted_treatments_p_value_text(facts)
    return found.sure or treatment_difference_chance_text(facts.composite, "the two were equal", adjusted)


def _list_verdict_reasons(facts: CompareFacts, found: VerdictRuling) -> tuple[str, ...]:
    some = f"{facts.pairs:,} of " if facts.pairs < facts.samples else ""
    within = ""
    if facts.clusters:
        votes = ", each with one vote," if facts.clusters.per == "cluster" else ""
        within = f" in {format_plural(facts.clusters.count, 'cluster')}{votes}"
    counts = (
        f"{some}{format_plural(facts.samples, 'sample')}{within} scored with both: {facts.treatment} higher in "
        f"{facts.wins:,}, "
        f"equal in {facts.ties:,}, lower in {facts.losses:,}."
    )
    measured = (
        *_treatment_difference_reason(facts),
        *describe_judges_shared_by_variants(facts),
        *describe_position_picks(facts),
    )
    return (counts, *measured, *compared_layers_reason(facts.together), *found.why)


def _treatment_difference_reason(facts: CompareFacts) -> tuple[str, ...]:
    if facts.composite is None:
        return ()
    what = facts.what[0].upper() + facts.what[1:]
    adjusted = adjusted_treatments_p_value_text(facts)
    bound = (EQUAL_DIFFERENCES,) if facts.composite.is_scale_bound else ()
    return (f"{what} difference {treatment_difference_text(facts.composite)}{adjusted}.", *bound)


def check_columns_to_compare(
    columns: Mapping[str, VariantColumn],
    control: str,
    clusters: Sequence[int],
    gates: Mapping[str, float],
    not_worse_by: float | None,
) -> tuple[str, ...]:
    """The layers that every composite was computed from, or a refusal that says what differs."""
    if control not in columns:
        raise InputError(
            Fault(f"control {control!r} is not among the variants", suggest_known_word_in_error(control, columns))
        )
    for name, column in columns.items():
        if len(column.composite) != len(clusters):
            what = f"variant {name!r} has {len(column.composite)} rows for {len(clusters)} clusters"
            raise InputError(Fault(what, "every variant has one row per sample and repeat, None where it failed"))
    present = {name: _find_compared_layers(name, column) for name, column in columns.items()}
    known = {name: layers for name, layers in present.items() if layers is not None}
    first = control if control in known else next(iter(known), control)
    for name, layers in known.items():
        if set(layers) != set(known[first]):
            raise InputError(
                _compared_layers_differ_fault(f"variant {name!r}", layers, f"variant {first!r}", known[first])
            )
    common = known.get(first, ())
    for name, least in gates.items():
        if name not in common:
            raise InputError(Fault(f"gate on unknown layer {name!r}", suggest_known_word_in_error(name, common)))
        if not isfinite(least):
            raise InputError(Fault(f"gate {name!r} must be a number, got {least}"))
    if not_worse_by is not None and not (isfinite(not_worse_by) and not_worse_by > 0):
        raise InputError(Fault(f"not worse by {not_worse_by} points", "a margin above 0, such as 0.2"))
    return common


def _find_compared_layers(name: str, column: VariantColumn) -> tuple[str, ...] | None:
    """The layers behind every composite of a variant; None where it has no composite at all."""
    found: tuple[str, ...] | None = None
    there = [[one is not None for one in row] for row in (column.composite, *column.layers.values())]
    kinds: dict[tuple[bool, ...], int] = {}
    for place, kind in enumerate(zip(*there, strict=True)):
        kinds.setdefault(kind, place)
    kinds = {kind[1:]: place for kind, place in kinds.items() if kind[0]}
    for kind, place in kinds.items():
        layers = tuple(layer for layer, present in zip(column.layers, kind, strict=True) if present)
        if found is not None and layers != found:
            first = next(iter(kinds.values()))
            raise InputError(
                _compared_layers_differ_fault(f"variant {name!r}, row {place}", layers, f"row {first}", found)
            )
        found = layers
    return found


def _compared_layers_differ_fault(one: str, ours: Sequence[str], other: str, theirs: Sequence[str]) -> Fault:
    first, second = (" + ".join(sorted(layers)) or "no layers" for layers in (ours, theirs))
    what = f"{one} was scored from {first}, {other} from {second}"
    return Fault(what, "composites over different layers cannot be compared: configure the same layers for all")
