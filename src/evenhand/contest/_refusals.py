"""What the machine refuses, and what would be taken instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product

from evenhand.contest._challenge import Challenge
from evenhand.contest._events import DeadlineReached, GateChecked, RankedTogether, Resolved, ScoredAlone
from evenhand.contest._gate import criterion_ids
from evenhand.contest._names import is_blank
from evenhand.contest._state import State
from evenhand.contest._submission import Submission
from evenhand.errors import ContestError, Fault
from evenhand.model import YES_NO, Judgment, Scale, Scored, written


def refuse_submission(state: State, given: Submission) -> None:
    """One that is late, empty, there already, revises what it may not, or is one too many."""
    task, own = state.terms, state.of_author(given.author)
    if given.id in state.entries:
        raise ContestError(Fault(f"there is a submission {given.id!r} already", "give it an id of its own"))
    if task.deadline is not None and given.at > task.deadline:
        raise ContestError(Fault(f"{given.id!r} is late", f"the deadline was {task.deadline.isoformat()}"))
    if is_blank(given.text):
        raise ContestError(Fault(f"there is nothing in {given.id!r}", "a submission is a text"))
    if given.revises is not None and given.revises not in [one.id for one in own]:
        known = ", ".join(one.id for one in own) or "nothing yet"
        what = f"{given.id!r} revises {given.revises!r}, which is not of {given.author}"
        raise ContestError(Fault(what, f"handed in by {given.author}: {known}"))
    if own and given.revises is None and task.mode == "quality_first":
        what = f"{given.author} has handed in {own[-1].id!r}, and {given.id!r} does not revise it"
        raise ContestError(Fault(what, f"as in revises: {own[-1].id}"))
    judged = [one for one in own if one.status != "unjudged"]  # What judges failed at is nobody's revision.
    if task.revisions is not None and len(judged) > task.revisions:
        raise ContestError(Fault(f"{given.id!r} is one too many", f"the limit is {task.revisions} revisions"))


def refuse_checks(state: State, event: GateChecked) -> None:
    """Checks that are not one for each criterion and judge, a yes or a no."""
    scales = dict.fromkeys(criterion_ids(state.terms.acceptance), YES_NO)
    said = [one.judgment for one in event.checks]
    _refuse_faults(said, judges=state.terms.judges, scales=scales, ids=(event.submission,))


def refuse_alone(state: State, event: ScoredAlone) -> None:
    """Scores that are not one for each dimension and judge, on the scale."""
    _refuse_faults(event.judgments, judges=state.terms.judges, scales=_scales(state), ids=(event.submission,))


def refuse_early(state: State, event: DeadlineReached) -> None:
    """A deadline that is not reached yet, or that is not the one that is waited for."""
    waited = "challenges" if state.phase == "challenge_period" else "submissions"
    if event.deadline != waited:
        raise ContestError(Fault(f"the deadline for {event.deadline} is not waited for", f"that for {waited} is"))
    ends = state.terms.deadline if waited == "submissions" else state.period_ends
    if ends is None:
        raise ContestError(Fault("this task has no deadline", "the first that passes ends it"))
    _refuse_before(event.at, ends, f"the deadline for {waited}")


def refuse_challenge(state: State, given: Challenge) -> None:
    """One that comes too late, from nobody who took part, for a second time, or with nobody to look at it."""
    assert state.period_ends is not None
    if given.at > state.period_ends:
        raise ContestError(Fault("the challenge is late", f"the period ended at {state.period_ends.isoformat()}"))
    if not state.of_author(given.by):
        authors = ", ".join(dict.fromkeys(one.submission.author for one in state.entries.values()))
        raise ContestError(Fault(f"{given.by!r} took no part in the contest", f"authors: {authors}"))
    if state.challenge is not None:
        by = state.challenge.by
        raise ContestError(Fault(f"the ranking was challenged by {by} before", "one review of a ranking is final"))
    if not state.terms.challenge_judges:
        raise ContestError(Fault("nobody is named to look at a challenge", "name challenge_judges in the task"))


def refuse_panel(state: State, event: RankedTogether | Resolved) -> None:
    """Not one for each dimension, judge and finalist; or, on a challenge, by a judge who had judged before."""
    strangers = [one.output for one in event.judgments if one.output not in state.finalists]
    if strangers:
        raise ContestError(Fault(f"{strangers[0]!r} is no finalist", f"finalists: {', '.join(state.finalists)}"))
    before = state.judges() & {one.judge for one in event.judgments}
    if event.kind == "resolved" and before:
        what = f"{min(before)} judged before: a challenge is for a panel that did not"
        raise ContestError(Fault(what, f"as in {', '.join(state.terms.challenge_judges)}"))
    judges = state.terms.judges if event.kind == "ranked" else state.terms.challenge_judges
    _refuse_faults(event.judgments, judges=judges, scales=_scales(state), ids=state.finalists)


def _scales(state: State) -> dict[str, Scale]:
    return {one.id: one.scale for one in state.dimensions.criteria}


def _refuse_faults(
    said: Sequence[Judgment], *, judges: Sequence[str], scales: Mapping[str, Scale], ids: Sequence[str]
) -> None:
    """Every judge speaks once of everything it was asked: what it failed at is there too, as unscored."""
    fault = next(_answer_faults(said, set(product(judges, scales, ids)), scales), None)
    if fault is not None:
        hint = f"one answer, or why there is none, of {', '.join(judges)} on {', '.join(scales)} for {', '.join(ids)}"
        raise ContestError(Fault(fault, hint))


def _answer_faults(
    said: Sequence[Judgment], asked: set[tuple[str, str, str]], scales: Mapping[str, Scale]
) -> Iterator[str]:
    given = Counter((one.judge, one.criterion, one.output) for one in said)
    for judge, criterion, id in given:
        if (judge, criterion, id) not in asked:
            yield f"{judge!r} was not asked about {criterion!r} of {id!r}"
        if given[judge, criterion, id] > 1:
            yield f"{judge!r} answers twice on {criterion!r} of {id!r}"
    for judge, criterion, id in sorted(asked - given.keys()):
        yield f"{judge!r} says nothing on {criterion!r} of {id!r}"
    for one in said:
        if isinstance(one.score, Scored) and not _on_scale(scales[one.criterion], one.score):
            value = written(one.score.value)
            yield f"{one.judge!r} gives {value} on {one.criterion!r}, asked for {scales[one.criterion]}"


def _on_scale(scale: Scale, score: Scored) -> bool:
    """A mean of several replies lies between the whole numbers; between yes and no lies nothing."""
    return score.value in (scale.min, scale.max) if scale.yes_no else scale.min <= score.value <= scale.max


def _refuse_before(at: datetime, ends: datetime, what: str) -> None:
    if at < ends:
        raise ContestError(Fault(f"{what} is not reached at {at.isoformat()}", f"it is {ends.isoformat()}"))
