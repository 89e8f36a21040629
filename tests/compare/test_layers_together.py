"""The test of all layers together, where it is asked for: it sees what the composite averages away."""

import numpy as np

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, VariantColumn, encode_compare_decision, read_compare_decision

N = 60


def _decide(fact: float, judge: float, *, multivariate: bool) -> CompareDecision:
    """A treatment whose layers moved by so much, and a control."""
    noise = np.random.default_rng(3).normal(0, 0.2, (4, N))
    rows = iter(noise - noise.mean(axis=1, keepdims=True))  # What moved is what was said, to the last digit.
    columns = {}
    for name, up in (("old", (0.0, 0.0)), ("new", (fact, judge))):
        layers = {layer: (4 + by + next(rows)).tolist() for layer, by in zip(("fact", "judge"), up, strict=True)}
        composite = [(one + other) / 2 for one, other in zip(*layers.values(), strict=True)]
        columns[name] = VariantColumn(composite=composite, layers=layers)
    return decide_comparison(columns, control="old", clusters=range(N), seed=0, multivariate=multivariate)


def test_layers_that_moved_against_each_other_are_seen() -> None:
    """One rose, the other fell a little: the composite stayed, and the reader is told."""
    plain = _decide(0.13, -0.06, multivariate=False).comparisons[0]
    opposed = _decide(0.13, -0.06, multivariate=True).comparisons[0]

    assert plain.verdict in ("NOISE", "UNDERPOWERED")
    assert (opposed.verdict, opposed.rule) == (
        "CAUTIOUS",
        "6. the composite does not differ, but the layers together do",
    )
    assert opposed.together is not None
    assert opposed.together.significant
    assert any(reason.startswith("All layers together (fact and rubric): T² = ") for reason in opposed.reasons)


def test_a_better_treatment_stays_better_where_the_layers_agree() -> None:
    """Both rose: the test says the same, with its number."""
    decision = _decide(0.4, 0.4, multivariate=True)

    assert decision.verdict == "PROGRESS"
    assert decision.comparisons[0].together.p < 0.001  # type: ignore[union-attr, operator]


def test_equal_variants_stay_undecided() -> None:
    """No alarm where nothing moved."""
    decision = _decide(0, 0, multivariate=True)

    assert decision.verdict in ("NOISE", "UNDERPOWERED")
    assert not decision.comparisons[0].together.significant  # type: ignore[union-attr]


def test_it_survives_the_store_and_old_runs_have_none() -> None:
    """What a run keeps is read back; a run of an older version has no such field."""
    decision = _decide(0.4, 0.4, multivariate=True)
    kept = encode_compare_decision(decision)

    assert encode_compare_decision(read_compare_decision(kept)) == kept
    for one in kept["comparisons"]:
        del one["together"]
    assert read_compare_decision(kept).comparisons[0].together is None


def test_a_layer_that_never_moves_is_left_out_and_few_pairs_are_said() -> None:
    """A constant layer says nothing about the others, and one pair cannot carry a test."""
    same = [4.0] * 30
    moved = [4.0 + 0.1 * (at % 5) for at in range(30)]
    columns = {
        "old": VariantColumn(composite=same, layers={"fact": same, "judge": same}),
        "new": VariantColumn(composite=moved, layers={"fact": same, "judge": moved}),
    }

    found = decide_comparison(columns, control="old", clusters=range(30), seed=0, multivariate=True).comparisons[0]
    first = {
        name: VariantColumn(composite=one.composite[:1], layers={layer: row[:1] for layer, row in one.layers.items()})
        for name, one in columns.items()
    }
    few = decide_comparison(first, control="old", clusters=range(1), seed=0, multivariate=True).comparisons[0]

    assert found.together is not None
    assert found.together.layers == ("judge",)
    assert few.together is not None
    assert few.together.p is None
    assert any("could not be tested together" in reason for reason in few.reasons)


def test_a_layer_that_moved_alike_everywhere_is_named() -> None:
    """The test needs scatter: what it leaves out is said, and is not called all layers."""
    wave = [0.1 * (place % 7) for place in range(30)]
    columns = {
        name: VariantColumn(
            composite=[(fact + 3 + up * one) / 2 for one in wave],
            layers={"fact": [fact] * 30, "judge": [3 + up * one for one in wave]},
        )
        for name, fact, up in (("old", 1.0, 1.0), ("new", 5.0, 2.0))
    }

    found = decide_comparison(columns, control="old", clusters=range(30), seed=0, multivariate=True).comparisons[0]

    told = " ".join(found.reasons)
    assert "Layers together (rubric): T²" in told
    assert "Fact is not in that test: it differs by the same amount in every pair." in told


def test_an_interval_that_is_a_bound_says_so() -> None:
    """From equal differences it may reach beyond what the means allow: a reader must know why."""
    columns = {
        "old": VariantColumn(composite=[2.0] * 24, layers={"judge": [2.0] * 24}),
        "new": VariantColumn(composite=[5.0] * 23 + [4.0], layers={"judge": [5.0] * 23 + [4.0]}),
    }

    found = decide_comparison(columns, control="old", clusters=range(24), seed=0).comparisons[0]

    assert "the interval is a bound that holds for every distribution" in " ".join(found.reasons)
