"""The decision between a control and its treatments: measure, rule, tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.compare._column import Column, Scores, check_columns, check_gates
from evenhand.compare._decision import Decision

DEFAULT_GATE = 3.5


def decide(  # noqa: PLR0913 - each is a fact about the run that no other holds.
    columns: Mapping[str, Column],
    *,
    control: str,
    clusters: Sequence[int],
    seed: int,
    gates: Mapping[str, float] | None = None,
    judges: Mapping[str, Sequence[Scores]] | None = None,
    smallest_effect: float = 0.5,
    stopped_early: bool = False,
) -> Decision:
    """The verdict of every treatment against the control. Layers without a gate of their own are held to 3.5.

    `clusters` names the sample of each row: repeats share it. `judges` holds, per variant, one row of scores per judge.
    """
    # Whoever shows a decision needs no NumPy.
    from evenhand.compare._measure import Setting, agreement, gate_states, measure  # noqa: PLC0415
    from evenhand.compare._tell import told, told_alone  # noqa: PLC0415

    layers = check_columns(columns, control, clusters)
    check_gates(gates or {}, layers)
    least = {layer: (gates or {}).get(layer, DEFAULT_GATE) for layer in layers}
    setting = Setting(
        control=control,
        layers=layers,
        gates={name: gate_states(column, clusters, layers, least) for name, column in columns.items()},
        agreed=agreement(judges or {}, tuple(columns), len(clusters)),
        smallest_effect=smallest_effect,
        seed=seed,
        stopped_early=stopped_early,
    )
    facts = measure(columns, clusters, setting)
    return told(facts, setting) if facts else told_alone(columns[control], clusters, setting)
