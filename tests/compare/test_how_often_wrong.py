"""What docs/how-often-wrong.md says about chance comes out of new draws; `tests.compare.chance` writes its table."""

import math
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest

from evenhand.compare.decision import Comparison
from evenhand.stats.differences import difference_of
from evenhand.stats.power import power_of
from tests.compare.chance import (
    CASES,
    METHODS,
    PAGE,
    SIZES,
    Case,
    Drawn,
    measure,
    read_table,
    read_tries,
    reject_ours,
    reject_t,
)
from tests.compare.columns import column, compared
from tests.compare.test_simulations import ALL_SIZES as DRAWN
from tests.compare.test_simulations import LEAST_COVERED, MOST_PROGRESS, MOST_REGRESS
from tests.soak import at_most, often

WRITTEN = read_tries()
UNKIND = "gains of 0 to 0.5, rarely −3"
UNSEEN = "No sample lost 2 points; up to 13.9% could."
table = cache(read_table)


def text() -> str:
    """The page in one line."""
    return " ".join(PAGE.read_text().split())


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_columns_of_t_wilcoxon_and_betting_come_out_again(case: Case) -> None:
    """From the draws of the table itself: they are quick, and take no chance of their own."""
    for place, n in enumerate(SIZES):
        for method, rates in measure(case, n, WRITTEN, methods=("t", "Wilcoxon", "betting")).items():
            for what, rate, digits in zip(("false alarms", "coverage", "power"), rates, (1, 0, 0), strict=True):
                said = table()[case.name, what, method][place]
                assert abs(rate - said) <= 0.51 / 10**digits, (method, what, n)


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


def test_coverage_is_short_only_where_the_page_says_so() -> None:
    """94%, but for scores crowded at the top and for rare losses; there Student's is as short."""
    short = {case: said for (case, what, method), said in table().items() if (what, method) == ("coverage", "Evenhand")}
    crowded = [round(one) for one in short["scores crowded at the top"]]

    assert [case for case, said in short.items() if min(said) < 94] == ["scores crowded at the top", UNKIND]
    assert f"covers {crowded[0]}% on 12 samples and {crowded[1]}% on 20" in text()
    assert crowded == table()["scores crowded at the top", "coverage", "t"]


def test_the_error_of_the_simulation_is_said() -> None:
    """From the number of draws; and so is what a better treatment is."""
    errors = [100 * math.sqrt(share * (1 - share) / WRITTEN) for share in (0.05, 0.5)]

    assert f"error is {errors[0]:.1f} points at 5%, {errors[1]:.1f} at 50%" in text()
    assert [f"{case.better:.3f}" for case in CASES[5:]] == ["0.185", "0.185", "0.400"]
    assert "better by 0.64 standard deviations; with rare losses it is better by 0.19 points, with clusters" in text()


def _draw_shipped(case: Case, n: int, tries: int) -> list[Comparison]:
    """Equal variants that are PROGRESS by the whole decision."""
    rows = case.draw(np.random.default_rng(n), tries, n, False).rows
    found = (compared(column([3.0] * n), column((3 + row).tolist()), gates={"judge": 1.0}) for row in rows)
    return [one for one in found if one.verdict == "PROGRESS"]


def test_the_same_small_gain_with_rare_losses_is_never_shipped() -> None:
    """By the whole decision; without the bound on the scale, as often as 20 samples hold no loss."""
    tries = often(100, 4_000)
    rng = np.random.default_rng(20)
    rows = CASES[5].draw(rng, tries, 20, False).rows

    before = [difference_of(row, rng=rng) for row in rows]

    assert not _draw_shipped(CASES[5], 20, tries)
    share = np.mean([one.p < 0.05 and one.estimate > 0 for one in before])
    assert abs(100 * share - 20) <= 1 + 310 * math.sqrt(0.2 * 0.8 / tries)
    assert "are never PROGRESS on 20 samples (20% without it)" in text()


@pytest.mark.parametrize(("n", "said"), [(20, 21), (50, 10)])
def test_equal_variants_with_rare_losses_are_shipped_as_often_as_the_page_says(n: int, said: int) -> None:
    """By the whole decision, and each with the share of losses that may have gone unseen."""
    tries = often(100, 4_000)

    shipped = _draw_shipped(CASES[6], n, tries)

    assert abs(100 * len(shipped) / tries - said) <= 1 + 310 * math.sqrt(0.15 * 0.85 * (1 / tries + 1 / WRITTEN))
    assert f"21% are PROGRESS on 20 samples and {said}% on 50" in text() or n == 20
    if n == 20:
        assert {reason for one in shipped for reason in one.reasons if "could" in reason} == {UNSEEN}
        assert f'"{UNSEEN}" ({100 / 13:.1f}% do)' in text()


def test_on_20_samples_rare_losses_are_shipped_where_none_was_drawn() -> None:
    """(12/13)²⁰ is 20.2%: no method that takes 20 gains for a gain does better."""
    assert abs(100 * (12 / 13) ** 20 - 21) < 1
    for method in ("t", "Wilcoxon", "bootstrap"):
        ours, others = (table()[UNKIND, "false alarms", name][1] for name in ("Evenhand", method))
        assert others >= ours, method


def test_five_samples_with_ties_show_nothing() -> None:
    """All of whole points: even five equal signs come up in 1 of 16 comparisons."""
    rng = np.random.default_rng(1)
    for five in combinations_with_replacement(range(-4, 5), 5):
        if len(set(map(abs, five))) < 5:
            found = difference_of(five, rng=rng, span=4)
            assert found.p >= 0.05, five
            assert found.bounded == (five.count(0) >= 2 or len(set(five)) == 1), five


def test_five_differences_in_two_groups_raise_too_many_alarms() -> None:
    """All on one side in 2 of 32 draws."""
    rng = np.random.default_rng(5)
    rows = np.where(rng.random((2_000, 5)) < 0.5, 1, -1) + rng.normal(0, 0.01, (2_000, 5))

    alarms = np.mean([difference_of(row, rng=rng, span=4).p < 0.05 for row in rows])

    assert abs(100 * alarms - 6) <= 2
    assert "it raises a false alarm in 6 of 100 comparisons" in text()


@pytest.mark.parametrize(
    ("gains", "students"), [([1.0], (34, 78, 97)), ([0.5, 0.5, 1.0, 1.0, 1.5], (20, 63, 91))], ids=["+1", "three sizes"]
)
def test_three_of_four_tied_pairs_cost_power(gains: list[float], students: tuple[int, ...]) -> None:
    """As the page says of 12, 20 and 30 samples, `--power` included."""
    tries, said, promised = often(300, 4_000), (15, 58, 90), (23, 50, 75)
    rng = np.random.default_rng(6)
    for n, ours, theirs, told in zip((12, 20, 30), said, students, promised, strict=True):
        drawn = Drawn(rng.choice(gains, (tries, n)) * (rng.random((tries, n)) < 0.25))
        near = 1 + 310 * math.sqrt(0.25 * (1 / tries + 1 / WRITTEN))
        assert abs(100 * reject_ours(drawn, 0.0, rng).mean() - ours) <= near, n
        assert abs(100 * reject_t(drawn, 0.0, rng).mean() - theirs) <= near, n
        if gains == [1.0]:
            power = power_of(n, 0.25, math.sqrt(0.25 * 0.75), step=1.0).power
            assert round(100 * power) == told, n
    own, other, foretold = (f"{one[0]}, {one[1]} and {one[2]}%" for one in (said, students, promised))
    assert f"samples {own} against " in text()
    assert f"against {other} if " in text()
    assert f"it promises {foretold}, too much on 12 samples and too little on 20" in text()


@pytest.mark.parametrize(
    ("value", "n", "verdict"),
    [(1.0, 20, "PROGRESS"), (0.25, 24, "UNDERPOWERED"), (0.0, 27, "UNDERPOWERED"), (0.0, 28, "NOISE")],
)
def test_the_same_difference_everywhere(value: float, n: int, verdict: str) -> None:
    """The examples of the page."""
    assert compared(column([4.0] * n), column([4.0 + value] * n)).verdict == verdict
    said = "20 times +1.00 is PROGRESS; 24 times +0.25 is not, and 27 times 0.00 does not rule out half a point"
    assert said in text()


def test_what_is_promised_is_what_is_drawn() -> None:
    """The limits and sizes of `test_simulations`."""
    promised = f"PROGRESS occurs in at most {100 * MOST_PROGRESS:g}% of comparisons and REGRESS in at most"
    assert (
        f"{promised} {100 * MOST_REGRESS:g}%, all rules together, from {min(DRAWN)} samples to {max(DRAWN)}" in text()
    )
    assert f"cover the truth in at least {100 * LEAST_COVERED:g}% of" in text()
