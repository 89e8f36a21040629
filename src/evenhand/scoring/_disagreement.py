"""How reviewers differ: per criterion, who is harsh, who would have chosen another winner, who said nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.model import Differing, Dissent, Harshness, PanelView, Reviewed, Scorecard, Scored, Scores
from evenhand.scoring._moments import mean


def panel_view(scores: Scores) -> PanelView | None:
    """What the reviewers of these scorecards agree and disagree on; None where there were none."""
    cards = [card for card in scores.scorecards if card.reviews is not None]
    judges = dict.fromkeys(review.judge for card in cards for review in card.reviews or ())
    if not judges:
        return None
    return PanelView(
        differing=tuple(filter(None, (_differing(id, cards) for id in scores.rubric.leaves))),
        harshness=tuple(filter(None, (_harshness(judge, cards) for judge in judges))),
        dissent=tuple(_dissent(scores, cards, list(judges))),
        silent=tuple(_silent(cards, list(judges))),
    )


def _differing(criterion: str, cards: Sequence[Scorecard]) -> Differing | None:
    """The mean distance between the highest and the lowest score, and where it is widest."""
    gaps = []
    for card in cards:
        given = [(score.value, review.judge) for review, score in _scores(card, criterion)]
        if len(given) > 1:
            low, high = min(given, key=lambda one: one[0]), max(given, key=lambda one: one[0])
            gaps.append((high[0] - low[0], card.id, low, high))
    if not gaps:
        return None
    widest = max(gaps, key=lambda gap: gap[0])
    return Differing(
        criterion=criterion, mean_gap=mean([gap[0] for gap in gaps]), output=widest[1], low=widest[2], high=widest[3]
    )


def _scores(card: Scorecard, criterion: str) -> Iterator[tuple[Reviewed, Scored]]:
    for review in card.reviews or ():
        score = review.criteria.get(criterion)
        if isinstance(score, Scored):
            yield review, score


def _harshness(judge: str, cards: Sequence[Scorecard]) -> Harshness | None:
    """How far a reviewer's scores lie from the mean of the others', over the outputs that both scored."""
    distances = []
    for card in cards:
        given = {review.judge: review.exact for review in card.reviews or () if review.exact is not None}
        others = [exact for name, exact in given.items() if name != judge]
        if judge in given and others:
            distances.append(given[judge] - mean(others))
    return Harshness(judge=judge, by=mean(distances), outputs=len(distances)) if distances else None


def _dissent(scores: Scores, cards: Sequence[Scorecard], judges: Sequence[str]) -> Iterator[Dissent]:
    """Reviewers whose own scores put another output first than the panel does."""
    winners = {place.id for place in scores.ranking or () if place.rank == 1}
    for judge in judges:
        own = {
            card.id: review.exact
            for card in cards
            for review in card.reviews or ()
            if review.judge == judge and review.exact is not None
        }
        # A reviewer that may not vote on a winner, its own response, cannot disagree about it.
        if len(own) < 2 or not winners & own.keys():
            continue
        best = max(own.values())
        first = tuple(id for id, exact in own.items() if exact == best)
        if not winners & set(first):
            yield Dissent(judge=judge, first=first)


def _silent(cards: Sequence[Scorecard], judges: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Reviewers that gave no score at all, and why."""
    for judge in judges:
        own = [review for card in cards for review in card.reviews or () if review.judge == judge]
        if own and all(review.exact is None for review in own):
            yield judge, own[0].why_not
