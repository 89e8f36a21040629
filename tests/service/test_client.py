"""The Python client against a service that answers as it is told: what is sent, retried, and raised."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evenhand import InputError
from evenhand.client import EvenhandClient
from evenhand.errors import ServiceBusyError, ServiceError
from tests.store.databases import free_port

Json = dict[str, Any]
Answer = tuple[int, dict[str, str], object]
PROBLEM = {"faults": [{"where": "deadline", "what": "it is over", "would_work": "name a later one"}]}


class Scripted:
    """A service that gives these answers in turn, and notes what it was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.asked: list[tuple[str, str, dict[str, str], Json | None]] = []
        self.answers = list(answers)
        self.address = ""


@contextmanager
def scripted(*answers: Answer) -> Iterator[Scripted]:
    found = Scripted(*answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer_next()

        def do_POST(self) -> None:
            self.answer_next()

        def answer_next(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            found.asked.append((self.command, self.path, headers, body))
            status, more, content = found.answers.pop(0)
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {**more, "content-length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


def refuse_to_pause(seconds: float) -> None:
    pytest.fail(f"it would wait for {seconds:g} s")


def test_a_request_has_the_token_and_a_key_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of the environment; a key for what must not happen twice, and none for a look."""
    monkeypatch.setenv("EVENHAND_TOKEN", "evh_1_x\n")
    with scripted((200, {}, {"id": "c1"}), (200, {}, {"id": "c2"}), (200, {}, {"rubrics": []})) as service:
        monkeypatch.setenv("EVENHAND_SERVER", f"{service.address}/")
        client = EvenhandClient()
        ids = [client.create_contest({"name": "a"}), client.create_contest({"name": "a"}, again="b")]
        client.list_rubrics()
    [first, second, look] = service.asked

    assert ids == ["c1", "c2"]
    assert {one[2]["authorization"] for one in service.asked} == {"Bearer evh_1_x"}
    assert first[:2] == ("POST", "/v1/contests")
    assert first[3] == {"task": {"name": "a"}, "payment_hook": None, "operator_hook": None, "again": None}
    assert first[2]["idempotency-key"] != second[2]["idempotency-key"]
    assert look[:2] == ("GET", "/v1/rubrics") and "idempotency-key" not in look[2]


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_without_time_is_asked_again_when_it_says(status: int) -> None:
    """The same request under the same key, after the pause that it asked for."""
    pauses: list[float] = []
    receipt = {"contest": "c", "kind": "submission", "id": "ann", "author": "ann", "at": "now"}
    later = (status, {"retry-after": "3"}, PROBLEM)
    with scripted(later, later, (202, {}, receipt)) as service:
        client = EvenhandClient(service.address, "t", pause=pauses.append)
        got = client.submit_to_contest("latest:a/b", "text")
    keys = {one[2]["idempotency-key"] for one in service.asked}

    assert got == receipt
    assert pauses == [3.0, 3.0]
    assert len(service.asked) == 3 and len(keys) == 1
    assert service.asked[0][1] == "/v1/contests/latest%3Aa%2Fb/submissions"


@pytest.mark.parametrize(
    ("status", "headers", "error"),
    [
        (503, {}, ServiceBusyError),
        (429, {"retry-after": "61"}, ServiceBusyError),
        (500, {"retry-after": "1"}, ServiceBusyError),
        (502, {}, ServiceBusyError),
        (422, {"retry-after": "1"}, ServiceError),
        (404, {}, ServiceError),
    ],
)
def test_what_is_not_known_to_be_undone_is_not_repeated(
    status: int, headers: dict[str, str], error: type[ServiceError]
) -> None:
    """One try, and an error whose class says whether a later one may help; it has where, what and what would work."""
    with scripted((status, headers, PROBLEM)) as service, pytest.raises(ServiceError) as raised:
        EvenhandClient(service.address, pause=refuse_to_pause).challenge_contest("c", "because")

    assert type(raised.value) is error and raised.value.status == status
    assert str(raised.value) == "deadline: it is over (name a later one)"
    assert len(service.asked) == 1


def test_tries_are_few() -> None:
    """A service that never has time is left alone after five."""
    with scripted(*[(503, {"retry-after": "0"}, PROBLEM)] * 9) as service, pytest.raises(ServiceBusyError):
        EvenhandClient(service.address).list_rubrics()

    assert len(service.asked) == 5


def test_a_token_goes_to_its_service_and_no_further() -> None:
    """A redirect is an answer, not an order."""
    with (
        scripted() as other,
        scripted((307, {"location": f"{other.address}/v1/rubrics"}, {})) as service,
        pytest.raises(ServiceError, match="answered 307"),
    ):
        EvenhandClient(service.address, "evh_1_secret").list_rubrics()

    assert other.asked == []


def test_contests_come_page_by_page() -> None:
    """With the cursor that the page before named."""
    pages = [{"contests": [{"id": "3"}, {"id": "2"}], "next": "2"}, {"contests": [{"id": "1"}], "next": None}]
    with scripted(*[(200, {}, page) for page in pages]) as service:
        found = [one["id"] for one in EvenhandClient(service.address).list_contests()]

    assert found == ["3", "2", "1"]
    assert [one[1] for one in service.asked] == ["/v1/contests", "/v1/contests?cursor=2"]


@pytest.mark.parametrize(
    ("status", "content", "said"),
    [
        (200, b"<html>", "answered something else than JSON (is it an Evenhand service?)"),
        (200, [], "answered something else than JSON (is it an Evenhand service?)"),
        (404, b"\xff", "answered 404 (is it an Evenhand service?)"),
        (404, {"faults": []}, "answered 404 (is it an Evenhand service?)"),
        (401, PROBLEM, "a token is needed (set EVENHAND_TOKEN to one of this service)"),
    ],
)
def test_an_answer_of_something_else_is_told(status: int, content: object, said: str) -> None:
    """A proxy, another program: no traceback, and the address is named."""
    with scripted((status, {}, content)) as service, pytest.raises(ServiceError) as raised:
        EvenhandClient(service.address).list_rubrics()

    assert str(raised.value) == f"{service.address}: {said}"


def test_what_may_have_been_received_is_not_sent_blindly_again() -> None:
    """A connection that breaks before the answer leaves that open, and the error says so; a look is just repeated."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=_hang_up_twice, args=(listening,), daemon=True).start()
        client = EvenhandClient(f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(ServiceBusyError, match=r"\(whether it was received is not known: look before"):
            client.submit_to_contest("c", "text")
        with pytest.raises(ServiceBusyError, match=r"\(is evenhand serve running there\?\)"):
            client.load_contest("c")


def _hang_up_twice(listening: socket.socket) -> None:
    for _ in range(2):
        connection, _address = listening.accept()
        with connection:
            connection.recv(65536)


def test_a_service_that_is_slow_is_given_up() -> None:
    """With the time that was allowed."""
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(ServiceBusyError, match=r"within 0\.05 s"):
        EvenhandClient(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=0.05).list_rubrics()


def test_a_service_that_is_not_there_may_be_there_later() -> None:
    """It says how to start it."""
    address = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(ServiceBusyError) as raised:
        EvenhandClient(address).list_rubrics()

    assert str(raised.value) == f"{address}: cannot be reached: connection refused (is evenhand serve running there?)"


@pytest.mark.parametrize(
    "address", ["localhost:8321", "ftp://a", "http://", "http://a:x", "http://u:p@a", "http://a?b", "http://a b"]
)
def test_what_is_no_address_is_refused_at_once(address: str) -> None:
    """Before anything is sent anywhere."""
    with pytest.raises(InputError, match="is not the address of a service"):
        EvenhandClient(address)


def test_a_token_that_is_none_is_not_shown() -> None:
    """A file that was pasted whole may hold other secrets."""
    with pytest.raises(InputError) as raised:
        EvenhandClient("http://127.0.0.1", "two\nlines")

    assert "two" not in str(raised.value)
