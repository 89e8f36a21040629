"""What if says nothing that its own table denies: one set of samples, no rank without a score, and who decides."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from evenhand import Eval, run_sync
from evenhand.models.requests import Reply, Request
from evenhand.report.html.rubric_page import build_what_if_report_page
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows.run import RunOptions
from evenhand.workflows.sensitivity import measure_run_sensitivity
from evenhand.workflows.what_if import ask_what_if_of_run, map_weights_of_stored_run
from tests.web.browsing import Visitor
from tests.web.stored_runs import StoredRuns

TEN: dict[str, Any] = {
    "name": "ten",
    "scale": {"min": 1, "max": 10},
    "criteria": [{"id": "depth", "asks": "Is it deep?"}, {"id": "brevity", "asks": "Is it short?"}],
}
PARTS = {
    "name": "parts",
    "criteria": [
        {"id": id, "asks": f"Does it do {id}?", "weight": weight, "required": False}
        for id, weight in (("x", 1), ("y", 3), ("z", 1))
    ],
}


class ReadingJudge:
    """A judge whose scores the output spells: `depth=9 brevity=2`; of others it makes nothing."""

    name = "reading"

    async def ask(self, request: Request) -> Reply:
        """What is spelled."""
        assert request.about is not None
        spelled = dict(one.split("=") for one in request.about.texts["output"].split() if "=" in one)
        if not spelled:
            raise OSError("nothing to read")
        return await scripted_judge({id: float(value) for id, value in spelled.items()}, name=self.name).ask(request)


def asked_about(
    place: Path,
    outputs: Mapping[str, Sequence[str]],
    rubric: Mapping[str, Any] = TEN,
    changed: Mapping[str, str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The page about a run of these outputs, with the run as `id` and its store as `store`."""
    rows = zip(*outputs.values(), strict=True)
    samples = [
        {"id": f"s{at}", "input": "?", "outputs": dict(zip(outputs, row, strict=True))} for at, row in enumerate(rows)
    ]
    run = run_sync(
        Eval(name="words", samples=samples, rubric=rubric, judges=[ReadingJudge()], **more),
        options=RunOptions(place=place),
    ).id
    store = Store.open(place, {})
    return {**build_what_if_report_page(ask_what_if_of_run(store, run, changed)), "store": store, "id": run}


def spell(*scores: int | None) -> list[str]:
    """Outputs whose criteria all have a score, or that nobody can read."""
    return ["mute" if one is None else f"depth={one} brevity={one}" for one in scores]


def test_rank_means_and_lead_are_over_the_samples_that_all_have(tmp_path: Path) -> None:
    """Over all its outputs the first is better (6.5 to 3.5 of 1 to 10), on the two that both have it is 1 behind."""
    page = asked_about(tmp_path, {"old": spell(9, 9, 4, 4, None, None), "new": spell(None, None, 5, 5, 2, 2)})

    assert page["headline"] == "new stays first."
    assert [(one.given.rank_after, one.after) for one in page["rows"]] == [(2, "0.333"), (1, "0.444")]
    assert page["lead"].startswith("Ahead of old by 0.11 ")
    assert page["counted"] == (
        "Means, ranks and the lead are over the 2 samples that every variant has a score for; 4 are left out."
    )


def test_a_run_without_scores_has_no_winner(tmp_path: Path) -> None:
    """No rank, no nan, and the map says what is missing."""
    page = asked_about(tmp_path, {"old": spell(None, None), "new": spell(None, None)})

    assert page["headline"] == "Nothing was scored: no other weights would change that."
    assert (page["lead"], page["counted"], page["flipped"]) == ("", "", "")
    assert [(one.given.rank_after, one.before, one.after, one.change) for one in page["rows"]] == [
        (None, "–", "–", "–")
    ] * 2
    assert map_weights_of_stored_run(page["store"], page["id"]) == (
        "No sample has a score of every variant: there is nothing to map."
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (spell(4, 4), spell(None, None), "old is the only variant with a score."),
        (spell(4, None), spell(None, 4), "No sample has a score of every variant: they cannot be ranked."),
    ],
)
def test_variants_that_share_no_sample_are_not_ranked(
    tmp_path: Path, old: Sequence[str], new: Sequence[str], said: str
) -> None:
    """Each keeps its mean."""
    page = asked_about(tmp_path, {"old": old, "new": new})

    assert page["headline"] == said
    assert page["rows"][0].after == "0.333"
    assert page["lead"] == ""


def test_the_winner_by_the_composite_stands_beside(tmp_path: Path) -> None:
    """By the rubric new leads, 9 to 7; by the composite it has 1 for its facts: (1 + 4.56) / 2 to (5 + 3.67) / 2."""
    outputs = {"old": [f"{one} exact" for one in spell(7, 7, 7)], "new": spell(9, 9, 9)}

    page = asked_about(tmp_path, outputs, assertions=[{"contains": "exact"}])

    assert page["headline"] == "new stays first."
    assert page["by_composite"].startswith(
        "This page ranks by the rubric's score; the verdict of a run goes by the composite of fact and rubric. "
        "By the composite, old is first, ahead of new by 1.56 "
    )


def test_the_lead_and_the_samples_are_those_of_the_analysis_of_weights(tmp_path: Path) -> None:
    """Two pages of one run gave two intervals for one lead, and counted repeats beside samples as left out."""
    old, new = spell(4, 5, 3, 6, 4, 5, 6, 4, None), spell(6, 5, 5, 8, 4, 7, 6, 5, 5)

    page = asked_about(tmp_path, {"old": old, "new": new}, repeats=2)
    other = measure_run_sensitivity(page["store"], page["id"], draws=20, seed=0, spread=0.2).rankings[0]

    found = ask_what_if_of_run(page["store"], page["id"]).found
    assert other.gap is not None
    assert found.lead == pytest.approx((other.gap.estimate, other.gap.low, other.gap.high))
    assert (found.samples, found.left_out) == (other.samples, other.left_out) == (8, 1)


def test_too_few_samples_for_an_interval_are_said(tmp_path: Path) -> None:
    """Nothing is sure of two samples: no interval that the test does not give."""
    page = asked_about(tmp_path, {"old": spell(4, 5), "new": spell(5, 6)})

    assert page["lead"] == (
        "Ahead of old by 0.11 (too few samples for a 95% interval): no more than the noise of the samples."
    )


def test_a_rubric_that_is_all_there_is_needs_no_second_winner(tmp_path: Path) -> None:
    """The composite is the same score."""
    assert asked_about(tmp_path, {"old": spell(4, 5), "new": spell(9, 9)})["by_composite"] == ""


def test_flips_that_are_not_listed_are_counted_and_each_kind_is_there(tmp_path: Path) -> None:
    """Fifteen go from 0.2 to 0.69, the one that goes from 0.6 to 0.23 moves least and is the only loss."""
    gain, loss = "x=1 y=0 z=0", "x=0 y=1 z=0"

    page = asked_about(tmp_path, {"old": [gain] * 8, "new": [*[gain] * 7, loss]}, PARTS, {"weight-0": "9"})

    kinds = [(one.given.verdict_before, one.given.verdict_after) for one in page["flips"]]
    assert len(kinds) == 12
    assert kinds[-1] == ("borderline", "fail")
    assert page["flipped"] == (
        "Of 16 outputs, 16 scores move, and 16 verdicts flip. Listed are 12, those that moved most and at least one of "
        "each kind; 4 more are not."
    )


def test_a_run_that_cannot_be_asked_offers_no_link_and_leads_back(client: TestClient, tmp_path: Path) -> None:
    """The link led to a refusal whose only way on was the first page, with “there are no scores to weigh” as remedy."""
    place, samples = tmp_path / "store", [{"id": "a", "input": "?", "outputs": {"old": "short", "new": "longer"}}]
    pairs = {**TEN, "dialogue": "pairwise"}
    prefers = scripted_judge('{"winner": "A", "reason": "it is"}')
    judged = run_sync(
        Eval(name="pairs", samples=samples, rubric=pairs, judges=[prefers]), options=RunOptions(place=place)
    ).id
    asked = run_sync(
        Eval(name="plain", samples=samples, rubric=TEN, judges=[scripted_judge({"depth": 4, "brevity": 5})]),
        options=RunOptions(place=place),
    ).id

    refused = client.get(f"/runs/{judged}/what-if")

    assert "/what-if" not in client.get(f"/runs/{judged}").text
    assert f"/runs/{asked}/what-if" in client.get(f"/runs/{asked}").text
    assert refused.status_code == 422
    assert "a rubric whose method scores each output" in refused.text
    assert f'<a href="/runs/{judged}">Back to the run</a>' in refused.text


def test_shares_of_twelve_grades_fit_the_page(visitor: Visitor, stored: StoredRuns) -> None:
    """They stood on one line that ended at C+; without verdicts there was a column of “– → –”."""
    criteria = [{**one, "weight": 0.5} for one in TEN["criteria"]]
    outputs = [f"depth={one} brevity={other}" for one in range(1, 11) for other in range(1, 11)]
    samples = [{"id": f"s{at}", "input": "?", "outputs": {"old": one, "new": one}} for at, one in enumerate(outputs)]
    eval = Eval(
        name="graded",
        samples=samples,
        rubric={"name": "graded", "method": "judge-skill", "criteria": criteria},
        judges=[ReadingJudge()],
    )
    run = run_sync(eval, options=RunOptions(place=stored.place)).id
    page = visitor.open(f"/runs/{run}/what-if?weight-0=0.2", viewport={"width": 1280, "height": 900}).page
    table = page.locator("[aria-label=Variants]")

    assert len(re.findall("%", table.locator("td").last.inner_text())) > 12
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
    expect(page.locator("[aria-label='Outputs that change most'] th")).to_have_text(
        ["Sample", "Variant", "Stored", "What if"]
    )


def test_without_verdicts_and_grades_there_is_no_column_for_them(tmp_path: Path) -> None:
    """An empty column says that something is missing."""
    plain = {"name": "plain", "method": "tree", "criteria": PARTS["criteria"]}

    page = asked_about(tmp_path, {"old": ["x=1 y=0 z=0"] * 3, "new": ["x=0 y=1 z=0"] * 3}, plain, {"weight-0": "5"})

    assert page["flips"]
    assert (page["has_shares"], page["has_verdicts"]) == (False, False)
