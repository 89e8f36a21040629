"""What went wrong with a result, in words."""

from __future__ import annotations

from evenhand.report._figures import Data, figure, times


def failed_checks(result: Data) -> list[str]:
    """Why a scored result does not pass: its verdict, its gates, its assertions; empty where it does."""
    card = result["scorecard"] or {}
    verdict = [f"verdict fail (score {figure(result['score'])})"] if result["verdict"] == "fail" else []
    gates = [f"gate failed: {criterion}" for criterion in card.get("gates_failed", ())]
    return verdict + gates + [_assertion(one) for one in result["assertions"] if one["passed"] is False]


def unscored_because(result: Data) -> str:
    """Why a result has no score."""
    return str(result["why"] or f"{result['state']}, and nothing says why")


def is_unscored(result: Data) -> bool:
    """Whether the output, a judge or an assertion failed, so that there is no score."""
    return result["state"] in ("failed", "incomplete")


def failed_count(failure: Data) -> str:
    """How often something failed in the same way: 1 output failed, 3 judgments failed, 2 abstentions."""
    if failure["kind"] == "abstention":
        return times(failure["count"], "abstention")
    if failure["kind"] == "assertion":
        return f"{times(failure['count'], 'assertion')} could not be answered"
    return f"{times(failure['count'], 'judgment' if failure['kind'] == 'judge' else failure['kind'])} failed"


def _assertion(one: Data) -> str:
    looked = f": looked for {one['looked_for']}" if one["looked_for"] not in (None, "") else ""
    found = f", found {one['found']}" if one["found"] not in (None, "") else ""
    return f"assertion failed: {one['name']}{looked}{found}"
