"""How far a run has come, in words, and whether its verdict can be taken as it stands."""

from __future__ import annotations

from evenhand.report._figures import Data, times


def counted(run: Data) -> str:
    """The samples that were looked at: 24 samples, or 7 of 30 samples where more were planned."""
    planned = run.get("planned")
    if planned is None or run["samples"] >= planned:
        return times(run["samples"], "sample")
    return f"{run['samples']:,} of {times(planned, 'sample')}"


def unfinished(run: Data) -> str:
    """What kept a run from its end; empty where it was reached."""
    if run["state"] == "finished":
        return ""
    return "still running" if run["state"] == "running" else f"{run['state']} before its end"


def stands(head: Data) -> bool:
    """Whether nothing speaks against the verdict: the run came to its end, and no gate or rule failed it."""
    passed: bool = head["decision"]["exit_code"] == 0
    return passed and not unfinished(head["run"])
