"""What pages show of a store: trends, files of rubrics, and contests as each may see them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand import run_sync
from evenhand.errors import InputError
from evenhand.report.html.judge_page import build_judge_report_page
from evenhand.store.store import Store
from evenhand.web.run_pages import name_page_orders
from evenhand.workflows.history import list_eval_trends
from evenhand.workflows.rubric import (
    check_user_rubric_text,
    list_user_rubric_files,
    load_user_rubric_draft,
    save_user_rubric_text,
    save_user_rubric_texts,
)
from evenhand.workflows.run import RunOptions
from evenhand.workflows.tokens import create_service_token
from tests.docs.pages import ROOT
from tests.report.example import head
from tests.runs.stored import keep_run
from tests.web.stored_runs import StoredRuns, build_help_desk

VALID = "criteria:\n  - id: kind\n    asks: Is it kind?\n"


def test_a_trend_marks_where_the_fingerprint_changed(tmp_path: Path) -> None:
    """The oldest run comes first; the verdict is that of the newest finished one."""
    with Store.open(tmp_path, {}) as store:
        for number, (score, print) in enumerate([(2.0, "f"), (3.0, "f"), (4.0, "g")]):
            keep_run(store, f"20261116-09000{number}-aaaaaa", {"output": [score] * 3}, fingerprint=print)
        keep_run(store, "20261116-090009-bbbbbb", {"output": [1.0] * 3}, state="stopped")
        [trend] = list_eval_trends(store).evals
        none = list_eval_trends(store, search="elsewhere")
        by_id = list_eval_trends(store, search="20261116-090001 DESK")
        by_verdict = list_eval_trends(store, verdict="PROGRESS")

    assert [(one.composite, one.changed) for one in trend.points] == [(2.0, False), (3.0, False), (4.0, True)]
    assert (trend.verdict, trend.total, trend.runs[0].state) == ("SOLO", 4, "stopped")
    assert (none.found, none.known, by_id.found, by_verdict.found) == (0, 1, 1, 0)


@pytest.mark.parametrize(
    "name", ["../out.yaml", "/tmp/out.yaml", "a/b.yaml", "out.txt", ".hidden.yaml", "", "a\0.yaml"]
)
def test_a_rubric_is_written_to_its_folder_only(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name leads elsewhere."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="cannot be the name"):
        save_user_rubric_text(name, VALID)
    with pytest.raises(InputError, match="cannot be the name"):
        load_user_rubric_draft(name)

    assert list(tmp_path.iterdir()) == []


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by a file's name nor by what a rubric builds on."""
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text(VALID)
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="cannot be the name"):
        save_user_rubric_text("link.yaml", "other", replace=True)
    [message] = check_user_rubric_text(f"extends: {tmp_path}/secret.yaml\n").messages

    assert "outside the folder" in message.what
    assert (tmp_path / "secret.yaml").read_text() == VALID


@pytest.mark.parametrize("refused", ["x.sh", "there.yaml", "link.yaml", "folder.yaml"])
def test_of_files_that_belong_together_none_is_left_if_one_is_refused(
    refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method without its rubric is of no use, and whoever saved them was told that nothing was."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.yaml").write_text("a: 1\n")
    (tmp_path / "link.yaml").symlink_to(tmp_path / "there.yaml")
    (tmp_path / "folder.yaml").mkdir()
    before = sorted(tmp_path.iterdir())

    with pytest.raises(InputError):
        save_user_rubric_texts({"x-method.yaml": VALID, refused: VALID})

    assert sorted(tmp_path.iterdir()) == before
    save_user_rubric_texts({"x-method.yaml": VALID, "there.yaml": VALID}, replace=True)
    assert (tmp_path / "there.yaml").read_text() == (tmp_path / "x-method.yaml").read_text() == VALID


def test_rubrics_of_the_folder_are_listed_and_evals_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what is in them."""
    monkeypatch.chdir(tmp_path)
    save_user_rubric_text("mine.yaml", VALID)
    (tmp_path / "eval.yaml").write_text(f"samples: s.jsonl\n{VALID}")
    (tmp_path / "other.yaml").write_text("a: 1\n")

    assert list_user_rubric_files() == ["mine.yaml"]


def test_an_author_sees_their_own_submissions_and_a_reader_none(workbench: str, stored: StoredRuns) -> None:
    """The whole page is the operator's; others see what `contest/views` lets them."""
    from evenhand.service.app import build_service
    from evenhand.service.settings import ServiceSettings
    from evenhand.web.workbench import add_workbench

    app = build_service(ServiceSettings(store=stored.place))
    add_workbench(app)
    path = f"/contests/{stored.contest}"
    with TestClient(app, base_url="http://127.0.0.1:8321", follow_redirects=False) as client:
        whole = client.get(path).text
        as_heron = client.get(path, params={"author": "heron"}).text
        as_anybody = client.get(path, params={"public": "true"}).text

    assert "What broke the rules" in whole
    assert "Submissions of" in as_heron and "Say why the receipt matters." in as_heron
    for page in (as_heron, as_anybody):
        assert "What broke the rules" not in page and "magpie" not in page
    assert "Submissions of" not in as_anybody and "Say why the receipt matters." not in as_anybody


def test_a_submitter_cannot_look_as_another(client: TestClient, stored: StoredRuns) -> None:
    """Whatever the address says, the name of the token counts."""
    store = client.app.state.store  # type: ignore[attr-defined]
    client.cookies.set("evenhand_token", create_service_token(store, role="submitter", name="wren").secret)
    page = client.get(f"/contests/{stored.contest}", params={"author": "heron"})

    assert page.status_code == 404  # This store has no contest: nothing is told of it either.


def test_bars_of_judges_stand_on_an_axis_in_their_units() -> None:
    """A bar without an axis has no length, and bars of "under 1 ms" claim what the numbers do not."""
    slow, fast = (draw_bars_of({"median": seconds}) for seconds in (0.05, 0.0002))

    assert [[tick.label for tick in chart.ticks] for chart in slow] == [["0", "20 ms", "40 ms"]]
    assert fast == []


def draw_bars_of(seconds: dict[str, float]) -> list[Any]:
    judge = {"name": "a", "cost": None, "seconds": seconds, "calls": 1, "cached": 0, "heuristic": False}
    judge |= {"failed": 0, "abstained": 0, "tokens": None, "attempts": 1, "unreadable": 0}
    found: list[Any] = build_judge_report_page({**head(), "judges": [{**head()["judges"][0], **judge}]})["bars"]
    return found


def test_the_path_of_a_score_tells_each_number_once(client: TestClient, tmp_path: Path) -> None:
    """The sentence of a first step has its name and its number: "layer mean 1.73 mean of layers 1.73" stutters."""
    run = run_sync(build_help_desk(), options=RunOptions(place=tmp_path / "store")).id
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", client.get(f"/runs/{run}/samples/1").text))

    assert "mean of layers" in page
    assert "layer mean" not in page
    assert not re.search(r"weighted mean [\d.]+ weighted mean", page)


@pytest.mark.parametrize("position", ["3", "99999999999", "99999999999999999999", "-1"])
def test_a_sample_that_is_not_there_is_not_found(client: TestClient, position: str) -> None:
    """However large the number in the address is."""
    keep_run(client.app.state.store, "20261116-090000-aaaaaa", {"output": [1.0] * 3})  # type: ignore[attr-defined]
    page = client.get(f"/runs/20261116-090000-aaaaaa/samples/{position}")

    assert (page.status_code, "go to the list of samples" in page.text) == (404, True)


def test_samples_are_shown_by_what_a_run_has(client: TestClient, tmp_path: Path) -> None:
    """A verdict that no method gave, or a finding of guards that nobody asked, would always show nothing."""
    keep_run(client.app.state.store, "20261116-090000-aaaaaa", {"output": [1.0] * 3})  # type: ignore[attr-defined]
    judged = run_sync(build_help_desk(), options=RunOptions(place=tmp_path / "store")).id
    plain, verdicts, asked = (
        re.findall(r'<option value="(\w*)"[^>]*>', client.get(f"/runs/{run}").text.partition('name="state"')[2])
        for run in ("20261116-090000-aaaaaa", judged, "20261116-090000-aaaaaa?state=fail")
    )

    assert plain == ["", "unscored"]
    assert verdicts == ["", "unscored", "flagged", "fail", "borderline", "pass"]
    assert asked == ["", "unscored", "fail"]


def test_the_manual_names_orders_as_the_page_does() -> None:
    """Whoever looks for the option of a guide should find it."""
    named = re.findall(r"\*Sort: ([^*]+)\*", (ROOT / "docs" / "workbench.md").read_text())
    orders = {word for variants in ([1], [1, 2]) for word in name_page_orders(variants).values()}

    assert named and set(named) <= orders
    assert "lowest composite of a treatment" in named
