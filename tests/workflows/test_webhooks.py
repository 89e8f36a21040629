"""Telling others: signed so that anybody can check it, sent until it is heard, never to a private network."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert
from standardwebhooks import Webhook, WebhookVerificationError

from evenhand import InputError
from evenhand.models.connections import Connections
from evenhand.service.engine import ServiceContestEngine
from evenhand.store.rows import to_stored_json
from evenhand.store.store import Store
from evenhand.store.tables import OUTBOX
from evenhand.workflows.contests import refuse_changed_payment_message
from evenhand.workflows.webhooks import (
    AT_ONCE,
    MOST_ATTEMPTS,
    WebhookTargets,
    deliver_due_messages,
    derive_hook_secret,
    is_public_webhook_address,
    list_hook_messages,
    read_message_body,
    replay_hook_messages,
)
from tests.store.rows import CONTEST, contest_row

Heard = list[tuple[dict[str, str], bytes]]
PRIVATE = WebhookTargets(allow_private=True)


class Clock:
    """The real time, and what it is moved by: signatures have to be fresh."""

    def __init__(self) -> None:
        self.moved = timedelta(0)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.moved


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_WEBHOOK_SECRET", "a long random text")


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "store", {}, clock=clock) as opened:
        yield opened


@contextmanager
def receive(answer: Callable[[int], int]) -> Iterator[tuple[str, Heard]]:
    """A receiver on loopback that answers the nth request with a status; its address, and what it heard."""
    heard: Heard = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with lock:
                heard.append(({name.lower(): value for name, value in self.headers.items()}, body))
                status = answer(len(heard))
            self.send_response(status)
            self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    receiver = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=receiver.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{receiver.server_port}/hook", heard
    finally:
        receiver.shutdown()
        receiver.server_close()


def put(store: Store, target: str, *ids: str) -> None:
    """Messages in the outbox, due now."""
    now = datetime.now(UTC).isoformat()
    times = {"made": now, "due": now, "delivered": None, "failure": None, "attempts": 0}
    rows = [
        {"id": id, "contest": CONTEST, "kind": "state", "target": target, "state": "pending", **times, "body": body}
        for id in ids
        for body in [to_stored_json({"type": "contest.state", "n": id})]
    ]
    store.contests.begin_contest(contest_row())
    with store._connect(writes=True) as connection:
        connection.execute(insert(OUTBOX), rows)


def deliver(store: Store, targets: WebhookTargets = PRIVATE) -> int:
    return asyncio.run(deliver_due_messages(store, targets, refuse_changed_payment_message))


def states(store: Store) -> dict[str, str]:
    return {one["id"]: one["state"] for one in list_hook_messages(store)}


def test_a_message_is_signed_as_standard_webhooks_says(store: Store) -> None:
    """Their library verifies it, and refuses it under another secret, another id or with another body."""
    with receive(lambda _: 204) as (url, heard):
        put(store, url, "m1")
        sent = deliver(store)
    [(headers, body)] = heard
    webhook = Webhook(derive_hook_secret(url))

    assert sent == 1
    assert webhook.verify(body, headers) == {"type": "contest.state", "n": "m1"}
    for wrong, said, others in (
        (Webhook(derive_hook_secret(url + "x")), body, headers),
        (webhook, body, {**headers, "webhook-id": "m2"}),
        (webhook, body.replace(b"m1", b"m2"), headers),
    ):
        with pytest.raises(WebhookVerificationError):
            wrong.verify(said, others)


def test_a_receiver_that_fails_half_of_the_time_is_told_everything(store: Store, clock: Clock) -> None:
    """Each message until it is heard, under the same id, and not once more after that."""
    with receive(lambda number: 200 if number % 2 else 503) as (url, heard):
        put(store, url, *(f"m{number}" for number in range(10)))
        for _ in range(MOST_ATTEMPTS):
            deliver(store)
            clock.moved += timedelta(days=1)
        told = len(heard)
        deliver(store)

    ids = [headers["webhook-id"] for headers, _ in heard]
    assert set(states(store).values()) == {"delivered"}
    assert set(ids) == {f"m{number}" for number in range(10)}
    assert len(ids) == told > 10
    assert all(headers["idempotency-key"] == headers["webhook-id"] for headers, _ in heard)
    assert all(json.loads(body)["n"] == headers["webhook-id"] for headers, body in heard)


def test_two_workers_do_not_send_a_message_twice(store: Store) -> None:
    """Whoever claims it sends it; nobody else is given it meanwhile."""

    async def both() -> list[int]:
        return list(
            await asyncio.gather(
                *(deliver_due_messages(store, PRIVATE, refuse_changed_payment_message) for _ in range(5))
            )
        )

    with receive(lambda _: 200) as (url, heard):
        put(store, url, *(f"m{number}" for number in range(20)))
        sent = asyncio.run(both())

    assert sum(sent) == len(heard) == 20


def test_a_receiver_that_hears_nothing_does_not_hold_up_the_others(store: Store) -> None:
    """Whoever sends goes on at once as long as there are more: what was not heard is due later."""
    engine = ServiceContestEngine(store, Connections({}), PRIVATE)
    ids = [f"m{number}" for number in range(2 * AT_ONCE + 1)]
    with receive(lambda _: 503) as (url, heard):
        put(store, url, *ids)
        asyncio.run(engine._tell_others())

    assert {headers["webhook-id"] for headers, _ in heard} == set(ids)


def test_what_is_never_heard_is_put_aside_and_can_be_sent_again(store: Store, clock: Clock) -> None:
    """After the last try, with why; by hand under the same id."""
    status = [500]
    with receive(lambda _: status[0]) as (url, heard):
        put(store, url, "m1")
        for _ in range(MOST_ATTEMPTS + 3):
            deliver(store)
            clock.moved += timedelta(days=1)
        [dead] = list_hook_messages(store, state="dead")
        tried = len(heard)
        status[0] = 200
        replay_hook_messages(store, ["m1"])
        deliver(store)

    assert (dead["id"], dead["attempts"], dead["failure"], tried) == (
        "m1",
        MOST_ATTEMPTS,
        "answered 500",
        MOST_ATTEMPTS,
    )
    assert states(store) == {"m1": "delivered"}
    assert list_hook_messages(store)[0]["attempts"] == 1  # The try that was heard is one.
    assert {headers["webhook-id"] for headers, _ in heard} == {"m1"}


DAMAGE = {
    "a list": "body = '[]'",
    "a number": "body = '5'",
    "digits": "body = printf('%.*c', 5000, '9')",
    "a deep list": "body = replace(printf('%.*c', 100000, '['), ' ', '')",
    "no text": "body = x'ff'",
    "a payment in a list": 'body = \'[{"type":"contest.payment"}]\'',
    "a contest that is no text": "contest = x'78'",
    "an id with a line break": "id = 'm1' || char(13) || char(10) || 'x: y'",
    "an id that is no text": "id = x'ff'",
    "tries that are no number": "attempts = 'x'",
    "tries that nobody counts to": "attempts = 2147483647",
    "fewer tries than none": "attempts = -1",
    "a time to send it that is none": "due = 'zzz'",
    "a time to send it that is no text": "due = x'ff'",
    "an address that is no text": "target = x'ff'",
    "a time that is none": "made = 'zzz'",
    "another kind": "kind = 'payment'",
    "a kind that is no text": "kind = x'ff'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_message_is_put_aside_alone(store: Store, tmp_path: Path, what: str) -> None:
    """With why; the others are sent at the same look."""
    with receive(lambda _: 204) as (url, heard):
        put(store, url, "m1", "m2")
        change_outbox(tmp_path, f"UPDATE outbox SET {DAMAGE[what]} WHERE id = 'm1'")
        deliver(store)

    assert [headers["webhook-id"] for headers, _ in heard] == ["m2"]
    [dead] = list_hook_messages(store, state="dead")
    assert dead["failure"]
    assert [one["id"] for one in list_hook_messages(store, state="delivered")] == ["m2"]
    assert deliver(store) == 0


@pytest.mark.parametrize(
    "change", ["due = 'zzzz'", "due = x'ff'", "made = '2026-01-01'", "delivered = 3.5", "body = '['"]
)
def test_a_message_that_cannot_be_read_is_listed_as_damaged(store: Store, tmp_path: Path, change: str) -> None:
    """With the column; the others are listed as they are."""
    put(store, "https://hook.example/", "m1", "m2")
    change_outbox(tmp_path, f"UPDATE outbox SET {change} WHERE id = 'm1'")

    listed = {one["id"]: one for one in list_hook_messages(store)}

    assert listed["m1"]["damaged"] == (
        f"what is kept of the message was changed: {change.partition(' ')[0]} is not what it was"
    )
    assert json.dumps(listed)
    assert (read_message_body(listed["m2"]), "damaged" in listed["m2"]) == ({"type": "contest.state", "n": "m2"}, False)
    assert isinstance(read_message_body(listed["m1"]), str) == change.startswith("body")


def change_outbox(tmp_path: Path, statement: str) -> None:
    """By hand, without what a store looks at."""
    with closing(sqlite3.connect(tmp_path / "store" / "store.sqlite")) as database:
        assert database.execute(statement).rowcount == 1
        database.commit()


def test_it_is_tried_later_and_later(store: Store, clock: Clock) -> None:
    """Nobody is called again at once, and the pauses grow."""
    pauses = []
    with receive(lambda _: 500) as (url, heard):
        put(store, url, "m1")
        for _ in range(4):
            before = clock()
            deliver(store)
            at_once = deliver(store)
            [row] = list_hook_messages(store)
            pauses.append(datetime.fromisoformat(row["due"]) - before)
            clock.moved += pauses[-1]
            assert at_once == 0

    assert len(heard) == 4
    assert pauses == sorted(pauses)
    assert pauses[-1] > 4 * pauses[0]


def test_a_message_does_not_wait_for_a_clock_that_was_wrong(store: Store, clock: Clock) -> None:
    """Put off by a clock a year ahead, it is sent once that is right; nothing is put off for longer than hours."""
    with receive(lambda number: 500 if number == 1 else 204) as (url, heard):
        put(store, url, "m1")
        clock.moved += timedelta(days=365)
        deliver(store)
        clock.moved -= timedelta(days=365)
        deliver(store)

    assert (len(heard), states(store)) == (2, {"m1": "delivered"})


def test_a_redirect_is_not_followed(store: Store) -> None:
    """It could lead into a private network."""
    with receive(lambda _: 302) as (url, _):
        put(store, url, "m1")
        deliver(store)

    assert list_hook_messages(store)[0]["failure"] == "answered 302"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTX {key}\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n{key} x: 1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: {key}\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"z" * 71 + b"{key}" + b"w" * 9000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nlocation: {key}\r\ntransfer-encoding: chunked\r\n\r\n{key}\r\n",
        b"",
    ],
)
def test_why_a_message_was_not_heard_quotes_nothing_of_the_answer(store: Store, answer: bytes) -> None:
    """A receiver may know a key and send it back; the failure is kept, and shown."""
    key = b"sk-test-ABCDEF0123456789xyz"
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def reply() -> None:
            client, _ = listening.accept()
            with client:
                client.recv(65536)
                client.sendall(answer.replace(b"{key}", key))

        thread = threading.Thread(target=reply)
        thread.start()
        put(store, f"http://127.0.0.1:{listening.getsockname()[1]}/hook", "m1")
        deliver(store)
        thread.join()

    failure = list_hook_messages(store)[0]["failure"]
    known = ("the answer is not proper HTTP", "the connection was closed without an answer")
    assert failure in known or b"chunked" in answer  # It may have been heard before its body came.
    assert "sk-test" not in str(failure)


def test_nothing_is_sent_without_a_secret(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unsigned message could be anybody's."""
    monkeypatch.delenv("EVENHAND_WEBHOOK_SECRET")
    with receive(lambda _: 200) as (url, heard):
        put(store, url, "m1")
        deliver(store)

    assert heard == []
    assert "EVENHAND_WEBHOOK_SECRET" in list_hook_messages(store)[0]["failure"]


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/hook", "https://localhost/hook", "https://10.0.0.1/", "https://169.254.169.254/latest",
        "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fd00::1]/", "https://0.0.0.0/", "https://100.64.0.1/",
        "http://93.184.216.34/", "ftp://93.184.216.34/", "https://user@93.184.216.34/", "https:///x", "file:///etc/passwd",
        "https://[0:0:0:0:0:ffff:127.1]/", "https://[::1/", "https://93.184.216.34:99999/", "https://93.184.216.34:0/",
        "https://93.184.216.34\n/", f"https://{'a' * 64}.example/",
    ],
)  # fmt: skip
def test_a_private_or_plain_target_is_refused(url: str) -> None:
    """Whoever may hand in must not be able to call what only this machine can reach."""
    with pytest.raises(InputError):
        WebhookTargets().check(url)


@pytest.mark.parametrize(
    "address",
    [
        "64:ff9b::a9fe:a9fe", "64:ff9b::a00:1", "64:ff9b:1::1", "64:ff9b:1::5db8:d822", "2002:7f00:1::",
        "2002:a00:1::1",
        "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "2001:0:7f00:1::", "2001:0:5db8:d822::80ff:fffe",
        "fec0::1", "fe80::1%eth0", "ff0e::1", "::", "224.0.0.1", "240.0.0.1", "255.255.255.255", "2001:db8::1",
        "3fff::1",
        "4000::1", "nonsense",
    ],
)  # fmt: skip
def test_a_private_address_in_other_clothing_is_private(address: str) -> None:
    """A gateway or a tunnel passes on to the IPv4 address that an IPv6 address carries."""
    assert not is_public_webhook_address(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::93.184.216.34", "2002:5db8:d822::1", "::ffff:93.184.216.34"],
)
def test_a_public_address_is_public_in_any_clothing(address: str) -> None:
    """Behind NAT64 every name of the public network has such an address."""
    assert is_public_webhook_address(address)


def test_a_public_target_is_taken() -> None:
    """By its address, or by a name of which every address is public."""
    targets = WebhookTargets(
        resolve=lambda host: ["93.184.216.34"] if host == "public.example" else ["93.184.216.34", "::1"]
    )

    assert targets.check("https://93.184.216.34/hook") == "https://93.184.216.34/hook"
    assert targets.check("https://public.example/hook") == "https://public.example/hook"
    with pytest.raises(InputError, match="private network"):
        targets.check("https://mixed.example/hook")


def test_a_name_that_leads_elsewhere_by_now_is_not_called(store: Store) -> None:
    """What it was when it was checked says nothing about what it is when it is called."""
    with receive(lambda _: 200) as (url, heard):
        put(store, url.replace("http://127.0.0.1", "https://localhost"), "m1")
        deliver(store, WebhookTargets(resolve=lambda _: ["93.184.216.34"]))

    assert heard == []
    assert "private network" in list_hook_messages(store)[0]["failure"]
