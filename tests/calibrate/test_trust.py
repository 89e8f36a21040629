"""Gates held against people: what counts as a wrong decision, who is people, and when a judge may gate."""

from collections.abc import Sequence

import numpy as np
import pytest

from evenhand.calibrate.trust import (
    GateTrust,
    TrustGate,
    add_scores_to_labelled_outputs,
    hold_directions_against_people,
    hold_gate_against_people,
    list_gate_error_lines,
    phrase_trust_answer,
    phrase_trust_next_step,
    require_trust_limit,
)
from evenhand.errors import InputError
from tests.calibrate.tables import held, table

GOOD = TrustGate(id="tone", about="tone at least 4", least={"tone": 4.0})


def trust(judge: Sequence[float | None], *people: Sequence[float | None], most: float = 0.2) -> GateTrust:
    found = held({"j": {"tone": judge}}, {f"r{number}": {"tone": one} for number, one in enumerate(people)})
    return hold_gate_against_people(found, GOOD, most)


def test_errors_are_counted_by_what_people_say() -> None:
    """Of four that people fail one was passed, of two that they pass one was failed; on the threshold is passed."""
    found = trust([5, 1, 2, 3, 4, 3], [1, 2, 3, 3, 5, 4])

    assert (found.passed.wrong, found.passed.n) == (1, 4)
    assert (found.failed.wrong, found.failed.n) == (1, 2)
    assert found.passed.share is not None and found.passed.share.estimate == 0.25


def test_what_the_judge_cannot_assess_is_neither_right_nor_wrong() -> None:
    """It is counted by itself: dropped silently, a judge that abstains on hard cases would look better than it is."""
    found = trust([5, None, 1], [5, 5, 1])

    assert found.not_assessed == 1
    assert (found.passed.n, found.failed.n) == (1, 1)


def test_the_majority_of_people_decides_and_a_split_is_said() -> None:
    """Two of three pass the first output; on the second, one passes and one fails, so nobody knows."""
    found = trust([5, 5], [5, 5], [4, 1], [1, None])

    assert (found.failed.wrong, found.failed.n, found.split) == (0, 1, 1)
    assert found.passed.n == 0 and found.passed.share is None


def test_a_person_is_measured_like_a_judge() -> None:
    """Each against the majority of the others, which is the ceiling: here the third passes what both others fail."""
    found = trust([1] * 4, [1] * 4, [1] * 4, [5, 1, 1, 1])

    # Of the first output the first two see one pass and one fail among the others: no majority there.
    assert (found.person_passed.wrong, found.person_passed.n) == (1, 10)


@pytest.mark.parametrize(
    ("wrong_passes", "wrong_fails", "answer"),
    [(0, 0, "may gate"), (0, 20, "one way"), (20, 0, "one way"), (20, 20, "may not"), (6, 6, "too few labels")],
)
def test_the_answer_follows_from_both_intervals(wrong_passes: int, wrong_fails: int, answer: str) -> None:
    """40 outputs that people fail and 40 that they pass, with a limit of one in five."""
    judge: list[float | None] = [*([5] * wrong_passes), *([1] * (40 - wrong_passes))]
    judge += [*([1] * wrong_fails), *([5] * (40 - wrong_fails))]
    found = trust(judge, [*([1.0] * 40), *([5.0] * 40)])

    assert found.answer == answer


def test_few_labels_never_let_a_judge_gate() -> None:
    """Sixteen right decisions of sixteen leave more than 20% possible (0 of 16: up to 20.6%); seventeen do not."""
    assert trust([1] * 16 + [5] * 17, [1] * 16 + [5] * 17).trusted == ("fail",)
    assert trust([1] * 17 + [5] * 17, [1] * 17 + [5] * 17).answer == "may gate"


def test_how_many_labels_more_would_settle_it() -> None:
    """None is settled by ten labels without an error; as many as it names, again without one, settle it."""
    found = trust([1] * 5 + [5] * 5, [1] * 5 + [5] * 5)
    assert found.answer == "too few labels" and found.further is not None

    half = 5 + found.further // 2 + 1
    assert trust([1] * half + [5] * half, [1] * half + [5] * half).answer == "may gate"


def test_a_gate_on_what_nobody_labelled_says_so_and_what_to_label() -> None:
    """Errors that nobody could see are no error rate, and more labels of the same kind would settle nothing."""
    labelled = held({"j": {"tone": [5, 1, 4]}}, {"r": {"tone": [5, 1, 4]}})
    gate = TrustGate(id="verdict", about="score at least 3.50", least={"score": 3.5})

    found = hold_gate_against_people(labelled, gate)

    assert (found.answer, found.unlabelled, found.further) == ("too few labels", ("score",), None)
    assert phrase_trust_answer(found, 0.2) == (
        "Not known whether j may gate (score at least 3.50): the gate is on the score, and no label is about it."
    )
    assert list_gate_error_lines(found) == [
        "Wrongly passed: not known, as no label is about the score.",
        "Wrongly failed: not known, as no label is about the score.",
    ]
    assert phrase_trust_next_step(found, 0.2) == (
        "label the score of outputs: evenhand labels next RUN --criterion score."
    )


def test_a_gate_on_two_numbers_names_the_one_without_a_label() -> None:
    """One label below its least fails the output; without the other nobody has passed one."""
    labelled = held({"j": {"tone": [5, 1, 4]}}, {"r": {"tone": [5, 1, 4]}})
    gate = TrustGate(id="verdict", about="both", least={"tone": 3.0, "page": 1.0})

    found = hold_gate_against_people(labelled, gate)

    assert found.unlabelled == ("page",)
    assert list_gate_error_lines(found)[0].startswith("Wrongly passed: 0 of 1 that people fail")
    assert list_gate_error_lines(found)[1] == "Wrongly failed: not known, as no label is about page."
    assert phrase_trust_next_step(found, 0.2) == "label page of outputs: evenhand labels next RUN --criterion page."


def test_a_gate_of_several_numbers_fails_by_one_and_passes_by_all() -> None:
    """As a verdict does: a failed required criterion decides though the score is not known."""
    gate = TrustGate(id="verdict", about="", least={"score": 0.6, "page": 1.0})
    given = {"score": np.array([0.9, np.nan, np.nan, 0.2]), "page": np.array([1.0, 0.0, 1.0, np.nan])}

    decided = gate.decide_at_gate(given, 4)

    np.testing.assert_array_equal(decided, [1.0, 0.0, np.nan, 0.0])


def test_a_score_of_three_fifths_is_on_the_threshold() -> None:
    """Sums of floats: 0.6 is reached where the exact score is."""
    gate = TrustGate(id="verdict", about="", least={"score": 0.6})

    assert gate.decide_at_gate({"score": np.array([0.1 + 0.2 + 0.3 - 1e-16])}, 1)[0] == 1


def test_people_who_answered_every_criterion_have_given_a_score() -> None:
    """The weighted mean of their answers, as the method makes it of a judge's; one left out, and there is none."""
    run = table({"j": {"tone": [5, 1], "care": [1, 1]}})
    found = held({"j": {"tone": [5, 1], "care": [1, 1]}}, {"r": {"tone": [5, 5], "care": [1, None]}})

    scored = add_scores_to_labelled_outputs(found, run, {"tone": (3, 1, 5), "care": (1, 1, 5)}, (0.0, 1.0))

    np.testing.assert_array_equal(scored.people["score"], [[0.75, np.nan]])
    np.testing.assert_array_equal(scored.answers["j", "score"], [3.0, 1.0])


def test_people_who_see_no_difference_leave_the_direction_open() -> None:
    """The judge prefers the new one by a point everywhere; people as often the one as the other."""
    judge = [value for _ in range(30) for value in (3.0, 4.0)]
    run = table({"j": {"tone": judge}}, variants=("old", "new"))
    agree, disagree = ([(3.0, 3.0 + step) for step in steps] for steps in ([1, 1, 0] * 10, [1, -1, 0] * 10))
    chances = []
    for pairs in (agree, disagree):
        said = {"r": {"score": [value for pair in pairs for value in pair]}}
        found = held({"j": {"tone": judge}}, said, variants=("old", "new"))
        (one,) = hold_directions_against_people(found, run, (1.0, 5.0))
        assert one.judged == 1.0 and one.chance is not None
        chances.append(one.chance)

    assert chances[0] < 0.001
    assert chances[1] > 0.3


@pytest.mark.parametrize("most", [0.0, 0.5, 1.0, float("nan")])
def test_a_limit_that_says_nothing_is_refused(most: float) -> None:
    """At one half a coin would do."""
    with pytest.raises(InputError, match="--at-most"):
        require_trust_limit(most)
