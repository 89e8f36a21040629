"""A run does nothing twice that once would do: counted, since time on a busy machine proves nothing."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenhand.runs import results as _result
from evenhand.runs import tally as _tally
from evenhand.runs.results import compose_result_score
from evenhand.runs.summary import summarise_results
from evenhand.runs.tally import RunTallyMean
from evenhand.store.rows import StoreWriter
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions, RunResult, run

SAMPLES = 12
WORDS = ("sorry", "closed")
EVAL = """
name: lean
samples: samples.jsonl
rubric: {method: judge-skill, criteria: [{id: kindness, asks: Is it kind?, weight: 1}]}
judges: [python:lean_judges:kind]
assertions: [{contains: sorry}]
"""
JUDGE = """
import json

async def kind(request):
    score = 9 if "sorry" in request.messages[-1].text else 3
    return json.dumps({"criteria": {"kindness": {"evidence": ["We are"], "reason": "It says so.", "score": score}}})
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An eval whose outputs all come to one of two scores."""
    lines = [json.dumps({"id": f"s{one}", "output": f"We are {WORDS[one % 2]}, {one}."}) for one in range(SAMPLES)]
    (tmp_path / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    (tmp_path / "lean_judges.py").write_text(JUDGE, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def ran(folder: Path) -> RunResult:
    async def within_bounds() -> RunResult:
        async with asyncio.timeout(30):
            return await run(folder / "eval.yaml", options=RunOptions(place=folder / "store"))

    return asyncio.run(within_bounds())


def test_no_sample_waits_until_the_one_before_it_is_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are committed together; samples that waited for their own would be started one commit at a time."""
    put = StoreWriter.put

    def put_and_never_tell(self: StoreWriter, kind: str, row: Mapping[str, object]) -> asyncio.Future[None]:
        written = put(self, kind, row)
        return asyncio.get_running_loop().create_future() if kind == "samples" else written

    monkeypatch.setattr(StoreWriter, "put", put_and_never_tell)

    finished = ran(folder)

    assert finished.state == "finished"
    with Store.open(folder / "store", {}) as store:
        assert [row["id"] for row in store.samples(finished.id)] == [f"s{one}" for one in range(SAMPLES)]


def test_no_call_asks_the_store_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether something was answered before is seen where many questions are claimed together."""
    asked: Counter[str] = Counter()
    cached = Store.find_cached_replies

    def counted(self: Store, keys: list[str], **of: Any) -> Any:
        asked.update(keys)
        return cached(self, keys, **of)

    monkeypatch.setattr(Store, "find_cached_replies", counted)

    finished = ran(folder)

    assert finished.head["judges"][0]["calls"] == SAMPLES
    assert not asked


def test_a_composite_is_worked_out_once_for_each_score(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most outputs of a run come to one of a few scores; each still keeps its own steps."""
    worked_out = []

    def counted(*arguments: Any) -> Any:
        worked_out.append(arguments)
        return compose_result_score(*arguments)

    monkeypatch.setattr(_result, "compose_result_score", counted)

    finished = ran(folder)

    with Store.open(folder / "store", {}) as store:
        results = list(store.results(finished.id))
    scores = {(row["score"], row["composite"]) for row in results}
    assert len(worked_out) == len(scores) == 2
    assert all(json.loads(row["content"])["composite_steps"] for row in results)


def test_a_column_of_a_summary_is_made_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was made for every result, as long as all before it, took minutes for a hundred thousand."""
    finished = ran(folder)
    made = []
    mean = RunTallyMean

    def counted(**parts: Any) -> Any:
        made.append(parts)
        return mean(**parts)

    with Store.open(folder / "store", {}) as store:
        rows = list(store.results(finished.id))
    monkeypatch.setattr(_tally, "RunTallyMean", counted)

    tally = summarise_results(["output"], rows, []).tallies["output"]

    columns = len(tally.layers) + len(tally.judges) + len(tally.criteria)
    assert columns
    assert len([parts for parts in made if parts]) == columns
