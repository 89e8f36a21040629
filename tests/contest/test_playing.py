"""A contest played from files: over real HTTP, into a real store, in order of arrival, stopped and gone on with."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evenhand import (
    Connections,
    Contest,
    ContestError,
    Limits,
    Played,
    Settings,
    StoreError,
    Submission,
    Task,
    run_contest,
)
from evenhand.contest import AskHorizontal, Challenge, State, event_from, pending, rebuilt
from evenhand.contest._panel import Answered, Panels
from evenhand.contesting import check_submission, contest_record, generate_dimensions
from evenhand.contesting._terms import digest_of
from evenhand.judging import How, Reply, Request
from evenhand.runs.store import Store
from evenhand.testing import FakeServer
from tests.contest import building
from tests.contest.answering import answer, counted, dialogue_of, server, shown_in
from tests.contest.building import INJECTION, NAMES, START, hour, task

Json = dict[str, Any]
QUICK = Limits(retries=0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of its own."""
    with Store.open(tmp_path, os.environ) as opened:
        yield opened


def _handed_in(*worths: int, **more: str) -> list[Submission]:
    """One submission per author, an hour apart; `more` are texts by id."""
    texts = {f"s{number}": f"It is worth {worth}." for number, worth in enumerate(worths, start=1)} | more
    return [
        Submission(id=id, author=f"author of {id}", at=hour(number / 10), text=text)
        for number, (id, text) in enumerate(texts.items(), start=1)
    ]


def _played(
    task: Task,
    submissions: Sequence[Submission],
    store: Store,
    challenges: Sequence[Challenge] = (),
    *,
    until: datetime | None = None,
    **more: Any,
) -> Played:
    async def go() -> Played:
        async with Connections(os.environ, limits=QUICK) as connections:
            contest = Contest(task=task, submissions=submissions, challenges=challenges, until=until)
            return await run_contest(contest, connections=connections, store=store, **more)

    return asyncio.run(go())


def _statuses(record: Json) -> dict[str, str]:
    return {one["id"]: one["status"] for one in record["submissions"]}


def test_a_contest_is_played_to_its_winner_and_kept(store: Store) -> None:
    """One command from files to a payment; what is kept is what was shown."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())

        played = _played(terms, _handed_in(75, 81, 55, 62), store)

    record = played.record
    assert (played.why_stopped, played.exit_code, record["state"], record["winner"]) == ("", 0, "closed", "s2")
    assert {one["id"]: one["rank"] for one in record["submissions"]} == {"s1": 2, "s2": 1, "s3": 4, "s4": 3}
    assert [one["effect"] for one in record["effects"]][-2:] == ["release_payment", "close"]
    assert contest_record(store, "latest") == record


def test_finalists_are_compared_at_once_anonymous_and_with_their_own_words(store: Store) -> None:
    """One request per dimension with the three best, no names in it, and where each stood alone."""
    with server() as judge:
        _played(task(judges=(judge.judge,), challenge_judges=()), _handed_in(75, 81, 55, 62), store)

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


async def _answered_together(state: State) -> Answered:
    all_asked = asyncio.Barrier(4)

    class Judge:
        name = "j"

        async def ask(self, request: Request) -> Reply:
            await all_asked.wait()
            return Reply(text="I cannot say.", stop="end")

    (ask,) = pending(state)
    assert isinstance(ask, AskHorizontal)
    panels = Panels([Judge()], (), How())
    async with asyncio.timeout(60):  # One after the other would wait for ever.
        return await panels.answer(state, ask, hour(10))


def test_what_speaks_to_its_judge_never_reaches_one(store: Store) -> None:
    """The guard comes first: a policy violation with its passage, and in no request a word of it."""
    with server() as judge:
        played = _played(
            task(judges=(judge.judge,), challenge_judges=()), _handed_in(75, bad=f"{INJECTION} It is worth 99."), store
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

        played = _played(terms, _handed_in(40, 75, 95), store)

        asked = "\n".join(map(shown_in, judge.asked))
    assert played.record["winner"] == "s2"
    assert _statuses(played.record) == {"s1": "scored", "s2": "won"}
    assert [(one["id"], one["why"]) for one in played.record["refused"]] == [
        ("s3", "it came after the contest was closed: s2 is the first to pass")
    ]
    assert "worth 95" not in asked


def test_an_author_is_judged_before_handing_in_again(store: Store) -> None:
    """A revision comes after what was said: the log has the answer to the first before the second arrives."""
    first = Submission(id="a1", author="a", at=hour(1), text="useless, worth 10")
    other = Submission(id="b1", author="b", at=hour(2), text="worth 70")
    second = replace(first, id="a2", at=hour(3), text="worth 90", revises="a1")
    with server() as judge:
        played = _played(task(judges=(judge.judge,), challenge_judges=()), [first, other, second], store)

    about = [(one["event"], _about(one)) for one in played.record["events"]]
    assert about.index(("gate_checked", "a1")) < about.index(("submitted", "a2"))
    assert played.record["winner"] == "a2"
    assert _statuses(played.record) == {"a1": "gate_failed", "b1": "scored", "a2": "won"}


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
        played = _played(task(judges=(judge.judge,), challenge_judges=()), given, store)

    told = {one["id"]: one["why"] for one in played.record["refused"]}
    assert played.record["winner"] == "a1"
    assert told.keys() == {one.id for one in wrong.values()}
    assert all(why in told[one.id] for why, one in wrong.items())


def test_a_challenge_goes_to_judges_who_have_not_judged(store: Store) -> None:
    """They see the finalists without the word of those before, and theirs decides."""
    challenge = Challenge(by="author of s1", at=hour(11), reason="It was misread.")
    with server() as judge, FakeServer(_contrary) as others:
        terms = task(judges=(judge.judge,), challenge_judges=(others.judge,))
        played = _played(terms, _handed_in(75, 81), store, [challenge, replace(challenge, at=hour(12))])

        asked = list(map(shown_in, others.asked))

    assert played.record["winner"] == "s1"
    assert "the ranking changed: s2 had come first" in " ".join(played.record["decision"]["why"])
    assert asked
    assert not any(f"submission-{letter}-alone" in text for text in asked for letter in "AB")
    assert [(one["id"], "before" in one["why"]) for one in played.record["refused"]] == [(None, True)]


def _contrary(body: Json) -> str:
    """A judge who finds 75 better than 81."""
    reply = json.loads(answer(body))
    for said in reply["submissions"].values():
        said["score"] = 156 - said["score"]
    return json.dumps(reply)


def test_a_server_that_is_down_stops_a_contest_where_it_is(store: Store) -> None:
    """Nobody is passed over because a judge could not be reached, and going on asks nothing twice."""
    down = [True]

    def judge(body: Json) -> str | int:
        return 503 if down[0] and "worth 81" in shown_in(body) else answer(body)

    with FakeServer(judge) as flaky:
        terms = task(judges=(flaky.judge,), challenge_judges=())
        stopped = _played(terms, _handed_in(75, 81, 55), store)
        before = len(flaky.asked)
        down[0] = False
        resumed = _played(terms, _handed_in(75, 81, 55), store, resume=True)

        again = counted(flaky.asked[before:])

    assert "could not be asked about s2" in stopped.why_stopped
    assert stopped.exit_code == 1
    assert _statuses(stopped.record) == {"s1": "gate_passed", "s2": "submitted", "s3": "gate_passed"}
    assert all(one["score"] is None for one in stopped.record["submissions"])
    assert (resumed.id, resumed.record["winner"]) == (stopped.id, "s2")
    assert again == {"gate": 1, "individual": 1, "horizontal": 4}


def test_what_was_answered_before_a_server_went_down_is_kept(store: Store) -> None:
    """The gate is passed and paid for: going on asks for the scores only."""
    down = [True]

    def judge(body: Json) -> str | int:
        return 503 if down[0] and dialogue_of(body) == "individual" else answer(body)

    with FakeServer(judge) as flaky:
        terms = task(judges=(flaky.judge,), challenge_judges=())
        stopped = _played(terms, _handed_in(75), store)
        before = len(flaky.asked)
        down[0] = False
        resumed = _played(terms, _handed_in(75), store, resume=True)

        again = counted(flaky.asked[before:])

    assert _statuses(stopped.record) == {"s1": "gate_passed"}
    assert again == {"individual": 1}
    assert resumed.record["winner"] == "s1"
    assert resumed.record["spent"]["requests"] == 2  # Of both sittings.


def test_one_judge_of_a_panel_that_is_down_stops_it_too(store: Store) -> None:
    """Two of three would be another panel than the others had, and could hand the prize to somebody else."""

    def third(body: Json) -> str | int:
        return 503 if "worth 81" in shown_in(body) else answer(body)

    with server() as one, server(more=1) as two, FakeServer(third) as flaky:
        terms = task("fastest_first", judges=(one.judge, two.judge, flaky.judge))
        played = _played(terms, _handed_in(81, 75), store)

    assert f"{flaky.judge} could not be asked about s1" in played.why_stopped
    assert played.record["winner"] is None


@pytest.mark.parametrize("worth", [40, 81])
def test_a_question_that_a_server_refuses_leaves_one_unjudged(worth: int, store: Store) -> None:
    """One submission too long for a model, the first or a later one, must not stop a contest for all."""

    def judge(body: Json) -> str | int:
        return 413 if f"worth {worth}" in shown_in(body) else answer(body)

    with FakeServer(judge) as picky:
        played = _played(task("fastest_first", judges=(picky.judge,)), _handed_in(40, 81, 75), store)

    statuses = _statuses(played.record)
    assert statuses.pop("s1" if worth == 40 else "s2") == "unjudged"
    assert (played.why_stopped, "won" in statuses.values()) == ("", True)


def test_a_key_that_is_not_accepted_stops_it(store: Store) -> None:
    """Every other question would be refused as well: that says nothing of the submission."""
    with FakeServer(lambda _: 401) as locked:
        played = _played(task("fastest_first", judges=(locked.judge,)), _handed_in(75), store)

    assert "could not be asked about s1" in played.why_stopped
    assert _statuses(played.record) == {"s1": "submitted"}


def test_a_contest_that_no_judge_could_read_stays_open(store: Store) -> None:
    """Replies that are all nonsense are no reason to close it without a winner."""
    with FakeServer(lambda _: "Well.") as garbled:
        played = _played(task(judges=(garbled.judge,), challenge_judges=()), _handed_in(75, 81), store)

    assert "no answer on any of 2 submissions could be read" in played.why_stopped
    assert played.record["state"] == "open"


def test_what_was_not_reached_is_not_refused(store: Store) -> None:
    """A contest that stopped has not seen what comes after; only what came and was not taken is told."""
    first = Submission(id="a1", author="a", at=hour(1), text="worth 40")
    late = [replace(first, id="a2", at=hour(2), revises="a1"), replace(first, id="a3", at=hour(3), revises="a2")]
    with FakeServer(lambda _: 503) as down:
        played = _played(task(judges=(down.judge,), challenge_judges=()), [first, *late], store)

    assert played.record["refused"] == []
    assert _statuses(played.record) == {"a1": "submitted"}


@pytest.mark.parametrize(
    ("changes", "how", "says"),
    [
        ({"description": "What did it cost?"}, How(), 'description "What does it cost?", not "What did it cost?"'),
        ({}, How(language="zh"), 'language "en", not "zh"'),
        ({}, How(settings=Settings(temperature=1)), "temperature null, not 1"),
        ({}, How(seed=7), "seed 0, not 7"),
        ({}, How(settings=Settings(seed=7)), "model_seed null, not 7"),
    ],
)
def test_other_terms_or_settings_are_not_gone_on_with(changes: Json, how: How, says: str, store: Store) -> None:
    """Answers to other questions are not ranked together; a second contest would want a second payment."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        _played(terms, _handed_in(75), store)

        with pytest.raises(ContestError) as caught:
            _played(replace(terms, **changes), _handed_in(75), store, resume=True, how=how)

    assert says in str(caught.value)
    assert len(store.contests.all()) == 1


def test_going_on_where_nothing_began_begins(store: Store) -> None:
    """A job that always says resume works the first time."""
    with server() as judge:
        played = _played(task(judges=(judge.judge,), challenge_judges=()), _handed_in(75), store, resume=True)

    assert played.record["winner"] == "s1"


def test_a_contest_killed_before_its_first_event_begins_on_resume(store: Store) -> None:
    """Its row is there and its log is empty."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        row = _row(terms)
        store.contests.begin(row)

        played = _played(terms, _handed_in(75), store, resume=True)

    assert (played.id, played.record["winner"]) == (row["id"], "s1")


def _row(terms: Task) -> Json:
    plain = {"id": "20261101-000000-000000", "name": terms.name, "digest": digest_of(terms, How()), "state": "running"}
    return {**plain, "started": START.isoformat(), "ended": None, "holder": None, "source": "", "summary": None}


def test_a_damaged_log_is_told_with_its_event(store: Store) -> None:
    """Whoever changed the store by hand is told where."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        row = _row(terms)
        store.contests.begin(row)
        store.contests.append(row["id"], 0, START.isoformat(), '{"event": "created"}', "[]")

        with pytest.raises(StoreError, match="event 0 of contest 20261101-000000-000000 cannot be read"):
            contest_record(store, row["id"])


def test_played_up_to_a_moment_it_waits_there(store: Store) -> None:
    """For real: taken hour by hour, ranked after the deadline, doubted by those who have seen it, paid at the end."""
    doubt = Challenge(by="author of s1", at=hour(13), reason="It was misread.")
    with server() as judge, FakeServer(_contrary) as others:
        terms = task(judges=(judge.judge,), challenge_judges=(others.judge,))

        def until(moment: float, *challenges: Challenge) -> Played:
            return _played(terms, _handed_in(75, 81), store, challenges, resume=True, until=hour(moment))

        early, ranked, again = until(0.15), until(12), until(14, doubt)
        done = until(17, doubt)

    assert (early.record["state"], _statuses(early.record)) == ("open", {"s1": "gate_passed"})
    assert (ranked.record["state"], ranked.record["winner"]) == ("challenge_period", "s2")
    assert ranked.record["period_ends"] == hour(17).isoformat()
    assert _paid(ranked.record) == []
    assert (again.record["state"], again.record["winner"]) == ("challenge_period", "s1")
    assert (done.why_stopped, done.record["state"], _paid(done.record)) == ("", "closed", ["s1"])


def _paid(record: Json) -> list[str]:
    return [one["submission"] for one in record["effects"] if one["effect"] == "release_payment"]


def test_a_contest_that_ran_ahead_of_the_clock_says_so(store: Store) -> None:
    """Played to an end that has not come yet, it shows what would be, and is not mistaken for what is."""
    ahead = datetime.now(UTC) + timedelta(days=30)
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=(), deadline=ahead)
        played = _played(terms, _handed_in(75), store)
        past = _played(replace(terms, deadline=hour(10)), _handed_in(75), store)

    assert played.record["ahead"] == (ahead + timedelta(hours=5)).isoformat()
    assert past.record["ahead"] is None


def test_a_finished_contest_is_shown_and_not_played_again(store: Store) -> None:
    """Going on with what is over asks nobody and pays nobody."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        first = _played(terms, _handed_in(75, 81), store)
        asked = len(judge.asked)

        second = _played(terms, _handed_in(75, 81), store, resume=True)

    assert len(judge.asked) == asked
    assert (second.id, second.record["effects"]) == (first.id, first.record["effects"])


def test_what_is_refused_on_resume_leaves_a_finished_contest_as_it_was(store: Store) -> None:
    """Neither a changed text nor a late challenge touches what is kept."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        first = _played(terms, _handed_in(75, 81), store)

        with pytest.raises(ContestError, match="'s1' has changed"):
            _played(terms, _handed_in(74, 81), store, resume=True)
        doubt = Challenge(by="author of s1", at=hour(12), reason="It was misread.")
        late = _played(terms, _handed_in(75, 81), store, [doubt], resume=True)

    assert contest_record(store, first.id) == first.record
    assert store.contests.one(first.id)["state"] == "finished"
    assert [(one["id"], one["author"]) for one in late.record["refused"]] == [(None, "author of s1")]


def test_a_submission_that_was_judged_cannot_become_another(store: Store) -> None:
    """Going on with a changed text would leave its old score on it."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        _played(terms, _handed_in(40), store)

        with pytest.raises(ContestError, match="'s1' has changed"):
            _played(terms, _handed_in(75), store, resume=True)


def test_an_open_contest_goes_on_with_what_came_since(store: Store) -> None:
    """Without a deadline it waits for the first that passes."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        waiting = _played(terms, _handed_in(40), store)

        done = _played(terms, _handed_in(40, 75), store, resume=True)

    assert "no deadline" in waiting.why_stopped
    assert (done.id, done.record["winner"]) == (waiting.id, "s2")


def test_every_reply_is_kept_beside_its_event(store: Store) -> None:
    """What a score rests on can be read back word for word."""
    with server() as judge:
        played = _played(task(judges=(judge.judge,), challenge_judges=()), _handed_in(75, 81), store)

    rows = list(store.contests.events(played.id, calls=True))
    replies = [call["reply"] for row in rows[1:] for call in json.loads(row["calls"])]
    assert len(replies) == len(judge.asked)
    assert sum('"revision_suggestions"' in text for text in replies) == 2


def test_the_kept_log_alone_rebuilds_the_state(store: Store) -> None:
    """Whoever has the events has the contest."""
    with server() as judge:
        played = _played(task(judges=(judge.judge,), challenge_judges=()), _handed_in(75, 81, 20), store)

    state = rebuilt(event_from(json.loads(row["content"])) for row in store.contests.events(played.id))
    assert (state.winner, state.phase, state.paid) == (played.record["winner"], "closed", True)


def test_dimensions_are_generated_once_and_locked(store: Store) -> None:
    """A task without them gets them from its first judge, and the contest keeps those."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=(), dimensions=None)
        played = _played(terms, _handed_in(75, 81), store)

        asked = counted(judge.asked)

    assert [one["id"] for one in played.record["dimensions"]][-1] == "sources"
    assert asked["dimensions"] == 1


def test_dimensions_that_cannot_be_read_begin_no_contest(store: Store) -> None:
    """Nothing is filled in, and nothing is left behind."""
    with FakeServer(lambda _: "I do not know.") as judge, pytest.raises(ContestError, match="gave no dimensions"):
        _played(task(judges=(judge.judge,), challenge_judges=(), dimensions=None), _handed_in(75), store)

    assert store.contests.all() == []


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
