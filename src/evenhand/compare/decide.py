"""The decision between a control and its treatments: check, measure, rule, conclude."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.compare.decision import (
    CompareDecision,
    ForcedComparison,
    GateState,
    RowScores,
    VariantColumn,
    check_layer_gates,
    check_not_worse_margin,
    check_variant_columns,
)

if TYPE_CHECKING:
    from evenhand.stats.arrays import Undefined
    from evenhand.stats.ratings import Agreement
    from evenhand.stats.sequential import Looks


DEFAULT_LAYER_GATE = 3.5


def decide_comparison(  # noqa: PLR0913 - each is a fact about the run that no other holds.
    columns: Mapping[str, VariantColumn],
    *,
    control: str,
    clusters: Sequence[int],
    seed: int,
    gates: Mapping[str, float] | None = None,
    judges: Mapping[str, Sequence[RowScores]] | None = None,
    aligned: Agreement | Undefined | None = None,
    smallest_effect: float = 0.5,
    not_worse_by: float | None = None,
    stopped_early: bool = False,
    looks: Looks | None = None,
    tell_looks: bool = False,
    other_gates: Mapping[str, tuple[GateState, ...]] | None = None,
    forced: ForcedComparison | None = None,
) -> CompareDecision:
    """The verdict of every treatment against the control. Layers without a gate of their own are held to 3.5.

    `clusters` names the sample of each row: repeats share it. `judges` holds, per variant, one row of scores per judge;
    `aligned` is how far the panel agrees with people. With `not_worse_by`, a treatment that cannot be told from the
    control passes where it is surely not worse by more than that. With `looks`, intervals and p-values hold although
    the run was looked at while it came in; it `stopped_early` where one of them settled it. `other_gates` are those of
    each variant beside the layers: whoever misses one does not ship. A decision that was `forced` passes nothing.
    """
    # Whoever shows a decision needs no NumPy.
    from evenhand.compare.conclude import conclude_decision, conclude_solo_decision
    from evenhand.compare.measure import (
        DecisionSettings,
        measure_compared_variant_agreement,
        measure_layer_means,
        measure_treatments,
    )

    layers = check_variant_columns(columns, control, clusters)
    check_layer_gates(gates or {}, layers)
    check_not_worse_margin(not_worse_by)
    setting = DecisionSettings(
        control=control,
        layer_gates={layer: (gates or {}).get(layer, DEFAULT_LAYER_GATE) for layer in layers},
        layer_means={name: measure_layer_means(column, clusters, layers) for name, column in columns.items()},
        other_gates=other_gates or {},
        agreed=measure_compared_variant_agreement(judges or {}, tuple(columns), len(clusters)),
        aligned=aligned,
        smallest_effect=smallest_effect,
        not_worse_by=not_worse_by,
        treatments=max(1, len(columns) - 1),
        seed=seed,
        stopped_early=stopped_early,
        looks=looks,
        tell_looks=tell_looks,
        forced=forced,
    )
    facts = measure_treatments(columns, clusters, setting)
    return conclude_decision(facts, setting) if facts else conclude_solo_decision(columns[control], clusters, setting)
