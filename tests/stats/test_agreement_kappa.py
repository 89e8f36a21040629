"""Cohen's and Fleiss' κ: values by hand, invariances, and a reason where there is none."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.agreement import KappaWeights, cohen_kappa, fleiss_kappa
from evenhand.stats.arrays import Undefined
from evenhand.stats.ratings import Agreement

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)
EVERY_WEIGHT: tuple[KappaWeights, ...] = ("none", "linear", "quadratic")
every_weight = pytest.mark.parametrize("weights", EVERY_WEIGHT)


def test_cohens_kappa_by_hand() -> None:
    """50 cases, 20 both yes, 15 both no, 5 and 10 apart: 0.7 agree, chance gives 0.5·0.6 + 0.5·0.4 = 0.5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    found = cohen_kappa(first, second)

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(0.4)
    assert (found.method, found.n, found.pairs) == ("Cohen's κ", 50, 1)


@pytest.mark.parametrize(("weights", "kappa"), [("none", 3 / 11), ("linear", 1 / 2), ("quadratic", 9 / 13)])
def test_weighted_kappa_by_hand(weights: KappaWeights, kappa: float) -> None:
    """0, 1, 2, 2 against 0, 0, 1, 2.

    Apart by 0, 1, 1, 0, on average 8/16 under each weight. By chance, all of one side against all of the other: unlike
    in 11 of 16 pairs, apart by 3 + 3 + 2·5 = 16 in all, and squared by 5 + 3 + 2·9 = 26. One less 8/11, 8/16 and 8/26.
    """
    found = cohen_kappa([0, 1, 2, 2], [0, 0, 1, 2], weights=weights)

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(kappa)


def test_a_level_that_nobody_chose_still_lies_between_its_neighbours() -> None:
    """1 against 3 stays two levels apart when nobody said 2; categories in order say the same for words."""
    first, second = [1, 1, 3, 3, 4], [1, 3, 3, 4, 4]
    words = {1: "poor", 2: "fair", 3: "good", 4: "best"}

    by_value = cohen_kappa(first, second, weights="linear")
    by_place = cohen_kappa(first, second, weights="linear", categories=[1, 2, 3, 4])
    by_word = cohen_kappa(
        [words[one] for one in first],
        [words[one] for one in second],
        weights="linear",
        categories=list(words.values()),
    )
    squeezed = cohen_kappa(first, second, weights="linear", categories=[1, 3, 4])

    # Apart by 0, 2, 0, 1, 0: 15/25 on average. By chance, all against all: 2·10 + 2·4 + 5 = 33 of 25 pairs.
    assert isinstance(by_value, Agreement)
    assert by_value.value == pytest.approx(1 - 15 / 33)
    assert by_value == by_place == by_word
    # With 2 left out, apart by 0, 1, 0, 1, 0: 10/25; by chance 2·(2 + 4) + 2·(1 + 2) + (2 + 2) = 22 of 25 pairs.
    assert isinstance(squeezed, Agreement)
    assert squeezed.value == pytest.approx(1 - 10 / 22)


@every_weight
@given(PAIRS)
def test_kappa_follows_from_the_table_of_both(weights: KappaWeights, rows: list[tuple[int, int]]) -> None:
    """The textbook formula written out over all cells."""
    first, second = zip(*rows, strict=True)

    found = cohen_kappa(first, second, weights=weights)

    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    apart = sum(abs(x - y) ** power for x, y in rows if x != y) / len(rows)
    chance = sum(abs(x - y) ** power for x, y in product(first, second) if x != y) / len(rows) ** 2
    if isinstance(found, Undefined):
        assert chance == 0
    else:
        assert found.value == pytest.approx(1 - apart / chance, abs=1e-12)


@every_weight
@given(PAIRS)
def test_kappa_does_not_care_about_sides_order_and_scale(weights: KappaWeights, rows: list[tuple[int, int]]) -> None:
    """Nor does it rise above 1."""
    first, second = zip(*rows, strict=True)

    found = cohen_kappa(first, second, weights=weights)
    swapped = cohen_kappa(second[::-1], first[::-1], weights=weights)
    scaled = cohen_kappa([7 - 2.5 * x for x in first], [7 - 2.5 * y for y in second], weights=weights)

    if isinstance(found, Agreement):
        assert isinstance(swapped, Agreement)
        assert isinstance(scaled, Agreement)
        assert found.value <= 1
        assert [swapped.value, scaled.value] == pytest.approx([found.value] * 2, abs=1e-12)


@every_weight
@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ([], [], "rater 1 gave no rating"),
        ([1, None, 2], [None, 1, None], "nothing was rated by both"),
        ([1, 2, 3], [None, None, None], "rater 2 gave no rating"),
        ([3, 3, 3], [3, 3, 3], "both gave the same rating throughout"),
        ([3], [3], "both gave the same rating throughout"),
    ],
)
def test_cohens_kappa_says_why_there_is_none(
    weights: KappaWeights, first: list[float | None], second: list[float | None], why: str
) -> None:
    """Never 1 for two who never had anything to agree about."""
    found = cohen_kappa(first, second, weights=weights)

    assert isinstance(found, Undefined)
    assert found.why == why


def test_against_a_constant_rater_kappa_is_nought_without_an_interval() -> None:
    """Whatever the other says is what chance would give; every resample says so too, which is no certainty."""
    found = cohen_kappa([1] * 12, [1, 2, 3] * 4, weights="quadratic", rng=np.random.default_rng(1))

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(0)
    assert found.low is None
    assert found.no_interval.startswith("every resample of the 12 units gives the same value")


def test_what_kappa_cannot_weigh_is_refused() -> None:
    """Each says what would work."""
    with pytest.raises(InputError, match=r"unknown weights 'squared'"):
        cohen_kappa([1, 2], [1, 2], weights="squared")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give categories in their order"):
        cohen_kappa(["a", "b"], ["a", "b"], weights="linear")
    with pytest.raises(InputError, match=r"'c' is no category \(known: a, b\)"):
        cohen_kappa(["a", "b"], ["a", "c"], categories=["a", "b"])
    with pytest.raises(InputError, match="a category is named twice"):
        cohen_kappa(["a", "b"], ["a", "b"], categories=["a", "b", "a"])
    with pytest.raises(InputError, match="2 ratings beside 1"):
        cohen_kappa([1, 2], [1])


def test_fleiss_own_way_of_counting() -> None:
    """Three raters, units (3, 0), (2, 1), (0, 3): agreement 1, 1/3, 1, mean 7/9; chance (5/9)² + (4/9)² = 41/81."""
    found = fleiss_kappa([["a", "a", "b"], ["a", "a", "b"], ["a", "b", "b"]])

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
    assert (found.method, found.n, found.pairs) == ("Fleiss' κ", 3, 3)


def test_fleiss_published_example() -> None:
    """Fourteen raters, ten units, five categories: κ = 0.210 (Fleiss 1971, as worked in many textbooks)."""
    counts = [
        (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
        (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
    ]  # fmt: skip
    units = [[level for level, often in enumerate(row) for _ in range(often)] for row in counts]

    found = fleiss_kappa([list(row) for row in zip(*units, strict=True)])

    assert isinstance(found, Agreement)
    assert round(found.value, 3) == 0.210


def test_fleiss_takes_any_raters_as_long_as_they_are_equally_many() -> None:
    """Two for every unit, 11, 22, 22, 12: three of four agree; by chance (3/8)² + (5/8)² = 34/64."""
    found = fleiss_kappa([[1, None, 2, 1], [1, 2, None, 2], [None, 2, 2, None]])

    assert isinstance(found, Agreement)
    assert found.n == 4
    assert found.value == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))


@pytest.mark.parametrize(
    ("raters", "why"),
    [
        ([], "it takes two raters"),
        ([[1, 2]], "it takes two raters"),
        ([[1, None], [None, 2]], "nothing was rated by two raters"),
        ([[1, 1], [1, 1]], "all ratings are the same"),
        ([[1, 2], [1, None]], "units have 1 to 2 ratings and must have equally many: Krippendorff's α need not"),
    ],
)
def test_fleiss_says_why_there_is_none(raters: list[list[float | None]], why: str) -> None:
    """And names the measure that takes missing ratings."""
    found = fleiss_kappa(raters)

    assert isinstance(found, Undefined)
    assert found.why == why
