"""Calls are counted once each, samples that change stop a run, and nothing is taken from another program's run."""

import asyncio
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import EvalError
from evenhand.evals.eval_definition import check_eval_samples
from evenhand.evals.eval_file import load_eval
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions, RunResult
from evenhand.workflows.run import run as run_eval
from evenhand.workflows.run_resuming import SAMPLES_CHANGED
from tests.runs.chaos.evals import REPEATS, Kept, sample, write_eval, write_samples
from tests.runs.chaos.judges import NAMES, Judges
from tests.warm.processes import run, started, wait_until

BOT = """\
def answer(sample):
    return "from {}"

if __name__ == "__main__":
    print("from {}")
"""
JUDGE = """\
import json

def judge(request):
    answer = {{"evidence": ["hello"], "reason": "so", "score": {}}}
    return json.dumps({{"criteria": {{id: answer for id in request.ids}}}})
"""


@pytest.fixture(scope="module")
def judges() -> Iterator[Judges]:
    with Judges() as running:
        yield running


@pytest.fixture(autouse=True)
def well(judges: Judges) -> Iterator[None]:
    """Every test finds judges that answer."""
    yield
    judges.delay = 0
    judges.go_on()
    judges.sitting()


def alike(folder: Path, count: int) -> None:
    """Samples that lead to one and the same question."""
    same = {"input": "Where is parcel 1?", "outputs": {"old": "[s/old] Wait."}}
    write_samples(folder, [{"id": f"s{number}", **same} for number in range(count)])


@pytest.mark.parametrize("keep", ["none", "masked"])
def test_equal_questions_are_asked_once_where_replies_are_not_kept(judges: Judges, tmp_path: Path, keep: str) -> None:
    """A reply that went as soon as the first result was there was asked and paid for again, and counted once."""
    write_eval(tmp_path, judges, variants={"old": {}}, keep=keep, concurrency=1)
    alike(tmp_path, 6)

    head = run(tmp_path, "run", "eval.yaml", "--json").head

    calls = Kept(tmp_path / ".evenhand").calls
    assert judges.sitting().total() == len(NAMES) * REPEATS
    assert head["cost"]["total"] == sum(one["calls"] for one in head["judges"]) == len(NAMES) * REPEATS
    assert {call["kept"] for call in calls} == {keep}


def test_a_reply_that_was_let_go_and_is_asked_for_again_is_counted_twice(judges: Judges, tmp_path: Path) -> None:
    """It was paid for twice: once in the sitting that was stopped, once in the next."""
    whole = write_eval(tmp_path, judges, variants={"old": {}}, repeats=1, keep="none", concurrency=1, budget=8)
    write_samples(tmp_path, [*(sample(number, ["old"]) for number in range(8)), {**sample(0, ["old"]), "id": "last"}])

    run(tmp_path, "run", "eval.yaml")
    asked = judges.sitting()
    (tmp_path / "eval.yaml").write_text(json.dumps({**whole, "budget": 50}), "utf-8")
    head = run(tmp_path, "run", "eval.yaml", "--resume", "--json").head
    asked += judges.sitting()

    assert [asked[name, "s0/old"] for name in NAMES] == [2, 2]
    assert head["cost"]["total"] == sum(one["calls"] for one in head["judges"]) == asked.total() == 9 * len(NAMES)


def test_a_spent_budget_says_what_was_paid_of_it_in_every_sitting(judges: Judges, tmp_path: Path) -> None:
    """Not of what was left of it; and what was abandoned is not counted as done."""
    write_eval(tmp_path, judges, 6, variants={"old": {}}, repeats=1, budget=10, concurrency=1)

    said = [run(tmp_path, "run", "eval.yaml", "--resume").err for _ in range(2)]

    paid = judges.sitting().total()
    assert 0 < paid <= 10
    for one in said:
        assert f"the budget of $10 does not reach: ${paid} paid" in one
        assert "--resume, once the budget in eval.yaml is larger" in one
        assert "6 of 6" not in one


@pytest.mark.parametrize("change", ["more", "fewer", "another", "broken"])
def test_samples_that_change_meanwhile_stop_the_run(judges: Judges, tmp_path: Path, change: str) -> None:
    """A run must not be finished with samples other than those that it says it is about."""
    samples = [sample(number) for number in range(40)]
    changed: dict[str, list[dict[str, Any]]] = {
        "more": [*samples, sample(40)],
        "fewer": samples[:-1],
        "another": [*samples[:-1], {**samples[-1], "input": "Where is parcel 99?"}],
        "broken": [*samples[:-1], {"id": 7, "outputs": "none"}],
    }
    write_eval(tmp_path, judges, repeats=1)
    padded = [{**one, "metadata": {"padding": "x" * 20_000}} for one in samples]  # No reader has it all at once.
    write_samples(tmp_path, padded)
    judges.most = 4
    with started(tmp_path, "run", "eval.yaml", "--json") as process:
        wait_until(lambda: judges.asked.total() > 4)
        rewritten = [{**one, "metadata": {"padding": "x" * 20_000}} for one in changed[change]]
        write_samples(tmp_path, rewritten)
        judges.go_on()
        done = process.done()
    write_samples(tmp_path, padded)
    head = run(tmp_path, "run", "eval.yaml", "--resume", "--json").head

    assert done.code == 1
    assert f"not finished: {SAMPLES_CHANGED}" in done.err
    assert done.head["run"]["state"] == "stopped"
    assert head["run"]["id"] == done.head["run"]["id"]
    assert [one["results"] for one in head["variants"]] == [40, 40]
    assert head["unfinished"] == 0
    assert judges.sitting().total() <= 40 * 2 * len(NAMES) + 4


@pytest.mark.parametrize("variant", [{"python": "bot:answer"}, {"command": f"{sys.executable} bot.py"}])
def test_outputs_of_another_program_of_the_same_name_are_not_taken_over(tmp_path: Path, variant: Any) -> None:
    """Two folders, two programs, one name: in one store, one must not be scored by what the other made."""
    eval = {
        "name": "same",
        "samples": [{"input": "?"}],
        "variants": {"x": variant},
        "assertions": [{"contains": "from"}],
    }
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "eval.yaml").write_text(json.dumps(eval), "utf-8")
        (tmp_path / name / "bot.py").write_text(BOT.format(name, name), "utf-8")

    heads = [run(tmp_path, "run", f"{name}/eval.yaml", "--resume", "--json").head for name in ("a", "b", "a")]

    outputs = [
        result["output"]["text"].strip()
        for head in heads
        for result in Kept(tmp_path / ".evenhand").results(head["run"]["id"]).values()
    ]
    assert outputs == ["from a", "from b", "from a"]
    assert heads[2]["run"]["id"] == heads[0]["run"]["id"]
    assert heads[0]["run"]["fingerprint"] == heads[1]["run"]["fingerprint"]


def test_a_killed_run_is_resumed_though_another_of_its_name_came_after(judges: Judges, tmp_path: Path) -> None:
    """Evals that nobody named share the name of their files."""
    write_eval(tmp_path / "a", judges, 4)
    write_eval(tmp_path / "b", judges, 4, gates={"composite": 1})
    judges.hold()
    with started(tmp_path, "run", "a/eval.yaml") as process:
        wait_until(lambda: judges.asked.total() > 0)
        process.signal(signal.SIGKILL)
    judges.go_on()
    judges.sitting()
    run(tmp_path, "run", "b/eval.yaml")

    head = run(tmp_path, "run", "a/eval.yaml", "--resume", "--json").head

    killed = min(Kept(tmp_path / ".evenhand").runs, key=lambda row: row["started"])
    assert head["run"]["id"] == killed["id"]
    assert head["run"]["state"] == "finished"


def test_a_rescored_run_is_not_resumed(tmp_path: Path) -> None:
    """It has asked nothing and has made nothing."""
    eval = {"name": "n", "samples": [{"input": "?", "output": "hello"}], "assertions": [{"contains": "hello"}]}
    first = run_here(tmp_path, eval)
    with Store.open(tmp_path / "store", {}) as store:
        row = store.find_run(first.id)
        setup = json.dumps({**json.loads(row["setup"]), "rescored_from": first.id})
        store.begin_run({**row, "id": f"{first.id}-again", "started": "2999-01-01T00:00:00+00:00", "setup": setup})

    resumed = run_here(tmp_path, eval, resume=True)
    changed = run_here(tmp_path, {**eval, "gates": {"composite": 1}}, resume=True)

    assert resumed.id == first.id
    assert changed.head["run"]["taken_from"] == first.id


def test_an_edited_judge_is_asked_again(tmp_path: Path) -> None:
    """Its name is the same, and its answers are not."""
    rubric = {"criteria": [{"id": "a", "asks": "Is it a?", "scale": "1-10"}]}
    eval = {"samples": [{"input": "?", "output": "hello"}], "rubric": rubric, "judges": ["python:edited:judge"]}
    (tmp_path / "eval.yaml").write_text(json.dumps(eval), "utf-8")
    found = []

    for score, options in [(1, ()), (10, ()), (1.9, ("--resume",)), (10, ())]:
        (tmp_path / "edited.py").write_text(JUDGE.format(score), "utf-8")
        head = run(tmp_path, "run", "eval.yaml", "--json", *options, environ={"PYTHONDONTWRITEBYTECODE": "1"}).head
        found.append((head["variants"][0]["score"]["mean"], head["judges"][0]["cached"]))

    assert found == [(0, 0), (1, 0), (0.1, 0), (1, 1)]


def test_a_question_for_judges_in_a_sample_alone_is_asked(tmp_path: Path) -> None:
    """The judges are opened and named for it as for one of the eval."""
    one = {"input": "Who?", "context": "They say hello.", "output": "They say hello."}
    samples = [{**one, "assertions": [{"faithfulness": 0.5}]}, {**one, "assertions": [{"contains": "hello"}]}]
    for name, some in (("with", samples), ("without", samples[1:])):
        eval = {"samples": some, "judges": ["python:asked:judge"]}
        (tmp_path / f"{name}.yaml").write_text(json.dumps(eval), "utf-8")
    (tmp_path / "asked.py").write_text(JUDGE.format(8), "utf-8")

    done = run(tmp_path, "run", "with.yaml", "--json")
    without = run(tmp_path, "run", "without.yaml", "--json")

    fresh = run(tmp_path, "run", "with.yaml", "--json", "--fresh")

    assert "python:asked:judge will be asked where no reply is stored\n" in done.err
    assert "python:asked:judge will be asked\n" in fresh.err
    assert "no judge is asked" in without.err
    assert done.head["variants"][0]["assertions"] == {"passed": 2, "failed": 0, "unanswered": 0}
    assert done.head["run"]["fingerprint"] != without.head["run"]["fingerprint"]


@pytest.mark.parametrize("assertions", [{}, {"assertions": []}])
def test_a_sample_that_nothing_is_configured_for_is_refused_with_its_place(tmp_path: Path, assertions: Any) -> None:
    """Where all assertions stand in the samples, one without would have no score and no reason."""
    samples = [{"output": "here", "assertions": [{"contains": "here"}]}, {"output": "here", **assertions}]
    write_samples(tmp_path, samples)
    (tmp_path / "eval.yaml").write_text(json.dumps({"samples": "samples.jsonl"}), "utf-8")
    eval = load_eval(tmp_path / "eval.yaml", {})

    with pytest.raises(EvalError, match=r"samples\.jsonl:2: .*nothing to score this sample by"):
        check_eval_samples(eval)


def test_a_plan_counts_the_outputs_that_a_resumed_run_takes_over(judges: Judges, tmp_path: Path) -> None:
    """And the calls about them that are kept; without --resume all are made anew."""
    whole = write_eval(tmp_path, judges, 3, variants={"live": {"python": "bot:answer"}})
    run(tmp_path, "run", "eval.yaml")
    write_samples(tmp_path, [sample(number) for number in range(4)])
    (tmp_path / "eval.yaml").write_text(json.dumps({**whole, "gates": {"composite": 1}}), "utf-8")

    resumed, anew = (
        json.loads(run(tmp_path, "run", "eval.yaml", "--plan", "--json", *how).out) for how in (["--resume"], [])
    )

    counts = [(plan["variants"][0]["to_make"], plan["variants"][0]["taken_over"]) for plan in (resumed, anew)]
    assert counts == [(REPEATS, 3 * REPEATS), (4 * REPEATS, 0)]
    assert [one["kept"] for one in resumed["judges"]] == [3 * REPEATS] * len(NAMES)


def run_here(folder: Path, eval: dict[str, Any], **options: Any) -> RunResult:
    (folder / "eval.yaml").write_text(json.dumps(eval), "utf-8")
    return asyncio.run(run_eval(folder / "eval.yaml", options=RunOptions(place=folder / "store", **options)))
