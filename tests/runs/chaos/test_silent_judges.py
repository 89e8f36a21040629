"""A judge that stops answering ends the run in minutes, with what to do; what was answered is kept."""

from pathlib import Path

from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import NAMES, Judges
from tests.runs.chaos.sittings import by_every_judge, outputs
from tests.warm.processes import run, started, wait_until

SAMPLES = 30
IMPATIENT = {"max_tokens": 100, "timeout": 0.5}
ANSWERED = 20  # Calls that are answered before the server falls silent.


def test_a_judge_that_falls_silent_stops_the_run_and_resuming_finishes_it(tmp_path: Path) -> None:
    """240 questions with six timeouts each would take long; every one that was answered is kept."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES, how=IMPATIENT)
        judges.most = ANSWERED
        stopped = run(tmp_path, "run", "eval.yaml", "--json")
        asked = judges.asked.total()
        before = Kept(tmp_path / ".evenhand")
        judges.go_on()
        judges.sitting()

        finished = run(tmp_path, "run", "eval.yaml", "--resume", "--json")
        again = judges.sitting()

    everything = by_every_judge(outputs(SAMPLES, *VARIANTS))
    assert stopped.code == 1
    assert any(f"not finished: {judges.name(name)}: no whole answer within 0.5 s" in stopped.err for name in NAMES)
    assert "times in a row" in stopped.err
    assert "to continue: evenhand run eval.yaml --resume" in stopped.err
    assert asked < ANSWERED + 40 < everything.total()
    assert [row["state"] for row in before.runs] == ["stopped"]
    assert stopped.head["decision"]["exit_code"] == 1
    assert ANSWERED - 4 <= before.finished().total() <= ANSWERED  # Four were under way when it fell silent.
    assert {one["composite"] for one in before.results().values() if one["state"] != "scored"} == {None}
    assert finished.head["unfinished"] == 0
    assert again == everything - before.finished()


def test_a_judge_that_comes_back_is_asked_on(tmp_path: Path) -> None:
    """A restart of the server costs a pause and no answer."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES, how=IMPATIENT)
        judges.hold()
        with started(tmp_path, "run", "eval.yaml", "--json") as process:
            wait_until(lambda: judges.asked.total() > 0)
            judges.go_on()
            done = process.done()

    assert done.head["unfinished"] == 0
    assert done.head["run"]["state"] == "finished"


def test_judging_files_gives_up_on_a_silent_judge_too(tmp_path: Path) -> None:
    """Every output of which nothing is known says why."""
    names = [f"o{number}.md" for number in range(25)]
    for name in names:
        (tmp_path / name).write_text(f"[{name}/old] Please wait for the refund.", "utf-8")
    with Judges() as judges:
        judges.hold()
        done = run(
            tmp_path, "judge", *names, "--rubric", "judge-skill", "--model", judges.name("first"), "--timeout", "0.5",
            "--json",
        )  # fmt: skip
        asked = judges.asked.total()

    assert done.code == 1
    assert asked <= 20
    assert "it is asked no more" in done.out
