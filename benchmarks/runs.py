"""What a whole run costs beside the bare requests, and beside others who make them; and what a large one takes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.loopback import saying, serving
from benchmarks.runs_calls import (
    CALLS,
    REPLIES,
    Took,
    bare_loop,
    bodies_of,
    find_best_round,
    whole_run,
    write_eval,
    write_samples,
)
from benchmarks.runs_large import measure_large
from benchmarks.runs_peers import compare_with_peers

ROUNDS = 3
MOST = 3  # Times the CPU of a call in a bare loop.
LEAST = {50: 0.5, 500: 0.33}  # Of its evaluations a second where the server takes its time, by calls at once.
OF_PEER = 0.4  # Of the CPU of the leanest of the others.


def measure_runs() -> Iterator[Figure]:
    """Against a server that answers at once and one that takes 50 ms, with 50 and with 500 calls under way."""
    with tempfile.TemporaryDirectory() as folder:
        write_samples(Path(folder), CALLS)
        ours = {}
        for after in (0, 50):
            for at_once in (50, 500):
                bare, run = _side_by_side(Path(folder), after, at_once)
                least = LEAST[at_once] if after else None
                yield from _figures(f"run, {after} ms, {at_once} at once", least, bare, run)
                ours[after, at_once] = run.cpu / CALLS
        _tell_guards(Path(folder))
    yield from compare_with_peers("run", ours[0, 50], OF_PEER)
    yield from measure_large()


def _side_by_side(folder: Path, after: int, at_once: int, *, guards: bool = False) -> tuple[Took, Took]:
    """The best of several rounds of each, taken in turn after one that does not count."""
    with serving(*map(saying, REPLIES), after=after / 1000) as url:
        file = write_eval(folder, url, at_once, guards=guards)
        bodies = list(bodies_of(file))
        rounds = [_round(file, bodies, url, at_once) for _ in range(1 + ROUNDS)][1:]
    return find_best_round([bare for bare, _ in rounds]), find_best_round([run for _, run in rounds])


def _round(file: Path, bodies: list[dict[str, object]], url: str, at_once: int) -> tuple[Took, Took]:
    with tempfile.TemporaryDirectory() as store:
        return bare_loop(bodies, url, at_once), whole_run(file, Path(store))


def _figures(name: str, least: float | None, bare: Took, run: Took) -> Iterator[Figure]:
    ratio = run.cpu / bare.cpu
    cpu = f"{1000 * run.cpu / CALLS:.2f} ms ({ratio:.1f} ×)"
    yield Figure(f"{name}: CPU per call, of a bare loop", cpu, f"≤ {MOST} ×", ratio <= MOST)
    share = bare.wall / run.wall
    rate = f"{CALLS / run.wall:,.0f} ({share:.2f})"
    if least is not None:
        yield Figure(f"{name}: per s, of a bare loop", rate, f"≥ {least}", share >= least)
    else:
        print(f"        {name}: {rate} of the {CALLS / bare.wall:,.0f} evaluations a second of a bare loop")


def _tell_guards(folder: Path) -> None:
    bare, run = _side_by_side(folder, 0, 50, guards=True)
    cpu = f"{1000 * run.cpu / CALLS:.2f} ms ({run.cpu / bare.cpu:.1f} ×)"
    print(f"        with all guards, 0 ms, 50 at once: {cpu} of CPU per call")
