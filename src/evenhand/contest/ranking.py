"""What judgments come to: the ranking with its tie-breaks, the scorecards behind it, and the gate before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction

from evenhand.contest.state import ContestEntry, ContestState
from evenhand.judging.results import AcceptanceCheck
from evenhand.model.method import Shortfall
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.scale import CriterionScore, Missing, Scale, Scored
from evenhand.model.scorecard import Answers, Judgment, Review, Scorecard
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews

MOST_FINALISTS = 3
RANKED_STATUSES = ("gate_passed", "scored", "below_threshold", "won")
RankingKey = tuple[Fraction, Fraction, datetime, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingPlace:
    """A place in the ranking, and what set it apart from the one above where their scores are equal."""

    id: str
    rank: int
    tie_broken_by: str | None = None


def list_ranked_entries(state: ContestState) -> list[ContestEntry]:
    """Of each author the latest submission that passed the gate and could be scored; those before are superseded."""
    return [entry for entry in state.entries.values() if entry.status in RANKED_STATUSES and entry.scored]


def list_entries_above_threshold(state: ContestState) -> list[ContestEntry]:
    """Those of the counted ones in whom no dimension lies too low, the best alone first."""
    cards = {entry.id: score_submission_alone(state, entry) for entry in list_ranked_entries(state)}
    kept = [id for id, card in cards.items() if not find_low_contest_dimensions(state.dimensions, card)]
    kept.sort(key=lambda id: _submission_sort_key(state, id, cards, cards))
    return [state.entries[id] for id in kept]


def score_finalists(state: ContestState) -> FinalistScores | None:
    """What decides between the finalists: the panel that looked at a challenge, else the judges; None is each alone."""
    panels = (state.review, state.final) if len(state.finalists) > 1 else ()
    told = (score_finalists_together(state, panel.judgments) for panel in panels if panel is not None)
    return _FINALIST_SCORES_CACHE.get((state,), lambda: next((one for one in told if one is not None), None))


def rank_submissions(state: ContestState) -> tuple[RankingPlace, ...]:
    """The finalists by their scores side by side, the other survivors after them by their own; best first."""
    return _RANKING_CACHE.get((state,), lambda: _compute_contest_ranking(state))


# Everybody is told from one state: worked out for each, a ranking of hundreds would take minutes.
_FINALIST_SCORES_CACHE: RubricIdentityCache[FinalistScores | None] = RubricIdentityCache(most=8)
_RANKING_CACHE: RubricIdentityCache[tuple[RankingPlace, ...]] = RubricIdentityCache(most=8)


def _compute_contest_ranking(state: ContestState) -> tuple[RankingPlace, ...]:
    alone = {entry.id: score_submission_alone(state, entry) for entry in state.entries.values() if entry.scored}
    compared = score_finalists(state)
    cards = alone if compared is None else compared.cards
    first = sorted(state.finalists, key=lambda id: _submission_sort_key(state, id, cards, alone))
    rest = [entry.id for entry in list_entries_above_threshold(state) if entry.id not in first]
    keys = [_submission_sort_key(state, id, cards, alone) for id in first]
    keys += [_submission_sort_key(state, id, alone, alone) for id in rest]
    return tuple(
        RankingPlace(
            id=id, rank=place + 1, tie_broken_by=_explain_submission_tie_break(keys, place, place == len(first))
        )
        for place, id in enumerate([*first, *rest])
    )


def _submission_sort_key(
    state: ContestState, id: str, cards: Mapping[str, Scorecard], alone: Mapping[str, Scorecard]
) -> RankingKey:
    """Higher first, by score and by score alone; then the earlier submission, then the order of arrival."""
    score, own = cards[id].exact, alone[id].exact
    assert score is not None
    assert own is not None
    return -score, -own, state.entries[id].submission.at, list(state.entries).index(id)


def _explain_submission_tie_break(keys: Sequence[RankingKey], place: int, another_kind: bool) -> str | None:
    """Scores side by side and scores alone are not compared with each other."""
    if place == 0 or another_kind or keys[place][0] != keys[place - 1][0]:
        return None
    here, above = keys[place], keys[place - 1]
    names = ("score alone", "time of submission", "order of arrival")
    return next(name for name, one, other in zip(names, here[1:], above[1:], strict=True) if one != other)


LEAST_RANKED_BAND = "C"  # A dimension below it keeps a submission from the ranking.
PASSING_SCORE = Fraction(60)  # What wins where the first to pass does.


def list_contest_score_limits(rubric: Rubric) -> tuple[Fraction, ...]:
    """What a score is held to: that which wins, that under which a fixed dimension costs, and every band's lowest."""
    expected = (step.below for step in rubric.method.steps if isinstance(step, Shortfall))
    return (PASSING_SCORE, *expected, *(grade.from_ for grade in rubric.method.grades))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalistScores:
    """The finalists' scorecards from one panel, the answers that count in them, and what took the place of what."""

    cards: Mapping[str, Scorecard]
    judgments: tuple[Judgment, ...]
    notes: tuple[str, ...] = ()


def score_submission_alone(state: ContestState, entry: ContestEntry) -> Scorecard:
    """The scorecard of a submission on its own; incomplete where judges gave no readable answer."""
    said = _group_contest_judgments(entry.judgments)
    return _build_submission_scorecards(state, [entry], said, entry.overall_bands)[entry.id]


def score_finalists_together(state: ContestState, judgments: Sequence[Judgment]) -> FinalistScores | None:
    """The finalists side by side; None where not more than half of the judges could be read.

    A judge counts with the same kind of answer for every finalist: on a dimension where one answer is missing, those
    that this judge gave on each alone take the place of all. A judge who has none of those, or who could be read on no
    dimension side by side, is left out.
    """
    finalists = [state.entries[id] for id in state.finalists]
    alone = _group_contest_judgments([one for entry in finalists for one in entry.judgments])
    counted: dict[str, list[Judgment]] = {}
    notes = []
    panel = _group_contest_judgments(judgments)
    for judge, given in panel.items():
        kept, remarks = _fill_missing_finalist_answers(state, given, alone.get(judge, []))
        notes += [f"{judge}: {one}" for one in remarks]
        if kept is not None:
            counted[judge] = kept
    if 2 * len(counted) <= len(panel):
        return None
    said = tuple(one for judgments in counted.values() for one in judgments)
    cards = _build_submission_scorecards(state, finalists, counted)
    return FinalistScores(cards=cards, judgments=said, notes=tuple(notes))


def find_low_contest_dimensions(rubric: Rubric, card: Scorecard) -> list[str]:
    """The dimensions whose band is below the least that is ranked."""
    low = []
    for one in rubric.criteria:
        score = card.criteria[one.id]
        assert isinstance(score, Scored)
        if score.value < next(band.min for band in one.scale.bands if band.id == LEAST_RANKED_BAND):
            low.append(one.id)
    return low


def find_contest_dimension_band(scale: Scale, value: Fraction) -> str:
    """The band in which a score lies; a mean that falls between two bands lies in the lower one."""
    return max((band for band in scale.bands if band.min <= value), key=lambda band: band.min).id


def _fill_missing_finalist_answers(
    state: ContestState, said: Sequence[Judgment], alone: Sequence[Judgment]
) -> tuple[list[Judgment] | None, list[str]]:
    """What counts of one judge's answers, or None; and what took the place of what."""
    kept: list[Judgment] = []
    notes = []
    for dimension in state.dimensions.criteria:
        side_by_side = _select_finalist_answers(said, dimension.id, state.finalists)
        if side_by_side:
            kept += side_by_side
            continue
        each_alone = _select_finalist_answers(alone, dimension.id, state.finalists)
        if not each_alone:
            return None, [f"not counted: {dimension.id} was not answered for every finalist"]
        kept += each_alone
        notes.append(f"{dimension.id} could not be read side by side: the scores of each alone count")
    if len(notes) == len(state.dimensions.criteria):
        return None, ["not counted: nothing could be read side by side"]
    return kept, notes


def _select_finalist_answers(judgments: Iterable[Judgment], dimension: str, ids: Sequence[str]) -> list[Judgment]:
    """The answers on one dimension for all of some submissions, or none of them."""
    found = {one.output: one for one in judgments if one.criterion == dimension and isinstance(one.score, Scored)}
    return [found[id] for id in ids] if found.keys() >= set(ids) else []


def _build_submission_scorecards(
    state: ContestState,
    entries: Sequence[ContestEntry],
    said: Mapping[str, Sequence[Judgment]],
    bands: Mapping[str, str] | None = None,
) -> dict[str, Scorecard]:
    """Authors stay out of it: one who takes the name of a strict judge would otherwise be spared that judge."""
    ids = [entry.id for entry in entries]
    task, rubric = state.required_task, state.dimensions
    answers: dict[str, tuple[Answers, ...]] = {}
    for judge, judgments in said.items():
        given: dict[str, dict[str, CriterionScore]] = {id: {} for id in ids}
        for one in judgments:
            given[one.output][one.criterion] = one.score
        claims = {"overall_band": bands[judge]} if bands and judge in bands else {}
        answers[judge] = tuple(Answers(id=id, scores=scores, claims=claims) for id, scores in given.items() if scores)
    if len(answers) == 1:
        return {
            card.id: card for own in answers.values() for card in compute_scorecards_and_ranks(rubric, own).scorecards
        }
    weights = {judge: task.weights.get(judge, Fraction(1)) for judge in answers}
    reviews = [Review(judge=judge, outputs=own, weight=weights[judge]) for judge, own in answers.items()]
    scores = score_reviews(rubric, reviews, outputs=[Answers(id=id) for id in ids])
    return {card.id: card for card in scores.scorecards}


def _group_contest_judgments(judgments: Iterable[Judgment]) -> dict[str, list[Judgment]]:
    said: dict[str, list[Judgment]] = {}
    for one in judgments:
        said.setdefault(one.judge, []).append(one)
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionAcceptanceCriterion:
    """One acceptance criterion as the judges together see it; `met` is None where too few of them could tell."""

    asks: str
    met: bool | None
    checks: tuple[AcceptanceCheck, ...]

    @property
    def hints(self) -> list[str]:
        """What to fix, from those who found it not met."""
        hints = [
            one.revision_hint for one in self.checks if _read_submission_gate_vote(one) is False and one.revision_hint
        ]
        return list(dict.fromkeys(hints))

    @property
    def why_unknown(self) -> str:
        """Why it could not be found out."""
        silent = [one.judgment for one in self.checks if isinstance(one.judgment.score, Missing)]
        return "; ".join(f"{one.judge}: {one.score.text}" for one in silent if isinstance(one.score, Missing))


def check_submission_acceptance(
    acceptance: Sequence[str], checks: Sequence[AcceptanceCheck]
) -> tuple[SubmissionAcceptanceCriterion, ...]:
    """Every acceptance criterion with what the judges say of it. More than half must answer, and a split fails."""
    judges = {one.judgment.judge for one in checks}
    found = []
    for id, asks in zip(submission_acceptance_ids(acceptance), acceptance, strict=True):
        own = tuple(one for one in checks if one.judgment.criterion == id)
        votes = [vote for one in own if (vote := _read_submission_gate_vote(one)) is not None]
        met = None if 2 * len(votes) <= len(judges) else 2 * sum(votes) > len(votes)
        found.append(SubmissionAcceptanceCriterion(asks=asks, met=met, checks=own))
    return tuple(found)


def submission_acceptance_ids(acceptance: Sequence[str]) -> tuple[str, ...]:
    """What judges call the acceptance criteria."""
    return tuple(f"criterion-{number}" for number in range(1, len(acceptance) + 1))


def is_submission_gate_passed(criteria: Sequence[SubmissionAcceptanceCriterion]) -> bool | None:
    """One that is not met fails the gate, whatever else is unknown; what is unknown never passes it."""
    if any(one.met is False for one in criteria):
        return False
    return None if any(one.met is None for one in criteria) else True


def _read_submission_gate_vote(check: AcceptanceCheck) -> bool | None:
    score = check.judgment.score
    return bool(score.value) if isinstance(score, Scored) else None
