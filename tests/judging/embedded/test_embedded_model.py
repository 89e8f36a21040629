"""The embedded judge as a model: always the same, named by its version, recorded, offline, whole without its extra."""

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand import JudgedSample, JudgeOptions, Missing, Sample, Scored, load_rubric
from evenhand.files.methods import LIBRARY
from evenhand.judging.embedded.texts import load_judge_word_vectors
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.open_judge import EmbeddedModel, resolve_judge_by_name
from evenhand.models.connections import Connections
from evenhand.models.requests import Reply, read_model_version

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


@pytest.fixture
def fresh_vectors() -> Iterator[None]:
    """Loaded anew here, and anew by whoever comes after."""
    load_judge_word_vectors.cache_clear()
    yield
    load_judge_word_vectors.cache_clear()


def judge(**given: Any) -> JudgedSample:
    async def run() -> JudgedSample:
        async with Connections({}, **given) as connections:
            return await ask_judges_for_reviews(
                RUBRIC, SAMPLE, [resolve_judge_by_name(connections, "embedded")], JudgeOptions()
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


def test_with_vectors_and_without_are_two_judges(fresh_vectors: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their scores are not compared as if they were one's: the version says which, and enters the fingerprint."""
    known, with_vectors = read_model_version(EmbeddedModel()), judge()
    monkeypatch.setitem(sys.modules, "wordllama", None)  # As where the extra is not installed.
    load_judge_word_vectors.cache_clear()

    bare, without = read_model_version(EmbeddedModel()), judge()

    assert (known.split()[0], bare.split()[0]) == ("vectors", "rules")
    assert known.split()[1] == bare.split()[1]  # The weights are in one file.
    assert {call.reply.model for call in without.calls if isinstance(call.reply, Reply)} == {f"embedded {bare}"}
    assert with_vectors.scores.fingerprint != without.scores.fingerprint


def test_it_judges_without_its_extra(fresh_vectors: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules alone answer what is plain."""
    monkeypatch.setitem(sys.modules, "wordllama", None)

    scores = {one.criterion: one.score for one in judge().judgments}

    assert isinstance(scores["hour"], Scored) and scores["hour"].value == 1
    assert isinstance(scores["price"], Scored) and scores["price"].value == 0
    assert isinstance(scores["tone"], Missing)


def test_nothing_is_downloaded(fresh_vectors: None, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_vectors_are_loaded_once_and_take_any_text() -> None:
    """Half of a surrogate pair is no text to the tokenizer."""
    near = load_judge_word_vectors()
    assert near is not None

    rows = near.embed(["bread and butter", "\ud800 bread"])

    assert load_judge_word_vectors() is near
    assert rows.shape == (2, 256)


def test_a_changed_lexicon_is_another_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lexicons decide answers as much as the weights do."""
    package = tmp_path / "evenhand"
    shutil.copytree(LIBRARY, package / "library")
    monkeypatch.setattr("evenhand.judging.open_judge.resources.files", lambda _: package)
    before = EmbeddedModel().version

    words = package / "library" / "embedded" / "words.yaml"
    words.write_text(words.read_text("utf-8").replace("such other", "such"), "utf-8")

    assert EmbeddedModel().version != before
