"""One worker of a fleet without a cluster: what travels to it, what it says of a node that lacks something."""

import asyncio
import json
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import EvenhandError, InputError, StoreError
from evenhand.evals.eval_definition import RecheckedSamples
from evenhand.models.connections import Connections
from evenhand.models.shared_limits import ModelLimitSlices
from evenhand.runs.execute import RunProgress, RunWorker
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunRecorder
from evenhand.runs.setup import build_run_setup, collect_run_keys_to_hide
from evenhand.store.rows import StoreWriter
from evenhand.store.store import Store
from evenhand.workflows import fleet
from evenhand.workflows.fleet import build_fleet_job, find_fleet_address
from evenhand.workflows.fleet_cluster import connect_to_ray_fleet
from evenhand.workflows.fleet_ledger import BudgetAnswer, FleetLedger, ShardProgress
from evenhand.workflows.fleet_ray import explain_dead_fleet_task, run_shard
from evenhand.workflows.fleet_worker import FleetJob, FleetShard, ShardResult, open_fleet_session, score_fleet_shard
from evenhand.workflows.run import RunOptions, check_user_run, read_clock_for_user, resolve_user_eval
from tests.store.databases import free_port
from tests.store.rows import RUN, run_row

SECRET = "sk-this-must-stay-where-it-is-0123456789"
BOT = "import neighbour\n\ndef answer(sample):\n    return neighbour.WORD + sample['input']\n"


class Link:
    """The ledger in the same process."""

    def __init__(self, ledger: FleetLedger) -> None:
        self._ledger = ledger

    async def change_slices(self, server: str, change: Callable[[ModelLimitSlices, float], Any]) -> Any:
        return self._ledger.change_slices(server, change)

    async def take_budget(self, *asked: Any) -> BudgetAnswer:
        return self._ledger.take_budget(*asked)

    async def begin_shard(self, shard: int, attempt: str) -> None:
        self._ledger.begin_shard(shard, attempt)

    async def report_shard(self, shard: int, attempt: str, progress: ShardProgress) -> bool:
        return self._ledger.report_shard(shard, attempt, progress)

    async def end_shard(self, *told: Any) -> None:
        self._ledger.end_shard(*told)


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("EVENHAND_DATABASE_URL", raising=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", {}) as opened:
        yield opened


def write_eval(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    (folder / "bot.py").write_text(BOT, "utf-8")
    (folder / "neighbour.py").write_text("WORD = 'Please '\n", "utf-8")
    (folder / "old.jsonl").write_text('{"id": "s0", "text": "recorded"}\n', "utf-8")
    whole = {
        "name": "answers",
        "samples": [{"id": "s0", "input": "wait"}, {"id": "s1", "input": "go"}],
        "variants": {"old": {"outputs": "old.jsonl"}, "new": {"python": "bot:answer"}},
        "assertions": [{"contains": "Please"}],
        **changes,
    }
    (folder / "eval.yaml").write_text(json.dumps(whole), "utf-8")
    return folder / "eval.yaml"


async def prepare_job(store: Store, file: Path) -> tuple[FleetJob, FleetShard]:
    """What whoever begins a run sends out: the job, and all of its samples in one shard."""
    eval, counted = check_user_run(resolve_user_eval(file), RunOptions())
    hold = store.begin_run(run_row())
    async with Connections(os.environ) as connections:
        with closing(StoreWriter(partial(store.write_rows, hold=hold))) as writer:
            book = RunRecorder(store, writer, hold, read_clock_for_user)
            setup = build_run_setup(eval, connections, counted.questions)
            hidden = collect_run_keys_to_hide(eval, os.environ)
            cache = ReplyCache(book, connections.price)
            worker = RunWorker(setup, book, cache, {}, os.environ, hidden, [RUN], course=RunProgress(total=2))
            samples = RecheckedSamples(eval.samples, counted)
            job = build_fleet_job(worker, samples)
            recorded = {"old": {"s0": "nothing is recorded", "s1": "nothing is recorded"}}
            return job, FleetShard(number=0, places=2, samples=tuple(enumerate(samples)), recorded=recorded)


async def score_elsewhere(store: Store, job: FleetJob, shard: FleetShard) -> ShardResult:
    """Score a shard as another machine would, to which only bytes have come."""
    here: FleetJob
    sent: FleetShard
    here, sent = pickle.loads(pickle.dumps((job, shard)))
    async with AsyncExitStack() as stack:
        link = Link(FleetLedger(store, here.eval, here.line))
        session = await open_fleet_session(stack, here, sent.places, link)
        return await score_fleet_shard(session, sent, "first")


def test_functions_travel_and_a_shard_done_twice_counts_once(tmp_path: Path, store: Store) -> None:
    """A node has neither the eval's folder nor its files of outputs; the second attempt finds all results there."""

    async def story() -> tuple[ShardResult, ShardResult]:
        job, shard = await prepare_job(store, write_eval(tmp_path / "here"))
        (tmp_path / "here").rename(tmp_path / "gone")
        return await score_elsewhere(store, job, shard), await score_elsewhere(store, job, shard)

    first, second = asyncio.run(story())
    rows = {(row["position"], row["variant"]): json.loads(row["content"]) for row in store.results(RUN)}

    assert (first.progress.done, first.progress.skipped) == (2, 0)
    assert (second.progress.done, second.progress.skipped) == (0, 2)
    assert rows[0, "new"]["output"]["text"] == "Please wait"
    assert rows[1, "new"]["output"]["text"] == "Please go"
    assert rows[0, "old"]["why"] == "nothing is recorded"


def test_no_secret_travels(tmp_path: Path, store: Store) -> None:
    """What Ray carries and may keep in its own files holds no key and no password of the one who began the run."""
    job, shard = asyncio.run(prepare_job(store, write_eval(tmp_path / "here")))

    sent = pickle.dumps((job, shard))

    assert SECRET.encode() not in sent
    assert b"OPENAI_API_KEY" not in sent


def test_a_node_without_a_key_says_so(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a value and no failure: Ray would try it again and again, and print a traceback each time."""
    rubric = {"name": "r", "method": "judge-skill", "criteria": [{"id": "polite", "asks": "Is it polite?"}]}
    file = write_eval(tmp_path / "here", rubric=rubric, judges=["openai/gpt-4o"])
    job, shard = asyncio.run(prepare_job(store, file))
    monkeypatch.delenv("OPENAI_API_KEY")

    told = run_shard(job, shard, None)

    assert isinstance(told, EvenhandError)
    assert str(told).startswith("node ")
    assert "OPENAI_API_KEY" in str(told)


def test_a_node_with_another_store_says_so(tmp_path: Path, store: Store) -> None:
    """Results in a store that nobody reads would be lost."""
    job, shard = asyncio.run(prepare_job(store, write_eval(tmp_path / "here")))
    store.release_run(RUN, "stopped", "2026-11-17", None)
    store.delete_run(RUN)

    told = run_shard(job, shard, None)

    assert "the run is in" in str(told)
    assert "EVENHAND_DATABASE_URL" in str(told)


def test_a_file_is_no_store_for_other_machines(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite needs the locks of one machine."""
    monkeypatch.setattr(fleet, "list_fleet_hosts", lambda: {"elsewhere"})

    with pytest.raises(StoreError, match=r"other machines cannot write .* \(a fleet needs PostgreSQL"):
        fleet.refuse_store_out_of_fleet_reach(store)


@pytest.mark.parametrize(
    ("where", "environ", "address"),
    [
        ("ray", {}, None),
        ("ray", {"RAY_ADDRESS": "10.0.0.1:6379"}, "10.0.0.1:6379"),
        ("ray://head:10001", {"RAY_ADDRESS": "10.0.0.1:6379"}, "ray://head:10001"),
    ],
)
def test_the_cluster_is_the_one_that_is_named(where: str, environ: dict[str, str], address: str | None) -> None:
    """By the option, else by the variable of Ray's own; without either, it is one of our own."""
    assert find_fleet_address(where, environ) == address


@pytest.mark.parametrize("where", ["dask", "ray://", "", "rays"])
def test_another_word_is_no_fleet(where: str) -> None:
    """A misspelt option does not run on this machine alone, nor anywhere else."""
    with pytest.raises(InputError, match="does not name a fleet"):
        find_fleet_address(where, {})


def test_a_package_that_a_node_lacks_is_named() -> None:
    """Ray tells it in the middle of a traceback of its own."""
    error = RuntimeError("The remote function failed to import.\n  ModuleNotFoundError: No module named 'evenhand'\n")

    assert str(explain_dead_fleet_task(error, "s0")) == (
        "--fleet: a node lacks a package: ModuleNotFoundError: No module named 'evenhand' "
        "(install the same version of Evenhand, with the extra fleet, on every node)"
    )


def test_a_cluster_that_is_not_there_is_told_at_once() -> None:
    """Ray itself would try for a minute, and print while it does."""
    address = f"127.0.0.1:{free_port()}"

    with pytest.raises(InputError, match=rf"{address}: cannot be reached: .* \(is the cluster running\?"):
        connect_to_ray_fleet(address)
