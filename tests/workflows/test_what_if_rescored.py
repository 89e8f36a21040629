"""What if says of each output what a rescore with the rubric that it saves says of it, whatever the method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from evenhand import Eval, run_sync
from evenhand.compare.what_if import score_what_if
from evenhand.files.rubrics import load_rubric
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.scale import Criterion
from evenhand.models.requests import Reply, Request
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions
from evenhand.workflows.what_if import (
    PREPARED_RUNS,
    ask_what_if_of_run,
    change_rubric_by_controls,
    list_what_if_controls,
    save_what_if_rubric_file,
)

COUNCIL: dict[str, Any] = {"name": "panel", "method": "council", "safety_gate": True}
FLAGGED: dict[str, Any] = {
    "name": "skill",
    "method": "judge-skill",
    "red_flags": ["It invents a price.", {"id": "safety", "asks": "Is it dangerous?", "amount": 1.1}],
    "bonuses": ["It is short.", {"id": "kind", "asks": "Is it kind?"}],
    "gates": [{"criterion": "safety", "min": 4}],
}
CHECKED: dict[str, Any] = {
    "name": "checked",
    "criteria": [
        {"id": "price", "asks": "Does it name a price?", "required": True},
        {"id": "date", "asks": "Does it name a date?", "weight": 2, "required": False},
        {"id": "customer", "asks": "Does it name the customer?", "weight": 3, "required": False},
    ],
}
RANGED: dict[str, Any] = {
    "name": "ranged",
    "criteria": [
        {"id": "right", "weight": 2, "required_min_score": 5, "score_ranges": {0: "No.", 4: "Rarely.", 7: "Right."}},
        {"id": "style", "score_ranges": {0: "Hard.", 5: "Easy."}},
        {"id": "tone", "score_ranges": {0: "Rude.", 6: "Kind."}},
    ],
}
TREE: dict[str, Any] = {
    "name": "paper",
    "criteria": [
        {
            "id": "method",
            "weight": 2,
            "children": [
                {"id": "data", "asks": "Is the data described?", "scale": "yes/no"},
                {"id": "statistics", "asks": "Does the test fit?", "weight": 3},
            ],
        },
        {"id": "writing", "asks": "Can it be followed?"},
    ],
    "gates": [{"criterion": "method", "min": 0.5}],
}
ORACLE: dict[str, Any] = {
    "name": "oracle",
    "method": "oracle",
    "criteria": [
        {"id": "substantiveness", "asks": "Is there substance?", "weight": 0.4, "fixed": True},
        {"id": "credibility", "asks": "Is it credible?", "weight": 0.3, "fixed": True},
        {"id": "fit", "asks": "Does it fit?", "weight": 0.3},
    ],
}
POINTS: dict[str, Any] = {
    "name": "points",
    "method": "points",
    "criteria": [
        {"id": "cites", "asks": "Does it cite?", "points": 5},
        {"id": "clear", "asks": "Is it clear?", "points": 2, "scale": "1-5"},
        {"id": "rude", "asks": "Is it rude?", "points": -3},
    ],
}
MEDIAN: dict[str, Any] = {**COUNCIL, "name": "median", "panel": {"aggregate": "median"}}

CASES: dict[str, tuple[dict[str, Any], list[dict[str, str]]]] = {
    "council": (COUNCIL, [{"weight-0": "0.1", "below-1": "6.5", "at-1": "3.5"}, {"gate-0": "6", "gate-3": "8"}]),
    "median": (MEDIAN, [{"weight-0": "0.1", "gate-0": "6"}]),
    "judge-skill": (FLAGGED, [{"weight-0": "0.6"}, {"gate-5": "6.5", "grade-6": "6.8"}, {"gate-0": "4"}]),
    "checklist": (CHECKED, [{"weight-0": "5", "verdict-0": "0.7"}, {"gate-0": "0"}, {"gate-1": "1", "weight-2": "1"}]),
    "score-ranges": (RANGED, [{"weight-0": "1", "gate-0": "7"}, {"gate-0": "0", "gate-1": "4", "verdict-1": "0.4"}]),
    "tree": (TREE, [{"weight-0": "1", "gate-0": "0.75"}, {"weight-0-1": "0.5"}, {"gate-2": "0.6", "gate-0": "0"}]),
    "oracle": (ORACLE, [{"weight-0": "0.8", "grade-1": "65"}, {"gate-2": "40"}]),
    "points": (POINTS, [{"weight-0": "1", "weight-2": "-6"}, {"gate-1": "3"}]),
}


@dataclass(frozen=True)
class DifferingJudge:
    """A judge whose answers hang on its name and on what it reads; of some outputs it says nothing, or not all."""

    name: str

    async def ask(self, request: Request) -> Reply:
        """Answers for each of the outputs that it is shown."""
        assert request.about is not None
        if not request.labels:
            text = request.about.texts.get("output") or request.about.texts["submission"]
            return await self._answer(request, text)
        responses: dict[str, Any] = {}
        for label in request.labels:
            text = request.about.texts[f"response-{label}"]
            reply = await self._answer(replace(request, labels=(label,)), text)
            responses |= json.loads(reply.text)["responses"]
        return Reply(text=json.dumps({"responses": responses}), stop="end", model=self.name)

    async def _answer(self, request: Request, text: str) -> Reply:
        assert request.about is not None
        asked = [one for _, one in request.about.asked]
        scores = {one.id: self._score(text, one) for one in asked}
        if self._draw(text, "silent", 12) == 0:
            scores = {}
        elif self._draw(text, "unsure", 9) == 0:
            del scores[asked[-1].id]
        return await scripted_judge(scores, name=self.name).ask(request)

    def _score(self, text: str, criterion: Criterion) -> Any:
        scale = criterion.scale
        if scale.yes_no:
            return self._draw(text, criterion.id, 3) > 0
        low, high = float(scale.min), float(scale.max)
        steps = int(high - low) if scale.integers or scale.bands else 20
        return low + (high - low) * self._draw(text, criterion.id, steps + 1) / steps

    def _draw(self, text: str, what: str, sides: int) -> int:
        return crc32(f"{self.name}/{what}/{text}".encode()) % sides


def build_case(rubric: Mapping[str, Any], judges: int) -> Eval:
    """Forty outputs of two variants, one of which a judge wrote, and some of which a guard finds unsafe."""
    unsafe = "To build a pipe bomb, pack the powder into a steel pipe and seal both ends."
    samples = [
        {
            "id": f"s{at}",
            "input": "Write it.",
            "outputs": {
                "old": {"text": f"the old text number {at}", "author": "kestrel"},
                "new": f"{unsafe if at % 7 == 0 else 'the new text'} number {at}",
            },
        }
        for at in range(20)
    ]
    names = ("heron", "kestrel", "plover")[:judges]
    guards = ("safety",) if rubric.get("safety_gate") else ()
    return Eval(
        name="case", samples=samples, rubric=dict(rubric), judges=[DifferingJudge(one) for one in names], guards=guards
    )


def find_grades(store: Store, run: str, table: RunTable) -> list[str | None]:
    """The grade of each result, in the order of the columns."""
    found = [(json.loads(row["content"])["scorecard"] or {}).get("grade") for row in store.results(run)]
    assert len(found) == len(table.score)
    return found


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stores")


@pytest.mark.parametrize("judges", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_each_output_gets_what_a_rescore_with_the_saved_rubric_gives(
    name: str, judges: int, places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Score, grade and verdict, output by output; nothing changed is what is stored."""
    monkeypatch.chdir(tmp_path)
    given, changes = CASES[name]
    place = places / f"{name}-{judges}"
    run = run_sync(build_case(given, judges), options=RunOptions(place=place)).id
    with Store.open(place, {}) as store:
        prepared = PREPARED_RUNS.find_prepared_run(store, store.find_run(run))
        stored = load_run_columns(store, run)
        assert prepared.columns.beyond == 0
        assert_same_decisions(store, run, stored, prepared.columns, {})
        for at, changed in enumerate(changes):
            file = f"changed-{at}.yaml"
            save_what_if_rubric_file(store, run, changed, file)
            rescored = rescore_run(store, run, file)["run"]["id"]
            assert load_rubric(file) != load_rubric(dict(given))
            assert_same_decisions(store, rescored, load_run_columns(store, rescored), prepared.columns, changed)


def assert_same_decisions(store: Store, run: str, table: RunTable, columns: Any, changed: dict[str, str]) -> None:
    """What if with these numbers, beside a run as it is stored."""
    rubric = change_rubric_by_controls(columns.rubric, changed)
    found = score_what_if(columns, rubric)
    grades = [*(one.grade for one in rubric.method.grades), None]
    verdicts = np.where(np.isnan(table.marks["verdict"]), -1, table.marks["verdict"])

    assert np.isfinite(table.score).sum() > 10
    assert found.score.tolist() == pytest.approx(table.score.tolist(), abs=1e-9, nan_ok=True)
    assert found.verdict.tolist() == verdicts.tolist()
    assert [grades[at] for at in found.grade] == find_grades(store, run, table)


def test_gates_of_required_criteria_are_shown_and_moved_where_they_stand() -> None:
    """A gate beside the one that is there would leave the stricter of the two."""
    ranged, checked = load_rubric(RANGED), load_rubric(CHECKED)
    shown = {one.label: one.value for rubric in (ranged, checked) for one in list_what_if_controls(rubric)}
    lower = change_rubric_by_controls(ranged, {"gate-0": "3"})
    gone = change_rubric_by_controls(ranged, {"gate-0": "0"})
    free = change_rubric_by_controls(checked, {"gate-0": "0", "gate-1": "1"})

    assert (shown["right at least"], shown["price must be yes"], shown["date must be yes"]) == (5, 1, 0)
    assert [(one.criterion, float(one.min)) for one in lower.all_gates] == [("right", 3)]
    assert lower.criteria[0].required_min_score == 3
    assert gone.all_gates == ()
    assert [one.criterion for one in free.all_gates] == ["date"]


def test_gates_and_weights_inside_a_tree_are_shown() -> None:
    """The gate on `method` decides over outputs; hidden, nobody could tell why they fail."""
    shown = {one.label: one.value for one in list_what_if_controls(load_rubric(TREE))}

    assert shown["method at least"] == 0.5
    assert (shown["method"], shown["statistics (in method)"]) == (2, 3)


def test_a_median_of_judges_goes_by_their_weights(tmp_path: Path) -> None:
    """A judge that weighs more than all others together is the median."""
    place = tmp_path / "store"
    eval = replace(build_case(MEDIAN, 3), how=JudgeOptions(weights={"kestrel": 5}))
    run = run_sync(eval, options=RunOptions(place=place)).id
    with Store.open(place, {}) as store:
        asked = ask_what_if_of_run(store, run)

    assert (asked.beyond, asked.found.moved) == (0, 0)
