"""Outputs or reviews to scores: scorecards, ranking, fingerprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.model import Answers, Kept, Ranked, Review, Rubric, Scorecard, Scores
from evenhand.scoring._claims import ranking_note
from evenhand.scoring._engine import layers_of, scorecard
from evenhand.scoring._fingerprint import fingerprint
from evenhand.scoring._panel import panel_scorecards
from evenhand.scoring._ranking import decides_ties, equivalents, rank


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of whom: prompt texts by name, and judges with their settings. Both enter the fingerprint."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    judges: Sequence[Mapping[str, object]] = ()


NOBODY = Asked()


def score_outputs(rubric: Rubric, outputs: Sequence[Answers], asked: Asked = NOBODY) -> Scores:
    """Score each output from its own answers."""
    return _scores(rubric, [scorecard(rubric, answers) for answers in outputs], asked)


def score_reviews(
    rubric: Rubric, reviews: Sequence[Review], asked: Asked = NOBODY, outputs: Sequence[Answers] = ()
) -> Scores:
    """Score each output from what several reviewers say; `outputs` get a scorecard even where nobody does."""
    scores = _scores(rubric, panel_scorecards(rubric, reviews, outputs), asked)
    return replace(scores, notes=(*scores.notes, *_review_notes(rubric, reviews)))


def _scores(rubric: Rubric, cards: Sequence[Scorecard], asked: Asked) -> Scores:
    layers = {layers_of(rubric, card.criteria) for card in cards}
    notes: tuple[str, ...] = ()
    ranking = None
    if len(cards) > 1 and len(layers) > 1:
        notes = (f"not ranked: computed from different layers ({'; '.join(_sets(layers))})",)
    elif len(cards) > 1:
        ranking = rank(rubric, cards)
        cards = _with_equivalence(rubric, cards, ranking)
    return Scores(
        rubric=rubric,
        fingerprint=_fingerprint(rubric, asked, _sets(layers)),
        scorecards=tuple(cards),
        ranking=ranking,
        notes=notes,
    )


def _fingerprint(rubric: Rubric, asked: Asked, layers: list[str]) -> str:
    return _MARKS.get(
        (rubric, asked, *layers),
        lambda: fingerprint(rubric, prompts=asked.prompts, judges=asked.judges, layers=layers),
    )


_MARKS: Kept[str] = Kept()


def _sets(layers: set[frozenset[str]]) -> list[str]:
    return sorted(" + ".join(sorted(names)) for names in layers if names)


def _with_equivalence(rubric: Rubric, cards: Sequence[Scorecard], ranking: Sequence[Ranked]) -> list[Scorecard]:
    """What every tie-break leaves tied is equivalent; without tie-breaks a shared rank says all there is."""
    others = equivalents(ranking) if decides_ties(rubric) else {}
    notes = {id: f"equivalent to {', '.join(ids)}" for id, ids in others.items()}
    return [replace(card, notes=(*card.notes, notes[card.id])) if card.id in notes else card for card in cards]


def _review_notes(rubric: Rubric, reviews: Sequence[Review]) -> list[str]:
    notes = []
    for review in reviews:
        if review.ranking:
            own = rank(rubric, [scorecard(rubric, answers) for answers in review.outputs])
            note = ranking_note(review.judge, review.ranking, own)
            notes += [note] if note else []
    return notes
