"""Leaving early, by hand or for want of money: at once, with a word on how to go on, and nothing paid for twice."""

import json
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

from evenhand.runs.stop_signals import STOP_PATIENCE
from tests.runs.chaos.evals import BOUGHT, REPEATS, VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import NAMES, Judges
from tests.runs.chaos.sittings import Sittings, by_every_judge, outputs, undisturbed
from tests.warm.processes import run, started, wait_until

SAMPLES = 8
GO_ON = "to continue: evenhand run eval.yaml --resume"


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    """What is under way is waited for and kept, also where others of the same sample have to wait for their turn."""
    with Judges() as judges:
        for name in ("calm", "killed"):
            write_eval(tmp_path / name, judges, SAMPLES, concurrency=2)
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, *VARIANTS)))

        judges.delay = 0.2
        with started(tmp_path / "killed", "run", "eval.yaml", "--json") as process:
            wait_until(lambda: judges.asked.total() >= 11)
            process.signal(signal.SIGINT)
            stopped = process.done()
        asked = judges.asked.total()
        judges.delay = 0
        sittings.look()
        kept = sittings.kept.total()
        sittings.finished()

        assert stopped.code == 130
        assert GO_ON in stopped.err
        assert stopped.head["run"]["state"] == "stopped"
        assert asked == kept < sittings.expected.total()
        sittings.assert_equal_to(peace)


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    """A judge that never answers is not waited for. In a process as a shell starts it."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with (tmp_path / "said").open("w+b") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "evenhand", "run", "eval.yaml"], cwd=tmp_path, stderr=said, stdout=said
            )
        try:
            wait_until(lambda: judges.asked.total() > 0)
            process.send_signal(signal.SIGINT)
            wait_until(lambda: "stopping" in (tmp_path / "said").read_text("utf-8"))
            process.send_signal(signal.SIGINT)

            code = process.wait(STOP_PATIENCE - 1)
        finally:
            process.kill()
            process.wait()
            judges.go_on()

        assert code == 130
        assert GO_ON in (tmp_path / "said").read_text("utf-8")


def test_a_spent_budget_stops_the_run_and_a_larger_one_finishes_it(tmp_path: Path) -> None:
    """A call costs one dollar here: of 64 some 40 are paid for first, and never again."""
    with Judges() as judges:
        write_eval(tmp_path / "calm", judges, SAMPLES)
        whole = write_eval(tmp_path / "killed", judges, SAMPLES, budget=40)
        peace = undisturbed(tmp_path / "calm", judges)
        sittings = Sittings(tmp_path / "killed", judges, by_every_judge(outputs(SAMPLES, *VARIANTS)))

        spent = sittings.finished()
        paid = cost(tmp_path / "killed")
        (tmp_path / "killed" / "eval.yaml").write_text(json.dumps({**whole, "budget": 100}), "utf-8")
        sittings.finished()

        assert spent.code == 1
        assert "the budget of $40 does not reach" in spent.err
        assert GO_ON in spent.err
        assert spent.head["run"]["state"] == "stopped"
        assert 20 < paid <= 40
        assert cost(tmp_path / "killed") == sittings.expected.total()
        sittings.assert_equal_to(peace)


def test_what_models_were_paid_for_outputs_counts_in_the_next_sitting_too(tmp_path: Path) -> None:
    """Resumed with the budget that was spent, nothing more is bought; with a larger one, what is missing."""
    with Judges() as judges:
        bought = {BOUGHT: {"model": judges.name(BOUGHT), "prompt": "{input}"}}
        whole = write_eval(tmp_path, judges, SAMPLES, variants=bought, budget=30)

        spent = [run(tmp_path, "run", "eval.yaml", "--resume") for _ in range(2)]
        paid = judges.sitting().total()
        (tmp_path / "eval.yaml").write_text(json.dumps({**whole, "budget": 200}), "utf-8")
        head = run(tmp_path, "run", "eval.yaml", "--resume", "--json").head

        every = SAMPLES * REPEATS * (1 + len(NAMES))
        assert [done.code for done in spent] == [1, 1]
        assert 20 < paid <= 30
        assert paid + judges.sitting().total() == every
        assert head["unfinished"] == 0
        assert head["cost"]["total"] == every


def cost(folder: Path) -> Decimal:
    """What was paid for all calls of all runs."""
    return sum((Decimal(call["cost"] or 0) for call in Kept(folder / ".evenhand").calls), Decimal(0))
