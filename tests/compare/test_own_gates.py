"""Gates beyond the layers: whoever misses one does not ship, and the decision says the same throughout."""

from evenhand.compare.decision import CompareDecision, GateState
from tests.compare.columns import column, decided, spread

SAME = spread(4, 40)
BETTER = [one + 0.4 + 0.05 * (place % 5) for place, one in enumerate(SAME)]
MISSED = GateState(gate="composite", min=4.99, mean=4.5, passed=False)


def _held(*treatments: list[float], missing: tuple[str, ...]) -> CompareDecision:
    gates = dict.fromkeys(missing, (MISSED,))
    return decided(column(SAME), *(column(row) for row in treatments), other_gates=gates)


def test_a_better_treatment_that_misses_a_gate_is_cautious_in_every_word() -> None:
    """Verdict, headline, rule and next step of the comparison and of the decision."""
    decision = _held(BETTER, missing=("new",))
    (one,) = decision.comparisons

    assert (decision.verdict, decision.best, decision.exit_code) == ("CAUTIOUS", None, 1)
    assert decision.headline.endswith("but new misses its gate composite.")
    assert (one.verdict, one.rule) == (
        "CAUTIOUS",
        "7. the composite is significantly higher, but a gate is missed",
    )
    assert one.headline.startswith("CAUTIOUS: new is better than old")
    assert one.next_step == decision.next_step == "Find out why new misses its gate composite, then run it again."
    said = "new: composite is 4.50, the gate is 4.99."
    assert decision.reasons[-1] == one.reasons[-1] == said
    assert decision.reasons.count(said) == 1


def test_beside_an_undecided_treatment_it_leads_the_decision() -> None:
    """CAUTIOUS is worse than NOISE, and what is held back is the best of nothing."""
    decision = _held(SAME, BETTER, missing=("new2",))

    assert (decision.verdict, decision.best) == ("CAUTIOUS", None)
    assert "Best of" not in decision.headline
    assert "new2 misses its gate" in decision.headline


def test_of_two_better_ones_the_other_stays_the_best() -> None:
    """The one that misses nothing may be shipped; the headline is still the worst."""
    decision = _held(BETTER, [one + 0.1 for one in BETTER], missing=("new2",))

    assert decision.verdict == "CAUTIOUS"
    assert decision.best == "new"
    assert decision.headline.endswith("Best to ship of 2 treatments: new (+0.50 points).")
    assert decision.exit_code == 1


def test_a_treatment_that_is_worse_anyway_keeps_its_reason() -> None:
    """REGRESS is not softened by a gate."""
    decision = _held([one - 0.5 - 0.05 * (place % 5) for place, one in enumerate(SAME)], missing=("new",))

    assert decision.verdict == "REGRESS"
    assert decision.comparisons[0].reasons[-1].startswith("new: composite is 4.5")
    assert decision.next_step.startswith("Do not ship new")


def test_no_gate_missed_changes_nothing() -> None:
    """PROGRESS stays PROGRESS."""
    decision = _held(BETTER, missing=())

    assert (decision.verdict, decision.best, decision.exit_code) == ("PROGRESS", "new", 0)
