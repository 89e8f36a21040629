"""A contest played from files: over real HTTP, into a real store, in order of arrival."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evenhand import Connections, ContestError, Limits, Submission, Task
from evenhand.contest.events import AskHorizontal, contest_event_from_json
from evenhand.contest.machine import list_pending_contest_effects, rebuild_contest_state
from evenhand.contest.play import ContestMachinePanels, PanelAnswer
from evenhand.contest.state import ContestState
from evenhand.contest.task import Challenge
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.requests import Reply, Request
from evenhand.store.store import Store
from evenhand.testing import FakeServer
from evenhand.workflows.contest import check_submission, generate_dimensions
from evenhand.workflows.contests import load_contest_record_for_user
from tests.contest import building
from tests.contest.answering import counted, dialogue_of, server, shown_in
from tests.contest.building import INJECTION, NAMES, hour, task
from tests.contest.playing import contrary, handed_in, play, statuses

Json = dict[str, Any]
QUICK = Limits(retries=0)


def test_a_contest_is_played_to_its_winner_and_kept(store: Store) -> None:
    """One command from files to a payment; what is kept is what was shown."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())

        played = play(terms, handed_in(75, 81, 55, 62), store)

    record = played.record
    assert (played.why_stopped, played.exit_code, record["state"], record["winner"]) == ("", 0, "closed", "s2")
    assert {one["id"]: one["rank"] for one in record["submissions"]} == {"s1": 2, "s2": 1, "s3": 4, "s4": 3}
    assert [one["effect"] for one in record["effects"]][-2:] == ["release_payment", "close"]
    kept = {**record, "payment": {**record["payment"], "newly_released": False}}
    shown = load_contest_record_for_user(store, "latest")
    assert {**shown, "spent_now": shown["spent"]} == kept


def test_finalists_are_compared_at_once_anonymous_and_with_their_own_words(store: Store) -> None:
    """One request per dimension with the three best, no names in it, and where each stood alone."""
    with server() as judge:
        play(task(judges=(judge.judge,), challenge_judges=()), handed_in(75, 81, 55, 62), store)

        asked = [shown_in(body) for body in judge.asked if dialogue_of(body) == "horizontal"]

    assert len(asked) == 4
    assert all("worth 55" not in text for text in asked)
    assert all(f"submission-{letter}" in text for text in asked for letter in "ABC")
    assert not any(name in text for text in asked for name in ("s1", "s2", "author of"))
    assert all("submission-A-alone" in text for text in asked)


def test_all_dimensions_are_under_way_at_the_same_time() -> None:
    """They do not wait for each other: no reply comes before all four are asked."""
    told = building.Contest(challenge_judges=()).enters("a", 1, 80).enters("b", 2, 70).deadline()

    answered = asyncio.run(_answered_together(told.state))

    assert {one.criterion for one in answered.event.judgments} == set(NAMES)  # type: ignore[union-attr]


async def _answered_together(state: ContestState) -> PanelAnswer:
    all_asked = asyncio.Barrier(4)

    class Judge:
        name = "j"

        async def ask(self, request: Request) -> Reply:
            await all_asked.wait()
            return Reply(text="I cannot say.", stop="end")

    (ask,) = list_pending_contest_effects(state)
    assert isinstance(ask, AskHorizontal)
    panels = ContestMachinePanels([Judge()], (), JudgeOptions())
    async with asyncio.timeout(60):  # One after the other would wait for ever.
        return await panels.answer_machine_question(state, ask, hour(10))


def test_what_speaks_to_its_judge_never_reaches_one(store: Store) -> None:
    """The guard comes first: a policy violation with its passage, and in no request a word of it."""
    with server() as judge:
        played = play(
            task(judges=(judge.judge,), challenge_judges=()), handed_in(75, bad=f"{INJECTION} It is worth 99."), store
        )

        asked = "\n".join(map(shown_in, judge.asked))

    (violated,) = [one for one in played.record["submissions"] if one["id"] == "bad"]
    assert violated["status"] == "policy_violation"
    assert violated["feedback"][0]["type"] == "gate_check"
    assert "previous instructions" in violated["feedback"][0]["policy_violations"][0]["text"]
    assert "worth 99" not in asked
    assert played.record["winner"] == "s1"


def test_the_first_to_pass_ends_the_asking(store: Store) -> None:
    """Judging runs in order: nobody is asked about what came after the winner."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,))

        played = play(terms, handed_in(40, 75, 95), store)

        asked = "\n".join(map(shown_in, judge.asked))
    assert played.record["winner"] == "s2"
    assert statuses(played.record) == {"s1": "scored", "s2": "won"}
    assert [(one["id"], one["why"]) for one in played.record["refused"]] == [
        ("s3", "received after the contest was closed: s2 is the first to pass")
    ]
    assert "worth 95" not in asked


def test_an_author_is_judged_before_handing_in_again(store: Store) -> None:
    """A revision comes after what was said: the log has the answer to the first before the second arrives."""
    first = Submission(id="a1", author="a", at=hour(1), text="useless, worth 10")
    other = Submission(id="b1", author="b", at=hour(2), text="worth 70")
    second = replace(first, id="a2", at=hour(3), text="worth 90", revises="a1")
    with server() as judge:
        played = play(task(judges=(judge.judge,), challenge_judges=()), [first, other, second], store)

    about = [(one["event"], _about(one)) for one in played.record["events"]]
    assert about.index(("gate_checked", "a1")) < about.index(("submitted", "a2"))
    assert played.record["winner"] == "a2"
    assert statuses(played.record) == {"a1": "gate_failed", "b1": "scored", "a2": "won"}


def _about(event: Json) -> str:
    about = event.get("submission", "")
    return str(about["id"] if isinstance(about, dict) else about)


def test_what_is_not_taken_is_told_with_its_reason(store: Store) -> None:
    """Late, empty, one too many, of somebody else: each is refused, none stops the contest."""
    kept = Submission(id="a1", author="a", at=hour(1), text="worth 70")
    wrong = {
        "is late": Submission(id="late", author="l", at=hour(11), text="worth 99"),
        "nothing in": Submission(id="empty", author="e", at=hour(2), text="  \n"),
        "does not revise it": Submission(id="a2", author="a", at=hour(3), text="worth 90"),
        "not of b": Submission(id="b1", author="b", at=hour(4), text="worth 90", revises="a1"),
    }
    with server() as judge:
        given = sorted([kept, *wrong.values()], key=lambda one: one.at)
        played = play(task(judges=(judge.judge,), challenge_judges=()), given, store)

    told = {one["id"]: one["why"] for one in played.record["refused"]}
    assert played.record["winner"] == "a1"
    assert told.keys() == {one.id for one in wrong.values()}
    assert all(why in told[one.id] for why, one in wrong.items())


def test_a_challenge_goes_to_judges_who_have_not_judged(store: Store) -> None:
    """They see the finalists without the word of those before, and theirs decides."""
    challenge = Challenge(by="author of s1", at=hour(11), reason="It was misread.")
    with server() as judge, FakeServer(contrary) as others:
        terms = task(judges=(judge.judge,), challenge_judges=(others.judge,))
        played = play(terms, handed_in(75, 81), store, [challenge, replace(challenge, at=hour(12))])

        asked = list(map(shown_in, others.asked))

    assert played.record["winner"] == "s1"
    assert "the ranking changed: s2 had come first" in " ".join(played.record["decision"]["why"])
    assert asked
    assert not any(f"submission-{letter}-alone" in text for text in asked for letter in "AB")
    assert [(one["id"], "before" in one["why"]) for one in played.record["refused"]] == [(None, True)]


def test_a_contest_that_ran_ahead_of_the_clock_says_so(store: Store) -> None:
    """Played to an end that has not come yet, it shows what would be, and is not mistaken for what is."""
    ahead = datetime.now(UTC) + timedelta(days=30)
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=(), deadline=ahead)
        played = play(terms, handed_in(75), store)
        past = play(replace(terms, deadline=hour(10)), handed_in(75), store)

    assert played.record["ahead"] == (ahead + timedelta(hours=5)).isoformat()
    assert past.record["ahead"] is None


def test_every_reply_is_kept_beside_its_event(store: Store) -> None:
    """What a score rests on can be read back word for word."""
    with server() as judge:
        played = play(task(judges=(judge.judge,), challenge_judges=()), handed_in(75, 81), store)

    rows = list(store.contests.stream_events(played.id, calls=True))
    replies = [call["reply"] for row in rows[1:] for call in json.loads(row["calls"])]
    assert len(replies) == len(judge.asked)
    assert sum('"revision_suggestions"' in text for text in replies) == 2


def test_the_kept_log_alone_rebuilds_the_state(store: Store) -> None:
    """Whoever has the events has the contest."""
    with server() as judge:
        played = play(task(judges=(judge.judge,), challenge_judges=()), handed_in(75, 81, 20), store)

    state = rebuild_contest_state(
        contest_event_from_json(json.loads(row["content"])) for row in store.contests.stream_events(played.id)
    )
    assert (state.winner, state.phase, state.paid) == (played.record["winner"], "closed", True)


def test_dimensions_are_generated_once_and_locked(store: Store) -> None:
    """A task without them gets them from its first judge, and the contest keeps those."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=(), dimensions=None)
        played = play(terms, handed_in(75, 81), store)

        asked = counted(judge.asked)

    assert [one["id"] for one in played.record["dimensions"]][-1] == "sources"
    assert asked["dimensions"] == 1


def test_dimensions_that_cannot_be_read_begin_no_contest(store: Store) -> None:
    """Nothing is filled in, and nothing is left behind."""
    with FakeServer(lambda _: "I do not know.") as judge, pytest.raises(ContestError, match="gave no dimensions"):
        play(task(judges=(judge.judge,), challenge_judges=(), dimensions=None), handed_in(75), store)

    assert store.contests.list_contests() == []


@pytest.mark.parametrize(("mode", "score"), [("quality_first", None), ("fastest_first", 75.0)])
def test_a_check_shows_what_the_author_would_see(mode: str, score: float | None) -> None:
    """Before handing in: the gate and the advice; the score only where it would be shown."""
    submission = Submission(id="mine", author="me", at=hour(20), text="It is worth 75.")
    with server() as judge:
        told = _checked(task(mode, judges=(judge.judge,), **_no_challenge(mode)), submission)

    (feedback,) = told["feedback"]
    assert told["score"] == score
    assert [one["severity"] for one in feedback["revision_suggestions"]] == ["high", "low"]
    assert ("dimension_scores" in feedback) == (score is not None)


def test_a_check_that_fails_the_gate_says_what_to_mend() -> None:
    """The hint is the point of asking before."""
    submission = Submission(id="mine", author="me", at=hour(20), text="useless, worth 5")
    with server() as judge:
        told = _checked(task(judges=(judge.judge,)), submission)

    (check,) = told["feedback"][0]["criteria_checks"]
    assert (told["status"], check["passed"], check["revision_hint"]) == ("gate_failed", False, "Make it useful.")


def _checked(terms: Task, submission: Submission) -> Json:
    async def go() -> Json:
        async with Connections(os.environ, limits=QUICK) as connections:
            return await check_submission(terms, submission, connections=connections)

    return asyncio.run(go())


def _no_challenge(mode: str) -> Json:
    return {"challenge_judges": (), "challenge_period": timedelta()} if mode == "quality_first" else {}


def test_dimensions_can_be_had_before_the_start() -> None:
    """To be read and edited: three fixed ones and one of the task's own."""

    async def go(name: str) -> list[tuple[str, bool]]:
        async with Connections(os.environ, limits=QUICK) as connections:
            rubric = await generate_dimensions(task(), name, connections=connections)
            return [(one.id, one.fixed) for one in rubric.criteria]

    with server() as judge:
        found = asyncio.run(go(judge.judge))

    assert found[-1] == ("sources", False)
    assert [fixed for _, fixed in found[:3]] == [True, True, True]


@pytest.mark.parametrize(
    ("by", "says"),
    [("author of s2", "author of s2 came first, and has nothing to challenge"), ("author of bad", "was judged")],
)
def test_the_one_review_is_not_for_who_has_no_stake_in_it(by: str, says: str, store: Store) -> None:
    """Neither the winner nor who spoke to the judge can use up the review that is for the others."""
    idle = Challenge(by=by, at=hour(11), reason="Look again.")
    doubt = Challenge(by="author of s1", at=hour(11.5), reason="It was misread.")
    with server() as judge, server() as other:
        terms = task(judges=(judge.judge,), challenge_judges=(other.judge,))
        played = play(terms, handed_in(75, 81, bad=INJECTION), store, [idle, doubt])

    refused = [one["why"] for one in played.record["refused"]]
    assert len(refused) == 1 and says in refused[0]
    assert "author of s1 challenged it" in " ".join(played.record["decision"]["why"])
