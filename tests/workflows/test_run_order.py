"""Runs by their composite: in the list, through the history, and what they tell about the next one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.cli.compare import format_power_lines_for_terminal
from evenhand.cli.plan_tables import format_planned_power_for_terminal
from evenhand.errors import InputError
from evenhand.stats.power import detectable_effect_at_power, power_of
from evenhand.store.store import Store
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.compare_sides import requested_power_json
from evenhand.workflows.history import load_history
from evenhand.workflows.plan_power import plan_power
from evenhand.workflows.runs import list_runs
from tests.cli.command import evenhand
from tests.compare.columns import column, compared
from tests.runs.stored import keep_run, result

FIRST, SECOND, THIRD = "20261116-090000-aaaaaa", "20261116-100000-bbbbbb", "20261116-110000-cccccc"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / ".evenhand", {}) as opened:
        yield opened


def test_a_list_of_runs_has_their_composites_and_sorts_by_them(store: Store) -> None:
    """By the best variant of each; what has no composite comes last."""
    keep_run(store, FIRST, {"old": [4.0] * 6, "new": [4.5] * 6})
    keep_run(store, SECOND, {"old": [3.0] * 6, "new": [3.5] * 6})
    keep_run(store, THIRD, {"old": [None] * 6})

    newest, best = list_runs(store), list_runs(store, sort="composite")

    assert [one.id for one in newest] == [THIRD, SECOND, FIRST]
    assert [one.id for one in best] == [FIRST, SECOND, THIRD]
    assert (best[0].composites, best[0].layers) == ({"old": 4.0, "new": 4.5}, ("fact",))
    assert best[2].composites == {"old": None}


def test_the_history_says_how_far_the_composite_moved(store: Store) -> None:
    """Since the run before, where both have the same layers and fingerprint; on request the highest comes first."""
    keep_run(store, FIRST, {"new": [4.0] * 6})
    keep_run(store, SECOND, {"new": [3.5] * 6})
    keep_run(store, THIRD, {"new": [4.5] * 6}, fingerprint="g")

    oldest, best = load_history(store, "desk").runs, load_history(store, "desk", sort="composite").runs

    assert [line.trend for line in oldest] == [None, -0.5, None]
    assert [line.evaluation.run for line in best] == [THIRD, FIRST, SECOND]
    assert oldest[0].to_json()["layers"] == ["fact"]


def test_no_trend_joins_composites_of_different_layers(store: Store) -> None:
    """A mean of facts and one of facts and judges are not one line."""
    judged = [result(at, "new", 4.0, layers={"fact": "4", "judge": "4"}) for at in range(6)]
    keep_run(store, FIRST, {"new": [3.0] * 6})
    keep_run(store, SECOND, {"new": [4.0] * 6}, results=judged)

    assert [line.trend for line in load_history(store, "desk").runs] == [None, None]


def test_lists_and_histories_are_sorted_on_request(tmp_path: Path) -> None:
    """At the door, with the layers that each composite is of, and a word where they differ."""
    judged = [result(at, "new", 3.0, layers={"fact": "3", "judge": "3"}) for at in range(6)]
    with Store.open(tmp_path / ".evenhand", {}) as store:
        keep_run(store, FIRST, {"new": [4.0] * 6})
        keep_run(store, SECOND, {"new": [3.0] * 6}, results=judged)

    listed = evenhand("runs", "list", "--sort", "composite", folder=tmp_path).stdout
    history = evenhand("history", "desk", "--sort", "composite", folder=tmp_path).stdout

    for text in (listed, history):
        assert text.index(FIRST) < text.index(SECOND)
        assert "4.00" in text
    assert f"composite of {SECOND}: mean of fact, rubric" in " ".join(history.split())
    assert "composites that were computed differently cannot be compared" in history
    assert listed.index("desk · fingerprint f · composite: mean of fact, rubric") < listed.index(SECOND)
    assert "only the composites of one group can be compared" in listed


def test_by_composite_runs_that_can_be_compared_stand_together(store: Store) -> None:
    """Another fingerprint is another way of scoring: its runs are not ranked among the others."""
    keep_run(store, FIRST, {"new": [4.0] * 6})
    keep_run(store, SECOND, {"new": [3.5] * 6}, fingerprint="g")
    keep_run(store, THIRD, {"new": [3.0] * 6})

    listed = list_runs(store, sort="composite")
    history = load_history(store, "desk", sort="composite").runs

    assert [one.id for one in listed] == [FIRST, THIRD, SECOND]
    assert [line.evaluation.run for line in history] == [FIRST, THIRD, SECOND]
    assert listed[0].computed == history[0].to_json()["computed"] == "fact alone"


def test_a_plan_takes_the_scatter_of_the_last_run(store: Store) -> None:
    """And says what as many samples as are planned show four times out of five."""
    keep_run(store, FIRST, {"old": [3.0] * 24, "new": [3.0, 4.0, 5.0, 3.0] * 6})

    found = plan_power(store, "desk", treatments=["new"], pairs=40, smallest_effect=0.5, stated_sd=None)

    assert found is not None
    (one,) = found["treatments"]
    assert one["run"] == FIRST
    assert one["detectable"] == pytest.approx(detectable_effect_at_power(40, one["sd"], step=1.0), abs=1e-5)
    assert power_of(40, one["detectable"], one["sd"], step=1.0).power == pytest.approx(0.8, abs=1e-4)
    (shows, takes) = format_planned_power_for_terminal(found)
    assert shows == (
        f"power: 40 samples show a difference of {one['detectable']:.2f} points four times out of five "
        f"(standard deviation {one['sd']:.2f}, from run {FIRST})"
    )
    assert takes == f"0.5 points, the smallest that matters, takes {one['needed']} samples"


@pytest.mark.parametrize(
    ("later", "told_by"),
    [
        ({"old": [3.0] * 2, "new": [4.0, 4.0]}, FIRST),
        ({"old": [3.0] * 24, "new": [3.5] * 24}, FIRST),
        ({"old": [3.0] * 8, "new": [4.0, 3.0, 2.0, 5.0] * 2}, FIRST),
        ({"old": [3.0] * 20, "new": [4.0, 3.0, 2.0, 5.0] * 5}, SECOND),
    ],
    ids=["two pairs", "all equal", "fewer pairs", "enough pairs"],
)
def test_a_plan_goes_by_a_run_that_tells_the_scatter(store: Store, later: dict[str, list[float]], told_by: str) -> None:
    """A look at two samples, or a run of equal differences, says nothing about how far others scatter."""
    keep_run(store, FIRST, {"old": [3.0] * 24, "new": [3.0, 4.0, 5.0, 3.0] * 6})
    keep_run(store, SECOND, later)

    found = plan_power(store, "desk", treatments=["new"], pairs=40, smallest_effect=0.5, stated_sd=None)

    assert found is not None
    assert found["treatments"][0]["run"] == told_by


@pytest.mark.parametrize(
    "variants",
    [
        {"old": [3.0] * 12, "new": [5.0, 4.0, 2.0] * 4},
        {"old": [3.0] * 12, "new": [3.1, 4.3, 2.2, 3.7, 4.9, 2.6, 3.4, 4.15, 2.9, 3.85, 3.05, 4.45]},
        {"old": [3.0] * 12, "new": [5.0, 4.0, 2.0] * 4, "newer": [4.0, 2.5, 3.0] * 4},
    ],
    ids=["tied", "untied", "two treatments"],
)
def test_a_plan_and_a_comparison_say_the_same_of_one_run(store: Store, variants: dict[str, list[float]]) -> None:
    """Samples that the smallest effect takes, and the chance that as many samples as there are show it."""
    keep_run(store, FIRST, variants)

    planned = plan_power(store, "desk", treatments=list(variants)[1:], pairs=12, smallest_effect=0.5, stated_sd=None)
    asked = compare_runs(store, FIRST, terms=CompareTerms(power=True)).power

    assert planned is not None
    assert asked is not None
    for one in planned["treatments"]:
        told = asked[one["treatment"]]
        assert one["needed"] == told["smallest"]["needed"]
        assert one["power"] == pytest.approx(next(row["smallest"] for row in told["table"] if row["n"] == 12), abs=1e-4)


def test_a_stated_scatter_goes_before_that_of_the_last_run(store: Store) -> None:
    """Whoever changes the judge knows better; several treatments share the 5%, so that each shows less."""
    keep_run(store, FIRST, {"old": [3.0] * 24, "new": [3.0, 4.0, 5.0, 3.0] * 6})

    one = plan_power(store, "desk", treatments=["new"], pairs=34, smallest_effect=0.5, stated_sd=1.0)
    two = plan_power(store, "desk", treatments=["new", "newer"], pairs=34, smallest_effect=0.5, stated_sd=1.0)

    assert one is not None
    assert two is not None
    assert (one["treatments"][0]["run"], one["treatments"][0]["needed"]) == (None, 34)
    assert one["treatments"][0]["detectable"] == pytest.approx(0.495, abs=0.002)
    assert two["treatments"][1]["detectable"] > one["treatments"][0]["detectable"]


def test_a_plan_without_any_scatter_says_what_would_help() -> None:
    """A first run has none before it; with one variant there is nothing to compare."""
    found = plan_power(None, "desk", treatments=["new"], pairs=12, smallest_effect=0.5, stated_sd=None)

    assert plan_power(None, "desk", treatments=[], pairs=12, smallest_effect=0.5, stated_sd=None) is None
    assert format_planned_power_for_terminal(None) == []
    first, few = format_planned_power_for_terminal(found)
    assert first.startswith(
        "power: what 12 samples can show is not known: no run so far tells how far differences scatter; --sd"
    )
    assert few.startswith("below 20 samples")


def test_clusters_are_not_called_samples() -> None:
    """What a plan counts is what it names: three samples of a cluster are one observation."""
    found = plan_power(None, "desk", treatments=["new"], pairs=10, smallest_effect=0.5, stated_sd=1.0, unit="cluster")

    lines = format_planned_power_for_terminal(found)
    assert lines[0].startswith("power: 10 clusters show a difference")
    assert lines[1].endswith("takes 34 clusters")
    assert lines[2].startswith("below 20 clusters only")
    assert not any("sample" in line for line in lines)


@pytest.mark.parametrize(("clusters", "unit"), [(None, "sample"), (8, "cluster"), (24, "sample")])
def test_the_power_of_a_comparison_counts_what_it_names(clusters: int | None, unit: str) -> None:
    """Of 24 samples in 8 clusters, 8 are independent; clusters of one sample are samples."""
    old, new = [3.0] * 24, [3.0, 4.0, 3.5, 2.5, 4.5, 3.2] * 4
    labels = range(24) if clusters is None else [place % clusters for place in range(24)]
    found = compared(column(old), column(new), clusters=labels, samples=range(24))

    told = requested_power_json(found)
    badge = next(one for one in found.badges if one.name == "saturated")

    assert (told["unit"], told["pairs"]) == (unit, clusters or 24)
    assert all(f" {unit}s would" in line for line in format_power_lines_for_terminal(told) if "four times" in line)
    assert f"{unit}s" in badge.says + badge.advice
    assert (unit == "sample") == ("sample" in badge.says)


def test_a_scatter_below_nothing_is_refused() -> None:
    """With what would work."""
    with pytest.raises(InputError, match="standard deviation cannot be -1"):
        plan_power(None, "desk", treatments=["new"], pairs=12, smallest_effect=0.5, stated_sd=-1.0)


def test_the_plan_of_an_eval_has_its_power(tmp_path: Path) -> None:
    """From the command: before a first run, with a stated scatter, and after it; without a plan it is refused."""
    evenhand("init", folder=tmp_path)

    before = evenhand("run", "eval.yaml", "--plan", folder=tmp_path).stdout
    stated = evenhand("run", "eval.yaml", "--plan", "--sd", "1", folder=tmp_path).stdout
    evenhand("run", "eval.yaml", folder=tmp_path)
    after = evenhand("run", "eval.yaml", "--plan", folder=tmp_path).stdout
    refused = evenhand("run", "eval.yaml", "--sd", "1", folder=tmp_path)

    assert "can show is not known: no run so far tells" in " ".join(before.split())
    assert "24 samples show a difference of 0.60 points" in " ".join(stated.split())
    assert "from run" in after
    assert (refused.returncode, "--plan" in refused.stderr) == (2, True)
