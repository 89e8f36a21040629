"""A rubric aligned with people: labelled samples divided into those that edits are drafted from and those that decide,
the rubrics that are tried, and what came of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from evenhand.calibrate.edit_proposals import JudgedCase, make_alignment_example
from evenhand.calibrate.fitted_to_people import fit_calibration_knots
from evenhand.calibrate.labelled_outputs import Integers, LabelledOutputs
from evenhand.calibrate.labels import HumanLabelQuestion
from evenhand.calibrate.nested_selection import CandidateAnswers, NestedSelection
from evenhand.calibrate.rubric_edits import (
    AddExamples,
    RefusedEdit,
    RubricEdit,
    UseCalibrationMap,
    apply_rubric_edit,
    list_criteria_after_rubric_edits,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import MOST_EXAMPLE_TOKENS, CriterionExample

LEAST_ALIGNED_SAMPLES = 20
DRAFTING_SHARE = 4  # One sample of so many is for drafting; with fewer to decide, good edits are missed.
EXAMPLE_COUNTS = (2, 4)  # Of a criterion; which of them, if any, is chosen inside cross-validation.
BYTES_PER_TOKEN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRubric:
    """A rubric that is tried: the present one with some edits."""

    rubric: Rubric
    edits: tuple[RubricEdit, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DividedSamples:
    """Places of labelled outputs: those that edits may be drafted from, and those that decide. No sample is in both."""

    drafting: Integers
    deciding: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedRubric:
    """What aligning came to: the rubrics that were tried, the present one first, and which of them is kept.

    `edits` are those of the rubric that is written; none where the present one stands, and `why` says why.
    """

    rubric: Rubric
    edits: tuple[RubricEdit, ...]
    why: str
    selection: NestedSelection
    tried: tuple[CandidateRubric, ...]
    refused: tuple[RefusedEdit, ...] = ()
    drafting: int = 0  # Samples that edits were drafted from.
    map_tried: bool = False
    notes: tuple[str, ...] = field(default=())


def seed_alignment(seed: int) -> np.random.Generator:
    """Chance for one alignment: how samples are divided, folded and dealt labels."""
    return np.random.default_rng(seed)


def divide_labelled_samples(labelled: LabelledOutputs, rng: np.random.Generator) -> DividedSamples:
    """Divide by lot, by sample: outputs of one sample stay together."""
    units = np.unique(labelled.cluster)
    drafting = np.isin(labelled.cluster, rng.permutation(units)[: len(units) // DRAFTING_SHARE])
    return DividedSamples(drafting=np.flatnonzero(drafting), deciding=np.flatnonzero(~drafting))


def draft_alignment_candidates(
    rubric: Rubric, cases: Sequence[JudgedCase], proposed: Sequence[RubricEdit], held_out: Sequence[str]
) -> tuple[tuple[CandidateRubric, ...], tuple[RefusedEdit, ...]]:
    """The rubrics to try, the present one first: with more or fewer examples, and with each proposed edit alone."""
    tried = [CandidateRubric(rubric=rubric)]
    refused: list[RefusedEdit] = []
    for edits in (*_list_example_edits(rubric, cases), *((edit,) for edit in proposed)):
        changed: Rubric | RefusedEdit = rubric
        for edit in edits:
            changed = changed if isinstance(changed, RefusedEdit) else apply_rubric_edit(changed, edit, held_out)
        if isinstance(changed, RefusedEdit):
            refused.append(changed)
        elif all(changed != one.rubric for one in tried):
            tried.append(CandidateRubric(rubric=changed, edits=edits))
    return tuple(tried), tuple(refused)


def _list_example_edits(rubric: Rubric, cases: Sequence[JudgedCase]) -> Iterator[tuple[RubricEdit, ...]]:
    """For each number of examples, so many for every criterion that has labels."""
    for count in EXAMPLE_COUNTS:
        drawn = {
            id: draw_alignment_examples([one for one in cases if one.criterion == id], rubric, id, count)
            for id, leaf in rubric.leaves.items()
            if leaf.judged
        }
        edits = tuple(AddExamples(criterion=id, examples=some, reason=_SHOWN) for id, some in drawn.items() if some)
        if edits:
            yield edits


_SHOWN = "people's labels, shown where the judge was furthest from them"


def draw_alignment_examples(
    cases: Sequence[JudgedCase], rubric: Rubric, criterion: str, count: int
) -> tuple[CriterionExample, ...]:
    """The cases on which the judge was furthest from people, of each level of people's at most half."""
    scale = rubric.leaves[criterion].scale
    longest = (MOST_EXAMPLE_TOKENS // count - 1) * BYTES_PER_TOKEN
    drawn: list[CriterionExample] = []
    for case in sorted(cases, key=lambda one: -one.measure_disagreement(scale)):
        example = make_alignment_example(case, scale, most=longest)
        if example is not None and sum(one.score == example.score for one in drawn) * 2 < count:
            drawn.append(example)
        if len(drawn) == count:
            break
    return tuple(drawn)


AnswersByOutput = Mapping[tuple[int, str], Fraction | None]  # By the place of an output and the id of a criterion.


def tabulate_candidate_answers(
    labelled: LabelledOutputs,
    questions: Sequence[HumanLabelQuestion],
    places: Integers,
    tried: Sequence[CandidateRubric],
    answers: Sequence[AnswersByOutput],
    mappable: Container[str],
) -> CandidateAnswers:
    """What people and every candidate said of the outputs that decide; `mappable` are questions that may have a map."""
    table = np.full((len(tried), len(places), len(questions)), np.nan)
    for layer, (candidate, said) in enumerate(zip(tried, answers, strict=True)):
        for row, place in enumerate(places):
            for column, question in enumerate(questions):
                parts = [
                    said.get((int(place), id)) for id in list_criteria_after_rubric_edits(candidate.edits, question.id)
                ]
                given = [float(one) for one in parts if one is not None]
                if len(given) == len(parts):
                    table[layer, row, column] = sum(given) / len(given)
    return CandidateAnswers(
        people=np.stack([labelled.mean(one)[places] for one in questions], axis=1),
        answers=table,
        unit=labelled.cluster[places],
        variant=labelled.variant[places],
        low=np.array([one.low for one in questions]),
        high=np.array([one.high for one in questions]),
        mappable=np.array([one.id in mappable for one in questions]),
    )


def conclude_alignment(
    tried: Sequence[CandidateRubric],
    refused: Sequence[RefusedEdit],
    selection: NestedSelection,
    data: CandidateAnswers,
    questions: Sequence[HumanLabelQuestion],
) -> AlignedRubric:
    """The rubric to write: the choice made once more with all samples that decide, if it is kept at all."""
    present = tried[0].rubric
    edits: tuple[RubricEdit, ...] = ()
    if selection.kept:
        mapped = selection.chosen == len(tried)
        edits = tuple(_list_map_edits(data, questions)) if mapped else tried[selection.chosen].edits
    kept = tried[selection.chosen].rubric if selection.kept and selection.chosen < len(tried) else present
    return AlignedRubric(
        rubric=kept,
        edits=edits,
        why="" if selection.kept else _explain_alignment_keeps_rubric(selection, len(tried)),
        selection=selection,
        tried=tuple(tried),
        refused=tuple(refused),
        map_tried=bool(data.mappable.any()),
    )


def _list_map_edits(data: CandidateAnswers, questions: Sequence[HumanLabelQuestion]) -> Iterator[UseCalibrationMap]:
    for column, question in enumerate(questions):
        said, people = data.answers[0, :, column], data.people[:, column]
        both = np.isfinite(said) & np.isfinite(people)
        if data.mappable[column] and both.any():
            knots = fit_calibration_knots(said[both], people[both], "linear", question)
            yield UseCalibrationMap(criterion=question.id, knots=knots, reason="the judge's scores lie off people's")


def _explain_alignment_keeps_rubric(selection: NestedSelection, rubrics: int) -> str:
    if selection.chosen == 0:
        return "no other rubric has a lower error on the samples that decide"
    if selection.fall <= 0:
        return "a rubric chosen on four fifths of the samples is no better on the last fifth"
    return "the error falls by no more than chance explains"
