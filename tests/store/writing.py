"""A process that writes one run, for tests in which several write at once: python -m … PLACE RUN ROWS."""

import asyncio
import sys

from evenhand.store.rows import StoreWriter
from evenhand.store.store import Store
from tests.store.rows import call_row, result_row, run_row


async def _write(store: Store, run: str, rows: int) -> None:
    writer = StoreWriter(store.write_rows)
    for position in range(rows):
        await writer.put("calls", call_row(position, run=run))
        await writer.put("results", result_row(position, run=run))
    writer.close()


if __name__ == "__main__":
    place, run, rows = sys.argv[1:]
    sys.stdin.readline()  # All begin when all are there.
    with Store.open(place, {}) as store:
        store.begin_run(run_row(id=run))
        asyncio.run(_write(store, run, int(rows)))
