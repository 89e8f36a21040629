"""Krippendorff's α and the mean over pairs: values by hand, and a reason where there is none."""

import math
from random import Random

import krippendorff as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.stats.agreement import Metric, krippendorff
from evenhand.stats.arrays import Undefined
from evenhand.stats.correlation import mean_pairwise
from evenhand.stats.ratings import Agreement, band

# Krippendorff's own example: four observers, twelve units, published α = 0.849 for interval data.
OBSERVERS: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
RATING = st.one_of(st.none(), st.integers(1, 4))
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")


@st.composite
def tables(draw: st.DrawFn) -> list[list[float | None]]:
    raters, units = draw(st.integers(2, 5)), draw(st.integers(1, 8))
    return [[draw(RATING) for _ in range(units)] for _ in range(raters)]


def test_the_mean_over_pairs_uses_what_both_rated() -> None:
    """Three raters: 1 between the first two, −1 between each of them and the third."""
    found = mean_pairwise([[1, 2, 3, None], [2, 3, 4, 9], [3, 2, 1, None]])

    assert isinstance(found, Agreement)
    assert [found.value, found.pairs, found.n] == pytest.approx([-1 / 3, 3, 3])


def test_a_constant_rater_is_left_out_and_named() -> None:
    """Its pairs are skipped, not counted as zero."""
    found = mean_pairwise([[1, 2, 3], [1, 2, 4], [5, 5, 5]])

    assert isinstance(found, Agreement)
    assert (found.pairs, len(found.skipped)) == (1, 2)
    assert found.skipped[0] == "raters 1 and 3: the second gave the same rating throughout"


@pytest.mark.parametrize("raters", [[], [[1, 2, 3]], [[5, 5, 5], [5, 5, 5]], [[1, None, 2], [None, 1, None]]])
def test_raters_that_cannot_be_compared_give_a_reason(raters: list[list[float | None]]) -> None:
    """None, one, constant, no overlap: undefined, with words."""
    for found in (mean_pairwise(raters), krippendorff(raters)):
        assert isinstance(found, Undefined)
        assert found.why


@pytest.mark.parametrize(
    ("metric", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_own_example(metric: Metric, alpha: float) -> None:
    """The published values; one unit that only one observer rated does not count."""
    found = krippendorff(OBSERVERS, metric)

    assert isinstance(found, Agreement)
    assert (round(found.value, 3), found.n, found.pairs) == (alpha, 11, 6)
    assert found.method == f"Krippendorff's α, {metric}"


def test_alpha_by_hand() -> None:
    """Two raters, units 1–1, 1–2, 2–2: of six ordered pairs two differ; chance gives 2·3·3 of 6·5 pairs."""
    found = [krippendorff([[1, 1, 2], [1, 2, 2]], metric) for metric in METRICS]

    # Nominal: 1 − 5·2/18. With two values only every metric weighs each disagreement the same.
    assert [one.value for one in found if isinstance(one, Agreement)] == pytest.approx([1 - 10 / 18] * 4)


def test_ratings_in_words_are_as_good_as_codes() -> None:
    """Categories need no numbers."""
    words: list[list[str | None]] = [["yes", "no", "no", None, "unsure"], ["yes", "yes", "no", "no", "unsure"]]
    codes: list[list[float | None]] = [[2, 0, 0, None, 1], [2, 2, 0, 0, 1]]

    found, expected = krippendorff(words, "nominal"), krippendorff(codes, "nominal")

    assert found == expected


@given(tables(), st.sampled_from(METRICS))
def test_alpha_is_what_the_reference_package_gives(table: list[list[float | None]], metric: Metric) -> None:
    """Where that package gives a number; where all ratings are the same it gives none, or 1 by decree."""
    found = krippendorff(table, metric)

    array = np.array(table, dtype=np.float64)
    paired = array[:, (~np.isnan(array)).sum(axis=0) > 1]
    if isinstance(found, Undefined):
        assert len(np.unique(paired[~np.isnan(paired)])) < 2
        return
    assert found.value == pytest.approx(reference.alpha(paired, level_of_measurement=metric), abs=1e-9)


@given(tables(), st.sampled_from(METRICS), st.randoms(use_true_random=False))
def test_alpha_does_not_care_who_rated_and_in_which_order(
    table: list[list[float | None]], metric: Metric, random: Random
) -> None:
    """Raters and units change places, interval included: the units are put in order before any is drawn."""
    places = random.sample(range(len(table[0])), len(table[0]))
    turned = random.sample([[row[place] for place in places] for row in table], len(table))

    found, other = (
        krippendorff([row * 3 for row in given], metric, rng=np.random.default_rng(7), resamples=400)
        for given in (table, turned)
    )

    if isinstance(found, Undefined):
        assert other == found
        return
    assert isinstance(other, Agreement)
    assert other.value == pytest.approx(found.value, abs=1e-12)
    assert other.no_interval == found.no_interval
    if found.low is not None:
        assert [other.low, other.high] == pytest.approx([found.low, found.high], abs=1e-9)


@pytest.mark.parametrize(
    ("metric", "change"),
    [
        ("nominal", {1: 7.0, 2: -3.0, 3: 0.5, 4: 1e6, 5: 2.0}),
        ("ordinal", {1: -9.0, 2: 0.0, 3: 0.1, 4: 50.0, 5: 51.0}),
        ("interval", {one: 100 - 7.0 * one for one in range(1, 6)}),
        ("ratio", {one: 3.5 * one for one in range(1, 6)}),
    ],
)
def test_alpha_does_not_care_about_what_its_metric_does_not_see(metric: Metric, change: dict[int, float]) -> None:
    """Nominal: any names. Ordinal: any numbers in the same order. Interval: any straight line. Ratio: any unit."""
    found = krippendorff(OBSERVERS, metric)
    changed = krippendorff([[None if one is None else change[int(one)] for one in row] for row in OBSERVERS], metric)

    assert isinstance(found, Agreement)
    assert isinstance(changed, Agreement)
    assert changed.value == pytest.approx(found.value)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e140])
def test_alpha_of_tiny_and_huge_ratings(scale: float) -> None:
    """Squares that vanish or overflow must not."""
    found = krippendorff([[None if one is None else one * scale for one in row] for row in OBSERVERS])

    assert isinstance(found, Agreement)
    assert found.value == pytest.approx(0.8491071428571428)


def test_a_rater_without_any_rating_is_named() -> None:
    """It changes nothing, and is not passed over in silence."""
    found, with_silent = krippendorff(OBSERVERS), krippendorff([*OBSERVERS, [None] * 12])

    assert isinstance(found, Agreement)
    assert isinstance(with_silent, Agreement)
    assert (with_silent.value, with_silent.skipped) == (found.value, ("rater 5 gave no rating",))


@pytest.mark.parametrize(
    ("raters", "why"),
    [
        ([], "it takes two raters"),
        ([[1, 2, 3]], "it takes two raters"),
        ([[1, None, 2], [None, 1, None]], "nothing was rated by two raters"),
        ([[5, 5, 5], [5, 5, 5]], "all ratings are the same"),
        ([[4], [4]], "all ratings are the same"),
    ],
)
def test_alpha_says_why_there_is_none(raters: list[list[float | None]], why: str) -> None:
    """Never 1 because nobody disagreed about anything, never NaN."""
    found = [krippendorff(raters, metric) for metric in METRICS]

    assert [one.why for one in found if isinstance(one, Undefined)] == [why] * 4


def test_ratings_that_are_no_numbers_are_refused() -> None:
    """NaN is not how a missing rating is said."""
    with pytest.raises(InputError, match="rater 2 has a rating that is no finite number"):
        mean_pairwise([[1, 2, 3], [1, math.nan, 3]])
    with pytest.raises(InputError, match="rater 1 has a rating that is too large"):
        mean_pairwise([[1, 2e200, 3], [1, 2, 3]])
    with pytest.raises(InputError, match="rows of different length"):
        krippendorff([[1, 2, 3], [1, 2]])


def test_metrics_refuse_what_they_cannot_measure() -> None:
    """Each says what would work."""
    with pytest.raises(InputError, match=r"unknown metric 'ordnal' \(did you mean 'ordinal'\?\)"):
        krippendorff(OBSERVERS, "ordnal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="words have no distance"):
        krippendorff([["a", "b"], ["a", "a"]], "ordinal")
    with pytest.raises(InputError, match="below 0 has no ratio"):
        krippendorff([[1, -1], [1, 1]], "ratio")
    with pytest.raises(InputError, match="some ratings are words and some are numbers"):
        krippendorff([["a", 1], ["a", "a"]], "nominal")


@pytest.mark.parametrize(
    ("alpha", "colour"),
    [(1.0, "green"), (0.667, "green"), (0.6669, "amber"), (0.4, "amber"), (0.3999, "red"), (-1.0, "red")],
)
def test_the_bands_of_an_agreement(alpha: float, colour: str) -> None:
    """What is on a limit is on it."""
    assert band(alpha) == colour
