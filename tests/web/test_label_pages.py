"""Labelling by keyboard: blind, resumable, stored answer by answer, and what trust makes of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from starlette.testclient import TestClient

from evenhand import Eval, run_sync
from evenhand.calibrate.next_labels import ExpectedWidth
from evenhand.evals.eval_schema import KeepReplies
from evenhand.report.html.trust_section import build_labelling_progress
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows import labels
from evenhand.workflows.labelling import draw_batch_to_label, label_queued_output, open_labelling
from evenhand.workflows.labelling_progress import LabellingProgress
from evenhand.workflows.labels import check_labels
from evenhand.workflows.run import RunOptions
from evenhand.workflows.trust import load_labelled_gates, measure_trust
from tests.web.browsing import Visitor
from tests.web.stored_runs import StoredRuns, build_help_desk

OWN = {"sec-fetch-site": "same-origin"}


def test_ten_outputs_are_labelled_by_keyboard_and_trust_changes(visitor: Visitor, stored: StoredRuns) -> None:
    """Three keys an output, no mouse: nothing else stands between a person and thirty labels."""
    opened = visitor.open(f"/runs/{stored.runs[0]}/label")
    page = opened.page
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Nothing is drawn yet")
    page.wait_for_selector("#label-trust >> text=no labels are kept")
    page.fill("input[name=count]", "24")
    page.keyboard.press("Enter")
    keys = 0
    for number in range(1, 11):
        page.wait_for_selector(f"h1 >> text=/^Output {number} of/")
        page.wait_for_selector(".question.active")
        for key in ("7", "0", "c" if number == 3 else "4"):
            page.keyboard.press(key)
            keys += 1
    page.wait_for_selector("text=/^Output 11 of/")
    page.wait_for_selector("text=29 labels by 1 person on 10 outputs, 1 time “cannot say”")

    assert keys == 30
    assert not page.is_visible("#label-trust")
    page.click("summary >> text=Trust at the gate")
    assert "gate (score at least 0.60)" in page.inner_text("#label-trust")
    assert opened.troubles == []

    page.keyboard.press("u")
    page.wait_for_selector("h1 >> text=/^Output 10 of/")
    page.wait_for_selector(".question.active")
    page.wait_for_selector("text=26 labels by 1 person on 9 outputs")
    page.keyboard.press("m")
    page.keyboard.type("7 of 10, says who?")
    page.keyboard.press("Escape")
    page.keyboard.press("9")
    page.keyboard.press("u")
    for key in "888":
        page.keyboard.press(key)
    page.wait_for_selector("text=/^Output 11 of/")
    page.goto(f"{visitor.address}/runs/{stored.runs[0]}/label?rater=Ada")

    assert page.inner_text("h1").startswith("Output 11 of")
    with Store.open(stored.place, {}) as store:
        notes = [json.loads(one["content"])["note"] for one in store.labelling.list_answers(stored.runs[0], "Ada")]
        assert notes[-1] == "7 of 10, says who?" and not any(notes[:-1])
        assert {one["score"] for one in store.labels(stored.runs[0])} == {"7", "10", "4", "8"}
    assert opened.troubles == []


@pytest.fixture
def labelled(client: TestClient, tmp_path: Path) -> str:
    """A run of a store of its own, with a draw of six outputs."""
    run = run_sync(build_help_desk(), options=RunOptions(place=tmp_path / "store")).id
    drawn = client.post(f"/runs/{run}/label", data={"rater": "ada", "action": "draw", "count": "6"}, headers=OWN)
    assert drawn.status_code == 303
    return run


def answer(client: TestClient, run: str, rater: str = "ada", score: str = "7", **more: str) -> int:
    """Answer whatever comes next for a person, and give the status."""
    page = client.get(f"/runs/{run}/label", params={"rater": rater}).text
    (item,) = re.findall(r'name="item" value="([0-9.]+)"', page)
    asked = dict(re.findall(r'name="(criterion-\d)" value="(\w+)"', page))
    scores = {name.replace("criterion", "score"): score for name in asked}
    sent = {"rater": rater, "item": item, **asked, **scores, **more}
    return client.post(f"/runs/{run}/label", data=sent, headers=OWN).status_code


def test_the_page_tells_neither_variant_nor_judge_nor_sample(client: TestClient, labelled: str) -> None:
    """A person who knows which one is new wants it to win."""
    page = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text
    body = page[page.index('id="label-work"') : page.index('id="label-progress"')]

    for told in ("heron", "kestrel", "plover", "parcel<", '"new"', '"old"', ">new<", ">old<"):
        assert told not in body


def test_two_people_see_the_same_outputs_in_orders_of_their_own(client: TestClient, labelled: str) -> None:
    """Who labels first must not decide what the other reads first; both are needed to know how far people agree."""
    for rater in ("ada", "bob"):
        for _ in range(6):
            assert answer(client, labelled, rater) == 303
    store: Store = client.app.state.store  # type: ignore[attr-defined]
    ada, bob = (
        [(one["sample"], one["variant"]) for one in store.labelling.list_answers(labelled, rater)]
        for rater in ("ada", "bob")
    )

    assert sorted(ada) == sorted(bob) and ada != bob
    assert len({one["rater"] for one in store.labels(labelled)}) == 2


def test_a_second_answer_tells_consistency_and_moves_no_label(client: TestClient, labelled: str) -> None:
    """A tenth comes again: the first answer is the label, the second only says how far the person holds to it."""
    for _ in range(6):
        answer(client, labelled, score="7")
    again = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text
    answer(client, labelled, score="6")
    progress = client.get(f"/runs/{labelled}/label/progress", params={"rater": "ada"}).text
    done = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text

    assert "once more, for your own consistency" in again
    assert "0 of 3 answers the same when asked again (0%); mean distance 11% of the scale" in progress
    assert "All 7 are labelled" in done
    assert {one["score"] for one in client.app.state.store.labels(labelled)} == {"7"}  # type: ignore[attr-defined]


def test_the_file_of_labels_is_one_that_trust_reads(client: TestClient, labelled: str, tmp_path: Path) -> None:
    """With the text that each is about, its chance, notes, and what somebody could not say."""
    answer(client, labelled, score="7", note="short")
    answer(client, labelled, score="")
    text = client.get(f"/runs/{labelled}/labels.jsonl").text
    lines = [json.loads(line) for line in text.splitlines()]
    file = tmp_path / "labels.jsonl"
    file.write_text(text, "utf-8")
    found = check_labels(client.app.state.store, file, labelled)  # type: ignore[attr-defined]

    assert [one["score"] for one in lines] == [7, 7, 7, None, None, None]
    assert [one.get("note") for one in lines] == ["short", None, None, None, None, None]
    assert (found.labels, found.unbound, found.batches, found.raters) == (3, 0, 1, ("ada",))


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        ("raw", "call ada@example.org, key [key hidden]"),
        ("masked", "call [•••@•••.org], key [key hidden]"),
        ("none", None),
    ],
)
def test_a_note_is_kept_as_the_run_keeps_texts(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: KeepReplies, kept: str | None
) -> None:
    """Whoever labels quotes what they read, and may paste a key of this machine."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-label-note-123456")
    run = run_sync(replace(build_help_desk(), keep=keep), options=RunOptions(place=tmp_path / "store")).id
    client.post(f"/runs/{run}/label", data={"rater": "ada", "action": "draw", "count": "1"}, headers=OWN)

    page = client.get(f"/runs/{run}/label", params={"rater": "ada"}).text
    answer(client, run, note="call ada@example.org, key sk-label-note-123456")

    lines = [json.loads(line) for line in client.get(f"/runs/{run}/labels.jsonl").text.splitlines()]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").glob("store.sqlite*"))
    assert lines[0].get("note") == kept
    assert ('name="note"' in page) == (kept is not None)
    assert b"sk-label-note" not in stored
    assert (b"ada@example.org" in stored) == (keep == "raw")


@pytest.mark.parametrize("score", ["11", "x", "1/0", "-1", "nan"])
def test_an_answer_off_the_scale_is_refused_and_stores_nothing(client: TestClient, labelled: str, score: str) -> None:
    """What a form sends is anybody's."""
    assert answer(client, labelled, score=score) == 422
    assert client.app.state.store.labelling.list_answers(labelled) == []  # type: ignore[attr-defined]


def answer_shown_page(client: TestClient, run: str, page: str, score: str) -> Any:
    """Answer what a page shows, however old it is."""
    (item,) = re.findall(r'name="item" value="([0-9.]+)"', page)
    asked = dict(re.findall(r'name="(criterion-\d)" value="(\w+)"', page))
    sent = {"rater": "ada", "item": item, **asked, **dict.fromkeys(("score-0", "score-1", "score-2"), score)}
    return client.post(f"/runs/{run}/label", data=sent, headers=OWN)


def test_an_answer_that_comes_twice_counts_once(client: TestClient, labelled: str) -> None:
    """A browser that was not told whether it arrived sends it again."""
    page = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text
    for _ in range(2):
        assert answer_shown_page(client, labelled, page, "7").status_code == 303

    assert len(client.app.state.store.labelling.list_answers(labelled)) == 1  # type: ignore[attr-defined]
    assert {one["score"] for one in client.app.state.store.labels(labelled)} == {"7"}  # type: ignore[attr-defined]


def test_a_stale_tab_does_not_replace_an_answer(client: TestClient, labelled: str) -> None:
    """The first answer is the label; who wants another one takes it back first."""
    page = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text
    answer_shown_page(client, labelled, page, "7")
    refused = answer_shown_page(client, labelled, page, "8")
    kept = {one["score"] for one in client.app.state.store.labels(labelled)}  # type: ignore[attr-defined]
    client.post(f"/runs/{labelled}/label", data={"rater": "ada", "action": "undo"}, headers=OWN)
    again = answer_shown_page(client, labelled, page, "8")

    assert (refused.status_code, kept, again.status_code) == (422, {"7"}, 303)
    assert "This output was labelled in another tab" in refused.text and "Output 2 of" in refused.text
    assert {one["score"] for one in client.app.state.store.labels(labelled)} == {"8"}  # type: ignore[attr-defined]


def test_a_draw_that_is_sent_twice_is_made_once(client: TestClient, labelled: str) -> None:
    """A held key sends a form again and again; each says how many draws its page has seen."""
    for _ in range(7):
        answer(client, labelled)
    page = client.get(f"/runs/{labelled}/label", params={"rater": "ada"}).text
    (after,) = re.findall(r'name="after" value="(\d+)"', page)
    sent = {"rater": "ada", "action": "draw", "count": "2", "after": after}
    statuses = [client.post(f"/runs/{labelled}/label", data=sent, headers=OWN).status_code for _ in range(3)]

    assert (statuses, after) == ([303] * 3, "1")
    assert len(client.app.state.store.labelling.list_batches(labelled)) == 2  # type: ignore[attr-defined]


def test_a_draw_works_out_no_widths_and_asks_the_store_as_often_for_many_as_for_few(
    client: TestClient, labelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person waits for it: widths are shown afterwards, and a look at the store for each output adds up."""
    store = client.app.state.store  # type: ignore[attr-defined]
    asked: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    monkeypatch.setattr(labels, "estimate_on_people_scale", lambda _: pytest.fail("widths were worked out"))
    counts = []
    for count in (2, 12):
        asked.clear()
        draw_batch_to_label(store, labelled, count)
        counts.append(len(asked))

    assert counts[0] == counts[1]


def test_a_held_key_draws_once(visitor: Visitor, stored: StoredRuns) -> None:
    """The button is off until the answer is there, and says what it does."""
    page = visitor.open(f"/runs/{stored.runs[-1]}/label?rater=Bo").page
    page.locator("button", has_text="Draw").focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    page.wait_for_selector("text=/^Output 1 of/")

    with Store.open(stored.place, {}) as store:
        assert len(store.labelling.list_batches(stored.runs[-1])) == 1


def test_widths_of_several_criteria_say_which_each_is_of() -> None:
    """Rows of one name cannot be told apart."""
    plain = ExpectedWidth(
        kind="mean", question="tone", variant="new", control=None, labelled=3, labelled_then=3, now=0.4, then=0.4, at=3
    )
    found = LabellingProgress(
        run="r", labels=6, raters=("ada",), cannot_say=0, outputs=3, trust=None, no_trust="too few", consistency=None,
        widths={0: (plain, replace(plain, question="steps"))},
    )  # fmt: skip
    several, alone = (
        [name for name, _ in build_labelling_progress(one, None)["width_rows"]]
        for one in (found, replace(found, widths={0: (plain,)}))
    )

    assert several == ["new: mean, tone", "new: mean, steps"]
    assert alone == ["new: mean"]


def test_without_labels_no_widths_are_shown() -> None:
    """Of labels that nobody gave, none can be foretold, and "0 labels by 0 people" says it the long way."""
    width = ExpectedWidth(
        kind="mean", question="tone", variant="new", control=None, labelled=0, labelled_then=3, now=None, then=0.0, at=3
    )
    found = LabellingProgress(
        run="r", labels=0, raters=(), cannot_say=0, outputs=0, trust=None, no_trust="no labels", consistency=None,
        widths={0: (width,)},
    )  # fmt: skip
    shown = build_labelling_progress(found, None)

    assert (shown["labelled"], shown["width_rows"]) == ("No labels yet", [])


def test_undoing_takes_answer_and_labels_back_until_none_is_left(client: TestClient, labelled: str) -> None:
    """One more is refused, and says why."""
    answer(client, labelled)
    answer(client, labelled)
    undone = [
        client.post(f"/runs/{labelled}/label", data={"rater": "ada", "action": "undo"}, headers=OWN).status_code
        for _ in range(3)
    ]

    assert undone == [303, 303, 422]
    assert list(client.app.state.store.labels(labelled)) == []  # type: ignore[attr-defined]


def test_another_sites_page_labels_nothing(client: TestClient, labelled: str) -> None:
    """It would move what decides whether judges may gate."""
    sent, foreign = {"rater": "ada", "action": "draw", "count": "6"}, {"sec-fetch-site": "cross-site"}

    assert client.post(f"/runs/{labelled}/label", data=sent, headers=foreign).status_code == 403


def test_what_is_drawn_is_not_drawn_again(client: TestClient, labelled: str) -> None:
    """Also where somebody could not say anything, so that no label tells of it."""
    for _ in range(7):
        answer(client, labelled, score="")
    client.post(f"/runs/{labelled}/label", data={"rater": "ada", "action": "draw", "count": "6"}, headers=OWN)
    batches = [json.loads(one["content"])["items"] for one in client.app.state.store.labelling.list_batches(labelled)]  # type: ignore[attr-defined]
    samples = [{one["sample"] for one in items} for items in batches]

    assert len(samples) == 2 and samples[1] and not samples[0] & samples[1]


TREE = {
    "name": "paper",
    "criteria": [
        {
            "id": "method",
            "weight": 2,
            "children": [
                {"id": "data", "asks": "Is the data described?", "scale": "yes/no", "required": True},
                {"id": "statistics", "asks": "Does the test fit?", "weight": 3},
            ],
        },
        {"id": "writing", "asks": "Can it be followed?"},
    ],
    "gates": [{"criterion": "method", "min": 0.5}],
}


def run_rubric(place: Path, rubric: dict[str, Any], scores: dict[str, float]) -> str:
    """A run of eight samples whose judge says the same of all, with six of them drawn to label."""
    samples = [{"id": f"s{at}", "input": "?", "output": f"text {at}"} for at in range(8)]
    eval = Eval(name="labelled", samples=samples, rubric=rubric, judges=[scripted_judge(scores)])
    run = run_sync(eval, options=RunOptions(place=place)).id
    with Store.open(place, {}) as store:
        draw_batch_to_label(store, run, 6)
    return run


def test_a_tree_is_labelled_and_its_gates_are_held_against_people(client: TestClient, tmp_path: Path) -> None:
    """Nobody is asked about a node: its gate goes by what is answered below it, for judges and for people."""
    place = tmp_path / "store"
    run = run_rubric(place, TREE, {"data": 1, "statistics": 0.5, "writing": 1})
    with Store.open(place, {}) as store:
        for _ in range(3):
            task = open_labelling(store, run, "ada")
            assert task.queued is not None
            answer = {"data": "0", "statistics": "0.25", "writing": "1"}
            label_queued_output(store, run, "ada", task.queued.key, answer)
        gate = next(one for one in measure_trust(store, run).gates if one.gate == "method")
        judged = load_labelled_gates(store, run)

    progress = client.get(f"/runs/{run}/label/progress", params={"rater": "ada"})
    shown = client.get(f"/runs/{run}/label", params={"rater": "ada"}).text

    assert progress.status_code == 200
    # Judges say (1 + 3 × 0.5) / 4 = 0.625 of the node, people 0.1875: each is a wrong pass.
    assert (gate.about, gate.passed.wrong, gate.passed.n) == ("method at least 0.50", 3, 3)
    assert [one.id for one in judged.gates] == ["verdict", "method", "data"]
    assert 'aria-label="statistics, 0 to 1"' in shown


@pytest.mark.parametrize(
    ("scale", "says"),
    [
        ("1-10", "1–9 for the score; 0 for ten; c cannot say"),
        ({"min": 0, "max": 10, "integers": True}, "0–9 for the score; t for ten; c cannot say"),
        ("1-5", "1–5 for the score; c cannot say"),
        ("yes/no", "y n for yes and no; c cannot say"),
        ({"min": 0, "max": 100}, "Enter after a number that you type; c cannot say"),
        ({"min": 0, "max": 1}, "Enter after a number that you type; c cannot say"),
    ],
)
def test_the_hint_names_the_keys_that_answer(client: TestClient, tmp_path: Path, scale: Any, says: str) -> None:
    """“0 for ten” gave 0 on a scale from 0, and nothing where answers are yes and no or typed."""
    rubric = {"name": "one", "criteria": [{"id": "good", "asks": "Is it good?", "scale": scale}]}
    run = run_rubric(tmp_path / "store", rubric, {"good": 1})

    page = client.get(f"/runs/{run}/label", params={"rater": "ada"}).text

    hint = re.sub(r"<[^>]+>", "", re.findall(r'<p class="fine keys">(.*?)</p>', page)[0])
    assert hint.startswith(f"Keys: {says};")
