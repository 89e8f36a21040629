"""A store with every kind of run: outputs with all facts that can be recorded, failures, repeats, guests, rescored."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from evenhand import Eval, run_sync
from evenhand.errors import RefusedError
from evenhand.models.requests import Reply, Request
from evenhand.store.store import Store
from evenhand.testing import scripted_judge
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions
from evenhand.workflows.runs import export_run, import_run

TRACE = [{"name": "find_order", "input": {"order": 4471}, "output": "late"}, {"name": "think", "input": None}]
FACTS: dict[str, Any] = {"cost": 0.0125, "latency_ms": 800, "turns": 2, "author": "openai/gpt-4o", "trace": TRACE}
TOKENS = {"input_tokens": 1200, "output_tokens": 80}
CRITERIA = [
    {"id": "page", "asks": "Does it name the page?", "scale": "yes/no", "weight": 1},
    {"id": "tone", "asks": "Is the tone that of a person who cares?", "weight": 2, "scale": {"min": 1, "max": 10}},
]
RUBRIC: dict[str, Any] = {"name": "recorded", "criteria": CRITERIA}
SAMPLES: list[dict[str, Any]] = [
    {"id": "all", "input": "?", "outputs": {"old": {"text": "Soon.", **FACTS}, "new": {"text": "Orders.", **TOKENS}}},
    {"id": "free", "input": "?", "outputs": {"old": {"text": "No.", "cost": 0}, "new": {"text": "So.", "cost": "2"}}},
    {"id": "missing", "input": "?", "outputs": {"new": "Open Orders."}},
    {"id": "refused", "input": "?", "outputs": {"old": "refused", "new": ""}},
]


@dataclass(frozen=True)
class FailingJudge:
    """A judge that scores what it is given, and refuses one output."""

    name: str

    async def ask(self, request: Request) -> Reply:
        """Scores, or no reply at all."""
        assert request.about is not None
        text = request.about.texts["output"]
        if "refused" in text:
            raise RefusedError(f"{self.name}: no such model")
        return await scripted_judge(self.score(text), name=self.name).ask(request)

    def score(self, text: str) -> dict[str, Any]:
        """What it thinks of an output."""
        return {"page": "Orders" in text, "tone": 1 + len(text) % 10}


def build_recorded_eval() -> Eval:
    """Two variants with two repeats: one output has every fact, one is missing, one is refused."""
    return Eval(
        name="recorded",
        samples=SAMPLES,
        rubric=RUBRIC,
        judges=[FailingJudge("heron"), FailingJudge("plover")],
        assertions=[{"contains": "Orders"}, {"cost_max": 1}, {"latency_max": 1000}],
        guards=("injection",),
        repeats=2,
    )


@dataclass(frozen=True)
class RecordedRuns:
    """Where they are, each run by what it is."""

    place: Path
    runs: dict[str, str]


def record_runs(folder: Path) -> RecordedRuns:
    """A store with a run of each kind."""
    elsewhere, place = folder / "elsewhere", folder / "store"
    made = run_sync(build_recorded_eval(), options=RunOptions(place=elsewhere)).id
    file = folder / "run.evenhand"
    with Store.open(elsewhere, {}) as store:
        export_run(store, made, str(file), BytesIO())
    own = run_sync(build_recorded_eval(), options=RunOptions(place=place)).id
    runs = {"own": own, "imported": import_run(place, str(file))}
    rubric = folder / "rubric.yaml"
    rubric.write_text(
        "name: recorded-anew\ncriteria:\n"
        "  - {id: page, asks: Does it name the page?, scale: yes/no, weight: 2}\n"
        "  - {id: tone, asks: Is the tone that of a person who cares?, weight: 1, scale: {min: 1, max: 10}}\n"
    )
    for name, run in list(runs.items()):
        runs[f"{name} and rescored"] = rescore_run(place, run, str(rubric))["run"]["id"]
    return RecordedRuns(place, runs)
