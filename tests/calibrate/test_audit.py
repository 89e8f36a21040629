"""Audits: the worst first with one next step, and what cannot be known says why."""

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.calibrate.audits.audit import build_judge_audit, encode_calibration_audit
from evenhand.calibrate.audits.findings import AuditedJudgeAnswerCounts
from evenhand.calibrate.audits.judge_habits import WITH_OTHERS
from evenhand.errors import InputError
from tests.calibrate.audited import ALONE, WEIGHTS, found, rubric, seen, table, two_judges
from tests.calibrate.simulated import MAKERS, Planted, panel

BIASES = ("position", "length", "self-preference", "harshness")


def test_saturation_is_taken_from_the_comparison() -> None:
    """It is shown, and does not decide whether the judges are fit."""
    badge = {"badge": "saturated", "state": "red", "value": 0.3, "says": "it still narrows", "advice": "Add samples."}
    comparison = {"treatment": "new", "control": "old", "pairs": 24, "badges": [badge]}
    scores = np.random.default_rng(1).normal(5, 1, (40, 2))

    audited = build_judge_audit(seen(two_judges(scores, scores + 0.01), comparisons=(comparison,)))

    assert found(audited, "saturation").colour == "red"
    assert audited.fit == "yes"


def test_the_worst_comes_first_with_one_next_step() -> None:
    """Red before amber, and among reds what counts most."""
    rng = np.random.default_rng(2)
    given = {(judge, "accuracy"): np.clip(rng.normal(9, 3, (30, 2)), 1, 10) for judge in "abc"}

    audited = build_judge_audit(
        seen(table(given, asked=rubric(ALONE)), answer_counts={"a": AuditedJudgeAnswerCounts(answered=10, failed=10)})
    )

    assert audited.headline.startswith("Fit to decide: no. Worst is failures of a: ")
    assert audited.next_step == audited.findings[0].advice
    order = [("red", "amber", "grey", "green").index(one.colour) for one in audited.findings]
    assert order == sorted(order)


def test_one_criterion_alone_makes_nobody_unfit() -> None:
    """The judges agree on all but one criterion: to be used with care, and it is named."""
    rng = np.random.default_rng(8)
    quality = rng.normal(5, 1.2, (40, 2))
    given = {
        (judge, id): quality + rng.normal(0, 0.3 if id != "depth" else 4, (40, 2)) for judge in "abc" for id in WEIGHTS
    }

    audited = build_judge_audit(
        seen(table(given, asked=rubric({"accuracy": "0.6", "clarity": "0.39", "depth": "0.01"})))
    )

    assert audited.fit == "with care"
    assert "on depth" in audited.headline


def test_what_is_not_green_says_what_would_turn_it_green() -> None:
    """And what is green says nothing; over a whole panel with every fault."""
    audited = build_judge_audit(
        seen(panel(Planted(position=2, length=0.5, own=2, harsh=2), 1, repeats=2), makers=MAKERS)
    )

    assert {one.name for one in audited.findings} >= {*BIASES, "agreement", "ceiling", "repeat noise"}
    assert all(bool(one.advice) == (one.colour != "green") for one in audited.findings)
    assert all(one.says.startswith("not ") for one in audited.findings if one.colour == "grey")


def test_one_judge_alone_is_not_known_to_be_fit() -> None:
    """There is nobody to hold it against."""
    rng = np.random.default_rng(1)

    audited = build_judge_audit(seen(table({("a", "accuracy"): rng.normal(5, 1, (30, 2))}, asked=rubric(ALONE))))

    assert audited.fit == "not known"
    assert "second judge" in audited.next_step


@pytest.mark.parametrize(("samples", "variants"), [(1, 1), (1, 2), (2, 1), (3, 2)])
@pytest.mark.parametrize("judges", [1, 2, 3])
def test_small_runs_are_audited_without_a_fault(samples: int, variants: int, judges: int) -> None:
    """Constant answers, missing answers, one of everything: a defined answer or why there is none, never NaN."""
    for filled, repeats in product((5.0, np.nan), (1, 2)):
        answers = np.full((samples, variants, repeats), 5.0)
        answers[0, 0, 0] = filled
        given = {(f"j{place}", id): answers for place in range(judges) for id in rubric().leaves}

        audited = build_judge_audit(seen(table(given, variants=[f"v{place}" for place in range(variants)])))

        assert "NaN" not in json.dumps(encode_calibration_audit(audited))
        assert audited.findings


def test_a_run_without_judges_is_refused() -> None:
    """There is nothing to audit, and it says so."""
    with pytest.raises(InputError, match="no judge answered"):
        build_judge_audit(seen(table({})))


@settings(max_examples=15)
@given(st.permutations(range(10)), st.integers(0, 5))
def test_the_order_of_samples_decides_nothing(order: list[int], seed: int) -> None:
    """The same samples in another order give the same findings."""
    rng = np.random.default_rng(seed)
    given = {(judge, id): rng.integers(1, 11, (10, 2)).astype(float) for judge in "ab" for id in rubric().leaves}
    length, seat = rng.integers(50, 500, (10, 2)), rng.permuted(np.array([[1, 2]] * 10), axis=1)

    def looked_at(by: Any) -> dict[str, Any]:
        answers = {key: column[by] for key, column in given.items()}
        return encode_calibration_audit(
            build_judge_audit(seen(table(answers, length=length[by], seats={"a": seat[by]})))
        )

    assert looked_at(np.arange(10)) == looked_at(np.array(order))


@settings(max_examples=15)
@given(st.integers(0, 20))
def test_the_names_of_judges_decide_nothing(seed: int) -> None:
    """Judges that change their names change nothing but the names."""
    rng = np.random.default_rng(seed)
    one, other = rng.integers(1, 11, (2, 10, 2)).astype(float)

    first, second = (build_judge_audit(seen(two_judges(*pair))) for pair in ((one, other), (other, one)))

    for name in ("harshness", "ceiling", "floor", "spread"):
        assert found(first, name, "a").value == pytest.approx(found(second, name, "b").value)
    assert found(first, "agreement").value == pytest.approx(found(second, "agreement").value)


def test_the_data_stay_small_with_many_judges_and_criteria() -> None:
    """Worst first, and the others counted."""
    weights = {f"criterion-{place}": str(1 / 10) for place in range(10)}
    rng = np.random.default_rng(1)
    given = {
        (f"openai-compatible:http://127.0.0.1/v1/model-{judge}", id): rng.integers(1, 11, (10, 2)).astype(float)
        for judge in range(20)
        for id in weights
    }

    data = encode_calibration_audit(build_judge_audit(seen(table(given, asked=rubric(weights)))))

    assert len(json.dumps(data, ensure_ascii=False).encode()) < 50_000
    assert data["not_listed"] > 0
    assert sum(data["colours"].values()) == len(data["findings"]) + data["not_listed"]


def test_of_two_judges_with_one_fault_the_worse_is_named() -> None:
    """By its number, not by its name; and abstentions that are in the number are in the sentence."""
    rng = np.random.default_rng(2)
    scores = rng.normal(5, 2, (30, 2))
    counts = {
        "a": AuditedJudgeAnswerCounts(answered=94, failed=6),
        "b": AuditedJudgeAnswerCounts(answered=43, failed=1, abstained=6),
    }

    audited = build_judge_audit(seen(two_judges(scores, scores + 0.01), answer_counts=counts))

    assert audited.headline == (
        "Fit to decide: no. Worst is failures of b: 1 of its 50 answers failed or could not be read; it "
        "abstained 6 times: 14% have no answer."
    )


def test_the_judge_that_agrees_least_comes_first() -> None:
    """Where less is worse, too."""
    rng = np.random.default_rng(3)
    good = rng.normal(5, 1.5, (60, 2))
    given = {
        (judge, "accuracy"): good + rng.normal(0, noise, (60, 2)) for judge, noise in (("a", 3), ("b", 0.2), ("c", 9))
    }

    audited = build_judge_audit(seen(table(given, asked=rubric(ALONE))))

    apart = [one.judge for one in audited.findings if one.name == WITH_OTHERS and one.colour == "red"]
    assert apart[0] == "c"
    assert len(apart) > 1


@pytest.mark.parametrize("layers", [{}, {"fact": np.full((30, 2), 5.0), "judge": np.full((30, 2), 3.0)}])
def test_a_ranking_by_the_rubric_says_that_the_composite_decides(layers: dict[str, Any]) -> None:
    """Only where it is of more than the rubric."""
    scores = np.random.default_rng(4).normal(5, 2, (30, 2))
    given = {(judge, "accuracy"): scores for judge in "ab"}

    says = found(build_judge_audit(seen(table(given, asked=rubric(ALONE), layers=layers))), "ranking stability").says

    decides = " This is by the rubric's score; the verdict of the run goes by the composite of fact and rubric."
    assert says.endswith(decides) == bool(layers)
