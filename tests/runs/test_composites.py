"""Composites beyond the plain mean: weights with a reason, one scale for all layers, and scores at equal length."""

import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from evenhand.errors import EvalError, InputError
from evenhand.evals.eval_file import load_eval
from evenhand.evals.eval_scoring import EvalCompositeSettings
from evenhand.files.rubrics import load_rubric
from evenhand.judging.prompts import load_prompts
from evenhand.model.scale import Scored
from evenhand.runs.adjusted_scores import RunScoredOutputs, adjust_run_result_scores, standardise_run_layers
from evenhand.runs.results import compose_result_score
from evenhand.stats.differences import difference_of
from evenhand.workflows.score import score
from tests.cli.command import evenhand
from tests.runs.stored import frame

WEIGHTED = {
    "name": "weighted", "method": "layered", "why": "a wrong fact costs most",
    "criteria": [
        {"id": "fact", "asks": "?", "weight": 3}, {"id": "behavior", "asks": "?"}, {"id": "judge", "asks": "?"},
    ],
}  # fmt: skip
LAYERS = {"fact": Scored(Fraction(3, 4)), "behavior": Scored(Fraction(1))}
EVAL = """
name: greetings
variants: {old: {}, new: {}}
samples:
SAMPLES
assertions: [{contains: Hello}, {word_count_max: 3}]
rubric: {criteria: [{id: greets, asks: "Does it contain the word 'Hello'?", required: false}]}
"""
WORDS = ("Hello", "Hm", "Hello there and also there", "Well, well, well, well", "Hello, hello")
SAMPLES = "\n".join(
    f"  - {{id: s{at}, input: Hi, outputs: {{old: '{WORDS[at % 5]}', new: 'Hello {WORDS[at % 3]}'}}}}"
    for at in range(12)
)


def write_eval(folder: Path, **more: object) -> Path:
    path = folder / "eval.yaml"
    path.write_text(
        EVAL.replace("SAMPLES", SAMPLES) + yaml.safe_dump(more) if more else EVAL.replace("SAMPLES", SAMPLES)
    )
    return path


def head_of(folder: Path, *arguments: str) -> dict[str, Any]:
    done = evenhand("run", "eval.yaml", "--json", *arguments, folder=folder)
    assert done.returncode < 2, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_layered_rubric_weighs_the_composite_of_a_run_as_it_weighs_a_score() -> None:
    """Fact 4, behavior 5 and judge 4 weigh 3 : 1 : 1: 4.2 in both, and 4.33 only where they weigh alike."""
    weighted, plain = load_rubric(WEIGHTED), load_rubric("layered")
    answers = {"outputs": [{"id": "a", "scores": {"fact": 0.75, "behavior": 1, "judge": 4}}]}
    judged = {
        rubric.name: score(rubric, {"outputs": [{"id": "a", "scores": {"judge": 4}}]}).scorecards[0]
        for rubric in (weighted, plain)
    }

    composites = [compose_result_score(one, "a", LAYERS, judged[one.name]).card.exact for one in (weighted, plain)]

    assert composites == [score(one, answers).scorecards[0].exact for one in (weighted, plain)]
    assert composites == [Fraction(21, 5), Fraction(13, 3)]
    by_eval = compose_result_score(plain, "a", LAYERS, judged["layered"], {"fact": Fraction(3)})
    assert by_eval.card.exact == Fraction(21, 5)
    assert by_eval.steps[0]["why"] == "mean of layers 4.20: fact 0.75 = 4 (weight 3), behavior 1 = 5, rubric 4"  # type: ignore[index]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"weights": {"fact": 3, "judge": 1}}, "weights of layers need a reason"),
        ({"weights": {"facts": 3, "why": "?"}}, "there is no layer 'facts'"),
        ({"weights": {"fact": 0, "why": "?"}}, "must be above 0"),
        ({"weights": {"why": "?"}}, "weights without a layer"),
        ({"weights": 3}, "weights must be a mapping"),
        ({"standardise": "zz"}, "standardise 'zz' is not known"),
        ({"debias": "regres"}, "debias 'regres' is not known"),
        ({"multivariate": "often"}, "multivariate must be true or false"),
        (
            {"rubric": {name: one for name, one in WEIGHTED.items() if name != "why"}},
            "have different weights, and nothing says why",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_right_is_refused_with_its_line(more: Mapping[str, object], says: str, tmp_path: Path) -> None:
    """Before anything is asked."""
    plain = yaml.safe_load(EVAL.replace("SAMPLES", SAMPLES))
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump({**plain, **more}), "utf-8")

    with pytest.raises(EvalError, match=says) as caught:
        load_eval(tmp_path / "eval.yaml", {})

    assert "eval.yaml:" in str(caught.value)


def test_weights_of_layers_without_a_reason_are_pointed_out_by_the_check(tmp_path: Path) -> None:
    """Before a run refuses them."""
    for name, rubric in (("told", WEIGHTED), ("bare", {**WEIGHTED, "why": None})):
        kept = {key: value for key, value in rubric.items() if value is not None}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(kept), "utf-8")

    told, bare = (evenhand("rubric", "check", f"{name}.yaml", folder=tmp_path) for name in ("told", "bare"))

    assert "no 'why'" not in told.stdout + told.stderr
    assert "layers have different weights and no 'why'" in bare.stdout + bare.stderr


def test_every_setting_changes_the_fingerprint_and_the_reason_does_not(tmp_path: Path) -> None:
    """Scores that were computed in another way are not silently compared."""
    weights = {"fact": 3, "behavior": 1, "judge": 1}
    settings: list[dict[str, object]] = [
        {}, {"standardise": "off", "debias": "off"}, {"weights": {**weights, "why": "a"}},
        {"weights": {**weights, "why": "b"}}, {"standardise": "z"}, {"standardise": "rank"}, {"debias": "instruct"},
        {"debias": "regress"}, {"multivariate": True},
    ]  # fmt: skip
    marks = []
    for one in settings:
        write_eval(tmp_path, **one)
        planned = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=tmp_path).stdout)
        marks.append(planned["fingerprint"])

    assert marks[0] == marks[1]
    assert marks[2] == marks[3]
    assert len(set(marks)) == len(marks) - 2


def test_a_run_says_how_its_composite_was_computed_and_keeps_five_layers(tmp_path: Path) -> None:
    """In the head, in each result with every step, and on the screen."""
    write_eval(
        tmp_path, weights={"fact": 3, "why": "a wrong fact costs most"}, standardise="rank", debias="regress",
        multivariate=True,
    )  # fmt: skip

    head = head_of(tmp_path)
    report = json.loads(evenhand("report", "latest", "--json", folder=tmp_path).stdout)
    shown = evenhand("runs", "show", "latest", folder=tmp_path).stdout
    again = head_of(tmp_path, "--resume")

    composite = head["composite"]
    assert composite["layers"] == ["fact", "behavior", "judge"]
    assert composite["weights"] == {"fact": 3.0, "behavior": 1.0, "judge": 1.0}
    assert "weighted so because: a wrong fact costs most" in composite["says"]
    assert "the effect of length on judge scores was removed" in composite["says"]
    assert "layers standardised (rank)" in composite["says"]
    assert "composite: weighted mean of fact × 3, behavior × 1, rubric × 1" in " ".join(shown.split())
    assert again["composite"] == composite
    for variant in head["variants"]:
        assert list(variant["five_layers"]) == ["assertion", "llm", "judge", "dimension", "composite"]
        assert variant["five_layers"]["composite"] == variant["composite"]["mean"]
    result = report["samples"][0]["results"][0]
    assert (
        result["five_layers"]["composite"]
        == result["composite"]
        == pytest.approx(result["composite_steps"][-1]["after"], abs=1e-4)
    )
    assert (result["five_layers"]["llm"], result["five_layers"]["judge"]) == (5.0, result["layers"]["judge"])
    assert [step["step"] for step in result["composite_steps"]] == ["layer_mean", "debias", "standardise"]
    assert head["decision"]["comparisons"][0]["together"]["method"] == "Hotelling's T², paired"


def test_runs_that_were_standardised_on_their_own_are_not_compared(tmp_path: Path) -> None:
    """The mean rank is 3 in each of them, whatever the outputs are worth; variants of one run are compared."""
    write_eval(tmp_path, standardise="rank")
    runs = [head_of(tmp_path, "--fresh")["run"]["id"] for _ in range(2)]

    apart = evenhand("compare", *(f"{run}:new" for run in runs), folder=tmp_path)
    one = evenhand("compare", runs[0], folder=tmp_path)

    assert apart.returncode == 2
    assert "composites depend on the other outputs of their run" in apart.stderr
    assert one.returncode < 2, one.stderr


def test_plain_composites_say_which_layers_they_are_of(tmp_path: Path) -> None:
    """Also where nothing was asked for."""
    write_eval(tmp_path)

    head = head_of(tmp_path)

    assert head["composite"]["says"] == "mean of fact, behavior, rubric"
    assert head["decision"]["comparisons"][0]["together"] is None


def test_what_needs_all_outputs_cannot_stop_before_them(tmp_path: Path) -> None:
    """Said before anything is asked."""
    samples = "\n".join(f"  - {{id: s{at}, input: Hi, outputs: {{old: a, new: b}}}}" for at in range(30))
    (tmp_path / "eval.yaml").write_text(EVAL.replace("SAMPLES", samples) + "standardise: z\n", "utf-8")

    done = evenhand("run", "eval.yaml", "--until-decided", folder=tmp_path)

    assert done.returncode == 2
    assert "need all outputs" in done.stderr


def test_standardised_layers_have_one_spread_and_keep_their_order() -> None:
    """A layer of pass or fail no longer outweighs a judge who uses two levels of five."""
    rng = np.random.default_rng(1)
    layers = {"fact": rng.choice([1.0, 5.0], 200), "judge": rng.choice([3.0, 4.0], 200), "flat": np.full(200, 4.0)}

    by_z, by_rank = standardise_run_layers(layers, "z"), standardise_run_layers(layers, "rank")

    assert by_z["fact"].std() == pytest.approx(by_z["judge"].std())
    assert by_z["fact"].mean() == pytest.approx(by_z["judge"].mean())
    for found in (by_z, by_rank):
        for name, column in layers.items():
            assert (np.diff(found[name][np.argsort(column, kind="stable")]) >= 0).all()
            assert found[name].min() >= 1
            assert found[name].max() <= 5
        assert np.ptp(found["flat"]) == 0
    assert by_rank["fact"].mean() == pytest.approx(3)


def outputs_of(judge: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any]) -> RunScoredOutputs:
    """Two outputs per sample, the control's first; rows are samples."""
    flat, n = judge.reshape(-1), len(judge)
    return RunScoredOutputs(
        places={},
        variants=["old", "new"] * n,
        positions=[at for at in range(n) for _ in range(2)],
        lengths=lengths.reshape(-1).tolist(),
        layers=[{"judge": str(Fraction(float(one)))} for one in flat],
        composites=flat.tolist(),
        weights=[{}] * len(flat),
    )


def test_a_reward_for_length_alone_is_no_progress() -> None:
    """A treatment twice as long and no better: 400 comparisons of 24 samples, alarms at most 5 in 100."""
    rng, alarms = np.random.default_rng(7), {"off": 0, "regress": 0}
    of = frame(["old", "new"], composite=EvalCompositeSettings(debias="regress"))
    for _ in range(400):
        lengths = np.round(100 * 2 ** (rng.normal(0, 0.5, (24, 2)) + np.array([0, 1]))).clip(1)
        judge = np.clip(3 + 0.4 * np.log2(lengths / 140) + rng.normal(0, 0.5, (24, 2)), 1, 5)
        adjusted = adjust_run_result_scores(outputs_of(judge, lengths), of).composites.reshape(-1, 2)
        for name, table in (("off", judge), ("regress", adjusted)):
            alarms[name] += difference_of(table[:, 1] - table[:, 0], rng=np.random.default_rng(0)).p < 0.05

    assert alarms["off"] > 200
    assert alarms["regress"] <= 0.05 * 400 + 10


def test_where_length_cannot_be_measured_scores_stay_and_it_is_said() -> None:
    """All outputs are equally long, or too few."""
    of = frame(["old", "new"], composite=EvalCompositeSettings(debias="regress"))
    judge = np.tile([3.0, 4.0], (12, 1))

    found = adjust_run_result_scores(outputs_of(judge, np.full((12, 2), 50.0)), of)

    assert found.composites.tolist() == judge.reshape(-1).tolist()
    assert found.notes[0].startswith("the effect of length could not be measured and was not removed")


@pytest.mark.parametrize(
    ("language", "sentence"), [("en", "A longer output is not a better one."), ("zh", "输出更长并不等于更好。")]
)
def test_judges_are_told_not_to_reward_length_where_it_is_asked_for(language: str, sentence: str) -> None:
    """In every prompt that scores outputs, and in its fingerprint; without it prompts are what they were."""
    plain, told = load_prompts(language), load_prompts(language, ignore_length=True)

    for name in ("pointwise", "checklist", "listwise", "individual", "horizontal", "pairwise", "sampled"):
        halves = [prompts.fill(name, **dict.fromkeys(_places(prompts.texts[name]), "x")) for prompts in (plain, told)]
        assert [sentence in half[0] for half in halves] == [False, True], name
    assert sentence in told.texts["odds"].partition("=== task")[0]
    assert plain.used("pointwise") != told.used("pointwise")


def _places(text: str) -> list[str]:
    return [part.partition("}}")[0] for part in text.split("{{")[1:]]


def test_a_folder_of_prompts_without_the_sentence_is_refused_only_where_it_is_needed(tmp_path: Path) -> None:
    """Texts of one's own that were written before it go on working."""
    from evenhand.files.methods import LIBRARY

    for file in (LIBRARY / "prompts" / "en").iterdir():
        if file.stem != "length":
            (tmp_path / file.name).write_bytes(file.read_bytes())

    assert load_prompts(str(tmp_path)).texts
    with pytest.raises(InputError, match=r"length\.md"):
        load_prompts(str(tmp_path), ignore_length=True)
