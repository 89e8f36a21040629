"""Not worse by more than a margin, a verdict for every layer, and what a decision shows beside its verdict."""

import re

import pytest

from evenhand.compare.decision import VariantColumn, encode_compare_decision
from evenhand.compare.facts import LossShare
from evenhand.errors import InputError
from evenhand.report.phrases import describe_reported_p_adjustment, list_reported_differences
from evenhand.stats.arrays import Undefined
from evenhand.stats.ratings import Agreement
from tests.compare.columns import column, compared, decided, spread

SAME = spread(4, 40)


def _jittered(row: list[float], by: float, size: float = 0.1) -> list[float]:
    """Moved by `by` on the whole, to and fro by `size`."""
    return [one + by + (size if place % 3 else -2 * size) for place, one in enumerate(row)]


def test_a_treatment_that_is_surely_not_much_worse_passes() -> None:
    """Equal within a tenth of a point: what someone who swaps in a cheaper model asks for."""
    decision = decided(column(SAME), column(_jittered(SAME, 0.0)), not_worse_by=0.5)
    (found,) = decision.comparisons

    assert found.verdict in ("NOISE", "UNDERPOWERED")
    assert decision.exit_code == 0
    assert found.not_worse is not None
    assert found.not_worse.holds
    assert "is not worse by more than 0.5 points" in found.headline
    assert found.next_step.startswith("Ship new if it is cheaper")


def test_without_a_margin_the_same_treatment_does_not_pass() -> None:
    """Nothing is taken for equal unless somebody says how much is little."""
    decision = decided(column(SAME), column(_jittered(SAME, 0.0)))

    assert decision.exit_code == 1
    assert decision.comparisons[0].not_worse is None


def test_a_treatment_that_may_be_worse_does_not_pass() -> None:
    """Six samples that scatter by a point say nothing about two tenths, and 59 are the least that could."""
    row = spread(4, 6)
    decision = decided(column(row), column(_jittered(row, 0.0, 0.5)), not_worse_by=0.2)

    assert decision.exit_code == 1
    (says,) = (reason for reason in decision.comparisons[0].reasons if "may be worse by more than 0.2" in reason)
    assert says.endswith("It takes 59 samples at least, even if all differences were 0.")


@pytest.mark.parametrize(
    ("row", "margin", "step"),
    [
        ([0.0] * 24, 0.2, "Score at least 35 more samples with both variants: fewer cannot rule out a loss of more"),
        ([0.0] * 12, 0.5, "Score at least 11 more samples with both variants"),
        ([1.0, -1.0] * 15, 0.3, "Score about "),
        ([-1.0, 0.5] * 15, 0.2, "Keep old: new was lower by 0.2 points or more in these samples."),
    ],
)
def test_the_next_step_is_about_the_margin_that_was_asked_for(row: list[float], margin: float, step: str) -> None:
    """It never asks for fewer samples than the reasons say it takes."""
    base = [3.0] * len(row)
    treatment = [one + difference for one, difference in zip(base, row, strict=True)]
    (found,) = decided(column(base), column(treatment), not_worse_by=margin).comparisons

    assert found.next_step.startswith(step)
    more = re.search(r"(\d+) more samples", found.next_step)
    if found.not_worse and more:
        assert len(row) + int(more[1]) >= found.not_worse.needed


def test_as_many_as_the_next_step_asks_for_do_show_it() -> None:
    """If the rest is like what was seen."""
    differences = [1.0, -1.0] * 15

    def decide(count: int) -> tuple[bool, str]:
        rows = (differences * 20)[:count]
        (found,) = decided(column([3.0] * count), column([3.0 + one for one in rows]), not_worse_by=0.3).comparisons
        return bool(found.not_worse and found.not_worse.holds), found.next_step

    held, step = decide(30)
    more = int(re.findall(r"\d+", step)[0])

    assert (held, decide(30 + more + more % 2)[0]) == (False, True)


def test_a_worse_treatment_is_not_excused_by_a_wide_margin() -> None:
    """REGRESS stays REGRESS: the margin is for what cannot be told apart."""
    decision = decided(column(SAME), column(_jittered(SAME, -0.3)), not_worse_by=2.0)

    assert (decision.verdict, decision.exit_code) == ("REGRESS", 1)
    assert decision.comparisons[0].not_worse is None


def test_several_treatments_share_the_risk() -> None:
    """Each of two gets half of the 5% by which one may pass wrongly."""
    first, second = decided(
        column(SAME), column(_jittered(SAME, 0.0)), column(_jittered(SAME, 0.0)), not_worse_by=0.2
    ).comparisons

    assert first.not_worse is not None
    assert first.not_worse.level == pytest.approx(0.975)
    assert second.not_worse is not None


def test_how_rare_a_loss_may_go_unseen_is_said() -> None:
    """Forty samples miss what strikes fewer than 1 − 0.05^(1/40) = 7.2% of them in one of twenty tries."""
    found = compared(column(SAME), column(SAME), not_worse_by=0.5)

    assert found.not_worse is not None
    assert found.not_worse.holds
    assert "No sample lost 2 points; up to 7.2% could." in found.reasons


@pytest.mark.parametrize(("n", "verdict"), [(58, "CAUTIOUS"), (59, "PROGRESS")])
def test_losses_that_could_still_be_too_many_hold_a_treatment_back(n: int, verdict: str) -> None:
    """Without one in 59 samples, losses of 2 points make up at most 5 % (0.95^59 is the first power below 0.05)."""
    row = spread(4, n)
    allowed = LossShare(points=2.0, share=0.05)

    found = compared(column(row), column(_jittered(row, 0.4)), smallest_loss=allowed)

    assert found.verdict == verdict
    assert compared(column(row), column(_jittered(row, 0.4))).verdict == "PROGRESS"
    assert any("No sample lost 2 points; up to 5" in one for one in found.reasons)
    assert ("could still make up more than 5% of the samples" in found.rule) == (verdict == "CAUTIOUS")


def test_differences_that_are_all_the_same_have_an_interval() -> None:
    """Without width it would read like certainty; without ends of the scale there is none, and that is said."""
    columns = column(SAME), column([one + 0.5 for one in SAME])

    assert "95% interval +0.10 to +0.81 points" in compared(*columns).sure
    assert "the same in all 40 pairs" in compared(*columns, span=None).sure


def test_layers_are_adjusted_over_all_treatments() -> None:
    """A layer of one of five treatments is one of five that were looked at."""
    row = [4.0 + 0.1 * (place % 5) for place in range(24)]
    low = [one - (1.0 if place in (3, 9, 12, 15, 18, 21) else 0.0) for place, one in enumerate(row)]
    alone = decided(column(row), column(low)).comparisons[0]
    first = decided(column(row), column(low), *[column(row)] * 4).comparisons[0]

    assert alone.layer_verdicts["judge"].verdict == "REGRESS"
    assert first.layer_verdicts["judge"].verdict != "REGRESS"


@pytest.mark.parametrize("by", [0.0, -0.2, float("nan")])
def test_a_margin_that_is_none_is_refused(by: float) -> None:
    """Nothing is not worse by nothing."""
    with pytest.raises(InputError, match="above 0"):
        decided(column(SAME), column(SAME), not_worse_by=by)


def test_every_layer_has_its_own_verdict() -> None:
    """Facts fell by a point, the judge rose by two: the mean rose, and each layer says its own."""
    found = compared(
        column(spread(3.6), fact=spread(4.5)),
        column([one + 1.2 for one in spread(3.6)], fact=_jittered(spread(4.5), -0.5)),
    )

    assert found.layer_verdicts["fact"].verdict == "REGRESS"
    assert found.layer_verdicts["fact"].rule == "4. the fact layer is significantly lower"
    assert found.layer_verdicts["judge"].verdict == "PROGRESS"
    assert found.verdict == "CAUTIOUS"


def test_a_layer_that_lost_nothing_is_noise_of_its_own() -> None:
    """The rules are the same; only the words say which layer is meant."""
    found = compared(column(SAME, fact=SAME), column(SAME, fact=SAME))

    assert found.layer_verdicts["fact"].verdict == "NOISE"
    assert "The fact layer does not differ significantly." in found.layer_verdicts["fact"].reasons


def test_noise_promises_no_more_than_was_measured() -> None:
    """±0.6 at 24 samples: half a point would mostly have been seen, and a fifth may well be there."""
    row = [4.0 + (0.6 if place % 2 else -0.6) for place in range(24)]
    found = compared(column([4.0] * 24), column(row))

    assert found.verdict in ("NOISE", "UNDERPOWERED")
    assert "hardly" not in found.next_step
    assert "The interval rules out a difference of 0.5 points or more: it ends at −0.26 and +0.26." in found.reasons
    assert found.next_step.startswith("Keep the cheaper of the two; to see a difference below 0.5 points takes more")


def test_what_the_interval_does_not_rule_out_is_not_said_to_be() -> None:
    """The same scatter and a smallest effect of a tenth: nothing is ruled out."""
    row = [4.0 + (0.6 if place % 2 else -0.6) for place in range(24)]
    found = compared(column([4.0] * 24), column(row), smallest_effect=0.1)

    assert not any("rules out" in reason for reason in found.reasons)


def test_no_bar_of_the_spread_holds_both_gains_and_losses() -> None:
    """Differences without steps: 0 is an edge between two bars."""
    row = [4.0 + 0.01 * place**1.5 - 0.7 for place in range(40)]
    found = compared(column([4.0] * 40), column(row))

    assert found.spread is not None
    assert any(abs(edge) < 1e-9 for edge in found.spread.edges)
    assert sum(found.spread.counts) == 40


def test_criteria_are_told_beside_the_layers() -> None:
    """Each over the samples that both have it for; none decides anything."""
    old = VariantColumn(
        composite=SAME, layers={"judge": SAME}, criteria={"tone": SAME, "length": [None, *SAME[1:]], "gone": SAME}
    )
    new = VariantColumn(composite=SAME, layers={"judge": SAME}, criteria={"tone": _jittered(SAME, 1.0), "length": SAME})

    found = compared(old, new)

    assert found.criteria["tone"] is not None
    assert found.criteria["tone"].estimate == pytest.approx(1.0, abs=0.01)
    assert found.criteria["length"] is not None
    assert found.criteria["length"].n == 39
    assert list(found.criteria) == ["tone", "length"]
    assert found.verdict == "NOISE"


def test_the_spread_of_differences_in_steps_has_a_bar_for_each() -> None:
    """−1, 0, 0, 1, 1, 1: three bars around whole points."""
    found = compared(column([3.0] * 6), column([2.0, 3.0, 3.0, 4.0, 4.0, 4.0]))

    assert found.spread is not None
    assert found.spread.edges == (-1.5, -0.5, 0.5, 1.5)
    assert found.spread.counts == (1, 2, 3)
    assert found.spread.mean == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("aligned", "colour", "says"),
    [
        (None, "grey", "no labels"),
        (Undefined(why="all ratings are the same", method="α", n=4), "grey", "all ratings are the same"),
        (Agreement(value=0.7, method="α", n=30, pairs=1), "green", "α 0.70 between panel and people, on 30 outputs"),
        (Agreement(value=0.667, method="α", n=30, pairs=1), "green", "α 0.67"),
        (Agreement(value=0.5, method="α", n=30, pairs=1), "amber", "α 0.50"),
        (Agreement(value=0.1, method="α", n=30, pairs=1), "red", "α 0.10"),
    ],
)
def test_the_badge_of_people_follows_the_bands(aligned: Agreement | Undefined | None, colour: str, says: str) -> None:
    """Without labels nobody knows; with them the bands are those of the judges among each other."""
    badge = compared(column(SAME), column(SAME), aligned=aligned).badges[-1]

    assert (badge.name, badge.colour) == ("human-aligned", colour)
    assert says in badge.says


def test_all_of_it_is_plain_data() -> None:
    """Files and programs read the same."""
    (found,) = encode_compare_decision(decided(column(SAME), column(_jittered(SAME, 0.0)), not_worse_by=0.5))[
        "comparisons"
    ]

    assert found["not_worse"]["holds"] is True
    assert found["layer_verdicts"]["judge"]["verdict"] in ("NOISE", "UNDERPOWERED")
    assert len(found["distribution"]["counts"]) + 1 == len(found["distribution"]["edges"])
    assert [one["n"] for one in found["saturation"]["curve"]] == list(range(4, 41, 4))


def test_a_layer_tells_the_p_value_that_its_verdict_rests_on() -> None:
    """The table showed the unadjusted one: p 0.033 beside UNDERPOWERED."""
    raised = [one + (0.4 if place % 3 else -0.3) for place, one in enumerate(spread(3.6))]
    found = compared(column(spread(3.6), fact=spread(4.0)), column(raised, fact=_jittered(spread(4.0), 0.05)))
    (one,) = encode_compare_decision(decided(column(spread(3.6), fact=spread(4.0)), column(raised, fact=spread(4.0))))[
        "comparisons"
    ]

    layer, difference = found.layer_verdicts["judge"], found.layers["judge"]
    assert layer.p is not None
    assert difference is not None
    assert layer.p > difference.p
    shown = {of: difference["p"] for of, difference, _ in list_reported_differences(one) if difference}
    assert shown["rubric"] == one["layer_verdicts"]["judge"]["p"] > one["layers"]["judge"]["p"]
    assert "p of each layer is adjusted for the number of layers" in describe_reported_p_adjustment([one])
    told = describe_reported_p_adjustment([one, {**one, "treatment": "newer"}])
    assert "p of each layer is adjusted for all layers of all treatments" in told
    assert "the number of layers" not in told


def test_a_single_layer_needs_no_adjustment() -> None:
    """Nothing is said of what was not done."""
    (one,) = encode_compare_decision(decided(column(spread(3.6)), column(spread(3.9))))["comparisons"]

    assert one["layer_verdicts"]["judge"]["p"] == one["layers"]["judge"]["p"]
    assert describe_reported_p_adjustment([one]) == ""


@pytest.mark.parametrize("n", [4, 5, 12, 30])
@pytest.mark.parametrize("by", [0.25, -0.25, 1.0])
def test_equal_differences_only_bound_chance(n: int, by: float) -> None:
    """If the two were equal, nobody knows how often all differences would be this one."""
    found = compared(column(spread(3.0, n)), column([one + by for one in spread(3.0, n)]))

    assert "comparisons (" not in found.sure
    assert re.match(
        r"All differences are the same, so chance can only be bounded: p (is at most|≤|<) [01]\.", found.sure
    )


def test_equal_scores_still_say_how_often() -> None:
    """No difference at all comes up in every comparison: that is no bound."""
    found = compared(column(SAME), column(SAME))

    assert found.sure.startswith("If the two were equal, a difference this large would come up in nearly every")
