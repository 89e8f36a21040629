"""A panel's reviews to one scorecard per output, and how far the reviewers disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.model.method import Cap, Ceiling
from evenhand.model.rubric import Rubric
from evenhand.model.scale import NOT_ANSWERED, NOT_ASKED, CriterionScore, Missing, Scored
from evenhand.model.scorecard import (
    Answers,
    AppliedStep,
    CriterionDisagreement,
    MissingCriterion,
    PanelDisagreement,
    Review,
    ReviewerDissent,
    ReviewerHarshness,
    ReviewerScore,
    Scorecard,
    Scores,
)
from evenhand.scoring.engine import (
    apply_holistic_score,
    fail_scorecard_without_layers,
    find_scorecard_layers,
    find_unanswered_gate_steps,
    finish_scorecard,
    note_claims_against_scorecard,
    prepare_step_inputs,
    run_score_steps,
)
from evenhand.scoring.pooling import PooledScores, combine_reviewer_scores, exact_mean_score, pool_scores_exactly
from evenhand.scoring.steps import StepInputs
from evenhand.wording import format_fraction, pluralize_count

NO_POOLED_SCORES = PooledScores({}, {}, ())
NO_JUDGE = ""


def score_panel(rubric: Rubric, reviews: Sequence[Review], outputs: Sequence[Answers] = ()) -> tuple[Scorecard, ...]:
    """One scorecard per output that any reviewer saw, in order of first appearance.

    `outputs` come first and get one in any case: where nobody speaks of an output, that is said, not passed over.
    """
    panel = rubric.method.panel
    # Who said what of each output; under NO_JUDGE what is known of it before anybody speaks.
    seen: dict[str, dict[str, Answers]] = {answers.id: {NO_JUDGE: answers} for answers in outputs}
    for review in reviews:
        for answers in review.outputs:
            seen.setdefault(answers.id, {})[review.judge] = answers
    reviewed = {}
    for id, given in seen.items():
        author = next((answers.author for answers in given.values() if answers.author), None)
        eligible = [review for review in reviews if panel.self_votes or review.judge != author]
        reviewed[id] = tuple(_compute_review_scorecard(rubric, review, given.get(review.judge)) for review in eligible)
    pool: dict[str, dict[str, Fraction]] = {review.judge: {} for review in reviews}
    for id, entries in reviewed.items():
        for entry in entries:
            if entry.exact is not None:
                pool[entry.judge][id] = entry.exact
    said = pool_scores_exactly(pool, rubric.method)
    if panel.normalise == "z" and panel.aggregate != "borda":
        said = {
            id: _hold_normalised_scores_at_ceilings(rubric, pooled, seen[id], reviewed[id])
            for id, pooled in said.items()
        }
    weights = {review.judge: review.weight for review in reviews}
    return tuple(
        _join_reviewer_scorecards(rubric, seen[id], reviewed[id], said.get(id, NO_POOLED_SCORES), weights)
        for id in seen
    )


def _compute_review_scorecard(rubric: Rubric, review: Review, answers: Answers | None) -> ReviewerScore:
    if answers is None:
        why = "gave no answer" if review.abstained is None else Missing("abstained", review.abstained).text
        return ReviewerScore(judge=review.judge, exact=None, why_not=why)
    case, missing = prepare_step_inputs(rubric, answers)
    if missing and isinstance(answers.holistic, Scored) and not case.values:
        trail = apply_holistic_score(case, answers.holistic)
        return ReviewerScore(
            judge=review.judge, exact=trail[-1].after, holistic=True, steps=trail, remark=answers.remark
        )
    missing = missing or find_unanswered_gate_steps(rubric.method.before_panel, case)
    if missing:
        reasons: dict[str, list[str]] = {}
        for gap in missing:  # A reviewer of the output was asked about each criterion.
            reason = NOT_ANSWERED if gap.missing == NOT_ASKED else gap.missing
            reasons.setdefault(reason.text, []).append(gap.criterion)
        why = "; ".join(f"{', '.join(ids)}: {reason}" for reason, ids in reasons.items())
        return ReviewerScore(
            judge=review.judge,
            exact=None,
            why_not=why,
            criteria=answers.scores,
            remark=answers.remark,
            whole=answers.whole,
        )
    trail = run_score_steps(rubric.method.before_panel, case)
    return ReviewerScore(
        judge=review.judge,
        exact=trail[-1].after,
        steps=trail,
        criteria=answers.scores,
        notes=tuple(
            note_claims_against_scorecard(finish_scorecard(case, (), trail), answers.claims, rubric.method.scale.max)
        ),
        remark=answers.remark,
        whole=answers.whole,
    )


def _hold_normalised_scores_at_ceilings(
    rubric: Rubric, said: PooledScores, answers: Mapping[str, Answers], reviewed: Sequence[ReviewerScore]
) -> PooledScores:
    """Normalising comes after the ceilings and may stretch a score beyond them, so they hold once more."""
    limits = [step for step in rubric.method.before_panel if isinstance(step, (Ceiling, Cap))]
    says = dict(said.says)
    for entry in reviewed:
        if entry.judge in says and not entry.holistic:
            case, _ = prepare_step_inputs(rubric, answers[entry.judge])
            trail = run_score_steps(limits, case, says[entry.judge])
            says[entry.judge] = trail[-1].after if trail else says[entry.judge]
    held = tuple(judge for judge, score in says.items() if score != said.says[judge])
    return replace(said, says=says, held=held)


def _join_reviewer_scorecards(
    rubric: Rubric,
    answers: Mapping[str, Answers],
    reviewed: tuple[ReviewerScore, ...],
    said: PooledScores,
    weights: Mapping[str, Fraction],
) -> Scorecard:
    panel, says = rubric.method.panel, said.says
    case = StepInputs(
        rubric, _pool_gate_scores_by_majority(rubric, reviewed), _pool_answers_for_scorecard(answers, reviewed, weights)
    )
    layers = {
        find_scorecard_layers(rubric, entry.criteria)
        for entry in reviewed
        if entry.judge in says and not entry.holistic
    }
    enough = len(says) > panel.quorum * len(reviewed) and len(layers) <= 1
    trail: tuple[AppliedStep, ...] = ()
    counted = {entry.judge for entry in reviewed}
    own = tuple(judge for judge in weights if judge not in counted)  # The author, asked about it or not.
    if enough:
        after = combine_reviewer_scores(panel, says, weights)
        facts = (panel, reviewed, said, own, weights)
        trail = (AppliedStep("panel", None, after, _explain_pooled_score_step, facts, rubric.method.scale.decimals),)
    unknown = (
        find_unanswered_gate_steps(rubric.method.after_panel, case)
        if enough
        else _list_criteria_missing_on_scorecards(rubric, reviewed)
    )
    card = finish_scorecard(case, unknown, () if unknown else trail)
    if not any(given.scores or given.holistic for given in answers.values()):
        card = fail_scorecard_without_layers(card, rubric)
    notes = [*card.notes, *_note_pooled_scorecard(rubric, reviewed, said, weights)]
    notes += ["the reviewers scored different layers: not comparable"] if len(layers) > 1 else []
    notes += [f"{', '.join(own)} does not vote on its own response"] if own and not enough else []
    return replace(card, reviews=reviewed, notes=tuple(notes))


def _pool_gate_scores_by_majority(rubric: Rubric, reviewed: Sequence[ReviewerScore]) -> dict[str, Fraction]:
    """For gates: the criterion scores that more than half of those who answered reach; half is not enough."""
    given: dict[str, list[Fraction]] = {}
    for entry in reviewed:
        for id, value in prepare_step_inputs(rubric, Answers(id="", scores=entry.criteria))[0].values.items():
            given.setdefault(id, []).append(value)
    return {id: sorted(values)[(len(values) - 1) // 2] for id, values in given.items()}


def _pool_answers_for_scorecard(
    answers: Mapping[str, Answers], reviewed: Sequence[ReviewerScore], weights: Mapping[str, Fraction]
) -> Answers:
    """The reviewers' findings as one: means of criteria, every flag any of them found, the first unsafe pattern."""
    counted = {entry.judge for entry in reviewed}
    given = [answers[judge] for judge in answers if judge in counted] or list(answers.values())
    ids = dict.fromkeys(id for entry in reviewed for id in entry.criteria)
    return Answers(
        id=given[0].id,
        scores={id: _average_criterion_scores(reviewed, id, weights) for id in ids},
        red_flags={id: why for one in given for id, why in one.red_flags.items()},
        bonuses={id: why for one in given for id, why in one.bonuses.items()},
        unsafe=next((one.unsafe for one in answers.values() if one.unsafe), None),
        passage=next((one.passage for one in answers.values() if one.unsafe), None),
        author=next((one.author for one in answers.values() if one.author), None),
        notes=tuple(dict.fromkeys(note for one in given for note in one.notes)),
        whole=_average_whole_scores(reviewed, weights),
    )


def _average_criterion_scores(
    reviewed: Sequence[ReviewerScore], id: str, weights: Mapping[str, Fraction]
) -> CriterionScore:
    """The mean by weight over the reviewers whose scores count; where none does, over those who answered at all."""
    counted = [entry for entry in reviewed if entry.exact is not None]
    given = _collect_criterion_scorecard_scores(counted, id) or _collect_criterion_scorecard_scores(reviewed, id)
    if not given:
        return Missing("failed", "no reviewer answered")
    total = sum((weights[judge] for judge in given), Fraction(0))
    return Scored(sum((value * weights[judge] for judge, value in given.items()), Fraction(0)) / total)


def _average_whole_scores(reviewed: Sequence[ReviewerScore], weights: Mapping[str, Fraction]) -> Scored | None:
    given = {entry.judge: entry.whole.value for entry in reviewed if isinstance(entry.whole, Scored)}
    total = sum((weights[judge] for judge in given), Fraction(0))
    return (
        Scored(sum((value * weights[judge] for judge, value in given.items()), Fraction(0)) / total) if total else None
    )


def _collect_criterion_scorecard_scores(reviewed: Sequence[ReviewerScore], id: str) -> dict[str, Fraction]:
    scores = ((entry.judge, entry.criteria.get(id)) for entry in reviewed)
    return {judge: score.value for judge, score in scores if isinstance(score, Scored)}


def _list_criteria_missing_on_scorecards(
    rubric: Rubric, reviewed: Sequence[ReviewerScore]
) -> tuple[MissingCriterion, ...]:
    """Each criterion once, with what kept each reviewer from answering it."""
    gone = [entry for entry in reviewed if entry.exact is None]
    failed: dict[str, str] = {}
    for id in rubric.leaves:
        unscored = [entry for entry in gone if not isinstance(entry.criteria.get(id), Scored)]
        reasons = []
        for entry in unscored:
            score = entry.criteria.get(id)
            why = NOT_ANSWERED.text if entry.criteria else entry.why_not
            reasons.append(f"{entry.judge}: {score.text if isinstance(score, Missing) else why}")
        if reasons:
            failed[id] = "; ".join(reasons)
    failed = failed or dict.fromkeys(rubric.leaves, "the panel gave no score")
    return tuple(MissingCriterion(id, Missing("failed", why)) for id, why in failed.items())


def _note_pooled_scorecard(
    rubric: Rubric, reviewed: Sequence[ReviewerScore], said: PooledScores, weights: Mapping[str, Fraction]
) -> list[str]:
    panel = rubric.method.panel
    notes = [f"{entry.judge} not counted: {entry.why_not}" for entry in reviewed if entry.exact is None]
    notes += [f"{entry.judge}: holistic score" for entry in reviewed if entry.holistic]
    notes += [f"{entry.judge}: {note}" for entry in reviewed for note in entry.notes]
    notes += [f"{entry.judge} notes: {entry.remark}" for entry in reviewed if entry.remark]
    if not len(said.says) > panel.quorum * len(reviewed):
        notes.append(f"{len(said.says)} of {len(reviewed)} reviewers scored it: too few to decide")
    elif panel.normalise == "z":
        if said.normalised:
            plain = format_fraction(combine_reviewer_scores(panel, said.plain, weights), rubric.method.scale.decimals)
            notes.append(f"unnormalised score {plain}")
        notes += [
            f"{judge} not normalised: fewer than 3 scores, or no spread"
            for judge in said.not_normalised
            if judge in said.says
        ]
    return notes


def _explain_pooled_score_step(moved: AppliedStep) -> str:
    panel, reviewed, said, own, weights = moved.facts
    says = said.says
    kinds = {entry.judge: " (holistic)" if entry.holistic else "" for entry in reviewed}
    for judge, weight in weights.items():
        kinds[judge] = kinds.get(judge, "") + (f" (weight {format_fraction(weight)})" if weight != 1 else "")
    for judge in says if said.normalised else ():
        kinds[judge] += " (not normalised)" if judge in said.not_normalised else ""
        kinds[judge] += " (held at its ceiling)" if judge in said.held else ""
    each = ", ".join(f"{judge} {format_fraction(value, moved.decimals)}{kinds[judge]}" for judge, value in says.items())
    how = panel.aggregate + (" after z" if said.normalised else "")
    absent = len(reviewed) - len(says)
    without = f"; {absent} not counted" if absent else ""
    reviewers = pluralize_count(len(says), "reviewer")
    without += f"; {', '.join(own)} does not vote on its own response" if own else ""
    return f"{how} {format_fraction(moved.after, moved.decimals)} of {reviewers}: {each}{without}"


def measure_scorecard_disagreement(scores: Scores) -> PanelDisagreement | None:
    """What the reviewers of these scorecards agree and disagree on; None where there were none."""
    cards = [card for card in scores.scorecards if card.reviews is not None]
    judges = dict.fromkeys(review.judge for card in cards for review in card.reviews or ())
    if not judges:
        return None
    return PanelDisagreement(
        differing=tuple(filter(None, (_measure_scorecard_gap(id, cards) for id in scores.rubric.leaves))),
        harshness=tuple(filter(None, (_measure_scorecard_harshness(judge, cards) for judge in judges))),
        dissent=tuple(_find_dissenting_scorecards(scores, cards, list(judges))),
        silent=tuple(_find_reviewers_without_scorecard(cards, list(judges))),
    )


def _measure_scorecard_gap(criterion: str, cards: Sequence[Scorecard]) -> CriterionDisagreement | None:
    """The mean distance between the highest and the lowest score, and where it is widest."""
    gaps = []
    for card in cards:
        given = [
            (value, judge)
            for judge, value in _collect_criterion_scorecard_scores(card.reviews or (), criterion).items()
        ]
        if len(given) > 1:
            low, high = min(given, key=lambda one: one[0]), max(given, key=lambda one: one[0])
            gaps.append((high[0] - low[0], card.id, low, high))
    if not gaps:
        return None
    _, output, low, high = max(gaps, key=lambda gap: gap[0])
    mean_gap = exact_mean_score([gap[0] for gap in gaps])
    return CriterionDisagreement(criterion=criterion, mean_gap=mean_gap, output=output, low=low, high=high)


def _measure_scorecard_harshness(judge: str, cards: Sequence[Scorecard]) -> ReviewerHarshness | None:
    """How far a reviewer's scores lie from the mean of the others', over the outputs that both scored."""
    distances = []
    for card in cards:
        given = {review.judge: review.exact for review in card.reviews or () if review.exact is not None}
        others = [exact for name, exact in given.items() if name != judge]
        if judge in given and others:
            distances.append(given[judge] - exact_mean_score(others))
    return ReviewerHarshness(judge=judge, by=exact_mean_score(distances), outputs=len(distances)) if distances else None


def _find_dissenting_scorecards(
    scores: Scores, cards: Sequence[Scorecard], judges: Sequence[str]
) -> Iterator[ReviewerDissent]:
    """Reviewers whose own scores put another output first than the panel does."""
    winners = {place.id for place in scores.ranking or () if place.rank == 1}
    for judge in judges:
        own = {
            card.id: review.exact
            for card in cards
            for review in card.reviews or ()
            if review.judge == judge and review.exact is not None and not _did_cap_step_decide_score(card)
        }
        # A reviewer that may not vote on a winner, its own response, cannot disagree about it.
        if len(own) < 2 or not winners & own.keys():
            continue
        best = max(own.values())
        first = tuple(id for id, exact in own.items() if exact == best)
        if not winners & set(first):
            yield ReviewerDissent(judge=judge, first=first)


def _did_cap_step_decide_score(card: Scorecard) -> bool:
    """Whether a cap decided the score: then not the reviewers but a guard put the output where it is."""
    return any(moved.step == "cap" for moved in card.steps)


def _find_reviewers_without_scorecard(cards: Sequence[Scorecard], judges: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Reviewers that gave no score at all, and why."""
    for judge in judges:
        own = [review for card in cards for review in card.reviews or () if review.judge == judge]
        if own and all(review.exact is None for review in own):
            yield judge, own[0].why_not
