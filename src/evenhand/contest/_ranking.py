"""Who counts, who is out, who comes before whom, and what broke a tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from evenhand.contest._cards import Compared, below_threshold, card_alone, cards_together
from evenhand.contest._state import Entry, State
from evenhand.model import Kept, Scorecard

MOST_COMPARED = 3
COUNTING = ("gate_passed", "scored", "below_threshold", "won")
Key = tuple[Fraction, Fraction, datetime, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the ranking, and what set it apart from the one above where their scores are equal."""

    id: str
    rank: int
    tie_broken_by: str | None = None


def counted(state: State) -> list[Entry]:
    """Of each author the latest submission that passed the gate and could be scored; those before are superseded."""
    return [entry for entry in state.entries.values() if entry.status in COUNTING and entry.scored]


def survivors(state: State) -> list[Entry]:
    """Those of the counted ones in whom no dimension lies too low, the best alone first."""
    cards = {entry.id: card_alone(state, entry) for entry in counted(state)}
    kept = [state.entries[id] for id, card in cards.items() if not below_threshold(state.dimensions, card)]
    return sorted(kept, key=lambda entry: _key(state, entry.id, cards, cards))


def outcome(state: State) -> Compared | None:
    """What decides between the finalists: the panel that looked at a challenge, else the judges; None is each alone."""
    return _OUTCOMES.get((state,), lambda: _outcome(state))


def ranking(state: State) -> tuple[Place, ...]:
    """The finalists by their scores side by side, the other survivors after them by their own; best first."""
    return _RANKINGS.get((state,), lambda: _ranking(state))


# Everybody is told from one state: worked out for each, a ranking of hundreds would take minutes.
_OUTCOMES: Kept[Compared | None] = Kept(most=8)
_RANKINGS: Kept[tuple[Place, ...]] = Kept(most=8)


def _outcome(state: State) -> Compared | None:
    if len(state.finalists) < 2:
        return None
    told = [cards_together(state, part.judgments) for part in (state.review, state.final) if part is not None]
    return next((one for one in told if one is not None), None)


def _ranking(state: State) -> tuple[Place, ...]:
    alone = {entry.id: card_alone(state, entry) for entry in state.entries.values() if entry.scored}
    compared = outcome(state)
    cards = alone if compared is None else compared.cards
    first = sorted(state.finalists, key=lambda id: _key(state, id, cards, alone))
    rest = [entry.id for entry in survivors(state) if entry.id not in first]
    keys = [_key(state, id, cards, alone) for id in first] + [_key(state, id, alone, alone) for id in rest]
    ids = [*first, *rest]
    return tuple(
        Place(id=id, rank=place + 1, tie_broken_by=_tie(keys, place, place == len(first)))
        for place, id in enumerate(ids)
    )


def _key(state: State, id: str, cards: Mapping[str, Scorecard], alone: Mapping[str, Scorecard]) -> Key:
    """Higher first, by score and by score alone; then the earlier submission, then the order of arrival."""
    score, own = cards[id].exact, alone[id].exact
    assert score is not None
    assert own is not None
    return -score, -own, state.entries[id].submission.at, list(state.entries).index(id)


def _tie(keys: Sequence[Key], place: int, another_kind: bool) -> str | None:
    """Scores side by side and scores alone are not compared with each other."""
    if place == 0 or another_kind or keys[place][0] != keys[place - 1][0]:
        return None
    here, above = keys[place], keys[place - 1]
    names = ("score alone", "time of submission", "order of arrival")
    return next(name for name, one, other in zip(names, here[1:], above[1:], strict=True) if one != other)
