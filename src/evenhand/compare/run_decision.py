"""The decision of a whole run: the verdict between its variants, held to every gate of its eval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from typing import Any

import numpy as np

from evenhand.compare.cascade import estimate_variant_through_cascade, measure_cascade_layer
from evenhand.compare.decide import DEFAULT_LAYER_GATE, DecisionTerms, decide_comparison
from evenhand.compare.decision import (
    PASS_RATE,
    CompareDecision,
    GateSamples,
    GateState,
    RowScores,
    VariantColumn,
    describe_gates_missed_by_variant,
)
from evenhand.compare.facts import JUDGE_LAYER, LossShare, PositionPicks
from evenhand.compare.measure import SPAN_OF_COMPOSITES
from evenhand.compare.paired_rows import JudgeRows
from evenhand.compare.stopping import COMPOSITE_NUMBER, NumberName, StoppingTerms
from evenhand.compare.variant_gates import (
    SampleNames,
    SingleVariant,
    decide_single_variant,
    find_compared_samples_short_of_gate,
    hold_compared_variant_to_gates,
    hold_single_variant_to_gates,
    reach_layer_of_variant,
)
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_schema import MOST_REPEATS
from evenhand.runs.cascade_draw import BORDERLINE_NUMBER, PASSED_NUMBER, UNGATED_NUMBER
from evenhand.runs.pairs import summarise_run_position_picks
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.summary import RunSummary, summarise_run_layer_sets
from evenhand.runs.tally import RunTallyMean, RunVariantTally
from evenhand.stats.cascades import CascadeMean
from evenhand.stats.multiple_tests import Looks, looks_after
from evenhand.wording import format_plural, word_layers

GatesByVariant = Mapping[str, tuple[GateState, ...]]


def list_looks_behind_verdict(setup: Mapping[str, Any], samples: int) -> Looks | None:
    """The looks that a run of so many samples has had by its setup; None where it was to end with its last sample."""
    until = setup.get("until_decided")
    return looks_after(samples, until["looks"]) if until and samples else None


def decide_between_run_variants(
    frame: RunEvalRecord,
    summary: RunSummary,
    looks: Looks | None = None,
    *,
    stopped_early: bool = False,
    name_samples: SampleNames | None = None,
) -> CompareDecision:
    """What cannot be compared is not: the decision says why, and nothing passes.

    `name_samples` gives the ids of samples, so that those that miss a gate are named.
    """
    tallies = summary.tallies
    layers = {layer for tally in tallies.values() for own in tally.composites_by_layers for layer in own}
    gates = {
        name: hold_compared_variant_to_gates(frame, tally, name_samples, but=layers) for name, tally in tallies.items()
    }
    least = frame.list_layer_gates(layers)
    short = {
        name: _find_compared_samples_failing_gates(tally, layers, least, name_samples)
        for name, tally in tallies.items()
    }
    try:
        if any(len(tally.composites_by_layers) > 1 for tally in tallies.values()):
            raise _build_compared_layers_error(summary, name_samples)  # Between variants, the comparison says it.
        if len(tallies) == 1:
            only = frame.control
            decision = _decide_on_only_variant(tallies[only], frame, least, gates[only], short[only])
        else:
            columns, judges, rows = _select_compared_columns(tallies, frame.control)
            decision = decide_comparison(
                columns,
                control=frame.control,
                clusters=[tallies[frame.control].clusters[row] for row in rows],
                samples=[tallies[frame.control].places[row] // MOST_REPEATS for row in rows],
                gates=least,
                other_gates=gates,
                short_samples=short,
                judges=judges,
                picks=list_position_picks(summarise_run_position_picks(summary.pairs), frame.control),
                **list_decision_terms(frame),
                seed=frame.seed,
                stopped_early=stopped_early,
                looks=looks,
                tell_looks=True,
            )
    except InputError as error:
        decision = _leave_verdict_undecided(str(error), frame, gates)
    if any(tally.composite.n for tally in tallies.values()):
        return decision
    return _decide_without_compared_scores(decision, tallies, frame.shippable_variants)


def _decide_on_only_variant(
    tally: RunVariantTally,
    frame: RunEvalRecord,
    least: Mapping[str, float],
    gates: tuple[GateState, ...],
    short: Mapping[str, GateSamples | None],
) -> CompareDecision:
    composed = next(iter(tally.composites_by_layers), ())
    reached = {layer: reach_layer_of_variant(tally, mean) for layer, mean in tally.layers.items() if layer in composed}
    estimate = estimate_variant_through_cascade(frame, tally, "composite") if tally.cascade else None
    if tally.cascade and JUDGE_LAYER in reached:
        column = _select_compared_columns({frame.control: tally}, frame.control)[0][frame.control]
        reached[JUDGE_LAYER] = measure_cascade_layer(column, list(tally.clusters))
    held = {layer: least.get(layer, DEFAULT_LAYER_GATE) for layer in reached}
    alone = SingleVariant(
        name=frame.control,
        composites=np.array(tally.composite.values),
        clusters=np.array(tally.clusters),
        samples=np.array(tally.samples),
        per=frame.composite.per,
        layer_gates=hold_single_variant_to_gates(reached, held, short),
        other_gates=gates,
        estimate=estimate if isinstance(estimate, CascadeMean) else None,
    )
    return decide_single_variant(alone)


def list_position_picks(found: Sequence[Mapping[str, Any]], control: str) -> dict[str, tuple[PositionPicks, ...]]:
    """The judges that followed the position in pairs with the control, by treatment, from what a run keeps of them."""
    picks: dict[str, tuple[PositionPicks, ...]] = {}
    for one in found:
        if control in (one["first"], one["second"]):
            treatment = one["first"] if one["second"] == control else one["second"]
            own = PositionPicks(
                judge=one["judge"], pairs=one["pairs"], followed=one["followed_place"], share=one["share"]
            )
            picks[treatment] = (*picks.get(treatment, ()), own)
    return picks


def list_decision_terms(frame: RunEvalRecord) -> DecisionTerms:
    """What an eval says about how its variants are compared."""
    loss = frame.composite.smallest_loss_share
    ends = {one["id"]: one["ends"] for rubric in frame.rubrics for one in rubric["criteria"]}
    return {
        "per": frame.composite.per,
        "smallest_effect": float(frame.smallest_effect),
        "span": None if frame.composite.standardise == "z" else SPAN_OF_COMPOSITES,
        "criterion_spans": {id: high - low for id, (low, high) in ends.items()},
        "smallest_loss": LossShare() if loss is None else LossShare(points=float(loss.points), share=float(loss.share)),
        "multivariate": frame.composite.multivariate,
        "tie_breaks": frame.tie_breaks,
        "judge_scale": frame.scale,
        "layer_weights": {name: float(weight) for name, weight in frame.find_layer_weights().items()},
        "normalises": any(rubric.get("normalise") for rubric in frame.rubrics),
    }


def list_decision_terms_for_stopping(frame: RunEvalRecord) -> StoppingTerms:
    """What the decision will hold a treatment to, for whoever looks at a run while it comes in."""
    terms = list_decision_terms(frame)
    passed = BORDERLINE_NUMBER if frame.count_borderline else PASSED_NUMBER
    own: dict[str, NumberName] = {PASS_RATE: passed, "score": ("score",), "composite": COMPOSITE_NUMBER}
    gates: dict[NumberName, float] = {
        own.get(name, ("criteria", name)): float(one) for name, one in frame.gates.items()
    }
    return StoppingTerms(
        per=terms["per"],
        span=terms["span"],
        layer_gates=frame.list_layer_gates({*frame.gates, JUDGE_LAYER}),
        default_gate=DEFAULT_LAYER_GATE,
        other_gates=gates if PASS_RATE in frame.gates else {**gates, UNGATED_NUMBER: 1.0},
        smallest_loss=terms["smallest_loss"],
    )


def _build_compared_layers_error(summary: RunSummary, name_samples: SampleNames | None) -> InputError:
    """Samples have composites of different layers: each set with the first sample that has it."""
    told = []
    for layers, count in summarise_run_layer_sets(summary).items():
        positions = (tally.composites_by_layers.get(layers, ()) for tally in summary.tallies.values())
        first = min(chain.from_iterable(positions))
        named = f", first {name_samples({first})[first]}" if name_samples else ""
        told.append(f"{word_layers(layers)} ({format_plural(count, 'sample')}{named})")
    return InputError(Fault(f"samples were scored from different layers, which cannot be compared: {'; '.join(told)}"))


def _decide_without_compared_scores(
    decision: CompareDecision, tallies: Mapping[str, RunVariantTally], shippable: Sequence[str]
) -> CompareDecision:
    """Nothing has a score: that, and what to do about it, comes before anything that a comparison would say."""
    failures: Counter[tuple[str, str]] = sum((tally.failures for tally in tallies.values()), Counter())
    kinds: Counter[str] = Counter()
    for (kind, _), count in failures.items():
        kinds[kind] += count
    # Each output that could not be made failed once; one that could not be judged may fail on every criterion.
    unmade = sum(tally.states["failed"] for tally in tallies.values())
    every = sum(sum(tally.states.values()) for tally in tallies.values())
    kind = (
        "output"
        if unmade == every
        else max((one for one in kinds if one != "output"), key=kinds.__getitem__, default="")
    )
    (_, why), _ = next((one for one in failures.most_common() if one[0][0] == kind), (("", ""), 0))
    what, step = _UNSCORED.get(kind, ("scored", "Fix what failed (see the failures), then run it again."))
    end = "" if why.endswith(("?", "!")) else "."
    headline = f"No output could be {what}{': ' if why else ''}{why.rstrip('.')}{end}"
    if not every:  # It failed at nothing: it did not come to a result, as while batches are waited for.
        headline = "The run was stopped before any output was scored."
        step = "Go on with it: evenhand run EVAL --resume."
    return replace(
        decision,
        verdict=decision.verdict if decision.verdict == "SOLO" else "UNDECIDED",
        headline=headline,
        sure="",
        reasons=tuple(
            reason for name in shippable for reason in describe_gates_missed_by_variant(name, decision.gates[name])
        ),
        comparisons=(),
        next_step=step,
        exit_code=1,
    )


_UNSCORED = {  # What could not be done where a kind of failure is the commonest, and what to do about it.
    "output": ("made", "Fix what makes the outputs (see the failures), then run it again."),
    "abstention": (
        "judged",
        "Name a judge that can answer these criteria, or ask yes/no questions about what the output says.",
    ),
    "judge": ("judged", "Fix what failed (see the failures), then run it again."),
}


def _find_compared_samples_failing_gates(
    tally: RunVariantTally, layers: Collection[str], gates: Mapping[str, float], name_samples: SampleNames | None
) -> dict[str, GateSamples | None]:
    """The samples below the gate of each layer whose mean is."""
    least = {layer: gates.get(layer, DEFAULT_LAYER_GATE) for layer in layers if layer in tally.layers}
    means = {layer: tally.layers[layer].exact for layer in least}
    return {
        layer: find_compared_samples_short_of_gate(tally, layer, least[layer], name_samples)
        for layer, mean in means.items()
        if mean is not None and mean < least[layer]
    }


def _leave_verdict_undecided(why: str, frame: RunEvalRecord, gates: GatesByVariant) -> CompareDecision:
    return CompareDecision(
        verdict="UNDECIDED",
        exit_code=1,
        headline=f"{why[0].upper()}{why[1:].rstrip('.')}.",
        sure="",
        control=frame.control,
        best=None,
        gates=gates,
        comparisons=(),
        reasons=tuple(
            reason
            for name in frame.shippable_variants
            for reason in describe_gates_missed_by_variant(name, gates[name])
        ),
        next_step="Give every sample the same kinds of checks, or run them as two evals.",
    )


def _find_rows_compared_in_all_variants(tallies: Mapping[str, RunVariantTally]) -> dict[str, Sequence[int]]:
    """For each variant the rows of those samples and repeats that all variants have: a stopped run may lack some."""
    first = next(iter(tallies.values())).places
    if all(tally.places == first for tally in tallies.values()):
        return dict.fromkeys(tallies, range(len(first)))
    shared = set.intersection(*(set(tally.places) for tally in tallies.values()))
    return {name: [row for row, place in enumerate(tally.places) if place in shared] for name, tally in tallies.items()}


def _select_compared_columns(
    tallies: Mapping[str, RunVariantTally], control: str
) -> tuple[dict[str, VariantColumn], dict[str, JudgeRows], Sequence[int]]:
    """The columns of every variant, those of its judges, and the rows of the control that they are of."""
    rows, columns = _find_rows_compared_in_all_variants(tallies), {}
    judges: dict[str, JudgeRows] = {}
    for name, tally in tallies.items():
        judges[name] = _select_compared_values(tally.judges, rows[name])
        columns[name] = VariantColumn(
            composite=_select_compared_values({"composite": tally.composite}, rows[name])["composite"],
            layers=_select_compared_values(tally.layers, rows[name]),
            criteria=_select_compared_values(tally.criteria, rows[name]),
            cascade=_select_compared_values(tally.cascade, rows[name]),
        )
    return columns, judges, rows[control]


def _select_compared_values(means: Mapping[str, RunTallyMean], rows: Sequence[int]) -> dict[str, RowScores]:
    selected: dict[str, RowScores] = {}
    for name, mean in means.items():
        values = mean.values
        same: dict[float, float] = {}  # An array gives a new number each time it is asked; most of them are equal.
        selected[name] = tuple(
            None if isnan(values[row]) else same.setdefault(values[row], values[row]) for row in rows
        )
    return selected
