"""The page of one sample: who decided, what was asked, which pair a reply is about, and what variants do not share."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand import Eval, run_sync
from evenhand.models.requests import Request
from evenhand.workflows.run import RunOptions
from tests.runs.stored import content, keep_run, result, sample
from tests.web.recorded_runs import FailingJudge

RUN = "20261116-090000-aaaaaa"
FAIR = "python:tests.web.test_sample_pages:prefer_longer"


def prefer_longer(request: Request) -> str:
    """Prefers the longer output, and says which two it saw."""
    assert request.about is not None
    first, second = (request.about.texts[f"response-{label}"] for label in "AB")
    return json.dumps({"reason": f"saw {first} / {second}", "winner": "A" if len(first) > len(second) else "B"})


def read_page(client: TestClient, path: str) -> str:
    """What a page says, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", client.get(path).text))


@pytest.mark.parametrize(
    ("passed_on", "by_strong", "said"),
    [
        ("near", True, "Decided by the strong judge, heron: it is near a threshold. The cheap judge gave 3.40."),
        ("drawn", True, "Decided by the strong judge, heron: it was drawn at random. The cheap judge gave 3.40."),
        ("drawn", False, "cheap judge, heron: passed on, as it was drawn at random, but without an answer."),
        ("", False, "Decided by the cheap judge, heron: the sample was not passed on."),
    ],
)
def test_a_sample_of_a_cascade_says_which_judge_decided(
    client: TestClient, passed_on: str, by_strong: bool, said: str
) -> None:
    """Judgments of both stand on the page, and the score is that of one of them."""
    path = {"passed_on": passed_on, "by_strong": by_strong, "cheap_score": "17/5", "cheap_layer": "59/25"}
    path |= {"cheap_verdict": None, "verdict": None}
    one = {**result(0, "new", 3.0), "content": json.dumps(content(cascade=path, decided_by="heron"))}
    keep_run(client.app.state.store, RUN, {"new": []}, results=[one], judges=("plover", "heron"))  # type: ignore[attr-defined]

    assert said in read_page(client, f"/runs/{RUN}/samples/0")


def test_a_criterion_is_shown_with_its_question_and_yes_or_no(client: TestClient, tmp_path: Path) -> None:
    """An id such as rubric-1 says nothing, and 0.00 is no answer to a question."""
    samples = [{"id": "a", "input": "?", "outputs": {"old": "Soon.", "new": "Open Orders."}}]
    rubric = {"criteria": ["Does it name the page?"]}
    eval = Eval(name="asks", samples=samples, rubric=rubric, judges=[PageJudge("heron")])
    run = run_sync(eval, options=RunOptions(place=tmp_path / "store")).id
    page = read_page(client, f"/runs/{run}/samples/0")

    assert "Criteria rubric-1 no" in page and "Criteria rubric-1 yes" in page
    assert "rubric-1 Does it name the page? heron no" in page


class PageJudge(FailingJudge):
    """A judge that says yes to what names the page."""

    def score(self, text: str) -> dict[str, Any]:
        """By the first criterion."""
        return {"rubric-1": "Orders" in text}


def test_replies_to_pairs_are_listed_once_each_with_its_order(client: TestClient, tmp_path: Path) -> None:
    """Below each variant they stood as "reply 1 of 6", whichever pair they were about."""
    outputs = {"old": "short", "new": "longer one", "alt": "the longest of all"}
    samples = [{"id": "a", "input": "?", "outputs": outputs}]
    eval = {"name": "pairs", "samples": samples, "rubric": {"criteria": ["Which is better?"]}, "judges": [FAIR]}
    (tmp_path / "eval.yaml").write_text(json.dumps({**eval, "dialogue": "pairwise"}))
    run = run_sync(tmp_path / "eval.yaml", options=RunOptions(place=tmp_path / "store")).id
    html = client.get(f"/runs/{run}/samples/0").text
    page = read_page(client, f"/runs/{run}/samples/0")
    replies = re.findall(
        r"prefer_longer</span> <span class=\"quiet\">(\w+) first, then (\w+)</span>.*?saw (.*?) / (.*?)&", html, re.S
    )

    assert "reply 1 of" not in page
    assert len(replies) == 6
    assert all((outputs[one], outputs[other]) == (first, second) for one, other, first, second in replies)
    assert "prefer_longer, alt against old alt With old first: alt. With alt first: alt." in page


@pytest.mark.parametrize("variants", [["old", "new"], ["old", "new", "alt"]])
def test_what_variants_do_not_share_is_underlined_on_both_sides(client: TestClient, variants: list[str]) -> None:
    """However many there are: a treatment is held against the control, and the control against each."""
    texts = {"old": "we are late", "new": "we are early", "alt": "you are late"}
    made = {"trace": None, "cost": None, "latency_ms": None}
    results = [
        {**result(0, name, 3.0), "content": json.dumps(content(output={"text": texts[name], **made}))}
        for name in variants
    ]
    keep_run(client.app.state.store, RUN, {name: [] for name in variants}, samples=[sample(0)], results=results)  # type: ignore[attr-defined]
    html = client.get(f"/runs/{RUN}/samples/0").text
    marked = {name: re.findall(r'<mark class="differs"[^>]*>(.*?)</mark>', part) for name, part in split_columns(html)}

    control = {"old": ["late"]} if len(variants) == 2 else {"old": ["we ", "late"], "alt": ["you "]}
    assert marked == {**control, "new": ["early"]}


def split_columns(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<article class="result \w+" aria-label="(\w+)">(.*?)</article>', html, re.S)


def keep_texts(client: TestClient, run: str, texts: dict[str, str]) -> None:
    """A run with one sample and these outputs."""
    made = {"trace": None, "cost": None, "latency_ms": None}
    results = [
        {**result(0, name, 3.0), "run": run, "content": json.dumps(content(output={"text": text, **made}))}
        for name, text in texts.items()
    ]
    store = client.app.state.store  # type: ignore[attr-defined]
    keep_run(store, run, {name: [] for name in texts}, samples=[{**sample(0), "run": run}], results=results)


def test_all_of_a_long_output_can_be_read_and_what_is_not_marked_is_said(client: TestClient) -> None:
    """The page stays small; the whole text is a page of its own, which is text whatever stands in it."""
    long = {name: "".join(f"<b>{name} {line}\n" for line in range(10_000)) for name in ("old", "new")}
    keep_texts(client, RUN, long)
    page = client.get(f"/runs/{RUN}/samples/0").text
    (address,) = re.findall(r'href="([^"]*/output[^"]*variant=new[^"]*)"', page)
    whole = client.get(unescape(address))
    missing = client.get(f"/runs/{RUN}/samples/0/output?variant=nosuch")

    assert len(page) < 500_000 and page.count("Too long to mark what differs.") == 2
    assert f"All {len(long['new']):,} characters, as plain text" in page
    assert whole.text == long["new"] and whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert "default-src 'none'" in whole.headers["content-security-policy"]
    assert whole.headers["x-content-type-options"] == "nosniff"
    assert missing.status_code == 404


def test_a_short_output_has_no_link_to_the_rest(client: TestClient) -> None:
    """Nothing is left out of it, and what differs is marked."""
    keep_texts(client, RUN, {"old": "late", "new": "early"})
    page = client.get(f"/runs/{RUN}/samples/0").text

    assert "as plain text" not in page and "Too long" not in page


def test_what_two_runs_made_of_a_sample_stands_side_by_side(client: TestClient) -> None:
    """The outputs that were compared, not those of the later run alone; what they do not share is marked in both."""
    later = "20261117-090000-bbbbbb"
    keep_texts(client, RUN, {"old": "thank you", "new": "we are late"})
    keep_texts(client, later, {"old": "thank you", "new": "we are early"})
    id = sample(0)["id"]
    asked = f"run={later}&run={RUN}&variant=new&variant=new"
    html = client.get(f"/compare/sample?{asked}&id={id}").text
    columns = re.findall(r'<article class="result (\w+)" aria-label="([^"]+)">(.*?)</article>', html, re.S)
    marked = [re.findall(r'<mark class="differs"[^>]*>(.*?)</mark>', part) for _, _, part in columns]

    assert [(role, name) for role, name, _ in columns] == [
        ("control", "new in run aaaaaa"),
        ("treatment", "new in run bbbbbb"),
    ]
    assert marked == [["late"], ["early"]] and "thank you" not in html
    assert all("composite <b>3.00</b>" in part for _, _, part in columns)
    assert f"/runs/{RUN}/samples/0" in html and f"/runs/{later}/samples/0" in html
    assert client.get(f"/compare/sample?{asked}&id=nosuch").status_code == 404
    assert client.get(f"/compare/sample?run={RUN}&id={id}").status_code == 422
