"""From columns to facts: pair the rows, count lost outputs, test the composite and every layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from evenhand.compare.cascade import (
    compare_variants_through_cascade,
    find_judge_layer_share,
    measure_cascade_layer,
)
from evenhand.compare.decision import ForcedComparison, GateSamples, GateState, VariantColumn
from evenhand.compare.facts import (
    GATE_TOLERANCE,
    JUDGE_LAYER,
    SIGNIFICANCE_LEVEL,
    ComparedClusters,
    ComparedLayerFacts,
    ComparedLayersTogether,
    CompareFacts,
    JudgeAgreement,
    LargeTreatmentLosses,
    LossShare,
    NotWorseResult,
    PositionPicks,
    ReachedLayer,
    SharedVariantJudges,
)
from evenhand.compare.paired_rows import (
    LOWEST_LAYER_SCORE,
    NO_DIFFERENCES,
    Booleans,
    ComparedRows,
    Floats,
    JudgeRowsByVariant,
    PairedVariantDifferences,
    SharedJudgeScores,
    bin_variant_score_differences,
    pair_judge_scores_of_variants,
    pair_variant_scores,
    score_by_shared_judges,
)
from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import CountedPer, Undefined
from evenhand.stats.bounded import not_worse
from evenhand.stats.differences import Difference, difference_of
from evenhand.stats.multiple_tests import Looks, holm, hotelling_of, p_over_looks, sequential_difference
from evenhand.stats.power import PowerBand, Saturation, power_band, saturation, step_of
from evenhand.stats.rates import Mcnemar, bound_share_from_above, mcnemar_worse
from evenhand.stats.ratings import Agreement
from evenhand.wording import format_plural

SPAN_OF_COMPOSITES = 4.0  # They lie between 1 and 5.
ShortSamplesByVariant = Mapping[str, Mapping[str, GateSamples | None]]  # By variant and layer.


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSettings:
    """What holds for all comparisons of one decision."""

    control: str
    layer_gates: Mapping[str, float]
    reached: Mapping[str, Mapping[str, ReachedLayer]]  # By variant and layer.
    other_gates: Mapping[str, tuple[GateState, ...]]  # By variant: those beside the layers.
    agreed: Mapping[str, JudgeAgreement]
    aligned: Agreement | Undefined | None
    not_worse_by: float | None
    treatments: int
    seed: int
    stopped_early: bool
    tie_breaks: Sequence[str] = ()  # Criteria, the first that differs decides between treatments with equal means.
    per: CountedPer = "sample"
    smallest_effect: float = 0.5
    span: float | None = SPAN_OF_COMPOSITES  # None where composite and layers have no ends.
    criterion_spans: Mapping[str, float] = field(default_factory=dict)
    smallest_loss: LossShare = field(default_factory=LossShare)
    multivariate: bool = False
    judges: JudgeRowsByVariant = field(default_factory=dict)
    judge_scale: tuple[float, float] | None = None  # Of what judges give; None where rubrics have several.
    layer_weights: Mapping[str, float] = field(default_factory=dict)  # In the composite: 1 where none is given.
    normalises: bool = False  # Whether a rubric sets `normalise: z`.
    short_samples: ShortSamplesByVariant = field(default_factory=dict)
    looks: Looks | None = None  # Of a run that was looked at while it came in.
    tell_looks: bool = False
    forced: ForcedComparison | None = None
    picks: Mapping[str, tuple[PositionPicks, ...]] = field(default_factory=dict)  # By treatment.


def measure_compared_layers(
    column: VariantColumn, rows: ComparedRows, layers: Sequence[str]
) -> dict[str, ReachedLayer]:
    """What each layer came to; every sample counts once, however often it was repeated."""
    found = {}
    for layer in layers:
        values = np.array(column.layers.get(layer, ()), dtype=np.float64)
        there = ~np.isnan(values)
        if column.cascade and layer == JUDGE_LAYER:
            found[layer] = measure_cascade_layer(column, rows.clusters.tolist())
        elif not there.any():
            found[layer] = ReachedLayer(mean=None, lowest=None, missing=len(rows.samples))
        else:
            at_worst = np.where(there, values, LOWEST_LAYER_SCORE)
            found[layer] = ReachedLayer(
                mean=_average_compared_rows(rows, values, there),
                lowest=_average_compared_rows(rows, at_worst, np.ones_like(there)),
                missing=int((~there).sum()),
            )
    return found


def _average_compared_rows(rows: ComparedRows, values: Floats, there: Booleans) -> float:
    units = rows.average(values[there], there)
    return float(np.average(units.means, weights=units.sizes))


def measure_treatments(
    columns: Mapping[str, VariantColumn], rows: ComparedRows, setting: DecisionSettings
) -> list[CompareFacts]:
    """The facts of every treatment, in order; what can condemn one of them is adjusted over all of them."""
    treatments = [name for name in columns if name != setting.control]
    found = [
        _add_position_picks(_measure_treatment_facts(columns, name, rows, setting), setting) for name in treatments
    ]
    tested = [place for place, facts in enumerate(found) if facts.p is not None]
    for place, p in zip(tested, holm([found[place].p or 0.0 for place in tested]).p, strict=True):
        found[place] = replace(found[place], p=p, tests=len(tested))
    adjusted = iter(holm([layer.p_held for facts in found for layer in facts.layers.values()]).p)
    shared = iter(holm([facts.shared_judges.p for facts in found if facts.shared_judges]).p)
    return [
        replace(
            facts,
            lost=replace(facts.lost, p=p),
            shared_judges=replace(facts.shared_judges, p=next(shared)) if facts.shared_judges else None,
            layers={name: replace(layer, p_held=next(adjusted)) for name, layer in facts.layers.items()},
        )
        for facts, p in zip(found, holm([facts.lost.p for facts in found]).p, strict=True)
    ]


def _measure_treatment_facts(
    columns: Mapping[str, VariantColumn], treatment: str, rows: ComparedRows, setting: DecisionSettings
) -> CompareFacts:
    ours, theirs = columns[treatment], columns[setting.control]
    own, other = np.array(ours.composite, np.float64), np.array(theirs.composite, np.float64)
    both = ~np.isnan(own) & ~np.isnan(other)
    only_control, only_treatment = np.isnan(own) & ~np.isnan(other), ~np.isnan(own) & np.isnan(other)
    # Repeats of one sample, and samples of one cluster, that fail together are one loss, not several.
    lost = np.bincount(rows.clusters, weights=only_control.astype(np.float64) - only_treatment)
    differences = pair_variant_scores(ours.composite, theirs.composite, rows, both)
    composite = _test_layer_against_control(ours, theirs, differences, rows, setting)
    power = _measure_treatment_power_band(differences, composite, setting)
    shared = _score_treatment_by_shared_judges(columns, treatment, setting)
    return CompareFacts(
        what="composite",
        treatment=treatment,
        control=setting.control,
        samples=len(np.unique(rows.samples)),
        pairs=len(differences.samples),
        clusters=_summarise_compared_clusters(differences, rows.per),
        large_losses=_count_large_treatment_losses(differences, setting),
        lost=adjust_treatment_losses_for_looks(
            mcnemar_worse(int((lost > 0).sum()), int((lost < 0).sum())), setting.looks
        ),
        dropped=int(only_control.sum()),
        wins=int((differences.samples > 0).sum()),
        ties=int((differences.samples == 0).sum()),
        losses=int((differences.samples < 0).sum()),
        composite=composite,
        p=composite.p if composite else None,
        tests=1,
        layers=_measure_compared_layer_facts(ours, theirs, rows, both, treatment, setting, shared),
        shared_judges=_measure_shared_judges(shared, rows, setting) if shared else None,
        power=power,
        smallest_effect=setting.smallest_effect,
        saturation=None if ours.cascade else _measure_treatment_saturation(differences, setting),
        agreed={name: setting.agreed[name] for name in (setting.control, treatment) if name in setting.agreed},
        aligned=setting.aligned,
        criteria=_measure_criterion_differences(ours, theirs, rows, setting),
        spread=bin_variant_score_differences(differences.samples),
        not_worse=_test_treatment_not_worse(
            (differences, *((pair_judge_scores_of_variants(shared, rows),) if shared else ())), setting
        ),
        other_gates=setting.other_gates.get(treatment, ()),
        together=_test_treatment_layers_together(ours, theirs, rows, both, setting) if setting.multivariate else None,
    )


def _add_position_picks(facts: CompareFacts, setting: DecisionSettings) -> CompareFacts:
    share = find_judge_layer_share(tuple(setting.layer_gates), setting.layer_weights)
    facts = replace(facts, picks=setting.picks.get(facts.treatment, ()), judge_share=share, span=setting.span)
    if facts.not_worse is None or not facts.hidden:
        return facts
    return replace(facts, not_worse=facts.not_worse.lower_by(facts.hidden))


def _measure_compared_layer_facts(
    ours: VariantColumn,
    theirs: VariantColumn,
    rows: ComparedRows,
    both: Booleans,
    treatment: str,
    setting: DecisionSettings,
    shared: SharedJudgeScores | None,
) -> dict[str, ComparedLayerFacts]:
    found = {}
    for layer, gate in setting.layer_gates.items():
        differences = NO_DIFFERENCES
        if layer in ours.layers and layer in theirs.layers:
            differences = pair_variant_scores(ours.layers[layer], theirs.layers[layer], rows, both)
        difference = _test_layer_against_control(ours, theirs, differences, rows, setting, layer)
        power = _measure_treatment_power_band(differences, difference, setting)
        found[layer] = ComparedLayerFacts(
            difference=difference,
            p_held=1.0 if difference is None else difference.p,
            gate=gate,
            control=setting.reached[setting.control][layer],
            treatment=setting.reached[treatment][layer],
            power=power,
            saturation=None if ours.cascade else _measure_treatment_saturation(differences, setting),
            short=setting.short_samples.get(treatment, {}).get(layer),
            shared_judges=_measure_shared_judges(shared, rows, setting, layer)
            if shared and layer == JUDGE_LAYER
            else None,
        )
    return found


def _score_treatment_by_shared_judges(
    columns: Mapping[str, VariantColumn], treatment: str, setting: DecisionSettings
) -> SharedJudgeScores | None:
    ours, theirs = ((columns[name], setting.judges.get(name, {})) for name in (treatment, setting.control))
    weights = {layer: setting.layer_weights.get(layer, 1.0) for layer in setting.layer_gates}
    share = weights.get(JUDGE_LAYER, 0.0) / (sum(weights.values()) or 1.0)
    return score_by_shared_judges(ours, theirs, setting.judge_scale, share)


def _measure_shared_judges(
    shared: SharedJudgeScores, rows: ComparedRows, setting: DecisionSettings, layer: str = ""
) -> SharedVariantJudges:
    """The difference by the judges that scored both outputs, in the composite or in a layer."""
    found = _test_treatment_against_control(pair_judge_scores_of_variants(shared, rows, layer), setting, setting.span)
    samples = len(np.unique(rows.samples[shared.apart]))
    return SharedVariantJudges(
        judges=shared.judges, samples=samples, difference=found, p=1.0 if found is None else found.p
    )


def _test_treatment_layers_together(
    ours: VariantColumn,
    theirs: VariantColumn,
    rows: ComparedRows,
    both: Booleans,
    setting: DecisionSettings,
) -> ComparedLayersTogether:
    """Hotelling's T² over the paired differences of all layers, which sees what the composite averages away."""
    layers = [name for name in setting.layer_gates if name in ours.layers and name in theirs.layers]
    table = {
        name: pair_variant_scores(ours.layers[name], theirs.layers[name], rows, both).independent for name in layers
    }
    n = len(next(iter(table.values()))) if table else 0
    # A layer that moved by the same amount in every pair has no scatter to test it by.
    moved = {name: column for name, column in table.items() if n and np.ptp(column) > 0}
    left_out = tuple(name for name, column in table.items() if name not in moved and n and column[0] != 0) or None
    method = "Hotelling's T², paired"
    none = ComparedLayersTogether(
        layers=tuple(moved), t2=None, f=None, df=(), p=None, n=n, method=method, left_out=left_out
    )
    if n <= len(moved) or not moved:
        few = f"{format_plural(n, 'pair')} for {format_plural(len(moved), 'layer')} that differ"
        return replace(none, why_not=few if moved else "no layer differs from pair to pair")
    found = hotelling_of(moved)
    if isinstance(found, Undefined):
        return replace(none, why_not=found.why)
    p = found.p if setting.looks is None else p_over_looks(found.p, setting.looks)
    return replace(none, t2=found.t2, f=found.f, df=found.df, p=p, method=found.method)


def _measure_criterion_differences(
    ours: VariantColumn, theirs: VariantColumn, rows: ComparedRows, setting: DecisionSettings
) -> dict[str, Difference | None]:
    """Each criterion that both have, over the samples that both have it for."""
    found = {}
    for name in ours.criteria:
        if name in theirs.criteria and not ours.cascade:  # Of two judges: they are not corrected.
            own, other = ours.criteria[name], theirs.criteria[name]
            both = ~np.isnan(np.array(own, np.float64)) & ~np.isnan(np.array(other, np.float64))
            differences, span = pair_variant_scores(own, other, rows, both), setting.criterion_spans.get(name)
            found[name] = _test_treatment_against_control(differences, setting, span)
    return found


def _measure_treatment_power_band(
    differences: PairedVariantDifferences, found: Difference | None, setting: DecisionSettings
) -> PowerBand | None:
    if found is None:
        return None
    step, level = step_of(differences.units.means), 1 - SIGNIFICANCE_LEVEL / setting.treatments
    span = setting.span if found.is_scale_bound else None
    return power_band(found.sd, setting.smallest_effect, step=step, level=level, span=span)


def _measure_treatment_saturation(
    differences: PairedVariantDifferences, setting: DecisionSettings
) -> Saturation | None:
    values = differences.independent
    return _cached_treatment_saturation(values.tobytes(), setting.seed) if len(values) > 1 else None


@lru_cache(2)  # Where there is one layer, its differences are those of the composite.
def _cached_treatment_saturation(differences: bytes, seed: int) -> Saturation:
    return saturation(np.frombuffer(differences), rng=np.random.default_rng(seed))


def _test_treatment_not_worse(
    measured: Sequence[PairedVariantDifferences], setting: DecisionSettings
) -> NotWorseResult | None:
    """Each treatment has its share of the 5% by which one of them may pass wrongly; the lowest bound counts."""
    units = [one.units for one in measured]
    if setting.not_worse_by is None or any(len(one.means) < 2 for one in units):
        return None
    if setting.span is None:
        what = "standardised composites have no bounds, so no loss can be ruled out"
        raise InputError(Fault(what, "use --not-worse-by without standardise: z"))
    level = 1 - 0.05 / setting.treatments
    bounds = [
        not_worse(one.means, by=setting.not_worse_by, span=setting.span, sizes=one.sizes, level=level) for one in units
    ]
    found = min(bounds, key=lambda one: one.low)
    return NotWorseResult(by=found.margin, low=found.low, level=level, holds=found.holds, needed=found.needed)


def _count_large_treatment_losses(
    differences: PairedVariantDifferences, setting: DecisionSettings
) -> LargeTreatmentLosses:
    """How many independent units hold a loss that large, and how large a share of them it may be."""
    points = setting.smallest_loss.points
    lost = np.unique(differences.sample_clusters[differences.samples <= -points + GATE_TOLERANCE])
    units = len(differences.units.means)
    upper = bound_share_from_above(len(lost), units) if units else 1.0
    return LargeTreatmentLosses(points=points, seen=len(lost), upper=upper, allowed=setting.smallest_loss.share)


def _test_layer_against_control(
    ours: VariantColumn,
    theirs: VariantColumn,
    differences: PairedVariantDifferences,
    rows: ComparedRows,
    setting: DecisionSettings,
    layer: str = "",
) -> Difference | None:
    """The corrected difference where a cascade scored what is compared; else that of the pairs as they are."""
    if not (ours.cascade and theirs.cascade) or layer not in ("", JUDGE_LAYER):
        return _test_treatment_against_control(differences, setting, setting.span)
    share = find_judge_layer_share(tuple(setting.layer_gates), setting.layer_weights)
    terms = {"share": share, "span": SPAN_OF_COMPOSITES}
    return compare_variants_through_cascade(
        ours, theirs, rows.clusters.tolist(), **terms, seed=setting.seed, layer=layer
    )


def _test_treatment_against_control(
    differences: PairedVariantDifferences, setting: DecisionSettings, span: float | None
) -> Difference | None:
    """Every test draws from its own generator, so that no variant's name or place changes another's numbers."""
    means, sizes = differences.units.means, differences.units.sizes
    if len(means) < 2:
        return None
    rng = np.random.default_rng(setting.seed)
    if setting.looks is None:
        return difference_of(means, sizes=sizes, span=span, rng=rng)
    return sequential_difference(means, sizes=sizes, span=span, looks=setting.looks, rng=rng)


def adjust_treatment_losses_for_looks(lost: Mcnemar, looks: Looks | None) -> Mcnemar:
    """The same for lost outputs: their p-value holds at whichever look a run was stopped."""
    if looks is None:
        return lost
    return replace(lost, p=p_over_looks(min(1.0, 2 * lost.p), looks) / 2, method=f"{lost.method}; alpha spending")


def _summarise_compared_clusters(differences: PairedVariantDifferences, per: CountedPer) -> ComparedClusters | None:
    """How many clusters there are and how they count; None where every sample stands for itself."""
    if not differences.clustered:
        return None
    units = differences.units
    held = units.sizes if per == "sample" else np.ones(len(units.means))
    return ComparedClusters(
        count=len(units.means),
        per=per,
        largest_share=float(held.max() / held.sum()),
        mean_over_samples=float(differences.samples.mean()),
        mean_over_clusters=float(units.means.mean()),
    )
