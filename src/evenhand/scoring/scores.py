"""Scores of several outputs or reviews: their scorecards, ranking, tie-breaks, fingerprint, and history."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from itertools import groupby

from evenhand.model.method import LayerMean, TieBreak
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.scale import Scored
from evenhand.model.scorecard import Answers, RankedScorecard, Review, Scorecard, Scores
from evenhand.scoring.engine import (
    compute_answers_scorecard,
    find_scorecard_layers,
    note_claimed_rank_against_scorecards,
)
from evenhand.scoring.panel import score_panel
from evenhand.scoring.pooling import approximate_score_root, exact_mean_score, exact_score_variance
from evenhand.wording import format_fraction, round_number_half_away, word_gate, word_layer


@dataclass(frozen=True, slots=True)
class JudgingSetup:
    """What was asked of whom: prompt texts by name, and judges with their settings. Both enter the fingerprint."""

    prompts: Mapping[str, str] = field(default_factory=dict)
    judges: Sequence[Mapping[str, object]] = ()


NO_JUDGING_SETUP = JudgingSetup()


def compute_scorecards_and_ranks(
    rubric: Rubric,
    outputs: Sequence[Answers],
    asked: JudgingSetup = NO_JUDGING_SETUP,
    reviews: Sequence[Review] | None = None,
) -> Scores:
    """Score each output from its own answers, or from what several reviewers say."""
    if reviews is None:
        cards: Sequence[Scorecard] = [compute_answers_scorecard(rubric, answers) for answers in outputs]
    else:
        cards = score_panel(rubric, reviews, outputs)
    layers: list[str] = []
    scored: set[frozenset[str]] = set()
    if isinstance(rubric.method.steps[0], LayerMean):
        sets = {find_scorecard_layers(rubric, card.criteria) for card in cards}
        layers = sorted(" + ".join(sorted(names)) for names in sets if names)
        scored = {find_scorecard_layers(rubric, card.criteria) for card in cards if card.exact is not None}
    notes: tuple[str, ...] = ()
    ranking = None
    if len(cards) > 1 and len(scored) > 1:
        told = [" + ".join(word_layer(name) for name in one.split(" + ")) for one in layers]
        notes = (f"not ranked: computed from different layers ({'; '.join(told)})",)
    elif len(cards) > 1:
        ranking = rank_scorecards(rubric, cards)
        cards = _note_tied_scorecards(rubric, cards, ranking)
    return Scores(
        rubric=rubric,
        fingerprint=_FINGERPRINT_CACHE.get(
            (rubric, asked, *layers),
            lambda: compute_fingerprint(rubric, prompts=asked.prompts, judges=asked.judges, layers=layers),
        ),
        scorecards=tuple(cards),
        ranking=ranking,
        notes=(*notes, *note_reviewer_ranks_against_scorecards(rubric, reviews)) if reviews else notes,
    )


def score_reviews(
    rubric: Rubric, reviews: Sequence[Review], asked: JudgingSetup = NO_JUDGING_SETUP, outputs: Sequence[Answers] = ()
) -> Scores:
    """Score each output from what several reviewers say; `outputs` get a scorecard even where nobody does."""
    return compute_scorecards_and_ranks(rubric, outputs, asked, reviews)


_FINGERPRINT_CACHE: RubricIdentityCache[str] = RubricIdentityCache()


def _note_tied_scorecards(
    rubric: Rubric, cards: Sequence[Scorecard], ranking: Sequence[RankedScorecard]
) -> list[Scorecard]:
    """What tie-breaks on every criterion leave tied is equivalent; otherwise a shared rank says all there is."""
    covered = set(rubric.leaves) <= {tie.of for tie in rubric.method.ties}
    others = list_equally_ranked_outputs(ranking) if covered else {}
    notes = {id: f"equivalent to {', '.join(ids)}" for id, ids in others.items()}
    return [replace(card, notes=(*card.notes, notes[card.id])) if card.id in notes else card for card in cards]


def note_reviewer_ranks_against_scorecards(rubric: Rubric, reviews: Sequence[Review]) -> list[str]:
    """A note for each reviewer whose own ranking contradicts its scores."""
    notes = []
    for review in reviews:
        if review.ranking:
            # The safety cap is the guard's doing, so a reviewer is held to its scores without it.
            own = [compute_answers_scorecard(rubric, replace(answers, unsafe=None)) for answers in review.outputs]
            sums = [replace(card, exact=card.steps[0].after) for card in own if card.steps]
            ranks, first = rank_scorecards(rubric, own), rank_scorecards(rubric, sums)
            notes.append(note_claimed_rank_against_scorecards(review.judge, review.ranking, ranks, first))
    return [note for note in notes if note]


# Enough to look at; a tie of thousands is told by its rank.
MOST_EQUIVALENTS_NAMED = 5

ScorecardRankKey = tuple[Fraction | tuple[Fraction, ...], ...]


def rank_scorecards(rubric: Rubric, cards: Sequence[Scorecard]) -> tuple[RankedScorecard, ...]:
    """Best first; incomplete scorecards stand at the end without a rank."""
    ties = list_scorecard_tie_breaks(rubric)
    keys: dict[str, ScorecardRankKey] = {
        c.id: (c.exact, *(_measure_rank_tie_break(c, tie) for tie in ties)) for c in cards if c.exact is not None
    }
    placed = sorted((card for card in cards if card.id in keys), key=lambda card: keys[card.id], reverse=True)
    broken_by = _name_scorecard_tie_breaks([keys[card.id] for card in placed], ties)
    places: list[RankedScorecard] = []
    for position, card in enumerate(placed):
        shares = position > 0 and keys[card.id] == keys[placed[position - 1].id]
        level = places[-1].rank if shares else position + 1
        places.append(RankedScorecard(level, card.id, card.exact, card.decimals, broken_by[position]))
    return (*places, *(RankedScorecard(None, c.id, None, c.decimals) for c in cards if c.exact is None))


def list_equally_ranked_outputs(ranking: Sequence[RankedScorecard]) -> dict[str, list[str]]:
    """For each output that shares its rank, some of the others that do."""
    sharing: dict[int, list[str]] = {}
    for place in ranking:
        if place.rank is not None:
            sharing.setdefault(place.rank, []).append(place.id)
    groups = [ids for ids in sharing.values() if len(ids) > 1]
    return {
        id: [other for other in ids[: MOST_EQUIVALENTS_NAMED + 1] if other != id][:MOST_EQUIVALENTS_NAMED]
        for ids in groups
        for id in ids
    }


def _measure_rank_tie_break(card: Scorecard, tie: TieBreak) -> tuple[Fraction, ...]:
    """How a scorecard stands on a tie-break; higher is better, and a holistic score, which has none, comes last."""
    if tie.by == "criterion":
        score = card.criteria.get(tie.of)
        return (score.value,) if isinstance(score, Scored) else ()
    count = len(card.flags if tie.of == "red_flags" else card.bonuses)
    return (Fraction(-count if tie.by == "fewer" else count),)


def _name_scorecard_tie_breaks(keys: Sequence[ScorecardRankKey], ties: Sequence[TieBreak]) -> list[str | None]:
    """For each place, the tie-break that set it apart from those above it, or, for the first, from those below."""
    told: list[str | None] = []
    for _, level in groupby(keys, key=lambda key: key[0]):
        groups = [list(equal) for _, equal in groupby(level)]
        if len(groups) == 1:
            told += [None] * len(groups[0])
            continue
        for position, equal in enumerate(groups):
            key, other = equal[0], groups[position - 1 if position else 1][0]
            differing = (str(tie) for tie, one, two in zip(ties, key[1:], other[1:], strict=True) if one != two)
            told += [next(differing)] * len(equal)
    return told


def list_scorecard_tie_breaks(rubric: Rubric) -> list[TieBreak]:
    """The method's tie-breaks, without those on criteria that this rubric does not have."""
    return [tie for tie in rubric.method.ties if tie.by != "criterion" or tie.of in rubric.leaves]


def compute_fingerprint(
    rubric: Rubric,
    *,
    prompts: Mapping[str, str] | None = None,
    judges: Sequence[Mapping[str, object]] = (),
    layers: Sequence[str] = (),
) -> str:
    """Sixteen hexadecimal digits over method, criteria, scales, steps, prompts, judges and layers.

    Names, tags and descriptions for readers are left out: renaming a rubric changes no score.
    """
    method = rubric.method
    what = {
        "criteria": rubric.criteria,
        "red_flags": rubric.red_flags,
        "bonuses": rubric.bonuses,
        "gates": sorted(rubric.gates, key=lambda gate: (gate.criterion, gate.min)),
        "scale": method.scale,
        "steps": [[step.word, step] for step in method.steps],
        "grades": method.grades,
        "verdicts": method.verdicts,
        "ties": method.ties,
        "holistic": method.holistic,
        "prompts": dict(prompts or {}),
        "judges": list(judges),
        "layers": sorted(layers),
        **({"safety_gate": True} if rubric.safety_gate else {}),
        **({"asks_holistic": True} if rubric.holistic else {}),
        **({"too_close": rubric.too_close} if rubric.too_close is not None else {}),
    }
    text = json.dumps(to_scoring_fingerprint_data(what), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def to_scoring_fingerprint_data(value: object) -> object:
    """A value as plain data: exact numbers as fractions, values by their fields."""
    if value is None or value.__class__ in _PLAIN_TYPES:  # As most of them are.
        return value
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if is_dataclass(value):
        given = [(entry, getattr(value, entry.name)) for entry in fields(value) if entry.compare]
        return {
            entry.name: to_scoring_fingerprint_data(one)
            for entry, one in given
            if one or entry.metadata.get("fingerprint") != "if given"
        }
    if isinstance(value, Mapping):
        return {str(key): to_scoring_fingerprint_data(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_scoring_fingerprint_data(entry) for entry in value]
    return value


_PLAIN_TYPES = frozenset({str, int, float, bool})


# Historical consistency: which criteria stray from what the same subject used to score. It never moves a score.

HISTORY_WINDOW = 10
LEAST_HISTORY = 2
MOST_TOLD_DECIMALS = 12  # Of a printed number: two that differ only after them nobody tells apart.


@dataclass(frozen=True, slots=True, kw_only=True)
class PastScores:
    """One earlier evaluation of the same subject."""

    fingerprint: str
    scores: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionScoreDeviation:
    """What a criterion scores, beside the mean and the standard deviation of the last evaluations that have it."""

    criterion: str
    score: Fraction
    mean: Fraction
    sd: Fraction
    n: int

    def __str__(self) -> str:
        score, mean, sd = self.spell_numbers()
        name = word_gate(self.criterion)
        if self.sd == 0:
            return f"{name} {score} differs from the {mean} that each of the last {self.n} evaluations scored"
        return f"{name} {score} is more than 2 standard deviations from its mean {mean} (sd {sd}, last {self.n})"

    def spell_numbers(self) -> tuple[str, str, str]:
        """Score, mean and standard deviation with the decimals that it takes to show what is claimed of them."""
        decimals = self._find_telling_decimals()
        exact = Fraction(round_number_half_away(self.score, decimals)) == self.score
        score = format_fraction(self.score) if exact else format_fraction(self.score, decimals)
        return score, format_fraction(self.mean, decimals), format_fraction(self.sd, decimals)

    def _find_telling_decimals(self) -> int:
        """The fewest decimals, two or more, with which the printed numbers still show what is claimed of them."""
        for decimals in range(2, MOST_TOLD_DECIMALS):
            score, mean, sd = (
                Fraction(round_number_half_away(one, decimals)) for one in (self.score, self.mean, self.sd)
            )
            if abs(score - mean) > 2 * sd and (sd > 0) == (self.sd > 0):
                return decimals
        return MOST_TOLD_DECIMALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """What history says of one evaluation."""

    n: int
    strayed: tuple[CriterionScoreDeviation, ...] = ()
    measured: tuple[
        CriterionScoreDeviation, ...
    ] = ()  # All that could be held against earlier scores, those that stray too.

    def __str__(self) -> str:
        if self.n == 0:
            return "no history yet"
        if self.n < LEAST_HISTORY:
            return "one earlier evaluation: too few to flag"
        return "; ".join(map(str, self.strayed)) or f"consistent with the last {self.n}"


def check_score_consistency(
    fingerprint: str, scores: Mapping[str, Fraction], earlier: Sequence[PastScores]
) -> Consistency:
    """Compare with the last ten earlier evaluations, oldest first, that have the same fingerprint."""
    past = [one for one in earlier if one.fingerprint == fingerprint][-HISTORY_WINDOW:]
    strayed, measured = [], []
    for id, score in scores.items():
        own = [one.scores[id] for one in past if id in one.scores]
        if len(own) < LEAST_HISTORY:
            continue
        middle, spread = exact_mean_score(own), exact_score_variance(own)
        sd = approximate_score_root(spread)
        measured.append(CriterionScoreDeviation(criterion=id, score=score, mean=middle, sd=sd, n=len(own)))
        # Squared, so that no root is taken: |score − mean| > 2·sd.
        strayed += measured[-1:] if (score - middle) ** 2 > 4 * spread else []
    return Consistency(n=len(past), strayed=tuple(strayed), measured=tuple(measured))


@dataclass(slots=True)
class ScoreHistory:
    """The evaluations of one subject, added oldest first: each is compared with those before it, repeats count once."""

    _counted: dict[str, PastScores] = field(default_factory=dict)  # By id.
    _first_ids: dict[tuple[str, str], str] = field(default_factory=dict)  # By fingerprint and digest.

    def add_scores(
        self, id: str, scores: PastScores, digest: str | None, *, counts: bool = True, guest: bool = False
    ) -> tuple[Consistency, str | None]:
        """What the earlier ones say of this evaluation, and the id of the earlier one that it repeats, if it does.

        Equal digests are equal outputs and answers. One that does not count, or came from elsewhere as a guest, is
        compared with those before it, and none with it.
        """
        first = self._first_ids.get((scores.fingerprint, digest), id) if digest else id
        if digest and not guest:
            self._first_ids.setdefault((scores.fingerprint, digest), id)
        others = [kept for other, kept in self._counted.items() if other != first]
        if counts and first == id and not guest:
            self._counted[id] = scores
        consistency = check_score_consistency(scores.fingerprint, scores.scores, others)
        return consistency, None if first == id else first
