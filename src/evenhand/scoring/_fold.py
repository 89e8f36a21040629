"""From answers to one value per criterion: leaves as answered, inner nodes as weighted means of their children."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from evenhand.model import Criterion, CriterionScore, Missing, Rubric, Scored, Unscored, not_asked

Values = dict[str, Fraction]


def fold(rubric: Rubric, scores: Mapping[str, CriterionScore]) -> tuple[Values, list[Missing]]:
    """The value of every criterion that has one, and the leaves that nobody answered."""
    values: Values = {}
    missing = []
    for id in rubric.leaves:
        score = scores.get(id)
        if isinstance(score, Scored):
            values[id] = score.value
        else:
            missing.append(Missing(id, score.why if isinstance(score, Unscored) else not_asked().why))
    for criterion in rubric.criteria:
        if criterion.children:
            _fold_children(criterion, values)
    return values, missing


def sum_of_products(pairs: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Exact, with one common denominator in place of a reduction per term."""
    terms = [(a.numerator * b.numerator, a.denominator * b.denominator) for a, b in pairs]
    common = lcm(*(below for _, below in terms))
    return Fraction(sum(above * (common // below) for above, below in terms), common)


def _fold_children(criterion: Criterion, values: Values) -> None:
    for child in criterion.children:
        if child.children:
            _fold_children(child, values)
    if all(child.id in values for child in criterion.children):
        shares = [(child.weight, child.scale.share(values[child.id])) for child in criterion.children]
        total = sum((weight for weight, _ in shares), Fraction(0))
        scale = criterion.scale
        values[criterion.id] = scale.min + (scale.max - scale.min) * sum_of_products(shares) / total
