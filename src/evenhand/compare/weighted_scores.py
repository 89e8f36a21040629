"""The criteria behind scores, or the layers behind composites, as one array that weights multiply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.evals.eval_scoring import SAMPLE_RUBRIC_PREFIX, name_sample_rubric_criterion
from evenhand.runs.columns import RunTable
from evenhand.stats.arrays import CountedPer
from evenhand.wording import read_kept_fraction

RubricData = Mapping[str, Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_REST_TOLERANCE = 1e-9  # Sums of binary fractions end beside each other.


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedWeightedScores:
    """Parts of a score under weights that sum to 1.

    `values` holds rows × variants × parts, each part on the common span. A row is a sample and repeat that every
    variant has whole: rows of one `sample` are its repeats, rows of one `cluster` are not independent, and `per` says
    what counts once. Under other weights a score is
    `min(values · weights, ceiling) · factor + rest`: what is no matter of weights stays as it was.
    """

    of: str
    parts: tuple[str, ...]
    weights: Floats
    variants: tuple[str, ...]
    values: Floats
    sample: Integers
    cluster: Integers
    per: CountedPer
    ceiling: Floats
    factor: Floats
    rest: Floats
    left_out: int
    span: float
    note: str = ""

    @property
    def linear(self) -> bool:
        """Whether a score is the weighted sum and nothing else."""
        return bool(np.isinf(self.ceiling).all() and (self.factor == 1).all())

    @property
    def scores(self) -> Floats:
        """The scores under the weights as they are: rows × variants."""
        return np.minimum(self.values @ self.weights, self.ceiling) * self.factor + self.rest

    @property
    def shares(self) -> Floats:
        """What each row counts in a mean: samples count alike, or clusters."""
        counted = self.cluster if self.per == "cluster" else self.sample
        _, unit, size = np.unique(counted, return_inverse=True, return_counts=True)
        return 1 / (size[unit] * len(size))


def weigh_compared_criteria(
    table: RunTable, rubrics: Mapping[str, RubricData], tags: Sequence[str] = ()
) -> ComparedWeightedScores | None:
    """The criteria of the rubric that most outputs were scored by; None where it has fewer than two.

    `tags` holds, by sample, the tag that chose its rubric: rubrics may share ids of criteria. Without, there is one.
    """
    judged = {tag: _collect_compared_criterion_weights(rubric) for tag, rubric in rubrics.items()}
    under = {tag: _find_rows_under_rubric(table, tag, tags) for tag in rubrics}
    columns = {
        tag: {
            name: np.where(under[tag], table.criteria[column], np.nan)
            for name in leaves
            if (column := name_sample_rubric_criterion(tag, name)) in table.criteria
        }
        for tag, leaves in judged.items()
    }
    kept = {tag: list(own) for tag, own in columns.items() if len(own) > 1}
    if not kept:
        return None
    tag = max(kept, key=lambda one: np.all([~np.isnan(column) for column in columns[one].values()], axis=0).sum())
    leaves, rubric = {name: judged[tag][name] for name in kept[tag]}, rubrics[tag]
    rows, held = find_common_compared_rows(table, [*columns[tag].values(), table.score], under=under[tag])
    # This is said, since samples under other rubrics count in no figure.
    note = f"Only samples under the rubric {rubric['name']!r} are looked at." if len(rubrics) > 1 else ""
    raw = np.stack([columns[tag][name][rows] for name in leaves], axis=-1)
    weights = np.array([abs(leaf.weight) for leaf in leaves.values()])
    values = np.stack([leaf.scale_scores(raw[..., place]) for place, leaf in enumerate(leaves.values())], axis=-1)
    factor, ceiling = _limits_of_compared_scores(rubric, list(leaves), raw)
    scale = rubric["method"]["scale"]
    made = ComparedWeightedScores(
        of="criteria",
        parts=tuple(leaves),
        weights=weights / weights.sum(),
        variants=table.variants,
        values=values,
        sample=table.sample[rows[:, 0]],
        cluster=table.cluster[rows[:, 0]],
        per=table.frame.composite.per,
        ceiling=ceiling,
        factor=factor,
        rest=np.zeros(values.shape[:2]),
        left_out=held,
        span=float(read_kept_fraction(scale["max"]) - read_kept_fraction(scale["min"])),
        note=note,
    )
    # What the method did beyond (flags, bonuses, caps, how a panel was joined) is kept as it was.
    rest = table.score[rows] - made.scores
    return replace(made, rest=np.where(np.abs(rest) <= _REST_TOLERANCE * made.span, 0.0, rest))


def weigh_compared_layers(table: RunTable) -> ComparedWeightedScores | None:
    """The layers of the composite, with what they weigh in it; None where there are fewer than two."""
    names = [name for name, column in table.layers.items() if not np.isnan(column).all()]
    if len(names) < 2:
        return None
    rows, held = find_common_compared_rows(table, [table.layers[name] for name in names])
    values = np.stack([table.layers[name][rows] for name in names], axis=-1)
    flat = values.shape[:2]
    chosen = table.frame.find_layer_weights()
    weights = np.array([float(chosen.get(name, 1)) for name in names])
    return ComparedWeightedScores(
        of="layers",
        parts=tuple(names),
        weights=weights / weights.sum(),
        variants=table.variants,
        values=values,
        sample=table.sample[rows[:, 0]],
        cluster=table.cluster[rows[:, 0]],
        per=table.frame.composite.per,
        ceiling=np.full(flat, np.inf),
        factor=np.ones(flat),
        rest=np.zeros(flat),
        left_out=held,
        span=4.0,
    )


@dataclass(frozen=True, slots=True)
class _ComparedWeightedCriterion:
    """A criterion as its score takes part: its weight among all, below 0 for points that are taken off."""

    weight: float
    low: float
    high: float
    onto: tuple[float, float] | None
    stretch: float = 1.0  # Of points: all of them over the positive ones, of which a score is the share.

    def scale_scores(self, column: Floats) -> Floats:
        put = column
        if self.onto is not None:
            put = self.onto[0] + (column - self.low) / (self.high - self.low) * (self.onto[1] - self.onto[0])
        return put * self.stretch if self.weight > 0 else -put * self.stretch


def _collect_compared_criterion_weights(rubric: RubricData) -> dict[str, _ComparedWeightedCriterion]:
    """The leaves by id with what each weighs in the whole; a run keeps rubrics as plain data."""
    onto = rubric["method"]["steps"][0].get("onto")
    span = (float(read_kept_fraction(onto["min"])), float(read_kept_fraction(onto["max"]))) if onto else None
    points = [float(read_kept_fraction(one["points"])) for one in rubric["criteria"] if one["points"] is not None]
    stretch = sum(map(abs, points)) / sum(one for one in points if one > 0) if points else 1.0
    return {
        leaf["id"]: _ComparedWeightedCriterion(
            weight,
            float(read_kept_fraction(leaf["scale"]["min"])),
            float(read_kept_fraction(leaf["scale"]["max"])),
            (0.0, 1.0) if leaf["points"] is not None else span,
            stretch,
        )
        for leaf, weight in _iterate_sensitivity_weights(rubric["criteria"], 1.0)
    }


def _iterate_sensitivity_weights(criteria: Sequence[RubricData], above: float) -> Iterator[tuple[RubricData, float]]:
    own = [float(read_kept_fraction(one["weight"] if one["points"] is None else one["points"])) for one in criteria]
    total = sum(map(abs, own))
    for one, weight in zip(criteria, own, strict=True):
        share = above * weight / total
        if one["children"]:
            yield from _iterate_sensitivity_weights(one["children"], share)
        else:
            yield one, share


def _find_rows_under_rubric(table: RunTable, key: str, tags: Sequence[str]) -> NDArray[np.bool_]:
    """Which rows a rubric scored; criteria of a sample's own rubric have columns of their own, which say so."""
    if not tags or key.startswith(SAMPLE_RUBRIC_PREFIX):
        return np.ones(len(table.sample), dtype=np.bool_)
    return np.array([tag == key for tag in tags], dtype=np.bool_)[table.sample]


def find_common_compared_rows(
    table: RunTable,
    columns: Sequence[Floats],
    *,
    among: Sequence[int] | None = None,
    under: NDArray[np.bool_] | None = None,
) -> tuple[Integers, int]:
    """Rows of the table, one line per sample and repeat that every variant has whole, and how many samples have none.

    With `among`, every variant of these places; other columns of a line then mean nothing. With `under`, of these rows.
    """
    whole = np.all([~np.isnan(column) for column in columns], axis=0)
    places = table.sample * (int(table.repeat.max(initial=0)) + 1) + table.repeat
    every = np.unique(places if under is None else places[under])
    lines = np.full((len(every), len(table.variants)), -1, dtype=np.int64)
    lines[np.searchsorted(every, places[whole]), table.variant[whole]] = np.flatnonzero(whole)
    kept = ((lines if among is None else lines[:, list(among)]) >= 0).all(axis=1)
    of_line = every // (int(table.repeat.max(initial=0)) + 1)
    return lines[kept], len(np.unique(of_line)) - len(np.unique(of_line[kept]))


def _limits_of_compared_scores(rubric: RubricData, names: Sequence[str], raw: Floats) -> tuple[Floats, Floats]:
    """What ceilings and shortfalls do to each row: they ask about criteria, never about weights."""
    factor, ceiling = np.ones(raw.shape[:2]), np.full(raw.shape[:2], np.inf)
    fixed = [one["id"] for one in rubric["criteria"] if one.get("fixed")]
    for step in rubric["method"]["steps"]:
        if "criterion" in step and step["criterion"] in names:
            low = raw[..., names.index(step["criterion"])] < float(read_kept_fraction(step["below"]))
            ceiling = np.where(low, np.minimum(ceiling, float(read_kept_fraction(step["at"]))), ceiling)
        elif set(step) == {"below"}:
            below = float(read_kept_fraction(step["below"]))
            for name in set(fixed) & set(names):
                factor *= np.minimum(raw[..., names.index(name)] / below, 1)
    return factor, ceiling
