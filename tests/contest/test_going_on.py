"""A contest that stops where it must, waits where it may, and goes on without asking anything twice."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any

import pytest

from evenhand import ContestError, ContestResult, InputError, Limits, ModelSettings, StoreError, Submission, Task
from evenhand.contest.play import AppendedContestEvent
from evenhand.contest.task import Challenge
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.openai_format import build_request_body
from evenhand.models.requests import Request
from evenhand.models.server_answers import AcceptedParameters
from evenhand.store.store import Store
from evenhand.testing import FakeServer
from evenhand.workflows.contest_listing import list_contests
from evenhand.workflows.contests import (
    UserContestSession,
    build_user_contest_key,
    digest_user_contest_terms,
    load_contest_record_for_user,
    open_contest_log_for_user,
)
from tests.contest.answering import answer, counted, dialogue_of, server, shown_in
from tests.contest.building import START, hour, task
from tests.contest.playing import contrary, handed_in, play, statuses

Json = dict[str, Any]
QUICK = Limits(retries=0)


def test_a_server_that_is_down_stops_a_contest_where_it_is(store: Store) -> None:
    """Nobody is passed over because a judge could not be reached, and going on asks nothing twice."""
    down = [True]

    def judge(body: Json) -> str | int:
        return 503 if down[0] and "worth 81" in shown_in(body) else answer(body)

    with FakeServer(judge) as flaky:
        terms = task(judges=(flaky.judge,), challenge_judges=())
        stopped = play(terms, handed_in(75, 81, 55), store)
        before = len(flaky.asked)
        down[0] = False
        resumed = play(terms, handed_in(75, 81, 55), store, resume=True)

        again = counted(flaky.asked[before:])

    assert "could not be asked about s2" in stopped.why_stopped
    assert stopped.exit_code == 1
    assert statuses(stopped.record) == {"s1": "gate_passed", "s2": "submitted", "s3": "gate_passed"}
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
        stopped = play(terms, handed_in(75), store)
        before = len(flaky.asked)
        down[0] = False
        resumed = play(terms, handed_in(75), store, resume=True)

        again = counted(flaky.asked[before:])

    assert statuses(stopped.record) == {"s1": "gate_passed"}
    assert again == {"individual": 1}
    assert resumed.record["winner"] == "s1"
    assert resumed.record["spent"]["requests"] == 2  # Of both sittings.


def test_one_judge_of_a_panel_that_is_down_stops_it_too(store: Store) -> None:
    """Two of three would be another panel than the others had, and could hand the prize to somebody else."""

    def third(body: Json) -> str | int:
        return 503 if "worth 81" in shown_in(body) else answer(body)

    with server() as one, server(more=1) as two, FakeServer(third) as flaky:
        terms = task("fastest_first", judges=(one.judge, two.judge, flaky.judge))
        played = play(terms, handed_in(81, 75), store)

    assert f"{flaky.judge} could not be asked about s1" in played.why_stopped
    assert played.record["winner"] is None


@pytest.mark.parametrize("worth", [40, 81])
def test_a_question_that_a_server_refuses_leaves_one_unjudged(worth: int, store: Store) -> None:
    """One submission too long for a model, the first or a later one, must not stop a contest for all."""

    def judge(body: Json) -> str | int:
        return 413 if f"worth {worth}" in shown_in(body) else answer(body)

    with FakeServer(judge) as picky:
        played = play(task("fastest_first", judges=(picky.judge,)), handed_in(40, 81, 75), store)

    found = statuses(played.record)
    assert found.pop("s1" if worth == 40 else "s2") == "unjudged"
    assert (played.why_stopped, "won" in found.values()) == ("", True)


def test_why_no_dimension_could_be_scored_is_said_once(store: Store) -> None:
    """The same sentence for each of the dimensions would hide that there is one reason."""

    def judge(body: Json) -> str | int:
        return 413 if dialogue_of(body) == "individual" else answer(body)

    with FakeServer(judge) as picky:
        played = play(task("fastest_first", judges=(picky.judge,)), handed_in(75), store)

    (one,) = played.record["submissions"]
    assert (one["status"], one["why"].count("judge failed")) == ("unjudged", 1)


def test_a_key_that_is_not_accepted_stops_it(store: Store) -> None:
    """Every other question would be refused as well: that says nothing of the submission."""
    with FakeServer(lambda _: 401) as locked:
        played = play(task("fastest_first", judges=(locked.judge,)), handed_in(75), store)

    assert "could not be asked about s1" in played.why_stopped
    assert statuses(played.record) == {"s1": "submitted"}


def test_a_function_that_raises_stops_it_until_it_is_mended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the operator's own must not cost a submission its place, nor pay another."""
    broken = [True]

    def judge(request: Request) -> str:
        if broken[0] and "worth 81" in str(request.messages):
            raise ValueError("no such column")
        return answer(build_request_body("strict", request, AcceptedParameters(("json_schema",))))

    module = ModuleType("mended_judges")
    monkeypatch.setattr(module, "strict", judge, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    terms = task(judges=("python:mended_judges:strict",), challenge_judges=())
    stopped = play(terms, handed_in(75, 81), store)
    broken[0] = False
    resumed = play(terms, handed_in(75, 81), store, resume=True)

    assert stopped.why_stopped.count("the function raised ValueError: no such column") == 1
    assert (stopped.exit_code, stopped.record["stopped"]) == (1, stopped.why_stopped)
    assert statuses(stopped.record) == {"s1": "gate_passed", "s2": "submitted"}
    assert (resumed.id, resumed.record["winner"]) == (stopped.id, "s2")


def test_a_contest_that_no_judge_could_read_stays_open(store: Store) -> None:
    """Replies that are all nonsense are no reason to close it without a winner."""
    with FakeServer(lambda _: "Well.") as garbled:
        played = play(task(judges=(garbled.judge,), challenge_judges=()), handed_in(75, 81), store)

    assert "no answer on any of 2 submissions could be read" in played.why_stopped
    assert played.record["state"] == "open"


def test_what_was_not_reached_is_not_refused(store: Store) -> None:
    """A contest that stopped has not seen what comes after; only what came and was not taken is told."""
    first = Submission(id="a1", author="a", at=hour(1), text="worth 40")
    late = [replace(first, id="a2", at=hour(2), revises="a1"), replace(first, id="a3", at=hour(3), revises="a2")]
    with FakeServer(lambda _: 503) as down:
        played = play(task(judges=(down.judge,), challenge_judges=()), [first, *late], store)

    assert played.record["refused"] == []
    assert statuses(played.record) == {"a1": "submitted"}


@pytest.mark.parametrize(
    ("changes", "how", "says"),
    [
        (
            {"description": "What did it cost?"},
            JudgeOptions(),
            'description "What does it cost?", not "What did it cost?"',
        ),
        ({}, JudgeOptions(language="zh"), 'language "en", not "zh"'),
        ({}, JudgeOptions(settings=ModelSettings(temperature=1)), "temperature null, not 1"),
        ({}, JudgeOptions(seed=7), "seed 0, not 7"),
        ({"challenge_period": timedelta(hours=2)}, JudgeOptions(), "challenge_period 5 hours, not 2 hours"),
        ({}, JudgeOptions(settings=ModelSettings(seed=7)), "model_seed null, not 7"),
    ],
)
def test_other_terms_or_settings_are_not_gone_on_with(
    changes: Json, how: JudgeOptions, says: str, store: Store
) -> None:
    """Answers to other questions are not ranked together; a second contest would want a second payment."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        play(terms, handed_in(75), store)

        with pytest.raises(ContestError) as caught:
            play(replace(terms, **changes), handed_in(75), store, resume=True, how=how)

    assert says in str(caught.value)
    assert len(store.contests.list_contests()) == 1


def test_going_on_where_nothing_began_begins(store: Store) -> None:
    """A job that always says resume works the first time."""
    with server() as judge:
        played = play(task(judges=(judge.judge,), challenge_judges=()), handed_in(75), store, resume=True)

    assert played.record["winner"] == "s1"


def test_a_contest_killed_before_its_first_event_begins_on_resume(store: Store) -> None:
    """Its row is there and its log is empty."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        row = _row(terms)
        store.contests.begin_contest(row)

        played = play(terms, handed_in(75), store, resume=True)

    assert (played.id, played.record["winner"]) == (row["id"], "s1")


def _row(terms: Task) -> Json:
    plain = {
        "id": "20261101-000000-000000",
        "name": terms.name,
        "key": build_user_contest_key(terms, None),
        "digest": digest_user_contest_terms(terms, JudgeOptions()),
        "state": "running",
    }
    return {**plain, "started": START.isoformat(), "ended": None, "holder": None, "source": "", "summary": None}


def test_a_damaged_log_is_told_with_its_event(store: Store) -> None:
    """Whoever changed the store by hand is told where."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        row = _row(terms)
        store.contests.begin_contest(row)
        store.contests.append_event(
            {
                "contest": row["id"],
                "number": 0,
                "at": START.isoformat(),
                "content": '{"event": "created"}',
                "calls": "[]",
            }
        )

        with pytest.raises(StoreError, match="event 0 of contest 20261101-000000-000000 cannot be read"):
            load_contest_record_for_user(store, row["id"])


def test_played_up_to_a_moment_it_waits_there(store: Store) -> None:
    """For real: taken hour by hour, ranked after the deadline, doubted by those who have seen it, paid at the end."""
    doubt = Challenge(by="author of s1", at=hour(13), reason="It was misread.")
    with server() as judge, FakeServer(contrary) as others:
        terms = task(judges=(judge.judge,), challenge_judges=(others.judge,))

        def until(moment: float, *challenges: Challenge) -> ContestResult:
            return play(terms, handed_in(75, 81), store, challenges, resume=True, until=hour(moment))

        early, ranked, again = until(0.15), until(12), until(14, doubt)
        done = until(17, doubt)

    assert (early.record["state"], statuses(early.record)) == ("open", {"s1": "gate_passed"})
    assert (ranked.record["state"], ranked.record["winner"]) == ("challenge_period", "s2")
    assert ranked.record["period_ends"] == hour(17).isoformat()
    assert _paid(ranked.record) == []
    assert (again.record["state"], again.record["winner"]) == ("challenge_period", "s1")
    assert (done.why_stopped, done.record["state"], _paid(done.record)) == ("", "closed", ["s1"])


def _paid(record: Json) -> list[str]:
    return [one["submission"] for one in record["effects"] if one["effect"] == "release_payment"]


def test_a_finished_contest_is_shown_and_not_played_again(store: Store) -> None:
    """Going on with what is over asks nobody and pays nobody."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        first = play(terms, handed_in(75, 81), store)
        asked = len(judge.asked)

        second = play(terms, handed_in(75, 81), store, resume=True)

    assert len(judge.asked) == asked
    assert (second.id, second.record["effects"]) == (first.id, first.record["effects"])


def test_what_a_contest_does_not_take_is_looked_at_by_no_guard(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long text takes the guards long, and what is late comes again with every call."""
    looked: list[str] = []

    def look(text: str, _: object) -> tuple[()]:
        looked.append(text)
        return ()

    monkeypatch.setattr("evenhand.contest.events.list_guard_findings", look)
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), challenge_judges=())
        first, second = (play(terms, handed_in(75, 81), store) for _ in range(2))

    assert [one["id"] for one in first.record["refused"]] == ["s2"]
    assert second.record["refused"] == first.record["refused"]
    assert looked == ["It is worth 75."]


def test_what_is_refused_on_resume_leaves_a_finished_contest_as_it_was(store: Store) -> None:
    """Neither a changed text nor a late challenge touches what is kept."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        first = play(terms, handed_in(75, 81), store)

        changed = play(terms, handed_in(74, 81), store, resume=True)
        doubt = Challenge(by="author of s1", at=hour(12), reason="It was misread.")
        late = play(terms, handed_in(75, 81), store, [doubt], resume=True)

    kept = {**first.record, "payment": {**first.record["payment"], "newly_released": False}}
    shown = load_contest_record_for_user(store, first.id)
    assert {**shown, "spent_now": shown["spent"]} == kept
    assert store.contests.find_contest(first.id)["state"] == "finished"
    assert [(one["id"], one["author"]) for one in late.record["refused"]] == [(None, "author of s1")]
    assert [(one["file"], one["author"]) for one in changed.record["set_aside"]] == [("s1", "author of s1")]


def test_a_submission_that_was_judged_cannot_become_another(store: Store) -> None:
    """What was received counts; going on with a changed text would leave its old score on it. Nobody else waits."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        play(terms, handed_in(40), store)

        changed = play(terms, handed_in(75, 81), store, resume=True)

    assert statuses(changed.record) == {"s1": "scored", "s2": "won"}
    assert "has changed since it was received" in changed.record["set_aside"][0]["why"]


def test_an_open_contest_goes_on_with_what_came_since(store: Store) -> None:
    """Without a deadline it waits for the first that passes."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        waiting = play(terms, handed_in(40), store)

        done = play(terms, handed_in(40, 75), store, resume=True)

    assert "no deadline" in waiting.why_stopped
    assert (done.id, done.record["winner"]) == (waiting.id, "s2")


def test_forgetting_to_resume_begins_no_second_contest(store: Store) -> None:
    """A task has one contest, whatever else is said: the payment is released once, and told as released before."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        first = play(terms, handed_in(75), store)
        asked = len(judge.asked)

        second = play(terms, handed_in(75), store)

    paid, told = first.record["payment"], second.record["payment"]
    assert (first.exit_code, paid["state"], paid["newly_released"]) == (0, "released", True)
    assert (second.exit_code, told) == (4, {**paid, "newly_released": False})
    assert (second.id, paid["id"], len(judge.asked)) == (first.id, f"pay-{first.id}", asked)


def test_another_contest_of_a_task_is_named(store: Store) -> None:
    """And is one too: the same name again goes on with it. On other terms the name is needed."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        other = replace(terms, reward="twice as much")
        first = play(terms, handed_in(75), store)
        with pytest.raises(ContestError, match="--again NAME begins another one"):
            play(other, handed_in(75), store)

        again = [play(other, handed_in(75), store, again="second") for _ in range(2)]

    assert [one.exit_code for one in (first, *again)] == [0, 0, 4]
    assert len({one.id for one in (first, *again)}) == 2


def test_a_process_that_dies_between_the_end_and_the_payment_leaves_it_to_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contest is closed, and nobody was told to pay: the next call releases it, newly."""
    record = UserContestSession.record_event

    def die(self: UserContestSession, appended: AppendedContestEvent) -> None:
        if appended.event.kind == "released":
            raise KeyboardInterrupt
        record(self, appended)

    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        with monkeypatch.context() as patched:
            patched.setattr(UserContestSession, "record_event", die)
            with pytest.raises(KeyboardInterrupt):
                play(terms, handed_in(75), store)
        unpaid = load_contest_record_for_user(store, "latest")

        after = [play(terms, handed_in(75), store) for _ in range(2)]

    assert (unpaid["state"], unpaid["payment"]["state"]) == ("closed", "due")
    assert [one.exit_code for one in after] == [0, 4]


def test_a_rehearsal_takes_nobodys_place_and_pays_nobody(store: Store) -> None:
    """What lies ahead of the clock is played beside the contest, and never instead of it."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=(), deadline=hour(10).replace(year=2998))

        rehearsed = [play(terms, handed_in(75), store) for _ in range(2)]
        real = play(terms, handed_in(75), store, until=hour(9))
        with pytest.raises(ContestError, match="is in progress, and this would play it ahead of the clock"):
            play(terms, handed_in(75), store)

    assert [one.exit_code for one in (*rehearsed, real)] == [1, 1, 1]
    assert [one.record["payment"]["state"] for one in rehearsed] == ["rehearsal"] * 2
    assert len({one.id for one in (*rehearsed, real)}) == 3
    assert (real.record["state"], real.record["payment"]) == ("open", None)


def test_one_challenge_of_the_future_makes_no_rehearsal_of_a_contest_that_is_over(store: Store) -> None:
    """It is late whenever it comes: it is refused alone, with its reason, and the winner is paid."""
    with server() as judge:
        terms = task(judges=(judge.judge,), challenge_judges=())
        later = Challenge(by="wren", at=hour(10).replace(year=2998), reason="Mine is better.")
        played = play(terms, handed_in(75), store, challenges=(later,))

    assert (played.exit_code, played.record["payment"]["state"]) == (0, "released")
    ((author, why),) = [(one["author"], one["why"]) for one in played.record["refused"]]
    assert author == "wren"
    assert why.startswith("received after the contest was closed")


def test_a_late_process_leaves_a_closed_contest_closed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had read the log, and waited for its judges while another finished: what it says then changes nothing."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)
        play(terms, handed_in(40), store)
        finished: list[ContestResult] = []

        def finish_elsewhere(*told: Any) -> list[Any]:
            monkeypatch.undo()
            events = open_contest_log_for_user(*told)
            with ThreadPoolExecutor(1) as elsewhere:  # With a loop of its own.
                finished.append(elsewhere.submit(play, terms, handed_in(40, 75), store).result())
            return events

        monkeypatch.setattr("evenhand.workflows.contest.open_contest_log_for_user", finish_elsewhere)
        with pytest.raises(StoreError, match="another process has gone on with contest"):
            play(terms, handed_in(40, 81), store)

    assert (finished[0].exit_code, finished[0].record["winner"]) == (0, "s2")
    row = store.contests.find_contest("latest")
    assert (row["state"], json.loads(row["summary"])["winner"]) == ("finished", "s2")


@pytest.mark.parametrize(("first", "second"), [("x", "x "), ("x", "\u200bx\t"), ("caf\u00e9", "cafe\u0301")])
def test_the_name_of_another_contest_is_compared_as_names_of_authors_are(store: Store, first: str, second: str) -> None:
    """What cannot be seen at its ends begins no third contest with a payment of its own."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)

        played = [play(terms, handed_in(75), store, again=name) for name in (first, second)]

    assert [one.exit_code for one in played] == [0, 4]
    assert len(store.contests.list_contests()) == 1


@pytest.mark.parametrize("again", ["", " ", "a\nb"])
def test_another_contest_needs_a_name_that_can_be_seen(store: Store, again: str) -> None:
    """An empty variable in a script must not begin a second contest."""
    with server() as judge:
        terms = task("fastest_first", judges=(judge.judge,), deadline=None)

        with pytest.raises(ContestError, match="the name of another contest"):
            play(terms, handed_in(75), store, again=again)

    assert store.contests.list_contests() == []


@pytest.mark.parametrize(
    ("error", "said"),
    [(InputError("the output cannot be written"), "the output cannot be written"), (OSError("full"), "OSError: full")],
)
def test_why_a_contest_stopped_is_told_without_the_name_of_our_errors(
    store: Store, error: Exception, said: str
) -> None:
    """A sentence for readers is one as it is; of what nobody foresaw, the class is the best there is to say."""

    def refuse(_: Any) -> None:
        raise error

    with server() as judge, pytest.raises(type(error)):
        play(task("fastest_first", judges=(judge.judge,)), handed_in(81), store, announce=refuse)
    (contest,) = list_contests(store)

    assert load_contest_record_for_user(store, contest.id)["stopped"] == said
