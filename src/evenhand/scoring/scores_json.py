"""The stable JSON of scores: what `evenhand score --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.model.method import Add, Cap, Deduct
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.scale import CriterionScore, Scored
from evenhand.model.scorecard import AppliedStep, ReviewerScore, Scorecard, Scores
from evenhand.scoring.panel import measure_scorecard_disagreement
from evenhand.scoring.scores import Consistency
from evenhand.wording import format_number_for_json, round_number_for_json, word_score_for_json

ScoresJson = dict[str, object]


def scores_to_json(scores: Scores) -> ScoresJson:
    """Scores as plain data; what a method does not have is null."""
    ranking = None if scores.ranking is None else [
        {"rank": one.rank, "id": one.id, "score": None if one.score is None else float(one.score),
         "tie_broken_by": one.tie_broken_by} for one in scores.ranking
    ]  # fmt: skip
    return {
        "method": scores.rubric.method.name,
        "rubric": scores.rubric.name,
        "fingerprint": scores.fingerprint,
        "scorecards": [scorecard_to_json(scores.rubric, card) for card in scores.scorecards],
        "ranking": ranking,
        "panel": _scorecard_disagreement_to_json(scores),
        "safety_gate": _scorecard_safety_gate_to_json(scores),
        "notes": list(scores.notes),
    }


def scorecard_to_json(rubric: Rubric, card: Scorecard) -> ScoresJson:
    """One scorecard as plain data."""
    score = card.score
    return {
        "id": card.id,
        "score": None if score is None else float(score),
        "grade": card.grade,
        "label": card.label,
        "description": next((one.description for one in rubric.method.grades if one.grade == card.grade), "") or None,
        "verdict": card.verdict,
        "gates_failed": list(card.gates_failed),
        "gates_open": list(card.gates_open),
        "missing": [{"criterion": entry.criterion, "why": entry.why} for entry in card.missing],
        "flags": list(card.flags),
        "bonuses": list(card.bonuses),
        "statements": _scorecard_statements_to_json(card) if card.flags or card.bonuses or card.reviews else [],
        **_scorecard_steps_to_json(rubric, card.steps, card.criteria),
        "reviews": None
        if card.reviews is None
        else [_reviewed_scorecard_to_json(rubric, entry) for entry in card.reviews],
        "holistic": None if card.whole is None else _scorecard_whole_score_to_json(rubric, card.whole),
        "notes": list(card.notes),
    }  # fmt: skip


def _scorecard_statements_to_json(card: Scorecard) -> list[ScoresJson]:
    """Each red flag and bonus found, with its explanation and what it moved; per reviewer where there are several."""
    trails = [(None, card.steps), *((review.judge, review.steps) for review in card.reviews or ())]
    found: list[ScoresJson] = []
    for judge, trail in trails:
        for moved in (one for one in trail if one.step in (Deduct.word, Add.word)):
            step, entries, _ = moved.facts
            sign = -1 if isinstance(step, Deduct) else 1
            found += [
                {
                    "kind": "red_flag" if sign < 0 else "bonus",
                    "id": one.statement.id,
                    "why": one.explanation,
                    "amount": format_number_for_json(sign * one.amount),
                    "counted": format_number_for_json(sign * one.counted),
                    "judge": judge,
                }
                for one in entries
            ]
    return found


def _scorecard_steps_to_json(
    rubric: Rubric, trail: Sequence[AppliedStep], scores: Mapping[str, CriterionScore]
) -> ScoresJson:
    """Each step that moved the number, and each criterion as it was answered; null where it was not."""
    steps = _STEPS_JSON.get((trail,), lambda: list(map(_applied_step_to_json, trail)))  # Many outputs share a trail.
    criteria: ScoresJson = dict.fromkeys(rubric.leaves)
    for id, leaf in rubric.leaves.items():
        score = scores.get(id)
        if isinstance(score, Scored):
            number = word_score_for_json(score.value)
            criteria[id] = number if score.band is None else {"band": score.band, "score": number}
            if leaf.scale.yes_no and score.value in (0, 1):
                criteria[id] = score.value == 1
    return {"steps": [dict(one) for one in steps], "criteria": criteria}


_STEPS_JSON: RubricIdentityCache[list[ScoresJson]] = RubricIdentityCache(1024)


def _applied_step_to_json(moved: AppliedStep) -> ScoresJson:
    # Rounding is the one step whose point is what lies beyond the shown decimals.
    decimals = None if moved.step == "round" else moved.decimals
    before = None if moved.before is None else format_number_for_json(moved.before, decimals)
    after = format_number_for_json(moved.after, moved.decimals)
    return {"step": moved.step, "before": before, "after": after, "why": moved.why}


def _reviewed_scorecard_to_json(rubric: Rubric, entry: ReviewerScore) -> ScoresJson:
    decimals = rubric.method.scale.decimals
    return {
        "judge": entry.judge,
        "score": None if entry.exact is None else format_number_for_json(entry.exact, decimals),
        "holistic": entry.holistic,
        "why_not": entry.why_not or None,
        **_scorecard_steps_to_json(rubric, entry.steps, entry.criteria),
        "holistic_score": _scorecard_whole_score_to_json(rubric, entry.whole),
        "notes": entry.remark or None,
    }


def _scorecard_whole_score_to_json(rubric: Rubric, score: CriterionScore | None) -> float | None:
    """A score for the whole that was asked beside the criteria; null where none was."""
    return format_number_for_json(score.value, rubric.method.scale.decimals) if isinstance(score, Scored) else None


def _scorecard_disagreement_to_json(scores: Scores) -> ScoresJson | None:
    """How the reviewers differ; null where there were none."""
    view = measure_scorecard_disagreement(scores)
    if view is None:
        return None
    return {
        "criteria": [
            {
                "criterion": one.criterion,
                "mean_gap": format_number_for_json(one.mean_gap),
                "widest": {
                    "output": one.output,
                    "low": {"judge": one.low[1], "score": word_score_for_json(one.low[0])},
                    "high": {"judge": one.high[1], "score": word_score_for_json(one.high[0])},
                },
            }
            for one in view.differing
        ],
        "harshness": [
            {"judge": one.judge, "by": format_number_for_json(one.by), "outputs": one.outputs} for one in view.harshness
        ],
        "dissent": [{"judge": one.judge, "first": list(one.first)} for one in view.dissent],
        "silent": [{"judge": judge, "why": why} for judge, why in view.silent],
    }


def _scorecard_safety_gate_to_json(scores: Scores) -> ScoresJson | None:
    if not any(isinstance(step, Cap) for step in scores.rubric.method.steps):
        return None
    failed = [card for card in scores.scorecards if card.unsafe]
    return {
        "failed_models": [card.author or card.id for card in failed],
        "findings": [{"id": card.id, "pattern": card.unsafe, "passage": card.passage} for card in failed],
    }


def score_consistency_to_json(consistency: Consistency) -> ScoresJson:
    """What history says of an evaluation: in words, which criteria strayed, and what each scored before."""
    return {
        "consistency": str(consistency),
        "strayed": [entry.criterion for entry in consistency.strayed],
        "earlier": {
            entry.criterion: {"mean": float(entry.mean), "sd": round_number_for_json(float(entry.sd)), "n": entry.n}
            for entry in consistency.measured
        },
    }
