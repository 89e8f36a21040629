"""Long runs on three nodes, with nodes, workers and whoever began the run killed again and again: `make soak`.

EVENHAND_CALLS makes them shorter.
"""

import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fleet.cluster import CPUS, LocalCluster, open_cluster
from tests.fleet.judges import WatchedJudges, find_excess, find_rate
from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.sittings import SEED, by_every_judge, outputs
from tests.store.databases import new_database
from tests.warm.processes import Process, started, wait_until

CALLS = int(os.environ.get("EVENHAND_CALLS", "20000"))  # Of each run.
RUNS, KILLS = 5, 6  # Of each run.
SAMPLES = CALLS // 4  # Two variants and two judges.
AT_ONCE = 48
RATE = 12_000.0  # Requests a minute.
PATIENCE = 1200.0
BEGIN = ("run", "eval.yaml", "--json", "--resume", "--fleet", "ray")


@pytest.fixture(scope="module")
def judges() -> Iterator[WatchedJudges]:
    with WatchedJudges(delay=0.2) as judges:
        yield judges


@pytest.fixture(scope="module")
def calm(judges: WatchedJudges, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The run on one machine that all others are held against."""
    folder = tmp_path_factory.mktemp("calm")
    write_fleet_eval(folder, judges)
    with started(folder, "run", "eval.yaml", "--json") as process:
        assert process.done(PATIENCE).head["unfinished"] == 0
    return Kept(folder / ".evenhand")


def write_fleet_eval(folder: Path, judges: WatchedJudges, samples: int = SAMPLES, at_once: int = AT_ONCE) -> None:
    how = {"max_tokens": 100, "requests_per_minute": RATE}
    write_eval(folder, judges, samples, repeats=1, concurrency=at_once, how=how)


@pytest.mark.parametrize("round", range(RUNS))
def test_whatever_is_killed_nothing_is_lost_or_counted_twice(
    round: int, tmp_path: Path, postgresql_server: str, judges: WatchedJudges, calm: Kept
) -> None:
    """Killed at random moments: nodes or their connections, single workers, the ledger, and whoever began the run."""
    chance = random.Random(SEED + round)
    write_fleet_eval(tmp_path, judges)
    judges.forget()
    killed: Counter[str] = Counter()

    with new_database(postgresql_server) as database:
        with open_cluster({"EVENHAND_DATABASE_URL": database}, nodes=3) as cluster:
            moments = sorted(chance.sample(range(CALLS // 20, CALLS * 9 // 10), KILLS))
            done = False
            while not done:
                with started(tmp_path, *BEGIN, environ=cluster.environ) as process:
                    while moments and not process.over():
                        wait_until(lambda: judges.asked.total() >= moments[0] or process.over(), PATIENCE)
                        moments.pop(0)
                        victim = chance.choice(("node", "node", "connection", "driver", "worker", "ledger"))
                        killed[victim] += kill_one(victim, process, cluster, chance)
                        if victim == "driver":
                            break
                    else:
                        head = process.done(PATIENCE).head
                        done = True
        asked, kept = judges.sitting(), Kept(database)

    expected = Counter(list(by_every_judge(outputs(SAMPLES, *VARIANTS))))
    again, twice = (asked - expected).total(), (kept.finished() - expected).total()
    excess = find_excess(judges.times, RATE)
    print(  # noqa: T201
        f"\n{CALLS:,} calls, killed {dict(killed)}: {again} asked again, {twice} of them answered and kept twice, "
        f"at once {judges.most_at_once} of {AT_ONCE}, {excess:.0f} requests above the rate (a slice is {RATE / 60:g})"
    )
    assert kept.results() == calm.results()
    assert len(kept.runs) == 1
    assert head["unfinished"] == 0
    assert expected - kept.finished() == Counter()
    assert again <= KILLS * AT_ONCE
    assert judges.most_at_once <= AT_ONCE + CPUS * AT_ONCE / 6  # A node that is cut off has its part for a moment.
    assert excess <= 1 + RATE / 60


def kill_one(victim: str, process: Process, cluster: LocalCluster, chance: random.Random) -> int:
    """Kill something with SIGKILL; how many were killed. Another node takes the place of one that dies."""
    if victim in ("node", "connection"):
        kill = cluster.kill_node if victim == "node" else cluster.cut_off_node
        kill(chance.randrange(len(cluster.nodes)))
        cluster.add_node()
        return 1
    if victim == "driver":
        process.signal(signal.SIGKILL)
        wait_until(process.over)
        return 1
    found = cluster.list_processes("FleetLedgerProcess" if victim == "ledger" else "run_shard")
    for number in chance.sample(found, min(1, len(found))):
        os.kill(number, signal.SIGKILL)
    return min(1, len(found))


def test_twice_the_workers_do_twice_the_work(tmp_path: Path, postgresql_server: str) -> None:
    """Workers wait for judges: with 1, 2 and 4 of them, of 16 calls at once each, the rate stays 0.9 of linear."""
    rates: dict[int, float] = {}
    with WatchedJudges(delay=1.0) as judges:
        for workers in (1, 2, 4):
            with measured_rate(tmp_path / str(workers), postgresql_server, judges, workers) as rate:
                rates[workers] = rate

    print(f"\nrequests a second by workers: { {workers: round(rate, 1) for workers, rate in rates.items()} }")  # noqa: T201
    assert rates[2] >= 0.9 * 2 * rates[1]
    assert rates[4] >= 0.9 * 4 * rates[1]


@contextmanager
def measured_rate(folder: Path, server: str, judges: WatchedJudges, workers: int) -> Iterator[float]:
    """Requests a second of so many workers, once all of them are at work and until the first has no more."""
    samples = 160 * workers
    write_fleet_eval(folder, judges, samples, at_once=16 * workers)
    judges.forget()
    with (
        new_database(server) as database,
        open_cluster({"EVENHAND_DATABASE_URL": database}, nodes=1, cpus=workers) as cluster,
        started(folder, *BEGIN, environ=cluster.environ) as process,
    ):
        process.done(PATIENCE)
    count = len(judges.times)
    yield find_rate(judges.times[: count * 8 // 10], judges.times[count * 3 // 10])


@pytest.fixture(scope="module")
def quiet_cluster(postgresql_server: str) -> Iterator[tuple[LocalCluster, str]]:
    """A cluster whose nodes nobody kills, and its database."""
    with (
        new_database(postgresql_server) as database,
        open_cluster({"EVENHAND_DATABASE_URL": database}, nodes=1) as cluster,
    ):
        yield cluster, database


def test_a_fleet_stops_once_it_is_decided_as_one_machine_does(
    tmp_path: Path, quiet_cluster: tuple[LocalCluster, str]
) -> None:
    """The same looks at the same samples in the same order: the same end, and not one sample more."""
    cluster, database = quiet_cluster
    heads = []
    with WatchedJudges() as judges:
        for name, options in (("calm", ()), ("fleet", ("--fleet", "ray"))):
            write_fleet_eval(tmp_path / name, judges, 60)
            environ = cluster.environ if options else {}
            argv = ("run", "eval.yaml", "--json", "--until-decided", *options)
            with started(tmp_path / name, *argv, environ=environ) as process:
                heads.append(process.done(PATIENCE).head)

    assert heads[1]["stopping"] == heads[0]["stopping"]
    assert heads[1]["decision"] == heads[0]["decision"]
    assert Kept(database).results(heads[1]["run"]["id"]) == Kept(tmp_path / "calm" / ".evenhand").results()


def test_ctrl_c_stops_a_fleet_and_resuming_asks_only_the_rest(
    tmp_path: Path, quiet_cluster: tuple[LocalCluster, str]
) -> None:
    """Calls under way are waited for and kept on every node; nothing is asked twice."""
    cluster, _ = quiet_cluster
    with WatchedJudges(delay=0.3) as judges:
        write_fleet_eval(tmp_path, judges, 60, at_once=8)
        with started(tmp_path, *BEGIN, environ=cluster.environ) as process:
            wait_until(lambda: judges.asked.total() >= 20 or process.over())
            process.signal(signal.SIGINT)
            stopped = process.done()
        first = judges.asked.total()
        with started(tmp_path, *BEGIN, environ=cluster.environ) as process:
            head = process.done().head
        asked = judges.sitting()

    assert stopped.code == 130
    assert "to continue: evenhand run eval.yaml --resume" in stopped.err
    assert stopped.head["run"]["state"] == "stopped"
    assert head["run"]["id"] == stopped.head["run"]["id"]
    assert first < 240
    assert set(asked.values()) == {1}
    assert head["unfinished"] == 0


def test_a_budget_holds_over_all_workers(tmp_path: Path, quiet_cluster: tuple[LocalCluster, str]) -> None:
    """A call costs one dollar: of 240 some 100 are paid for, and never one more; a larger budget finishes the run."""
    cluster, _ = quiet_cluster
    how = {"max_tokens": 100}
    with WatchedJudges(delay=0.05) as judges:
        for budget in (100, 300):
            write_eval(tmp_path, judges, 60, repeats=1, concurrency=8, how=how, budget=budget)
            with started(tmp_path, *BEGIN, environ=cluster.environ) as process:
                done = process.done()
            if budget == 100:
                paid = judges.asked.total()
                spent = done
        asked = judges.sitting()

    assert "the budget of $100 does not reach" in spent.err
    assert 80 < paid <= 100
    assert asked.total() == 240
    assert done.head["unfinished"] == 0
