"""The decision as a whole: several treatments, badges, gates, plain data, and what is refused."""

import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import Badge, VariantColumn, encode_compare_decision
from evenhand.errors import InputError
from tests.compare.columns import column, compared, decided, spread

PAIRS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(1, 5)), st.one_of(st.none(), st.integers(1, 5)), st.integers(0, 8)),
    min_size=1,
    max_size=30,
)
SIX_HIGHER = [4.0 + (place < 6) for place in range(24)]
FLAT = [4.0] * 24


def _scattered(mean: float) -> list[float]:
    """As `spread`, a tenth of a point to and fro: no two variants differ by the same everywhere."""
    return [one + (0.1 if place % 4 < 2 else -0.1) for place, one in enumerate(spread(mean))]


def test_several_treatments_share_the_chance_of_a_false_alarm() -> None:
    """Six higher of six that differ are p = 0.016, by mid-p: enough alone, 0.063 beside three more treatments."""
    alone = decided(column(FLAT), column(SIX_HIGHER))
    beside = decided(column(FLAT), column(SIX_HIGHER), column(FLAT), column(FLAT), column(FLAT))

    assert (alone.verdict, alone.best) == ("PROGRESS", "new")
    assert [one.verdict != "PROGRESS" for one in beside.comparisons] == [True] * 4
    assert beside.comparisons[0].p == pytest.approx(4 / 64)
    assert "p = 0.063 adjusted for 4 treatments" in beside.comparisons[0].sure


def test_the_worst_verdict_is_the_headline_and_the_best_progress_is_named() -> None:
    """One treatment that is worse fails the build, and the better of two good ones is still told."""
    found = decided(column(spread(4)), column(_scattered(4.3)), column(_scattered(3.8)), column(_scattered(4.5)))

    assert [one.verdict for one in found.comparisons] == ["PROGRESS", "REGRESS", "PROGRESS"]
    assert (found.verdict, found.best, found.exit_code) == ("REGRESS", "new3", 1)
    assert found.headline == (
        "new2 is worse than old (−0.20 points, less than the smallest effect of 0.5). "
        "Best of 3 treatments: new3 (+0.50 points)."
    )


@pytest.mark.parametrize(
    ("means", "lead"),
    [((4.3, 4.6), "new2"), ((4.6, 4.3), "new"), ((3.8, 3.5), "new2"), ((4.2, 4.6, 4.4), "new2")],
)
def test_all_sentences_are_about_one_treatment(means: tuple[float, ...], lead: str) -> None:
    """Of several with the worst verdict: the best one, or where they are worse than the control the worst."""
    found = decided(column(spread(4)), *(column(_scattered(mean)) for mean in means))
    told = next(one for one in found.comparisons if one.treatment == lead)

    assert {one.verdict for one in found.comparisons} == {found.verdict}
    assert found.headline.startswith(f"{lead} is ")
    assert (found.reasons, found.sure, found.next_step) == (told.reasons, told.sure, told.next_step)
    assert found.best == (lead if found.verdict == "PROGRESS" else None)


def test_the_treatment_that_keeps_the_exit_code_from_0_is_the_one_that_is_told() -> None:
    """Both are NOISE; the first, which scores higher, is surely not worse, the second is not."""
    same, lost = spread(4, 40), [one - (1.2 if place in (3, 8) else 0) for place, one in enumerate(spread(4, 40))]
    found = decided(column(spread(4, 40)), column(same), column(lost), not_worse_by=0.4, smallest_effect=1.0)

    assert [one.verdict for one in found.comparisons] == ["NOISE", "NOISE"]
    assert [one.not_worse.holds for one in found.comparisons if one.not_worse] == [True, False]
    assert (found.exit_code, found.next_step) == (
        1,
        "For new2: score" + found.comparisons[1].next_step.removeprefix("Score"),
    )
    assert found.headline.startswith("new2 cannot be told from old")


@pytest.mark.parametrize(
    "differences",
    [
        [-4.0, -2.0, -2.0, -2.0, -1.0, -1.0, -1.0, -2.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        [0.3, -0.2, 0.9, 0.45, 0.7, 0.15, 0.6, -0.35, 0.5, 0.1],
    ],
    ids=["tied", "of one size", "untied"],
)
def test_how_often_is_true_of_the_p_that_is_told(differences: list[float]) -> None:
    """Over all sign flips: the share of those as large, or where p is a mid-p, with half of those exactly as large."""
    (found,) = decided(
        column([3.0] * len(differences)), column([3.0 + one for one in differences]), smallest_effect=0.1
    ).comparisons
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    larger = sum(one > seen + 1e-9 for one in sums) / len(sums)
    as_large = sum(one > seen - 1e-9 for one in sums) / len(sums)
    halved = "counting those exactly as large half" in found.sure

    assert found.composite is not None
    assert halved == ("mid-p" in found.composite.method)
    assert found.composite.p >= ((larger + as_large) / 2 if halved else as_large) - 1e-9


def test_a_tie_break_ranks_treatments_with_equal_means() -> None:
    """Without one, the first that is named stays the best."""
    low, high = [3.0] * 24, [5.0] * 24
    old = replace(column(spread(4)), criteria={"accuracy": low, "tone": low})
    toned = replace(column(_scattered(4.5)), criteria={"accuracy": low, "tone": high})
    right = replace(column(_scattered(4.5)), criteria={"accuracy": high, "tone": low})

    best = [decided(old, toned, right, tie_breaks=ties).best for ties in ((), ("accuracy", "tone"), ("tone",))]

    assert best == ["new", "new2", "new"]


def test_how_sure_is_said_in_plain_words_with_its_number() -> None:
    """A count that people can picture, the p-value and the interval."""
    found = decided(column(FLAT), column(SIX_HIGHER))

    assert found.sure == (
        "If the two were equal, a difference this large would come up in 1 of 64 comparisons, counting those "
        "exactly as large half (p = 0.016); "
        "95% interval +0.06 to +0.44 points."
    )


def test_lost_outputs_say_how_sure_they_are() -> None:
    """Twelve of twenty-four lost on one side only: 1 of 4,096."""
    found = decided(column(spread(4)), column([None, 4.0] * 12))

    assert found.headline == "new has no score on 12 samples that old has scores for."
    assert "1 of 4,100 comparisons (p = 0.0002)" in found.sure


def test_wins_ties_and_losses_add_up_to_the_pairs() -> None:
    """Counted by sample; what one side lacks is counted apart."""
    found = compared(column([4, 4, 4, None, 4, 4, 3]), column([5, 4, 3, 5, None, 5, 5]))

    assert (found.wins, found.ties, found.losses, found.pairs) == (3, 1, 1, 5)
    assert (found.lost_by_treatment, found.lost_by_control) == (1, 1)


def test_scores_that_are_equal_on_paper_are_a_tie() -> None:
    """(0.1 + 0.2) × 10 is 3.0000000000000004 as a float, and no win."""
    found = compared(column([3.0] * 6), column([(0.1 + 0.2) * 10] * 6))

    assert (found.wins, found.ties) == (0, 6)


def test_gates_default_to_three_and_a_half_and_can_be_set_by_layer() -> None:
    """A layer that is not named keeps the default."""
    found = decided(column(spread(4), fact=spread(3)), column(spread(4), fact=spread(3)), gates={"fact": 2.5})

    states = {(state.gate, state.min, state.passed) for state in found.gates["new"]}

    assert states == {("fact", 2.5, True), ("judge", 3.5, True)}


def test_the_four_badges_have_a_number_and_a_way_to_green() -> None:
    """Grey where nothing is known: no second judge, no labels."""
    found = compared(column(FLAT), column(SIX_HIGHER))

    assert {badge.name: badge.colour for badge in found.badges} == {
        "judges agree": "grey",
        "difference significant": "green",
        "saturated": "red" if found.saturation and found.saturation.low_confidence else "green",
        "human-aligned": "grey",
    }
    assert found.badges[3].says == "no labels"
    assert [bool(badge.advice) for badge in found.badges] == [badge.colour != "green" for badge in found.badges]


@pytest.mark.parametrize(
    ("judges", "colour"),
    [
        ([[1, 2, 3, 4, 5, 3], [1, 2, 3, 4, 5, 4]], "green"),
        ([[1, 2, 3, 4, 5, 3], [5, 4, 3, 2, 1, 3]], "red"),
        ([[1, 2, 3, 4, 5, 3], [1, 2, 3, 4, 5, 4], [1, 2, 3, 4, 5, 3]], "green"),
        ([[1, 2, 3, 4, 5, 3], [2, 3, 4, 5, 5, 4], [1, 1, 2, 3, 4, 2]], "amber"),
        ([[1, 1, 1, 1, 2, 1], [4, 4, 4, 4, 5, 4], [2, 2, 2, 2, 3, 2]], "red"),
        ([[1, 2, 3, 4, 5, 3]], "grey"),
    ],
)
def test_judges_agree_by_correlation_and_with_three_by_alpha(judges: list[list[int]], colour: str) -> None:
    """Three judges that rise and fall together on different levels correlate, and still do not agree."""
    found = compared(column([4.0] * 6), column([4.0] * 6), judges={"old": judges})

    assert found.badges[0].colour == colour


@pytest.mark.parametrize(
    ("by", "headline"),
    [
        (-0.01, "REGRESS: new is worse than old (−0.01 points, less than the smallest effect of 0.5)."),
        (0.02, "PROGRESS: new is better than old (+0.02 points, less than the smallest effect of 0.5)."),
        (-1.0, "REGRESS: new is worse than old (−0.92 points)."),
    ],
)
def test_a_headline_says_where_a_sure_difference_is_a_small_one(by: float, headline: str) -> None:
    """22 of 24 samples differ: that is significant, and below what was said to matter."""
    found = compared(column(FLAT), column([4.0, 4.0, *[4.0 + by] * 22]), gates={})

    assert found.headline == headline


@pytest.mark.parametrize(
    ("judges", "says"),
    [
        ([[1, 1, 1, 1, 2, 1], [4, 4, 4, 4, 5, 4], [2, 2, 2, 2, 3, 2]], "They order outputs alike and differ in level"),
        ([[1, 2, 3, 4, 5, 3], [2, 3, 4, 5, 5, 4], [1, 1, 2, 3, 4, 2]], "They order outputs alike and differ in level"),
        ([[1, 2, 3, 4, 5, 3], [3, 2, 1, 4, 5, 1], [2, 5, 3, 3, 5, 2]], "until the judges reach an α of 0.667."),
        ([[1, 2, 3, 4, 5, 3], [5, 4, 3, 2, 1, 3], [3, 3, 1, 5, 2, 2]], "a mean correlation of 0.4 and an α of 0.667."),
    ],
)
def test_the_advice_on_judges_names_what_is_not_reached_yet(judges: list[list[int]], says: str) -> None:
    """A correlation of 1.00 need not reach 0.4: there it is the level that differs."""
    found = compared(column([4.0] * 6), column([4.0] * 6), judges={"old": judges})

    assert says in found.badges[0].advice, found.badges[0]


def test_the_variant_its_judges_agree_on_least_speaks_for_both() -> None:
    """Agreement on the control does not hide a quarrel over the treatment."""
    agreeing, quarrelling = [spread(4), spread(4)], [spread(4), spread(4)[::-1]]

    found = compared(column(FLAT), column(SIX_HIGHER), judges={"old": agreeing, "new": quarrelling})

    assert replace(found.badges[0], value=None) == Badge(
        name="judges agree",
        colour="red",
        value=None,
        says="mean correlation −1.00 of 2 judges on new",
        advice="Sharpen the rubric until the judges reach a mean correlation of 0.4.",
    )


@given(PAIRS, st.randoms())
def test_the_order_of_samples_changes_nothing(rows: list[tuple[int | None, int | None, int]], random: Any) -> None:
    """Neither words nor numbers; rows of one cluster stay together by its name."""
    shuffled = sorted(rows, key=lambda _: random.random())

    assert _of(shuffled) == _of(rows)


@given(PAIRS, st.permutations([70, 3, 11, 5, 0, 1, 99, 8, 2]))
def test_the_names_of_clusters_change_nothing(rows: list[tuple[int | None, int | None, int]], names: list[int]) -> None:
    """Only which rows share one counts."""
    assert _of([(old, new, names[cluster]) for old, new, cluster in rows]) == _of(rows)


@given(PAIRS)
def test_the_names_of_variants_change_nothing_but_names(rows: list[tuple[int | None, int | None, int]]) -> None:
    """No name is better than another."""
    renamed = _of(rows, names=("zebra", "quokka"))

    assert json.loads(json.dumps(renamed).replace("zebra", "old").replace("quokka", "new")) == _of(rows)


@given(PAIRS)
def test_every_decision_is_plain_data(rows: list[tuple[int | None, int | None, int]]) -> None:
    """JSON without NaN and Infinity, back unchanged."""
    found = _of(rows)

    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_keys_of_the_plain_data_are_these() -> None:
    """Programs rely on them."""
    found = encode_compare_decision(decided(column(FLAT), column(SIX_HIGHER)))

    assert list(found) == [
        "verdict", "exit_code", "headline", "sure", "control", "best", "gates", "comparisons", "reasons", "next_step",
    ]  # fmt: skip
    assert list(found["comparisons"][0]) == [
        "treatment", "control", "verdict", "headline", "sure", "rule", "reasons", "next_step", "composite", "p",
        "layers", "layer_verdicts", "criteria", "distribution", "not_worse", "pairs", "lost_by_treatment",
        "lost_by_control", "wins", "ties", "losses", "power", "saturation", "badges", "together", "samples",
        "clusters",
    ]  # fmt: skip
    assert found["gates"]["old"] == [{"gate": "judge", "min": 3.5, "mean": 4.0, "passed": True}]
    assert found["comparisons"][0]["composite"]["p"] == 0.01562


def test_five_pairs_have_no_bounds_in_plain_data() -> None:
    """An infinite end is null: JSON has no infinity."""
    found = encode_compare_decision(decided(column([4.0] * 5), column([4.5, 4.5, 4.5, 4.5, 5.0])))

    assert (found["comparisons"][0]["composite"]["low"], found["comparisons"][0]["composite"]["high"]) == (None, None)
    assert "no 95% interval from 5 pairs" in found["sure"]


@pytest.mark.parametrize(
    ("columns", "more", "says"),
    [
        ({}, {}, "control 'old' is not among the variants"),
        ({"Old": column(FLAT)}, {}, "did you mean 'Old'?"),
        ({"old": column(FLAT), "new": column(FLAT, fact=FLAT)}, {},
         "variant 'new' was scored from fact + judge, variant 'old' from judge"),
        ({"old": column([None] * 24), "a": column(FLAT), "b": column(FLAT, fact=FLAT)}, {},
         "variant 'b' was scored from fact + judge, variant 'a' from judge"),
        ({"old": VariantColumn(composite=[4, 4], layers={"judge": [4, 4], "fact": [4, None]})}, {"clusters": [1, 2]},
         "variant 'old', row 1 was scored from judge, row 0 from fact + judge"),
        ({"old": column(FLAT)}, {"clusters": [1, 2]}, "variant 'old' has 24 rows for 2 clusters"),
        ({"old": column(FLAT)}, {"gates": {"jugde": 3.0}}, "gate on unknown layer 'jugde' (did you mean 'judge'?)"),
        ({"old": column(FLAT)}, {"gates": {"judge": float("nan")}}, "gate 'judge' must be a number"),
        ({"old": column(FLAT)}, {"judges": {"new": {"a": FLAT}}}, "judges of unknown variant 'new'"),
        ({"old": column(FLAT)}, {"judges": {"old": {"a": FLAT[1:]}}}, "does not have 24 rows"),
        ({"old": column(FLAT), "new": column(FLAT)}, {"smallest_effect": 0}, "smallest_effect must be above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_what_differs(
    columns: dict[str, VariantColumn], more: dict[str, Any], says: str
) -> None:
    """Where, what, and what would work."""
    with pytest.raises(InputError) as refused:
        decide_comparison(columns, control="old", **{"clusters": range(24), "seed": 1, **more})

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("composite", "layers", "says"),
    [
        ([4.0, float("nan")], {}, "composite[1] is nan"),
        ([4.0], {"judge": [float("inf")]}, "layer 'judge'[0] is inf"),
        ([4.0], {"judge": [4.0, 5.0]}, "2 rows of layer 'judge' for 1 of the composite"),
        (["4"], {}, "composite holds something that is not a number"),
    ],
)
def test_a_column_of_nonsense_is_refused_at_birth(composite: Any, layers: Any, says: str) -> None:
    """None is how a missing score is said."""
    with pytest.raises(InputError) as refused:
        VariantColumn(composite=composite, layers=layers)

    assert says in str(refused.value)


def test_showing_a_decision_needs_no_numpy() -> None:
    """Reports and doors import the words of a decision; only deciding computes."""
    script = "import sys, evenhand.compare; print('numpy' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_a_hundred_thousand_samples_are_decided() -> None:
    """As counts where scores repeat, by Student where they do not."""
    n = 100_000
    old = column([3.5 + place % 3 / 2 for place in range(n)], fact=[4.0 + place % 7919 / 10_000 for place in range(n)])
    new = replace(old, composite=[(one or 0.0) + (place % 5 == 0) / 10 for place, one in enumerate(old.composite)])

    found = decided(old, new)

    assert (found.verdict, found.comparisons[0].pairs) == ("PROGRESS", n)


def _of(rows: list[tuple[int | None, int | None, int]], names: tuple[str, str] = ("old", "new")) -> dict[str, Any]:
    old, new = ([row[side] for row in rows] for side in (0, 1))
    columns = {names[0]: column(old), names[1]: column(new)}
    return encode_compare_decision(
        decide_comparison(columns, control=names[0], clusters=[row[2] for row in rows], seed=3)
    )


def test_a_p_that_is_only_a_bound_is_told_as_one() -> None:
    """Random flips never came near: the p-value is at most their least, and a few lost samples are told too."""
    control = [3 + place / 50 for place in range(24)]
    treatment: list[float | None] = [one + 1 + place / 70 for place, one in enumerate(control)]
    treatment[0] = treatment[1] = None
    control_scores: list[float | None] = [None, None, *control[2:]]
    columns = {"old": column(control_scores), "new": column(treatment)}

    (one,) = decide_comparison(columns, control="old", clusters=range(24), seed=1).comparisons

    assert "at most 1 of 5,000 comparisons (p ≤ 0.0002)" in one.sure
    assert one.reasons[0].startswith("22 of 24 samples scored with both: new higher in 22")
    assert one.reasons[1].endswith("p ≤ 0.0002.")
    assert "p ≤ 0.0002" in next(badge.says for badge in one.badges if badge.name == "difference significant")
    assert encode_compare_decision(decide_comparison(columns, control="old", clusters=range(24), seed=1))[
        "comparisons"
    ][0]["p"] == pytest.approx(0.0002)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (([3.0] * 24, [3.0] * 24), (SIX_HIGHER, [4.0] * 24), "both gave the same rating throughout on old; the second"),
        (([4.0] * 24, SIX_HIGHER), ([4.0] * 24, SIX_HIGHER), "the first gave the same rating throughout"),
    ],
)
def test_judges_that_cannot_be_correlated_are_told_by_variant(
    old: tuple[list[float], ...], new: tuple[list[float], ...], told: str
) -> None:
    """What holds of one variant is not said of both."""
    (found,) = decided(column(FLAT), column(SIX_HIGHER), judges={"old": old, "new": new}).comparisons
    badge = next(one for one in found.badges if one.name == "judges agree")

    assert badge.colour == "grey"
    assert badge.says.startswith(told)
    assert (" on old" in badge.says) == (" on new" in badge.says) == ("both" in told)
