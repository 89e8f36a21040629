"""The gate of a layer where outputs have no score: it is passed only if the lowest score for each would leave it so."""

import pytest

from evenhand.compare.decision import CompareDecision, GateState
from tests.compare.columns import column, decided

OLD: list[float | None] = [3.0, 3.5] * 22
NEW: list[float | None] = [3.5, 4.0] * 22  # Mean 3.75.
GATE = {"judge": 3.4}


def _gate_of(decision: CompareDecision, variant: str = "new") -> GateState:
    (state,) = decision.gates[variant]
    return state


def test_it_is_open_where_the_lowest_scores_would_miss_it() -> None:
    """By hand: (44 · 3.75 + 8 · 1) / 52 = 3.327, below 3.4; with 6 of 50 it is 3.42."""
    lost = [None] * 8

    decision = decided(column([*OLD, *lost]), column([*NEW, *lost]), gates=GATE)

    assert _gate_of(decision) == GateState(gate="judge", min=3.4, mean=3.75, passed=None, unknown=8)
    (one,) = decision.comparisons
    assert (one.verdict, decision.exit_code) == ("CAUTIOUS", 1)
    assert one.rule == "7. the composite is significantly higher, but a layer is not known to pass its gate"
    assert (
        "The rubric layer is 3.75, and 8 outputs of new have no score: with the lowest for each it would be 3.33, "
        "below the gate of 3.40." in one.reasons
    )
    assert one.layer_verdicts["judge"].verdict == "CAUTIOUS"


def test_it_is_passed_where_even_they_would_reach_it() -> None:
    """And still says how many there are."""
    lost = [None] * 6

    decision = decided(column([*OLD, *lost]), column([*NEW, *lost]), gates=GATE)

    assert _gate_of(decision) == GateState(gate="judge", min=3.4, mean=3.75, passed=True, unknown=6)
    assert decision.verdict == "PROGRESS"


def test_a_layer_that_is_below_its_gate_is_not_open() -> None:
    """What the scored outputs miss is missed."""
    decision = decided(column([*OLD, None]), column([*NEW, None]), gates={"judge": 3.8})

    assert _gate_of(decision).passed is False


@pytest.mark.parametrize(("lost", "passed"), [(8, None), (6, True)])
def test_a_variant_that_stands_alone_is_held_alike(lost: int, passed: bool | None) -> None:
    """The state, and what the headline says."""
    decision = decided(column([*NEW, *[None] * lost]), gates=GATE)

    state = _gate_of(decision, "old")
    assert (state.passed, state.unknown) == (passed, lost)
    assert decision.exit_code == (0 if passed else 1)
    if not passed:
        assert decision.headline == (
            "old stands alone. Not known to pass the gate: rubric layer (3.75, gate 3.40, 8 outputs without an answer)."
        )
        assert decision.next_step == "Get a score for every output of old, then run it again."


def test_repeats_of_a_sample_share_its_one_vote() -> None:
    """Two samples, three and one repeats, one of the three lost: ((4 + 4 + 1) / 3 + 4) / 2 = 3.5, not 13/4."""
    rows = column([4.0, 4.0, None, 4.0])

    held = {
        least: _gate_of(decided(rows, clusters=[0, 0, 0, 1], gates={"judge": least}), "old") for least in (3.5, 3.6)
    }

    assert held[3.5].passed is True
    assert held[3.6].passed is None
