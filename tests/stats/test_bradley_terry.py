"""Bradley–Terry: strengths by hand, a second opinion, invariances, and what has no finite strength."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize as scipy_optimize

from evenhand.errors import InputError
from evenhand.stats._bradley_terry import BradleyTerry, bradley_terry
from evenhand.stats._games import Games, from_rankings

NAMES = "abcd"
PLAYED = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([0.0, 0.3, 0.5, 1.0])).filter(
        lambda game: game[0] != game[1]
    ),
    min_size=1,
    max_size=25,
)


def _games(rows: list[tuple[str, str, float]], clusters: list[int] | None = None) -> Games:
    first, second, won = zip(*rows, strict=True)
    return Games(first=first, second=second, won=won, clusters=clusters)


def _drawn(rng: np.random.Generator, strengths: dict[str, float], each: int) -> list[tuple[str, str, float]]:
    return [
        (one, other, float(rng.random() < 1 / (1 + math.exp(strengths[other] - strengths[one]))))
        for one in strengths
        for other in strengths
        if one < other
        for _ in range(each)
    ]


def _estimates(found: BradleyTerry) -> dict[str, float]:
    return {strength.name: strength.estimate for strength in found.strengths}


def test_two_competitors_by_hand() -> None:
    """9 wins of 12: odds 3, so the log-strengths are ±ln 3 / 2.

    The information on their difference is 12 · ¾ · ¼ = 9/4, its standard error ⅔, and that of either half of it ⅓.
    """
    found = bradley_terry(_games([("a", "b", 1.0)] * 9 + [("a", "b", 0.0)] * 3))

    best, worst = found.strengths
    assert best.name == "a"
    assert (best.estimate, best.standard_error) == pytest.approx((math.log(3) / 2, 1 / 3))
    assert (best.low, best.high) == pytest.approx((best.estimate - 1.959964 / 3, best.estimate + 1.959964 / 3))
    assert (best.games, best.won, worst.won) == (12, 9.0, 3.0)
    assert worst.estimate == pytest.approx(-math.log(3) / 2)
    assert (found.method, found.n) == ("Bradley–Terry, Fisher information", 12)


def test_the_chance_of_a_win_is_that_of_the_odds() -> None:
    """Odds 3 are a chance of ¾; the ends are those of the log-odds ln 3 ± 1.96 · ⅔."""
    chance = bradley_terry(_games([("a", "b", 1.0)] * 9 + [("a", "b", 0.0)] * 3)).chance("a", "b")

    ends = [1 / (1 + math.exp(-math.log(3) - away * 1.959964 * 2 / 3)) for away in (-1, 1)]
    assert [chance.estimate, chance.low, chance.high] == pytest.approx([0.75, *ends])


def test_a_tie_is_half_a_win_for_both() -> None:
    """Two ties are one win each."""
    ties = bradley_terry(_games([("a", "b", 0.5), ("a", "b", 0.5), ("a", "b", 1.0)]))
    halves = bradley_terry(_games([("a", "b", 0.0), ("a", "b", 1.0), ("a", "b", 1.0)]))

    assert _estimates(ties) == pytest.approx(_estimates(halves))


def test_a_ring_is_level() -> None:
    """Each beats the next: rock, paper, scissors."""
    found = bradley_terry(_games([("rock", "scissors", 1), ("scissors", "paper", 1), ("paper", "rock", 1)]))

    assert _estimates(found) == pytest.approx({"paper": 0, "rock": 0, "scissors": 0}, abs=1e-9)
    assert [strength.name for strength in found.strengths] == ["paper", "rock", "scissors"]


def test_the_likelihood_has_no_better_strengths() -> None:
    """SciPy's optimiser, from the same data, ends in the same place, with the same covariance from its information."""
    rows = _drawn(np.random.default_rng(2), {"a": 1.2, "b": 0.4, "c": -0.4, "d": -1.2}, each=12)

    found = bradley_terry(_games(rows))

    def unlikely(free: NDArray[np.float64]) -> float:
        strength = dict(zip("abcd", [*free, -free.sum()], strict=True))
        return float(
            sum(np.logaddexp(0, (1 - 2 * won) * (strength[one] - strength[other])) for one, other, won in rows)
        )

    best = scipy_optimize.minimize(unlikely, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    step = 1e-4 * np.eye(3)
    curve = [
        [
            (unlikely(best + i + j) - unlikely(best + i - j) - unlikely(best - i + j) + unlikely(best - i - j)) / 4e-8
            for i in step
        ]
        for j in step
    ]
    errors = {strength.name: strength.standard_error for strength in found.strengths}
    assert [_estimates(found)[name] for name in "abc"] == pytest.approx(best.tolist(), abs=1e-5)
    assert [errors[name] for name in "abc"] == pytest.approx(np.sqrt(np.diag(np.linalg.inv(curve))).tolist(), rel=1e-3)


@given(PLAYED, st.randoms())
def test_neither_order_nor_side_nor_name_matters(rows: list[tuple[str, str, float]], random: st.DataObject) -> None:
    """Shuffled games, games told from the other side, other names: the same strengths."""
    renamed = dict(zip(NAMES, "zyxw", strict=True))
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]

    try:
        found = _estimates(bradley_terry(_games(rows), prior=0.5))
    except InputError:
        with pytest.raises(InputError, match="never met"):
            bradley_terry(_games(shuffled), prior=0.5)
        return

    assert _estimates(bradley_terry(_games(shuffled), prior=0.5)) == pytest.approx(found, abs=1e-9)
    turned = [(other, one, 1 - won) for one, other, won in rows]
    assert _estimates(bradley_terry(_games(turned), prior=0.5)) == pytest.approx(found, abs=1e-9)
    other = bradley_terry(_games([(renamed[one], renamed[two], won) for one, two, won in rows]), prior=0.5)
    assert _estimates(other) == pytest.approx({renamed[name]: value for name, value in found.items()}, abs=1e-9)


@given(PLAYED)
def test_strengths_sum_to_zero_and_account_for_every_win(rows: list[tuple[str, str, float]]) -> None:
    """At the likeliest strengths everyone is expected to win what was won, drawn games of the prior included."""
    try:
        found = bradley_terry(_games(rows), prior=1)
    except InputError:
        return

    strength = _estimates(found)
    met = {frozenset((one, other)) for one, other, _ in rows}
    assert sum(strength.values()) == pytest.approx(0, abs=1e-8)
    for own in found.strengths:
        pairs = [(one, other) for one, other, _ in rows if own.name in (one, other)]
        pairs += [tuple(pair) for pair in met if own.name in pair]  # type: ignore[misc]
        others = [two if one == own.name else one for one, two in pairs]
        expected = sum(1 / (1 + math.exp(strength[other] - own.estimate)) for other in others)
        drawn = sum(own.name in pair for pair in met) / 2
        assert expected == pytest.approx(own.won + drawn, abs=1e-6)


def test_more_of_the_same_games_change_no_strength_and_halve_the_error() -> None:
    """Four times the games, half the standard error."""
    rows = _drawn(np.random.default_rng(5), {"a": 0.7, "b": 0.0, "c": -0.7}, each=8)

    once, more = bradley_terry(_games(rows)), bradley_terry(_games(rows * 4))

    assert _estimates(more) == pytest.approx(_estimates(once), abs=1e-9)
    assert more.strengths[0].standard_error == pytest.approx(once.strengths[0].standard_error / 2)


def test_one_upset_in_ten_thousand_games_still_settles() -> None:
    """Odds 10,000 lie far from where the search begins."""
    found = bradley_terry(_games([("a", "b", 1.0)] * 10_000 + [("a", "b", 0.0)]))

    assert found.strengths[0].estimate == pytest.approx(math.log(10_000) / 2)


def test_intervals_cover_the_true_strengths() -> None:
    """Four competitors, fifteen games a pair: 95 %, less what 150 repetitions of four may stray."""
    rng, true = np.random.default_rng(8), {"a": 0.5, "b": 0.2, "c": -0.2, "d": -0.5}

    found = [bradley_terry(_games(_drawn(rng, true, each=15))) for _ in range(150)]

    covered = [one.low <= true[one.name] <= one.high for fit in found for one in fit.strengths]
    assert np.mean(covered) >= 0.95 - 0.025


def test_rankings_are_games_between_all_they_name() -> None:
    """Best first; two who share a place have tied."""
    games = from_rankings([["a", "b", "c"], ["b", ("a", "c")]])

    assert list(zip(games.first, games.second, games.won, games.clusters or (), strict=True)) == [
        ("a", "b", 1.0, 0), ("a", "c", 1.0, 0), ("b", "c", 1.0, 0),
        ("b", "a", 1.0, 1), ("b", "c", 1.0, 1), ("a", "c", 0.5, 1),
    ]  # fmt: skip


def _rankings(rng: np.random.Generator, count: int) -> list[list[str]]:
    true = np.array([0.8, 0.3, -0.3, -0.8])
    return [["abcd"[place] for place in np.argsort(-(true + rng.gumbel(size=4)))] for _ in range(count)]


def test_games_of_one_ranking_are_not_independent() -> None:
    """Told five times over, rankings say no more: the interval is that of the rankings, not of their games."""
    games = from_rankings(_rankings(np.random.default_rng(1), 40))
    copies = Games(
        first=[*games.first] * 5,
        second=[*games.second] * 5,
        won=[*games.won] * 5,
        clusters=[*(games.clusters or ())] * 5,
    )

    once = bradley_terry(games, rng=np.random.default_rng(2), resamples=300)
    often = bradley_terry(copies, rng=np.random.default_rng(2), resamples=300)
    naive = bradley_terry(replace(copies, clusters=None))

    assert (once.n, often.n, naive.n) == (40, 40, 1200)
    assert often.strengths[0].standard_error == pytest.approx(once.strengths[0].standard_error)
    assert naive.strengths[0].standard_error < 0.6 * once.strengths[0].standard_error
    assert once.method == "Bradley–Terry, 300 resamples of clusters"


def test_resampling_single_games_agrees_with_the_information() -> None:
    """Where every game is its own cluster both ways to the error must meet."""
    rows = _drawn(np.random.default_rng(4), {"a": 0.6, "b": 0.0, "c": -0.6}, each=60)

    informed = bradley_terry(_games(rows))
    resampled = bradley_terry(_games(rows, list(range(len(rows)))), rng=np.random.default_rng(5))

    errors = [strength.standard_error for strength in resampled.strengths]
    assert errors == pytest.approx([strength.standard_error for strength in informed.strengths], rel=0.12)


def test_neither_order_nor_numbers_of_clusters_change_what_is_drawn() -> None:
    """The generator draws from units in an order of their own."""
    games = from_rankings(_rankings(np.random.default_rng(3), 30))
    rows = list(zip(games.first, games.second, games.won, games.clusters or (), strict=True))
    first, second, won, clusters = zip(*reversed(rows), strict=True)
    other = Games(first=first, second=second, won=won, clusters=[1000 - cluster for cluster in clusters])

    found = bradley_terry(games, rng=np.random.default_rng(9), resamples=100)

    assert bradley_terry(other, rng=np.random.default_rng(9), resamples=100) == found


def test_groups_that_never_met_are_named() -> None:
    """Nothing says how the one group stands to the other, and no prior can."""
    games = _games([("a", "b", 1), ("b", "a", 1), ("c", "d", 0.5)])

    with pytest.raises(InputError, match="2 groups never met: a, b; c, d"):
        bradley_terry(games, prior=1)


def test_whoever_won_or_lost_everything_is_named_with_the_way_out() -> None:
    """No strength is high enough for who never lost; drawn games that are declared make it finite."""
    games = _games([("a", "b", 1), ("a", "c", 1), ("b", "c", 1), ("c", "b", 1)])

    with pytest.raises(InputError) as refused:
        bradley_terry(games)
    found = bradley_terry(games, prior=1)

    assert [fault.what for fault in refused.value.faults] == [
        "a won every game",
        "b, c lost every game against the others",
    ]
    assert all("prior=1" in fault.hint for fault in refused.value.faults)
    assert (found.strengths[0].name, found.prior) == ("a", 1)


def test_a_stronger_prior_draws_strengths_together() -> None:
    """One drawn game on top of one won: odds (1 + ½)/½ = 3; three on top of one: 2.5/1.5."""
    once, thrice = (bradley_terry(_games([("a", "b", 1)]), prior=prior).chance("a", "b") for prior in (1, 3))

    assert (once.estimate, thrice.estimate) == pytest.approx((3 / 4, 2.5 / 4))


def test_games_that_cannot_be_are_refused() -> None:
    """With the reason and what would work."""
    rng = np.random.default_rng(1)
    few = from_rankings([["a", "b"], ["b", "a"]])

    with pytest.raises(InputError, match="in game 1 'b' meets itself"):
        _games([("a", "b", 1), ("b", "b", 1)])
    with pytest.raises(InputError, match=r"won\[0\] is 2, not between 0 and 1"):
        _games([("a", "b", 2)])
    with pytest.raises(InputError, match="differ in length"):
        Games(first=["a"], second=["b"], won=[1], clusters=[1, 2])
    with pytest.raises(InputError, match="no game was played"):
        bradley_terry(from_rankings([]))
    with pytest.raises(InputError, match="prior must be 0 or more games, got -1"):
        bradley_terry(_games([("a", "b", 0.5)]), prior=-1)
    with pytest.raises(InputError, match=r"come in clusters.*give rng"):
        bradley_terry(few)
    with pytest.raises(InputError, match="2 clusters are too few to resample"):
        bradley_terry(few, rng=rng)
    with pytest.raises(InputError, match="5 resamples are too few"):
        bradley_terry(few, rng=rng, resamples=5)
    with pytest.raises(InputError, match="ranking 0 names a competitor twice"):
        from_rankings([["a", "b", "a"]])
    with pytest.raises(InputError, match="ranking 1 names 1 competitor"):
        from_rankings([["a", "b"], ["a"]])
    with pytest.raises(InputError, match="ranking 0 is one text, 'ab'"):
        from_rankings(["ab"])
    with pytest.raises(InputError, match="'c' played no game"):
        bradley_terry(_games([("a", "b", 0.5)])).chance("a", "c")


def test_resamples_that_mostly_have_a_champion_are_refused() -> None:
    """One upset in twelve rankings is missing from a third of the resamples: the rest would tell too little spread."""
    games = from_rankings([["a", "b"]] * 11 + [["b", "a"]])

    with pytest.raises(InputError, match="of 200 resamples have someone who won or lost everything"):
        bradley_terry(games, rng=np.random.default_rng(1), resamples=200)
    assert bradley_terry(games, rng=np.random.default_rng(1), resamples=200, prior=1).left_out == 0
