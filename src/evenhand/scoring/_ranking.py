"""Ranking: competition ranks by score, ties broken as the method says, what is equal in all shares the rank."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from evenhand.model import Ranked, Rubric, Scorecard, Scored, TieBreak

# Enough to look at; a tie of thousands is told by its rank.
MOST_NAMED = 5

Key = tuple[Fraction | tuple[Fraction, ...], ...]


def rank(rubric: Rubric, cards: Sequence[Scorecard]) -> tuple[Ranked, ...]:
    """Best first; incomplete scorecards stand at the end without a rank."""
    ties = asked_ties(rubric)
    keys = {card.id: _key(card, ties) for card in cards if card.exact is not None}
    placed = sorted((card for card in cards if card.id in keys), key=lambda card: keys[card.id], reverse=True)
    broken_by = _broken_by([keys[card.id] for card in placed], ties)
    places: list[Ranked] = []
    for position, card in enumerate(placed):
        shares = position > 0 and keys[card.id] == keys[placed[position - 1].id]
        level = places[-1].rank if shares else position + 1
        places.append(Ranked(level, card.id, card.exact, card.decimals, broken_by[position]))
    return (*places, *(Ranked(None, c.id, None, c.decimals) for c in cards if c.exact is None))


def equivalents(ranking: Sequence[Ranked]) -> dict[str, list[str]]:
    """For each output that shares its rank, some of the others that do."""
    sharing: dict[int, list[str]] = {}
    for place in ranking:
        if place.rank is not None:
            sharing.setdefault(place.rank, []).append(place.id)
    groups = [ids for ids in sharing.values() if len(ids) > 1]
    return {id: [other for other in ids[: MOST_NAMED + 1] if other != id][:MOST_NAMED] for ids in groups for id in ids}


def _key(card: Scorecard, ties: Sequence[TieBreak]) -> Key:
    assert card.exact is not None
    return (card.exact, *(_measure(card, tie) for tie in ties))


def _measure(card: Scorecard, tie: TieBreak) -> tuple[Fraction, ...]:
    """How a scorecard stands on a tie-break; higher is better, and a holistic score, which has none, comes last."""
    if tie.by == "criterion":
        score = card.criteria.get(tie.of)
        return (score.value,) if isinstance(score, Scored) else ()
    count = len(card.flags if tie.of == "red_flags" else card.bonuses)
    return (Fraction(-count if tie.by == "fewer" else count),)


def _broken_by(keys: Sequence[Key], ties: Sequence[TieBreak]) -> list[str | None]:
    """For each place, the tie-break that set it apart from those above it, or, for the first, from those below."""
    told: list[str | None] = []
    for _, level in groupby(keys, key=lambda key: key[0]):
        groups = [list(equal) for _, equal in groupby(level)]
        for position, equal in enumerate(groups):
            other = groups[position - 1 if position else 1][0] if len(groups) > 1 else None
            told += [_difference(equal[0], other, ties)] * len(equal)
    return told


def _difference(key: Key, other: Key | None, ties: Sequence[TieBreak]) -> str | None:
    if other is None:
        return None
    return next(str(tie) for tie, one, two in zip(ties, key[1:], other[1:], strict=True) if one != two)


def asked_ties(rubric: Rubric) -> list[TieBreak]:
    """The method's tie-breaks, without those on criteria that this rubric does not have."""
    return [tie for tie in rubric.method.ties if tie.by != "criterion" or tie.of in rubric.leaves]


def decides_ties(rubric: Rubric) -> bool:
    """Whether the tie-breaks look at every criterion, so that what they leave tied is equal in all."""
    return set(rubric.leaves) <= {tie.of for tie in rubric.method.ties}
