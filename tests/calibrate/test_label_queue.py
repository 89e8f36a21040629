"""The order in which a person labels: shuffled, repeatable, everything once, and a tenth again."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from evenhand.calibrate.next_labels import measure_rater_consistency, order_label_queue


@given(st.integers(1, 200), st.integers(), st.text(max_size=20))
def test_everything_comes_once_and_a_tenth_again(outputs: int, seed: int, rater: str) -> None:
    """What comes again stood in the first half, so that nobody just remembers the last page."""
    queue = order_label_queue(3, outputs, seed=seed, rater=rater)
    first, again = [one for one in queue if one.round == 1], [one for one in queue if one.round == 2]

    assert sorted(one.place for one in first) == list(range(outputs))
    assert len(again) == (min(-(-outputs // 10), outputs // 2) if outputs > 1 else 0)
    assert {one.place for one in again} <= {one.place for one in first[: max(1, outputs // 2)]}
    assert queue == [*first, *again] == order_label_queue(3, outputs, seed=seed, rater=rater)
    assert len({one.key for one in queue}) == len(queue)


def test_each_person_and_each_draw_has_an_order_of_its_own() -> None:
    """A shared order would give all people the same fatigue on the same outputs."""
    orders = [
        [one.place for one in order_label_queue(batch, 20, seed=seed, rater=rater)]
        for batch, seed, rater in ((1, 0, "ada"), (1, 0, "bob"), (2, 0, "ada"), (1, 1, "ada"))
    ]

    assert len({tuple(order) for order in orders}) == 4


def test_consistency_by_hand() -> None:
    """Of four answers two are the same; 1 of 9 and 0 of 9 apart on tone, "cannot say" has no distance."""
    pairs = [
        ("tone", Fraction(7), Fraction(8)),
        ("tone", Fraction(5), Fraction(5)),
        ("steps", None, None),
        ("steps", Fraction(3), None),
    ]

    found = measure_rater_consistency(pairs, {"tone": Fraction(9), "steps": Fraction(9)})

    assert (found.answers, found.same, found.gap) == (4, 2, 1 / 18)
