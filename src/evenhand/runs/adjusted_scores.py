"""What needs all outputs of a run: length against score, judge scores corrected for it, and layers on one scale."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import InputError
from evenhand.runs.kept_texts import count_characters_of_run_output
from evenhand.runs.results import COMPOSITE_JUDGE_LAYER, HIGHEST_LAYER_SCORE, LOWEST_LAYER_SCORE
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.tally import RunVariantTally
from evenhand.stats.regression import LEAST_LENGTH_UNITS, length_bias
from evenhand.store.rows import Row, RowBatch, to_stored_json
from evenhand.store.store import Store
from evenhand.wording import (
    format_rounded,
    format_score,
    format_signed,
    read_kept_fraction,
    spell_exact_fraction,
    word_layer,
)

MOST_LENGTH_POINTS = 400  # Of a variant: more are a blot on the page, and every one of them is kept with the run.

Json = dict[str, Any]
Floats = NDArray[np.float64]
LayerColumns = Mapping[str, Floats]
ROWS_PER_BATCH = 500
FINEST_FRACTION = 10**6  # Adjusted scores are measured, not exact: six decimals are kept of them.


@dataclass(slots=True, kw_only=True)
class RunScoredOutputs:
    """All outputs of a run that have a composite, as they were scored one by one; NaN is a layer that one has not."""

    places: dict[tuple[int, str, int], int] = field(default_factory=dict)  # By position, variant and repeat.
    variants: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    layers: list[Mapping[str, str | None]] = field(default_factory=list)
    composites: list[float] = field(default_factory=list)
    weights: list[Mapping[str, Fraction]] = field(default_factory=list)

    def take_columns(self) -> dict[str, Floats]:
        """The layers, one column each."""
        names = dict.fromkeys(name for row in self.layers for name in row)
        return {
            name: np.array(
                [float(read_kept_fraction(row[name] or 0)) if row.get(name) else np.nan for row in self.layers]
            )
            for name in names
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthEffect:
    """What twice the length added to a judge's score, with its 95% interval, and the typical length in characters."""

    per_doubling: float
    low: float
    high: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedScores:
    """The layers after the correction for length, the composites after each step, and what was measured."""

    layers: LayerColumns
    debiased: Floats
    standardised: LayerColumns
    composites: Floats
    length: LengthEffect | None = None
    notes: tuple[str, ...] = ()


def adjust_run_result_rows(store: Store, run: str, frame: RunEvalRecord) -> AdjustedScores | None:
    """Write the composites of a run as its eval wants them computed, with the steps that moved them.

    Not needed where every output has its composite by itself. What each scored on its own is kept beside it, so that a
    run that goes on is adjusted again from there.
    """
    outputs = _collect_run_result_scores(store, run, frame)
    if not outputs.places:
        return None
    adjusted = adjust_run_result_scores(outputs, frame)
    scored = (row for row in store.results(run) if _key_run_result_row(row) in outputs.places)
    while rows := [_adjust_run_result_row(row, outputs, adjusted, frame) for row in islice(scored, ROWS_PER_BATCH)]:
        store.write_rows(RowBatch(results=rows))
    return adjusted


def _key_run_result_row(row: Row) -> tuple[int, str, int]:
    return row["position"], row["variant"], row["repeat"]


def _collect_run_result_scores(store: Store, run: str, frame: RunEvalRecord) -> RunScoredOutputs:
    found = RunScoredOutputs()
    by_rubric = {
        rubric["name"]: {name: read_kept_fraction(one) for name, one in (rubric.get("layer_weights") or {}).items()}
        for rubric in frame.rubrics
    }
    for row in store.results(run):
        if row["state"] != "scored" or row["variant"] not in frame.variants:
            continue
        content = json.loads(row["content"])
        plain = content.get("unadjusted") or {"layers": content["layers"], "composite": row["composite"]}
        found.places[_key_run_result_row(row)] = len(found.variants)
        found.variants.append(row["variant"])
        found.positions.append(row["position"])
        found.lengths.append(count_characters_of_run_output(content) or 0)
        found.layers.append(plain["layers"])
        found.composites.append(float(read_kept_fraction(plain["composite"])))
        found.weights.append(frame.composite.weights or by_rubric.get(content["rubric"], {}))
    return found


def adjust_run_result_scores(outputs: RunScoredOutputs, frame: RunEvalRecord) -> AdjustedScores:
    """First what length does to the judge layer is removed, then every layer is put on one scale."""
    settings, layers = frame.composite, outputs.take_columns()
    notes: list[str] = []
    length = None
    if settings.debias == "regress" and COMPOSITE_JUDGE_LAYER in layers:
        try:
            layers[COMPOSITE_JUDGE_LAYER], length = _remove_run_length_effect(outputs, layers[COMPOSITE_JUDGE_LAYER])
        except InputError as error:
            notes.append(f"the effect of length could not be measured and was not removed: {error}")
    debiased = _average_run_layers(layers, outputs.weights)
    on_one_scale, composites = layers, debiased
    if settings.standardise != "off":
        on_one_scale = standardise_run_layers(layers, settings.standardise)
        composites = _average_run_layers(on_one_scale, outputs.weights)
    return AdjustedScores(
        layers=layers,
        debiased=debiased,
        standardised=on_one_scale,
        composites=composites,
        length=length,
        notes=tuple(notes),
    )


def _remove_run_length_effect(outputs: RunScoredOutputs, judge: Floats) -> tuple[Floats, LengthEffect]:
    """Judge scores at the typical length, held to the scale; an InputError where the effect cannot be measured.

    Outputs of one sample are compared with each other, whichever variant they are of. What cannot be told from length
    counts as length: were variants held apart, the error of the slope would come into every difference unseen.
    """
    rows = np.flatnonzero(~np.isnan(judge) & (np.array(outputs.lengths) > 0))
    doublings = np.log2(np.array(outputs.lengths)[rows])
    positions = [outputs.positions[row] for row in rows]
    several = len(set(positions)) < len(positions)  # Across samples, hard questions with long answers would mislead.
    found = length_bias(judge[rows], doublings, groups=positions if several else None)
    slope, typical = found.slope / 100, float(doublings.mean())  # It is told per 100 units.
    adjusted = judge.copy()
    moved = judge[rows] - slope * (doublings - typical)
    adjusted[rows] = np.clip(moved, float(LOWEST_LAYER_SCORE), float(HIGHEST_LAYER_SCORE))
    return adjusted, LengthEffect(per_doubling=slope, low=found.low / 100, high=found.high / 100, length=2**typical)


def standardise_run_layers(layers: LayerColumns, how: str) -> dict[str, Floats]:
    """Each layer over all outputs that have it, so that none counts for more because its scores are more spread.

    `z`: every layer gets the mean that all have on average and the spread that those which vary have; `rank`: its rank
    among the outputs, ties in the middle, from 1 to 5. A layer in which all are equal is as good as the mean
    everywhere. Nothing leaves 1 to 5.
    """
    low, high = float(LOWEST_LAYER_SCORE), float(HIGHEST_LAYER_SCORE)
    if how == "rank":
        return {name: low + (high - low) * _rank_run_result_shares(column) for name, column in layers.items()}
    means = {name: float(np.nanmean(column)) for name, column in layers.items()}
    spreads = {name: float(np.nanstd(column)) for name, column in layers.items()}
    moved = [spread for spread in spreads.values() if spread > 0]
    mean, spread = float(np.mean(list(means.values()))), float(np.mean(moved)) if moved else 0.0
    return {
        name: np.clip(mean + spread * (column - means[name]) / (spreads[name] or 1.0), low, high)
        for name, column in layers.items()
    }


def _rank_run_result_shares(column: Floats) -> Floats:
    """The share of outputs below each one, half of its equals among them."""
    shares = np.full(len(column), np.nan)
    there = ~np.isnan(column)
    _, place, counts = np.unique(column[there], return_inverse=True, return_counts=True)
    below = np.concatenate(([0], np.cumsum(counts)[:-1]))
    shares[there] = (below + counts / 2)[place] / there.sum()
    return shares


def _average_run_layers(layers: LayerColumns, weights: Sequence[Mapping[str, Fraction]]) -> Floats:
    """The mean of the layers that each output has, as they weigh."""
    shares = {name: np.array([float(one.get(name, 1)) for one in weights]) for name in layers}
    total = sum(np.where(np.isnan(column), 0.0, shares[name]) for name, column in layers.items())
    summed = sum(np.nan_to_num(column) * shares[name] for name, column in layers.items())
    return np.asarray(summed / total, dtype=np.float64)


def _adjust_run_result_row(row: Row, outputs: RunScoredOutputs, adjusted: AdjustedScores, frame: RunEvalRecord) -> Row:
    place = outputs.places[_key_run_result_row(row)]
    content = json.loads(row["content"])
    plain = content.get("unadjusted") or {
        "layers": content["layers"],
        "composite": row["composite"],
        "steps": content["composite_steps"],
    }
    layers = dict(plain["layers"])
    if adjusted.length is not None and layers.get(COMPOSITE_JUDGE_LAYER) is not None:
        layers[COMPOSITE_JUDGE_LAYER] = _to_result_row_fraction(adjusted.layers[COMPOSITE_JUDGE_LAYER][place])
    composite = _to_result_row_fraction(adjusted.composites[place])
    content |= {
        "unadjusted": plain,
        "layers": layers,
        "composite_steps": [*plain["steps"], *_list_result_row_adjustments(place, outputs, adjusted, frame)],
    }
    if content.get("five_layers"):
        content["five_layers"] |= {"judge": layers.get(COMPOSITE_JUDGE_LAYER), "composite": composite}
    return {
        **row,
        "composite": composite,
        "number": float(read_kept_fraction(composite)),
        "content": to_stored_json(content),
    }


def _to_result_row_fraction(value: float) -> str:
    return spell_exact_fraction(Fraction(value).limit_denominator(FINEST_FRACTION)) or "0"


def _list_result_row_adjustments(
    place: int, outputs: RunScoredOutputs, adjusted: AdjustedScores, frame: RunEvalRecord
) -> list[Json]:
    """Each step that moved the composite, with the sentence that says how."""
    steps, before = [], outputs.composites[place]
    own = outputs.layers[place]
    if adjusted.length is not None and own.get(COMPOSITE_JUDGE_LAYER):
        judge, after = float(read_kept_fraction(own[COMPOSITE_JUDGE_LAYER] or 0)), float(adjusted.debiased[place])
        now = adjusted.layers[COMPOSITE_JUDGE_LAYER][place]
        why = (
            f"{word_layer(COMPOSITE_JUDGE_LAYER)} {format_score(judge)} is {format_score(now)} at the typical length: "
            f"{outputs.lengths[place]:,} characters, {format_rounded(adjusted.length.length, 0)} are typical, and "
            f"judges gave {format_signed(adjusted.length.per_doubling)} for each doubling"
        )
        steps.append({"step": "debias", "before": round(before, 4), "after": round(after, 4), "why": why})
        before = after
    if frame.composite.standardise != "off":
        names = [name for name in adjusted.layers if own.get(name)]
        parts = ", ".join(
            f"{word_layer(name)} {format_score(adjusted.layers[name][place])} = "
            f"{format_score(adjusted.standardised[name][place])}"
            for name in names
        )
        after = float(adjusted.composites[place])
        why = f"layers standardised by {frame.composite.standardise} over {len(outputs.variants):,} outputs: {parts}"
        steps.append({"step": "standardise", "before": round(before, 4), "after": round(after, 4), "why": why})
    return steps


def summarise_run_length_bias(tallies: Mapping[str, RunVariantTally]) -> list[Json]:
    """Per variant the lengths and composites of its scored outputs, thinned, with the line through all of them."""
    found = []
    for name, tally in tallies.items():
        if not tally.composite.n:
            continue
        lengths, scores = np.array(tally.lengths), np.array(tally.composite.values)
        there = ~np.isnan(lengths) & ~np.isnan(scores)
        order = np.lexsort((scores[there], lengths[there]))  # The place of a sample among others changes nothing.
        lengths, scores, clusters = (one[there][order] for one in (lengths, scores, np.array(tally.clusters)))
        # Evenly spaced from the shortest to the longest, so that both ends are kept.
        kept = np.linspace(0, len(lengths) - 1, min(len(lengths), MOST_LENGTH_POINTS)).round().astype(np.int64)
        shown = zip(lengths[kept], scores[kept], strict=True)
        points = [[int(length), round(float(score), 3)] for length, score in shown]
        one: Json = {"variant": name, "n": len(lengths), "points": points}
        found.append(one)
        unmeasured = dict.fromkeys(("line", "slope", "low", "high", "level", "correlation"))
        if len(clusters) and (clusters == clusters[0]).all():
            one |= {**unmeasured, "why_not": f"1 independent sample is too few (it takes {LEAST_LENGTH_UNITS})"}
            continue
        try:  # The line by its two ends, its slope per 100 characters with an interval, the correlation.
            bias = length_bias(scores, lengths, clusters=clusters)
        except InputError as error:
            one |= {**unmeasured, "why_not": str(error)}
        else:
            middle, across = float(scores.mean()), float(lengths.mean())
            ends = (float(lengths[0]), float(lengths[-1]))
            one["line"] = [[int(end), round(middle + bias.slope * (end - across) / 100, 4)] for end in ends]
            one |= {figure: float(f"{getattr(bias, figure):.4g}") for figure in ("slope", "low", "high")}
            one |= {"level": bias.level, "correlation": round(bias.correlation, 4), "why_not": ""}
    return found
