"""Who won and why, in sentences, and how far the decision can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb

from evenhand.contest._cards import PASSES, card_alone, cards_together
from evenhand.contest._ranking import outcome, ranking
from evenhand.contest._state import Final, State
from evenhand.model import Scorecard, Scored, written

UNKNOWN = "how often this judge errs is not known here: evenhand calibrate measures a judge against people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided, what it rests on, and how sure that is."""

    winner: str | None
    why: tuple[str, ...]
    how_sure: tuple[str, ...] = ()


def decision(state: State) -> Decision | None:
    """The decision of a contest that has been ranked or closed; None before."""
    if not state.revealed or (state.phase == "open" and state.winner is None) or state.phase in ("new", "judging"):
        return None
    if state.winner is None:
        return Decision(winner=None, why=(f"{state.why[0].upper()}{state.why[1:]}.",))
    if state.terms.mode == "fastest_first":
        return _first_to_pass(state, state.winner)
    if len(state.finalists) == 1:
        return _only_one(state, state.winner)
    return _compared(state, state.winner)


def _first_to_pass(state: State, winner: str) -> Decision:
    card = card_alone(state, state.entries[winner])
    earlier = list(state.entries.values())[: list(state.entries).index(winner)]
    judged = sum(entry.status not in ("unjudged", "policy_violation") for entry in earlier)
    unjudged = sum(entry.status == "unjudged" for entry in earlier)
    before = f" Of {judged} judged before it none did." if judged else ""
    before += f" {unjudged} before it could not be judged." if unjudged else ""
    why = f"{winner} is the first to reach {written(PASSES)}: {_shown(card)}.{before}"
    passing = [Fraction(1 if one.exact >= PASSES else -1) for one in card.reviews or () if one.exact is not None]
    return Decision(winner=winner, why=(why,), how_sure=(_of_panel(passing, "put it at 60 or more"),))


def _only_one(state: State, winner: str) -> Decision:
    card = card_alone(state, state.entries[winner])
    why = [f"{winner} is the only one with every dimension at band C or above: {_shown(card)}, not compared."]
    why += _challenge(state)
    return Decision(winner=winner, why=tuple(why), how_sure=("nobody was compared with it",))


def _compared(state: State, winner: str) -> Decision:
    places = ranking(state)
    second = places[1].id
    compared = outcome(state)
    alone = {id: card_alone(state, state.entries[id]) for id in state.finalists}
    cards = alone if compared is None else compared.cards
    how = "by their scores alone: nobody could be read side by side" if compared is None else "side by side"
    why = [f"{winner} came first of {len(state.finalists)} compared {how}: {_lead(cards, winner, second)}."]
    tie = places[1].tie_broken_by
    why += [f"The two are equal in score; {winner} comes first by {tie}."] if tie else []
    why += _challenge(state)
    why += [f"{note}." for note in (compared.notes if compared else ())]
    sure = [_by_dimension(state, cards, winner, second), _agrees_alone(alone, winner)]
    sure.append(_of_panel(_votes(cards, winner, second), f"put it ahead of {second}"))
    return Decision(winner=winner, why=tuple(why), how_sure=tuple(sure))


def _lead(cards: Mapping[str, Scorecard], winner: str, second: str) -> str:
    first, next_ = cards[winner].exact, cards[second].exact
    assert first is not None
    assert next_ is not None
    lead = first - next_
    shown = "less than 0.01" if 0 < lead < Fraction(1, 200) else written(lead, 2)
    return f"{_shown(cards[winner])}, {shown} ahead of {second}"


def _challenge(state: State) -> list[str]:
    """Who doubted the ranking, and what came of it."""
    if state.challenge is None:
        return []
    by = state.challenge.by
    if state.review is None:
        return [f"{by} has challenged it; nobody has looked at that yet."]
    if not _could_be_read(state, state.review):
        return [f"{by} challenged it; those who looked again could not be read, and the winner stands."]
    return [f"{by} challenged it; judges who had not judged before looked again, and {_changed(state)}."]


def _changed(state: State) -> str:
    """What a review did to the ranking that the judges had made."""
    before = [place.id for place in ranking(replace(state, review=None))]
    now = [place.id for place in ranking(state)]
    if before[0] != now[0]:
        return f"the ranking changed: {before[0]} had come first"
    return "the winner stands" if before == now else "the winner stands; places behind it changed"


def _could_be_read(state: State, review: Final) -> bool:
    """Whether what was said on a challenge makes scores."""
    if len(state.finalists) > 1:
        return cards_together(state, review.judgments) is not None
    only = replace(state.entries[state.finalists[0]], judgments=review.judgments)
    return card_alone(state, only).exact is not None


def _by_dimension(state: State, cards: Mapping[str, Scorecard], winner: str, second: str) -> str:
    gaps = {}
    for one in state.dimensions.criteria:
        mine, other = cards[winner].criteria[one.id], cards[second].criteria[one.id]
        assert isinstance(mine, Scored)
        assert isinstance(other, Scored)
        gaps[one.id] = mine.value - other.value
    ahead = sum(gap > 0 for gap in gaps.values())
    lost = [f"{id} by {written(-gap, 2)}" for id, gap in gaps.items() if gap < 0]
    than = f"; {second} is ahead on {', '.join(lost)}" if lost else ""
    return f"ahead of {second} on {ahead} of {len(gaps)} dimensions{than}"


def _agrees_alone(alone: Mapping[str, Scorecard], winner: str) -> str:
    """Whether the finalists stood in the same order alone."""
    scores = {id: card.exact for id, card in alone.items() if card.exact is not None}
    others = {id: score for id, score in scores.items() if id != winner}
    best = max(others, key=lambda id: others[id])
    if others[best] < scores[winner]:
        return f"alone it was the best of the finalists too: {_shown(alone[winner])}"
    if others[best] == scores[winner]:
        return f"alone it was equal to {best}: {_shown(alone[winner])}"
    return f"alone {best} was better: {_shown(alone[best])} to {_shown(alone[winner])}"


def _votes(cards: Mapping[str, Scorecard], winner: str, second: str) -> list[Fraction]:
    """By how much each judge who counts puts the winner ahead of the second."""
    said = [{one.judge: one.exact for one in cards[id].reviews or ()} for id in (winner, second)]
    pairs = [(mine, said[1].get(judge)) for judge, mine in said[0].items()]
    return [mine - other for mine, other in pairs if mine is not None and other is not None]


def _of_panel(leads: Sequence[Fraction], what: str) -> str:
    """How many judges agree, and how often so clear a majority would come up between equals."""
    if not leads:
        return UNKNOWN
    for_it, against = sum(lead > 0 for lead in leads), sum(lead < 0 for lead in leads)
    equal = len(leads) - for_it - against
    told = f"{for_it} of {len(leads)} judges {what}" + (f", {equal} saw no difference" if equal else "")
    if for_it <= against:
        return f"{told}: the mean of their scores decided, not a majority"
    n = for_it + against
    chance = min(Fraction(1), 2 * Fraction(sum(comb(n, k) for k in range(for_it, n + 1)), 2**n))
    return f"{told}; between equals a majority so clear comes up in {_percent(chance)} of contests"


def _percent(share: Fraction) -> str:
    return f"{written(share * 100, 0)} %"


def _shown(card: Scorecard) -> str:
    return "–" if card.exact is None else written(card.exact, card.decimals)
