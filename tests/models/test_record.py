"""Records: written as replies come, given back to the byte, and never with a key in them."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError, RefusedError
from evenhand.models.connections import Connections
from evenhand.models.recording import ModelReplyRecord, ModelReplyRecorder
from evenhand.models.requests import ModelSettings, Reply, Request, TokenLogprobs, TokenUsage
from tests.models.server import KEY, Server, answers, chat, question, says

NAME = "openai/gpt-4o"
REPLY = Reply(
    text='ä\n"4" \u2028 �',
    stop="length",
    model="gpt-4o-2024",
    usage=TokenUsage(input=9, output=2, cached=0),
    places=(TokenLogprobs("4", (("4", -0.1), ("5", float("-inf")))), TokenLogprobs("", ())),
    request_id="r1",
    attempts=3,
    seconds=1.5,
)


def write(path: Path, *entries: tuple[Request, Reply], name: str = NAME) -> None:
    recorder = ModelReplyRecorder(path)
    for request, reply in entries:
        recorder.write_reply_line(name, request, reply)
    recorder.close()


def replay(path: Path, request: Request, name: str = NAME) -> Reply:
    async def run() -> Reply:
        async with Connections({}, replay=path) as connections:
            return await connections.open(name).ask(request)

    return asyncio.run(run())


def test_a_reply_comes_back_to_the_byte(tmp_path: Path) -> None:
    """All of it, and marked as recorded; no key and no connection is needed."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), REPLY))

    found = replay(path, question())

    assert found.recorded
    for field in REPLY.__slots__:
        assert field == "recorded" or getattr(found, field) == getattr(REPLY, field)


@given(
    text=st.text(),
    tokens=st.none() | st.integers(0, 10**12),
    places=st.lists(
        st.builds(TokenLogprobs, st.text(), st.lists(st.tuples(st.text(), st.floats(allow_nan=False))).map(tuple))
    ),
    seconds=st.floats(0, 1e6),
)
def test_any_reply_comes_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, tokens: int | None, places: list[TokenLogprobs], seconds: float
) -> None:
    """Whatever the text and the numbers."""
    path = tmp_path_factory.mktemp("any") / "r.jsonl"
    reply = Reply(text=text, usage=TokenUsage(input=tokens), places=tuple(places), seconds=seconds)
    write(path, (question(), reply))

    found = ModelReplyRecord(path).find(question(), NAME)

    assert found is not None
    assert (found.text, found.usage, found.places, found.seconds) == (text, reply.usage, reply.places, seconds)


def test_a_run_is_recorded_and_replayed(tmp_path: Path) -> None:
    """The server is gone, and everything is as it was."""
    path = tmp_path / "r.jsonl"
    requests = [question("a"), question("b"), question("a", repeat=1), question("a", settings=ModelSettings(seed=1))]

    async def run() -> tuple[list[Reply], str]:
        async with (
            Server(*(says(str(number)) for number in range(4))) as server,
            Connections({"EVENHAND_API_KEY": KEY}, record=path) as connections,
        ):
            model = connections.open(server.name)
            return [await model.ask(request) for request in requests], server.name

    replies, name = asyncio.run(run())

    assert [replay(path, request, name).text for request in requests] == [reply.text for reply in replies]
    assert len(path.read_text().splitlines()) == 4
    assert KEY not in path.read_text()


def test_a_line_is_in_the_file_before_the_next_question(tmp_path: Path) -> None:
    """A killed process loses nothing that was answered."""
    path = tmp_path / "r.jsonl"

    recorder = ModelReplyRecorder(path)
    recorder.write_reply_line(NAME, question(), REPLY)
    lines = path.read_bytes()
    recorder.close()

    assert lines.endswith(b"}\n")
    assert json.loads(lines)["dialogue"] == "test"
    assert json.loads(lines)["key"] == question().key(NAME)


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_cut_last_line_is_tolerated_and_written_after(tmp_path: Path, cut: int) -> None:
    """The one reply is lost, those before and after it are not."""
    path = tmp_path / "r.jsonl"
    write(path, (question("a"), REPLY), (question("b"), REPLY))
    path.write_bytes(path.read_bytes()[: -cut * 5])

    write(path, (question("c"), REPLY))

    record = ModelReplyRecord(path)
    assert record.find(question("a"), NAME) is not None
    assert record.find(question("b"), NAME) is None
    assert record.find(question("c"), NAME) is not None


@pytest.mark.parametrize("length", [1, 20, 80])
def test_a_record_with_nothing_but_a_cut_line_is_refused(tmp_path: Path, length: int) -> None:
    """It was taken for a record of no judge, and another judge was named in its place."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), REPLY))
    path.write_bytes(path.read_bytes()[:length])

    with pytest.raises(JudgeError, match=rf"r\.jsonl:1: the line breaks off at column {length + 1} "):
        ModelReplyRecord(path)


@pytest.mark.parametrize("content", ["", "\n", " \n\n"])
def test_an_empty_record_is_refused(tmp_path: Path, content: str) -> None:
    """There is nothing to replay."""
    path = tmp_path / "r.jsonl"
    path.write_text(content)

    with pytest.raises(JudgeError, match=r"r\.jsonl: there is no reply in this record"):
        ModelReplyRecord(path)


def test_a_missing_reply_tells_of_a_line_that_breaks_off(tmp_path: Path) -> None:
    """It is probably the reply that is missing."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), REPLY), (question("another"), REPLY))
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(RefusedError, match=r"of the recording \(.*r\.jsonl:2: the line breaks off at column \d+\)"):
        replay(path, question("another"))


def test_of_two_replies_to_the_same_request_the_first_counts(tmp_path: Path) -> None:
    """Whoever wants both asks with another repeat."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), Reply(text="first")), (question(), Reply(text="second")))

    assert replay(path, question()).text == "first"


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        (question("other"), NAME),
        (question(repeat=1), NAME),
        (question(settings=ModelSettings(max_tokens=1)), NAME),
        (question(), "openai/gpt-4"),
    ],
)
def test_what_is_not_in_the_record_is_refused(tmp_path: Path, request_: Request, name: str) -> None:
    """Never a near one; the dialogue and the model are named."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), REPLY))

    with pytest.raises(RefusedError, match=rf"^{name}: .* no reply of {name} to this request .*dialogue 'test'"):
        replay(path, request_, name)


def test_a_record_is_a_judge_of_its_own(tmp_path: Path) -> None:
    """It answers what was asked, whoever answered it then; the first such reply counts."""
    path = tmp_path / "r.jsonl"
    write(path, (question("a"), Reply(text="one")), name="openai/x")
    write(path, (question("a"), Reply(text="two")), (question("b"), Reply(text="three")), name="openai/y")

    async def run() -> list[str]:
        async with Connections({}) as connections:
            model = connections.open(f"replay:{path}")
            return [(await model.ask(question(text))).text for text in ("a", "b")]

    assert asyncio.run(run()) == ["one", "three"]


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "{}",
        '{"key": "k", "model": "m"}',
        '{"key": "k", "model": "m", "reply": {"text": 4, "stop": "end"}}',
        '{"key": "k", "model": "m", "reply": {"text": "4", "stop": "later"}}',
        '{"key": "k", "model": "m", "reply": {"text": "4", "stop": "end", "places": [["a"]]}}',
        '{"key": "k", "model": "m", "reply": {"text": "4", "stop": "end", "usage": {"input": "9"}}}',
        '{"key": 1, "model": "m", "reply": {"text": "4", "stop": "end"}}',
        "[" * 100_000,
    ],
)
def test_another_file_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    """A file that is no record is not a record with nothing in it."""
    path = tmp_path / "r.jsonl"
    write(path, (question(), REPLY))
    path.write_text(path.read_text() + line + "\n")

    with pytest.raises(JudgeError, match=r"r\.jsonl:2: this line is not a recorded reply"):
        Connections({}, replay=path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """An image is not a record."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\x89PNG\xff\xfe\n")

    with pytest.raises(JudgeError, match=r"r\.jsonl:1"):
        Connections({}, replay=path)


def test_a_file_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    """Before anything is asked and paid for."""
    with pytest.raises(JudgeError, match="cannot be read"):
        Connections({}, replay=tmp_path / "none")
    with pytest.raises(JudgeError, match="cannot be written"):
        Connections({}, record=tmp_path / "none" / "r.jsonl")
    with pytest.raises(JudgeError, match="either recorded or replayed"):
        Connections({}, record=tmp_path / "a", replay=tmp_path / "b")


def test_a_key_in_a_reply_is_not_recorded(tmp_path: Path) -> None:
    """A server that echoes its headers puts it there; likely tokens would spell it too."""
    path = tmp_path / "r.jsonl"
    places = {"content": [{"token": letter, "top_logprobs": []} for letter in KEY]}
    message = {"content": f"your key is {KEY}"}
    body = chat(choices=[{"message": message, "logprobs": places}], model=KEY, id=KEY)

    async def run() -> Reply:
        async with (
            Server(answers(200, body)) as server,
            Connections({"EVENHAND_API_KEY": KEY}, record=path) as connections,
        ):
            return await connections.open(server.name).ask(question())

    reply = asyncio.run(run())

    assert reply.text == "your key is [key hidden]"
    assert KEY not in repr(reply)
    assert KEY not in path.read_text()
    assert reply.places == ()


def test_a_file_that_is_no_record_is_not_written_on(tmp_path: Path) -> None:
    """A slip of the hand must not spoil somebody's notes."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes", "utf-8")

    with pytest.raises(JudgeError, match="exists and is not a record"):
        Connections({}, record=path)

    assert path.read_text("utf-8") == "my notes"
