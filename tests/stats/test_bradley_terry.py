"""Strengths from pairs: worked by hand for two, the same whoever is named first, honest about those who never lost."""

import math

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.stats import bradley_terry

Game = tuple[str, str, float]


def strengths(games: list[Game], names: list[str], reference: str) -> dict[str, float]:
    found = bradley_terry(games, contestants=names, reference=reference, clusters=range(len(games)))
    return {one.name: one.log_odds for one in found.strengths}


def test_two_contestants_have_the_odds_of_their_wins() -> None:
    """30 won, 10 lost and the tie that is added: the odds are 30.5 to 10.5."""
    games: list[Game] = [("a", "b", 1.0)] * 30 + [("a", "b", 0.0)] * 10

    found = strengths(games, ["a", "b"], "b")

    assert found == {"a": pytest.approx(math.log(30.5 / 10.5)), "b": 0}


def test_neither_order_nor_reference_changes_who_is_how_strong() -> None:
    """A game told from the other side is the same game."""
    rng = np.random.default_rng(1)
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    games: list[Game] = [(*pairs[n % 3], float(rng.integers(0, 3)) / 2) for n in range(60)]
    turned: list[Game] = [(second, first, 1 - share) for first, second, share in reversed(games)]

    one, other = strengths(games, ["a", "b", "c"], "a"), strengths(turned, ["c", "b", "a"], "c")

    for name in "abc":
        assert one[name] - one["c"] == pytest.approx(other[name])


def test_who_never_lost_is_not_infinitely_strong_and_far_from_certain() -> None:
    """Ten of ten: the interval is wide."""
    games: list[Game] = [("a", "b", 1.0)] * 10

    found = bradley_terry(games, contestants=["a", "b"], reference="b", clusters=range(10)).strengths[0]

    assert math.isfinite(found.log_odds)
    assert found.high - found.low > 4


def test_games_of_one_cluster_count_as_one() -> None:
    """Three judges who say the same of a sample are one sample."""
    rng = np.random.default_rng(2)
    once: list[Game] = [("a", "b", float(rng.random() < 0.7)) for _ in range(40)]
    places = [place for place in range(40) for _ in range(3)]
    thrice = [once[place] for place in places]

    one = bradley_terry(once, contestants=["a", "b"], reference="b", clusters=range(40)).strengths[0]
    three = bradley_terry(thrice, contestants=["a", "b"], reference="b", clusters=places).strengths[0]

    assert three.high - three.low > 0.9 * (one.high - one.low)


@pytest.mark.parametrize("samples", [8, 30])
def test_the_interval_holds_what_is_true(samples: int) -> None:
    """At least 95 of 100 times, three contestants, every pair once a sample."""
    rng = np.random.default_rng(samples)
    true = {"a": 0.0, "b": 0.8, "c": -0.5}
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    held = []
    for _ in range(300):
        games: list[Game] = [
            (one, other, float(rng.random() < 1 / (1 + math.exp(true[other] - true[one]))))
            for _ in range(samples)
            for one, other in pairs
        ]
        clusters = [place // 3 for place in range(len(games))]
        found = bradley_terry(games, contestants=list(true), reference="a", clusters=clusters).strengths
        held += [one.low <= true[one.name] <= one.high for one in found[1:]]

    assert np.mean(held) > 0.94


@pytest.mark.parametrize(
    ("games", "names", "told"),
    [
        ([("a", "a", 1.0)], ["a", "b"], "is no game"),
        ([("a", "b", 1.5)], ["a", "b"], "is no game"),
        ([("a", "b", 1.0)], ["a", "b"], "at least 2 clusters"),
        ([("a", "b", 1.0)] * 3, ["b"], "two contestants or more"),
    ],
)
def test_what_carries_no_strength_is_refused(games: list[Game], names: list[str], told: str) -> None:
    """With the reason."""
    with pytest.raises(InputError, match=told):
        strengths(games, names, "b")
