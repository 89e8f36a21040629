"""Paired differences: one test gives interval and p, holds its level with ties, and does not care about order."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.arrays import compute_interval_alpha, number_clusters_of_array
from evenhand.stats.differences import Difference, difference_of, paired_difference
from evenhand.stats.distributions import compute_t_tail

PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


def _compared(
    pairs: list[tuple[int, int]], *, scale: float = 1.0, level: float = 0.95, clusters: list[int] | None = None
) -> Difference:
    treatment, control = [scale * one for one, _ in pairs], [scale * other for _, other in pairs]
    return paired_difference(treatment, control, rng=np.random.default_rng(11), level=level, clusters=clusters)


def test_six_equal_differences_are_two_of_sixty_four() -> None:
    """All six signs alike happens in 2 of 2⁶ sign flips; every subset has the same mean."""
    found = _compared([(4, 3)] * 6)

    assert (found.estimate, found.low, found.high, found.p) == (1.0, 1.0, 1.0, 2 / 64)
    assert (found.method, found.n, found.sd) == ("sign flips, exact", 6, 0.0)


def test_five_pairs_have_no_interval() -> None:
    """Even five equal signs come up in 1 of 16 comparisons, so no difference can be ruled out at 5%."""
    found = _compared([(5, 1), (5, 2), (4, 1), (5, 3), (4, 2)])

    assert found.p == 2 / 32
    assert (found.low, found.high, found.bounded) == (-math.inf, math.inf, False)


def test_five_pairs_have_an_interval_of_a_lower_level() -> None:
    """At 90 % the interval runs from the smallest to the largest difference: 1 of 32 lies beyond each end."""
    found = _compared([(5, 1), (5, 2), (4, 1), (5, 3), (4, 2)], level=0.90)

    assert (found.low, found.high) == (2.0, 4.0)


def test_five_different_differences_are_held_against_students_t() -> None:
    """1, 2, 3, 4, 6: mean 3.2, variance 3.7, so t = 3.2/√0.74 = 3.72 of 4 degrees of freedom, whose 2.5% is 2.776."""
    found = difference_of([1.0, 2.0, 3.0, 4.0, 6.0], rng=np.random.default_rng(1))

    assert found.method == "paired t"
    assert found.p == pytest.approx(0.02047, abs=1e-5)
    assert (found.low, found.high) == pytest.approx(
        (3.2 - 2.7764 * math.sqrt(0.74), 3.2 + 2.7764 * math.sqrt(0.74)), 1e-4
    )


def test_equal_differences_are_rejected_only_by_both_tests() -> None:
    """Seven 1s and a 0: sign flips say 2 of 128, as the 0 has no sign; t = 7 says 0.0002. The larger counts."""
    found = difference_of([1.0] * 7 + [0.0], rng=np.random.default_rng(1))

    assert found.method == "sign flips, exact, and t"
    assert found.p == 2 / 128


def test_where_most_differences_are_nothing_the_interval_reaches_as_far_as_students() -> None:
    """Nine 0s, a −1 and two −2: sign flips end at 0, since no subset has a mean above it; t goes beyond."""
    differences = [0.0] * 9 + [-1.0, -2.0, -2.0]
    t = scipy_stats.t.interval(0.95, 11, np.mean(differences), scipy_stats.sem(differences))

    found = difference_of(differences, rng=np.random.default_rng(1))

    assert found.high == pytest.approx(max(0.0, t[1]))
    assert found.low == pytest.approx(t[0], abs=0.2)
    assert found.p >= 0.05


def test_a_worked_example_by_all_sign_flips() -> None:
    """1, 2, 3, 4, 5, −1, 6, 2: counted by writing out all 256 sign flips."""
    differences = [1, 2, 3, 4, 5, -1, 6, 2]
    as_large = sum(
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True))) >= sum(differences)
        for signs in product((1, -1), repeat=8)
    )

    found = difference_of([float(one) for one in differences], rng=np.random.default_rng(1))

    assert found.p == as_large / 256
    assert found.estimate == 22 / 8


def test_drawn_signs_agree_with_students_t() -> None:
    """Sixty different differences have too many subsets to count; Student's p is near for normal data."""
    differences = np.random.default_rng(3).normal(0.3, 1, 60)
    t = differences.mean() / differences.std(ddof=1) * math.sqrt(60)

    found = difference_of(differences, rng=np.random.default_rng(4))

    assert found.method == "sign flips, 9,999 drawn"
    assert found.p == pytest.approx(2 * compute_t_tail(abs(float(t)), 59), abs=0.01)


@given(PAIRS, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_zero_lies_outside_exactly_when_p_is_small(pairs: list[tuple[int, int]], level: float) -> None:
    """Interval and p come from one test: they cannot disagree."""
    found = _compared(pairs, level=level)

    assert (found.p < round(1 - level, 12)) == (not found.low <= 0 <= found.high)


@pytest.mark.parametrize("n", [15, 30, 120, 600])
def test_zero_lies_outside_exactly_when_p_is_small_in_long_data_too(n: int) -> None:
    """Drawn signs and Student's t, near the edge where it matters."""
    noise = np.random.default_rng(n).normal(0, 1, n)
    for shift in np.linspace(0, 5 / math.sqrt(n), 12):
        found = difference_of(noise + shift, rng=np.random.default_rng(2))

        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


@given(PAIRS, st.randoms())
def test_the_order_of_samples_changes_nothing(pairs: list[tuple[int, int]], random: st.DataObject) -> None:
    """A sample has no place of its own."""
    shuffled = sorted(pairs, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert _compared(shuffled) == _compared(pairs)


@given(PAIRS)
def test_swapping_the_sides_swaps_the_interval(pairs: list[tuple[int, int]]) -> None:
    """Neither side is favoured, drawn signs included."""
    found, swapped = _compared(pairs), _compared([(other, one) for one, other in pairs])

    assert (swapped.estimate, swapped.low, swapped.high) == (-found.estimate, -found.high, -found.low)
    assert swapped.p == found.p


def test_swapping_the_sides_swaps_drawn_signs_too() -> None:
    """The same draws serve both ways round."""
    differences = np.random.default_rng(5).normal(0.2, 1, 60)

    found = difference_of(differences, rng=np.random.default_rng(6))
    swapped = difference_of(-differences, rng=np.random.default_rng(6))

    assert (swapped.low, swapped.high, swapped.p) == (-found.high, -found.low, found.p)


def test_a_drawn_p_is_never_nothing() -> None:
    """The observed signs are one of 10,000: no difference is so large that drawing shows it to be impossible."""
    found = difference_of(np.linspace(1, 2, 30), rng=np.random.default_rng(1))

    assert found.p == 2 / 10_000


def test_a_p_on_the_level_is_not_below_it() -> None:
    """1 − 0.95 is a little more than 0.05 as a float: 500 of 10,000 draws must not be told apart by that."""
    assert compute_interval_alpha(0.95) == 0.05


@given(PAIRS, st.sampled_from([0.1, 1 / 3, 7.0, 1000.0]))
def test_scaling_the_scores_scales_the_interval(pairs: list[tuple[int, int]], scale: float) -> None:
    """Points or percent: the p-value is the same, also where the scores are no binary fractions."""
    found, scaled = _compared(pairs), _compared(pairs, scale=scale)

    assert scaled.p == pytest.approx(found.p, abs=1e-12)
    assert [scaled.low, scaled.high] == pytest.approx([found.low * scale, found.high * scale])


@given(PAIRS)
def test_equal_repeats_add_nothing(pairs: list[tuple[int, int]]) -> None:
    """Repeats of one sample are one cluster: asking thrice does not triple what is known."""
    thrice = _compared(pairs * 3, clusters=list(range(len(pairs))) * 3)

    assert thrice == _compared(pairs)


def test_ties_that_are_equal_on_paper_are_equal() -> None:
    """4.33 − 4 and 3.33 − 3 differ in their last digits as floats, and 0.1 + 0.2 − 0.3 is not 0."""
    treatment = [4.33, 3.33, 1.1, 1.2, 1.0, 2.0, 2.0]
    control = [4.0, 3.0, 1.0, 1.0, 1.3, 2.33, 2.33]

    found = paired_difference(treatment, control, rng=np.random.default_rng(1))

    assert [found.estimate, found.p] == pytest.approx([0.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("pattern", [[0.2] * 5, [0.05, 0.05, 0.1, 0.3, 0.5], [0.02, 0.03, 0.05, 0.2, 0.7]])
@pytest.mark.parametrize("n", [5, 8, 12, 20])
def test_equal_variants_are_rarely_told_apart(n: int, pattern: list[float]) -> None:
    """False alarms on tied 1–5 scores: 5% plus what 400 repetitions may stray (2.3 standard errors)."""
    rng = np.random.default_rng(n)
    scores = rng.choice(5, size=(400, 2, n), p=pattern) + 1.0

    alarms = sum(paired_difference(one, other, rng=rng).p < 0.05 for one, other in scores)

    assert alarms / 400 <= 0.05 + 0.025


def test_power_is_that_of_the_t_test() -> None:
    """Half a standard deviation at 12 and 20 samples, seen as often as by Student, 10 points aside."""
    for n in (12, 20):
        rng = np.random.default_rng(n)
        data = rng.normal(0.5, 1, size=(300, n))
        ts = data.mean(axis=1) / data.std(axis=1, ddof=1) * math.sqrt(n)

        seen = np.mean([difference_of(row, rng=rng).p < 0.05 for row in data])

        assert seen >= np.mean([2 * compute_t_tail(abs(float(t)), n - 1) < 0.05 for t in ts]) - 0.10


def test_the_interval_covers_the_true_difference() -> None:
    """94% and more, less what 400 repetitions may stray, for skewed scores with a real difference."""
    rng = np.random.default_rng(6)
    better, worse = [0.05, 0.1, 0.2, 0.35, 0.3], [0.2, 0.3, 0.2, 0.2, 0.1]
    true = float(np.dot(np.subtract(better, worse), range(5)))

    found = [
        paired_difference(rng.choice(5, 16, p=better) * 1.0, rng.choice(5, 16, p=worse) * 1.0, rng=rng)
        for _ in range(400)
    ]

    assert sum(one.low - 1e-9 <= true <= one.high + 1e-9 for one in found) / 400 >= 0.94 - 0.025


@pytest.mark.parametrize(
    ("treatment", "control", "says"),
    [
        ([1.0], [2.0], "at least 2 pairs, got 1"),
        ([], [], "at least 2 pairs, got 0"),
        ([1.0, 2.0], [1.0], "2 scores of the treatment for 1 of the control"),
        ([1.0, math.nan], [1.0, 2.0], r"treatment\[1\] is not a finite number"),
        ([1.0, 2.0], [math.inf, 2.0], r"control\[0\] is not a finite number"),
        ([1.0, None], [1.0, 2.0], r"treatment\[1\] is not a finite number"),
        (["a", "b"], [1.0, 2.0], "treatment must be numbers"),
        ([[1.0, 2.0]], [1.0, 2.0], "one row of numbers, got 2 dimensions"),
        ([1e200, 2.0], [1.0, 2.0], "too large to compute with"),
    ],
)
def test_data_that_carry_no_difference_are_refused(treatment: list[float], control: list[float], says: str) -> None:
    """A refusal that says why, never NaN."""
    with pytest.raises(InputError, match=says):
        paired_difference(treatment, control, rng=np.random.default_rng(1))


def test_a_level_and_clusters_that_make_no_sense_are_refused() -> None:
    """95 instead of 0.95 is the usual slip."""
    rng = np.random.default_rng(1)

    with pytest.raises(InputError, match=r"95% is 0\.95"):
        paired_difference([1.0, 2.0], [1.0, 1.0], rng=rng, level=95)
    with pytest.raises(InputError, match="1 clusters for 2 scores"):
        paired_difference([1.0, 2.0], [1.0, 1.0], rng=rng, clusters=[1])
    with pytest.raises(InputError, match="not a difference"):
        Difference(estimate=2.0, low=0.0, high=1.0, level=0.95, p=0.5, sd=1.0, method="", n=9)


@pytest.mark.parametrize(("distinct", "every"), [(9, 1), (9, 100), (100_000, 1)])
def test_a_hundred_thousand_pairs_are_worked_on_as_counts(distinct: int, every: int) -> None:
    """A few that are not tied are drawn as counts, many are a t distribution: never a matrix of all pairs."""
    differences = np.random.default_rng(1).integers(-distinct, distinct, 100_000) / distinct
    differences *= np.arange(100_000) % every == 0

    found = difference_of(differences, rng=np.random.default_rng(2))

    assert found.method == ("sign flips, 9,999 drawn, mid-p, and t" if every > 1 else "paired t")
    assert found.high - found.low == pytest.approx(2 * 1.96 * found.sd / math.sqrt(100_000), rel=0.05)


def test_the_least_p_that_drawn_flips_can_give_is_an_upper_bound() -> None:
    """2 of 10,000 where no drawn flip comes near; the true one is 2 of 2⁴⁰. What was counted or met is no bound."""
    all_higher = [1 + place / 100 for place in range(40)]

    bound = difference_of(all_higher, rng=np.random.default_rng(1))
    met = difference_of([*all_higher[:20], *(-one for one in all_higher[:14])], rng=np.random.default_rng(1))
    counted = difference_of(all_higher[:12], rng=np.random.default_rng(1))

    assert (bound.p, bound.p_at_most) == (2 / 10_000, True)
    assert (met.p_at_most, counted.p_at_most, counted.p) == (False, False, 2 / 2**12)


def test_an_interval_of_ties_contains_what_its_test_does_not_reject() -> None:
    """Five times 2 and two zeros: mid-p rejects 0, and none of the differences next to it."""
    found = difference_of([2, 2, 2, 2, 2, 0, 0], span=4.0, rng=np.random.default_rng(1))

    assert found.p == pytest.approx(0.03125)
    assert 0 < found.low < 1e-9  # 0 itself lies outside, as p says.
    mirrored = difference_of([-2, -2, -2, -2, -2, 0, 0], span=4.0, rng=np.random.default_rng(1))
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


@pytest.mark.parametrize("shift", [0.0, 0.012, 0.03])
def test_thousands_of_tied_differences_use_students_t_which_their_flips_agree_with(shift: float) -> None:
    """Drawn here by another way: the signs of 9,000 differences, 4,000 times."""
    rng = np.random.default_rng(4)
    differences = rng.choice([-1.0, 0.0, 0.5, 1.0], size=9_000, p=[0.3, 0.2, 0.2 - shift, 0.3 + shift])
    differences -= np.where(rng.random(9_000) < 0.1, 1.0, 0.0)

    found = difference_of(differences, rng=np.random.default_rng(1))

    signs = rng.integers(0, 2, size=(4_000, 9_000), dtype=np.int8) * 2 - 1
    flipped = np.abs(signs.astype(np.float32) @ differences.astype(np.float32))
    assert found.method == "paired t"
    assert found.p == pytest.approx(np.mean(flipped >= abs(differences.sum()) - 1e-6), abs=0.03)


@pytest.mark.parametrize("usual", [0.0, 1.0])
def test_a_few_among_thousands_of_equal_differences_still_have_their_signs_flipped(usual: float) -> None:
    """Six of 50,000 differ: around the usual difference these six decide, however many there are of the others."""
    found = difference_of([usual] * 49_994 + [usual + 2.0] * 6, rng=np.random.default_rng(1))

    assert "sign flips" in found.method


@given(st.lists(st.integers(-5, 400), max_size=60))
def test_labels_are_numbered_in_the_order_in_which_they_come(labels: list[int]) -> None:
    """However far the numbers are apart, and by the type that they have."""
    known = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    for given_labels in (np.array(labels, dtype=np.int64), np.array(labels, dtype=np.int16), labels):
        numbered = number_clusters_of_array(given_labels, len(labels), "clusters")
        assert numbered.tolist() == [known[label] for label in labels]
