"""A gate that is missed is told with the samples that miss it, and with the criteria that they fall short in."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand.compare.decision import (
    GateSamples,
    GateState,
    describe_gates_missed_by_variant,
    encode_decision_value,
    object_to_treatment_missing_gate,
    read_compare_decision,
    read_compared_gate_state,
)
from evenhand.store.store import Store
from evenhand.workflows.compare import compare_runs
from tests.runs.stored import Row, keep_run, result

RUN = "20261116-090000-aaaaaa"
LOW, HIGH = [2.0, 2.5] * 12, [4.0, 4.5] * 12


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / ".evenhand", {}) as opened:
        yield opened


def decision(store: Store) -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(store.find_run(RUN)["summary"] or "")["decision"]
    return kept


def judged(failing: dict[int, list[str]], tone: dict[int, str]) -> list[Row]:
    """Two variants, the new one higher; some of its outputs fail by the gates of the rubric, some are low in tone."""
    rows = [result(at, "old", score) for at, score in enumerate(LOW)]
    for at, score in enumerate(HIGH):
        failed = failing.get(at, [])
        card: dict[str, Any] = {
            "verdict": "fail" if failed else "pass",
            "criteria": {},
            "reviews": None,
            "gates_failed": failed,
        }
        rows.append(result(at, "new", score, scorecard=card, criteria={"tone": tone.get(at, "5")}))
    return rows


def test_a_criterion_below_its_gate_is_named_with_its_lowest_samples(store: Store) -> None:
    """Lowest first, the rest counted; in the decision, its comparison and the state of the gate."""
    keep_run(
        store, RUN, {"old": LOW, "new": HIGH}, results=judged({}, {3: "1", 7: "2", 9: "1", 11: "3", 12: "4"}),
        gates={"pass_rate": Fraction(0), "tone": Fraction(9, 2), "fact": Fraction(1)},
    )  # fmt: skip

    found = decision(store)

    said = "new: criterion tone is 4.42, the gate is 4.50; below it: s3, s9, s7 and 2 more samples."
    assert found["verdict"] == "CAUTIOUS"
    assert said in found["reasons"]
    assert said in found["comparisons"][0]["reasons"]
    (state,) = [one for one in found["gates"]["new"] if one["gate"] == "tone"]
    assert state["short"] == {"samples": ["s3", "s9", "s7"], "count": 5, "criteria": ["tone"]}


def test_a_pass_rate_names_what_does_not_pass_and_the_criteria_it_fails_by(store: Store) -> None:
    """The criterion whose gate failed most often comes first."""
    keep_run(
        store, RUN, {"old": LOW, "new": HIGH}, results=judged({2: ["safety"], 5: ["tone", "safety"]}, {}),
        gates={"pass_rate": Fraction(19, 20), "fact": Fraction(1)},
    )  # fmt: skip

    assert decision(store)["reasons"][-1] == (
        "new: pass_rate is 0.92, the gate is 0.95; not passed: s2 and s5 (criteria safety and tone)."
    )


@pytest.mark.parametrize("names", [("old", "new"), ("new",)])
def test_a_layer_below_its_gate_is_told_with_its_samples(store: Store, names: tuple[str, ...]) -> None:
    """Beside a control and alone; a comparison of the stored run says the same."""
    scores = {"old": LOW, "new": [3.0, 3.75] * 12}
    keep_run(store, RUN, {name: scores[name] for name in names})

    found = decision(store)
    again = compare_runs(store, RUN).decision

    assert any("below it: s0, s2, s4 and 9 more samples" in reason for reason in found["reasons"])
    assert again.reasons[: len(found["reasons"])] == tuple(found["reasons"])


def test_a_gate_that_is_passed_names_nothing(store: Store) -> None:
    """However low a single sample is."""
    keep_run(store, RUN, {"old": LOW, "new": [*HIGH[:-1], 1.0]})

    assert all(
        "short" not in state for states in decision(store)["gates"].values() for state in states if state["passed"]
    )


def test_what_an_older_run_has_kept_is_read() -> None:
    """Its gates name no samples."""
    old = {"gate": "tone", "min": 1.0, "mean": 0.5, "passed": False}

    state = read_compared_gate_state(old)

    assert state == GateState(gate="tone", min=1.0, mean=0.5, passed=False)
    assert encode_decision_value(state) == old
    assert describe_gates_missed_by_variant("new", [state]) == ["new: tone is 0.50, the gate is 1.00."]


def test_a_state_with_samples_comes_back_from_its_json(store: Store) -> None:
    """By itself, and as part of a decision."""
    short = GateSamples(samples=("a", "b"), count=4, criteria=("tone",))
    state = GateState(gate="tone", min=1.0, mean=0.5, passed=False, short=short)
    keep_run(store, RUN, {"new": [3.0] * 6})

    assert read_compared_gate_state(json.loads(json.dumps(encode_decision_value(state)))) == state
    kept = read_compare_decision(decision(store)).gates["new"][0].short
    assert kept == GateSamples(samples=("s0", "s1", "s2"), count=6)


def test_a_mean_that_nearly_reaches_its_gate_is_not_shown_at_it() -> None:
    """Nobody could tell why 3.5 is below 3.5."""
    state = GateState(gate="tone", min=3.5, mean=3.49996, passed=False)

    assert describe_gates_missed_by_variant("new", [state]) == ["new: tone is 3.49996, the gate is 3.50."]


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (
            GateState(gate="pass_rate", min=1.0, mean=0.0, passed=False, borderline=3),
            "new: pass_rate is 0.00, the gate is 1.00 (3 borderline outputs counted as failed, as with --strict).",
        ),
        (
            GateState(gate="pass_rate", min=0.8, mean=0.5, passed=False, borderline=1),
            "new: pass_rate is 0.50, the gate is 0.80 (1 borderline output counted as failed).",
        ),
        (GateState(gate="scored", min=1.0, mean=1 / 3, passed=False, outputs=3), "new: 2 of 3 outputs have no score."),
        (GateState(gate="scored", min=1.0, mean=2 / 3, passed=False, outputs=3), "new: 1 of 3 outputs has no score."),
    ],
)
def test_a_gate_on_outputs_says_what_they_lack(state: GateState, says: str) -> None:
    """A rate of 0.00 beside outputs that did not fail, or a gate for outputs with a score, leaves one guessing."""
    assert describe_gates_missed_by_variant("new", [state]) == [says]
    assert read_compared_gate_state(json.loads(json.dumps(encode_decision_value(state)))) == state


def test_what_has_no_score_is_told_by_the_criteria_without_an_answer(store: Store) -> None:
    """Not by those whose gate another output fails; a criterion of a sample's own rubric stands behind its name."""
    failed: dict[str, Any] = {"verdict": "fail", "criteria": {}, "reviews": None, "gates_failed": ["rubric-1"]}
    rows = [
        result(0, "new", None, criteria={"days": None}),
        result(1, "new", 4.0, scorecard=failed, own_rubric="sample:polite", criteria={"polite.rubric-1": "0"}),
        result(2, "new", None, criteria={"own.rubric-1": "1", "own.complexity": None}),
    ]
    keep_run(store, RUN, {"new": [4.0] * 3}, results=rows, gates={"fact": Fraction(1)})

    states = {one["gate"]: one.get("short") for one in decision(store)["gates"]["new"]}

    assert states["scored"] == {"samples": ["s0", "s2"], "count": 2, "criteria": ["days", "own.complexity"]}
    assert states["required"] == {"samples": ["s1"], "count": 1, "criteria": ["polite.rubric-1"]}


def test_outputs_that_were_not_made_name_no_criterion(store: Store) -> None:
    """Nobody was asked about them."""
    failed: dict[str, Any] = {"verdict": "fail", "criteria": {}, "reviews": None, "gates_failed": ["tone"]}
    keep_run(
        store, RUN, {"new": [4.0] * 2},
        results=[result(0, "new", None), result(1, "new", 4.0, scorecard=failed, criteria={"tone": "1"})],
        gates={"fact": Fraction(1)},
    )  # fmt: skip

    (state,) = [one for one in decision(store)["gates"]["new"] if one["gate"] == "scored"]

    assert state["short"] == {"samples": ["s0"], "count": 1, "criteria": []}


@pytest.mark.parametrize(
    ("gate", "step"),
    [
        ("scored", "Find out why outputs of new have no score, then run it again."),
        ("pass_rate", "Find out why new misses its gate for the pass rate, then run it again."),
    ],
)
def test_the_next_step_of_a_gate_on_scores_is_about_outputs_without_one(gate: str, step: str) -> None:
    """A gate for outputs with a score is missed by outputs that have none: these are what to look at."""
    state = GateState(gate=gate, min=1.0, mean=0.5, passed=False, outputs=2)

    objection = object_to_treatment_missing_gate("new", [state])

    assert objection is not None
    assert objection.next_step == step
