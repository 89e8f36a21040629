"""One thread that writes for many tasks: what arrives while it commits goes into the next transaction together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from queue import Empty, SimpleQueue

from evenhand.store.rows import RowBatch
from evenhand.store.store import Store

GATHER_SECONDS = 0.01  # Seconds. A transaction costs as much as ten rows: the first one waits a moment for others.

WriterEntry = tuple[str, Mapping[str, object], "asyncio.Future[None]"]


class StoreWriter:
    """Rows are put in from the loop; each put is over when its row is committed, or fails with the store's error."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loop = asyncio.get_running_loop()
        self._entries: SimpleQueue[WriterEntry | None] = SimpleQueue()
        self._closing = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._write_until_closed, name="evenhand-writer", daemon=True)
        self._thread.start()

    def put(self, kind: str, row: Mapping[str, object]) -> asyncio.Future[None]:
        """Write a row of samples, results, calls, made or drop."""
        if self._closing.is_set():
            raise RuntimeError("the writer is closed")
        future = self._loop.create_future()
        self._entries.put((kind, row, future))
        return future

    def close(self) -> None:
        """Write what is left and stop; what went wrong since the beginning is raised once more."""
        self._closing.set()
        self._entries.put(None)
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _write_until_closed(self) -> None:
        open = True
        while open:
            entries = [self._entries.get()]
            self._closing.wait(GATHER_SECONDS)
            try:
                while True:
                    entries.append(self._entries.get_nowait())
            except Empty:
                pass
            open = None not in entries
            self._commit([entry for entry in entries if entry is not None])

    def _commit(self, entries: list[WriterEntry]) -> None:
        if entries and self._error is None:
            rows: dict[str, list[Mapping[str, object]]] = {}
            for kind, row, _ in entries:
                rows.setdefault(kind, []).append(row)
            try:
                self._store.write_rows(RowBatch(**rows))
            except Exception as error:  # Whatever it is, nobody may wait for a thread that has died.
                self._error = error
        if entries and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_settle_row_futures, [future for _, _, future in entries], self._error)


def _settle_row_futures(futures: list[asyncio.Future[None]], error: Exception | None) -> None:
    for future in futures:
        if future.done():  # Whoever waited was cancelled; the row is written all the same.
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
            future.exception()  # Seen: close() raises it for those who did not wait.
