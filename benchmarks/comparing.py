"""How long two large stored runs take to compare, and how much memory, as a command in its own process."""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.runs_calls import EVAL, UNGUARDED, write_samples
from benchmarks.runs_large import JUDGE, REST, Sitting, sitting
from evenhand import load_eval, run
from evenhand.store.rows import Row, RowBatch, to_stored_json
from evenhand.store.store import Store
from evenhand.workflows.report import load_user_report_head
from evenhand.workflows.run import RunOptions

FEW, MANY, TAKES = 1_000, 100_000, 3
SECONDS, MEGABYTES = 3, 1_000
AT_ONCE = 5_000
IDS = ("20261116-000000-aaaaaa", "20261116-000000-bbbbbb")


def measure_comparing() -> Iterator[Figure]:
    """A run of 1,000 samples is made, its rows are written a hundred times over as two runs, and these are compared."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store = place / ".evenhand"
        _write_runs(place, store)
        again = min((_compare(place) for _ in range(TAKES)), key=lambda take: take.wall)
        _forget_columns(store)
        first = _compare(place)
    samples = f"two runs of {MANY:,} samples"
    value = f"{again.wall:.1f} s ({again.cpu:.1f} of CPU)"
    yield Figure(f"{samples} compared", value, f"< {SECONDS} s", again.wall < SECONDS)
    peak = again.peak / 1000
    yield Figure(f"{samples}, resident", f"{peak:.0f} MB", f"< {MEGABYTES} MB", peak < MEGABYTES)
    print(
        f"        without their columns, as an older Evenhand left them: {first.wall:.1f} s, {first.peak / 1000:.0f} MB"
    )


def _write_runs(folder: Path, store: Path) -> None:
    write_samples(folder, FEW)
    (folder / "judges.py").write_text(JUDGE)
    (folder / "eval.yaml").write_text(EVAL + UNGUARDED + REST)
    small = asyncio.run(run(load_eval(folder / "eval.yaml", os.environ), options=RunOptions(place=store))).id
    with Store.open(store, {}) as opened:
        for number, id in enumerate(IDS):
            row = {**opened.find_run(small), "id": id, "state": "running", "ended": None, "summary": None}
            opened.begin_run(row)
            _fill(opened, small, id, shift=7 * number)
            head = load_user_report_head(opened, {**row, "state": "finished", "ended": row["started"]})
            opened.release_run(id, "finished", row["started"], to_stored_json(head))


def _fill(store: Store, small: str, id: str, *, shift: int) -> None:
    """The rows of a small run over and over; shifted, so that the two runs do not say the same of a sample."""
    samples, results = list(store.samples(small)), list(store.results(small))
    for start in range(0, MANY, AT_ONCE):
        some = range(start, start + AT_ONCE)
        store.write_rows(
            RowBatch(
                samples=[_sample(samples[at % FEW], id, at) for at in some],
                results=[{**results[(at + shift) % FEW], "run": id, "position": at} for at in some],
            )
        )


def _sample(row: Row, id: str, position: int) -> Row:
    name = f"s{position}"
    return {
        "run": id,
        "position": position,
        "id": name,
        "content": to_stored_json({**json.loads(row["content"]), "id": name}),
    }


def _forget_columns(place: Path) -> None:
    with Store.open(place, {}) as store:
        for id in IDS:
            row = store.find_run(id)
            store.hold_run(id, "nobody:0:0")
            store.release_run(id, "finished", row["ended"], row["summary"])


def _compare(folder: Path) -> Sitting:
    return sitting(folder, "compare", *IDS, "--report-only", "--json")
