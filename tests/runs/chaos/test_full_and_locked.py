"""A store that cannot be written: one sentence, exit code 2, and nothing lost of what was written before."""

import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.runs.chaos.evals import VARIANTS, write_eval
from tests.runs.chaos.judges import Judges
from tests.runs.chaos.sittings import Sittings, by_every_judge, outputs, undisturbed
from tests.warm.processes import Done, run, started, wait_until

SAMPLES = 12
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def test_a_full_disk_costs_nothing_but_the_wait_for_room(tmp_path: Path) -> None:
    """The limit on the size of files stands for the disk: what fits is kept, and the run says what is wrong."""
    with Judges() as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES)
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, *VARIANTS)))

        full = sittings.finished(largest_file=600_000)
        kept = sittings.kept.total()
        sittings.finished()

        assert_one_sentence(full, "store.sqlite", "What was written before is kept")
        assert 0 < kept < sittings.expected.total()
        sittings.assert_equal_to(peace)


def test_a_store_that_may_not_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    """Somebody else's store, or a disk that was mounted for reading only."""
    with Judges(delay=0.005) as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES)
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, *VARIANTS)))
        with started(tmp_path / "killed", "run", "eval.yaml") as process:
            wait_until(lambda: judges.asked.total() > 20)
            process.signal(signal.SIGKILL)
        sittings.look()

        with read_only(tmp_path / "killed" / ".evenhand"):
            refused = run(tmp_path / "killed", "run", "eval.yaml", "--resume", obeys_permissions=True)
        asked_while_refused = judges.sitting()
        sittings.finished()

        assert_one_sentence(refused, "store.sqlite", "cannot be")
        assert not asked_while_refused
        sittings.assert_equal_to(peace)


def assert_one_sentence(done: Done, *parts: str) -> None:
    """The last thing said, and nothing that only a programmer could read."""
    last = done.err.rstrip().rpartition("\n")[2]
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    assert all(part in last for part in parts), done.err


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody whom permissions bind may write here, for as long as it lasts."""
    paths = (*folder.iterdir(), folder)
    before = {path: path.stat().st_mode for path in paths}
    for path, mode in before.items():
        path.chmod(mode & ~WRITABLE)
    try:
        yield
    finally:
        for path, mode in before.items():
            path.chmod(mode)
