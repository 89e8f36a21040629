"""The rules in order: one table that reaches every one of them, and what no rule may let through."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.compare.decision import VariantColumn
from tests.compare.columns import column, compared, decided, spread

MAYBE = st.one_of(st.none(), st.integers(1, 5))
TWO_ROWS = st.integers(1, 30).flatmap(
    lambda n: st.tuples(st.lists(MAYBE, min_size=n, max_size=n), st.lists(MAYBE, min_size=n, max_size=n))
)


def _up(row: list[float], by: float = 0.4) -> list[float]:
    """Higher almost everywhere, by amounts that differ."""
    return [one + by * (1 + 0.1 * (place % 5)) for place, one in enumerate(row)]


def _down(row: list[float], by: float = 0.4) -> list[float]:
    return _up(row, -by)


def _crashed(row: list[float], every: int) -> list[float | None]:
    return [None if place % every == 0 else one for place, one in enumerate(row)]


OPPOSED = [spread(4), spread(4)[::-1]]
HALF = [4.0] * 12 + [3.0] * 12

TABLE: list[tuple[str, str, VariantColumn, VariantColumn, dict[str, Any]]] = [
    ("2. the treatment lost outputs", "REGRESS",
     column(spread(4)), column(_crashed(_up(spread(4)), 2)), {}),
    ("3. fewer than 5 pairs", "UNDERPOWERED",
     column(spread(4, 4)), column(_down(spread(4, 4))), {}),
    ("4. the composite is significantly lower", "REGRESS",
     column(spread(4)), column(_down(spread(4), 0.8)), {}),
    ("5. a layer fell below its gate, significantly", "REGRESS",
     column(spread(3.6), fact=spread(3)), column(_down(spread(3.6)), fact=_up(spread(3), 2)), {}),
    ("5. a layer fell below its gate, not significantly", "CAUTIOUS",
     column(HALF), column([*HALF[1:], 3.0]), {}),
    ("6. the composite does not differ, but a layer is significantly lower", "CAUTIOUS",
     column(spread(4.4), fact=spread(4)), column(_down(spread(4.4)), fact=_up(spread(4))), {}),
    ("6. the composite does not differ, and there are fewer than 20 pairs", "UNDERPOWERED",
     column(spread(4, 12)), column(spread(4, 12)[::-1]), {}),
    ("6. the composite does not differ, and there are fewer than 20 pairs", "UNDERPOWERED",
     column(spread(4, 19)), column(spread(4, 19)), {}),
    ("6. the composite does not differ, and the interval still reaches a difference that matters", "UNDERPOWERED",
     column([3.0] * 24), column([1.5, 4.5] * 12), {}),
    ("6. the composite does not differ, and the interval still reaches a difference that matters", "UNDERPOWERED",
     column(spread(4, 27)), column(spread(4, 27)), {}),
    ("6. the composite does not differ", "NOISE",
     column(spread(4, 28)), column(spread(4, 28)), {}),
    ("7. the composite is significantly higher, but a layer is below its gate", "CAUTIOUS",
     column(spread(2)), column(_up(spread(2))), {}),
    ("7. the composite is significantly higher, but a layer fell", "CAUTIOUS",
     column(spread(4.4), fact=spread(3.6)), column(_down(spread(4.4), 0.2), fact=_up(spread(3.6), 1)), {}),
    ("7. the composite is significantly higher, but the treatment lost outputs", "CAUTIOUS",
     column(spread(4)), column(_crashed(_up(spread(4)), 24)), {}),
    ("7. the composite is significantly higher, but the judges disagree", "CAUTIOUS",
     column(spread(4)), column(_up(spread(4))), {"judges": {"new": OPPOSED}}),
    ("7. the composite is significantly higher, but the judges disagree", "CAUTIOUS",
     column(spread(4)), column(_up(spread(4))), {"judges": {"old": OPPOSED}}),
    ("7. the composite is significantly higher, but the samples are few", "CAUTIOUS",
     column(spread(4, 12)), column(_up(spread(4, 12))), {}),
    ("7. the composite is significantly higher, and nothing holds it back", "PROGRESS",
     column(spread(3.6, 12)), column(_up(spread(3.6, 12), 0.6)), {}),
    ("7. the composite is significantly higher, and nothing holds it back", "PROGRESS",
     column(spread(4)), column(_up(spread(4))), {"judges": {"old": [spread(4)] * 2}}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "verdict", "control", "treatment", "more"), TABLE)
def test_every_rule_decides_when_its_turn_comes(
    rule: str, verdict: str, control: VariantColumn, treatment: VariantColumn, more: dict[str, Any]
) -> None:
    """The first rule that fits, its verdict, and words for both."""
    found = compared(control, treatment, **more)

    assert (found.rule, found.verdict) == (rule, verdict)
    assert found.headline.startswith(f"{verdict}: ")
    assert all(sentence.endswith(".") for sentence in (*found.reasons, found.next_step, found.headline, found.sure))


def test_one_variant_is_solo() -> None:
    """Rule 1, with the state of each gate; it passes when all of them do."""
    passing, failing = decided(column(spread(4))), decided(column(spread(4), fact=spread(3)))

    assert (passing.verdict, passing.exit_code, passing.comparisons) == ("SOLO", 0, ())
    assert passing.headline == "old stands alone. All gates passed: rubric layer."
    assert (failing.verdict, failing.exit_code) == ("SOLO", 1)
    assert failing.headline == "old stands alone. Below the gate: fact (3.00, gate 3.50)."


def test_one_variant_without_any_score_does_not_pass() -> None:
    """Nothing scored is not all gates passed."""
    found = decided(column([None, None, None]))

    assert (found.verdict, found.exit_code) == ("SOLO", 1)
    assert "Nothing could be scored." in found.headline


@pytest.mark.parametrize("n", [6, 12, 20, 40, 100])
def test_a_treatment_that_crashed_on_half_the_samples_is_no_progress(n: int) -> None:
    """However much better the other half looks: it lost outputs."""
    found = compared(column(spread(3.6, n)), column(_crashed([4.9] * n, 2)))

    assert found.verdict != "PROGRESS"
    assert found.verdict == "REGRESS" or n < 14
    assert found.lost_by_treatment == n // 2


def test_losses_are_counted_by_sample_not_by_repeat() -> None:
    """Two samples that failed in all five repeats are two losses, not ten: no REGRESS, and no PROGRESS either."""
    control = spread(3, 100)
    treatment = [None if place // 5 in (3, 4) else one for place, one in enumerate(_up(control, 0.8))]

    found = compared(column(control), column(treatment), clusters=[place // 5 for place in range(100)])

    assert (found.lost_by_treatment, found.pairs, found.verdict) == (2, 18, "CAUTIOUS")


def test_repeats_do_not_make_a_pair() -> None:
    """Four samples asked ten times are four pairs."""
    found = compared(column(spread(4, 40)), column(_up(spread(4, 40))), clusters=[place % 4 for place in range(40)])

    assert (found.pairs, found.verdict) == (4, "UNDERPOWERED")


@given(TWO_ROWS)
def test_who_lost_outputs_never_makes_progress(rows: tuple[list[int | None], list[int | None]]) -> None:
    """A pair that the treatment alone dropped holds it back, whatever the scores."""
    control, treatment = rows

    found = decided(column(control), column(treatment), gates={})

    alone = any(ours is None and theirs is not None for theirs, ours in zip(control, treatment, strict=True))
    assert not (alone and found.verdict == "PROGRESS")
    assert found.exit_code == (0 if found.verdict == "PROGRESS" else 1)


def test_a_layer_that_was_below_its_gate_already_is_not_held_against_the_treatment() -> None:
    """Unless it wants to ship: equal scores below the gate are NOISE, higher ones still below are CAUTIOUS."""
    low = spread(2, 30)

    assert compared(column(low), column(low)).verdict == "NOISE"
    assert compared(column(low), column(_up(low))).verdict == "CAUTIOUS"


def test_a_mean_that_is_on_its_gate_on_paper_is_on_it() -> None:
    """Six times 3.7 have the mean 3.7, which floats miss by a hair."""
    found = decided(column([3.7] * 6), gates={"judge": 3.7})

    assert found.gates["old"][0].passed is True


def test_a_layer_that_is_a_little_lower_by_chance_holds_nothing_back() -> None:
    """One sample lower in one layer and higher in the other is no sign of anything."""
    steady = [4.0] * 30

    found = compared(column(steady, fact=steady), column([*steady[1:], 3.0], fact=[*steady[1:], 5.0]))

    assert (found.verdict, found.rule) == ("NOISE", "6. the composite does not differ")


def test_layers_are_tested_together_where_they_make_a_regress() -> None:
    """A fall with p = 0.031 on its own is no REGRESS when it is one of two layers: 0.063 by Holm."""
    steady, fallen = [3.5] * 24, [3.5 - (place < 5) for place in range(24)]

    alone = compared(column(steady), column(fallen))
    beside = compared(column(steady, fact=[4.0] * 24), column(fallen, fact=[4.0 + (place > 18) for place in range(24)]))

    assert (alone.verdict, alone.rule[:2]) == ("REGRESS", "4.")
    assert (beside.verdict, beside.rule) == ("CAUTIOUS", "5. a layer fell below its gate, not significantly")


def test_a_composite_that_is_lower_tells_also_which_layer_fell_below_its_gate() -> None:
    """Beside the table of gates, in which it has a cross, “Why” would leave it out."""
    fell = compared(column(spread(3.7)), column(_down(spread(3.7), 0.8)))
    was_below = compared(column(spread(3)), column(_down(spread(3), 0.8)))

    assert (fell.rule[:2], was_below.rule[:2]) == ("4.", "4.")
    assert [one for one in fell.reasons if one.startswith("The rubric layer fell below its gate of 3.50: from 3.7")]
    assert not [one for one in was_below.reasons if "gate" in one]


def test_a_run_that_stopped_early_follows_the_same_rules() -> None:
    """Scattered differences that are significant are so, whether or not the run was stopped for it."""
    control, treatment = [2.0, 4.0] * 15, [5.0, 3.9] * 15

    full = compared(column(control), column(treatment), gates={"judge": 1})
    stopped = compared(column(control), column(treatment), gates={"judge": 1}, stopped_early=True)

    assert full.power is not None
    assert full.power.needed > 30
    assert (full.verdict, stopped.verdict) == ("PROGRESS", "PROGRESS")


def test_judges_without_spread_do_not_disagree() -> None:
    """Two judges that always say 4 have no correlation; that is no contradiction."""
    found = compared(column(spread(4)), column(_up(spread(4))), judges={"new": [[4.0] * 24, [4.0] * 24]})

    assert found.verdict == "PROGRESS"
    assert found.badges[0].colour == "grey"


def test_a_layer_below_its_gate_that_fell_says_both() -> None:
    """That it is low may be old; that it fell is the treatment's doing."""
    found = compared(column(spread(3.4), fact=spread(3.0)), column(_down(spread(3.4), 0.2), fact=_up(spread(3.0), 1)))

    assert "but a layer is below its gate and a layer fell" in found.rule
    told = " ".join(found.reasons)
    assert "The rubric layer is 3.16, the gate is 3.50" in told
    assert "The rubric layer is significantly lower" in told
    assert found.next_step == "Raise the rubric layer before shipping."


@pytest.mark.parametrize(("n", "more"), [(24, 8), (25, 7), (31, 1)])
def test_equal_differences_are_told_how_many_more_they_take(n: int, more: int) -> None:
    """Their bound leaves out 0 at 32 pairs of half a point, and the next step asks for the rest."""
    found = compared(column([3.0] * n), column([3.5] * n))

    assert found.verdict == "UNDERPOWERED"
    assert found.next_step.startswith(f"Score {more} more sample")
    assert compared(column([3.0] * 32), column([3.5] * 32)).verdict == "PROGRESS"


def test_a_few_ties_leave_the_interval_at_0() -> None:
    """Below 20 pairs the whole interval must lie at the smallest effect: one that begins at 0 ships nothing."""
    found = compared(column([2.0] * 7), column([4.0] * 5 + [2.0] * 2))

    assert found.verdict == "CAUTIOUS"
    assert "it begins at 0.00" in " ".join(found.reasons)
