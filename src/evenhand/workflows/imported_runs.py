"""Whether an imported run can be read by all commands that may be asked about it: a file of others may say anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from evenhand.errors import EvenhandError, Fault, StoreError
from evenhand.runs.stored_judgments import find_run_rubric_for_tag, restore_kept_rubric
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction
from evenhand.workflows.audit import audit_run
from evenhand.workflows.sensitivity import report_sensitivity_for_user

_TEXT, _MAYBE_TEXT, _NUMBER = (str,), (str, type(None)), (int, float, type(None))
# Every field of a judgment that a command reads, and what it may be.
_JUDGMENT: dict[str, tuple[type, ...]] = {
    "judge": _TEXT, "output": _TEXT, "criterion": _TEXT, "score": (*_NUMBER, bool), "band": _MAYBE_TEXT,
    "why_not": _MAYBE_TEXT, "reason": _MAYBE_TEXT, "evidence": (list,), "absent": (list,), "from_trace": (list,),
    "feedback": _MAYBE_TEXT, "spread": (dict, type(None)), "exact": _MAYBE_TEXT,
}  # fmt: skip
_QUOTE: dict[str, tuple[type, ...]] = {"text": _TEXT, "start": (int, type(None)), "end": (int, type(None))}


def refuse_unreadable_parts(store: Store, run: Row) -> None:
    """Rebuild what later commands rebuild: rubrics, judgments, the audit and the weights of a run.

    What they refuse in words of their own, such as a run with too few samples, is no fault of the file.
    """
    setup = json.loads(run["setup"])
    for tag, kept in setup["rubrics"].items():
        with suppress(EvenhandError):
            restore_kept_rubric(kept)
        with suppress(EvenhandError):
            find_run_rubric_for_tag(setup, tag)
    found = ((row, wrong) for row in store.results(run["id"]) for wrong in _list_wrong_fields(row))
    for row, wrong in islice(found, 1):
        what = f"has a judgment whose {wrong} cannot be (position {row['position']}, variant {row['variant']!r})"
        raise StoreError(Fault(what, "export the run again; nothing was changed here", where="the file"))
    with suppress(EvenhandError):
        audit_run(store, run["id"])
    with suppress(EvenhandError):
        report_sensitivity_for_user(store, run)


def _list_wrong_fields(row: Row) -> Iterator[str]:
    """The names of fields in the judgments of a result that are not what they are in a run of ours."""
    for one in json.loads(row["content"])["judgments"]:
        yield from (name for name, kinds in _JUDGMENT.items() if name in one and type(one[name]) not in kinds)
        yield from (name for name in ("judge", "criterion", "exact") if name not in one)
        for quote in one.get("evidence", ()):
            yield from (f"evidence {name}" for name, kinds in _QUOTE.items() if type(quote.get(name)) not in kinds)
        for name in ("absent", "from_trace"):
            yield from (name for text in one.get(name, ()) if type(text) is not str)
        if one.get("exact") is not None:
            read_kept_fraction(one["exact"])
