"""After a change, a resumed run asks exactly what changed; the rest is neither asked nor paid for again."""

import json
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.judging.prompts import _SHIPPED
from tests.runs.chaos.evals import REPEATS, RUBRIC, VARIANTS, Kept, sample, write_eval, write_samples
from tests.runs.chaos.judges import NAMES, Asked, Judges
from tests.warm.processes import run, started, wait_until

SAMPLES = 3
Change = Callable[[Path, dict[str, Any]], None]


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as running:
        yield running


@pytest.fixture(scope="module")
def finished(judges: Judges, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, for which everything was asked once a repeat."""
    folder = tmp_path_factory.mktemp("finished")
    shutil.copytree(_SHIPPED / "en", folder / "prompts")
    write_eval(folder, judges, SAMPLES, how={"max_tokens": 100, "language": "prompts"})
    assert run(folder, "run", "eval.yaml", "--json").head["cost"]["total"] == EVERYTHING.total()
    assert judges.sitting() == EVERYTHING
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def about(*marks: str, judges: tuple[str, ...] = NAMES, times: int = REPEATS) -> Counter[Asked]:
    return Counter({(judge, mark): times for judge in judges for mark in marks})


ALL = [f"s{number}/{name}" for number in range(SAMPLES) for name in VARIANTS]
EVERYTHING = about(*ALL)
NOTHING: Counter[Asked] = Counter()


def nothing(folder: Path, eval: dict[str, Any]) -> None:
    pass


def an_output(folder: Path, eval: dict[str, Any]) -> None:
    samples = [sample(number) for number in range(SAMPLES)]
    samples[2]["outputs"]["new"] += " It is on its way."
    write_samples(folder, samples)


def a_reference(folder: Path, eval: dict[str, Any]) -> None:
    write_samples(folder, [{**sample(n), **({"reference": "Refund it."} if n == 1 else {})} for n in range(SAMPLES)])


def one_more_sample(folder: Path, eval: dict[str, Any]) -> None:
    write_samples(folder, [sample(number) for number in (9, *range(SAMPLES))])


def one_sample_less(folder: Path, eval: dict[str, Any]) -> None:
    write_samples(folder, [sample(number) for number in range(1, SAMPLES)])


def a_criterion(folder: Path, eval: dict[str, Any]) -> None:
    polite, useful = RUBRIC["criteria"]
    eval["rubric"] = {**RUBRIC, "criteria": [polite, {**useful, "asks": "Does it help at once?"}]}  # type: ignore[dict-item]


def a_weight(folder: Path, eval: dict[str, Any]) -> None:
    polite, useful = RUBRIC["criteria"]
    eval["rubric"] = {**RUBRIC, "criteria": [{**polite, "weight": 0.5}, {**useful, "weight": 0.5}]}  # type: ignore[dict-item]


def a_prompt(folder: Path, eval: dict[str, Any]) -> None:
    text = (folder / "prompts" / "rules.md").read_text("utf-8")
    (folder / "prompts" / "rules.md").write_text(f"{text.rstrip()}\n- Be kind.\n", "utf-8")


def a_judge(folder: Path, eval: dict[str, Any]) -> None:
    eval["judges"][1] = eval["judges"][1].replace("/second", "/third")
    prices = (folder / "prices.json").read_text("utf-8")
    (folder / "prices.json").write_text(prices.replace("/second", "/third"), "utf-8")


def the_temperature(folder: Path, eval: dict[str, Any]) -> None:
    eval["how"]["temperature"] = 0.7


def an_assertion(folder: Path, eval: dict[str, Any]) -> None:
    eval["assertions"] = [{"contains": "parcel"}]


def the_repeats(folder: Path, eval: dict[str, Any]) -> None:
    eval["repeats"] = REPEATS + 1


def fewer_repeats(folder: Path, eval: dict[str, Any]) -> None:
    eval["repeats"] = REPEATS - 1


def a_gate(folder: Path, eval: dict[str, Any]) -> None:
    eval["gates"] = {"composite": 1}


def the_concurrency(folder: Path, eval: dict[str, Any]) -> None:
    eval["concurrency"] = 2


CHANGES: list[tuple[Change, Counter[Asked], int, int]] = [  # What is asked again; samples and repeats of the run.
    (nothing, NOTHING, SAMPLES, REPEATS),
    (an_output, about("s2/new"), SAMPLES, REPEATS),
    (a_reference, about("s1/old", "s1/new"), SAMPLES, REPEATS),
    (one_more_sample, about("s9/old", "s9/new"), SAMPLES + 1, REPEATS),
    (one_sample_less, NOTHING, SAMPLES - 1, REPEATS),
    (a_criterion, EVERYTHING, SAMPLES, REPEATS),
    (a_prompt, EVERYTHING, SAMPLES, REPEATS),
    (a_judge, about(*ALL, judges=("third",)), SAMPLES, REPEATS),
    (the_temperature, EVERYTHING, SAMPLES, REPEATS),
    (an_assertion, NOTHING, SAMPLES, REPEATS),
    (the_repeats, about(*ALL, times=1), SAMPLES, REPEATS + 1),
    (fewer_repeats, NOTHING, SAMPLES, REPEATS - 1),
    (a_gate, NOTHING, SAMPLES, REPEATS),
    (the_concurrency, NOTHING, SAMPLES, REPEATS),
    (a_weight, NOTHING, SAMPLES, REPEATS),
]


@pytest.mark.parametrize(
    ("change", "asked", "samples", "repeats"), CHANGES, ids=[change.__name__ for change, *_ in CHANGES]
)
def test_exactly_what_changed_is_asked_again(
    judges: Judges, folder: Path, change: Change, asked: Counter[Asked], samples: int, repeats: int
) -> None:
    """And nothing else is paid for: a call costs a dollar here, a kept answer nothing."""
    eval = json.loads((folder / "eval.yaml").read_text("utf-8"))
    change(folder, eval)
    (folder / "eval.yaml").write_text(json.dumps(eval), "utf-8")

    head = run(folder, "run", "eval.yaml", "--resume", "--json").head

    assert judges.sitting() == asked
    assert len(Kept(folder / ".evenhand").results()) == samples * repeats * len(VARIANTS)
    assert head["unfinished"] == 0
    if head["run"]["taken_from"]:
        assert head["cost"]["total"] == asked.total()
        assert sum(one["cached"] for one in head["judges"]) == samples * repeats * 4 - asked.total()


def test_what_is_taken_over_comes_to_the_same_results(judges: Judges, folder: Path) -> None:
    """A run that takes over kept answers says what one that asks everything says."""
    eval = json.loads((folder / "eval.yaml").read_text("utf-8"))
    an_output(folder, eval)
    resumed = run(folder, "run", "eval.yaml", "--resume", "--json").head["run"]["id"]
    judges.sitting()

    fresh = run(folder, "run", "eval.yaml", "--fresh", "--json").head

    kept = Kept(folder / ".evenhand")
    assert judges.sitting() == EVERYTHING
    assert fresh["cost"]["total"] == EVERYTHING.total()
    assert kept.results(fresh["run"]["id"]) == kept.results(resumed)


def test_a_new_store_asks_everything(judges: Judges, folder: Path) -> None:
    """Nothing is remembered anywhere else."""
    shutil.rmtree(folder / ".evenhand")

    run(folder, "run", "eval.yaml", "--resume")

    assert judges.sitting() == EVERYTHING


def test_a_run_is_resumed_from_wherever_it_is_called(judges: Judges, folder: Path) -> None:
    """Samples, prices and prompts lie beside the eval file, not where somebody happens to be."""
    shutil.move(folder / ".evenhand", folder.parent)

    done = run(folder.parent, "run", f"{folder.name}/eval.yaml", "--resume", "--json")

    assert judges.sitting() == NOTHING, done.err
    assert done.head["unfinished"] == 0


def test_a_run_that_asks_everything_anew_does_so_after_a_kill_too(judges: Judges, folder: Path) -> None:
    """Resuming it must not fill the rest with answers of an older run."""
    judges.hold()
    with started(folder, "run", "eval.yaml", "--fresh") as process:
        wait_until(lambda: judges.asked.total() > 0)
        process.signal(signal.SIGKILL)
    judges.go_on()
    judges.sitting()

    head = run(folder, "run", "eval.yaml", "--resume", "--json").head

    assert judges.sitting() == EVERYTHING
    assert [one["cached"] for one in head["judges"]] == [0, 0]


def test_outputs_are_taken_over_from_the_run_before_the_last_too(judges: Judges, tmp_path: Path) -> None:
    """The second change finds what the first one, killed at once, had no time to copy."""
    eval = write_eval(tmp_path, judges, SAMPLES, variants={"live": {"python": "bot:answer"}}, concurrency=1)
    run(tmp_path, "run", "eval.yaml")
    made = (tmp_path / "makings").read_text("utf-8")
    (tmp_path / "eval.yaml").write_text(json.dumps({**eval, "how": {"temperature": 0.5}}), "utf-8")
    judges.sitting()
    judges.hold()
    with started(tmp_path, "run", "eval.yaml", "--resume") as process:
        wait_until(lambda: judges.asked.total() > 0)
        process.signal(signal.SIGKILL)
    judges.go_on()

    (tmp_path / "eval.yaml").write_text(json.dumps({**eval, "how": {"temperature": 1}}), "utf-8")
    head = run(tmp_path, "run", "eval.yaml", "--resume", "--json").head
    judges.sitting()

    assert head["unfinished"] == 0
    assert (tmp_path / "makings").read_text("utf-8") == made
