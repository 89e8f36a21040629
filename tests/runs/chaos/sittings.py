"""One eval run in many sittings, most of them killed, and each held against what was kept before it."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.runs.chaos.evals import LIVE, REPEATS, Kept, timeless_head
from tests.runs.chaos.judges import NAMES, Asked, Judges
from tests.soak import SOAK
from tests.warm.processes import Done, run, started, wait_until

SAMPLES = 60 if SOAK else 12
KILLS = 50 if SOAK else 5
FEW_KILLS = 20 if SOAK else 2
AHEAD = 8  # Requests that are still answered while we are about to kill.
SEED = int(os.environ.get("EVENHAND_SEED", "7"))


@dataclass
class Sittings:
    """The runs of one folder; `patient` is whether the server answers well, so that nothing is tried twice."""

    folder: Path
    judges: Judges
    expected: Counter[Asked]
    place: str = ""
    patient: bool = True
    kept: Counter[Asked] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)
    makings: int = 0

    def killed(self, kills: int) -> None:
        """So many sittings that end by SIGKILL, each at another moment, and one that may be too late."""
        chance = random.Random(SEED)
        for sitting in range(kills):
            left = self.expected.total() - self.kept.total()
            requests = min(chance.randint(0, 2 * left // (kills - sitting + 1)), left - 1)
            self.judges.most = min(requests + AHEAD, left - 1)  # However slow we are, it cannot have finished.
            code = self._killed(requests, chance.uniform(0, 0.02 if requests else 0.2))
            assert code == -signal.SIGKILL
        self._killed(self.expected.total() - self.kept.total(), chance.uniform(0, 0.1))

    def _killed(self, requests: int, seconds: float) -> int:
        with started(self.folder, "run", "eval.yaml", "--resume", environ=self._environ) as process:
            wait_until(lambda: self.judges.asked.total() >= requests or process.over())
            time.sleep(seconds)  # Nothing is waited for: whatever it is busy with now, it dies.
            process.signal(signal.SIGKILL)
            code = process.done().code
        self.judges.go_on()
        self.look()
        return code

    def finished(self, **options: object) -> Done:
        """A sitting that is left alone."""
        done = run(self.folder, "run", "eval.yaml", "--resume", "--json", environ=self._environ, **options)
        self.look()
        return done

    def assert_equal_to(self, undisturbed: Done) -> None:
        """One run, with one result for every output and repeat, and all numbers as they were in peace."""
        done = run(self.folder, "run", "eval.yaml", "--resume", "--json", environ=self._environ)
        calm, kept = Kept(self.folder.parent / "calm" / ".evenhand"), Kept(self._store)
        assert [row["state"] for row in kept.runs] == ["finished"]
        assert kept.results() == calm.results()
        for result in kept.results().values():
            judgments = Counter((one["judge"], one["criterion"]) for one in result["judgments"])
            assert sorted(judgments.values()) == [1] * len(NAMES) * 2
        assert kept.finished() == self.expected
        assert timeless_head(done.head) == timeless_head(undisturbed.head)

    @property
    def _environ(self) -> dict[str, str]:
        return {"EVENHAND_DATABASE_URL": self.place} if self.place else {}

    @property
    def _store(self) -> str | Path:
        return self.place or self.folder / ".evenhand"

    def look(self) -> None:
        """Nothing was asked or made that an earlier sitting had kept, nor more often than it had to be."""
        asked = self.judges.sitting()
        if self.patient:
            assert asked - (self.expected - self.kept) == Counter()
        else:
            assert asked.keys() <= (self.expected - self.kept).keys()
        log = self.folder / "makings"
        makings = log.read_text("utf-8").split()[self.makings :] if log.exists() else []
        assert Counter(makings) - Counter(set(makings) - set(self.made)) == Counter()
        self.makings += len(makings)
        if self.place or (self.folder / ".evenhand" / "store.sqlite").exists():
            kept = Kept(self._store)
            self.kept, self.made = kept.finished(), kept.made()


def undisturbed(folder: Path, judges: Judges) -> Done:
    """The same eval in peace, in a folder and a store of its own."""
    done = run(folder, "run", "eval.yaml", "--json")
    assert done.head["unfinished"] == 0
    judges.sitting()
    return done


def outputs(samples: int, *variants: str) -> Iterator[str]:
    """The names of all outputs, as they call themselves; live ones are different every time."""
    for number in range(samples):
        for name in variants:
            yield from [f"s{number}/{name}/{n}" for n in range(REPEATS)] if name == LIVE else [f"s{number}/{name}"]


def by_every_judge(marks: Iterable[str]) -> Counter[Asked]:
    """Every judge about every output: once a repeat, and once about what is different every time."""
    return Counter({(judge, mark): 1 if f"/{LIVE}/" in mark else REPEATS for mark in marks for judge in NAMES})
