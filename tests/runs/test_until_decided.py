"""A run that stops once it is decided: fewer questions, in a random order, the same verdict however often killed."""

import asyncio
import json
import random
import signal
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from evenhand import EvalError, RunOptions
from evenhand import run as run_eval
from evenhand.evals.eval_definition import RecheckedSamples, SampleCounts, count_eval_samples
from evenhand.evals.sample import EvalSample
from evenhand.evals.samples import InlineSamples
from evenhand.runs.cascade_draw import (
    UNGATED_NUMBER,
    StopRunOnceDecided,
    read_samples_in_run_order,
    shuffle_run_order,
)
from evenhand.runs.execute import RunProgress
from tests.runs.chaos.evals import Kept, write_eval, write_samples
from tests.runs.chaos.judges import NAMES, Judges
from tests.runs.chaos.sittings import AHEAD
from tests.runs.stored import result
from tests.warm.processes import Done, run, started, wait_until

PLANNED = 60
KILLS = 4
UNTIL = ("run", "eval.yaml", "--until-decided", "--json")


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges(delay=0.002) as running:
        yield running


def written(folder: Path, judges: Judges, lacking: int = 3) -> Path:
    """An eval in which the new variant names the refund, and the old one lacks it in one of so many samples."""
    write_eval(folder, judges, PLANNED, assertions=[{"contains": "refund"}], repeats=1)
    write_samples(folder, (_sample(number, named=number % lacking > 0) for number in range(PLANNED)))
    return folder


def _sample(number: int, *, named: bool) -> dict[str, Any]:
    outputs = {
        "old": f"[s{number}/old] Please wait{' for the refund' if named else ''}.",
        "new": f"[s{number}/new] Please wait for the refund.",
    }
    return {"id": f"s{number}", "input": f"Where is parcel {number}?", "outputs": outputs}


def asked_about(judges: Judges) -> set[str]:
    """The samples that the judges were asked about since the last time; each once a variant and judge."""
    asked = judges.sitting()
    assert set(asked.values()) <= {1}
    return {mark.partition("/")[0] for _, mark in asked}


def test_nothing_more_is_asked_once_it_is_decided(judges: Judges, tmp_path: Path) -> None:
    """The run ends at a look, says so, and its verdict passes as that of a whole run would."""
    done = run(written(tmp_path, judges), *UNTIL)

    stopping, decision = done.head["stopping"], done.head["decision"]
    used = stopping["used"]
    assert len(asked_about(judges)) == used < PLANNED
    assert stopping == {
        "planned": PLANNED,
        "used": used,
        "look": len(stopping["looks"]),
        "looks": stopping["looks"],
        "settled_early": True,
    }
    assert decision["headline"].endswith(f"Stopped after {used} of {PLANNED} samples: the difference is settled.")
    assert f"look {stopping['look']}, at {used} of {PLANNED}" in decision["comparisons"][0]["composite"]["method"]
    assert (done.head["run"]["state"], done.head["run"]["samples"]) == ("finished", used)
    assert f"stops once it is decided, after 20 of {PLANNED} samples at the earliest" in done.err
    assert f"settled: {PLANNED - used} of {PLANNED} samples did not have to be asked about" in done.err


def test_what_is_not_decided_is_asked_to_the_end(judges: Judges, tmp_path: Path) -> None:
    """Equal variants: every sample, and an interval that allows for all the looks."""
    done = run(written(tmp_path, judges, lacking=PLANNED), *UNTIL)

    assert len(asked_about(judges)) == PLANNED
    assert done.head["stopping"]["used"] == PLANNED
    assert not done.head["stopping"]["settled_early"]
    assert "Stopped" not in done.head["decision"]["headline"]
    assert (
        f"at {PLANNED} of {PLANNED}, alpha spending" in done.head["decision"]["comparisons"][0]["composite"]["method"]
    )


def test_samples_are_asked_about_in_a_random_order_that_the_run_keeps(judges: Judges, tmp_path: Path) -> None:
    """The first of a file may be its easy ones; seed and looks are in the setup."""
    done = run(written(tmp_path, judges), *UNTIL)
    used = done.head["stopping"]["used"]
    judges.sitting()

    kept = Kept(tmp_path / ".evenhand")

    until = json.loads(kept.runs[0]["setup"])["until_decided"]
    assert until["looks"][: done.head["stopping"]["look"]] == done.head["stopping"]["looks"]
    assert {id for id, _, _ in kept.results()} == {
        f"s{place}" for place in shuffle_run_order(PLANNED, until["seed"])[:used]
    }
    assert {id for id, _, _ in kept.results()} != {f"s{place}" for place in range(used)}


def test_killed_and_resumed_it_decides_the_same(judges: Judges, tmp_path: Path) -> None:
    """kill -9 at any moment: the samples of the run, its look and its decision are those of one left in peace."""
    calm = run(written(tmp_path / "calm", judges), *UNTIL)
    everything = asked_about(judges)
    folder, chance, asked = written(tmp_path / "killed", judges), random.Random(7), 0

    for _ in range(KILLS):
        asked += chance.randint(1, len(everything) * 2 * len(NAMES) // (KILLS + 1))
        judges.most = asked + AHEAD  # However slow we are, it cannot have finished.
        with started(folder, *UNTIL, "--resume") as process:
            wait_until(lambda: judges.asked.total() >= asked)  # noqa: B023
            process.signal(signal.SIGKILL)
            assert process.done().code == -signal.SIGKILL
        judges.go_on()
    resumed = run(folder, "run", "eval.yaml", "--json", "--resume")  # It remembers how it was begun.

    judges.sitting()
    assert told(resumed) == told(calm)
    assert resumed.head["stopping"]["look"] > 1
    assert Kept(folder / ".evenhand").results() == Kept(tmp_path / "calm" / ".evenhand").results()
    assert [row["state"] for row in Kept(folder / ".evenhand").runs] == ["finished"]


def told(done: Done) -> tuple[Any, ...]:
    head = done.head
    means = [(one["name"], one["composite"], one["layers"]) for one in head["variants"]]
    return done.code, head["stopping"], head["decision"], means


def test_a_settled_run_is_complete(judges: Judges, tmp_path: Path) -> None:
    """Resuming it asks nothing; a run of its own asks about the rest, and takes what was said."""
    settled = run(written(tmp_path, judges), *UNTIL)
    first = asked_about(judges)

    again = run(tmp_path, *UNTIL, "--resume")
    asked_again = asked_about(judges)
    whole = run(tmp_path, "run", "eval.yaml", "--json")
    rest = asked_about(judges)

    assert again.head["run"]["id"] == settled.head["run"]["id"] != whole.head["run"]["id"]
    assert asked_again == set()
    assert first | rest == {f"s{number}" for number in range(PLANNED)}
    assert not first & rest
    assert whole.head["stopping"] is None


def test_a_settled_run_is_finished_although_somebody_stops_it(judges: Judges, tmp_path: Path) -> None:
    """Ctrl-C in the last moment takes nothing away: all that was needed is there."""
    written(tmp_path, judges)

    ran = asyncio.run(
        run_eval(
            tmp_path / "eval.yaml",
            options=RunOptions(place=tmp_path / "store", until_decided=True),
            watch=_stopped_once_settled,
        )
    )

    judges.sitting()
    assert (ran.state, ran.why_stopped) == ("finished", "")
    assert ran.head["stopping"]["settled_early"]


@asynccontextmanager
async def _stopped_once_settled(course: RunProgress, _spent: Any) -> AsyncIterator[None]:
    yield
    assert course.settled
    course.stop_run()


def test_a_run_that_was_not_shuffled_cannot_be_stopped_early(judges: Judges, tmp_path: Path) -> None:
    """It is begun anew, with the answers that are there: its first samples are no random ones."""
    plain = run(written(tmp_path, judges), "run", "eval.yaml", "--json")
    judges.sitting()

    until = run(tmp_path, *UNTIL, "--resume")

    assert asked_about(judges) == set()
    assert until.head["run"]["taken_from"] == plain.head["run"]["id"]
    assert until.head["stopping"]["settled_early"]


def test_scored_anew_a_settled_run_is_not_settled_by_itself(judges: Judges, tmp_path: Path) -> None:
    """Other weights may say something else: the looks still count, the word settled does not."""
    settled = run(written(tmp_path, judges), *UNTIL)
    judges.sitting()
    rubric = json.loads((tmp_path / "eval.yaml").read_text("utf-8"))["rubric"]
    rubric["criteria"] = [{**one, "weight": 0.5} for one in rubric["criteria"]]
    (tmp_path / "rubric.yaml").write_text(json.dumps(rubric), "utf-8")

    anew = run(tmp_path, "runs", "rescore", settled.head["run"]["id"], "--rubric", "rubric.yaml", "--json").head

    assert anew["stopping"]["used"] == settled.head["stopping"]["used"]
    assert not anew["stopping"]["settled_early"]
    assert "settled" not in anew["decision"]["headline"]


@pytest.mark.parametrize(
    ("eval", "samples", "says"),
    [
        ({"variants": {"new": {}}}, 30, "there is one variant, and nothing to decide"),
        ({}, 19, "a run never stops below 20 samples, and there are 19"),
    ],
)
def test_what_could_never_be_stopped_early_is_refused(
    judges: Judges, tmp_path: Path, eval: dict[str, Any], samples: int, says: str
) -> None:
    """Before anything is asked, and with what would work."""
    write_eval(tmp_path, judges, samples, **eval)

    with pytest.raises(EvalError, match=says) as refused:
        asyncio.run(run_eval(tmp_path / "eval.yaml", options=RunOptions(place=tmp_path / "store", until_decided=True)))

    assert "leave --until-decided out" in str(refused.value)
    assert not (tmp_path / "store").exists()


def test_samples_with_different_layers_cannot_be_decided(judges: Judges, tmp_path: Path) -> None:
    """No verdict can be given over them, so none can be waited for."""
    write_eval(tmp_path, judges, 30, assertions=[])
    mixed = [{**_sample(n, named=True), **({"assertions": [{"contains": "refund"}]} if n else {})} for n in range(30)]
    write_samples(tmp_path, mixed)

    with pytest.raises(EvalError, match="samples have different layers"):
        asyncio.run(run_eval(tmp_path / "eval.yaml", options=RunOptions(place=tmp_path / "store", until_decided=True)))


def counted(number: int) -> tuple[InlineSamples, SampleCounts]:
    samples = InlineSamples(tuple(EvalSample(id=f"s{place}") for place in range(number)), "samples")
    return samples, count_eval_samples(samples)


def test_more_samples_than_are_held_at_once_come_in_the_same_order() -> None:
    """The file is read again for each part of the order."""
    source, all_of_them = counted(25)
    order = shuffle_run_order(25, seed=3)

    placed = list(read_samples_in_run_order(RecheckedSamples(source, all_of_them), order, held=10))

    assert [position for position, _ in placed] == order
    assert [sample.id for _, sample in placed] == [f"s{position}" for position in order]
    assert sorted(order) == list(range(25)) != order


def test_another_seed_is_another_order() -> None:
    """And the same seed the same one, in every version: the hash is a fixed one."""
    assert shuffle_run_order(8, seed=0) == [6, 4, 2, 1, 7, 5, 0, 3]
    assert shuffle_run_order(100, seed=0) != shuffle_run_order(100, seed=1)


def test_samples_that_changed_end_it() -> None:
    """What is read for the order must be what was counted."""
    source, _ = counted(25)
    _, others = counted(24)
    samples = RecheckedSamples(source, others)

    assert list(read_samples_in_run_order(samples, shuffle_run_order(24, seed=3))) == []
    assert samples.changed


@pytest.mark.parametrize(
    ("changes", "passes"),
    [({}, 1.0), ({"gates_open": ["tone"]}, 0.0), ({"scorecard": {"verdict": "fail", "gates_failed": ["tone"]}}, 0.0)],
)
def test_a_look_counts_a_gate_that_nobody_answered_as_not_passed(changes: dict[str, Any], passes: float) -> None:
    """As the decision at the end does: else a run would stop for a treatment that it then holds back."""
    seen: list[Mapping[str, Any]] = []

    def rule(position: int, repeat: int, numbers: Mapping[str, Any], cluster: str | None) -> str:
        seen.append(numbers)
        return ""

    StopRunOnceDecided([0], [1], rule, [result(0, "new", 4.0, **changes)]).why_stop(0, 0)

    assert seen[0]["new"][UNGATED_NUMBER] == passes
