"""How many submissions a service takes and answers in a second, beside a bare route of the same framework."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from aiohttp import ClientSession, TCPConnector

from benchmarks.figure import Figure
from evenhand.store.store import Store
from evenhand.workflows.tokens import create_service_token

CONTESTS, REQUESTS, ROUNDS, AT_ONCE = 20, 100, 15, 16
READER = "reader"
SHARE, SLOWEST = 0.5, 2.0  # Of the bare route's rate, at least; of its 99th percentile, at most that many times.
MOST_CPU = 1.7  # Times the bare route's: unlike a rate, it says the same on a machine that others load.
TEXT = "Two plus two is four, as anyone can count on the fingers of one hand. " * 20
DIMENSIONS = [
    {"id": id, "asks": f"Is it good in {id}?", "weight": 0.25, "fixed": id != "sources"}
    for id in ("substantiveness", "credibility", "completeness", "sources")
]
Send = Callable[[ClientSession, int], Awaitable[int]]


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a number of requests took: how many in a second, the seconds of the slowest in a hundred, and the seconds
    of a processor that the server worked.
    """

    rate: float
    p99: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Server:
    """A server that listens: its address and its process."""

    url: str
    process: int

    def read_cpu_seconds(self) -> float:
        """What it has worked so far, for itself and in the kernel."""
        fields = Path(f"/proc/{self.process}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_service() -> Iterator[Figure]:
    """Submissions and reads, in turn with a route that writes and reads the same rows and does nothing else.

    Judges do not answer meanwhile: it is measured what receiving costs, not what judging costs.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0), backlog=1024) as judge,  # It takes what is asked, and says nothing.
        _service(Path(folder)) as (ours, operator, reader),
        _bare(Path(folder)) as bare,
    ):
        url = f"http://127.0.0.1:{judge.getsockname()[1]}/v1"
        contests = [_create(ours.url, operator, number, url) for number in range(CONTESTS)]
        for id in contests:
            _post(f"{ours.url}/v1/contests/{id}/submissions", {"text": TEXT, "author": READER}, operator)
            _post(f"{bare.url}/v1/contests", {"text": TEXT, "author": id}, "")
            _post(f"{bare.url}/v1/contests/{id}/submissions", {"text": TEXT, "author": READER}, "")
        servers = ours, bare
        yield from _compare("submissions", servers, *(_submit(one.url, contests, operator) for one in servers))
        yield from _compare("reads of a contest", servers, *(_read(one.url, contests, reader) for one in servers))


def _compare(name: str, servers: tuple[Server, Server], ours: Send, bare: Send) -> Iterator[Figure]:
    pairs = []
    for number in range(ROUNDS + 1):
        pairs.append((_measure(servers[0], ours, number), _measure(servers[1], bare, number)))
    del pairs[0]  # To warm up.
    share = median(one.rate / other.rate for one, other in pairs)
    slower = median(one.p99 / other.p99 for one, other in pairs)
    rate, p99 = median(one.rate for one, _ in pairs), median(one.p99 for one, _ in pairs)
    told = f"{share:.2f} of it, {rate:,.0f} per s"
    yield Figure(f"{name}, beside a bare route", told, f"≥ {SHARE} of it", share >= SHARE)
    told = f"{slower:.2f} times, {p99 * 1000:.0f} ms"
    yield Figure(f"99th percentile of {name}", told, f"≤ {SLOWEST:g} times", slower <= SLOWEST)
    cpu = sum(one.cpu for one, _ in pairs)  # All together: a clock of processors ticks a hundred times in a second.
    times = cpu / sum(other.cpu for _, other in pairs)
    told = f"{times:.2f} times, {cpu / ROUNDS / REQUESTS * 1000:.2f} ms each"
    yield Figure(f"processor time of {name}", told, f"≤ {MOST_CPU:g} times", times <= MOST_CPU)


def _measure(server: Server, send: Send, round: int) -> Load:
    return asyncio.run(_send_all(server, send, range(round * REQUESTS, (round + 1) * REQUESTS)))


async def _send_all(server: Server, send: Send, numbers: range) -> Load:
    left, times, worked = iter(numbers), [], server.read_cpu_seconds()
    async with ClientSession(connector=TCPConnector(limit=AT_ONCE)) as session:

        async def work() -> None:
            for number in left:
                began = time.perf_counter()
                status = await send(session, number)
                assert status < 300, status
                times.append(time.perf_counter() - began)

        began = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        rate = len(numbers) / (time.perf_counter() - began)
        p99 = sorted(times)[int(len(times) * 0.99)]
        return Load(rate=rate, p99=p99, cpu=server.read_cpu_seconds() - worked)


def _submit(base: str, contests: list[str], token: str) -> Send:
    async def send(session: ClientSession, number: int) -> int:
        body = {"text": f"{TEXT}{number}", "author": f"author {number}"}
        url = f"{base}/v1/contests/{contests[number % CONTESTS]}/submissions"
        async with session.post(url, json=body, headers={"authorization": f"Bearer {token}"}) as answer:
            await answer.read()
            return answer.status

    return send


def _read(base: str, contests: list[str], token: str) -> Send:
    async def send(session: ClientSession, number: int) -> int:
        url, headers = f"{base}/v1/contests/{contests[number % CONTESTS]}", {"authorization": f"Bearer {token}"}
        async with session.get(url, headers=headers) as answer:
            await answer.read()
            return answer.status

    return send


def _create(base: str, token: str, number: int, judge: str) -> str:
    task: dict[str, Any] = {
        "name": f"essay {number}",
        "description": "Write an essay.",
        "acceptance": ["It is useful."],
        "mode": "quality_first",
        "deadline": (datetime.now(UTC) + timedelta(days=1)).isoformat(),
        "dimensions": DIMENSIONS,
        "judges": [f"openai-compatible:{judge}/m"],
    }
    return str(_post(f"{base}/v1/contests", {"task": task}, token)["id"])


def _post(url: str, body: dict[str, Any], token: str) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return dict(json.loads(answer.read()))


@contextmanager
def _service(folder: Path) -> Iterator[tuple[Server, str, str]]:
    """A service with a store of its own, and the tokens of an operator and of somebody who hands in."""
    with Store.open(folder / "store", {}) as store:
        operator = create_service_token(store, role="operator", name="bench").secret
        reader = create_service_token(store, role="submitter", name=READER).secret
    command = [sys.executable, "-m", "evenhand", "serve", "--store", str(folder / "store"), "--rate-limit", "10000000"]
    with _listening(lambda port: [*command, "--port", port]) as server:
        yield server, operator, reader


@contextmanager
def _bare(folder: Path) -> Iterator[Server]:
    with _listening(lambda port: [sys.executable, "-c", _BARE, str(folder / "bare"), port]) as server:
        yield server


@contextmanager
def _listening(command: Callable[[str], list[str]]) -> Iterator[Server]:
    port = _free_port()
    process = subprocess.Popen(command(port), env={**os.environ, "EVENHAND_WEBHOOK_SECRET": "x"})
    base = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{base}/healthz").close()
                break
            except OSError:
                time.sleep(0.1)
        yield Server(url=base, process=process.pid)
    finally:
        process.kill()  # Judges that say nothing would be waited for.
        process.wait()


def _free_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return str(held.getsockname()[1])


# The same framework, the same tables and settings of the same database, the same row and a commit for it, written in
# the store's own way: threads take turns, as to wait inside SQLite is slower. Nobody is asked who they are.
_BARE = """
import asyncio, itertools, sys
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import insert, select
from evenhand.store.store import Store
from evenhand.store.tables import CONTESTS, INBOX
from evenhand.store.rows import to_stored_json

app, numbers = FastAPI(), itertools.count()
store = Store.open(sys.argv[1], {})

class New(BaseModel):
    text: str
    author: str

@app.get("/healthz")
def health() -> str:
    return "ok"

@app.post("/v1/contests")
def begin(new: New):
    columns = ("id", "name", "digest", "state", "started", "touched", "source")
    with store._writing.begin() as connection:
        connection.execute(insert(CONTESTS), [dict.fromkeys(columns, new.author)])
    return {}

def keep(id, new):
    number = next(numbers)
    row = {"contest": id, "number": number, "kind": "submission", "id": f"{new.author} {number}", "author": new.author,
           "at": store.now().isoformat(), "content": to_stored_json({"text": new.text})}
    with store._connect(writes=True) as connection:
        connection.execute(insert(INBOX), [row])
    return {"contest": id, "id": row["id"], "at": row["at"]}

@app.post("/v1/contests/{id}/submissions", status_code=202)
async def post(id: str, new: New):
    return await asyncio.to_thread(keep, id, new)

@app.get("/v1/contests/{id}")
def get(id: str):
    with store._engine.connect() as connection:
        found = connection.execute(select(CONTESTS).where(CONTESTS.c.id == id)).mappings().first()
        own = (INBOX.c.contest == id) & (INBOX.c.kind == "submission") & INBOX.c.id.like("reader %")
        return {**found, "submissions": [dict(one) for one in connection.execute(select(INBOX).where(own)).mappings()]}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="warning", server_header=False)
"""
