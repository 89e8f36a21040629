"""Win rates: ties count half, few games are not certain, and the place in the prompt neither wins nor hides."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize as scipy_optimize
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.rates import WinRate, both_orders, exact_share_interval, wilson, win_rate_of
from tests.soak import at_least

COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)).filter(lambda counts: sum(counts) > 1)
ANSWERS = st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1])), min_size=2, max_size=40)
CHANCES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


def _counted(wins: int, losses: int, ties: int = 0, level: float = 0.95) -> WinRate:
    return win_rate_of([1.0] * wins + [0.0] * losses + [0.5] * ties, level=level)


def test_a_tie_counts_half() -> None:
    """6 wins, 2 ties, 2 losses: 7 of 10. The values 1, ½, 0 have mean square 6.5/10, so the variance is 0.16 · 10/9."""
    found = _counted(6, 2, 2)

    assert found.estimate == pytest.approx(0.7)
    assert found.standard_error == pytest.approx(math.sqrt((0.65 - 0.49) / 9))
    assert found.n == 10


@given(st.integers(0, 50), st.integers(0, 50))
def test_without_ties_the_interval_is_wilsons(wins: int, losses: int) -> None:
    """Tango's score interval is Wilson's where nobody ties."""
    if wins + losses < 2:
        return
    found, expected = _counted(wins, losses), wilson(wins, wins + losses)

    assert [found.estimate, found.low, found.high] == pytest.approx(
        [expected.estimate, expected.low, expected.high], abs=1e-12
    )
    assert found.method == "Wilson"


def test_without_ties_the_interval_is_that_of_scipy() -> None:
    """A second opinion on 7 of 10."""
    expected = scipy_stats.binomtest(7, 10).proportion_ci(method="wilson")

    found = _counted(7, 3)

    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_ties_alone_are_not_certain() -> None:
    """20 ties: a lead of Δ among so many ties has variance Δ(1 − Δ), so that nΔ² = z²Δ(1 − Δ) and Δ = z²/(n + z²)."""
    lead = 1.959964**2 / (20 + 1.959964**2)

    found = _counted(0, 0, 20)

    assert (found.low, found.high) == pytest.approx((0.5 - lead / 2, 0.5 + lead / 2), abs=1e-6)
    assert found.method == "Tango's score interval (Wilson's, with ties)"


@pytest.mark.parametrize(("wins", "losses", "ties"), [(12, 2, 30), (1, 9, 34), (0, 3, 8), (5, 5, 5)])
def test_the_ends_are_where_the_score_test_stops_rejecting(wins: int, losses: int, ties: int) -> None:
    """At each end the lead is z standard errors away, which the likeliest shares with that lead imply (by SciPy)."""
    n = wins + losses + ties

    found = _counted(wins, losses, ties)

    for lead in (2 * found.low - 1, 2 * found.high - 1):
        lost = _likeliest(wins, losses, ties, lead)
        error = math.sqrt((2 * lost + lead - lead**2) / n)
        assert abs((wins - losses) / n - lead) / error == pytest.approx(1.959964, abs=1e-4)


def _likeliest(wins: int, losses: int, ties: int, lead: float) -> float:
    def unlikely(lost: float) -> float:
        return -sum(count * math.log(share) for count, share in
                    ((wins, lost + lead), (losses, lost), (ties, 1 - 2 * lost - lead)) if count)  # fmt: skip

    bounds = (max(0.0, -lead) + 1e-12, (1 - lead) / 2 - 1e-12)
    found = scipy_optimize.minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    return float(found.x)


@given(COUNTS)
def test_swapping_the_sides_mirrors_the_win_rate(counts: tuple[int, int, int]) -> None:
    """Neither side is favoured."""
    wins, losses, ties = counts

    found, swapped = _counted(wins, losses, ties), _counted(losses, wins, ties)

    assert [swapped.low, swapped.estimate, swapped.high] == pytest.approx(
        [1 - found.high, 1 - found.estimate, 1 - found.low], abs=1e-12
    )
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_weighted_preferences_have_students_interval() -> None:
    """0.2, 0.9, 0.4, 0.5: mean 0.5, deviations −0.3, 0.4, −0.1, 0, so the variance is 0.26/3 and t(3) is 3.18245."""
    error = math.sqrt(0.26 / 3 / 4)

    found = win_rate_of([0.2, 0.9, 0.4, 0.5])

    assert (found.estimate, found.standard_error) == pytest.approx((0.5, error))
    assert (found.low, found.high) == pytest.approx((0.5 - 3.18245 * error, 0.5 + 3.18245 * error), abs=1e-5)
    assert (found.method, found.n) == ("t", 4)


def test_an_interval_of_a_share_stays_between_0_and_1() -> None:
    """Student's interval does not know that nothing lies above 1."""
    found = win_rate_of([0.99, 1.0, 0.6])

    assert found.high == 1.0


def test_equal_preferences_are_not_certain() -> None:
    """Three answers of 0.7 have no spread, and yet leave much open: at most what 2.1 wins of 3 do."""
    found = win_rate_of([0.7, 0.7, 0.7])

    assert found.estimate == pytest.approx(0.7)
    assert found.method == "Wilson"
    assert found.low < 0.3
    assert found.high > 0.9


def test_judges_of_one_sample_are_one_comparison() -> None:
    """Three answers to one pair and one to another: 1 and 0, not 3 of 4."""
    found = win_rate_of([1, 1, 1, 0], samples=[7, 7, 7, 2])

    assert found == _counted(1, 1)


@given(CHANCES, st.randoms())
def test_the_order_of_comparisons_changes_nothing(chances: list[float], random: st.DataObject) -> None:
    """A comparison has no place of its own."""
    shuffled = sorted(chances, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert win_rate_of(shuffled) == win_rate_of(chances)


def test_a_winner_that_changes_with_the_order_is_a_tie() -> None:
    """Ten pairs: 4 won in both orders, 2 lost in both, 3 won when shown first only, 1 when shown second only.

    Without the place 4 wins, 2 losses, 4 ties: 0.6. The place decided 4 of 10 pairs, and of the 20 answers the output
    shown first was preferred in 4 + 2 + 3·2 + 0 = 12.
    """
    first, second = [1] * 4 + [0] * 2 + [1] * 3 + [0], [1] * 4 + [0] * 2 + [0] * 3 + [1]

    found = both_orders(first, second)

    assert found.wins == _counted(4, 2, 4)
    assert found.preferences == (1, 1, 1, 1, 0, 0, 0.5, 0.5, 0.5, 0.5)
    assert found.followed_place == _counted(4, 6)
    assert found.first == _counted(3, 1, 6)
    assert found.first.estimate == pytest.approx(12 / 20)
    assert found.n == 10


def test_weighted_answers_are_averaged_unless_the_winner_changes() -> None:
    """0.9 and 0.6 agree on the winner: 0.75. 0.9 and 0.4 do not: a tie, though their mean is above one half."""
    found = both_orders([0.9, 0.9, 0.5], [0.6, 0.4, 1.0])

    assert found.preferences == pytest.approx((0.75, 0.5, 0.75))
    assert found.followed_place.estimate == pytest.approx(1 / 3)


def test_a_judge_that_always_takes_the_first_decides_nothing() -> None:
    """All ties, all by place: the bias is seen, and nobody wins by it."""
    found = both_orders([1] * 30, [0] * 30)

    assert (found.wins.estimate, found.first.estimate, found.followed_place.estimate) == (0.5, 1.0, 1.0)
    assert found.first.low > 0.5


@given(ANSWERS)
def test_naming_the_other_output_mirrors_the_wins_and_keeps_the_bias(answers: list[tuple[float, float]]) -> None:
    """Who is called A and who B says nothing about places."""
    first, second = zip(*answers, strict=True)

    found = both_orders(first, second)
    swapped = both_orders([1 - one for one in second], [1 - one for one in first])

    assert swapped.wins.estimate == pytest.approx(1 - found.wins.estimate)
    assert (swapped.first, swapped.followed_place) == (found.first, found.followed_place)


def test_the_interval_covers_with_few_games_and_many_ties() -> None:
    """95% less what 400 repetitions may stray, where Student's interval often has no width at all."""
    rng = np.random.default_rng(3)
    shares = [0.03, 0.85, 0.12]

    found = [win_rate_of(rng.choice([0, 0.5, 1], 25, p=shares)) for _ in range(400)]

    assert np.mean([one.low <= 0.545 <= one.high for one in found]) >= 0.95 - 0.025


@pytest.mark.parametrize(
    ("preferences", "says"),
    [
        ([], "at least 2 samples, got 0"),
        ([1.0], "at least 2 comparisons, got 1"),
        ([0.3], "at least 2 comparisons, got 1"),
        ([0.3, 1.2], r"preferences\[1\] is 1\.2, not between 0 and 1"),
        ([0.3, -0.1], r"preferences\[1\] is -0\.1"),
        ([0.3, math.nan], "not a finite number"),
    ],
)
def test_what_is_no_preference_is_refused(preferences: list[float], says: str) -> None:
    """1 and 2 instead of 0 and 1 is the usual slip."""
    with pytest.raises(InputError, match=says):
        win_rate_of(preferences)


def test_levels_and_orders_that_cannot_be_are_refused() -> None:
    """With the reason."""
    with pytest.raises(InputError, match=r"95% is 0\.95"):
        _counted(3, 4, level=95)
    with pytest.raises(InputError, match="2 answers with the output shown first, 1 with it second"):
        both_orders([1, 0], [1])


@pytest.mark.parametrize(("hits", "n"), [(0, 17), (1, 26), (2, 14), (13, 40), (5, 5)])
def test_the_exact_interval_of_a_share_is_that_of_scipy(hits: int, n: int) -> None:
    """Rows that are independent: Clopper and Pearson, as scipy's binomial test has it."""
    found = exact_share_interval([1.0] * hits + [0.0] * (n - hits))
    theirs = scipy_stats.binomtest(hits, n).proportion_ci(method="exact")

    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_rows_of_one_cluster_are_not_counted_twice() -> None:
    """Every row there twice in its cluster: the interval of the single rows. Ten equal rows of two clusters: of two."""
    once, twice = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0, 1, 2, 3, 4, 5]
    doubled = exact_share_interval(once * 2, clusters=twice * 2)
    alone = exact_share_interval(once)
    same = exact_share_interval([0.0] * 10, clusters=[0] * 5 + [1] * 5)

    assert doubled.low <= alone.low and doubled.high >= alone.high
    assert same.high == pytest.approx(exact_share_interval([0.0] * 2).high)


def test_the_exact_interval_covers_clustered_rows() -> None:
    """Thirty samples with two outputs each that mostly hang together, a rate of one in ten: 93% at least."""
    rng = np.random.default_rng(3)
    tries, covered = 400, 0
    for _ in range(tries):
        first = rng.random(30) < 0.1
        second = np.where(rng.random(30) < 0.8, first, rng.random(30) < 0.1)
        rows = np.concatenate([first, second]).astype(np.float64)
        found = exact_share_interval(rows, clusters=[*range(30), *range(30)])
        covered += found.low <= 0.1 <= found.high

    assert covered / tries >= at_least(0.93, tries)
