"""Rows from many tasks go into few transactions; none is reported before it is safe, none is lost without a word."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from functools import partial
from typing import TypeVar

import pytest

from evenhand.errors import StoreError
from evenhand.store.rows import RowBatch, StoreWriter
from evenhand.store.run_holds import RunHold
from evenhand.store.store import Store
from tests.store.rows import RUN, call_row, key, result_row, run_row, sample_row

T = TypeVar("T")


class Watched(Store):
    """A store that counts its transactions, and can be made to wait or to fail before one."""

    written = 0
    may_write = threading.Event()
    failure: Exception | None = None

    def write_rows(self, batch: RowBatch, *, hold: RunHold | None = None, has_other_workers: bool = False) -> set[str]:
        assert self.may_write.wait(30)
        if self.failure is not None:
            raise self.failure
        claimed = super().write_rows(batch, hold=hold, has_other_workers=has_other_workers)
        self.written += 1
        return claimed


@pytest.fixture
def store(database: str) -> Iterator[Watched]:
    with Watched.open(database, {}) as opened:
        assert isinstance(opened, Watched)
        opened.may_write = threading.Event()
        opened.may_write.set()
        opened.begin_run(run_row())
        yield opened


def finished(coroutine: Coroutine[object, object, T]) -> T:
    """What comes out; a put that is never over fails the test instead of hanging it."""

    async def bounded() -> T:
        return await asyncio.wait_for(coroutine, 60)

    return asyncio.run(bounded())


def test_a_row_is_there_when_its_put_is_over(store: Watched) -> None:
    """Whoever has awaited it may be killed at once."""

    async def put() -> object:
        writer = StoreWriter(store.write_rows)
        await writer.put("calls", call_row(0))
        found = store.find_cached_replies([key("call", 0)])
        writer.close()
        return found

    assert finished(put()) == {key("call", 0): call_row(0)}


def test_what_arrives_together_is_committed_together(store: Watched) -> None:
    """A thousand rows in a handful of transactions, and each kind in its table."""

    async def put() -> None:
        writer = StoreWriter(store.write_rows)
        rows = [("samples", sample_row(n)) for n in range(250)] + [("results", result_row(n)) for n in range(250)]
        await asyncio.gather(*(writer.put(kind, row) for kind, row in rows))
        await asyncio.gather(*(writer.put("calls", call_row(n)) for n in range(500)))
        writer.close()

    finished(put())

    assert store.written <= 6
    assert [len(list(rows)) for rows in (store.samples(RUN), store.results(RUN), store.calls(RUN))] == [250, 250, 500]


def test_closing_writes_what_is_left(store: Watched) -> None:
    """Also what nobody waits for, and what arrived while a transaction was under way."""

    async def put() -> list[bool]:
        store.may_write.clear()
        writer = StoreWriter(store.write_rows)
        futures = [writer.put("calls", call_row(n)) for n in range(50)]
        threading.Timer(0.05, store.may_write.set).start()
        writer.close()
        await asyncio.wait(futures)
        return [future.exception() is None for future in futures]

    assert finished(put()) == [True] * 50
    assert len(list(store.calls(RUN))) == 50


def test_a_row_whose_task_was_cancelled_is_written_all_the_same(store: Watched) -> None:
    """It was paid for; and the rows beside it are not disturbed."""

    async def put() -> None:
        store.may_write.clear()
        writer = StoreWriter(store.write_rows)
        cancelled, other = writer.put("calls", call_row(0)), writer.put("calls", call_row(1))
        cancelled.cancel()
        store.may_write.set()
        await other
        writer.close()

    finished(put())

    assert [row["position"] for row in store.calls(RUN)] == [0, 1]


@pytest.mark.parametrize(
    "bad", [("calls", call_row(1, run="nowhere")), ("calls", {"kept": "raw"}), ("cals", call_row(1))]
)
def test_after_one_failure_nothing_more_is_written(store: Watched, bad: tuple[str, dict[str, object]]) -> None:
    """A run without a store would spend money on what nobody can read again."""

    async def put() -> list[BaseException | None]:
        writer = StoreWriter(store.write_rows)
        await writer.put("calls", call_row(0))
        first = (await asyncio.gather(writer.put(*bad), return_exceptions=True))[0]
        later = (await asyncio.gather(writer.put("calls", call_row(2)), return_exceptions=True))[0]
        with pytest.raises((StoreError, TypeError)):
            writer.close()
        return [first, later]

    first, later = finished(put())

    assert isinstance(first, StoreError if bad[0] == "calls" else TypeError)
    assert later is first
    assert [row["position"] for row in store.calls(RUN)] == [0]


def test_what_waits_behind_a_failure_fails_too(store: Watched) -> None:
    """Nobody is left waiting, whatever went wrong."""

    async def put() -> list[object]:
        store.may_write.clear()
        store.failure = OSError("torn")
        writer = StoreWriter(store.write_rows)
        futures = [writer.put("calls", call_row(n)) for n in range(3)]
        store.may_write.set()
        told = await asyncio.gather(*futures, return_exceptions=True)
        with pytest.raises(OSError, match="torn"):
            writer.close()
        return list(told)

    assert finished(put()) == [store.failure] * 3


def test_a_closed_writer_takes_nothing(store: Watched) -> None:
    """A row put in too late would never be written."""

    async def put() -> None:
        writer = StoreWriter(store.write_rows)
        writer.close()
        writer.put("calls", call_row(0))

    with pytest.raises(RuntimeError, match="the writer is closed"):
        finished(put())


def test_questions_are_claimed_together_and_by_one_run_each(store: Watched) -> None:
    """A claim of another, or a reply that is there, refuses one question and not those beside it."""
    holds = [store.begin_run(run_row(id=id)) for id in ("first", "second")]
    keys = [f"k{number}" for number in range(50)]
    store.write_rows(RowBatch(calls=[call_row(0, key="k7")]))
    store.write_rows(RowBatch(claims=["k3", "k9"]), hold=holds[0])

    async def claim() -> list[bool]:
        writer = StoreWriter(partial(store.write_rows, hold=holds[1]))
        claimed = await asyncio.gather(*(writer.put("claims", key) for key in keys))
        writer.release("k1")
        writer.close()
        return claimed

    before = store.written
    claimed = finished(claim())

    assert store.written <= before + 3
    assert [key for key, got in zip(keys, claimed, strict=True) if not got] == ["k3", "k7", "k9"]
    assert store.claims.claim_reply("k1", holds[0])
