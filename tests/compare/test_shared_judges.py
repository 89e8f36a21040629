"""Judges that may not vote on their own output: what they leave to harsher or milder ones is no difference."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, VariantColumn, encode_compare_decision, read_compare_decision

AUTHORS = ("opus", "gpt", "gemini")  # Each has made one variant and may not vote on it.
LEVEL = {"opus": 0.0, "gpt": 1.0, "gemini": -1.0}  # What each judge adds to every score.
SCALE = (0.0, 10.0)


def _run(
    seed: int, *, gain: float = 0.0, judges: tuple[str, ...] = AUTHORS, self_votes: bool = False, n: int = 30
) -> CompareDecision:
    """A council of harsh and mild judges over variants whose outputs are equally good, but for a `gain` of gpt's."""
    rng = np.random.default_rng(seed)
    quality = {variant: rng.normal(6.5 + gain * (variant == "gpt"), 0.6, n) for variant in AUTHORS}
    columns, reviews = {}, {}
    for variant, worth in quality.items():
        voting = [judge for judge in judges if self_votes or judge != variant]
        given = {judge: np.clip(worth + LEVEL[judge] + rng.normal(0, 0.4, n), *SCALE) for judge in voting}
        layer = 1 + 4 * np.mean(list(given.values()), axis=0) / 10
        columns[variant] = VariantColumn(composite=layer.tolist(), layers={"judge": layer.tolist()})
        reviews[variant] = {judge: row.tolist() for judge, row in given.items()}
    return _decide(columns, reviews, seed)


def _decide(columns: dict[str, VariantColumn], reviews: dict[str, Any], seed: int = 1) -> CompareDecision:
    n = len(columns["opus"].composite)
    gates = {"judge": 1.0}
    return decide_comparison(
        columns, control="opus", clusters=range(n), seed=seed, gates=gates, judges=reviews, judge_scale=SCALE
    )


def test_harshness_makes_neither_progress_nor_regress() -> None:
    """Of variants that are equal, at most 5% may get a verdict; who was allowed to vote gave it to all of them."""
    found = Counter(one.verdict for seed in range(60) for one in _run(seed).comparisons)

    assert found["CAUTIOUS"] > 80  # All judges together see a difference, those that scored both do not.
    assert found["PROGRESS"] <= 6
    assert found["REGRESS"] <= 6


def test_a_gain_that_shared_judges_see_too_ships() -> None:
    """The rule holds back what comes from the judges, and nothing else."""
    decision = _run(3, gain=2.0)

    verdicts = {one.treatment: one.verdict for one in decision.comparisons}
    assert verdicts["gpt"] == "PROGRESS"


def test_a_regress_that_shared_judges_do_not_bear_out_is_named_with_both_numbers() -> None:
    """A reader sees at once what all judges say, what the judges say that scored both, and the way out."""
    lower, higher = _run(1).comparisons

    assert lower.verdict == "CAUTIOUS"
    assert lower.rule == "4. the composite is significantly lower, but the judges that scored both do not bear it out"
    assert lower.headline == (
        "CAUTIOUS: gpt is worse than opus (−0.18 points), but the judges that scored both outputs see no "
        "significant difference (+0.04)."
    )
    assert "by the judges that scored both (gemini) the difference is +0.04" in " ".join(lower.reasons)
    assert "self_votes: true" in lower.next_step
    assert higher.rule.startswith("7. the composite is significantly higher, but the judges that scored both")


def test_equal_judges_change_nothing() -> None:
    """Where all judges score every output, nothing is told about those that did."""
    decision = _run(1, self_votes=True)

    assert [one.shared_judges for one in decision.comparisons] == [None, None]
    assert "shared_judges" not in encode_compare_decision(decision)["comparisons"][0]


def test_without_a_judge_that_scored_both_nothing_is_decided() -> None:
    """Two authors that judge each other: the difference is theirs, or that of their outputs; nobody can tell."""
    columns, reviews = {}, {}
    for variant, judge, score in (("opus", "gpt", 8.0), ("gpt", "opus", 6.0)):
        row = [score + 0.1 * (place % 3) for place in range(30)]
        columns[variant] = VariantColumn(composite=[1 + 0.4 * one for one in row], layers={"judge": row})
        reviews[variant] = {judge: row}

    (found,) = _decide(columns, reviews).comparisons

    assert found.verdict == "CAUTIOUS"
    assert "no judge scored enough outputs of both" in found.headline


def test_a_layer_is_not_condemned_by_who_may_vote() -> None:
    """A rubric layer that fell below its gate only because its author may not vote is CAUTIOUS, not REGRESS."""
    columns, reviews = {}, {}
    for variant, judge, added, step in (("opus", "gpt", 1.0, 3), ("gpt", "opus", 0.0, 5)):
        wave = [0.2 * (place % step) for place in range(30)]
        given = {"gemini": [5.8 + one for one in wave], judge: [6.0 + added + one for one in wave]}
        layer = [1 + 0.4 * (a + b) / 2 for a, b in zip(*given.values(), strict=True)]
        columns[variant] = VariantColumn(composite=layer, layers={"judge": layer})
        reviews[variant] = given
    decision = decide_comparison(
        columns, control="opus", clusters=range(30), seed=1, gates={"judge": 3.6}, judges=reviews, judge_scale=SCALE
    )

    assert decision.verdict == "CAUTIOUS"
    assert decision.headline.startswith(
        "gpt fell below the gate in the rubric layer, but the judges that scored both outputs see"
    )


def test_a_capped_output_stays_capped() -> None:
    """The safety cap is no judge's harshness: shared judges do not lift an output above it."""
    n, given = 30, [8.0 + 0.1 * (place % 4) for place in range(30)]
    layer = [1 + 0.4 * one for one in given]
    columns = {
        "opus": VariantColumn(composite=layer, layers={"judge": layer}),
        "gpt": VariantColumn(composite=[1.0] * n, layers={"judge": [1.0] * n}),
    }
    reviews = {"opus": {"gpt": given, "gemini": given}, "gpt": {"opus": given, "gemini": given}}

    (found,) = _decide(columns, reviews).comparisons

    assert found.verdict == "REGRESS"
    assert found.shared_judges is not None
    assert found.shared_judges.difference is not None
    assert found.shared_judges.difference.estimate == pytest.approx(-3.26, abs=0.02)


def test_a_stored_decision_keeps_what_shared_judges_said() -> None:
    """Reports and comparisons of stored runs read it back."""
    kept = encode_compare_decision(_run(1))

    assert encode_compare_decision(read_compare_decision(kept)) == kept


def test_a_variant_alone_below_its_gate_is_told_to_raise_it() -> None:
    """A second variant would not make the first one better."""
    low = VariantColumn(composite=[2.0] * 6, layers={"judge": [2.0] * 6})

    found = decide_comparison({"old": low}, control="old", clusters=range(6), seed=1)

    assert found.headline == "old stands alone. Below the gate: rubric layer (2.00, gate 3.50)."
    assert found.next_step == "Raise rubric layer above the gate, then run it again."
