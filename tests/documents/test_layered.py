"""Document 004, the composite score: its formula, examples and verdicts, through `score`, `run` and `compare`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evenhand import score
from tests.cli.command import evenhand
from tests.compare.columns import column, decided, spread
from tests.documents.read import read_document, read_table


@pytest.fixture(scope="module")
def document(shared: Path) -> str:
    return read_document(shared, "004")


def _score(**layers: object) -> Any:
    return score("layered", [{"id": "a", "scores": layers}]).scorecards[0]


def test_the_formula_of_the_assertion_layers(document: str) -> None:
    """0% is 1, 100% is 5, and weights count, not assertions."""
    assert "factScore = 1 + (passed_weight / total_weight) × 4" in document
    assert "Pass rate 0% → 1 point, 100% → 5 points" in document

    assert [float(_score(fact=share).exact) for share in (0, 0.25, 0.5, 1)] == [1, 2, 3, 5]
    assert _score(fact={"passed": 2, "total": 3}).exact == _score(behavior={"passed": 4, "total": 6}).exact


def test_the_example_of_two_scales(document: str) -> None:
    """A pass rate of 80% is 4.2; a judge's 4 stays 4."""
    ((rate, expected, given),) = re.findall(r"fact pass rate (\d+)% → factScore ([\d.]+); judge gives (\d)", document)

    assert float(_score(fact=int(rate) / 100).exact) == float(expected)
    assert _score(judge=int(given)).exact == int(given)


def test_the_example_of_scores_that_are_not_comparable(document: str) -> None:
    """Two 4.33 over different layers: both are computed, each says from what, and they are not ranked."""
    ((layers, three),) = re.findall(r"A skill: composite = mean\((.*?)\) = ([\d.]+)", document)
    ((judge, alone),) = re.findall(r"B skill: composite = mean\(judge=([\d.]+)\) = ([\d.]+)", document)
    given = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.]+)", layers)}
    rates = {name: value if name == "judge" else (value - 1) / 4 for name, value in given.items()}

    scores = score("layered", [{"id": "A", "scores": rates}, {"id": "B", "scores": {"judge": float(judge)}}])

    assert [float(card.score or 0) for card in scores.scorecards] == [float(three), float(alone)]
    assert scores.ranking is None
    assert "different layers" in " ".join(map(str, scores.notes))


def test_each_of_the_six_verdicts_can_be_reached(document: str) -> None:
    """The names of the table, each from data that fit its meaning."""
    better = [one + 0.8 + 0.05 * (place % 5) for place, one in enumerate(spread(4))]
    worse = [one - 0.8 - 0.05 * (place % 5) for place, one in enumerate(spread(4))]
    low = [one - 2.4 for one in better]
    reached = {
        "PROGRESS": decided(column(spread(4)), column(better)),
        "CAUTIOUS": decided(column([one - 2.4 for one in spread(4)]), column(low)),
        "REGRESS": decided(column(spread(4)), column(worse)),
        "NOISE": decided(column(spread(4, 40)), column(spread(4, 40))),
        "UNDERPOWERED": decided(column(spread(4, 4)), column(better[:4])),
        "SOLO": decided(column(spread(4))),
    }

    assert {row["Verdict"] for row in read_table(document, "| Verdict | Meaning")} == reached.keys()
    assert {name: found.verdict for name, found in reached.items()} == {name: name for name in reached}


def test_judges_that_disagree_hold_progress_back(document: str) -> None:
    """A would-be PROGRESS whose judges contradict each other on either variant is CAUTIOUS."""
    assert "inter-judge Pearson < 0.4" in document
    better = [one + 0.8 + 0.05 * (place % 5) for place, one in enumerate(spread(4))]
    agreeing, opposed = [spread(4), spread(4)], [spread(4), spread(4)[::-1]]

    by_judges = {
        (old, new): decided(column(spread(4)), column(better), judges={"old": said[old], "new": said[new]}).verdict
        for said in [{"agree": agreeing, "disagree": opposed}]
        for old in said
        for new in said
    }

    assert by_judges == {
        ("agree", "agree"): "PROGRESS",
        ("agree", "disagree"): "CAUTIOUS",
        ("disagree", "agree"): "CAUTIOUS",
        ("disagree", "disagree"): "CAUTIOUS",
    }


def test_all_three_layers_absent_fails_the_gate(document: str) -> None:
    assert "if all three are absent the gate FAILs" in document

    card = _score(judge=None)

    assert card.exact is None


def test_the_command_prints_the_composite_with_its_layers(document: str, tmp_path: Path) -> None:
    """What the document's interface lacks: how many layers a composite was computed from."""
    assert "a known gap" in document
    samples = [
        {"id": f"s{n}", "input": "?", "outputs": {"old": "no refund", "new": "a refund in 5 days"}} for n in range(12)
    ]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in samples), "utf-8")
    (tmp_path / "eval.yaml").write_text(
        "name: refunds\nsamples: samples.jsonl\nvariants: {old: {}, new: {}}\ncontrol: old\n"
        "assertions:\n  - contains: 5 days\n  - word_count_max: 20\n",
        "utf-8",
    )

    done = evenhand("run", "eval.yaml", "--json", folder=tmp_path)

    head = json.loads(done.stdout)
    assert {one["name"]: sorted(one["layers"]) for one in head["variants"]} == {
        "old": ["behavior", "fact"],
        "new": ["behavior", "fact"],
    }
    assert head["decision"]["verdict"] in ("PROGRESS", "CAUTIOUS")
