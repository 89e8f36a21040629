"""Numbers from what judges said: a scorecard for a submission alone, and for finalists side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.contest._state import Entry, State
from evenhand.model import Answers, Judgment, Review, Rubric, Scale, Scorecard, Scored
from evenhand.scoring import score_outputs, score_reviews

LEAST_BAND = "C"  # A dimension below it keeps a submission from the ranking.
PASSES = Fraction(60)  # What wins where the first to pass does.


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The finalists' scorecards from one panel, the answers that count in them, and what took the place of what."""

    cards: Mapping[str, Scorecard]
    said: tuple[Judgment, ...]
    notes: tuple[str, ...] = ()


def card_alone(state: State, entry: Entry) -> Scorecard:
    """The scorecard of a submission on its own; incomplete where judges gave no readable answer."""
    return _cards(state, [entry], _by_judge(entry.judgments))[entry.id]


def cards_together(state: State, judgments: Sequence[Judgment]) -> Compared | None:
    """The finalists side by side; None where not more than half of the judges could be read.

    A judge counts with the same kind of answer for every finalist: on a dimension where one answer is missing, those
    that this judge gave on each alone take the place of all. A judge who has none of those, or who could be read on no
    dimension side by side, is left out.
    """
    finalists = [state.entries[id] for id in state.finalists]
    alone = _by_judge([one for entry in finalists for one in entry.judgments])
    counted: dict[str, list[Judgment]] = {}
    notes = []
    panel = _by_judge(judgments)
    for judge, given in panel.items():
        kept, remarks = _filled(state, given, alone.get(judge, []))
        notes += [f"{judge}: {one}" for one in remarks]
        if kept is not None:
            counted[judge] = kept
    if 2 * len(counted) <= len(panel):
        return None
    said = tuple(one for judgments in counted.values() for one in judgments)
    return Compared(cards=_cards(state, finalists, counted), said=said, notes=tuple(notes))


def below_threshold(rubric: Rubric, card: Scorecard) -> list[str]:
    """The dimensions whose band is below the least that is ranked."""
    return [one.id for one in rubric.criteria if _value(card, one.id) < _bottom(one.scale, LEAST_BAND)]


def band_of(scale: Scale, value: Fraction) -> str:
    """The band in which a score lies; a mean that falls between two bands lies in the lower one."""
    below = [band for band in scale.bands if band.min <= value]
    return max(below, key=lambda band: band.min).id


def _filled(
    state: State, said: Sequence[Judgment], alone: Sequence[Judgment]
) -> tuple[list[Judgment] | None, list[str]]:
    """What counts of one judge's answers, or None; and what took the place of what."""
    kept: list[Judgment] = []
    notes = []
    for dimension in state.dimensions.criteria:
        side_by_side = _complete(said, dimension.id, state.finalists)
        if side_by_side:
            kept += side_by_side
            continue
        each_alone = _complete(alone, dimension.id, state.finalists)
        if not each_alone:
            return None, [f"not counted: {dimension.id} was not answered for every finalist"]
        kept += each_alone
        notes.append(f"{dimension.id} could not be read side by side: the scores of each alone count")
    if len(notes) == len(state.dimensions.criteria):
        return None, ["not counted: nothing could be read side by side"]
    return kept, notes


def _complete(judgments: Iterable[Judgment], dimension: str, ids: Sequence[str]) -> list[Judgment]:
    """The answers on one dimension for all of some submissions, or none of them."""
    found = {one.output: one for one in judgments if one.criterion == dimension and isinstance(one.score, Scored)}
    return [found[id] for id in ids] if found.keys() >= set(ids) else []


def _cards(state: State, entries: Sequence[Entry], said: Mapping[str, Sequence[Judgment]]) -> dict[str, Scorecard]:
    """Authors stay out of it: one who takes the name of a strict judge would otherwise be spared that judge."""
    ids = [entry.id for entry in entries]
    reviews = [
        Review(judge=judge, outputs=_answers(judgments, ids), weight=state.terms.weights.get(judge, Fraction(1)))
        for judge, judgments in said.items()
    ]
    rubric = state.dimensions
    scores = (
        score_outputs(rubric, reviews[0].outputs)
        if len(reviews) == 1
        else score_reviews(rubric, reviews, outputs=[Answers(id=id) for id in ids])
    )
    return {card.id: card for card in scores.scorecards}


def _answers(judgments: Iterable[Judgment], ids: Iterable[str]) -> tuple[Answers, ...]:
    by_output: dict[str, dict[str, Judgment]] = {id: {} for id in ids}
    for one in judgments:
        by_output[one.output][one.criterion] = one
    return tuple(
        Answers(id=id, scores={name: one.score for name, one in said.items()}) for id, said in by_output.items() if said
    )


def _by_judge(judgments: Iterable[Judgment]) -> dict[str, list[Judgment]]:
    said: dict[str, list[Judgment]] = {}
    for one in judgments:
        said.setdefault(one.judge, []).append(one)
    return said


def _value(card: Scorecard, dimension: str) -> Fraction:
    score = card.criteria[dimension]
    assert isinstance(score, Scored)
    return score.value


def _bottom(scale: Scale, band: str) -> Fraction:
    return next(one.min for one in scale.bands if one.id == band)
