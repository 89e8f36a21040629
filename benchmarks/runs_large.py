"""Whether a run stays small as samples grow, and how soon a finished one is shown again; each in its own process."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.runs_calls import EVAL, REPLIES, UNGUARDED, write_samples

FEW, MANY, TAKES = 1_000, 100_000, 3
JUDGE = f"""
from itertools import cycle
replies = cycle({[json.dumps(reply) for reply in REPLIES]})
async def judge(request):
    return next(replies)
"""
REST = """
judges: [python:judges:judge]
assertions: [{contains: four}, {max_length: 400}]
"""


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """One call of `evenhand` from the command line."""

    peak: int  # Kilobytes that were resident at most.
    cpu: float
    wall: float


def measure_large() -> Iterator[Figure]:
    """Runs of 1,000 and of 100,000 samples with two assertions and a function as judge; the large one resumed."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = (_prepared(Path(folder) / str(count), count) for count in (FEW, MANY))
        small, large = _run(few), _run(many)
        again = min((_run(many, "--resume") for _ in range(TAKES)), key=lambda take: take.wall)
    ratio = large.peak / small.peak
    value = f"{large.peak / 1000:.0f} MB ({ratio:.2f} ×)"
    yield Figure(f"resident at {MANY:,} samples, of {FEW:,}", value, "≤ 1.5 ×", ratio <= 1.5)
    print(f"        {MANY / large.wall:,.0f} evaluations a second, {1000 * large.cpu / MANY:.2f} ms of CPU for each")
    value = f"{again.wall:.1f} s ({again.cpu:.1f} of CPU)"
    yield Figure(f"a finished run of {MANY:,} samples resumed", value, "< 5 s", again.wall < 5)


def _prepared(folder: Path, count: int) -> Path:
    folder.mkdir()
    write_samples(folder, count)
    (folder / "judges.py").write_text(JUDGE)
    (folder / "eval.yaml").write_text(EVAL + UNGUARDED + REST)
    return folder


def _run(folder: Path, *options: str) -> Sitting:
    return sitting(folder, "run", "eval.yaml", *options)


def sitting(folder: Path, *arguments: str) -> Sitting:
    """One command in its own process."""
    began = time.perf_counter()
    command = [sys.executable, "-c", _SITTING, *arguments]
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    wall = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    peak, cpu = done.stderr.split()[-2:]
    return Sitting(peak=int(peak), cpu=float(cpu), wall=wall)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("EVENHAND_")}


# The peak of a process as it counts itself: what a parent is told of a child includes what the parent had.
_SITTING = """
import sys, time
sys.path.insert(0, "")
from evenhand.cli.entry import main
try:
    main()
finally:
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(peak, time.process_time(), file=sys.stderr)
"""
