"""A contest on a terminal: who won, why and how sure; the ranking; what did not get into it; what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.cli._contest_ranking import show_ranking
from evenhand.cli._contest_shown import shown_contest
from evenhand.cli._run_view import show_section
from evenhand.cli._screen import Screen

Data = Mapping[str, Any]
WAITS = {
    "open": "submissions are still taken",
    "judging": "the deadline is over, and judges have not spoken of all submissions",
    "ranking": "the best have not been compared side by side",
    "challenge_period": "the challenge period is not over",
    "challenged": "it was challenged, and nobody has looked at that yet",
}
AHEAD = "played ahead of the clock, as if nothing more came; with --until now it waits for what may still come"


def show_contest(record: Data) -> None:
    """Print what came out; the decision comes first."""
    record, screen = shown_contest(record), Screen()
    screen.line(_heading(record), dim=True)
    screen.gap()
    _show_decision(screen, record)
    show_ranking(screen, record)
    show_section(screen, "Gate not passed", list(_failed_gates(record)))
    show_section(screen, "Policy violations", list(_violations(record)))
    show_section(screen, "Not ranked", list(_unranked(record)))
    show_section(screen, "Refused", list(_refused(record["refused"])))
    show_spent(screen, record["spent"])


def show_spent(screen: Screen, spent: Data | None) -> None:
    """Print what was asked and what it cost, where that is known."""
    if spent is None:
        return
    asked, replayed = spent["requests"], spent["replayed"]
    parts = [_times(asked, "request") if asked else "no model was asked"]
    if replayed:
        parts.append(f"{'1 reply' if replayed == 1 else f'{replayed:,} replies'} from a record")
    if spent["input_tokens"] or spent["output_tokens"]:
        parts.append(f"{spent['input_tokens']:,} tokens in, {spent['output_tokens']:,} out")
    if asked:
        cost = spent["cost"]
        parts.append("price unknown" if cost is None else f"${cost:.4f}" if cost else "no cost")
    screen.gap()
    screen.line(" · ".join(parts), dim=True)


def _heading(record: Data) -> str:
    count = len(record["submissions"])
    unfinished = [] if record["state"] == "closed" else [record["state"].replace("_", " ")]
    parts = [record["task"], record["mode"], _times(count, "submission"), f"contest {record['id']}", *unfinished]
    return " · ".join(parts)


def _show_decision(screen: Screen, record: Data) -> None:
    decision, closed = record["decision"], record["state"] == "closed"
    if decision is None:
        screen.line(f"Not decided yet: {WAITS.get(record['state'], record['state'])}.", fg="yellow", bold=True)
        _show_stopped(screen, record)
        return
    if decision["winner"] is None:
        screen.line("Nobody won.", fg="red", bold=True)
    elif closed:
        screen.line(f"{_named(record, decision['winner'])} won.", fg="green", bold=True)
    else:
        what = f"{_named(record, decision['winner'])} is first, and {WAITS[record['state']]}."
        screen.line(what, fg="yellow", bold=True)
    screen.line(f"why: {' '.join(decision['why'])}", indent=2)
    if decision["how_sure"]:
        screen.line(f"how sure: {'; '.join(decision['how_sure'])}.", indent=2)
    for paid in (one for one in record["effects"] if one["effect"] == "release_payment"):
        when = f"due on {paid['at'][:10]}" if record.get("ahead") else "released"
        what = f"payment {when} to {paid['author']}"
        screen.line(f"{what}: {paid['reward']}" if paid["reward"] else what, indent=2)
    _show_stopped(screen, record)


def _show_stopped(screen: Screen, record: Data) -> None:
    """Where it is not at its end, and where it is there before its time."""
    if record.get("ahead"):
        screen.line(AHEAD, indent=2, fg="yellow")
    if stopped := record["stopped"]:
        screen.line(stopped if stopped.startswith("it ") else f"stopped: {stopped}", indent=2)


def _named(record: Data, id: str) -> str:
    author = next(one["author"] for one in record["submissions"] if one["id"] == id)
    return id if author == id else f"{id} by {author}"


def _failed_gates(record: Data) -> Iterator[tuple[str, None]]:
    """What could not be judged has not failed: it is told of below, with those that are not ranked."""
    for one in (one for one in record["submissions"] if one["status"] != "unjudged"):
        for feedback in one["feedback"]:
            if feedback["type"] == "gate_check" and not feedback["policy_violations"]:
                yield from ((f"{one['id']}: {line}", None) for line in unmet(feedback["criteria_checks"]))


def unmet(checks: Sequence[Data]) -> Iterator[str]:
    """A line for each acceptance criterion that is not met, or that could not be checked."""
    for check in checks:
        if check["passed"] is False:
            yield f"not met: {check['criterion']} → {check['revision_hint'] or check['reason']}"
        elif check["passed"] is None:
            yield f"not known: {check['criterion']} ({check['reason']})"


def _violations(record: Data) -> Iterator[tuple[str, str]]:
    for one in record["submissions"]:
        for feedback in one["feedback"]:
            for found in feedback.get("policy_violations", ()):
                yield f"{one['id']} {found['says']}: {quoted(found['text'])}", "red"


def quoted(passage: str) -> str:
    """A passage of a text on one line, its line breaks marked as in verse."""
    return f"“{' / '.join(part.strip() for part in passage.splitlines())}”"


def _unranked(record: Data) -> Iterator[tuple[str, None]]:
    """Why the others have no rank; of the gate and of violations more is said above."""
    told = ("policy_violation", "gate_failed")
    for one in record["submissions"]:
        if one["why"] and one["status"] not in told:
            yield f"{one['id']}: {one['why']}", None


def _refused(refused: Sequence[Data]) -> Iterator[tuple[str, None]]:
    """A line for each reason: where the first to pass has won, all that came later share one."""
    by_reason: dict[str, list[str]] = {}
    for one in refused:
        what = f"a challenge by {one['author']}" if one["id"] is None else one["id"]
        by_reason.setdefault(one["why"], []).append(what)
    yield from ((f"{', '.join(names)}: {why}", None) for why, names in by_reason.items())


def _times(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"
