"""Connections that are kept, and when they are not: every request gets its own answer, and none is sent twice."""

import asyncio
import ssl
import subprocess
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from evenhand.models.http_client import ModelHttpClient
from evenhand.models.http_connection import HttpAnswer, HttpFailure
from tests.models.server import Behaviour, Server, answers, sends, then_closes, then_hangs, then_resets

LARGEST = 100_000


async def posts(client: ModelHttpClient, server: Server, *bodies: bytes) -> list[HttpAnswer | HttpFailure]:
    return [await client.exchange("POST", server.base, {}, body, 5.0) for body in bodies]


def exchange(*behaviours: Behaviour, bodies: Sequence[bytes] = (b"1", b"2")) -> tuple[list[bytes | str], Server]:
    """What came back for each of some requests, one after the other: a body, or why there is none."""

    async def run() -> tuple[list[bytes | str], Server]:
        client = ModelHttpClient(LARGEST)
        async with Server(*behaviours) as server:
            try:
                found = await posts(client, server, *bodies)
            finally:
                await client.close()
        return [one.body if isinstance(one, HttpAnswer) else one.why for one in found], server

    return asyncio.run(run())


def test_a_connection_is_kept() -> None:
    """One is enough for requests that follow each other."""
    found, server = exchange(answers(200, b"a"), answers(200, b"b"))

    assert (found, server.connections) == ([b"a", b"b"], 1)


@pytest.mark.parametrize(
    "first",
    [
        then_closes(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na"),
        then_closes(b"HTTP/1.0 200 OK\r\n\r\na"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nz"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Le"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nawhat is this?"),
    ],
    ids=["says that it closes", "an old server", "two answers", "an answer and a half", "more than the answer"],
)
def test_a_connection_that_may_be_out_of_step_is_not_used_again(first: Behaviour) -> None:
    """No answer is taken for that of another request."""
    found, server = exchange(first, answers(200, b"b"))

    assert (found, server.connections) == ([b"a", b"b"], 2)


@pytest.mark.parametrize("ends", [then_closes(), then_resets()], ids=["closed", "reset"])
def test_a_request_without_an_answer_is_not_sent_again(ends: Behaviour) -> None:
    """The server may have done what was asked: whoever asked decides, also where the connection was an old one."""
    found, server = exchange(answers(200, b"a"), ends, answers(200, b"c"), bodies=(b"1", b"2", b"3"))

    assert found == [b"a", "the connection was cut off", b"c"]
    assert [one.body for one in server.seen] == [b"1", b"2", b"3"]


def test_a_cancelled_exchange_closes_its_connection() -> None:
    """The answer that nobody waits for comes to nobody, and the server is told."""

    async def run() -> None:
        client, asked, ended = ModelHttpClient(LARGEST), asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            assert await reader.read() == b"body"
            ended.set()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            task = asyncio.create_task(client.exchange("POST", url, {}, b"body", 500.0))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(20):
                await ended.wait()
            await client.close()

    asyncio.run(run())


def test_each_exchange_has_its_own_time() -> None:
    """A connection has one timer for all its exchanges: a short time after a long one is kept to all the same."""

    async def run() -> HttpAnswer | HttpFailure:
        client = ModelHttpClient(LARGEST)
        async with Server(answers(200, b"a"), then_hangs()) as server:
            await client.exchange("POST", server.base, {}, b"1", 500.0)
            found = await client.exchange("POST", server.base, {}, b"2", 0.01)
            await client.close()
            return found

    assert asyncio.run(run()) == HttpFailure("no whole answer within 0.01 s", "late")


def test_an_earlier_timer_ends_no_later_exchange() -> None:
    """The time of the first is over while the second waits."""

    async def run() -> list[HttpAnswer | HttpFailure]:
        client = ModelHttpClient(LARGEST)

        async def late(_: object, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.1)
            await answers(200, b"b")(None, writer)  # type: ignore[arg-type]

        async with Server(answers(200, b"a"), late) as server:
            found = [await client.exchange("POST", server.base, {}, b"", seconds) for seconds in (0.05, 30.0)]
            await client.close()
            return found

    assert [one.body for one in asyncio.run(run()) if isinstance(one, HttpAnswer)] == [b"a", b"b"]


@pytest.mark.parametrize(
    "pack", [zlib.compress, lambda body: zlib.compress(body)[2:-4]], ids=["with its header", "without"]
)
def test_deflated_answers_are_read(pack: Callable[[bytes], bytes]) -> None:
    """Servers send both forms under one name."""
    found, _ = exchange(answers(200, pack(b"hello"), {"Content-Encoding": "deflate"}), bodies=[b""])

    assert found == [b"hello"]


def test_what_is_sent_is_one_proper_request() -> None:
    """Headers that follow from the body are ours, the rest is as given; a name and password go as every client does."""

    async def run() -> Server:
        client = ModelHttpClient(LARGEST)
        async with Server(answers(200, b"")) as server:
            url = server.base.replace("http://", "http://me:word@") + "/a b?q=ü"
            given = {"Transfer-Encoding": "chunked", "X-One": "ä", "accept": "text/plain"}
            await client.exchange("POST", url, given, b"body", 5.0)
            await client.close()
        return server

    (seen,) = asyncio.run(run()).seen
    assert (seen.path, seen.body, seen.headers["content-length"]) == ("/v1/a%20b?q=%C3%BC", b"body", "4")
    assert "transfer-encoding" not in seen.headers
    assert seen.headers["x-one"].encode("latin-1").decode() == "ä"
    assert (seen.headers["accept"], seen.headers["authorization"]) == ("text/plain", "Basic bWU6d29yZA==")


@pytest.mark.parametrize(
    ("url", "headers"),
    [("ftp://127.0.0.1/", {}), ("http://", {}), ("http://[bad", {}), ("http://127.0.0.1:1/", {"X": "a\r\nY: b"})],
)
def test_what_cannot_be_sent_is_not(url: str, headers: dict[str, str]) -> None:
    """Another try would not change it."""
    found = asyncio.run(ModelHttpClient(LARGEST).exchange("POST", url, headers, b"", 5.0))

    assert isinstance(found, HttpFailure)
    assert found.kind == "final"


def test_a_secure_server_is_asked_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its certificate is checked against those that the machine trusts; connections are kept here too."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(certificate, key)

    async def run() -> tuple[list[HttpAnswer | HttpFailure], int]:
        client, connected = ModelHttpClient(LARGEST), []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connected.append(writer)
            while await reader.readline():
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
            writer.close()

        server = await asyncio.start_server(serve, "localhost", 0, ssl=serving)
        port = server.sockets[0].getsockname()[1]
        async with server:
            url = f"https://localhost:{port}/"
            found = [await client.exchange("POST", url, {}, b"", 5.0) for _ in range(2)]
            found.append(await client.exchange("POST", f"https://127.0.0.1:{port}/", {}, b"", 5.0))
            await client.close()
        return found, len(connected)

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    (one, two, other), connections = asyncio.run(run())

    assert isinstance(one, HttpAnswer)
    assert isinstance(two, HttpAnswer)
    assert (one.body, two.body, connections) == (b"a", b"a", 1)
    assert isinstance(other, HttpFailure)
    assert other.kind == "final"
    assert "no secure connection: ip address mismatch" in other.why
