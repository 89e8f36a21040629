"""Runs on several nodes, of which some are killed: the results of a run on one machine, each question paid for once."""

from collections import Counter
from pathlib import Path

from tests.fleet.cluster import open_cluster
from tests.fleet.judges import WatchedJudges, find_excess
from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.sittings import by_every_judge, outputs
from tests.store.databases import new_database
from tests.warm.processes import run, started, wait_until

SAMPLES = 75  # With two variants and two judges 300 calls.
RATE = 6000.0  # Requests a minute.
AT_ONCE = 16


def test_a_killed_node_loses_nothing_and_asks_nothing_twice_that_was_answered(
    tmp_path: Path, postgresql_server: str
) -> None:
    """Its shard is done again by another node: results are those of one machine, and limits hold over all workers."""
    with (
        WatchedJudges(delay=0.05) as judges,
        new_database(postgresql_server) as database,
        open_cluster({"EVENHAND_DATABASE_URL": database}) as cluster,
    ):
        for name in ("calm", "fleet"):
            how = {"max_tokens": 100, "requests_per_minute": RATE}
            write_eval(tmp_path / name, judges, SAMPLES, repeats=1, concurrency=AT_ONCE, how=how)
        calm = run(tmp_path / "calm", "run", "eval.yaml", "--json")
        judges.forget()

        judges.most, environ = 40, cluster.environ  # Beyond, they answer nothing: however late anybody looks, all wait.
        with started(tmp_path / "fleet", "run", "eval.yaml", "--json", "--fleet", "ray", environ=environ) as process:
            # A node may be slow to start, and a share of the limit is given back only when its lease has ended.
            wait_until(lambda: (judges.asked.total() > 40 and judges.at_once == AT_ONCE) or process.over(), within=240)
            cluster.kill_node(0)
            judges.go_on()
            head = process.done().head
        asked, kept = judges.sitting(), Kept(database)

    expected = Counter(list(by_every_judge(outputs(SAMPLES, *VARIANTS))))
    assert kept.results() == Kept(tmp_path / "calm" / ".evenhand").results()
    assert head["decision"] == calm.head["decision"]
    assert head["unfinished"] == 0
    assert kept.finished() == expected
    assert asked.keys() == expected.keys()
    assert 0 < (asked - expected).total() <= AT_ONCE  # Under way on the node that died, whatever its share was then.
    assert judges.most_at_once <= AT_ONCE
    assert find_excess(judges.times, RATE) <= 1 + RATE / 60
