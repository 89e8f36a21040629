"""Criteria behind scores, or layers behind composites, as one array; and means, wins and leads under other weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.judged_columns import collect_judged_columns, list_run_judges
from evenhand.compare.panel_weights import PanelUnderWeights
from evenhand.evals.eval_scoring import SAMPLE_RUBRIC_PREFIX, name_sample_rubric_criterion
from evenhand.model.method import Round
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import RunTable
from evenhand.runs.stored_judgments import RunRubric, restore_run_rubric
from evenhand.scoring.panel_columns import score_panel_columns
from evenhand.scoring.panel_pooling import multiply_weightings, round_half_away
from evenhand.stats.arrays import CountedPer
from evenhand.wording import read_kept_fraction

RubricData = Mapping[str, Any]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
# Scores that are rounded one by one. Where there are more, there are so many outputs that it moves means by 0.0001.
_MOST_ROUNDED = 20_000_000
_REST_TOLERANCE = 1e-9  # Sums of binary fractions end beside each other.


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedWeightedScores:
    """Parts of a score under weights that sum to 1.

    `values` holds rows × variants × parts, each part on the common span. A row is a sample and repeat that every
    variant has whole: rows of one `sample` are its repeats, rows of one `cluster` are not independent, and `per` says
    what counts once. Under other weights a score is `values · weights`, rounded, `+ rest`; or where there is a `panel`,
    what that makes of each judge's answers. What is no matter of weights stays as it was.
    """

    of: str
    parts: tuple[str, ...]
    weights: Floats
    variants: tuple[str, ...]
    values: Floats
    sample: Integers
    cluster: Integers
    per: CountedPer
    rest: Floats
    left_out: int
    span: float
    note: str = ""
    panel: PanelUnderWeights | None = None
    decimals: int | None = None  # To which the sum is rounded.
    answers: PanelUnderWeights | None = None  # Behind criteria, also where no panel is needed.
    linear: bool = True  # Whether a score is the weighted sum and nothing else, before it is rounded.

    def needs_no_score(self, weightings: int) -> bool:
        """Whether sums over all rows are enough: nothing bends a score, and rounding each would change no mean."""
        rounded = self.decimals is not None and weightings * self.rest.size <= _MOST_ROUNDED
        return self.panel is None and not rounded

    @property
    def scores(self) -> Floats:
        """The scores under the weights as they are: rows × variants."""
        found = np.empty(self.rest.shape)
        for _, at, scores in iterate_compared_scores(self, self.weights[None]):
            found[at] = scores[:, 0].T
        return found

    @property
    def shares(self) -> Floats:
        """What each row counts in a mean: samples count alike, or clusters."""
        counted = self.cluster if self.per == "cluster" else self.sample
        _, unit, size = np.unique(counted, return_inverse=True, return_counts=True)
        return 1 / (size[unit] * len(size))


def weigh_compared_criteria(
    table: RunTable,
    rubrics: Mapping[str, RubricData],
    tags: Sequence[str] = (),
    asked: Mapping[str, RunRubric] | None = None,
) -> ComparedWeightedScores | None:
    """The criteria of the rubric that most outputs were scored by; None where it has fewer than two.

    `tags` holds, by sample, the tag that chose its rubric: rubrics may share ids of criteria. Without, there is one.
    `asked` says who judged by each rubric; without, all whose answers are there, each with the same weight.
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
    leaves, rubric = {name: judged[tag][name] for name in kept[tag]}, restore_run_rubric(rubrics[tag])
    own = collect_judged_columns(table, rubric, (asked or {}).get(tag) or list_run_judges(table, rubric, tag))
    told = score_panel_columns(rubric, own.reviews, own.unsafe).score
    rows, held = find_common_compared_rows(table, [np.where(under[tag], told, np.nan), table.score], under=under[tag])
    weights = np.array([abs(leaf.weight) for leaf in leaves.values()])
    panel = PanelUnderWeights(
        rubric=rubric, parts=tuple(leaves), judged=own, lines=rows, rest=np.zeros(rows.shape, dtype=np.float64)
    )
    made = ComparedWeightedScores(
        of="criteria",
        parts=tuple(leaves),
        weights=weights / weights.sum(),
        variants=table.variants,
        values=np.stack([leaf.scale_scores(columns[tag][name][rows]) for name, leaf in leaves.items()], axis=-1),
        sample=table.sample[rows[:, 0]],
        cluster=table.cluster[rows[:, 0]],
        per=table.frame.composite.per,
        rest=panel.rest,
        left_out=held,
        span=float(rubric.method.scale.max - rubric.method.scale.min),
        # This is said, since samples under other rubrics count in no figure.
        note=f"Only samples under the rubric {rubric.name!r} are looked at." if len(rubrics) > 1 else "",
        panel=panel,
    )
    # What the answers do not tell of a score is kept as it was.
    rest = table.score[rows] - made.scores
    rest = np.where(np.abs(rest) <= _REST_TOLERANCE * made.span, 0.0, rest)
    panel = replace(panel, rest=rest)
    return _straighten_compared_scores(replace(made, rest=rest, panel=panel, answers=panel))


def weigh_compared_criteria_by(
    weighed: ComparedWeightedScores, rubric: Rubric, shares: Mapping[str, float]
) -> ComparedWeightedScores:
    """The same answers by a rubric with other numbers; `shares` are what its leaves weigh in the whole."""
    assert weighed.answers is not None
    weights = np.array([shares[id] for id in weighed.parts])
    panel = replace(weighed.answers, rubric=rubric)
    made = replace(weighed, panel=panel, weights=weights / weights.sum(), linear=True, decimals=None)
    return _straighten_compared_scores(made)


def _straighten_compared_scores(weighed: ComparedWeightedScores) -> ComparedWeightedScores:
    """Without the panel where scores are sums by weight and nothing else: then means need no score of any output."""
    panel = weighed.panel
    assert panel is not None
    straight = panel.find_straight_scores()
    if straight is None:
        return replace(weighed, linear=False)
    if not panel.works_alike:
        # The sum of positive points is the same for all: a lead turns where that of the points met does, unless points
        # that are taken off leave an output below nothing.
        off = np.array([(panel.rubric.leaves[id].points or 0) < 0 for id in panel.parts])
        taken = np.nan_to_num(weighed.values[..., off]).any()
        return replace(weighed, linear=not weighed.rest.any() and not taken)
    scale, moved = panel.rubric.method.scale, straight + weighed.rest[..., None]
    if weighed.rest.any() and (moved.min() < float(scale.min) or moved.max() > float(scale.max)):
        return replace(weighed, linear=False)
    last = panel.rubric.method.steps[-1]
    if panel.rounds and panel.rounds != [last]:
        return replace(weighed, values=straight)
    return replace(weighed, values=straight, panel=None, decimals=last.decimals if isinstance(last, Round) else None)


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


_WEIGHTINGS_OF_ERRORS = 100  # Of which the scores of all rows are held at once.
_SCORES_PER_BLOCK = 1 << 16  # Scores that are held at once: half a megabyte, which stays in the cache.
# Scores this near, measured by their scale, are level: sums of binary fractions end beside each other.
LEVEL_TOLERANCE = 1e-9


def compared_means_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """The mean score of every variant under each weighting: weightings × variants."""
    shares = weighed.shares
    alike = _find_even_share(shares)
    if weighed.needs_no_score(len(weights)):
        return weights @ np.tensordot(shares, weighed.values, axes=1).T + shares @ weighed.rest
    means = np.zeros((len(weights), len(weighed.variants)))
    for block, at, scores in iterate_compared_scores(weighed, weights):
        means[block] += _add_up_by_share(scores, shares[at], alike)
    return means


def compared_means_and_wins_under_weights(weighed: ComparedWeightedScores, weights: Floats) -> tuple[Floats, Floats]:
    """The means, and the share of samples that every variant wins under each weighting; a tie is shared out."""
    if len(weighed.variants) == 2 and weighed.needs_no_score(len(weights)):
        return compared_means_under_weights(weighed, weights), _wins_between_variants_by_difference(weighed, weights)
    shares, near = weighed.shares, LEVEL_TOLERANCE * weighed.span
    alike = _find_even_share(shares)
    means = np.zeros((len(weights), len(weighed.variants)))
    won = np.zeros(means.shape)
    for block, at, scores in iterate_compared_scores(weighed, weights):
        means[block] += _add_up_by_share(scores, shares[at], alike)
        won[block] += _compared_shares_of_sample_wins(scores, shares[at], alike, near)
    return means, won


def iterate_compared_scores(weighed: ComparedWeightedScores, weights: Floats) -> Iterator[tuple[slice, slice, Floats]]:
    """Scores by blocks: which weightings, which rows, and variants × weightings × rows."""
    if weighed.panel is not None:
        yield from weighed.panel.iterate_scores(weights)
        return
    parts = [np.ascontiguousarray(weighed.values[:, variant].T) for variant in range(len(weighed.variants))]
    every, moved = slice(0, len(weighed.values)), bool(weighed.rest.any())
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        scores = np.stack([multiply_weightings(weights[block], own) for own in parts])
        if weighed.decimals is not None:
            scores = round_half_away(scores, weighed.decimals)
        yield block, every, scores + weighed.rest.T[:, None] if moved else scores


def _wins_between_variants_by_difference(weighed: ComparedWeightedScores, weights: Floats) -> Floats:
    """Of two variants that nothing bends: one product of their differences is enough."""
    shares, near = weighed.shares, LEVEL_TOLERANCE * weighed.span
    alike = _find_even_share(shares)
    parts = np.ascontiguousarray((weighed.values[:, 0] - weighed.values[:, 1]).T)
    rest = weighed.rest[:, 0] - weighed.rest[:, 1]
    won = np.empty((len(weights), 2))
    for block in _split_sensitivity_draws(len(weights), len(weighed.values)):
        ahead = multiply_weightings(weights[block], parts)
        ahead += rest
        won[block] = _wins_between_compared_variants(ahead, shares, alike, near)
    return won


def _compared_shares_of_sample_wins(scores: Floats, shares: Floats, alike: float | None, near: float) -> Floats:
    if len(scores) == 2:
        return _wins_between_compared_variants(scores[0] - scores[1], shares, alike, near)
    first = scores >= scores.max(axis=0) - near
    return _add_up_by_share(first / first.sum(axis=0), shares, alike)


def _wins_between_compared_variants(ahead: Floats, shares: Floats, alike: float | None, near: float) -> Floats:
    above, below = (_share_of_compared_rows(one, shares, alike) for one in (ahead > near, ahead < -near))
    level = shares.sum() - above - below
    return np.stack([above + level / 2, below + level / 2], axis=1)


def variant_lead_errors_under_weights(
    weighed: ComparedWeightedScores, weights: Floats, lead: tuple[int, int]
) -> Floats:
    """The standard error over clusters of the mean lead of one variant over another; 0 where there is one cluster."""
    unit, shares = np.unique(weighed.cluster, return_inverse=True)[1], weighed.shares
    counts = np.bincount(unit, weights=shares)  # What each cluster counts of the whole.
    n = len(counts)
    if n < 2:
        return np.zeros(len(weights))
    if weighed.needs_no_score(len(weights)):
        gaps = np.column_stack([one[:, lead[0]] - one[:, lead[1]] for one in (weighed.values, weighed.rest)])
        sums = np.stack([np.bincount(unit, weights=shares * column) for column in gaps.T], axis=1)
        apart = sums - counts[:, None] * sums.sum(axis=0)
        whole = np.column_stack([weights, np.ones(len(weights))])
        squares = np.einsum("ij,jk,ik->i", whole, apart.T @ apart, whole)
        straight: Floats = np.sqrt(np.maximum(squares, 0.0) * n / (n - 1))
        return straight
    errors = np.empty(len(weights))
    for start in range(0, len(weights), _WEIGHTINGS_OF_ERRORS):
        block = slice(start, start + _WEIGHTINGS_OF_ERRORS)
        ahead = np.empty((len(weights[block]), len(shares)))
        for some, at, scores in iterate_compared_scores(weighed, weights[block]):
            ahead[some, at] = scores[lead[0]] - scores[lead[1]]
        ahead *= shares
        each = np.stack([np.bincount(unit, weights=row) for row in ahead])
        each -= counts * each.sum(axis=1, keepdims=True)
        errors[block] = np.sqrt((each**2).sum(axis=1) * n / (n - 1))
    return errors


def _split_sensitivity_draws(draws: int, rows: int) -> Iterator[slice]:
    step = max(1, _SCORES_PER_BLOCK // max(1, rows))
    return (slice(start, start + step) for start in range(0, draws, step))


def _find_even_share(shares: Floats) -> float | None:
    """What every row counts, where all count the same, as where each sample is scored once."""
    return float(shares[0]) if shares.min() == shares.max() else None


def _share_of_compared_rows(held: NDArray[np.bool_], shares: Floats, alike: float | None) -> Floats:
    if alike is not None:  # Counting is ten times as fast as adding up.
        counted: Floats = np.count_nonzero(held, axis=1) * alike
        return counted
    return np.asarray(np.einsum("kr,r->k", held.astype(np.float64), shares))


def _add_up_by_share(scores: Floats, shares: Floats, alike: float | None) -> Floats:
    """Variants × weightings × rows to weightings × variants; no product, which would be spread over threads."""
    if alike is not None:
        return np.asarray(scores.sum(axis=-1).T * alike)
    return np.asarray(np.einsum("vkr,r->kv", scores, shares))
