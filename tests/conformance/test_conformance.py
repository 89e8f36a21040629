"""The exact cases of the four methods that have a conformance file."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand import score
from evenhand.scoring.scores_json import scores_to_json

SETS = ("flags", "gates_failed")


@pytest.mark.parametrize(("method", "count"), [("checklist", 80), ("council", 60), ("judge-skill", 60), ("oracle", 50)])
def test_every_conformance_case_passes(shared: Path, method: str, count: int) -> None:
    """Scores agree to the last digit, everything else exactly."""
    cases = json.loads((shared / "conformance" / f"{method}.json").read_text())["cases"]

    wrong = [(case["id"], *fault) for case in cases for fault in _differences(case)]

    assert wrong == []
    assert len(cases) >= count


def test_tree_scores_equal_the_published_ones(shared: Path) -> None:
    """Three trees of human-graded leaves, up to 489 nodes, give the root scores that were published with them."""
    published = {"rice": 0.185681216931, "all-in-one": 0.713935185185, "semantic-self-consistency": 0.91}

    roots = {name: _root_score(shared / "datasets" / "paperbench_rubric_trees" / f"{name}.jsonl") for name in published}

    assert roots == pytest.approx(published, abs=1e-12)


def _differences(case: dict[str, Any]) -> list[tuple[str, object, object]]:
    result: Any = scores_to_json(score(case["rubric"], case["input"]))
    expect = case["expect"]
    wrong = []
    for expected, card in zip(expect["scorecards"], result["scorecards"], strict=True):
        for name, value in expected.items():
            if name == "score_exact":
                same, found = card["score"] == value[0] / value[1], card["score"]
            elif name == "score":
                same, found = card[name] == pytest.approx(value, abs=1e-9), card[name]
            else:
                found = card[name]
                same = set(found) == set(value) if name in SETS else found == value
            wrong += [] if same else [(name, value, found)]
    if "ranking" in expect:
        ranks = result["ranking"] and [{"id": place["id"], "rank": place["rank"]} for place in result["ranking"]]
        wrong += [] if ranks == expect["ranking"] else [("ranking", expect["ranking"], ranks)]
    return wrong


def _root_score(path: Path) -> object:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    below: dict[str | None, list[dict[str, Any]]] = {}
    for row in rows:
        below.setdefault(row["parent"], []).append(row)

    def node(row: dict[str, Any]) -> dict[str, object]:
        children = [node(child) for child in below.get(row["id"], [])]
        more = {"children": children} if children else {}
        return {"id": row["id"], "asks": row["requirements"], "weight": row["weight"], **more}

    rubric = {"method": "tree", "criteria": [node(row) for row in below[None]]}
    leaves = {row["id"]: row["score"] for row in rows if row["is_leaf"]}
    return score(rubric, {"outputs": [{"id": "submission", "scores": leaves}]})["submission"].score
