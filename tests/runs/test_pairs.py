"""Pairs in a run: judges compare outputs, and the verdict rests on how often one is preferred to the control's."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import yaml

from evenhand.cli.run_tables import print_run
from evenhand.errors import InputError
from evenhand.models.requests import Request
from evenhand.report.html.page_file import write_html
from evenhand.report.markdown_report import write_markdown
from evenhand.report.result_phrases import build_report_preference_tables
from evenhand.store.store import Store
from evenhand.workflows.audit import audit_run
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.plan import plan_run
from evenhand.workflows.report import load_run_report
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions, RunResult
from evenhand.workflows.run import run as run_eval

Json = dict[str, Any]
ASKED: list[tuple[str, str]] = []
FAIR, PLACE, MUTE = (f"python:tests.runs.test_pairs:{name}" for name in ("fair", "place", "mute"))
LEANING, COIN = (f"python:tests.runs.test_pairs:{name}" for name in ("leaning", "coin"))


def fair(request: Request) -> str:
    """Prefers the larger number; equal ones are a tie."""
    assert request.about is not None
    texts = dict(request.about.texts)
    first, second = (int(texts[f"response-{label}"].split()[0]) for label in "AB")
    ASKED.append((texts["response-A"], texts["response-B"]))
    winner = "tie" if first == second else "A" if first > second else "B"
    return json.dumps({"reason": "the larger number", "winner": winner})


def place(request: Request) -> str:
    """Prefers what it is shown first."""
    return json.dumps({"reason": "so it seems", "winner": "A"})


def leaning(request: Request) -> str:
    """Prefers the larger number, and the second position where they are equal."""
    told = json.loads(fair(request))
    return json.dumps({**told, "winner": "B" if told["winner"] == "tie" else told["winner"]})


def coin(request: Request) -> str:
    """Goes by what is shown, in whichever order, as if it tossed a coin."""
    assert request.about is not None
    texts = dict(request.about.texts)
    return json.dumps({"winner": "AB"[crc32(f"{texts['response-A']}/{texts['response-B']}".encode()) % 2]})


def mute(request: Request) -> str:
    return "I would rather not say."


def sample(id: str, **numbers: int) -> Json:
    outputs = {name: f"{number} for {id}" for name, number in numbers.items()}
    return {"id": id, "input": f"question {id}", "outputs": outputs}


WINS = [sample(f"s{n}", old=3, new=3 if n % 5 == 0 else 2 if n % 5 == 1 else 9) for n in range(30)]
RUBRIC = {"name": "letters", "criteria": ["It is right"]}


def write(folder: Path, samples: list[Json], **more: object) -> Path:
    eval = {"name": "pairs", "samples": samples, "rubric": RUBRIC, "dialogue": "pairwise", "judges": [FAIR], **more}
    eval = {name: value for name, value in eval.items() if value is not None}
    (folder / "eval.yaml").write_text(yaml.safe_dump(eval, sort_keys=False), "utf-8")
    return folder / "eval.yaml"


def run(folder: Path, samples: list[Json] = WINS, *, resume: bool = False, **more: object) -> RunResult:
    ASKED.clear()
    options = RunOptions(place=folder / "store.db", resume=resume)
    return asyncio.run(run_eval(write(folder, samples, **more), options=options))


def store(folder: Path) -> Store:
    return Store.open(folder / "store.db", {})


def test_the_verdict_tests_how_often_the_treatment_is_preferred(tmp_path: Path) -> None:
    """18 won, 6 tied, 6 lost: preferred 70% of the time, 0.8 points above the middle of 1 to 5."""
    head = run(tmp_path).head

    (comparison,) = head["decision"]["comparisons"]
    assert comparison["composite"]["estimate"] == pytest.approx(4 * 0.7 - 2)
    assert (comparison["wins"], comparison["ties"], comparison["losses"]) == (18, 6, 6)
    assert {one["name"]: one["layers"]["judge"]["mean"] for one in head["variants"]} == {"old": 3.0, "new": 3.8}
    (pair,) = head["preferences"]["pairs"]
    assert (pair["first"], pair["won"], pair["tied"], pair["lost"], pair["rate"]) == ("new", 18, 6, 6, 0.7)
    assert head["preferences"]["strengths"] is None


def test_a_preference_has_one_interval_and_the_control_has_none(tmp_path: Path) -> None:
    """Preferred to the control and scored against it are one number; a half by definition is not uncertain."""
    checks = [{"contains": "9"}]
    heads = [run(tmp_path).head, run(tmp_path, assertions=checks).head]

    for head in heads:
        (old, new), (pair,) = head["variants"], head["preferences"]["pairs"]
        assert [round(new["score"][end], 4) for end in ("mean", "low", "high")] == [
            pair[end] for end in ("rate", "low", "high")
        ]
        assert (old["score"]["mean"], old["score"]["low"], old["layers"]["judge"]["high"]) == (0.5, None, None)
    assert [head["variants"][0]["composite"]["low"] is None for head in heads] == [True, False]


def test_equal_variants_are_even(tmp_path: Path) -> None:
    """All ties: no difference, and no gate is missed by being as good as the control."""
    head = run(tmp_path, [sample(f"s{n}", old=3, new=3) for n in range(6)]).head

    assert head["decision"]["comparisons"][0]["composite"]["estimate"] == 0
    gates = {one["gate"]: (one["min"], one["passed"]) for one in head["decision"]["gates"]["new"]}
    assert gates["judge"] == (3.0, True)


def test_both_orders_are_asked_and_nothing_twice(tmp_path: Path) -> None:
    """A resumed run finds every reply; a changed sample is asked about alone."""
    run(tmp_path, WINS[1:4])
    first = len(ASKED)
    run(tmp_path, WINS[1:4], resume=True)
    again = len(ASKED)
    run(tmp_path, [*WINS[1:3], sample("s3", old=1, new=5)], resume=True)

    assert (first, again) == (6, 0)
    assert sorted(ASKED) == [("1 for s3", "5 for s3"), ("5 for s3", "1 for s3")]


def test_a_judge_that_follows_the_place_decides_nothing(tmp_path: Path) -> None:
    """Its pairs are ties, and its bias is told."""
    head = run(tmp_path, WINS[:6], judges=[PLACE]).head

    (told,) = head["preferences"]["position_bias"]
    assert (told["pairs"], told["followed_place"], told["first_place"]) == (6, 6, 6)
    *_, table = build_report_preference_tables(head)
    assert [name for name, _ in table.columns] == ["position bias", "pairs", "followed the position", "the first one"]
    assert "place" not in table.note
    assert [one["layers"]["judge"]["mean"] for one in head["variants"]] == [3.0, 3.0]


EVEN_WINS = [sample(f"s{n}", old=5, new=9 if n % 2 else 1) for n in range(100)]
MOSTLY_TIES = [sample(f"s{n}", old=5, new=5 if n % 3 else 9 if n % 2 else 1) for n in range(100)]


@pytest.mark.parametrize(
    ("samples", "judges", "hidden", "told"),
    [
        (EVEN_WINS, [PLACE], 2.0, f"{PLACE} picked by position in 100 of 100 pairs"),
        (EVEN_WINS, [FAIR, PLACE], 1.0, f"{PLACE} picked by position in 100 of 100 pairs"),
        (EVEN_WINS, {FAIR: 3, PLACE: 1}, 0.5, f"{PLACE} picked by position in 100 of 100 pairs"),
        (MOSTLY_TIES, [LEANING], 1.32, f"{LEANING} picked by position in 66 of 100 pairs"),
    ],
)
def test_answers_by_position_rule_out_no_difference(
    tmp_path: Path, samples: list[Json], judges: Any, hidden: float, told: str
) -> None:
    """They are ties that nobody decided: the reasons name the judge, and NOISE and "not worse" allow for them."""
    found = run(tmp_path, samples, judges=judges, smallest_effect=1.0)

    for decision in (
        found.head["decision"],
        compare_runs(store(tmp_path), found.id, terms=CompareTerms(not_worse_by=1.0)).to_json()["decision"],
    ):
        (comparison,) = decision["comparisons"]
        expected = "NOISE" if hidden == 0.5 else "UNDERPOWERED"
        assert (decision["verdict"], comparison["layer_verdicts"]["judge"]["verdict"]) == (expected, expected)
        assert decision["exit_code"] == 1 or expected == "NOISE"
        why = next(one for one in decision["reasons"] if "picked by position" in one)
        assert why.startswith(told)
        assert f"could hide a difference of up to {hidden:.2f} points" in why
        assert decision["next_step"].startswith("Ask another judge than") == (expected == "UNDERPOWERED")


@pytest.mark.parametrize(("judge", "samples"), [(COIN, EVEN_WINS), (FAIR, MOSTLY_TIES), (FAIR, EVEN_WINS)])
def test_a_judge_that_follows_no_position_is_not_named(tmp_path: Path, judge: str, samples: list[Json]) -> None:
    """A tossed coin names the same position in half of the pairs, and each position as often."""
    found = run(tmp_path, samples, judges=[judge], smallest_effect=1.0)

    assert "picked_by_position" not in found.head["preferences"]
    assert found.head["decision"]["verdict"] == "NOISE"
    (position,) = [one for one in audit_run(store(tmp_path), found.id).findings if one.name == "position"]
    assert position.colour in ("green", "grey")


@pytest.mark.parametrize(("judge", "samples"), [(PLACE, EVEN_WINS), (LEANING, MOSTLY_TIES)])
def test_the_audit_finds_a_judge_that_follows_the_position(tmp_path: Path, judge: str, samples: list[Json]) -> None:
    """It makes the judge unfit, before anything about its scale."""
    found = audit_run(store(tmp_path), run(tmp_path, samples, judges=[judge]).id)

    assert (found.fit, found.worst and found.worst.name) == ("no", "position")
    assert f"Replace {judge}" in found.next_step


def test_a_panel_counts_by_its_weights(tmp_path: Path) -> None:
    """One says preferred with three votes, the other a tie with one: 7/8."""
    head = run(tmp_path, [sample(f"s{n}", old=1, new=2) for n in range(6)], judges={FAIR: 3, PLACE: 1}).head

    assert head["variants"][1]["score"]["mean"] == 0.875
    assert head["preferences"]["pairs"][0]["rate"] == 0.875


def test_three_variants_have_strengths(tmp_path: Path) -> None:
    """Every pair is asked about; the verdicts are those against the control."""
    samples = [sample(f"s{n}", old=n % 3, new=n % 4 + 1, third=n % 2) for n in range(12)]

    head = run(tmp_path, samples).head

    pairs = [(one["first"], one["second"]) for one in head["preferences"]["pairs"]]
    assert pairs == [("new", "old"), ("third", "old"), ("new", "third")]
    strengths = head["preferences"]["strengths"]["variants"]
    assert strengths[0]["variant"] == "new"
    assert {one["variant"]: one["log_odds"] for one in strengths}["old"] == 0


def test_what_no_judge_decides_has_no_score(tmp_path: Path) -> None:
    """Missing is not a tie, and it is nobody's loss: neither side has a score."""
    head = run(tmp_path, WINS[:6], judges=[MUTE]).head

    assert [one["scored"] for one in head["variants"]] == [0, 0]
    assert head["preferences"]["pairs"][0]["undecided"] == 6


def test_a_missing_output_is_the_loss_of_its_variant(tmp_path: Path) -> None:
    """The control stands where the treatment gave nothing."""
    samples = [*WINS[:5], {"id": "gap", "input": "q", "outputs": {"old": "3 for gap", "new": ""}}]

    head = run(tmp_path, samples).head

    assert [one["scored"] for one in head["variants"]] == [6, 5]
    assert head["decision"]["comparisons"][0]["lost_by_treatment"] == 1


def test_it_is_in_the_terminal_the_markdown_and_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same table everywhere."""
    print_run(run(tmp_path).head)
    written, page = io.StringIO(), io.StringIO()
    with store(tmp_path) as opened:
        id = opened.find_run("latest")["id"]
        write_markdown(*load_run_report(opened, id), written)
        write_html(*load_run_report(opened, id), page)

    assert "| new over old | 18 | 6 | 6 | 70%" in written.getvalue()
    assert '<span class="name">new over old</span></th><td class="n">18</td>' in page.getvalue()
    assert "new over old   18     6     6  70%" in capsys.readouterr().out


def test_a_plan_counts_both_orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two questions for a pair."""
    monkeypatch.chdir(tmp_path)

    assert asyncio.run(plan_run(write(tmp_path, WINS[1:4])))["judges"][0]["calls"] == 6


def test_a_rubric_may_say_it_too(tmp_path: Path) -> None:
    """For whoever shares it between evals."""
    head = run(tmp_path, WINS[:6], dialogue=None, rubric={**RUBRIC, "dialogue": "pairwise"}).head

    assert head["preferences"]["pairs"][0]["first"] == "new"


def test_preferences_stay_in_their_run(tmp_path: Path) -> None:
    """They are over the control of the run: no other rubric, run or control can use them."""
    first, second = run(tmp_path).id, run(tmp_path, WINS[:20]).id

    with store(tmp_path) as opened:
        assert compare_runs(opened, first).decision.comparisons[0].treatment == "new"
        with pytest.raises(InputError, match="judges compared outputs with those of 'old' in that run"):
            compare_runs(opened, f"{first}:new", f"{second}:new")
        with pytest.raises(InputError, match="compared outputs in pairs"):
            rescore_run(opened, first, "code-review")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"judges": ["embedded"]}, "embedded cannot compare outputs"),
        ({"how": {"samples": 3}}, "samples means nothing with dialogue: pairwise"),
        ({"guards": {"injection": "refuse"}}, "injection: refuse means nothing with dialogue: pairwise"),
        ({"variants": {"new": {}}}, "pairs need two variants or more"),
        ({"dialogue": "triples"}, "dialogue 'triples' is not known"),
        (
            {"dialogue": None, "rubrics": {"code": {**RUBRIC, "dialogue": "pairwise"}}},
            "some rubrics compare outputs in pairs and others score each",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_asked(tmp_path: Path, more: Json, told: str) -> None:
    """With what would work."""
    with pytest.raises(InputError) as refused:
        run(tmp_path, WINS[:3], **more)

    assert told in str(refused.value)
    assert ASKED == []
