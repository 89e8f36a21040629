"""Whole numerators over one denominator: every operation is exact, or says that it does not fit."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand import Scale
from evenhand.scoring.exact_column import (
    LARGEST_NUMERATOR,
    DoesNotFitError,
    ExactColumn,
    read_exact_score_column,
    sum_weighted_columns,
)
from evenhand.wording import round_number_half_away

sizes = st.sampled_from([3, 10**4, 2**31, 2**53, 2**54, 2**60, 2**62])


@st.composite
def columns(draw: Callable[[st.SearchStrategy[int]], int], rows: int = 3) -> ExactColumn:
    """Three numbers of any size that fits, over a denominator, with the tightest bound."""
    size = draw(sizes)
    numerators = [draw(st.integers(-size, size)) for _ in range(rows)]
    denominator = draw(st.sampled_from([1, 7, 100, 3 * 10**6, 2**40 + 1, 10**17]))
    return ExactColumn(np.array(numerators, np.int64), denominator, max(map(abs, numerators)))


fractions = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)


def exact(column: ExactColumn) -> list[Fraction]:
    return [Fraction(int(above), column.denominator) for above in column.numerators]


def check(run: Callable[[], ExactColumn], expected: list[Fraction]) -> None:
    """The result is exact and within its own bound, unless the operation says that it does not fit."""
    try:
        result = run()
    except DoesNotFitError:
        return
    assert exact(result) == expected
    assert max(abs(int(above)) for above in result.numerators) <= result.bound <= LARGEST_NUMERATOR
    assert 0 < result.denominator <= LARGEST_NUMERATOR


@given(columns(), columns(), fractions, fractions, fractions)
@example(
    ExactColumn(np.array([2**62] * 3), 1, 2**62),
    ExactColumn(np.array([2**62] * 3), 1, 2**62),
    Fraction(1),
    Fraction(1),
    Fraction(0),
)
def test_sums(a: ExactColumn, b: ExactColumn, by_a: Fraction, by_b: Fraction, shift: Fraction) -> None:
    """Never wrapped around."""
    wanted = [by_a * x + by_b * y + shift for x, y in zip(exact(a), exact(b), strict=True)]

    check(lambda: sum_weighted_columns([(by_a, a), (by_b, b)], shift), wanted)


@given(columns(), st.integers(1, 10**7))
def test_larger_denominators(a: ExactColumn, factor: int) -> None:
    """The same numbers."""
    check(lambda: a.with_denominator(a.denominator * factor), exact(a))


@given(columns(), fractions, fractions)
def test_clamps(a: ExactColumn, one: Fraction, two: Fraction) -> None:
    """Between two ends, either of which may be open."""
    low, high = sorted((one, two))

    check(lambda: a.clamped(low, high), [min(max(x, low), high) for x in exact(a)])
    check(lambda: a.clamped(low, None), [max(x, low) for x in exact(a)])
    check(lambda: a.clamped(None, high), [min(x, high) for x in exact(a)])


@given(columns(), fractions, st.lists(st.booleans(), min_size=3, max_size=3))
def test_ceilings(a: ExactColumn, level: Fraction, where: list[bool]) -> None:
    """Only where they apply."""
    wanted = [min(x, level) if applies else x for x, applies in zip(exact(a), where, strict=True)]

    check(lambda: a.at_most(level, np.array(where)), wanted)


@given(
    columns(),
    columns(),
    st.fractions(min_value=Fraction(1, 100), max_value=100),
    st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_products(a: ExactColumn, b: ExactColumn, factor: Fraction, where: list[bool]) -> None:
    """Times another column where it applies."""
    wanted = [x * y * factor if applies else x for x, y, applies in zip(exact(a), exact(b), where, strict=True)]

    check(lambda: a.times_where(np.array(where), b, factor), wanted)


@given(columns(), st.integers(0, 6))
def test_rounding(a: ExactColumn, decimals: int) -> None:
    """Halves away from zero, as in the exact path."""
    check(lambda: a.rounded(decimals), [Fraction(round_number_half_away(x, decimals)) for x in exact(a)])


@given(columns(), st.one_of(st.none(), st.integers(0, 4)))
@example(ExactColumn(np.array([2**53 + 1, 5, 7]), 3, 2**53 + 1), None)
@example(ExactColumn(np.array([2**54 - 1, 5, 7]), 3, 2**54 - 1), None)
@example(ExactColumn(np.array([5, 6, 7]), 2**53 + 1, 7), None)
def test_what_is_shown_is_the_nearest_float(a: ExactColumn, decimals: int | None) -> None:
    """One division of two numbers that floats hold exactly, or none."""
    try:
        shown = a.to_floats(decimals).tolist()
    except DoesNotFitError:
        return
    assert shown == [float(x if decimals is None else round_number_half_away(x, decimals)) for x in exact(a)]


@given(columns(), fractions)
def test_levels(a: ExactColumn, level: Fraction) -> None:
    """Below means below."""
    assert a.below(level).tolist() == [x < level for x in exact(a)]


@given(columns(), st.lists(fractions, max_size=5, unique=True))
def test_the_first_level_reached(a: ExactColumn, levels: list[Fraction]) -> None:
    """Falling levels, as in a table of grades."""
    falling = sorted(levels, reverse=True)
    wanted = [next((at for at, level in enumerate(falling) if x >= level), len(falling)) for x in exact(a)]

    assert a.first_reached(falling).tolist() == wanted


@pytest.mark.parametrize(
    ("numbers", "unreadable"),
    [
        ([1, 5, 10], None),
        ([1.0, 5.5, 10.0], None),
        ([0.9, 5, 10], [True, False, False]),
        ([1, 5, 10.1], [False, False, True]),
        ([0, 11, 5], [True, True, False]),
    ],
)
def test_the_ends_of_a_scale_are_on_it(numbers: list[float], unreadable: list[bool] | None) -> None:
    """1 and 10 are answers on 1–10, 0.9 and 10.1 are not; a spoilt row does not spoil its neighbours."""
    scale = Scale(min=Fraction(1), max=Fraction(10))

    column, wrong, odd = read_exact_score_column(np.array(numbers), scale)

    assert (None if wrong is None else wrong.tolist()) == unreadable
    assert odd is None
    assert all(1 <= value <= 10 for value in exact(column))
    assert max(map(abs, exact(column))) * column.denominator <= column.bound


def test_four_decimals_fit_and_five_do_not() -> None:
    """What does not fit is left to the exact path."""
    scale = Scale(min=Fraction(1), max=Fraction(10))

    column, wrong, odd = read_exact_score_column(np.array([1.2345, 7.12345, 2.5]), scale)

    assert odd is not None
    assert odd.tolist() == [False, True, False]
    assert wrong is None or not wrong.any()
    assert exact(column)[0] == Fraction("1.2345")
