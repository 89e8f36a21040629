"""Several reviewers to one score: self-votes left out, abstentions counted, harshness taken out where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.model import (
    Answers,
    CriterionScore,
    Missing,
    Moved,
    Panel,
    Review,
    Reviewed,
    Rubric,
    Scorecard,
    Scored,
    Unscored,
    written,
)
from evenhand.scoring._claims import claim_notes
from evenhand.scoring._engine import (
    finish,
    holistic_step,
    layers_of,
    nothing_configured,
    open_case,
    run_steps,
    unknown_to,
)
from evenhand.scoring._fold import fold
from evenhand.scoring._pool import Heard, heard, together
from evenhand.scoring._steps import Case

NOTHING = Heard({}, {}, ())
NOBODY = ""


def panel_scorecards(
    rubric: Rubric, reviews: Sequence[Review], outputs: Sequence[Answers] = ()
) -> tuple[Scorecard, ...]:
    """One scorecard per output that any reviewer saw, in order of first appearance.

    `outputs` come first and get one in any case: where nobody speaks of an output, that is said, not passed over.
    """
    panel = rubric.method.panel
    seen = _by_output(reviews, outputs)
    reviewed = {id: _review_output(rubric, panel, reviews, answers) for id, answers in seen.items()}
    pool: dict[str, dict[str, Fraction]] = {review.judge: {} for review in reviews}
    for id, entries in reviewed.items():
        for entry in entries:
            if entry.exact is not None:
                pool[entry.judge][id] = entry.exact
    said = heard(pool, rubric.method)
    weights = {review.judge: review.weight for review in reviews}
    return tuple(_join(rubric, seen[id], reviewed[id], said.get(id, NOTHING), weights) for id in seen)


def _by_output(reviews: Sequence[Review], outputs: Sequence[Answers]) -> dict[str, dict[str, Answers]]:
    """Who said what of each output; under NOBODY what is known of it before anybody speaks."""
    seen: dict[str, dict[str, Answers]] = {answers.id: {NOBODY: answers} for answers in outputs}
    for review in reviews:
        for answers in review.outputs:
            seen.setdefault(answers.id, {})[review.judge] = answers
    return seen


def _review_output(
    rubric: Rubric, panel: Panel, reviews: Sequence[Review], answers: Mapping[str, Answers]
) -> tuple[Reviewed, ...]:
    """What each eligible reviewer says about one output."""
    author = next((given.author for given in answers.values() if given.author), None)
    eligible = [review for review in reviews if panel.self_votes or review.judge != author]
    return tuple(_review(rubric, review, answers.get(review.judge)) for review in eligible)


def _review(rubric: Rubric, review: Review, answers: Answers | None) -> Reviewed:
    if answers is None:
        why = f"abstained: {review.abstained}" if review.abstained is not None else "gave no answer"
        return Reviewed(judge=review.judge, exact=None, why_not=why)
    case, missing = open_case(rubric, answers)
    if missing and isinstance(answers.holistic, Scored) and not case.values:
        trail = holistic_step(case, answers.holistic)
        return Reviewed(judge=review.judge, exact=trail[-1].after, holistic=True, steps=trail)
    missing = missing or unknown_to(rubric.method.before_panel, case)
    if missing:
        why = "; ".join(f"{entry.criterion}: {entry.why}" for entry in missing)
        return Reviewed(judge=review.judge, exact=None, why_not=why, criteria=answers.scores)
    trail = run_steps(rubric.method.before_panel, case)
    return Reviewed(
        judge=review.judge,
        exact=trail[-1].after,
        steps=trail,
        criteria=answers.scores,
        notes=tuple(claim_notes(finish(case, (), trail), answers.claims, rubric.method.scale.max)),
    )


@dataclass(frozen=True, slots=True)
class _Joined:
    """What the sentence of a panel step tells."""

    panel: Panel
    reviewed: tuple[Reviewed, ...]
    says: Mapping[str, Fraction]
    own: tuple[str, ...]
    weights: Mapping[str, Fraction]


def _join(
    rubric: Rubric,
    answers: Mapping[str, Answers],
    reviewed: tuple[Reviewed, ...],
    said: Heard,
    weights: Mapping[str, Fraction],
) -> Scorecard:
    panel, says = rubric.method.panel, said.says
    case = Case(rubric, _panel_values(rubric, reviewed), _merged(answers, reviewed, weights))
    layers = {layers_of(rubric, entry.criteria) for entry in reviewed if entry.judge in says and not entry.holistic}
    enough = len(says) > panel.quorum * len(reviewed) and len(layers) <= 1
    trail: tuple[Moved, ...] = ()
    if enough:
        counted = {entry.judge for entry in reviewed}
        own = tuple(judge for judge in answers if judge != NOBODY and judge not in counted)
        facts = _Joined(panel, reviewed, says, own, weights)
        trail = (
            Moved("panel", None, together(panel, says, weights), _tell_panel, (facts,), rubric.method.scale.decimals),
        )
    unknown = unknown_to(rubric.method.after_panel, case) if enough else _missing(rubric, reviewed)
    card = finish(case, unknown, () if unknown else trail)
    if not any(given.scores or given.holistic for given in answers.values()):
        card = nothing_configured(card, rubric)
    notes = [*card.notes, *_notes(rubric, reviewed, said, weights)]
    notes += ["the reviewers scored different layers: not comparable"] if len(layers) > 1 else []
    return replace(card, reviews=reviewed, notes=tuple(notes))


def _panel_values(rubric: Rubric, reviewed: Sequence[Reviewed]) -> dict[str, Fraction]:
    """For gates: the criterion scores that more than half of those who answered reach; half is not enough."""
    given: dict[str, list[Fraction]] = {}
    for entry in reviewed:
        for id, value in fold(rubric, entry.criteria)[0].items():
            given.setdefault(id, []).append(value)
    return {id: sorted(values)[(len(values) - 1) // 2] for id, values in given.items()}


def _merged(answers: Mapping[str, Answers], reviewed: Sequence[Reviewed], weights: Mapping[str, Fraction]) -> Answers:
    """The reviewers' findings as one: means of criteria, every flag any of them found, the first unsafe pattern."""
    counted = {entry.judge for entry in reviewed}
    given = [answers[judge] for judge in answers if judge in counted] or list(answers.values())
    ids = dict.fromkeys(id for entry in reviewed for id in entry.criteria)
    return Answers(
        id=given[0].id,
        scores={id: _mean_score(reviewed, id, weights) for id in ids},
        red_flags={id: why for one in given for id, why in one.red_flags.items()},
        bonuses={id: why for one in given for id, why in one.bonuses.items()},
        unsafe=next((one.unsafe for one in answers.values() if one.unsafe), None),
        passage=next((one.passage for one in answers.values() if one.unsafe), None),
        author=next((one.author for one in answers.values() if one.author), None),
        notes=tuple(dict.fromkeys(note for one in given for note in one.notes)),
    )


def _mean_score(reviewed: Sequence[Reviewed], id: str, weights: Mapping[str, Fraction]) -> CriterionScore:
    """The mean by weight over the reviewers whose scores count; where none does, over those who answered at all."""
    given = _given([entry for entry in reviewed if entry.exact is not None], id) or _given(reviewed, id)
    if not given:
        return Unscored("no reviewer answered")
    total = sum((weights[judge] for judge in given), Fraction(0))
    return Scored(sum((value * weights[judge] for judge, value in given.items()), Fraction(0)) / total)


def _given(reviewed: Sequence[Reviewed], id: str) -> dict[str, Fraction]:
    scores = ((entry.judge, entry.criteria.get(id)) for entry in reviewed)
    return {judge: score.value for judge, score in scores if isinstance(score, Scored)}


def _missing(rubric: Rubric, reviewed: Sequence[Reviewed]) -> tuple[Missing, ...]:
    """Each criterion once, with what kept each reviewer from answering it."""
    gone = [entry for entry in reviewed if entry.exact is None]
    why = {
        id: [
            f"{entry.judge}: {_why_missing(entry, id)}"
            for entry in gone
            if not isinstance(entry.criteria.get(id), Scored)
        ]
        for id in rubric.leaves
    }
    missing = tuple(Missing(id, "; ".join(reasons)) for id, reasons in why.items() if reasons)
    return missing or tuple(Missing(id, "the panel gave no score") for id in rubric.leaves)


def _why_missing(entry: Reviewed, id: str) -> str:
    score = entry.criteria.get(id)
    return score.why if isinstance(score, Unscored) else "not asked" if entry.criteria else entry.why_not


def _notes(rubric: Rubric, reviewed: Sequence[Reviewed], said: Heard, weights: Mapping[str, Fraction]) -> list[str]:
    panel = rubric.method.panel
    notes = [f"{entry.judge} not counted: {entry.why_not}" for entry in reviewed if entry.exact is None]
    notes += [f"{entry.judge}: holistic score" for entry in reviewed if entry.holistic]
    notes += [f"{entry.judge}: {note}" for entry in reviewed for note in entry.notes]
    if not len(said.says) > panel.quorum * len(reviewed):
        notes.append(f"{len(said.says)} of {len(reviewed)} reviewers scored it: too few to decide")
    elif panel.normalise == "z":
        plain = written(together(panel, said.plain, weights), rubric.method.scale.decimals)
        notes.append(f"unnormalised score {plain}")
        notes += [
            f"{judge} not normalised: fewer than 3 scores, or no spread" for judge in said.left if judge in said.says
        ]
    return notes


def _tell_panel(moved: Moved) -> str:
    (facts,) = moved.facts
    assert isinstance(facts, _Joined)
    kinds = {entry.judge: " (holistic)" if entry.holistic else "" for entry in facts.reviewed}
    for judge, weight in facts.weights.items():
        kinds[judge] = kinds.get(judge, "") + (f" (weight {written(weight)})" if weight != 1 else "")
    each = ", ".join(f"{judge} {written(value, moved.decimals)}{kinds[judge]}" for judge, value in facts.says.items())
    how = facts.panel.aggregate + (" after z" if facts.panel.normalise == "z" else "")
    absent = len(facts.reviewed) - len(facts.says)
    without = f"; {absent} not counted" if absent else ""
    without += f"; {', '.join(facts.own)} does not vote on its own response" if facts.own else ""
    return f"{how} {written(moved.after, moved.decimals)} of {len(facts.says)} reviewers: {each}{without}"
