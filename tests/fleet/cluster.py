"""A cluster of Ray whose nodes are all on this machine: python -m tests.fleet.cluster NODES, then lines of orders."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# Nothing is sent, nobody but this machine may connect, and no process is started that nobody needs.
ENVIRON = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "disabled",
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
}
CPUS = 2  # Of each node: workers that it has at once.


@dataclass
class LocalCluster:
    """The cluster, held by a process of its own."""

    _environ: Mapping[str, str]
    _process: "subprocess.Popen[str]" = field(repr=False)

    @cached_property
    def _told(self) -> Any:
        return _read(self._process)

    @property
    def nodes(self) -> list[int]:
        """The process numbers of all nodes but the first, which is the one of whoever begins a run."""
        found: list[int] = self._told["nodes"]
        return found

    @property
    def environ(self) -> dict[str, str]:
        """What whoever begins a run needs; it waits for all nodes to be there."""
        return {**ENVIRON, **self._environ, "RAY_ADDRESS": self._told["address"]}

    def list_processes(self, word: str, parent: int | None = None) -> list[int]:
        """The numbers of this cluster's processes that Ray has given a name with a word, on one node or on all."""
        found = []
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdecimal() and os.getsid(int(folder.name)) == self._process.pid:
                    name = (folder / "cmdline").read_bytes().decode("utf-8", "replace")
                    above = int((folder / "stat").read_text("utf-8").rpartition(")")[2].split()[1])
                    is_meant = name.startswith("ray::") and word in name and parent in (None, above)
                    found += [int(folder.name)] if is_meant else []
        return found

    def cut_off_node(self, number: int) -> None:
        """Kill what connects a node to the others: they take it for dead, and its workers may go on for a while."""
        os.kill(self.nodes.pop(number), signal.SIGKILL)

    def kill_node(self, number: int) -> None:
        """Kill a node with all of its workers, as a machine that loses its power."""
        workers = self.list_processes("", parent=self.nodes[number])
        self.cut_off_node(number)
        for worker in workers:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)

    def add_node(self) -> None:
        """Start another node."""
        self.nodes.append(_order(self._process, "add"))


@contextmanager
def open_cluster(environ: Mapping[str, str], nodes: int = 2, cpus: int = CPUS) -> Iterator[LocalCluster]:
    """So many nodes, each with the same environment; they start while others work, and do not outlive the block."""
    folder = tempfile.mkdtemp(prefix="evr")  # Short: the names of sockets are bounded.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    kept["RAY_TMPDIR"] = folder  # Where Ray notes the address of its last cluster; it does not make the folder itself.
    (Path(folder) / "ray").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.fleet.cluster", str(nodes), str(cpus), folder],
        cwd=ROOT,
        env={**kept, **ENVIRON, **environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    cluster = LocalCluster(environ, process)
    try:
        yield cluster
    finally:
        left = cluster.list_processes("")  # Workers of a node that was cut off belong to nobody.
        process.communicate("end\n")
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def _order(process: "subprocess.Popen[str]", word: str) -> Any:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()
    return _read(process)


def _read(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    line = process.stdout.readline()
    while line and not line.startswith("told "):
        line = process.stdout.readline()
    assert line, "the cluster has ended"
    return json.loads(line.removeprefix("told "))


def _hold(nodes: int, cpus: int, folder: str) -> None:
    """Hold a cluster until standard input says to end it."""
    from ray.cluster_utils import Cluster

    options: dict[str, Any] = {
        "num_cpus": cpus,
        "include_dashboard": False,
        "no_monitor": True,
        "include_log_monitor": False,
        "object_store_memory": 80_000_000,
        "temp_dir": folder,
    }
    cluster: Any = Cluster(initialize_head=True, head_node_args=options)
    try:
        others = [_find_process(cluster.add_node(**options)) for _ in range(nodes - 1)]
        print("told", json.dumps({"address": cluster.address, "nodes": others}), flush=True)  # noqa: T201
        for line in sys.stdin:
            if line.strip() != "add":
                break
            print("told", _find_process(cluster.add_node(**options)), flush=True)  # noqa: T201
    finally:
        cluster.shutdown()


def _find_process(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


if __name__ == "__main__":
    _hold(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
