"""What a whole run costs beside the bare requests, and beside others who make them; and what a large one takes."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.loopback import saying, serving
from benchmarks.runs_calls import CALLS, REPLIES, Took, bare_loop, bodies_of, whole_run, write_eval, write_samples
from benchmarks.runs_large import measure_large
from benchmarks.runs_peers import measure_peers

ROUNDS = 3
MOST, LEAST = 6, 0.5  # Of a bare loop: CPU of a call, and evaluations a second where the server takes its time.


def measure_runs() -> Iterator[Figure]:
    """Against a server that answers at once and one that takes 50 ms, with 50 and with 500 calls under way."""
    with tempfile.TemporaryDirectory() as folder:
        write_samples(Path(folder), CALLS)
        ours = {}
        for after in (0, 50):
            for at_once in (50, 500):
                bare, run = _side_by_side(Path(folder), after, at_once)
                yield from _figures(f"run, {after} ms, {at_once} at once", after, bare, run)
                ours[after, at_once] = run.cpu / CALLS
        _tell_guards(Path(folder))
    yield from measure_peers(ours[0, 50])
    yield from measure_large()


def _side_by_side(folder: Path, after: int, at_once: int, *, guards: bool = False) -> tuple[Took, Took]:
    """The best of several rounds of each, taken in turn after one that does not count."""
    with serving(*map(saying, REPLIES), after=after / 1000) as url:
        file = write_eval(folder, url, at_once, guards=guards)
        bodies = list(bodies_of(file))
        rounds = [_round(file, bodies, url, at_once) for _ in range(1 + ROUNDS)][1:]
    return _best([bare for bare, _ in rounds]), _best([run for _, run in rounds])


def _round(file: Path, bodies: list[dict[str, object]], url: str, at_once: int) -> tuple[Took, Took]:
    with tempfile.TemporaryDirectory() as store:
        return bare_loop(bodies, url, at_once), whole_run(file, Path(store))


def _best(rounds: list[Took]) -> Took:
    return Took(cpu=min(one.cpu for one in rounds), wall=min(one.wall for one in rounds))


def _figures(name: str, after: int, bare: Took, run: Took) -> Iterator[Figure]:
    ratio = run.cpu / bare.cpu
    cpu = f"{1000 * run.cpu / CALLS:.2f} ms ({ratio:.1f} ×)"
    yield Figure(f"{name}: CPU per call, of a bare loop", cpu, f"≤ {MOST} ×", ratio <= MOST)
    share = bare.wall / run.wall
    rate = f"{CALLS / run.wall:,.0f} ({share:.2f})"
    if after:
        yield Figure(f"{name}: per s, of a bare loop", rate, f"≥ {LEAST}", share >= LEAST)
    else:
        print(f"        {name}: {rate} of the {CALLS / bare.wall:,.0f} evaluations a second of a bare loop")


def _tell_guards(folder: Path) -> None:
    bare, run = _side_by_side(folder, 0, 50, guards=True)
    cpu = f"{1000 * run.cpu / CALLS:.2f} ms ({run.cpu / bare.cpu:.1f} ×)"
    print(f"        with all guards, 0 ms, 50 at once: {cpu} of CPU per call")
