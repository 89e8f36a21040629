"""What goes wrong in a run is recorded and counted: it never becomes a zero, and it never disappears."""

import asyncio
import gc
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand.evals.eval_file import load_eval
from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import SampleSource
from evenhand.runs.execute import SAMPLES_AHEAD
from evenhand.workflows.run import RunOptions
from evenhand.workflows.run import run as run_eval
from tests.runs.chaos.evals import REPEATS, VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import NAMES, Judges
from tests.warm.processes import run

SAMPLES = 3
BROKEN = "s2"  # The sample with which something goes wrong.
PROGRAM = """
import json, sys
sample = json.load(sys.stdin)
if sample["id"] == "s2":
    sys.exit("no parcel of that number")
print(f"[{sample['id']}/live/{sample['repeat']}] Please wait for the refund.")
"""
CHECK = """
def whole(output):
    if "s2" in output["output"]:
        raise ZeroDivisionError("nothing to divide")
    return True
"""


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as running:
        yield running


@pytest.fixture(autouse=True)
def well(judges: Judges) -> Iterator[None]:
    """Every test finds judges that answer."""
    yield
    judges.babbling = ""
    judges.go_on()
    judges.sitting()


def test_an_output_that_cannot_be_made_is_counted(judges: Judges, tmp_path: Path) -> None:
    """The mean is that of the others, and says how many they are; another try may give it."""
    write_eval(tmp_path, judges, SAMPLES, variants={"old": {}, "live": {"command": "python3 program.py"}})
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")

    head = run(tmp_path, "run", "eval.yaml", "--json").head

    live, old = variant(head, "live"), variant(head, "old")
    others = (SAMPLES - 1) * REPEATS
    assert (live["results"], live["scored"], live["failed"]) == (SAMPLES * REPEATS, others, REPEATS)
    assert (old["scored"], old["failed"]) == (SAMPLES * REPEATS, 0)
    assert [(one["kind"], one["variant"], one["count"], one["first"]) for one in head["failures"]] == [
        ("output", "live", REPEATS, BROKEN)
    ]
    assert "no parcel of that number" in head["failures"][0]["why"]
    assert live["composite"]["n"] == others
    assert Fraction(live["composite"]["exact"]) == mean_of_the_scored(tmp_path, "live")
    assert head["unfinished"] == REPEATS


def test_a_judge_that_cannot_be_understood_is_counted(judges: Judges, tmp_path: Path) -> None:
    """Its part is missing, which is not a low score."""
    write_eval(tmp_path, judges, SAMPLES)
    judges.babbling = "second"

    head = run(tmp_path, "run", "eval.yaml", "--json").head

    for name in VARIANTS:
        own = variant(head, name)
        failures = [one for one in head["failures"] if one["variant"] == name]
        assert own["results"] == own["scored"] + own["incomplete"] == SAMPLES * REPEATS
        assert [(one["kind"], one["count"]) for one in failures] == [("judge", SAMPLES * REPEATS)]
        assert "second: unreadable" in failures[0]["why"]
    for result in Kept(tmp_path / ".evenhand").results().values():
        by_judge = {one["judge"].rpartition("/")[2]: one["exact"] for one in result["judgments"]}
        assert by_judge["second"] is None
        assert by_judge["first"] is not None
        assert result["score"] is None or Fraction(result["score"]) > 0
    assert head["unfinished"] == 0


def test_a_check_that_raises_is_counted(judges: Judges, tmp_path: Path) -> None:
    """It did not fail and it did not pass; what else is known of the output stays."""
    custom = {"custom": "python:checks:whole"}
    write_eval(tmp_path, judges, SAMPLES, assertions=[{"contains": "refund"}, custom])
    (tmp_path / "checks.py").write_text(CHECK, "utf-8")

    head = run(tmp_path, "run", "eval.yaml", "--json").head

    for name in VARIANTS:
        own = variant(head, name)
        assert own["assertions"] == {"passed": 2 * SAMPLES * REPEATS - REPEATS, "failed": 0, "unanswered": REPEATS}
        assert (own["scored"], own["incomplete"], own["failed"]) == ((SAMPLES - 1) * REPEATS, REPEATS, 0)
        assert own["composite"]["n"] == (SAMPLES - 1) * REPEATS
        assert own["score"]["n"] == SAMPLES * REPEATS
    assert sum(one["count"] for one in head["failures"]) == len(VARIANTS) * REPEATS
    assert all("ZeroDivisionError" in one["why"] for one in head["failures"])


def test_outputs_that_are_alike_fail_together_and_are_both_tried_again(judges: Judges, tmp_path: Path) -> None:
    """One question serves both; where its deadline passes, neither result is lost or taken for final."""
    write_eval(tmp_path, judges, SAMPLES, how={"deadline": 1.5, "max_tokens": 100}, repeats=1)
    alike = [
        {"id": f"s{number}", "outputs": dict.fromkeys(VARIANTS, f"[s{number}/both] Wait.")} for number in range(SAMPLES)
    ]
    (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in alike), "utf-8")
    judges.hold()

    late = run(tmp_path, "run", "eval.yaml", "--json").head
    judges.go_on()
    judges.sitting()
    in_time = run(tmp_path, "run", "eval.yaml", "--resume", "--json").head

    assert [(one["results"], one["incomplete"]) for one in late["variants"]] == [(SAMPLES, SAMPLES)] * 2
    assert late["unfinished"] == SAMPLES * len(VARIANTS)
    assert [one["scored"] for one in in_time["variants"]] == [SAMPLES] * 2
    assert judges.sitting().total() == SAMPLES * len(NAMES)


class Watched:
    """Samples in a stream, and how much was alive while they were read."""

    def __init__(self, source: SampleSource) -> None:
        self.where = source.where
        self._source = source
        self.tasks = 0
        self.samples = 0

    def __iter__(self) -> Iterator[EvalSample]:
        for number, sample in enumerate(self._source):
            if number % 100 == 99:
                self.tasks = max(self.tasks, len(asyncio.all_tasks()))
                gc.collect()  # What other tests left behind is not alive.
                self.samples = max(self.samples, sum(isinstance(one, EvalSample) for one in gc.get_objects()))
            yield sample


def test_samples_flow_through_and_do_not_pile_up(tmp_path: Path) -> None:
    """However many there are, as many are alive as are being worked on."""
    many, at_once = 150, 4
    lines = [{"id": f"s{n}", "outputs": {"old": f"Refund {n}.", "new": f"No. {n}"}} for n in range(many)]
    (tmp_path / "samples.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines), "utf-8")
    eval = {"samples": "samples.jsonl", "assertions": [{"contains": "Refund"}], "guards": [], "concurrency": at_once}
    (tmp_path / "eval.yaml").write_text(json.dumps(eval), "utf-8")
    loaded = load_eval(tmp_path / "eval.yaml", {})
    watched = Watched(loaded.samples)

    ran = asyncio.run(run_eval(replace(loaded, samples=watched), options=RunOptions(place=tmp_path / "store")))

    pieces = SAMPLES_AHEAD * at_once
    assert [(one["scored"], one["layers"]["fact"]["mean"]) for one in ran.head["variants"]] == [(many, 5), (many, 1)]
    assert watched.tasks <= pieces * (1 + len(VARIANTS)) + 5
    assert watched.samples <= pieces + 5


def variant(head: Any, name: str) -> Any:
    return next(one for one in head["variants"] if one["name"] == name)


def mean_of_the_scored(folder: Path, name: str) -> Fraction:
    results = [one for (_, variant, _), one in Kept(folder / ".evenhand").results().items() if variant == name]
    scores = [Fraction(one["composite"]) for one in results if one["state"] == "scored"]
    return sum(scores, Fraction(0)) / len(scores)
