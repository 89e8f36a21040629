"""Two processes on one store: neither disturbs the other, and one run has one process."""

import signal
from collections import Counter
from pathlib import Path

from evenhand.store.store import Store
from tests.runs.chaos.evals import VARIANTS, Kept, write_eval
from tests.runs.chaos.judges import Judges
from tests.runs.chaos.sittings import by_every_judge, outputs, undisturbed
from tests.warm.processes import run, started, wait_until

SAMPLES = 6
UNDER_WAY = 4  # The eval's concurrency.


def test_two_evals_do_not_notice_each_other(tmp_path: Path) -> None:
    """Each has the results that it has alone, and the judges were asked as often as they would have been."""
    with Judges() as judges:
        write_eval(tmp_path / "calm", judges, SAMPLES)
        undisturbed(tmp_path / "calm", judges)
        write_eval(tmp_path / "both", judges, SAMPLES)
        other = (tmp_path / "both" / "eval.yaml").read_text("utf-8").replace("Does it help?", "Does it help at all?")
        (tmp_path / "both" / "other.yaml").write_text(other.replace('"name": "answers"', '"name": "other"', 1), "utf-8")

        with (
            started(tmp_path / "both", "run", "eval.yaml", "--json") as first,
            started(tmp_path / "both", "run", "other.yaml", "--json") as second,
        ):
            heads = [process.done().head for process in (first, second)]
        asked = judges.sitting()

        kept, alone = Kept(tmp_path / "both" / ".evenhand"), Kept(tmp_path / "calm" / ".evenhand").results()
        expected = by_every_judge(outputs(SAMPLES, *VARIANTS))
        assert asked == expected + expected
        assert {head["run"]["name"]: head["unfinished"] for head in heads} == {"answers": 0, "other": 0}
        assert kept.results(heads[0]["run"]["id"]) == alone
        assert kept.results(heads[1]["run"]["id"]).keys() == alone.keys()


def test_two_runs_of_one_eval_are_two_runs(tmp_path: Path) -> None:
    """Whoever starts a run anew gets one; both come to the same results."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)

        with (
            started(tmp_path, "run", "eval.yaml", "--json") as first,
            started(tmp_path, "run", "eval.yaml", "--json") as second,
        ):
            ids = [process.done().head["run"]["id"] for process in (first, second)]

        kept = Kept(tmp_path / ".evenhand")
        assert len(kept.runs) == 2
        assert len(kept.results(ids[0])) == SAMPLES * 2 * len(VARIANTS)
        assert kept.results(ids[0]) == kept.results(ids[1])


def test_two_runs_of_one_eval_ask_each_question_once(tmp_path: Path, database: str) -> None:
    """Whoever comes second waits for the reply that the first is asking for; both have all results."""
    environ = {"EVENHAND_DATABASE_URL": database}
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with (
            started(tmp_path, "run", "eval.yaml", "--json", environ=environ) as first,
            started(tmp_path, "run", "eval.yaml", "--json", environ=environ) as second,
        ):
            wait_until(lambda: judges.asked.total() >= UNDER_WAY and _count_runs(database) == 2)
            judges.go_on()
            heads = [process.done().head for process in (first, second)]
        asked = judges.sitting()

    kept = Kept(database)
    assert asked == by_every_judge(outputs(SAMPLES, *VARIANTS))
    assert kept.finished() == asked
    assert [head["unfinished"] for head in heads] == [0, 0]
    assert len({str(kept.results(head["run"]["id"])) for head in heads}) == 1


def test_questions_of_a_killed_run_are_asked_by_the_other(tmp_path: Path, database: str) -> None:
    """A claim of the dead keeps nobody waiting; what was under way is asked once more, and nothing else."""
    environ = {"EVENHAND_DATABASE_URL": database}
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with started(tmp_path, "run", "eval.yaml", environ=environ) as killed:
            wait_until(lambda: judges.asked.total() == UNDER_WAY)
            with started(tmp_path, "run", "eval.yaml", "--json", environ=environ) as second:
                wait_until(lambda: _count_runs(database) == 2)
                killed.signal(signal.SIGKILL)
                wait_until(killed.over)
                judges.go_on()
                head = second.done().head
        asked = judges.sitting()

    everything = by_every_judge(outputs(SAMPLES, *VARIANTS))
    assert head["unfinished"] == 0
    assert (asked - everything).total() == UNDER_WAY
    assert everything - asked == Counter()


def _count_runs(database: str) -> int:
    with Store.open(database, {}) as store:
        return len(store.list_runs())


def test_a_run_that_somebody_works_on_is_not_resumed(tmp_path: Path) -> None:
    """Two processes in one run would ask everything twice; the one that was first is not disturbed."""
    with Judges() as judges:
        write_eval(tmp_path, judges, SAMPLES)
        judges.hold()
        with started(tmp_path, "run", "eval.yaml", "--json") as first:
            wait_until(lambda: judges.asked.total() > 0)

            refused = run(tmp_path, "run", "eval.yaml", "--resume")
            judges.go_on()
            head = first.done().head

        assert refused.code == 2
        assert f"another process is at work on run {head['run']['id']}" in refused.err
        assert head["unfinished"] == 0
        assert judges.sitting() == by_every_judge(outputs(SAMPLES, *VARIANTS))
