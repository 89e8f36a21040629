"""Verdicts on samples in clusters: what is counted, when clusters are too few, and when counts disagree."""

import pytest

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, VariantColumn, encode_compare_decision, read_compare_decision
from evenhand.stats.arrays import CountedPer

LARGE_AND_SMALL = [cluster for cluster in range(6) for _ in range(40)] + list(range(6, 40))


def _decide(changes: list[float], clusters: list[int], per: CountedPer = "sample") -> CompareDecision:
    old = [3.0] * len(changes)
    new = [3.0 + change for change in changes]
    columns = {name: VariantColumn(composite=row, layers={"fact": row}) for name, row in (("old", old), ("new", new))}
    samples = list(range(len(changes)))
    gates = {"fact": 1.0}
    return decide_comparison(columns, control="old", clusters=clusters, samples=samples, per=per, seed=1, gates=gates)


def test_most_samples_worse_is_never_progress() -> None:
    """240 of 274 samples lost a point; that 34 of 40 clusters gained one does not turn the sign."""
    found = _decide([-1.0] * 240 + [1.0] * 34, LARGE_AND_SMALL)

    assert (found.verdict, found.exit_code) == ("REGRESS", 1)
    assert "274 samples in 40 clusters scored with both: new higher in 34, equal in 0, lower in 240." in found.reasons
    both = "Every sample counted once, the difference is −0.75; every cluster counted once, it is +0.70."
    assert both in found.reasons


@pytest.mark.parametrize(("sign", "per"), [(1, "sample"), (-1, "cluster")])
def test_where_samples_and_clusters_disagree_nothing_ships(sign: int, per: CountedPer) -> None:
    """Better by one count and worse by the other is CAUTIOUS at most."""
    found = _decide([sign * 1.0] * 240 + [sign * -1.0] * 34, LARGE_AND_SMALL, per)

    assert found.verdict == "CAUTIOUS"
    assert found.headline.endswith("but samples and clusters disagree.")


@pytest.mark.parametrize(
    ("clusters", "why"),
    [
        ([0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4, "Below 6 clusters nothing is significant"),
        ([0] * 12 + list(range(1, 12)), "One cluster holds 52"),
    ],
)
def test_clusters_that_no_test_can_judge_are_underpowered(clusters: list[int], why: str) -> None:
    """Too few, or one that outweighs all others."""
    found = _decide([1.0 + 0.1 * (place % 3) for place in range(len(clusters))], clusters)

    assert found.verdict == "UNDERPOWERED"
    assert any(reason.startswith(why) for reason in found.reasons)


def test_few_clusters_are_not_called_few_samples() -> None:
    """24 samples in 8 clusters: it is clusters that are below 20, and that are to be added."""
    found = _decide([0.3 + 0.1 * (place // 3 % 5) for place in range(24)], [place // 3 for place in range(24)])

    assert (found.verdict, found.headline) == (
        "CAUTIOUS", "new is better than old (+0.46 points), but the clusters are few.",
    )  # fmt: skip
    assert found.reasons[-1].startswith("24 pairs in 8 clusters: below 20 clusters the whole interval must lie at 0.5")
    assert found.next_step == "Score 12 more clusters with both variants to confirm it."


def test_fewer_than_five_pairs_in_clusters_ask_for_clusters() -> None:
    """What is to be scored is what counts once."""
    found = _decide([1.0] * 4, [0, 0, 1, 1])

    assert found.next_step == "Score at least 32 clusters with both variants."


def test_half_of_the_samples_in_one_cluster_is_still_judged() -> None:
    """The rule is "more than half"."""
    found = _decide([1.0 + 0.1 * (place % 3) for place in range(40)], [0] * 20 + list(range(1, 21)))

    assert found.verdict == "PROGRESS"


def test_six_clusters_are_enough_to_be_judged() -> None:
    """One more than is refused; fewer than 20 count as few samples do."""
    found = _decide([1.0 + 0.1 * (place % 3) for place in range(24)], [place // 4 for place in range(24)])

    assert found.verdict == "PROGRESS"
    assert not any("nothing is significant" in reason for reason in found.reasons)


def test_repeats_count_once_inside_a_cluster() -> None:
    """A sample that was asked four times is one sample of its cluster."""
    scores = [4.0] * 4 + [2.0] * 40
    clusters = [0] * 5 + [1 + place // 3 for place in range(39)]
    samples = [0] * 4 + list(range(1, 41))
    columns = {
        "old": VariantColumn(composite=[3.0] * len(scores)),
        "new": VariantColumn(composite=scores),
    }
    found = decide_comparison(columns, control="old", clusters=clusters, samples=samples, seed=1)

    one = found.comparisons[0]
    assert (one.pairs, one.wins, one.losses) == (41, 1, 40)
    assert one.composite is not None
    assert one.composite.estimate == pytest.approx(-39 / 41)


def test_clusters_are_kept_with_the_decision() -> None:
    """A stored decision says how its samples were counted; one without clusters says nothing of them."""
    found = _decide([-1.0] * 240 + [1.0] * 34, LARGE_AND_SMALL)
    told = encode_compare_decision(found)

    assert told["comparisons"][0]["clusters"]["count"] == 40
    again = read_compare_decision(told).comparisons[0].clusters
    assert again is not None
    assert (again.count, again.per, again.means_disagree) == (40, "sample", True)
    assert _decide([1.0] * 30, list(range(30))).comparisons[0].clusters is None
