"""`judge` and `run` never disagree about one output: the gate of the judge layer follows the verdicts of the method."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand.compare.run_decision import decide_between_run_variants
from evenhand.evals.eval_file import load_eval
from evenhand.files.methods import list_method_yaml_names, load_method_file
from evenhand.files.rubrics import load_rubric
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.model.scorecard import Scores
from evenhand.runs.results import compose_result_score
from evenhand.runs.run_record import RunEvalRecord, run_rubric_snapshot_json
from evenhand.runs.summary import summarise_results
from evenhand.scoring.scores_json import scorecard_to_json
from evenhand.wording import spell_exact_fraction
from evenhand.workflows.score import UserScoreLimits, score
from tests.cli.command import evenhand

AROUND = sorted(Fraction(one) + step for one in ("3/5", "4/5") for step in map(Fraction, ("-1/1000", "0", "1/1000")))
OWN_METHOD = {
    "name": "strip", "scale": {"min": 2, "max": 12}, "criterion_scale": {"min": 2, "max": 12},
    "steps": [{"weighted_mean": {}}], "verdicts": {"pass": 8},
}  # fmt: skip


def two_items(method: str, share: Fraction, *, required: bool = False) -> tuple[Rubric, dict[str, object]]:
    """A rubric of two items whose first, alone, is worth a share; and the answers that satisfy it."""
    weights = {"first": share.numerator, "second": share.denominator - share.numerator}
    criteria = [
        {"id": id, "asks": "?", "weight": weight, "required": required and id == "second"}
        for id, weight in weights.items()
    ]
    return load_rubric({"name": "two", "method": method, "criteria": criteria}), {"first": True, "second": False}


def decide_as_judge(scores: Scores, *, strict: bool) -> int:
    return UserScoreLimits(strict=strict).exit_code(scores)


def decide_as_run(rubric: Rubric, scores: Scores, *, strict: bool) -> int:
    (card,) = scores.scorecards
    whole = compose_result_score(rubric, card.id, {}, card)
    content: dict[str, Any] = {
        "why": "", "cluster": None, "rubric": rubric.name, "layers": whole.layers, "criteria": {}, "findings": [],
        "assertions": [], "output": {"text": "x", "latency_ms": None, "cost": None}, "judgments": [],
        "scorecard": scorecard_to_json(rubric, card),
    }  # fmt: skip
    row = {
        "position": 0, "variant": "new", "repeat": 0, "key": "k",
        "state": "scored" if whole.card.exact is not None else "incomplete",
        "score": spell_exact_fraction(card.exact), "composite": spell_exact_fraction(whole.card.exact),
        "content": json.dumps(content),
    }  # fmt: skip
    frame = RunEvalRecord(
        name="e", control="new", variants={"new": ""}, judges=("j",), guards=(), assertions=(),
        rubrics=(run_rubric_snapshot_json("", rubric),), gates={"pass_rate": Fraction(1)} if strict else {},
        smallest_effect=Fraction(1, 2), repeats=1, seed=0, fingerprints={},
    )  # fmt: skip
    return decide_between_run_variants(frame, summarise_results(["new"], [row], [])).exit_code


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("share", AROUND, ids=str)
@pytest.mark.parametrize("method", ["checklist", "score-ranges"])
def test_around_the_thresholds_both_say_the_same(method: str, share: Fraction, strict: bool) -> None:
    """A thousandth below, on and above 0.6 and 0.8, with and without --strict."""
    for required in (False, True):  # The second item is not satisfied: a gate fails whatever the score.
        rubric, answers = two_items(method, share, required=required)
        scores = score(rubric, {"outputs": [{"id": "new", "scores": answers}]})

        fails = required or share < Fraction(4 if strict else 3, 5)
        assert decide_as_judge(scores, strict=strict) == fails
        assert decide_as_run(rubric, scores, strict=strict) == fails


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("value", ["7.999", "8", "8.001", "12", "2"])
def test_a_method_of_ones_own_has_its_own_gate(value: str, strict: bool, tmp_path: Path) -> None:
    """8 on 2 to 12 is 3.40 on 1 to 5; a method without `borderline` is the same with --strict."""
    (tmp_path / "strip.yaml").write_text(json.dumps(OWN_METHOD), "utf-8")
    method = load_method_file(tmp_path / "strip.yaml")
    rubric = Rubric(name="own", method=method, criteria=(Criterion(id="all", asks="?", scale=method.criterion_scale),))
    scores = score(rubric, {"outputs": [{"id": "new", "scores": {"all": float(value)}}]})

    assert run_rubric_snapshot_json("", rubric)["judge_gate"] == "17/5"
    assert decide_as_judge(scores, strict=strict) == decide_as_run(rubric, scores, strict=strict) == (float(value) < 8)


@pytest.mark.parametrize("method", list_method_yaml_names())
def test_what_judge_fails_run_fails(method: str) -> None:
    """Every method, from the least answer to the best; one without verdicts of its own is held to 3.50."""
    criteria = [] if method in ("council", "council-v1", "judge-skill", "layered") else _criteria_for(method)
    rubric = load_rubric({"name": method, "method": method, **({"criteria": criteria} if criteria else {})})
    for share in map(Fraction, ("0", "1/2", "3/5", "4/5", "1")):
        answers = {id: _answer_at(leaf.scale, share) for id, leaf in rubric.leaves.items() if leaf.judged}
        scores = score(rubric, {"outputs": [{"id": "new", "scores": answers}]})
        judged, ran = decide_as_judge(scores, strict=False), decide_as_run(rubric, scores, strict=False)

        assert judged <= ran, (method, share)
        if rubric.method.verdicts:
            assert judged == ran, (method, share)
        else:
            assert run_rubric_snapshot_json("", rubric)["judge_gate"] is None


def _criteria_for(method: str) -> list[dict[str, object]]:
    plain: dict[str, object] = {"asks": "?"}
    if method == "oracle":
        return [{"id": id, **plain, "weight": 0.5, "fixed": True} for id in "ab"]
    if method == "points":
        return [{"id": id, **plain, "points": 1} for id in "ab"]
    return [{"id": id, **plain} for id in "ab"]


def _answer_at(scale: Any, share: Fraction) -> object:
    value = scale.min + (scale.max - scale.min) * share
    if scale.yes_no:
        return bool(round(share))
    if scale.bands:
        number = round(value)
        return {"band": next(one.id for one in scale.bands if one.min <= number <= one.max), "score": number}
    return float(value)


EVAL = """
samples: [{id: one, input: Hi, output: Hello there}]
rubric: rubric.yaml
"""
RUBRIC = """
name: greeting
criteria:
  - {id: greets, asks: "Does it contain the word 'Hello'?", weight: 3, required: false}
  - {id: kind, asks: "Does it contain the word 'sorry'?", weight: 2, required: false}
"""


def test_a_score_on_the_line_is_borderline_in_both_commands(tmp_path: Path) -> None:
    """0.6 is borderline and no failure; with --strict it is one, in both."""
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    (tmp_path / "rubric.yaml").write_text(RUBRIC, "utf-8")
    (tmp_path / "output.txt").write_text("Hello there", "utf-8")

    judged = [
        evenhand("judge", "output.txt", "-r", "rubric.yaml", *more, folder=tmp_path) for more in ((), ("--strict",))
    ]
    ran = [evenhand("run", "eval.yaml", "--json", *more, folder=tmp_path) for more in ((), ("--strict",))]

    assert "borderline" in judged[0].stdout
    assert [one.returncode for one in judged] == [one.returncode for one in ran] == [0, 1]
    gates = [
        {gate["gate"]: gate["min"] for gate in json.loads(one.stdout)["decision"]["gates"]["output"]} for one in ran
    ]
    assert gates == [{"judge": 3.4}, {"judge": 3.4, "pass_rate": 1.0}]


def test_a_pass_rate_may_count_borderlines(tmp_path: Path) -> None:
    """In the file `borderline: true` stands beside `min`; without a min, or on another gate, it is refused."""
    file = tmp_path / "eval.yaml"
    (tmp_path / "rubric.yaml").write_text(RUBRIC, "utf-8")
    file.write_text(EVAL + "gates: {pass_rate: {min: 0.8, borderline: true}}\n", "utf-8")

    loaded = load_eval(file, {})
    done = evenhand("run", "eval.yaml", folder=tmp_path)
    strict = evenhand("run", "eval.yaml", "--strict", folder=tmp_path)
    file.write_text(EVAL + "gates: {pass_rate: {borderline: true}, judge: {min: 3}}\n", "utf-8")
    refused = evenhand("run", "eval.yaml", folder=tmp_path)

    assert (loaded.gates, loaded.count_borderline) == ({"pass_rate": Fraction(4, 5)}, True)
    assert (done.returncode, strict.returncode, refused.returncode) == (0, 1, 2)
    assert "a pass rate needs a min" in refused.stderr
    assert "the gate on judge" in refused.stderr
