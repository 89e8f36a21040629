"""Lengths beside scores, as a run keeps them: every output counts, few are kept, none moves by its place."""

import random
from fractions import Fraction

from evenhand.runs.adjusted_scores import MOST_LENGTH_POINTS, summarise_run_length_bias
from evenhand.runs.tally import RunVariantTally


def tally(outputs: list[tuple[int | None, Fraction | None]]) -> RunVariantTally:
    """A variant with outputs of these lengths and composites, a sample each."""
    made = RunVariantTally()
    for position, (length, composite) in enumerate(outputs):
        made.clusters.append(position)
        made.composite.add(None if composite is None else composite.as_integer_ratio(), position)
        made.lengths.append(float("nan") if length is None else length)
    return made


def test_the_line_is_the_one_through_the_points() -> None:
    """Every hundred characters add half a point, from 2 at the shortest: that is the slope, and nothing strays."""
    made = tally([(100 * step, 2 + Fraction(step, 2)) for step in range(1, 7) for _ in range(2)])

    (found,) = summarise_run_length_bias({"new": made})

    assert (found["variant"], found["n"], found["why_not"]) == ("new", 12, "")
    assert (found["slope"], found["low"], found["high"], found["correlation"]) == (0.5, 0.5, 0.5, 1.0)
    assert found["line"] == [[100, 2.5], [600, 5.0]]
    assert found["points"][0] == [100, 2.5]


def test_what_has_no_output_or_no_score_is_not_among_the_points() -> None:
    """A missing score is not zero, and a missing output is not a short one."""
    made = tally([(None, None), (50, None), (80, Fraction(3))])

    (found,) = summarise_run_length_bias({"new": made})

    assert (found["n"], found["points"]) == (1, [[80, 3.0]])
    assert found["slope"] is None
    assert found["why_not"] == "1 independent sample is too few (it takes 10)"


def test_a_variant_without_scores_is_left_out() -> None:
    """There is nothing to draw."""
    assert summarise_run_length_bias({"new": tally([(5, None)]), "old": RunVariantTally()}) == []


def test_few_points_are_kept_and_both_ends_among_them() -> None:
    """A hundred thousand outputs must not be kept twice; the line is still fitted through all of them."""
    outputs: list[tuple[int | None, Fraction | None]] = [(7 * place, Fraction(place % 5)) for place in range(3000)]
    shuffled = random.Random(3).sample(outputs, len(outputs))

    first, second = summarise_run_length_bias({"new": tally(outputs), "old": tally(shuffled)})

    assert (first["n"], len(first["points"])) == (3000, MOST_LENGTH_POINTS)
    assert [first["points"][place][0] for place in (0, -1)] == [0, 7 * 2999]
    assert {**first, "variant": "old"} == second


def test_equal_lengths_have_no_slope() -> None:
    """Where nothing is longer, length explains nothing; the reason is kept beside the gap."""
    made = tally([(40, Fraction(place % 3)) for place in range(20)])

    (found,) = summarise_run_length_bias({"new": made})

    assert (found["slope"], found["line"]) == (None, None)
    assert found["why_not"].startswith("all outputs have the same length")
