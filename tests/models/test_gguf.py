"""Models in GGUF files: loaded once and quietly, asked in this process, and never the end of it."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Coroutine
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

from evenhand import Connections, JudgeError, JudgeOptions, Missing, ModelError, Sample, Scored, judge, load_rubric
from evenhand.models.function_model import join_model_reply_chunks
from evenhand.models.requests import Message, Model, ModelSettings, Reply, Request
from tests.judging import llama

T = TypeVar("T")
SAMPLE = Sample(input="What is the capital of France?", outputs={"a": "Paris is the capital of France."})
RUBRIC = load_rubric({"criteria": [{"id": id, "expected_outcome": f"Names {id}"} for id in ("Paris", "Lyon")]})
COLOUR = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def file() -> Path:
    """A small real model; where it cannot be installed, its tests are skipped."""
    if llama.missing():
        pytest.skip(f"not installed here: {llama.missing()}; nothing is asked of a real model")
    return llama.model_file()


def _request(text: str, **settings: Any) -> Request:
    return Request(dialogue="test", messages=(Message("user", text),), settings=ModelSettings(**settings))


def _with(name: str, ask: Callable[[Model], Coroutine[Any, Any, T]], **where: Any) -> T:
    async def run() -> T:
        async with Connections({}, **where) as connections:
            return await ask(connections.open(name))

    return asyncio.run(run())


def _refused(path: Path) -> str:
    with pytest.raises((JudgeError, ModelError)) as error:
        _with(f"gguf:{path}", lambda model: model.ask(_request("Hello")))
    return str(error.value)


def test_a_name_needs_a_path() -> None:
    """And says which forms there are."""
    with pytest.raises(JudgeError, match="gguf: needs a file"):
        Connections({}).open("gguf:")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """Before anything is asked."""
    path = tmp_path / "none.gguf"

    assert _refused(path) == f"gguf:{path}: the file cannot be read: no such file or directory"


def test_a_file_of_another_kind_is_not_loaded(tmp_path: Path) -> None:
    """Whatever its name says; the runtime never sees it."""
    path = tmp_path / "fake.gguf"
    path.write_bytes(b"PK\x03\x04 not a model")

    assert "this is not a GGUF file" in _refused(path)


def test_a_damaged_file_is_refused(tmp_path: Path, file: Path) -> None:
    """The first thousand bytes of a real one."""
    path = tmp_path / "cut.gguf"
    path.write_bytes(file.read_bytes()[:1000])

    assert "llama.cpp cannot load this file: it is damaged" in _refused(path)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runtime is an extra: most judges need none."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    assert _refused(path) == "gguf: needs the extra local: pip install '/path/to/evenhand[local]'"


def test_whatever_the_runtime_raises_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the model and ends nothing else."""
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF")
    runtime = _Runtime("xllamacpp")
    runtime.__spec__ = ModuleSpec("xllamacpp", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", runtime)

    assert _refused(path) == f"gguf:{path}: out of luck"


class _Runtime(ModuleType):
    class CommonParams:
        def __init__(self) -> None:
            self.model = self.cpuparams = self.cpuparams_batch = ModuleType("part")

    class Server:
        def __init__(self, params: object) -> None:
            pass

        def handle_chat_completions(self, body: object, take: object) -> None:
            raise ValueError("out of luck")


def test_parts_of_a_reply_are_put_together() -> None:
    """As it would have come in one piece."""
    place = {"token": "Yes", "top_logprobs": [{"token": "Yes", "logprob": -0.1}]}
    chunks: list[object] = [
        {"model": "m", "choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
        {"model": "m", "choices": [{"delta": {"content": "Yes"}, "logprobs": {"content": [place]}}]},
        {"model": "m", "choices": [{"delta": {"content": "!"}}]},
        {"model": "m", "choices": [{"delta": {}, "finish_reason": "stop"}]},
        {"model": "m", "choices": [], "usage": {"prompt_tokens": 3}},
    ]

    choice = {"message": {"content": "Yes!"}, "finish_reason": "stop", "logprobs": {"content": [place]}}
    assert join_model_reply_chunks(chunks) == {"model": "m", "usage": {"prompt_tokens": 3}, "choices": [choice]}
    assert join_model_reply_chunks([]) == {"choices": []}


def test_a_reply_keeps_to_schema_settings_and_count(file: Path) -> None:
    """Form by grammar, an end at max_tokens, likely tokens where wanted, tokens counted."""

    async def ask(model: Model) -> tuple[Reply, Reply]:
        formed = Request(dialogue="test", messages=(Message("user", "Name a colour."),), schema=COLOUR)
        return await model.ask(formed), await model.ask(_request("Count to ten.", max_tokens=3, top_logprobs=4))

    formed, short = _with(f"gguf:{file}", ask)

    assert formed.text.replace(" ", "").replace("\n", "") in ('{"colour":"red"}', '{"colour":"blue"}')
    assert formed.stop == "end"
    assert re.fullmatch(rf"gguf:{re.escape(str(file))} [0-9a-f]{{16}}", formed.model)
    assert (short.stop, short.usage.output, len(short.places)) == ("length", 3, 3)
    assert [len(place.likely) for place in short.places] == [4, 4, 4]
    assert "".join(place.token for place in short.places) == short.text


def test_a_seed_repeats_a_warm_reply(file: Path) -> None:
    """And another seed gives another one, however short: a warm reply is never remembered."""

    async def ask(model: Model) -> list[str]:
        warm = [_request("Tell a story.", max_tokens=12, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
        texts = [(await model.ask(request)).text for request in warm]
        once = _request("Tell a story.", max_tokens=1, temperature=1.0, seed=1)
        assert [(await model.ask(once)).seconds > 0 for _ in range(2)] == [True, True]
        return texts

    first, again, other = _with(f"gguf:{file}", ask)

    assert first == again != other


def test_a_prompt_too_long_is_refused_and_the_next_is_answered(file: Path) -> None:
    """The process lives on, and says how long is too long."""

    async def ask(model: Model) -> tuple[str, Reply]:
        with pytest.raises(ModelError) as error:
            await model.ask(_request("word " * 20_000))
        return str(error.value), await model.ask(_request("Hello", max_tokens=1))

    why, reply = _with(f"gguf:{file}", ask)

    assert "the prompt has 20031 tokens, and this model reads 8192 at most" in why
    assert reply.usage.output == 1


def test_questions_about_one_output_read_it_once(file: Path) -> None:
    """The second begins where the first began to differ; the same one again is not asked at all."""
    text = "The ferry leaves at nine and takes two hours. " * 8

    async def ask(model: Model) -> list[Reply]:
        asked = [f"{text}Does it name {what}?" for what in ("a time", "a price", "a price")]
        return [await model.ask(_request(one, max_tokens=1)) for one in asked]

    first, second, again = _with(f"gguf:{file}", ask)

    assert first.usage.input and (second.usage.cached or 0) > 0.8 * first.usage.input
    assert again.text == second.text
    assert (again.seconds, again.usage.cached) == (0.0, again.usage.input)


def test_judging_by_odds_is_recorded_and_repeated_without_the_model(file: Path, language: str, tmp_path: Path) -> None:
    """The same judgments, byte for byte, from a record; whatever so small a model thinks."""
    name, record, how = f"gguf:{file}", tmp_path / "replies.jsonl", JudgeOptions(language=language)

    live = _with(name, lambda model: judge(RUBRIC, SAMPLE, judges=model, how=how), record=record)
    again = _with(name, lambda model: judge(RUBRIC, SAMPLE, judges=model, how=how), replay=record)

    assert {call.request.dialogue for call in live.calls} == {"odds"}
    assert all(isinstance(one.score, (Scored, Missing)) for one in live.judgments)
    assert not [one for one in live.judgments if isinstance(one.score, Missing) and one.score.kind == "failed"]
    assert again.judgments == live.judgments
    assert again.scores == live.scores


def test_other_ways_of_asking_are_open_to_it(file: Path, language: str) -> None:
    """One request for each criterion, with a reason in prose: it is a model like all others."""
    rubric = load_rubric({"criteria": [{"id": "Paris", "expected_outcome": "Names Paris"}]})
    how = JudgeOptions(each=True, settings=ModelSettings(max_tokens=8), language=language)

    judged = _with(f"gguf:{file}", lambda model: judge(rubric, SAMPLE, judges=model, how=how))

    assert {call.request.dialogue for call in judged.calls} == {"checklist"}
    assert all(isinstance(call.reply, Reply) for call in judged.calls)


LATE = """
import asyncio, sys
from evenhand import Connections, JudgeOptions, ModelSettings, Sample, judge, load_rubric
from evenhand.models.requests import Message, Request

async def main():
    rubric = load_rubric({"criteria": [{"id": "x", "expected_outcome": "Tells a long story"}]})
    async with Connections({}) as connections:
        model = connections.open(sys.argv[1])
        slow = JudgeOptions(each=True, deadline=1.5, settings=ModelSettings(max_tokens=4000))
        late = await judge(rubric, Sample(input="?", outputs={"a": "Once."}), judges=model, how=slow)
        print(late.judgments[0].score.why)
        short = Request(dialogue="test", messages=(Message("user", "Hello"),), settings=ModelSettings(max_tokens=2))
        print((await model.ask(short)).usage.output)

asyncio.run(main())
"""


def test_a_late_reply_is_dropped_and_nothing_is_printed(file: Path) -> None:
    """The deadline holds, the next question is answered, the process ends well, and llama.cpp keeps quiet."""
    story = LATE.replace('"Once."', '"Once upon a time. " * 300')

    ended = subprocess.run(
        [sys.executable, "-c", story, f"gguf:{file}"], capture_output=True, text=True, timeout=120, check=False
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "judge failed: missed its deadline of 1.5 s\n2\n"
