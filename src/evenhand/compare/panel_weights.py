"""A panel under other weights of its rubric: each judge's answers scored and joined anew, as in a rescore."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.judged_columns import JudgedColumns
from evenhand.model.method import PointsShare, Round, WeightedSum
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.scoring.panel_columns import CriterionWeightings, PanelColumns, PanelWeightings, score_panel_columns
from evenhand.scoring.panel_pooling import Floats

# Outputs and weightings of which scores are held at once: they stay in the cache, and what is no matter of weights is
# looked at once for all weightings of a block.
OUTPUTS_PER_BLOCK, WEIGHTINGS_PER_BLOCK = 512, 256


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelUnderWeights:
    """What judges said of the outputs of some samples, to be scored by a rubric under any weights of its leaves.

    A line is a sample and repeat, with an output of each variant. `rest` is what stored scores have beyond what the
    answers tell: lines × variants.
    """

    rubric: Rubric
    parts: tuple[str, ...]  # The leaves, in the order of weights; others weigh nothing.
    judged: JudgedColumns
    lines: NDArray[np.int64]  # Rows of the run: lines × variants.
    rest: Floats

    @property
    def works_alike(self) -> bool:
        """Whether the score is an average by weight and no more, once nothing bends it: not a share of points."""
        first = self.rubric.method.steps[0]
        return not isinstance(first, PointsShare) or all((one.points or 0) > 0 for one in self.rubric.criteria)

    @property
    def rounds(self) -> list[Round]:
        """The steps that round scores."""
        return [step for step in self.rubric.method.steps if isinstance(step, Round)]

    def with_rubric(self, rubric: Rubric) -> PanelUnderWeights:
        """The same answers by a rubric with other numbers."""
        return replace(self, rubric=rubric)

    def iterate_scores(self, weights: Floats) -> Iterator[tuple[slice, slice, Floats]]:
        """Scores by blocks: which weightings, which lines, and variants × weightings × lines."""
        low, high = float(self.rubric.method.scale.min), float(self.rubric.method.scale.max)
        step = max(1, OUTPUTS_PER_BLOCK // self.lines.shape[1])
        own = weigh_criteria_by_leaves(self.rubric, self.parts, weights)
        for start in range(0, len(self.lines), step):
            at = slice(start, start + step)
            judged, rest = self._take_lines(at), self.rest[at].T[:, None]
            moved = bool(rest.any())
            for first in range(0, len(weights), WEIGHTINGS_PER_BLOCK):
                block = slice(first, first + WEIGHTINGS_PER_BLOCK)
                made = self._score(judged, {id: weighed[block] for id, weighed in own.items()})
                scores = self._split_by_variant(made.score)
                yield block, at, np.clip(scores + rest, low, high) if moved else scores

    def find_straight_scores(self) -> Floats | None:
        """Scores with all weight on each part: lines × variants × parts. Under any weights, the score is their mean.

        None where a ceiling or another limit, or the way that judges are joined, may make it another one. A limit that
        does nothing where all weight is on one part does nothing between them. Rounding is not looked at.
        """
        found = []
        own = weigh_criteria_by_leaves(self.rubric, self.parts, np.eye(len(self.parts)))
        step = max(1, OUTPUTS_PER_BLOCK // self.lines.shape[1])
        for start in range(0, len(self.lines), step):
            at = slice(start, start + step)
            made = self._score(self._take_lines(at), own, rounded=False)
            if made.bent:
                return None
            found.append(np.moveaxis(self._split_by_variant(made.score), (0, 1, 2), (1, 2, 0)))
        return np.concatenate(found) if found else np.zeros((*self.lines.shape, len(self.parts)))

    def _take_lines(self, at: slice) -> JudgedColumns:
        return self.judged.take_rows(self.lines[at].T.ravel())  # By variant: the outputs of one stand together.

    def _split_by_variant(self, scores: Floats) -> Floats:
        return np.moveaxis(scores.reshape(len(scores), self.lines.shape[1], -1), 1, 0)

    def _score(self, judged: JudgedColumns, weights: CriterionWeightings, *, rounded: bool = True) -> PanelColumns:
        beside = self.lines.shape[1] if self.rubric.method.dialogue == "listwise" else 1
        under = PanelWeightings(weights=weights, beside=beside, rounded=rounded)
        return score_panel_columns(self.rubric, judged.reviews, judged.unsafe, under)


def weigh_criteria_by_leaves(rubric: Rubric, parts: Sequence[str], weights: Floats) -> CriterionWeightings:
    """What each criterion weighs where leaves have these shares of the whole; what is above them has their sum."""
    whole = sum((abs(_read_worth(one)) for one in rubric.criteria), Fraction(0))
    total = float(whole) if isinstance(rubric.method.steps[0], (WeightedSum, PointsShare)) else 1.0
    found: dict[str, Floats] = {}

    def walk(criterion: Criterion) -> Floats:
        if criterion.children:
            own = np.asarray(sum(walk(child) for child in criterion.children))
        elif criterion.id in parts:
            own = weights[:, [list(parts).index(criterion.id)]] * (total if _read_worth(criterion) > 0 else -total)
        else:
            own = np.zeros((len(weights), 1))
        found[criterion.id] = own
        return own

    for one in rubric.criteria:
        walk(one)
    return found


def _read_worth(criterion: Criterion) -> Fraction:
    return criterion.weight if criterion.points is None else criterion.points
