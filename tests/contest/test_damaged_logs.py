"""A log that is damaged is refused with the place of the damage, and never read as something else."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.contest.events import (
    EVENT_KINDS,
    contest_event_from_json,
    contest_event_json,
    contest_task_from_json,
    contest_task_json,
)
from evenhand.errors import ContestError
from tests.contest.building import Contest, task
from tests.contest.test_worked_contests import WORKED
from tests.contest.worked_endings import ranked

Path = tuple[str | int, ...]
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 1.5, 10**40, -(10**5000), float("nan"), float("inf"), "", " ", "x", "1/0", "1/3",
    "1e999999", "9" * 5000, "9999-12-31T23:59:59-12:00", "2026-11-01", "2026-11-01T00:00:00", [], {}, [[]], [None],
    {"a": 1}, {"a": []}, ["a"],
)  # fmt: skip


@cache
def written() -> tuple[str, ...]:
    """Every event of the contests that are worked by hand, as it is kept."""
    return tuple(sorted({json.dumps(contest_event_json(event)) for worked in WORKED for event in worked.contest().log}))


def paths(data: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in inside:
        yield from paths(value, (*path, name))


def damaged(data: dict[str, Any], path: Path, *junk: object) -> dict[str, Any]:
    """The same with something else in a place, or with nothing there."""
    data = deepcopy(data)
    inside: Any = data
    for name in path[:-1]:
        inside = inside[name]
    if junk:
        inside[path[-1]] = junk[0]
    else:
        del inside[path[-1]]
    return data


def told(data: Any) -> str:
    with pytest.raises(ContestError) as refused:
        contest_event_from_json(data)
    return str(refused.value)


@given(st.data())
def test_whatever_is_done_to_a_log_it_is_refused_or_read_as_it_stands(data: st.DataObject) -> None:
    """Deleted, of another kind, huge: no error but ours, and nothing is taken for what it is not."""
    event = json.loads(data.draw(st.sampled_from(written())))
    path = data.draw(st.sampled_from(list(paths(event))))
    junk = data.draw(st.just(()) | st.sampled_from(JUNK).map(lambda one: (one,)))
    wrong = damaged(event, path, *junk)

    try:
        read = contest_event_from_json(wrong)
    except ContestError as error:
        assert str(error).startswith((f"{event['event']}.", f"{event['event']}: ", "the kind of an event must be"))
    else:
        assert kinds(contest_event_json(read)) == kinds(with_later_fields(wrong))


def with_later_fields(data: Any) -> Any:
    """What logs of earlier versions lack is read as nothing."""
    if isinstance(data, list):
        return [with_later_fields(one) for one in data]
    if not isinstance(data, dict):
        return data
    read = {name: with_later_fields(value) for name, value in data.items()}
    for name in ("absent", "from_trace") if {"judge", "criterion", "evidence"} <= read.keys() else ():
        read[name] = [] if read.get(name) is None else read[name]
    return read


def kinds(data: Any) -> Any:
    """Data in which true is not the number 1."""
    if isinstance(data, dict):
        return {name: kinds(value) for name, value in data.items()}
    if isinstance(data, list):
        return [kinds(value) for value in data]
    return str(data) if isinstance(data, bool) or data is None else data


@pytest.mark.parametrize(
    ("path", "junk", "said"),
    [
        (("judgments", 0, "band"), [True], "scored.judgments[0].band: must be text, got true or false"),
        (("judgments", 1, "evidence", 0, "start"), [{}], "scored.judgments[1].evidence[0].start: must be a whole"),
        (("judgments", 0, "score"), ["1/0"], "scored.judgments[0].score: must be a whole number or a fraction"),
        (("judgments", 0, "score"), ["1e999999"], "scored.judgments[0].score: must be a whole number or a fraction"),
        (("judgments", 0, "score"), [10**5000], "must be a whole number or a fraction as in 2/3, got a number"),
        (("judgments", 0, "why_not"), ["no"], "scored.judgments[0].score: must be null, got 80"),
        (("judgments", 2), [], ""),
        (("judgments",), [], "scored.judgments: is missing (the log is damaged, or of another version)"),
        (("judgments",), ["x"], "scored.judgments: must be a list, got 'x'"),
        (("more",), [1], "scored.more: is not known"),
        (("suggestions", 0, "severity"), ["dire"], "severity: must be one of high, medium, low, got 'dire'"),
        (("at",), ["soon"], "scored.at: must be a time in ISO 8601, got 'soon'"),
        (("at",), ["2026-11-01T01:00"], "scored.at: at 2026-11-01T01:00:00 has no time zone"),
        (("event",), ["scores"], "the kind of an event must be one of created, submitted,"),
        (("event",), [], "the kind of an event must be one of created, submitted,"),
    ],
)
def test_damage_is_told_with_the_event_and_the_place(path: Path, junk: list[object], said: str) -> None:
    """Where, and what should be there; a judgment that is gone altogether is for the machine to miss."""
    scored = json.loads(json.dumps(contest_event_json(Contest().enters("a", 1, 80).log[-1])))

    wrong = damaged(scored, path, *junk)

    assert said in told(wrong) if said else contest_event_from_json(wrong).kind == "scored"


def test_a_submission_came_when_its_event_happened() -> None:
    """The time is written twice; where the two differ, one of them is wrong."""
    submitted = json.loads(json.dumps(contest_event_json(Contest().comes("a", 1).log[-1])))

    assert told(damaged(submitted, ("at",), "2026-11-01T02:00:00+00:00")).startswith("submitted.at: is not the time")


@pytest.mark.parametrize(
    ("path", "junk", "said"),
    [
        (("weights",), {"j": 0}, "judges.j: the weight of j must be above 0"),
        (("dimensions", 0, "weight"), "1/2", "dimensions.criteria: the weights sum to 1.25"),
        (("dimensions", 0, "fixed"), 1, "dimensions[0].fixed: must be true or false, got 1"),
        (("dimensions", 0, "weight"), True, "dimensions[0].weight: must be a whole number or a fraction"),
        (("revisions",), True, "revisions: must be a whole number from 0 to 1,000,000,000,000,000, got true or false"),
        (("challenge_period",), True, "challenge_period: must be a number from 0 to"),
        (("challenge_period",), 10**14, "challenge_period: must be at most 36,525 days"),
        (("challenge_period",), float("nan"), "challenge_period: must be a number from 0 to"),
        (("deadline",), "9999-12-31T23:59:59-12:00", "deadline: deadline must be from 1970 to 2999"),
        (("mode",), "best", "mode: must be one of fastest_first, quality_first, got 'best'"),
        (("acceptance",), "x", "acceptance: must be a list of texts, got 'x'"),
    ],
)
def test_a_task_that_is_damaged_is_refused(path: Path, junk: object, said: str) -> None:
    """On its own and in its event."""
    given = json.loads(json.dumps(contest_task_json(task())))
    wrong = damaged(given, path, junk)

    with pytest.raises(ContestError) as refused:
        contest_task_from_json(wrong)

    assert str(refused.value).startswith(said)
    created = json.loads(json.dumps(contest_event_json(Contest().log[0])))
    assert told({**created, "task": wrong}).startswith(f"created.task.{said}")


@pytest.mark.parametrize("data", [None, [], "created", 7, {}])
def test_what_is_no_event_is_refused(data: object) -> None:
    """Whatever stood in the store."""
    kinds = ", ".join(EVENT_KINDS)

    assert (
        told(data)
        == f"the kind of an event must be one of {kinds}, got none (the log is damaged, or of another version)"
    )


def test_who_was_shown_as_which_letter_is_a_list_for_each_judge() -> None:
    """It is read in the report."""
    event = json.loads(json.dumps(contest_event_json(ranked().log[-1])))

    assert told({**event, "shown": {"j": "ab"}}).startswith("ranked.shown.j: must be a list of texts, got 'ab'")
