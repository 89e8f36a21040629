"""How long a user waits before anything happens, each take beside a bare Python."""

import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from benchmarks.figure import Figure

TAKES = 21
MOST = 3  # Times a bare Python.


def measure_startup() -> Iterator[Figure]:
    """Medians over alternating takes, so that a slow moment hits all of them."""
    commands = {
        "bare": ["-c", "pass"],
        "import": ["-c", "import evenhand"],
        "--version": ["-m", "evenhand", "--version"],
        "--help": ["-m", "evenhand", "--help"],
    }
    takes: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TAKES):
        for name, arguments in commands.items():
            takes[name].append(_milliseconds(arguments))
    times = {name: median(values) for name, values in takes.items()}

    above = times["import"] - times["bare"]
    yield Figure("import evenhand, above a bare Python", f"{above:.0f} ms", "≤ 30 ms", above <= 30)
    for name in ("--version", "--help"):
        ratio = times[name] / times["bare"]
        value = f"{times[name]:.0f} ms ({ratio:.1f} ×)"
        yield Figure(f"evenhand {name}, and against a bare Python", value, f"≤ {MOST} ×", ratio <= MOST)


def _milliseconds(arguments: list[str]) -> float:
    start = perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return 1000 * (perf_counter() - start)
