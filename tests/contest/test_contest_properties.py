"""Whatever happens to a contest, in any order: one winner, paid once, no score too early, and the log is all."""

from collections import Counter

from hypothesis import given, settings

from evenhand.contest.events import ContestCreated
from evenhand.contest.state import CONTEST_PHASES
from evenhand.contest.task import Task
from tests.contest.building import START
from tests.contest.happenings import happening, steps, tasks
from tests.contest.life import Life

LIVES = 80  # With fewer some phases are hardly reached.


def test_whatever_happens_a_contest_keeps_its_promises() -> None:
    """And it did happen: every phase was reached, and neither what was taken nor what was refused is rare."""
    met: Counter[str] = Counter()

    @settings(max_examples=max(LIVES, settings().max_examples))
    @given(tasks, steps)
    def lives(task: Task, steps: list[int]) -> None:
        life = Life()
        life.try_out(ContestCreated(at=START, task=task))
        for step in steps:
            event = happening(step, life.state, life.log)
            if event is not None and not life.over:
                life.try_out(event)
        life.finished()
        met.update(life.met)

    lives()

    assert {phase for phase in CONTEST_PHASES if met[phase]} == set(CONTEST_PHASES) - {"new"}, met
    assert 0.3 < met["taken"] / (met["taken"] + met["refused"]) < 0.7, met
