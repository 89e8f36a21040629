"""What the page of contests shows: drawings from the machine, and an example of each status and kind of feedback."""

import json
from collections.abc import Iterator
from typing import Any

from evenhand.contest.feedback import FEEDBACK_TYPES, view_submission
from evenhand.contest.state import SUBMISSION_STATUSES, contest_machine_to_mermaid
from evenhand.contest.task import CONTEST_MODES
from tests.contest.building import INJECTION, Contest

Json = dict[str, Any]
BOTH = (True, True)


def contest_blocks() -> dict[str, str]:
    """Every block by name."""
    drawings = {f"drawing-{mode}": f"```mermaid\n{contest_machine_to_mermaid(mode)}```\n" for mode in CONTEST_MODES}
    statuses = {f"status-{status}": _block(_status(status)) for status in SUBMISSION_STATUSES}
    feedback = {f"feedback-{type}": _block(_feedback(type)) for type in FEEDBACK_TYPES}
    return drawings | statuses | feedback | {"feedback-violation": _block(_feedback("gate_check", violated=True))}


def _contests() -> Iterator[Contest]:
    """One in the middle of its course, and the same at its end."""
    yield _half_way()
    yield (
        _half_way()
        .gate("rook", (None, None))
        .deadline()
        .rank({"wren-2": 82, "heron-2": (78, 70, 55, 90)})
        .period_over()
    )


def _half_way() -> Contest:
    contest = Contest(acceptance=("names a price", "names a source"))
    contest.comes("heron", 1).gate("heron", (True, False))
    contest.comes("wren-1", 2, author="wren").gate("wren-1", BOTH).score("wren-1", 64)
    contest.comes("swift", 3).gate("swift", BOTH).score("swift", (80, 80, 80, 45))
    contest.comes("magpie", 4, text=f"It costs 7. {INJECTION}")
    contest.comes("heron-2", 5, author="heron", revises="heron").gate("heron-2", BOTH).score(
        "heron-2", (80, 74, 58, 90)
    )
    contest.comes("wren-2", 6, author="wren", revises="wren-1").gate("wren-2", BOTH).score("wren-2", 79)
    return contest.comes("rook", 7)


def _status(wanted: str) -> Json:
    """A submission with the status as its author sees it, without the feedback."""
    for contest in _contests():
        for id, entry in contest.state.entries.items():
            if entry.status == wanted:
                told = {name: value for name, value in view_submission(contest.state, id).items() if name != "feedback"}
                return told | ({"why": entry.why} if entry.why else {})
    raise LookupError(f"no example has the status {wanted}")


def _feedback(wanted: str, *, violated: bool = False) -> Json:
    """The longest feedback of a kind, with all that it can have."""
    found = [
        feedback
        for contest in _contests()
        for id in contest.state.entries
        for feedback in view_submission(contest.state, id)["feedback"]
        if feedback["type"] == wanted and bool(feedback.get("policy_violations")) == violated
    ]
    return max(found, key=lambda one: len(json.dumps(one)))


def _block(data: Json) -> str:
    return f"```json\n{json.dumps(data, indent=2, ensure_ascii=False)}\n```\n"
