"""Runs: a plan carried out and recorded, resumed, summed up, held against history.

Its parts are loaded when they are first used: listing what is stored needs no judge and no NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.runs._book import Book
    from evenhand.runs._check import checked_samples
    from evenhand.runs._columns import SAMPLE_PARTS, Columns
    from evenhand.runs._consistency import Evaluation, evaluations
    from evenhand.runs._ending import AtTheEnd, OnceDecided, shuffled_order
    from evenhand.runs._eval import Eval
    from evenhand.runs._execute import Course, execute, forget
    from evenhand.runs._frame import Frame, frame_from, rubric_json
    from evenhand.runs._gates import gate_states
    from evenhand.runs._head import first_positions, head_of
    from evenhand.runs._layers import composite, layers_on_scale
    from evenhand.runs._memory import Memory, key_of_call
    from evenhand.runs._outputs import Outputs, key_of_output, made_from
    from evenhand.runs._pairing import Member, Paired, Shared, paired, shared
    from evenhand.runs._read import load_eval
    from evenhand.runs._result import criteria_json
    from evenhand.runs._resuming import line_of, run_to_resume
    from evenhand.runs._run_id import run_id
    from evenhand.runs._sample import RunSample
    from evenhand.runs._samples import Counted, SecondPass
    from evenhand.runs._schema import eval_schema
    from evenhand.runs._setup import Setup, prepare
    from evenhand.runs._summary import Summary, summarise
    from evenhand.runs._table import Table, keep_table, table_of
    from evenhand.runs._tally import Tally
    from evenhand.runs._turns import Turns
    from evenhand.runs._unit import Worker

_HOMES = {
    "_book": ("Book",),
    "_check": ("checked_samples",),
    "_columns": ("SAMPLE_PARTS", "Columns"),
    "_consistency": ("Evaluation", "evaluations"),
    "_ending": ("AtTheEnd", "OnceDecided", "shuffled_order"),
    "_eval": ("Eval",),
    "_execute": ("Course", "execute", "forget"),
    "_frame": ("Frame", "frame_from", "rubric_json"),
    "_gates": ("gate_states",),
    "_head": ("first_positions", "head_of"),
    "_layers": ("composite", "layers_on_scale"),
    "_memory": ("Memory", "key_of_call"),
    "_outputs": ("Outputs", "key_of_output", "made_from"),
    "_pairing": ("Member", "Paired", "Shared", "paired", "shared"),
    "_read": ("load_eval",),
    "_result": ("criteria_json",),
    "_resuming": ("line_of", "run_to_resume"),
    "_run_id": ("run_id",),
    "_sample": ("RunSample",),
    "_samples": ("Counted", "SecondPass"),
    "_schema": ("eval_schema",),
    "_setup": ("Setup", "prepare"),
    "_summary": ("Summary", "summarise"),
    "_table": ("Table", "keep_table", "table_of"),
    "_tally": ("Tally",),
    "_turns": ("Turns",),
    "_unit": ("Worker",),
}

__all__ = [
    "SAMPLE_PARTS",
    "AtTheEnd",
    "Book",
    "Columns",
    "Counted",
    "Course",
    "Eval",
    "Evaluation",
    "Frame",
    "Member",
    "Memory",
    "OnceDecided",
    "Outputs",
    "Paired",
    "RunSample",
    "SecondPass",
    "Setup",
    "Shared",
    "Summary",
    "Table",
    "Tally",
    "Turns",
    "Worker",
    "checked_samples",
    "composite",
    "criteria_json",
    "eval_schema",
    "evaluations",
    "execute",
    "first_positions",
    "forget",
    "frame_from",
    "gate_states",
    "head_of",
    "keep_table",
    "key_of_call",
    "key_of_output",
    "layers_on_scale",
    "line_of",
    "load_eval",
    "made_from",
    "paired",
    "prepare",
    "rubric_json",
    "run_id",
    "run_to_resume",
    "shared",
    "shuffled_order",
    "summarise",
    "table_of",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"evenhand.runs.{home}"), name)
    raise AttributeError(f"module 'evenhand.runs' has no attribute {name!r}")
