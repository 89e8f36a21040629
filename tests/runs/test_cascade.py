"""A run with a cascade: the strong judge sees what is near a threshold and a random part, and nothing twice."""

import asyncio
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import EvalError, InputError, RunOptions
from evenhand import run as run_eval
from evenhand.cli.run_tables import print_run
from evenhand.evals.eval_file import load_eval, read_eval_mapping
from evenhand.judging.single_judge import Cascade
from evenhand.report.html.page_file import write_html
from evenhand.report.markdown_report import write_markdown
from evenhand.wording import read_kept_fraction
from evenhand.workflows.compare import CompareTerms, compare
from evenhand.workflows.plan import plan_run
from evenhand.workflows.report import open_report
from tests.runs.chaos.evals import Kept, timeless_head, write_eval
from tests.runs.chaos.judges import NAMES, Judges

SAMPLES = 60
CHEAP, STRONG = NAMES


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as running:
        yield running


def written(folder: Path, judges: Judges, pass_on: object = 0.6, **changes: Any) -> Path:
    """An eval of two variants with a cascade, and no threshold to be near to."""
    cascade = {"cascade": [judges.name(one) for one in NAMES], "pass_on": pass_on}
    whole = write_eval(folder, judges, SAMPLES, **{"repeats": 1, "assertions": [], **changes})
    (folder / "eval.yaml").write_text(json.dumps({**whole, "judges": cascade}), "utf-8")
    return folder


def asked(judges: Judges) -> dict[str, set[str]]:
    """The samples that each judge was asked about since the last time, each output once."""
    counted = judges.sitting()
    assert set(counted.values()) <= {1}
    return {name: {mark.partition("/")[0] for judge, mark in counted if judge == name} for name in NAMES}


def test_the_strong_judge_sees_a_random_part_and_both_variants_of_it(judges: Judges, tmp_path: Path) -> None:
    """A share of 60 is 36: differences are pairs of one judge, and the rest is marked as the cheap judge's."""
    head = begin(written(tmp_path, judges))

    seen = asked(judges)
    assert (len(seen[CHEAP]), len(seen[STRONG])) == (SAMPLES, 36)
    cascade = head["cascade"]
    assert (cascade["near"], cascade["drawn"], cascade["left"]) == (0, 36, 24)
    results = Kept(tmp_path / "kept").results()
    assert len(results) == 2 * SAMPLES
    for (id, _, _), content in results.items():
        assert content["cascade"]["passed_on"] == ("drawn" if id in seen[STRONG] else "")
        assert content["decided_by"] == judges.name(STRONG if id in seen[STRONG] else CHEAP)
    kinds = [(one["kind"], one["variant"]) for one in cascade["estimates"]]
    assert kinds == [
        ("score", "old"),
        ("composite", "old"),
        ("score", "new"),
        ("composite", "new"),
        ("difference", "new"),
    ]
    difference = head["decision"]["comparisons"][0]["composite"]
    assert difference["method"].startswith("cascade: ")
    assert difference["estimate"] == pytest.approx(cascade["estimates"][-1]["strong"]["estimate"], abs=1e-6)
    assert head["variants"][0]["composite"]["mean"] == round(cascade["estimates"][1]["strong"]["estimate"], 4)
    assert cascade["saved"]["calls_saved"] == 48
    assert cascade["saved"]["cost_saved"] == pytest.approx(48.0)


def begin(folder: Path, **options: Any) -> dict[str, Any]:
    """Run the eval in this process, and return the head of its report."""
    ran = asyncio.run(run_eval(folder / "eval.yaml", options=RunOptions(place=folder / "kept", **options)))
    return {**ran.head, "why_stopped": ran.why_stopped}


def test_a_run_that_was_stopped_goes_on_without_one_more_call(judges: Judges, tmp_path: Path) -> None:
    """Once while the cheap judge is asked and once in the draw: the same samples are drawn, and none is asked twice."""
    whole = begin(written(tmp_path / "whole", judges))
    expected = judges.sitting()

    folder = written(tmp_path / "stopped", judges, budget=100.5)  # A call costs a dollar.
    first = begin(folder)
    stopped = write_budget(folder, 150.5)
    second = begin(stopped, resume=True)
    done = begin(write_budget(folder, 1000), resume=True)

    assert "budget" in first["why_stopped"] and "budget" in second["why_stopped"]
    assert judges.sitting() == expected
    assert done["cascade"] == whole["cascade"]
    assert timeless_head(done)["decision"] == timeless_head(whole)["decision"]


def write_budget(folder: Path, money: float) -> Path:
    """The same eval with more to spend."""
    whole = json.loads((folder / "eval.yaml").read_text("utf-8"))
    (folder / "eval.yaml").write_text(json.dumps({**whole, "budget": money}), "utf-8")
    return folder


def test_what_is_near_a_threshold_is_passed_on_whatever_is_drawn(judges: Judges, tmp_path: Path) -> None:
    """An output at a gate's least score takes its whole sample along, and is known without a draw."""
    rubric = {
        "name": "answers",
        "method": "judge-skill",
        "criteria": [{"id": "useful", "asks": "Does it help?", "required_min_score": 6}],
    }
    head = begin(written(tmp_path, judges, 0.1, rubric=rubric))

    seen, cascade = asked(judges), head["cascade"]
    results = Kept(tmp_path / "kept").results()
    near = {id for (id, _, _), one in results.items() if one["cascade"]["passed_on"] == "near"}
    assert near and cascade["near"] == len(near)
    assert (cascade["drawn"], cascade["left"]) == (30, SAMPLES - 30 - len(near))
    assert near < seen[STRONG] and len(seen[STRONG]) == len(near) + 30
    for id in near:
        assert 6 in [read_kept_fraction(results[id, name, 0]["cascade"]["cheap_score"]) for name in ("old", "new")]
    missed = cascade["missed"]
    assert missed["drawn_of"] == 60
    assert missed["unseen"] == pytest.approx(missed["drawn"] / 60 * missed["unseen_of"])


@pytest.mark.parametrize(("width", "drawn"), [(9.0, 30), (0.01, SAMPLES)])
def test_a_wanted_width_decides_how_many_are_drawn(judges: Judges, tmp_path: Path, width: float, drawn: int) -> None:
    """A wide one takes the pilot alone; one that is out of reach takes every sample, and then there is no width."""
    head = begin(written(tmp_path, judges, {"near": 0.05}), for_width=width)

    assert len(asked(judges)[STRONG]) == drawn
    found = head["cascade"]["estimates"][-1]["strong"]
    assert (found["high"] - found["low"] == 0) is (drawn == SAMPLES)
    if drawn == SAMPLES:
        assert "cascade" not in head["decision"]["comparisons"][0]["composite"]["method"]


def test_a_budget_decides_how_many_are_drawn(judges: Judges, tmp_path: Path) -> None:
    """120 dollars for the cheap judge, 60 for the pilot: of what is left, nine tenths are spent."""
    head = begin(written(tmp_path, judges), budget=200)

    assert not head["why_stopped"]
    assert len(asked(judges)[STRONG]) == 30 + 9
    assert head["cost"]["total"] == pytest.approx(120 + 78)


def test_an_old_file_is_read_and_says_what_changed(judges: Judges, tmp_path: Path) -> None:
    """Judges in order and `how: {cascade: true}` are a cascade of two that passes a fifth on."""
    whole = write_eval(tmp_path, judges, 40, repeats=1, assertions=[])
    (tmp_path / "eval.yaml").write_text(json.dumps({**whole, "how": {"cascade": True}}), "utf-8")

    eval = load_eval(tmp_path / "eval.yaml")

    assert eval.how.cascade == Cascade(share=Fraction(1, 5))
    assert "is now judges: {cascade: [CHEAP, STRONG]}" in eval.notes[0]


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "repeats": ({"repeats": 2}, {}, "a cascade asks about each sample once"),
    "texts that go": ({"keep": "none"}, {}, "a cascade looks at samples twice"),
    "clusters": ({"per": "cluster"}, {}, "a cascade corrects means over samples"),
    "one test of all layers": ({"multivariate": True}, {}, "no test of all layers together"),
    "losses": ({"smallest_loss_share": {"points": 2, "share": 0.05}}, {}, "does not know every loss"),
    "a common scale": ({"standardise": "z"}, {}, "need all outputs scored by one judge"),
    "an early end": ({}, {"until_decided": True}, "sees all samples before it draws"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_cascade_cannot_give_is_refused_before_anything_is_asked(
    judges: Judges, tmp_path: Path, case: str
) -> None:
    """Else it would be given by scores of two judges, with an interval that does not hold."""
    changes, options, what = REFUSED[case]

    with pytest.raises(EvalError, match=what):
        begin(written(tmp_path, judges, **changes), **options)

    assert not judges.sitting()


@pytest.mark.parametrize(
    ("judges_written", "what"),
    [
        ({"cascade": ["embedded"]}, "a cascade has two judges, got 1"),
        ({"cascade": ["a/b", "c/d"], "pass_on": 1.5}, "share must be from 0 to 1"),
        ({"cascade": ["a/b", "c/d"], "pass_on": {"share": 0.1, "for_width": 0.2}}, "both say how much is passed on"),
        ({"cascade": ["a/b", "c/d"], "pass_on": "budget"}, "pass_on: budget needs a budget"),
        ({"cascade": ["a/b", "c/d"], "pas_on": 0.1}, "unknown field 'pas_on'"),
    ],
)
def test_a_cascade_that_is_written_wrongly_is_refused_with_its_line(judges_written: object, what: str) -> None:
    """The hint shows one that works."""
    fields = {"samples": [{"id": "a", "outputs": {"x": "y"}}], "rubric": "council", "judges": judges_written}

    with pytest.raises(EvalError, match=what):
        read_eval_mapping(fields, {})


def test_reports_say_what_was_seen_missed_and_saved(judges: Judges, tmp_path: Path) -> None:
    """On the terminal, in Markdown and in HTML alike; the table has an interval for the strong judge."""
    rubric = {
        "name": "answers",
        "method": "judge-skill",
        "criteria": [{"id": "useful", "asks": "Does it help?", "required_min_score": 6}],
    }
    head = begin(written(tmp_path, judges, 0.1, rubric=rubric))
    judges.sitting()
    screen, page, html = io.StringIO(), io.StringIO(), io.StringIO()

    with redirect_stdout(screen):
        print_run(head)
    write_markdown(head, [], page)
    with open_report(tmp_path / "kept", head["run"]["id"]) as (kept, samples):
        write_html(kept, samples, html)

    saved = f"Saved {head['cascade']['saved']['calls_saved']} calls of the strong judge, about"
    for shown in (screen.getvalue(), page.getvalue(), html.getvalue()):
        told = re.sub(r"\s+", " ", shown.replace("&#39;", "'"))
        assert "On the strong judge's scale" in told
        assert saved in told
        assert "near a threshold, 30 at random" in told
        assert "Cheap judge alone, another verdict on" in told


def test_a_plan_counts_the_strong_judge_for_the_random_part_alone(judges: Judges, tmp_path: Path) -> None:
    """36 of 60 samples, two outputs each; and it says what all of them would take."""
    plan = asyncio.run(plan_run(written(tmp_path, judges) / "eval.yaml", options=RunOptions()))

    assert [one["calls"] for one in plan["judges"]] == [120, 72]
    assert plan["cascade"]["drawn"] == 36
    assert plan["cascade"]["calls_for_all"] == 120
    assert not judges.sitting()


def test_a_comparison_of_one_run_is_corrected_and_one_of_two_runs_is_refused(judges: Judges, tmp_path: Path) -> None:
    """`compare` says what the run said; and what needs the strong judge on every sample is not given."""
    head = begin(written(tmp_path, judges))
    other = begin(tmp_path, fresh=True)
    judges.sitting()
    place, (id, second) = tmp_path / "kept", (one["run"]["id"] for one in (head, other))

    found = compare(id, store=place)

    assert (
        found.to_json()["decision"]["comparisons"][0]["composite"] == (head["decision"]["comparisons"][0]["composite"])
    )
    with pytest.raises(InputError, match="those of different runs make no pairs"):
        compare(id, second, variant="new", store=place)
    with pytest.raises(InputError, match="needs the strong judge on every sample"):
        compare(id, store=place, terms=CompareTerms(not_worse_by=0.5))
