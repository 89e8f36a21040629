"""One output's answers to its scorecard: fold, gates, steps, decisions. The engine knows steps, never methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.model import (
    Answers,
    Cap,
    Ceiling,
    CriterionScore,
    LayerMean,
    Missing,
    Moved,
    Rubric,
    Scorecard,
    Scored,
    Shortfall,
    Step,
    not_asked,
    written,
)
from evenhand.scoring._claims import claim_notes
from evenhand.scoring._decide import gates_failed, grade_of, verdict_of
from evenhand.scoring._fold import fold
from evenhand.scoring._steps import Case, apply, below_expected


def scorecard(rubric: Rubric, answers: Answers) -> Scorecard:
    """The scorecard of one output from one set of answers."""
    case, missing = open_case(rubric, answers)
    if missing and isinstance(answers.holistic, Scored) and not case.values:
        unknown = unknown_to(rubric.method.after_panel, case)
        return finish(case, unknown, () if unknown else holistic_step(case, answers.holistic))
    missing = missing or unknown_to(rubric.method.steps, case)
    if missing:
        return nothing_configured(finish(case, missing, ()), rubric)
    return finish(case, (), run_steps(rubric.method.before_panel, case))


def open_case(rubric: Rubric, answers: Answers) -> tuple[Case, tuple[Missing, ...]]:
    """The case the steps look at, and what keeps it from having a score."""
    values, missing = fold(rubric, answers.scores)
    if isinstance(rubric.method.steps[0], LayerMean) and answers.scores:
        missing = _without_absent_layers(rubric, answers, missing)
    missing += [Missing(id, why) for id, why in answers.unanswered.items()]
    return Case(rubric, values, answers), tuple(missing)


def unknown_to(steps: Sequence[Step], case: Case) -> tuple[Missing, ...]:
    """The criteria that gates and ceilings look at and nobody answered: a gate that is not known has not passed."""
    if case.values.keys() >= case.rubric.leaves.keys():
        return ()
    looked_at = [gate.criterion for gate in case.rubric.all_gates()]
    looked_at += [step.criterion for step in steps if isinstance(step, Ceiling)]
    return tuple(Missing(id, not_asked().why) for id in dict.fromkeys(looked_at) if id not in case.values)


def run_steps(steps: Sequence[Step], case: Case, before: Fraction | None = None) -> tuple[Moved, ...]:
    """The steps that moved the number, in order."""
    trail = []
    for step in steps:
        moved = apply(step, before, case)
        if moved:
            trail.append(moved)
            before = moved.after
    return tuple(trail)


def holistic_step(case: Case, holistic: Scored) -> tuple[Moved, ...]:
    """A score for the whole stands in for a rubric that could not be read."""
    decimals = case.rubric.method.scale.decimals
    return (Moved("holistic", None, holistic.value, _tell_holistic, (), decimals),)


def finish(case: Case, missing: tuple[Missing, ...], trail: tuple[Moved, ...]) -> Scorecard:
    """Run the steps that come once, then decide."""
    rubric, answers = case.rubric, case.answers
    value = trail[-1].after if trail else None
    if value is not None:
        trail += run_steps(rubric.method.after_panel, case, value)
        value = trail[-1].after
    failed = gates_failed(rubric, case.values)
    grade = grade_of(rubric.method, value) if value is not None else None
    card = Scorecard(
        id=answers.id,
        exact=value,
        decimals=rubric.method.scale.decimals,
        grade=grade.grade if grade else None,
        label=grade.label if grade else None,
        verdict=verdict_of(rubric, value, failed),
        gates_failed=failed,
        missing=missing,
        flags=_flags(case),
        bonuses=tuple(answers.bonuses),
        unsafe=answers.unsafe,
        passage=answers.passage,
        author=answers.author,
        steps=trail,
        criteria=answers.scores,
        notes=tuple(_notes(case, value)),
    )
    if answers.claims:
        claimed = claim_notes(card, answers.claims, rubric.method.scale.max)
        return replace(card, notes=(*card.notes, *claimed))
    return card


def layers_of(rubric: Rubric, scores: Mapping[str, CriterionScore]) -> frozenset[str]:
    """The layers that were configured for an output; empty for methods that have none."""
    if not isinstance(rubric.method.steps[0], LayerMean):
        return frozenset()
    return frozenset(c.id for c in rubric.criteria if any(leaf.id in scores for leaf in c.leaves()))


def nothing_configured(card: Scorecard, rubric: Rubric) -> Scorecard:
    """All layers absent: there is no composite, and every gate has failed."""
    if card.criteria or not isinstance(rubric.method.steps[0], LayerMean):
        return card
    layers = tuple(criterion.id for criterion in rubric.criteria)
    note = "no layer is configured: there is nothing to decide by"
    return replace(card, verdict="fail", gates_failed=layers, notes=(*card.notes, note))


def _without_absent_layers(rubric: Rubric, answers: Answers, missing: list[Missing]) -> list[Missing]:
    """A layer nobody configured is absent; one that was configured and failed is missing."""
    present = layers_of(rubric, answers.scores)
    configured = {leaf.id for criterion in rubric.criteria if criterion.id in present for leaf in criterion.leaves()}
    return [entry for entry in missing if entry.criterion in configured]


def _flags(case: Case) -> tuple[str, ...]:
    flags = list(case.answers.red_flags)
    for step in case.rubric.method.steps:
        if isinstance(step, Shortfall):
            flags += [criterion.id for criterion in below_expected(step, case)]
    return tuple(flags)


def _notes(case: Case, value: Fraction | None) -> Iterator[str]:
    method = case.rubric.method
    yield from case.answers.notes
    if isinstance(method.steps[0], LayerMean) and value is not None:
        present = [criterion.id for criterion in case.rubric.criteria if criterion.id in case.values]
        yield f"computed from {', '.join(present)}"
    if case.answers.unsafe and not any(isinstance(step, Cap) for step in method.steps):
        yield f"unsafe ({case.answers.unsafe}): {method.name} has no cap for it"


def _tell_holistic(moved: Moved) -> str:
    return f"holistic score {written(moved.after, moved.decimals)}: the rubric could not be read"
