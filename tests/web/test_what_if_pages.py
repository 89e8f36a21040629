"""What if: a weight is moved, the winner flips, the rubric is saved; and each number is what a rescore gives."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from evenhand import Eval, InputError, run_sync
from evenhand.files.methods import list_rubric_file_names
from evenhand.files.rubric_writing import write_method_yaml, write_rubric_yaml
from evenhand.files.rubrics import load_rubric
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.models.requests import Reply, Request
from evenhand.report.html.rubric_page import build_what_if_report_page, draw_weight_map
from evenhand.report.html.run_page import build_run_report_page
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import restore_run_rubric
from evenhand.scoring.scores import to_scoring_fingerprint_data
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows.history import load_eval_history_trend
from evenhand.workflows.labelling_progress import measure_labelling_progress
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions
from evenhand.workflows.runs import load_run_head
from evenhand.workflows.sensitivity import measure_run_sensitivity
from evenhand.workflows.what_if import (
    ask_what_if_of_run,
    change_rubric_by_controls,
    list_what_if_controls,
    map_weights_of_stored_run,
    save_what_if_rubric_file,
)
from tests.web.browsing import Visitor
from tests.web.stored_runs import StoredRuns, build_help_desk
from tests.workflows.test_what_if_rescored import COUNCIL, build_case

OWN = {"sec-fetch-site": "same-origin"}
RUBRIC: dict[str, Any] = {
    "name": "two-minds",
    "scale": {"min": 1, "max": 10},
    "criteria": [
        {"id": "depth", "asks": "Is it deep?", "weight": 0.7},
        {"id": "brevity", "asks": "Is it short?", "weight": 0.3},
    ],
}


# A method whose weights have to sum to 1, and that gives no verdict unless a criterion gates.
WITHOUT_VERDICTS = {"name": "two-minds", "method": "judge-skill", "criteria": RUBRIC["criteria"]}


LIMITED: dict[str, Any] = {
    "name": "limited",
    "method": "council",
    "criteria": [
        {"id": "accuracy", "asks": "Is it right?", "weight": 0.7},
        {"id": "brevity", "asks": "Is it short?", "weight": 0.3},
    ],
}


@dataclass(frozen=True)
class LengthJudge:
    """A judge for whom long texts are deep, and short ones short; or who says the same of all."""

    name: str = "one"
    same: Mapping[str, int] | None = None

    async def ask(self, request: Request) -> Reply:
        """Scores for what is asked."""
        assert request.about is not None
        long = "long" in request.about.texts["output"]
        scores = {"depth": 9, "brevity": 2} if long else {"depth": 3, "brevity": 10}
        scores["accuracy"] = scores["depth"]
        return await scripted_judge(self.same or scores, name=self.name).ask(request)


def build_two_minds(rubric: Mapping[str, Any] = RUBRIC, **same: int) -> Eval:
    """An eval in which one variant is deep and the other one short; with scores, all outputs get the same."""
    samples = [
        {"id": f"s{at}", "input": "?", "outputs": {"deep": f"a long text {at}", "brief": f"short {at}"}}
        for at in range(6)
    ]
    return Eval(name="two-minds", samples=samples, rubric=rubric, judges=[LengthJudge(same=same or None)])


def test_a_weight_is_moved_the_winner_flips_and_the_rubric_is_saved(
    visitor: Visitor, stored: StoredRuns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By keyboard too: a slider takes arrow keys. The file that is written makes the same winner."""
    monkeypatch.chdir(tmp_path)
    run = run_sync(build_two_minds(), options=RunOptions(place=stored.place)).id
    opened = visitor.open(f"/runs/{run}/what-if")
    page = opened.page
    page.wait_for_selector("#weight-map circle.here:not([hidden])")
    before = page.inner_text("#what-if-winner")
    page.focus("#control-weight-0")
    page.keyboard.press("Home")
    page.wait_for_selector("text=brief is first now, in place of deep.")
    page.fill("input[name=target]", "shorter.yaml")
    page.click("text=Save as a rubric")
    page.wait_for_selector("#what-if-saved >> text=evenhand runs rescore")
    said, winner = page.inner_text("#what-if-saved"), page.inner_text("#what-if-winner")
    again = visitor.open(f"/runs/{run}/what-if?weight-0=0.01").page
    again.fill("input[name=target]", "shorter.yaml")
    again.click("text=Save as a rubric")
    again.wait_for_selector("text=there is such a file already")

    assert before == "deep stays first."
    assert f"evenhand runs rescore {run} --rubric shorter.yaml" in said
    assert winner == "brief is first now, in place of deep."
    assert float(load_rubric(tmp_path / "shorter.yaml").criteria[0].weight) == 0.01
    assert again.is_visible("text=Replace the file that is there")
    assert opened.troubles == []


def test_sliders_say_the_shares_that_the_server_uses(visitor: Visitor, stored: StoredRuns) -> None:
    """A weight of 1 beside one of 0.5 counts two thirds: the number on the slider is not what it counts."""
    rubric = {**RUBRIC, "criteria": [{**one, "weight": 0.5} for one in RUBRIC["criteria"]]}
    run = run_sync(build_two_minds(rubric), options=RunOptions(place=stored.place)).id
    page = visitor.open(f"/runs/{run}/what-if").page
    shares = page.locator("[data-share]")
    expect(shares).to_have_text(["50.0%", "50.0%"])
    page.focus("#control-weight-0")
    page.keyboard.press("End")
    expect(shares).to_have_text(["66.7%", "33.3%"])

    expect(page.locator("#what-if-shares")).to_contain_text("66.7%")
    expect(page.locator(".control.changed .was")).to_have_text(["0.5"])


@pytest.mark.parametrize("kind", ["tree", "points"])
def test_the_dots_of_the_map_stand_where_the_criteria_weigh(visitor: Visitor, stored: StoredRuns, kind: str) -> None:
    """Axes are criteria that judges answer; in a tree sliders are of nodes too, and points are no weights."""
    deep, brief = RUBRIC["criteria"]
    nested = {"criteria": [{"id": "form", "weight": 3, "children": [deep, brief]}, {"id": "rest", "asks": "And else?"}]}
    points = {"method": "points", "criteria": [{"id": one["id"], "asks": "?", "points": 4} for one in (deep, brief)]}
    rubric = {"name": kind, **(nested if kind == "tree" else points)}
    run = run_sync(build_two_minds(rubric, depth=1, brevity=0, rest=1), options=RunOptions(place=stored.place)).id
    opened = visitor.open(f"/runs/{run}/what-if")
    dot = opened.page.locator("#weight-map circle.here:not([hidden])")
    dot.wait_for(state="attached")
    before = dot.get_attribute("cx")
    opened.page.focus("#control-weight-0")
    opened.page.keyboard.press("Home")
    expect(dot).not_to_have_attribute("cx", before or "")

    assert opened.troubles == []
    expect(opened.page.locator("summary").first).to_have_text("Weights" if kind == "tree" else "Points")


@pytest.fixture(scope="module")
def helped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, str]:
    """A store with a run of three judges that differ."""
    place = tmp_path_factory.mktemp("what-if") / "store"
    run = run_sync(build_help_desk(better=6, lean=1), options=RunOptions(place=place)).id
    return Store.open(place, {}), run


def test_nothing_changed_is_what_is_stored(helped: tuple[Store, str]) -> None:
    """To the last digit, or every other answer would be off by as much."""
    asked = ask_what_if_of_run(*helped)

    assert (asked.found.moved, asked.found.flipped, asked.beyond) == (0, 0, 0)
    assert all(one.before == one.after for one in asked.found.variants)


@pytest.mark.parametrize(
    "changed",
    [
        {"weight-0": "0.05", "weight-2": "0.9"},
        {"verdict-0": "0.5", "verdict-1": "0.36"},
        {"gate-2": "6", "weight-1": "1"},
    ],
)
def test_the_answer_is_what_a_rescore_gives(
    helped: tuple[Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str]
) -> None:
    """The page answers by columns; a rescore goes through every judgment, exactly, with the file that was saved."""
    monkeypatch.chdir(tmp_path)
    store, run = helped
    asked = ask_what_if_of_run(store, run, changed)
    save_what_if_rubric_file(store, run, changed, "changed.yaml")
    table = load_run_columns(store, rescore_run(store, run, "changed.yaml")["run"]["id"])
    fails = table.marks["verdict"] == 0

    for at, one in enumerate(asked.found.variants):
        own = table.variant == at
        assert one.after == pytest.approx(float(np.mean(table.score[own])), abs=1e-9)
        assert one.verdicts["fail"][1] == pytest.approx(float(np.mean(fails[own])))


def test_a_rescored_run_is_asked_by_the_rubric_that_scored_it(
    helped: tuple[Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved, rescored and asked again, the page starts from the saved numbers; so does the analysis of weights."""
    monkeypatch.chdir(tmp_path)
    store, run = helped
    changed = {"weight-0": "0.05", "verdict-0": "0.5", "verdict-1": "0.36"}
    first = ask_what_if_of_run(store, run, changed)
    save_what_if_rubric_file(store, run, changed, "again.yaml")
    rescored = rescore_run(store, run, "again.yaml")["run"]["id"]
    again = ask_what_if_of_run(store, rescored)
    weights = measure_run_sensitivity(store, rescored, draws=20, seed=0, spread=0.2).rankings[0].parts

    assert again.stored == {one.name: one.value for one in first.controls}
    assert (again.found.moved, again.found.flipped, again.beyond) == (0, 0, 0)
    assert [one.before for one in again.found.variants] == pytest.approx([one.after for one in first.found.variants])
    assert weights[0].weight == pytest.approx(0.05 / 0.55)


def test_a_run_that_did_not_keep_its_rubric_says_to_rescore_it(
    helped: tuple[Store, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stores hold runs that were rescored before their rubric was kept; weights of another one would mislead."""
    store, run = helped
    row = dict(store.find_run(run))
    setup = {**json.loads(row["setup"]), "rescored_from": "20260101-first"}
    monkeypatch.setattr(Store, "find_run", lambda *_: {**row, "id": "old", "setup": json.dumps(setup)})

    with pytest.raises(InputError, match=r"did not keep the rubric.*runs rescore 20260101-first"):
        ask_what_if_of_run(store, "old")


@pytest.mark.parametrize("name", list_rubric_file_names())
def test_a_rubric_comes_back_from_what_a_run_keeps_and_from_its_file(name: str, tmp_path: Path) -> None:
    """What is saved scores as what was shown: restored from the run, written, read."""
    rubric = load_rubric(name)
    restored = restore_run_rubric(json.loads(json.dumps(to_scoring_fingerprint_data(rubric))))
    (tmp_path / "method.yaml").write_text(write_method_yaml(rubric.method), "utf-8")
    (tmp_path / "rubric.yaml").write_text(write_rubric_yaml(rubric, "method.yaml"), "utf-8")

    assert restored == rubric
    assert [type(one) for one in restored.method.steps] == [type(one) for one in rubric.method.steps]
    assert load_rubric(tmp_path / "rubric.yaml") == rubric


def test_examples_of_a_criterion_come_back_too(tmp_path: Path) -> None:
    """People's examples are part of what judges were asked: a saved rubric without them is another one."""
    example = {"passage": "Open Orders.", "score": 9, "why": "names the page"}
    first, *rest = RUBRIC["criteria"]
    rubric = load_rubric({**RUBRIC, "criteria": [{**first, "examples": [example]}, *rest]})
    (tmp_path / "rubric.yaml").write_text(write_rubric_yaml(rubric, rubric.method.name), "utf-8")

    assert rubric.criteria[0].examples
    assert restore_run_rubric(json.loads(json.dumps(to_scoring_fingerprint_data(rubric)))) == rubric
    assert load_rubric(tmp_path / "rubric.yaml") == rubric


def test_score_ranges_are_saved_as_ranges(tmp_path: Path) -> None:
    """A criterion that has ranges in place of a question was saved with a scale and anchors: it asked nothing."""
    ranges = {0: "Fails.", 4: "Rarely right.", 7: "Right.", 9: "Exemplary."}
    criteria = [{"id": "correct", "required_min_score": 5, "score_ranges": ranges}, {"id": "kind", "asks": "Is it?"}]
    rubric = load_rubric({"name": "code", "method": "score-ranges", "criteria": criteria})
    (tmp_path / "rubric.yaml").write_text(write_rubric_yaml(rubric, "score-ranges"), "utf-8")

    assert load_rubric(tmp_path / "rubric.yaml") == rubric


def test_ceilings_move_and_weights_that_must_sum_to_one_do() -> None:
    """Council refuses other sums: what is dragged is put in proportion."""
    council = load_rubric("council")
    changed = change_rubric_by_controls(council, {"weight-0": "0.7", "at-1": "2"})

    assert sum(one.weight for one in changed.criteria) == 1
    assert float(changed.criteria[0].weight) == pytest.approx(0.7 / 1.35)
    assert changed.method.steps[1].at == 2  # type: ignore[attr-defined]


def test_weights_that_must_sum_to_one_are_saved_as_decimals_that_do(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown, what is scored and what is saved are the same weights, and the file has a name of its own."""
    monkeypatch.chdir(tmp_path)
    run = run_sync(build_two_minds(WITHOUT_VERDICTS), options=RunOptions(place=tmp_path / "store")).id
    sent = {"weight-0": "0.3", "weight-1": "0.15"}
    page = client.get(f"/runs/{run}/what-if", params=sent).text
    kept = dict(re.findall(r'type="hidden" name="(weight-\d)" value="([\d.]+)"', page))
    saved = client.post(f"/runs/{run}/what-if", data={**kept, "target": "brief.yaml"}, headers=OWN)
    found = load_rubric(tmp_path / "brief.yaml")

    assert kept == sent and saved.status_code == 303
    assert re.findall(r"data-share-of=\"weight-\d\">([\d.]+%)", page) == ["66.7%", "33.3%"]
    assert re.findall(r'type="range"[^>]* value="([\d.]+)" data-label="\w+" data-kind="Weights"', page) == [
        "0.3",
        "0.15",
    ]
    assert [str(float(one.weight)) for one in found.criteria] == ["0.666667", "0.333333"]
    assert found.name == "brief"


def test_a_first_verdict_is_no_flip(tmp_path: Path) -> None:
    """A method without verdicts gets some by a gate; nothing passed or failed before."""
    place = tmp_path / "store"
    run = run_sync(build_two_minds(WITHOUT_VERDICTS), options=RunOptions(place=place)).id
    with Store.open(place, {}) as store:
        stored = build_what_if_report_page(ask_what_if_of_run(store, run))
        gated = build_what_if_report_page(ask_what_if_of_run(store, run, {"gate-0": "5"}))
        trend = load_eval_history_trend(store, "two-minds").points
        progress = measure_labelling_progress(store, run, "ada")
        shown = build_run_report_page(load_run_head(store, run))

    assert stored["flipped"] == "Of 12 outputs, 0 scores move, and 0 verdicts flip."
    assert gated["flipped"] == "Of 12 outputs, 0 scores move, and 12 outputs get a verdict for the first time."
    assert gated["rows"][0].shares[:3] == [
        ("fail", "", "0%"),
        ("borderline", "", "0%"),
        ("pass", "", "100%"),
    ]
    assert {one.pass_rate for one in trend} == {None}
    assert not any("pass" in one.kind for several in progress.widths.values() for one in several)
    assert shown["shares"] == {}


def test_the_map_says_where_the_winner_turns(tmp_path: Path) -> None:
    """Deep leads by 6 of 9 where brief leads by 8 of 9: level where depth weighs 8 to 6."""
    place = tmp_path / "store"
    run = run_sync(build_two_minds(), options=RunOptions(place=place)).id
    with Store.open(place, {}) as store:
        found = map_weights_of_stored_run(store, run)

    assert not isinstance(found, str)
    assert (found.across, found.up) == ("depth", "brevity")
    assert all((winner == 0) == ((i + 0.5) * 6 > (j + 0.5) * 8) for i, j, winner in found.cells)


def test_what_cannot_be_is_said_beside_the_run_as_it_is(client: TestClient, tmp_path: Path) -> None:
    """A pass below borderline, no number, a weight of nothing: the rubric's own words, and no crash."""
    run = run_sync(build_two_minds(), options=RunOptions(place=tmp_path / "store")).id
    for query, says in (
        ("verdict-0=0.1", "verdicts must fall"),
        ("weight-0=x", "is no number"),
        ("weight-0=-1", "above 0"),
    ):
        page = client.get(f"/runs/{run}/what-if?{query}")

        assert page.status_code == 422 and says in page.text and "deep stays first." in page.text


def test_a_run_of_a_cascade_says_that_it_cannot_be_asked(client: TestClient, tmp_path: Path) -> None:
    """Which outputs the strong judge saw hangs on the numbers that would be moved."""
    samples = [{"id": "a", "input": "?", "output": "a long text"}]
    judges = [LengthJudge(), LengthJudge("two")]
    eval = Eval(name="two", samples=samples, rubric=RUBRIC, judges=judges, how=JudgeOptions(cascade=Cascade()))
    run = run_sync(eval, options=RunOptions(place=tmp_path / "store"))

    page = client.get(f"/runs/{run.id}/what-if")

    assert page.status_code == 422 and "The judges of this run are a cascade" in page.text


@pytest.mark.parametrize("weights", [(2, 1, 1), (0.05, 5, 1), (0.7, 0.2, 0.1), (40, 25, 35)])
def test_sliders_of_weights_can_stand_where_the_weights_are(weights: tuple[float, ...]) -> None:
    """A slider counts its steps from its low end: from 0.01 on in steps of 0.1, a weight of 2 was shown as 2.01."""
    criteria = [{"id": f"c{at}", "asks": "Is it?", "weight": weight} for at, weight in enumerate(weights)]
    rubric = load_rubric({"name": "r", "scale": {"min": 1, "max": 10}, "criteria": criteria})

    for one in (one for one in list_what_if_controls(rubric) if one.kind == "Weights"):
        steps = (one.value - one.low) / one.step
        assert one.low > 0 and one.low <= one.value and abs(steps - round(steps)) < 1e-9


def test_what_was_saved_is_said_with_both_files(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ceiling belongs to the method, which has a file of its own: that is no rubric, and not listed as one."""
    monkeypatch.chdir(tmp_path)
    run = run_sync(build_two_minds({**LIMITED}), options=RunOptions(place=tmp_path / "store")).id
    sent = {"at-1": "3.5", "target": "lower.yaml"}
    page = client.post(f"/runs/{run}/what-if", data=sent, headers=OWN, follow_redirects=True).text
    forged = client.get(f"/runs/{run}/what-if?saved=../../etc/passwd&saved=nothing.yaml").text

    assert "lower.yaml" in page and "lower-method.yaml, the method that it names" in page
    assert f"evenhand runs rescore {run} --rubric lower.yaml" in page
    assert "what-if-saved" not in forged
    assert (tmp_path / "lower-method.yaml").is_file()
    listed = client.get("/rubrics").text
    assert "lower.yaml" in listed and "lower-method.yaml" not in listed


def test_the_map_follows_moved_ceilings(visitor: Visitor, stored: StoredRuns) -> None:
    """Without a word from the page, it would show the map of another rubric than the headline above it."""
    run = run_sync(build_case(COUNCIL, 3), options=RunOptions(place=stored.place)).id
    with Store.open(stored.place, {}) as store:
        maps = [map_weights_of_stored_run(store, run, changed=one) for one in ({}, {"at-2": "0"})]
    before, after = (draw_weight_map(one).says for one in maps)
    opened = visitor.open(f"/runs/{run}/what-if")
    drawn = opened.page.locator("#weight-map svg")
    expect(drawn).to_have_attribute("aria-label", before)
    opened.page.focus("#control-at-2")
    opened.page.keyboard.press("Home")
    expect(drawn).to_have_attribute("aria-label", after)

    assert before != after
    assert opened.troubles == []


def test_another_sites_page_saves_nothing(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a name that leads out of the folder."""
    monkeypatch.chdir(tmp_path)
    run = run_sync(build_two_minds(), options=RunOptions(place=tmp_path / "store")).id
    sent = {"target": "x.yaml"}
    foreign = client.post(f"/runs/{run}/what-if", data=sent, headers={"sec-fetch-site": "cross-site"})
    outside = client.post(f"/runs/{run}/what-if", data={"target": "../x.yaml"}, headers=OWN)

    assert (foreign.status_code, outside.status_code) == (403, 409)
    assert not list(tmp_path.glob("*.yaml"))
