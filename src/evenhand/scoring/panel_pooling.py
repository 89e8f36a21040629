"""What a panel makes of its reviewers' columns: ranks, scores on one spread, means and medians by weight, majorities.

The last axis is outputs; under several weightings there is one for these before it. NaN is what nobody answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.model.method import LEAST_TO_NORMALISE

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
FoundStatements = Mapping[str, Mapping[str, Booleans]]  # By kind and id.
# Beyond, a product is spread over threads, which on a busy machine wait for each other fifty times as long.
_LARGEST_PRODUCT = 1 << 18
SAME_NUMBER = 1e-9  # Floats that differ by less are one number: no rubric is written that finely.


def combine_review_columns(
    how: Literal["mean", "median", "borda"], each: Sequence[Floats], known: Booleans, weights: Sequence[Fraction]
) -> Floats:
    """The mean by weight over those who have a score, or the score with half of the weight on either side."""
    if len(each) == 1:
        return each[0]
    own = np.array([float(weight) for weight in weights])[:, None] * known
    total = own.sum(axis=0)
    if how == "median":
        return _find_weighted_medians(np.stack(each), own, total)
    shares = own / np.where(total > 0, total, 1.0)
    mean: Any = 0.0
    for share, heard, score in zip(shares, known, each, strict=True):
        mean = mean + share * (score if heard.all() else np.where(heard, score, 0.0))
    return np.asarray(mean if (total > 0).all() else np.where(total > 0, mean, np.nan))


def rank_outputs_beside(own: Floats) -> Floats:
    """Of the others beside each output, which share it beats, equals as half; NaN where there is no other."""
    others = np.isfinite(own).sum(axis=-2, keepdims=True) - 1
    beaten: Any = -0.5 * np.isfinite(own)  # Without itself.
    for at in range(own.shape[-2]):
        ahead = own - own[..., at : at + 1, :]
        beaten = beaten + np.where(np.abs(ahead) <= SAME_NUMBER, 0.5, ahead > 0)
    share = np.divide(beaten, others, out=np.full(own.shape, np.nan), where=np.broadcast_to(others > 0, own.shape))
    return np.where(np.isfinite(own), share, np.nan)


def normalise_outputs_beside(says: Sequence[Floats]) -> list[Floats]:
    """Each reviewer's scores on the mean and spread of all; one without enough scores or spread stays as it is."""
    middle, spread, count = _measure_spread(np.concatenate(says, axis=-2))
    normal = []
    for own in says:
        own_middle, own_spread, own_count = _measure_spread(own)
        acts = (own_count >= LEAST_TO_NORMALISE) & (own_spread > SAME_NUMBER) & (count >= LEAST_TO_NORMALISE)
        stretch = np.sqrt(spread / np.where(acts, own_spread, 1.0))
        normal.append(np.where(acts, middle + (own - own_middle) * stretch, own))
    return normal


def pool_majority_columns(
    ids: Sequence[str], values: Sequence[Mapping[str, Floats]], votes: Sequence[Booleans]
) -> dict[str, Floats]:
    """The value of each criterion that more than half of those who answered reach; half is not enough."""
    pooled: dict[str, Floats] = {}
    for id in ids:
        given = [(own[id], voting) for own, voting in zip(values, votes, strict=True) if id in own]
        if not given:
            continue
        each = np.sort(np.stack([np.where(voting, column, np.nan) for column, voting in given]), axis=0)
        answered = np.isfinite(each).sum(axis=0)
        place = np.maximum(answered - 1, 0) // 2
        pooled[id] = np.take_along_axis(each, place[None], axis=0)[0]
    return pooled


def join_found_statements(each: Sequence[FoundStatements], votes: Sequence[Booleans]) -> FoundStatements:
    """Every red flag and bonus that any of those who vote found."""
    joined: dict[str, dict[str, Booleans]] = {}
    for statements, voting in zip(each, votes, strict=True):
        for kind, found in statements.items():
            own = joined.setdefault(kind, {})
            for id, column in found.items():
                own[id] = own[id] | (column & voting) if id in own else column & voting
    return joined


def multiply_weightings(weights: Floats, parts: Floats) -> Floats:
    """The product of weightings × parts and parts × outputs."""
    made = np.empty((len(weights), parts.shape[1]))
    step = max(1, _LARGEST_PRODUCT // max(1, weights.size))
    for start in range(0, parts.shape[1], step):
        np.matmul(weights, parts[:, start : start + step], out=made[:, start : start + step])
    return made


def round_half_away(score: Floats, decimals: int) -> Floats:
    """Halves away from zero; what is a hair below a half in floats is one."""
    unit = 10.0**decimals
    made = score * unit
    made += np.copysign(0.5 + SAME_NUMBER, made)
    np.trunc(made, out=made)
    made /= unit
    return np.asarray(made)


def _measure_spread(scores: Floats) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Mean, variance and number of the scores beside each other."""
    known = np.isfinite(scores)
    count = known.sum(axis=-2, keepdims=True)
    middle = np.where(known, scores, 0.0).sum(axis=-2, keepdims=True) / np.maximum(count, 1)
    squares = (np.where(known, scores - middle, 0.0) ** 2).sum(axis=-2, keepdims=True)
    return middle, squares / np.maximum(count - 1, 1), count


def _find_weighted_medians(says: Floats, weights: Floats, total: Floats) -> Floats:
    weights = np.broadcast_to(weights if says.ndim == weights.ndim else weights[:, None], says.shape)
    order = np.argsort(says, axis=0, kind="stable")  # NaN comes last, and weighs nothing.
    scores = np.take_along_axis(says, order, axis=0)
    below = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    lower = np.argmax(below > total / 2 - SAME_NUMBER, axis=0)
    upper = np.argmax(below > total / 2 + SAME_NUMBER, axis=0)
    ends = [np.take_along_axis(scores, place[None], axis=0)[0] for place in (lower, upper)]
    return np.where(total > 0, (ends[0] + ends[1]) / 2, np.nan)
