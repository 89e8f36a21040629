"""Aligning from labels to a rubric, with a judge and a proposer that are scripts: what is drafted, tried and kept."""

from fractions import Fraction

import numpy as np
import pytest

from evenhand.calibrate.alignment import (
    CandidateRubric,
    JudgedCase,
    choose_alignment_cases_to_show,
    conclude_alignment,
    divide_labelled_samples,
    draft_alignment_candidates,
    draw_alignment_examples,
    tabulate_candidate_answers,
)
from evenhand.calibrate.nested_selection import select_rubric_by_nested_cv
from evenhand.calibrate.rubric_edits import AddClause, AddExamples, RefusedEdit, SplitCriterion, UseCalibrationMap
from tests.calibrate.aligning import RUBRIC, RULE, align, keeps_the_rule_alone
from tests.calibrate.tables import held
from tests.soak import at_least, at_most, often


def test_the_right_edit_among_nine_wrong_ones_is_kept_and_nothing_else() -> None:
    """Nine times in ten at least, where a quarter of the answers turns on the rule."""
    tries = often(20, 1000)

    right = sum(keeps_the_rule_alone(align(seed)) for seed in range(tries))

    assert right / tries >= at_least(0.9, tries)


def test_labels_shuffled_at_random_change_nothing() -> None:
    """Five times in a hundred at most."""
    tries = often(20, 1000)

    changed = sum(bool(align(seed, shuffled=True).edits) for seed in range(tries))

    assert changed / tries <= at_most(0.05, tries)


def test_the_present_rubric_stands_with_a_reason() -> None:
    """Nothing is proposed but what changes nothing for the better."""
    found = align(1, shuffled=True)

    assert found.edits == () and found.why
    assert found.rubric == RUBRIC == found.tried[0].rubric


def test_no_sample_is_both_drafted_from_and_decided_on() -> None:
    """A quarter for drafting, by sample: two outputs of one stay together."""
    found = held({"j": {"tone": [1.0] * 48}}, {"r": {"tone": [2.0] * 48}}, variants=("a", "b"))

    divided = divide_labelled_samples(found, np.random.default_rng(0))
    drafting, deciding = (set(found.cluster[part].tolist()) for part in (divided.drafting, divided.deciding))

    assert (len(drafting), len(deciding), drafting & deciding) == (6, 18, set())


def _case(people: int, judge: int | None, passage: str = "text") -> JudgedCase:
    answer = None if judge is None else Fraction(judge)
    return JudgedCase(criterion="tone", passage=passage, people=Fraction(people), judge=answer)


def test_examples_are_those_the_judge_got_most_wrong_of_both_ends() -> None:
    """Four of one level would teach that level alone."""
    cases = [_case(5, 1, "a"), _case(5, 2, "b"), _case(5, 3, "c"), _case(1, 1, "d"), _case(1, 2, "e")]

    drawn = draw_alignment_examples(cases, RUBRIC, "tone", 4)

    assert [(one.passage, int(one.score)) for one in drawn] == [("a", 5), ("b", 5), ("e", 1), ("d", 1)]


def test_long_passages_are_cut_so_that_all_examples_fit_the_bound() -> None:
    """Whatever the letters: a criterion that refuses them would be no candidate."""
    cases = [_case(score, 3, letter * 5000) for score in (1, 5) for letter in "xé语"]

    tried, refused = draft_alignment_candidates(RUBRIC, cases, (), ())

    assert [len(one.rubric.criteria[0].examples) for one in tried] == [0, 2, 4]
    assert refused == ()


def test_a_refused_proposal_ends_no_other() -> None:
    """It is told with its reason."""
    edits = [AddClause(criterion="tone", clause="Is the reply good"), AddClause(criterion="tone", clause=RULE)]

    tried, refused = draft_alignment_candidates(RUBRIC, (), edits, ())

    assert [one.edits for one in tried] == [(), (edits[1],)]
    assert [type(one) for one in refused] == [RefusedEdit]


def test_the_parts_of_a_split_criterion_answer_for_it() -> None:
    """People labelled the whole."""
    split = SplitCriterion(criterion="tone", parts=(("a", "Is it kind?"), ("b", "Is it brief?")))
    found = held({"j": {"tone": [1.0, 2.0]}}, {"r": {"tone": [3.0, 4.0]}})
    candidate = CandidateRubric(rubric=RUBRIC, edits=(split,))
    said = {(0, "a"): Fraction(1), (0, "b"): Fraction(5), (1, "a"): Fraction(2), (1, "b"): None}

    data = tabulate_candidate_answers(found, found.questions, np.array([0, 1]), [candidate], [said], ())

    assert data.answers[0, 0, 0] == 3.0
    assert np.isnan(data.answers[0, 1, 0])


def test_a_map_that_is_kept_leaves_the_rubric_and_says_its_knots() -> None:
    """It is the judge's scores that move."""
    people = [float(1 + n % 4) for n in range(40)]
    found = held({"j": {"tone": [one + 1 for one in people]}}, {"r": {"tone": people}})
    places = np.arange(40)
    answers = [{(n, "tone"): Fraction(people[n] + 1) for n in range(40)}]
    tried = [CandidateRubric(rubric=RUBRIC)]
    data = tabulate_candidate_answers(found, found.questions, places, tried, answers, {"tone"})

    selection = select_rubric_by_nested_cv(data, np.random.default_rng(0))
    aligned = conclude_alignment(tried, (), selection, data, found.questions)

    (edit,) = aligned.edits
    assert isinstance(edit, UseCalibrationMap) and edit.knots[-1][1] < 5
    assert aligned.rubric == RUBRIC


def test_examples_and_edits_are_candidates_side_by_side() -> None:
    """Which and how many is chosen inside cross-validation, not before."""
    tried, _ = draft_alignment_candidates(RUBRIC, [_case(1, 5, "a"), _case(5, 1, "b"), _case(1, 2, "c")],
                                [AddClause(criterion="tone", clause=RULE)], ())  # fmt: skip

    kinds = [tuple(type(edit) for edit in one.edits) for one in tried]

    assert kinds == [(), (AddExamples,), (AddExamples,), (AddClause,)]


@pytest.mark.parametrize("people", [1, 5])
def test_agreement_leaves_nothing_to_propose(people: int) -> None:
    """No model is asked in vain."""
    assert choose_alignment_cases_to_show(RUBRIC, [_case(people, people)] * 5) == []
