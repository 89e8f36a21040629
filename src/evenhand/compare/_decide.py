"""The decision between a control and its treatments: measure, rule, tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.compare._column import Column, Scores, check_columns, check_gates, check_margin
from evenhand.compare._decision import Decision

if TYPE_CHECKING:
    from evenhand.stats import Agreement, Looks, Undefined

DEFAULT_GATE = 3.5


def decide(  # noqa: PLR0913 - each is a fact about the run that no other holds.
    columns: Mapping[str, Column],
    *,
    control: str,
    clusters: Sequence[int],
    seed: int,
    gates: Mapping[str, float] | None = None,
    judges: Mapping[str, Sequence[Scores]] | None = None,
    aligned: Agreement | Undefined | None = None,
    smallest_effect: float = 0.5,
    not_worse_by: float | None = None,
    stopped_early: bool = False,
    looks: Looks | None = None,
) -> Decision:
    """The verdict of every treatment against the control. Layers without a gate of their own are held to 3.5.

    `clusters` names the sample of each row: repeats share it. `judges` holds, per variant, one row of scores per judge;
    `aligned` is how far the panel agrees with people. With `not_worse_by`, a treatment that cannot be told from the
    control passes where it is surely not worse by more than that. With `looks`, intervals and p-values hold although
    the run was looked at while it came in; it `stopped_early` where one of them settled it.
    """
    # Whoever shows a decision needs no NumPy.
    from evenhand.compare._measure import Setting, agreement, gate_states, measure  # noqa: PLC0415
    from evenhand.compare._tell import told, told_alone  # noqa: PLC0415

    layers = check_columns(columns, control, clusters)
    check_gates(gates or {}, layers)
    check_margin(not_worse_by)
    least = {layer: (gates or {}).get(layer, DEFAULT_GATE) for layer in layers}
    setting = Setting(
        control=control,
        layers=layers,
        gates={name: gate_states(column, clusters, layers, least) for name, column in columns.items()},
        agreed=agreement(judges or {}, tuple(columns), len(clusters)),
        aligned=aligned,
        smallest_effect=smallest_effect,
        not_worse_by=not_worse_by,
        treatments=max(1, len(columns) - 1),
        seed=seed,
        stopped_early=stopped_early,
        looks=looks,
    )
    facts = measure(columns, clusters, setting)
    return told(facts, setting) if facts else told_alone(columns[control], clusters, setting)
