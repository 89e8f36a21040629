"""Aligning for a request or an assistant: by judges that it may ask, from files that it may read, in bounded calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from evenhand.errors import Fault, FaultPath, InputError
from evenhand.files.parsing import allow_files_below
from evenhand.models.shared_limits import SharedLimits
from evenhand.workflows.align import AlignmentReport, AlignOptions, align_run
from evenhand.workflows.align_asking import AlignmentPlan
from evenhand.workflows.run_labels import LabelSource
from evenhand.workflows.stores import StoreLike, open_user_store

MOST_SENT_CALLS = 1000  # Whoever asks waits for them.
FindJudgeFaults = Callable[[Sequence[str], FaultPath], list[Fault]]


async def align_sent_run(
    store: StoreLike,
    run: str,
    labels: LabelSource,
    *,
    options: AlignOptions,
    find_judge_faults: FindJudgeFaults,
    shared: SharedLimits | None = None,
) -> AlignmentReport:
    """Align a run whose judges and proposer may be asked, in a thread; refused before anything is imported or asked.

    A run may have been made elsewhere, with judges that are code. Which files are read is for the caller to confine.
    """
    with open_user_store(store) as opened:
        row = opened.find_run(run)
        faults = find_judge_faults(json.loads(row["setup"])["frame"]["judges"], ("judges",))
        faults += find_judge_faults([options.proposer] if options.proposer else [], ("proposer",))
        if faults:
            raise InputError(*faults)

        def align() -> AlignmentReport:
            asked = align_run(opened, row["id"], labels, options=options, announce=_refuse_many_calls, shared=shared)
            return asyncio.run(asked)

        return await asyncio.to_thread(align)


def confine_to_shipped_files() -> AbstractContextManager[None]:
    """Within it no file of this machine is read but what ships."""
    return allow_files_below(Path(__file__).parents[1], "send the rubric: rubric: {criteria: [...]}")


def _refuse_many_calls(plan: AlignmentPlan) -> None:
    if plan.calls > MOST_SENT_CALLS:
        what = f"aligning may take {plan.calls:,} calls, and at most {MOST_SENT_CALLS:,} are made here"
        raise InputError(Fault(what, "fewer labels, no proposer, or the command line: evenhand align"))
