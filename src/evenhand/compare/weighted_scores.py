"""Criteria behind scores, or layers behind composites, as one array; and means, wins and leads under other weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
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


_SCORES_PER_BLOCK = 1 << 16  # Scores that are held at once: half a megabyte, which stays in the cache.
# Beyond, the product is spread over threads, which on a busy machine wait for each other fifty times as long.
_LARGEST_PRODUCT = 1 << 18
# Scores this near, measured by their scale, are level: sums of binary fractions end beside each other.
_LEVEL_TOLERANCE = 1e-9


def draw_compare_weights_near(weights: Floats, spread: float, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings near these: Dirichlet, each weight w with a standard deviation of spread · √(w(1 − w))."""
    return rng.dirichlet(np.maximum(weights, 1e-9) * (1 / spread**2 - 1), size=draws)


def draw_sensitivity_weights(parts: int, draws: int, rng: np.random.Generator) -> Floats:
    """Weightings of every kind, all equally likely."""
    return rng.dirichlet(np.ones(parts), size=draws)


def compared_means_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """The mean score of every variant under each weighting: weightings × variants."""
    if weighed.linear:
        every = weighed.shares
        return weights @ np.tensordot(every, weighed.values, axes=1).T + every @ weighed.rest
    shares = _row_shares_in_compared_means(weighed)
    columns = [_ComparedVariantScores(weighed, variant) for variant in range(len(weighed.variants))]
    means = np.empty((len(weights), len(columns)))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        for variant, column in enumerate(columns):
            means[block, variant] = _compared_mean_under_weights(column.scores_under_weights(weights[block]), shares)
    return means


def compared_means_and_wins_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> tuple[Floats, Floats]:
    """The means, and the share of samples that every variant wins under each weighting; a tie is shared out."""
    if len(weighed.variants) == 2 and weighed.linear:
        return compared_means_under_weights(weighed, weights), _wins_between_variants_by_difference(weighed, weights)
    shares, near = _row_shares_in_compared_means(weighed), _LEVEL_TOLERANCE * weighed.span
    columns = [_ComparedVariantScores(weighed, variant) for variant in range(len(weighed.variants))]
    means, won = np.empty((len(weights), len(columns))), np.empty((len(weights), len(columns)))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        scores = [column.scores_under_weights(weights[block]) for column in columns]
        for variant, one in enumerate(scores):
            means[block, variant] = _compared_mean_under_weights(one, shares)
        won[block] = _compared_shares_of_sample_wins(scores, shares, near)
    return means, won


def _wins_between_variants_by_difference(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """Of two variants that nothing bends: one product of their differences is enough."""
    shares, near = _row_shares_in_compared_means(weighed), _LEVEL_TOLERANCE * weighed.span
    parts = np.ascontiguousarray((weighed.values[:, 0] - weighed.values[:, 1]).T)
    rest = weighed.rest[:, 0] - weighed.rest[:, 1]
    won = np.empty((len(weights), 2))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        ahead = _multiply_compared_weights(weights[block], parts)
        ahead += rest
        won[block] = _wins_between_compared_variants(ahead, shares, near)
    return won


def _compared_shares_of_sample_wins(scores: list[Floats], shares: Floats | None, near: float) -> Floats:
    if len(scores) == 2:
        return _wins_between_compared_variants(scores[0] - scores[1], shares, near)
    best = np.maximum.reduce(scores) - near
    first = [one >= best for one in scores]
    count = np.sum(first, axis=0)
    return np.stack([_compared_mean_under_weights(one / count, shares) for one in first], axis=1)


def _wins_between_compared_variants(ahead: Floats, shares: Floats | None, near: float) -> Floats:
    lead = _share_of_compared_rows(ahead > near, shares) - _share_of_compared_rows(ahead < -near, shares)
    return np.stack([(1 + lead) / 2, (1 - lead) / 2], axis=1)


def variant_lead_errors_under_weights(
    weighed: ComparedWeightedScores, weights: Floats, lead: tuple[int, int]
) -> Floats:
    """The standard error over clusters of the mean lead of one variant over another; 0 where there is one cluster."""
    unit, shares = np.unique(weighed.cluster, return_inverse=True)[1], weighed.shares
    counts = np.bincount(unit, weights=shares)  # What each cluster counts of the whole.
    n = len(counts)
    if n < 2:
        return np.zeros(len(weights))
    if weighed.linear:
        gaps = np.column_stack([one[:, lead[0]] - one[:, lead[1]] for one in (weighed.values, weighed.rest)])
        sums = np.stack([np.bincount(unit, weights=shares * column) for column in gaps.T], axis=1)
        apart = sums - counts[:, None] * sums.sum(axis=0)
        whole = np.column_stack([weights, np.ones(len(weights))])
        squares = np.einsum("ij,jk,ik->i", whole, apart.T @ apart, whole)
        straight: Floats = np.sqrt(np.maximum(squares, 0.0) * n / (n - 1))
        return straight
    first, second = (_ComparedVariantScores(weighed, variant) for variant in lead)
    errors = np.empty(len(weights))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        ahead = first.scores_under_weights(weights[block]) - second.scores_under_weights(weights[block])
        each = np.stack([np.bincount(unit, weights=shares * row) for row in ahead])
        each -= counts * each.sum(axis=1, keepdims=True)
        errors[block] = np.sqrt((each**2).sum(axis=1) * n / (n - 1))
    return errors


def compared_order_signs_under_weights(means: Floats, span: float) -> Floats:
    """Of each two variants, in order, which is ahead: 1, 0 or −1 per weighting."""
    pairs = list(combinations(range(means.shape[1]), 2))
    gaps = np.stack([means[:, one] - means[:, other] for one, other in pairs], axis=1)
    return np.where(np.abs(gaps) <= _LEVEL_TOLERANCE * span, 0.0, np.sign(gaps))


def compared_first_places_under_weights(means: Floats, span: float) -> Floats:
    """Each variant's share of the first place under each weighting: 1, or less where it is shared."""
    first = means >= means.max(axis=1, keepdims=True) - _LEVEL_TOLERANCE * span
    shared: Floats = first / first.sum(axis=1, keepdims=True)
    return shared


class _ComparedVariantScores:
    """The rows of one variant, laid out for products; what changes nothing is not done."""

    def __init__(self, weighed: ComparedWeightedScores, variant: int) -> None:
        self._parts = np.ascontiguousarray(weighed.values[:, variant].T)
        ceiling, factor, rest = (one[:, variant] for one in (weighed.ceiling, weighed.factor, weighed.rest))
        self._ceiling = None if np.isinf(ceiling).all() else ceiling
        self._factor = None if (factor == 1).all() else factor
        self._rest = rest if rest.any() else None

    def scores_under_weights(self, weights: Floats) -> Floats:
        """Weightings × rows."""
        scores = _multiply_compared_weights(weights, self._parts)
        if self._ceiling is not None:
            np.minimum(scores, self._ceiling, out=scores)
        if self._factor is not None:
            scores *= self._factor
        if self._rest is not None:
            scores += self._rest
        return scores


def _split_sensitivity_draws(draws: int, rows: int) -> Iterator[slice]:
    step = max(1, _SCORES_PER_BLOCK // max(1, rows))
    return (slice(start, start + step) for start in range(0, draws, step))


def _multiply_compared_weights(weights: Floats, parts: Floats) -> Floats:
    made = np.empty((len(weights), parts.shape[1]))
    step = max(1, _LARGEST_PRODUCT // (len(weights) * len(parts)))
    for start in range(0, parts.shape[1], step):
        np.matmul(weights, parts[:, start : start + step], out=made[:, start : start + step])
    return made


def _row_shares_in_compared_means(weighed: ComparedWeightedScores) -> Floats | None:
    """What each row counts; None where all count the same, as where each sample is scored once."""
    shares = weighed.shares
    return None if shares.min() == shares.max() else shares


def _compared_mean_under_weights(scores: Floats, shares: Floats | None) -> Floats:
    mean: Floats = scores.mean(axis=1) if shares is None else np.einsum("ij,j->i", scores, shares)
    return mean


def _share_of_compared_rows(held: NDArray[np.bool_], shares: Floats | None) -> Floats:
    if shares is None:  # Counting is ten times as fast as adding up.
        counted: Floats = np.count_nonzero(held, axis=1) / held.shape[1]
        return counted
    return _compared_mean_under_weights(held.astype(np.float64), shares)
