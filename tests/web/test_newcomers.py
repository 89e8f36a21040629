"""What somebody who sees the workbench for the first time asks of it: whose, why, out of what, and which keys."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from evenhand.report.html.page_tables import build_report_gate_rows
from evenhand.report.html.sample_page import build_sample_report_page
from evenhand.report.html.trust_section import build_labelling_progress
from evenhand.web.run_pages import name_page_states
from tests.report.example import head
from tests.web.browsing import Visitor


def judged(score: float, verdict: str, **more: Any) -> dict[str, Any]:
    card: dict[str, Any] = {
        "criteria": {"page": False},
        "reviews": None,
        "steps": [],
        "gates_failed": [],
        "gates_open": [],
        "score": score,
    }
    return {
        "variant": "old", "repeat": 0, "state": "scored", "why": "", "score": score, "composite": 2.67, "layers": {},
        "verdict": verdict, "output": {"text": " \n "}, "scorecard": {**card, **more}, "judgments": [],
        "assertions": [], "findings": [], "calls": [],
        "composite_steps": [{"step": "layer_mean", "before": None, "after": 2.67, "why": "mean of layers: fact 0 = 1"}],
    }  # fmt: skip


def path_of(result: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    rubric = {"judge_gate": "17/5", "score_scale": [0.0, 1.0], "criteria": [], "tags": [], **more}
    whole = {"run": {}, "judges": [], "variants": [{"name": "old", "role": "only"}], "eval": {"rubrics": [rubric]}}
    sample: dict[str, Any] = {
        "tags": [],
        "messages": None,
        "input": "?",
        "reference": "",
        "context": "",
        "cluster": None,
    }
    page = build_sample_report_page(whole, {**sample, "metadata": {}, "results": [result]})
    return [(stop.name, stop.value, stop.says) for stop in page["repeats"][0].columns[0].path]


def test_a_verdict_stands_behind_the_score_that_it_is_read_off() -> None:
    """Behind the composite it looked as if that decided."""
    failed, passed = path_of(judged(0.25, "fail")), path_of(judged(0.9, "pass"))
    gated = path_of(judged(0.9, "fail", gates_failed=["page"]))

    assert failed[1:] == [
        ("Score", "0.25", ""),
        ("Verdict", "fail", "0.25 is under 0.6"),
        ("layer mean", "", ""),
        ("Composite", "2.67", ""),
    ]
    assert [says for name, _, says in passed if name == "Verdict"] == ["a score under 0.6 fails"]
    assert [says for name, _, says in gated if name == "Verdict"] == ["a gate failed"]


def test_a_verdict_says_from_which_score_on_it_is_given() -> None:
    """Whoever sees borderline wants to know what was lacking; only newer runs keep all thresholds."""
    limits = [{"verdict": "pass", "from": 0.8}, {"verdict": "borderline", "from": 0.6}]
    told = [
        says
        for score, verdict in ((0.9, "pass"), (0.7963, "borderline"), (0.25, "fail"))
        for name, _, says in path_of(judged(score, verdict), verdicts=limits)
        if name == "Verdict"
    ]

    assert told == ["from 0.8 on", "from 0.6 on, 0.7963 is under 0.8 for pass", "0.25 is under 0.6"]


def test_what_samples_are_shown_by_says_whose_it_is() -> None:
    """Verdicts of the control are not looked at, and no sample fails a gate that is about a mean."""
    whole = head()
    whole["variants"][1]["verdicts"] = {"fail": 2, "pass": 3}
    for rubric in whole["eval"]["rubrics"]:
        rubric["gated"] = []
    states = name_page_states(whole, "")
    whole["eval"]["rubrics"][0]["gated"] = ["page"]
    alone = name_page_states({**whole, "variants": whole["variants"][1:]}, "")

    assert states["fail"] == "verdict fail of a treatment"
    assert "gate" not in states
    assert (alone["fail"], alone["gate"]) == ("verdict fail", "failed a gate of the rubric")


def test_a_gate_that_nobody_wrote_is_called_a_default() -> None:
    """Somebody looks for it in the eval, where it is not."""
    gates = [{"gate": name, "min": least, "mean": 4.0, "passed": True} for name, least in
             (("fact", 3.5), ("behavior", 4.0), ("judge", 3.4), ("pass_rate", 3.5))]  # fmt: skip
    whole: dict[str, Any] = {"decision": {"gates": {"old": gates}}, "variants": [{"name": "old"}]}
    whole["eval"] = {"rubrics": [{"judge_gate": "17/5"}]}

    assert [row.note for row in build_report_gate_rows(whole)] == ["default", "", "default", ""]
    whole["eval"]["gates"] = {"fact": 3.5}
    assert [row.note for row in build_report_gate_rows(whole)] == ["", "", "default", ""]


def test_labelling_says_how_many_labels_an_interval_takes() -> None:
    """Below that number a table of dashes is no answer to “how many more?”."""
    few = SimpleNamespace(
        now=None, then=None, at=20, labelled=12, labelled_then=12, kind="mean", question="score", variant="old",
        control=None,
    )  # fmt: skip
    found = SimpleNamespace(
        raters=("ana",), outputs=12, labels=12, run="r", cannot_say=0, no_trust="", consistency=None, widths={0: (few,)}
    )
    enough = SimpleNamespace(**{**vars(few), "now": 0.4, "labelled": 20})
    difference = {0: (few, SimpleNamespace(**{**vars(few), "control": "old", "labelled": 6}))}

    assert build_labelling_progress(found, None)["few"] == "Label 8 more samples: an interval takes 20."
    assert build_labelling_progress(SimpleNamespace(**{**vars(found), "widths": {0: (enough,)}}), None)["few"] == ""
    told = build_labelling_progress(SimpleNamespace(**{**vars(found), "widths": difference}), None)["few"]
    assert told == "Label both outputs of 14 more samples: an interval takes 20."


def test_the_label_page_tells_its_own_keys(visitor: Visitor) -> None:
    """They were below the fold, and “?” told only the general ones."""
    run = visitor.open("/").page.locator("a[href^='/runs/']").first.get_attribute("href")
    page = visitor.open(f"{run}/label?rater=ada").page
    page.get_by_role("button", name="Draw").click()
    page.locator(".question").first.wait_for()
    page.keyboard.press("?")
    told = page.locator("#keys").inner_text()

    assert all(says in told for says in ("cannot say", "one back", "these keys"))


def test_a_key_tells_the_keys(visitor: Visitor) -> None:
    """They stood in the docs alone."""
    page = visitor.open("/").page
    page.keyboard.press("?")
    told = page.locator("#keys").inner_text()
    page.keyboard.press("Escape")

    assert all(key in told for key in ("/", "j", "[", "?"))
    assert not page.locator("#keys").is_visible()
