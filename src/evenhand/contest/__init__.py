"""Contests: a task with acceptance criteria, submissions and a winner. The machine is pure; `play` runs it on files."""

from evenhand.contest._challenge import Challenge
from evenhand.contest._decision import Decision, decision
from evenhand.contest._effects import (
    EFFECT_KINDS,
    AskGate,
    AskHorizontal,
    AskIndividual,
    Close,
    Effect,
    ReleasePayment,
    TellSubmitter,
    effect_json,
)
from evenhand.contest._events import (
    KINDS,
    Challenged,
    Created,
    DeadlineReached,
    Event,
    GateChecked,
    RankedTogether,
    Resolved,
    ScoredAlone,
    Submitted,
    hand_in,
)
from evenhand.contest._log import event_json, task_json
from evenhand.contest._machine import apply, pending, rebuilt
from evenhand.contest._moves import MOVES, allowed, drawing
from evenhand.contest._read_challenges import load_challenges
from evenhand.contest._read_log import event_from, task_from
from evenhand.contest._read_submissions import load_submission, load_submissions
from evenhand.contest._read_task import load_task
from evenhand.contest._record import record
from evenhand.contest._seen import seen
from evenhand.contest._state import PHASES, STATUSES, Entry, State
from evenhand.contest._submission import Submission
from evenhand.contest._task import MODES, Task

__all__ = [
    "EFFECT_KINDS",
    "KINDS",
    "MODES",
    "MOVES",
    "PHASES",
    "STATUSES",
    "AskGate",
    "AskHorizontal",
    "AskIndividual",
    "Challenge",
    "Challenged",
    "Close",
    "Created",
    "DeadlineReached",
    "Decision",
    "Effect",
    "Entry",
    "Event",
    "GateChecked",
    "RankedTogether",
    "ReleasePayment",
    "Resolved",
    "ScoredAlone",
    "State",
    "Submission",
    "Submitted",
    "Task",
    "TellSubmitter",
    "allowed",
    "apply",
    "decision",
    "drawing",
    "effect_json",
    "event_from",
    "event_json",
    "hand_in",
    "load_challenges",
    "load_submission",
    "load_submissions",
    "load_task",
    "pending",
    "rebuilt",
    "record",
    "seen",
    "task_from",
    "task_json",
]
