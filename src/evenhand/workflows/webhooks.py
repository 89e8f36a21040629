"""Telling others of a contest: payment, state and feedback, signed and sent until they are heard, or put aside."""

from __future__ import annotations

import asyncio
import errno
import hmac
import ipaddress
import json
import os
import random
import socket
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import SplitResult, urlsplit

from evenhand.contest.events import CloseContest, NotifySubmitter, PaymentReleased
from evenhand.contest.play import AppendedContestEvent
from evenhand.errors import Fault, InputError, StoreError
from evenhand.store.row_types import find_mistyped_column, parse_stored_object, show_stored_value
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.store.tables import OUTBOX
from evenhand.workflows.stores import StoreLike, open_user_store

SECRET_VARIABLE = "EVENHAND_WEBHOOK_SECRET"
SECRET_PREFIX = "whsec_"
MOST_ATTEMPTS = 12
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=6)
SEND_SECONDS = 10.0
LEASE = timedelta(seconds=15)  # Longer than sending takes: what a worker that died had claimed is sent by another then.
AT_ONCE = 20
HEARD = range(200, 300)
UNKNOWN_HOST = "not known"
NO_MESSAGES = "nobody was to be told of anything here yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTargets:
    """Where messages may be sent: https, or http to this machine; private addresses only if they are allowed."""

    allow_private: bool = False
    resolve: Callable[[str], Sequence[str]] = lambda host: [str(one[4][0]) for one in socket.getaddrinfo(host, None)]

    def check(self, url: str | None) -> str | None:
        """The address, if it is one that may be told; else an error that says why not."""
        if url is None:
            return None
        parts = _split_webhook_address(url)
        if parts is None:
            raise InputError(Fault(f"{url!r} is no address to tell anything", "as in https://example.org/hook"))
        assert parts.hostname is not None
        if parts.scheme == "http" and not self.allow_private:
            raise InputError(Fault(f"{url!r} is not encrypted", "use https"))
        if not self.allow_private and (private := self.find_private_address(parts.hostname)):
            if private == UNKNOWN_HOST:
                raise InputError(Fault(f"no host {parts.hostname} is known", "name one that can be reached"))
            what = f"{parts.hostname} is {private}, an address of a private network"
            raise InputError(Fault(what, "name a public one, or serve with --allow-private-hooks"))
        return url

    def find_private_address(self, host: str) -> str:
        """An address of a host that is not public; empty where all of them are. One that has none is not public."""
        try:
            found = [str(ipaddress.ip_address(host.strip("[]")))]
        except ValueError:
            try:
                found = list(self.resolve(host))
            except (OSError, UnicodeError):  # The latter: it cannot even be asked for.
                return UNKNOWN_HOST
        return next((one for one in found if not is_public_webhook_address(one)), "")


def _split_webhook_address(url: str) -> SplitResult | None:
    """The parts of an address that somebody can be told at; none where it is not written as one."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # A host in brackets that is none, or a port beyond the last.
        return None
    is_plain = parts.username is None and url.isprintable() and " " not in url
    return parts if is_address and is_plain else None


def is_public_webhook_address(address: str) -> bool:
    """Whether an address is one of the public network: global unicast, and so is an IPv4 address that it carries."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in network for network in _LOCAL_IPV6):
            return False
        carried = _list_carried_webhook_addresses(found)
        if carried:
            return all(is_public_webhook_address(str(one)) for one in carried)
        if found not in _GLOBAL_UNICAST_IPV6:
            return False
    return found.is_global and not found.is_multicast and not found.is_reserved


def _list_carried_webhook_addresses(address: ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses in an IPv6 address to which a gateway or a tunnel would pass on what is sent to it."""
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo:
        return list(address.teredo)
    if address.sixtofour:
        return [address.sixtofour]
    return [last] if any(address in network for network in _CARRIERS_OF_IPV4) else []


# NAT64, mapped, translated and compatible: the last four bytes are an IPv4 address.
_CARRIERS_OF_IPV4 = [
    ipaddress.IPv6Network(one) for one in ("64:ff9b::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96")
]
# Of a site: NAT64 for local use (which carries in many lengths), unique and site-local, documentation.
_LOCAL_IPV6 = [ipaddress.IPv6Network(one) for one in ("64:ff9b:1::/48", "fc00::/7", "fec0::/10", "3fff::/20")]
_GLOBAL_UNICAST_IPV6 = ipaddress.IPv6Network("2000::/3")


def derive_hook_secret(whom: str) -> str:
    """The secret with which messages to somebody are signed: of the operator's secret, another one for each."""
    main = os.environ.get(SECRET_VARIABLE, "")
    if not main:
        hint = f"set {SECRET_VARIABLE} to a long random text, the same on every worker"
        raise InputError(Fault("messages cannot be signed: there is no secret", hint))
    return SECRET_PREFIX + b64encode(hmac.new(main.encode(), whom.encode(), sha256).digest()).decode()


def refuse_unsigned_webhooks(*targets: str | None) -> None:
    """Nobody is promised a message that could not be signed when it is due."""
    for target in targets:
        if target is not None:
            derive_hook_secret(target)


def sign_webhook_message(secret: str, id: str, timestamp: int, body: bytes) -> str:
    """The signature of a message, as the header webhook-signature has it."""
    key = b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{id}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.new(key, signed, sha256).digest()).decode()


async def deliver_due_messages(
    store: Store, targets: WebhookTargets, refuse: Callable[[Store, Row], None], *, now: datetime | None = None
) -> int:
    """Send what is due, each message once; how many were. What was not heard is tried again later, and later.

    What `refuse` raises a StoreError for is put aside unsent, and so is what cannot be sent as it stands: whatever is
    wrong with one message is that one's alone.
    """
    import aiohttp

    rows = await asyncio.to_thread(store.outbox.claim_due_messages, now or store.now(), most=AT_ONCE, lease=LEASE)
    if not rows:
        return 0
    timeout = aiohttp.ClientTimeout(total=SEND_SECONDS)
    connector = aiohttp.TCPConnector(resolver=_build_webhook_resolver(targets))
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as session:

        async def deliver(row: Row) -> None:
            why, gives_up = await _try_webhook_message(session, store, row, targets, refuse)
            await asyncio.to_thread(_settle_webhook_message, store, row, why, gives_up=gives_up)

        ended = await asyncio.gather(*(deliver(row) for row in rows), return_exceptions=True)
    if error := next((one for one in ended if isinstance(one, BaseException)), None):
        raise error  # Once the others are sent.
    return len(rows)


# What somebody meets who works with a value of another type or shape than is ever written.
_ROW_FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


async def _try_webhook_message(
    session: Any, store: Store, row: Row, targets: WebhookTargets, refuse: Callable[[Store, Row], None]
) -> tuple[str, bool]:
    """Send one message, if it may be sent: why it was not heard, or nothing, and whether it is given up at once."""
    try:
        if column := find_mistyped_column(OUTBOX, row):
            return _explain_damaged_message(column), True
        await asyncio.to_thread(refuse, store, row)
        return await _send_webhook_message(session, row, targets, store.now()), False
    except StoreError as error:
        return str(error), error.__cause__ is None  # Else the database failed, and the message may be good.
    except _ROW_FAULTS as error:
        return f"it cannot be sent as it stands in the store ({type(error).__name__})", True


def _explain_damaged_message(column: str) -> str:
    return f"what is kept of the message was changed: {column} is not what it was"


def _build_webhook_resolver(targets: WebhookTargets) -> Any:
    """Looks names up for sending: a name that has been given a private address since it was checked leads nowhere."""
    import aiohttp

    class WebhookResolver(aiohttp.ThreadedResolver):
        async def resolve(self, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
            found = await super().resolve(host, port, family)
            if not targets.allow_private and any(not is_public_webhook_address(one["host"]) for one in found):
                raise OSError(errno.EACCES, f"{host} is an address of a private network now")
            return found

    return WebhookResolver()


async def _send_webhook_message(session: Any, row: Row, targets: WebhookTargets, now: datetime) -> str:
    """Send one message; why it was not heard, or nothing."""
    import aiohttp

    try:
        url = await asyncio.to_thread(targets.check, row["target"])
        body, timestamp = row["body"].encode(), int(now.timestamp())
        secret = derive_hook_secret(row["target"])
        headers = {
            "content-type": "application/json",
            "idempotency-key": row["id"],
            "webhook-id": row["id"],
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign_webhook_message(secret, row["id"], timestamp, body),
        }
        async with session.post(url, data=body, headers=headers, allow_redirects=False) as answer:
            return "" if answer.status in HEARD else f"answered {answer.status}"
    except (TimeoutError, OSError, InputError) as error:
        return str(error) or type(error).__name__
    except aiohttp.ServerDisconnectedError:
        return "the connection was closed without an answer"
    except aiohttp.ClientError:  # What it says may quote the answer, in which a key may stand.
        return "the answer is not proper HTTP"


def _settle_webhook_message(store: Store, row: Row, why: str, *, gives_up: bool = False) -> None:
    now = store.now()
    if not why:
        store.outbox.mark_delivered(row["id"], now)
    elif gives_up or row["attempts"] + 1 >= MOST_ATTEMPTS:
        store.outbox.bury_message(row["id"], why)
    else:
        pause = min(FIRST_PAUSE * 2 ** row["attempts"], LONGEST_PAUSE) * random.uniform(0.8, 1.2)
        store.outbox.postpone_message(row["id"], now + pause, why)


def list_hook_messages(store: StoreLike, *, contest: str | None = None, state: str | None = None) -> list[Row]:
    """What others were, or are to be, told; the newest first. One that was damaged says so, under `damaged`."""
    with open_user_store(store, empty=NO_MESSAGES) as opened:
        id = None if contest is None else opened.contests.find_contest(contest)["id"]
        return [_mark_damaged_message(row) for row in opened.outbox.list_messages(contest=id, state=state)]


def _mark_damaged_message(row: Row) -> Row:
    column = find_mistyped_column(OUTBOX, row)
    if column is None:
        return row
    shown = {name: value if value is None else show_stored_value(value) for name, value in row.items()}
    return {**shown, "damaged": _explain_damaged_message(column)}


def read_message_body(message: Row) -> object:
    """What a message says; of one that was damaged, its text."""
    found = parse_stored_object(message["body"])
    return message["body"] if found is None else found


def replay_hook_messages(store: StoreLike, ids: Sequence[str]) -> None:
    """Send messages once more, under the same key; none of them where one is not known."""
    with open_user_store(store, empty=NO_MESSAGES) as opened:
        opened.outbox.replay_messages(ids, opened.now())


Json = dict[str, Any]
# What an operator is told of as it happens; what happens to one submission is told to its author.
_TOLD_EVENTS = ("created", "deadline_reached", "ranked", "challenged", "resolved")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestHooks:
    """Where to send what is told: addresses of the operator, and of authors by submission."""

    payment: str | None = None
    operator: str | None = None
    authors: Mapping[str, str] = field(default_factory=dict)  # By id of the submission.

    def to_json(self) -> Json:
        """What is kept with the contest; authors' addresses come with their submissions."""
        return {"payment": self.payment, "operator": self.operator}

    @classmethod
    def from_json(cls, text: str | None, authors: Mapping[str, str]) -> ContestHooks:
        """As a contest keeps them."""
        kept = json.loads(text) if text else {}
        return cls(payment=kept.get("payment"), operator=kept.get("operator"), authors=authors)


NO_HOOKS = ContestHooks()


def build_contest_webhook_messages(
    contest: str, appended: AppendedContestEvent, hooks: ContestHooks, at: datetime, sent: Mapping[str, int]
) -> list[Row]:
    """The rows of the outbox that an event brings; the id of each is the same however often it is written.

    `sent` has how many messages of the contest each address was sent before. They are numbered by that: the number of
    the event would tell an author how much others do.
    """
    rows, now, numbers = [], at.isoformat(), dict(sent)
    for place, (kind, target, key, about) in enumerate(_list_contest_webhook_messages(appended, hooks)):
        number = numbers[target] = numbers.get(target, 0) + 1
        order = {"sequence": number, "at": appended.event.at.isoformat()}
        body = {"type": f"contest.{kind}", "contest": contest, **order, **about}
        plain = f"{contest}-{appended.number}-{place}"
        if kind == "feedback":
            plain = f"{contest}-{sha256(target.encode()).hexdigest()}-{number}"  # Whole: authors choose addresses.
        id = key or plain
        times = {"made": now, "due": now, "delivered": None, "failure": None, "attempts": 0}
        rows.append(
            {"id": id, "kind": kind, "target": target, "state": "pending", **times, "body": to_stored_json(body)}
        )
    return rows


def _list_contest_webhook_messages(
    appended: AppendedContestEvent, hooks: ContestHooks
) -> Iterator[tuple[str, str, str | None, Json]]:
    """Kind, target, key where it has one of its own, and body of each message."""
    event, state = appended.event, appended.state
    if isinstance(event, PaymentReleased) and hooks.payment and state.winner is not None:
        winner = state.entries[state.winner].submission
        about = {"submission": winner.id, "author": winner.author, "reward": state.required_task.reward}
        yield "payment", hooks.payment, event.payment, {"payment": event.payment, **about}
    if hooks.operator and (
        event.kind in _TOLD_EVENTS or any(isinstance(one, CloseContest) for one in appended.effects)
    ):
        yield "state", hooks.operator, None, {"event": event.kind, "state": state.phase, "winner": state.winner}
    for effect in appended.effects:
        if isinstance(effect, NotifySubmitter) and (target := hooks.authors.get(effect.submission)):
            told = {"submission": effect.submission, "author": effect.author, "status": effect.status}
            yield "feedback", target, None, {**told, "feedback": list(effect.feedback)}
