"""What docs/how-often-wrong.md says about chance comes out of new draws; `tests.compare.chance` writes its table."""

import math
from functools import cache

import numpy as np
import pytest

from evenhand.stats.differences import difference_of
from tests.compare.chance import (
    CASES,
    METHODS,
    PAGE,
    SIZES,
    Case,
    measure,
    read_table,
    read_tries,
    reject_ours,
    reject_t,
    symmetric,
)
from tests.compare.columns import column, compared
from tests.soak import at_most, often

WRITTEN = read_tries()
UNKIND = "gains of 0 to 0.5, rarely −3"
table = cache(read_table)


@pytest.mark.parametrize("n", SIZES if often(0, 1) else [20])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_new_draws_say_what_the_table_says(case: Case, n: int) -> None:
    """Every figure of every method, within what chance does to both draws."""
    tries = often(60, 2_000)

    for method, rates in measure(case, n, tries, seed=2).items():
        for what, rate in zip(("false alarms", "coverage", "power"), rates, strict=True):
            said = table()[case.name, what, method][SIZES.index(n)]
            share = min(0.98, max(0.02, said / 100))
            assert abs(rate - said) <= 1 + 400 * math.sqrt(share * (1 - share) * (1 / tries + 1 / WRITTEN)), (
                method,
                what,
            )


def test_false_alarms_are_rare_but_where_the_page_says_so() -> None:
    """At most 5 in 100, and what chance adds to so many draws; t, Wilcoxon and bootstrap exceed that twice."""
    promised = 100 * at_most(0.05, WRITTEN)
    alarms = {(case, method): max(said) for (case, what, method), said in table().items() if what == "false alarms"}

    assert [case.name for case in CASES if alarms[case.name, "Evenhand"] > promised] == [UNKIND]
    for method in ("t", "Wilcoxon", "bootstrap"):
        assert alarms["clusters of 1 to 8", method] > 20, method
        assert alarms[UNKIND, method] > promised, method


def test_power_is_near_students() -> None:
    """Within 5 points where differences take three sizes or more, within 10 for ±1; betting has next to none."""
    for case in CASES[:5]:
        ours, students, betting = (table()[case.name, "power", method] for method in ("Evenhand", "t", "betting"))
        room = 10 if "±1" in case.name else 5
        assert all(one >= other - room for one, other in zip(ours, students, strict=True)), case.name
        assert betting[1] < 10


def test_no_method_with_power_covers_a_rare_loss() -> None:
    """What the page says of the row that is worst for us."""
    for method in METHODS:
        covered = table()[UNKIND, "coverage", method][1]
        assert (covered < 90) == (method != "betting"), method


@pytest.mark.parametrize(
    ("case", "n", "low", "high"), [(CASES[5], 20, 0, 0), (CASES[6], 20, 18, 18), (CASES[6], 50, 6, 6)]
)
def test_equal_variants_with_rare_losses_are_shipped_as_often_as_the_page_says(
    case: Case, n: int, low: float, high: float
) -> None:
    """By the whole decision."""
    tries = often(100, 2_000)
    rows = case.draw(np.random.default_rng(n), tries, n, False).rows

    verdicts = [compared(column([3.0] * n), column((3 + row).tolist()), gates={"judge": 1.0}).verdict for row in rows]
    shipped = 100 * verdicts.count("PROGRESS") / tries

    chance = 310 * math.sqrt(0.15 * 0.85 * (1 / tries + 1 / WRITTEN))
    assert low - chance <= shipped <= high + (chance if high else 0)
    assert f"{high}% are on {n} samples" in PAGE.read_text() or f"and {high}% on {n}" in PAGE.read_text() or not high


def test_five_differences_in_two_groups_raise_too_many_alarms() -> None:
    """All on one side in 2 of 32 draws."""
    rng = np.random.default_rng(5)
    rows = np.where(rng.random((2_000, 5)) < 0.5, 1, -1) + rng.normal(0, 0.01, (2_000, 5))

    alarms = np.mean([difference_of(row, rng=rng, span=4).p < 0.05 for row in rows])

    assert 0.05 < alarms < 0.08


@pytest.mark.parametrize(
    ("values", "shares", "ours", "students"),
    [([0.0, 1.0], [0.75, 0.25], 59, 77), ([0.0, 0.5, 1.0, 1.5], [0.75, 0.1, 0.1, 0.05], 55, 61)],
)
def test_three_of_four_tied_pairs_cost_power(
    values: list[float], shares: list[float], ours: int, students: int
) -> None:
    """On 20 samples, as the page says."""
    rng, tries = np.random.default_rng(6), often(300, 4_000)
    drawn = symmetric("three of four tied", values, shares).draw(rng, tries, 20, True)
    near = 100 * 3.1 * math.sqrt(0.25 * (1 / tries + 1 / 500))

    assert abs(100 * reject_ours(drawn, 0.0, rng).mean() - ours) <= near
    assert abs(100 * reject_t(drawn, 0.0, rng).mean() - students) <= near
    assert f"{ours}% against {students}%" in PAGE.read_text().replace("\n  ", " ")


@pytest.mark.parametrize(
    ("value", "n", "verdict"),
    [(1.0, 20, "PROGRESS"), (0.25, 24, "UNDERPOWERED"), (0.0, 27, "UNDERPOWERED"), (0.0, 28, "NOISE")],
)
def test_the_same_difference_everywhere(value: float, n: int, verdict: str) -> None:
    """The examples of the page."""
    assert compared(column([4.0] * n), column([4.0 + value] * n)).verdict == verdict
