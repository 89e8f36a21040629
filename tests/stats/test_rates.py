"""Two rates on the same samples, and who lost more either way: by hand, beside SciPy, and mirrored."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats._rates import mcnemar, mcnemar_worse, rate_difference, wilson

Z = 1.959963984540054
COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)).filter(lambda counts: sum(counts) > 0)


@pytest.mark.parametrize(
    ("by_treatment", "by_control", "p"), [(0, 0, 1.0), (7, 0, 2 / 128), (0, 7, 2 / 128), (3, 1, 10 / 16), (2, 2, 1.0)]
)
def test_losing_unevenly_is_a_coin_that_fell_on_either_side(by_treatment: int, by_control: int, p: float) -> None:
    """7 of 7 either way is 2 of 128; 3 of 4 or more either way is 10 of 16."""
    found = mcnemar(by_treatment, by_control)

    assert found.p == pytest.approx(p, rel=1e-12)
    assert (found.n, found.method) == (by_treatment + by_control, "McNemar, exact, two-sided")


@given(st.integers(0, 200), st.integers(0, 200))
def test_mcnemar_is_scipys_binomial_test(by_treatment: int, by_control: int) -> None:
    """The same either way round, and twice the one-sided p where the treatment lost more."""
    found, turned = mcnemar(by_treatment, by_control), mcnemar(by_control, by_treatment)

    n = by_treatment + by_control
    assert found.p == pytest.approx(scipy_stats.binomtest(by_treatment, n).pvalue if n else 1.0)
    assert turned.p == found.p
    if by_treatment > by_control:
        assert found.p == pytest.approx(min(1.0, 2 * mcnemar_worse(by_treatment, by_control).p))


def test_no_sample_that_differs_is_no_certainty() -> None:
    """Ten samples that both passed or both failed: ± z² / (n + z²) = 3.8415 / 13.8415 = 0.2775."""
    found = rate_difference(0, 0, 10)

    assert found.estimate == 0.0
    assert [found.low, found.high] == pytest.approx([-0.27753, 0.27753], abs=5e-6)
    assert (found.n, found.method, found.level) == (10, "Tango", 0.95)


def test_one_side_that_always_wins_by_hand() -> None:
    """Eight of eight: from (n − z²) / (n + z²) = 4.1585 / 11.8415 = 0.3512 to 1."""
    found = rate_difference(8, 0, 8)

    assert [found.estimate, found.low, found.high] == pytest.approx([1.0, 0.35118, 1.0], abs=5e-6)


@given(st.integers(0, 80), st.integers(0, 80))
def test_where_every_sample_differs_it_is_wilsons(won: int, lost: int) -> None:
    """Then the difference is twice a share less one, and so are its ends."""
    n = won + lost + (won + lost == 0)
    won = n - lost

    found, share = rate_difference(won, lost, n), wilson(won, n)

    assert [found.low, found.high] == pytest.approx([2 * share.low - 1, 2 * share.high - 1], abs=1e-9)


@pytest.mark.parametrize(("won", "lost", "n"), [(1, 7, 21), (12, 2, 50), (5, 5, 12), (40, 20, 160), (3, 0, 9)])
def test_each_end_is_z_standard_errors_away(won: int, lost: int, n: int) -> None:
    """The score, with the likelihood maximised by SciPy in place of the quadratic."""
    found = rate_difference(won, lost, n)

    assert _score(found.low, won, lost, n) == pytest.approx(Z, abs=1e-3)
    assert _score(found.high, won, lost, n) == pytest.approx(-Z, abs=1e-3)


def _score(difference: float, won: int, lost: int, n: int) -> float:
    def unlikely(share_lost: float) -> float:
        shares = share_lost + difference, share_lost, 1 - 2 * share_lost - difference
        counts = won, lost, n - won - lost
        return -sum(count * math.log(share) for count, share in zip(counts, shares, strict=True) if count)

    least, most = max(0.0, -difference), (1 - difference) / 2
    best = optimize.minimize_scalar(
        unlikely, bounds=(least + 1e-12, most - 1e-12), method="bounded", options={"xatol": 1e-12}
    ).x
    return float((won - lost - n * difference) / math.sqrt(n * (2 * best + difference - difference**2)))


@given(COUNTS)
def test_the_interval_is_inside_and_mirrored(counts: tuple[int, int, int]) -> None:
    """Swapping the sides swaps the ends; nothing lies beyond −1 and 1."""
    won, lost, same = counts

    found, turned = rate_difference(won, lost, sum(counts)), rate_difference(lost, won, sum(counts))

    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert (turned.estimate, turned.low, turned.high) == (-found.estimate, -found.high, -found.low)
    assert same == 0 or (found.low < found.estimate < found.high)


@given(COUNTS)
def test_zero_is_outside_where_the_root_of_mcnemars_chi_square_exceeds_z(counts: tuple[int, int, int]) -> None:
    """(won − lost) / √(won + lost) is the score at no difference."""
    won, lost, _ = counts
    score = abs(won - lost) / math.sqrt(won + lost) if won + lost else 0.0

    found = rate_difference(won, lost, sum(counts))

    assert (not found.low <= 0 <= found.high) == (score > Z)


@pytest.mark.parametrize("shares", [(0.3, 0.1, 0.6), (0.1, 0.02, 0.88), (0.5, 0.4, 0.1)])
def test_the_interval_covers_the_true_difference(shares: tuple[float, float, float]) -> None:
    """Twenty samples, all that may come out counted with its chance: 94 % and more, also where few samples differ."""
    n, true = 20, shares[0] - shares[1]

    covered = sum(
        scipy_stats.multinomial.pmf([won, lost, n - won - lost], n, shares)
        for won in range(n + 1)
        for lost in range(n + 1 - won)
        if (found := rate_difference(won, lost, n)).low <= true <= found.high
    )

    assert 0.94 <= covered <= 0.985


@pytest.mark.parametrize(("won", "lost", "n"), [(-1, 0, 5), (0, -1, 5), (3, 3, 5), (0, 0, 0)])
def test_counts_that_cannot_be_are_refused(won: int, lost: int, n: int) -> None:
    """With what would work."""
    with pytest.raises(InputError, match="are no shares"):
        rate_difference(won, lost, n)


def test_a_count_below_nothing_is_refused() -> None:
    """Also two-sided."""
    with pytest.raises(InputError, match="cannot be below 0"):
        mcnemar(3, -1)
    with pytest.raises(InputError, match=r"95 % is 0\.95"):
        rate_difference(1, 0, 5, level=95)
    assert np.isfinite(rate_difference(1, 0, 1).low)
