"""The embedded judge as a model: always the same, named by its version, recorded, offline, whole without its extra."""

import asyncio
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand import JudgedSample, JudgeOptions, Missing, Sample, Scored, load_rubric
from evenhand.files.methods import LIBRARY
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.open_judge import EmbeddedModel, find_judge_by_name
from evenhand.models.connections import Connections
from evenhand.models.requests import read_model_version

SAMPLE = Sample(input="When?", outputs={"a": "The shop opens at nine. Bread costs 3 euros."})
RUBRIC = load_rubric(
    {
        "method": "checklist",
        "criteria": [
            {"id": "hour", "expected_outcome": "Does it say that the shop opens at nine?"},
            {"id": "price", "expected_outcome": "Does it say that bread costs 4 euros?"},
            {"id": "tone", "expected_outcome": "Is it polite?"},
        ],
    }
)


def judge(**given: Any) -> JudgedSample:
    async def run() -> JudgedSample:
        async with Connections({}, **given) as connections:
            return await ask_judges_for_reviews(
                RUBRIC, SAMPLE, [find_judge_by_name(connections, "embedded")], JudgeOptions()
            )

    return asyncio.run(run())


def texts(judged: JudgedSample) -> list[str]:
    return [getattr(call.reply, "text", "") for call in judged.calls]


def test_the_same_question_has_the_same_answer() -> None:
    """To the byte, from a judge that was never asked before."""
    first, second = judge(), judge()

    assert texts(first) == texts(second)
    assert first.scores == second.scores


@pytest.mark.parametrize("seed", ["0", "1", "77"])
def test_the_order_of_sets_decides_nothing(seed: str) -> None:
    """Another process hashes strings otherwise and has to say the same."""
    code = (
        "from evenhand.judging.embedded.claims import extract_claim\n"
        "from evenhand.judging.embedded.features import measure_claim_features\n"
        "from evenhand.judging.embedded.texts import JudgedText\n"
        "text = JudgedText('Bread costs 3 euros, butter 2 euros. Milk and honey are sold in jars at the counter.')\n"
        "claim = extract_claim('Does it name bread, sweet honey, fresh milk and large jars at the old counter?')\n"
        "print(sorted(measure_claim_features(claim, text).features.items()))"
    )
    run = [sys.executable, "-c", code]

    here = subprocess.run(run, env={"PYTHONHASHSEED": "42"}, capture_output=True, text=True, check=True)
    there = subprocess.run(run, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)

    assert here.stdout == there.stdout


def test_a_record_gives_the_same_back(tmp_path: Path) -> None:
    """Byte for byte, and marked as recorded."""
    path = tmp_path / "record.jsonl"

    asked = judge(record=path)
    replayed = judge(replay=path)

    assert texts(replayed) == texts(asked)
    assert all(getattr(call.reply, "recorded", False) for call in replayed.calls)
    assert replayed.scores == asked.scores


def test_it_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules answer what is plain, and its version is the same on every machine."""
    known = read_model_version(EmbeddedModel())
    monkeypatch.setitem(sys.modules, "wordllama", None)  # As where no extra is installed.

    scores = {one.criterion: one.score for one in judge().judgments}

    assert isinstance(scores["hour"], Scored) and scores["hour"].value == 1
    assert isinstance(scores["price"], Scored) and scores["price"].value == 0
    assert isinstance(scores["tone"], Missing)
    assert read_model_version(EmbeddedModel()) == known


def test_nothing_is_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the judge for where there is no network: what it needs is in its package."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)

    judged = judge()

    assert len(judged.judgments) == 3


@pytest.mark.parametrize("module", ["evenhand.judging.embedded", "evenhand.judging.open_judge"])
def test_nothing_heavy_is_loaded_before_it_is_asked(module: str) -> None:
    """Whoever asks another judge waits neither for vectors nor for the tables of the rules."""
    code = f"import sys, {module}; print([name for name in ('numpy', 'wordllama') if name in sys.modules])"
    tables = (
        f"import {module}; from evenhand.judging.embedded.lexicon import load_judge_lexicon;"
        "print(load_judge_lexicon.cache_info().currsize)"
    )

    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = subprocess.run([sys.executable, "-c", tables], capture_output=True, text=True, check=True)

    assert heavy.stdout.strip() == "[]"
    assert own.stdout.strip() == "0"


def test_a_changed_lexicon_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lexicons decide answers as much as the weights do."""
    package = tmp_path / "evenhand"
    shutil.copytree(LIBRARY, package / "library")
    monkeypatch.setattr("evenhand.judging.open_judge.resources.files", lambda _: package)
    before = EmbeddedModel().version

    words = package / "library" / "embedded" / "words.yaml"
    words.write_text(words.read_text("utf-8").replace("such other", "such"), "utf-8")

    assert EmbeddedModel().version != before
