"""Ranking: competition ranks by score, ties broken as the method says, what is equal in all shares the rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from evenhand.model import Ranked, Rubric, Scorecard, Scored, TieBreak

Key = tuple[Fraction | tuple[Fraction, ...], ...]


def rank(rubric: Rubric, cards: Sequence[Scorecard]) -> tuple[Ranked, ...]:
    """Best first; incomplete scorecards stand at the end without a rank."""
    ties = [tie for tie in rubric.method.ties if _is_asked(rubric, tie)]
    keys = {card.id: _key(card, ties) for card in cards if card.exact is not None}
    placed = sorted((card for card in cards if card.id in keys), key=lambda card: keys[card.id], reverse=True)
    places: list[Ranked] = []
    for position, card in enumerate(placed):
        shares = position > 0 and keys[card.id] == keys[placed[position - 1].id]
        level = places[-1].rank if shares else position + 1
        broken_by = _broken_by(position, placed, keys, ties)
        places.append(Ranked(level, card.id, card.exact, card.decimals, broken_by))
    return (*places, *(Ranked(None, c.id, None, c.decimals) for c in cards if c.exact is None))


def equivalent(ranking: Sequence[Ranked], id: str) -> list[str]:
    """The outputs that share this one's rank."""
    rank = next(place.rank for place in ranking if place.id == id)
    return [place.id for place in ranking if place.rank == rank and rank is not None and place.id != id]


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


def _broken_by(
    position: int,
    placed: Sequence[Scorecard],
    keys: Mapping[str, Key],
    ties: Sequence[TieBreak],
) -> str | None:
    """The tie-break that set this place apart from the one above it, or, for the first, from the one below."""
    key = keys[placed[position].id]
    for neighbour in (position - 1, position + 1):
        if 0 <= neighbour < len(placed):
            other = keys[placed[neighbour].id]
            if other[0] == key[0] and other != key:
                return str(ties[next(at for at in range(len(ties)) if other[at + 1] != key[at + 1])])
    return None


def _is_asked(rubric: Rubric, tie: TieBreak) -> bool:
    return tie.by != "criterion" or tie.of in rubric.leaves
