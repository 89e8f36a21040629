"""Submissions and challenges that come for contests which run by themselves: checked, hidden, masked, and safe when
they are answered.

What comes while one transaction is written goes into the next one together: many authors at a deadline cost few
commits. Each is answered once its own row is committed, and one that is refused keeps nobody else out.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from evenhand.contest.events import RankingChallenged
from evenhand.contest.machine import apply_contest_event, refuse_challenge, refuse_submission
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.contest.task import Challenge, Submission, normalize_contest_author_name
from evenhand.errors import ContestError, Fault, StoreError
from evenhand.evals.json_lines import explain_unstorable_sample_text
from evenhand.guards.personal_data import mask_personal_data
from evenhand.models.hidden_keys import ModelSecrets, collect_api_keys_to_hide
from evenhand.store.contest_queues import ContestArrivals, StoredContestNews
from evenhand.store.database import NO_CONTESTS
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.store import Store
from evenhand.workflows.contest_following import ContestWorkflowForecast, FollowContestWorkflow, follow_contest
from evenhand.workflows.stores import StoreLike, open_user_store
from evenhand.workflows.webhooks import refuse_unsigned_webhooks

SERVER_BATCHES = 4  # That are written to a server at once: a contest that somebody keeps locked stops few others.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestReceipt:
    """That something was received for a contest: under which id, of whom, and when."""

    contest: str
    kind: str
    id: str
    author: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitWorkflowArrival:
    """A submission that came: of whom, and where to tell what judges say of it."""

    contest: str  # Its id, or whatever else names it.
    author: str
    text: str
    id: str | None = None
    notify: str | None = None

    def make_row(
        self, foreseen: ContestWorkflowForecast, at: datetime, text: str
    ) -> tuple[Row, ContestWorkflowForecast]:
        """Its row, and what is foreseen with it; refused with the reason if the contest would not take it.

        Where revisions are asked for, a further submission of an author revises the one before.
        """
        state, author = foreseen.state, normalize_contest_author_name(self.author)
        own = state.entries_by_author(author)
        revises = own[-1].id if own and state.required_task.mode == "quality_first" else None
        name = self.id or _choose_id_of_received_submission(author, own, state)
        given = Submission(id=name, author=self.author, at=at, text=text, revises=revises)
        if state.phase != "open":
            raise ContestError(Fault(f"the contest takes no submissions any more: it is {state.phase}"))
        refuse_submission(state, given)
        content = to_stored_json({"text": text, "revises": revises, "notify": self.notify})
        row: Row = {"kind": "submission", "id": given.id, "author": given.author, "content": content}
        return row, foreseen.with_submission(given)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChallengeWorkflowArrival:
    """A challenge of the ranking that came."""

    contest: str
    author: str
    text: str  # Why.

    def make_row(
        self, foreseen: ContestWorkflowForecast, at: datetime, text: str
    ) -> tuple[Row, ContestWorkflowForecast]:
        """Its row, and what is foreseen with it; refused if there is no ranking to challenge, or no time."""
        state = foreseen.state
        if foreseen.challenges:
            what = f"the ranking was challenged by {foreseen.challenges[0]['author']} before"
            raise ContestError(Fault(what, "one review of a ranking is final"))
        if state.phase != "challenge_period":
            what = f"there is no ranking to challenge: the contest is {state.phase}"
            raise ContestError(Fault(what, "one can be challenged while its challenge period lasts"))
        given = Challenge(by=self.author, at=at, reason=text)
        refuse_challenge(state, given)
        apply_contest_event(replace(state, at=min(at, state.at or at)), RankingChallenged(challenge=given))
        content = to_stored_json({"reason": given.reason})
        row: Row = {"kind": "challenge", "id": "challenge", "author": given.by, "content": content}
        return row, foreseen.with_row(row)


ContestArrival = SubmitWorkflowArrival | ChallengeWorkflowArrival
ArrivalAnswer = ContestReceipt | Exception


def submit_to_contest(
    store: StoreLike, contest: str, *, author: str, text: str, id: str | None = None, notify: str | None = None
) -> ContestReceipt:
    """Receive a submission now; refused with the reason if the contest would not take it."""
    refuse_unsigned_webhooks(notify)
    return _receive_arrival_into_store(
        store, SubmitWorkflowArrival(contest=contest, author=author, text=text, id=id, notify=notify)
    )


def challenge_contest(store: StoreLike, contest: str, *, author: str, reason: str) -> ContestReceipt:
    """Receive a challenge of the ranking now; refused with the reason if there is none to challenge, or no time."""
    return _receive_arrival_into_store(store, ChallengeWorkflowArrival(contest=contest, author=author, text=reason))


@dataclass(slots=True)
class ReceiveWorkflow:
    """Receives for the callers of a service: those who wait at the same time are written together."""

    store: Store
    _secrets: ModelSecrets = field(default_factory=lambda: collect_api_keys_to_hide(os.environ))
    _waiting: list[tuple[ContestArrival, asyncio.Future[ContestReceipt]]] = field(default_factory=list)
    _under_way: set[str] = field(default_factory=set)  # Contests.
    _batches: set[asyncio.Task[None]] = field(default_factory=set)

    async def receive(self, arrival: ContestArrival) -> ContestReceipt:
        """Receive it; safe when this returns, refused with the reason if the contest would not take it."""
        if isinstance(arrival, SubmitWorkflowArrival):
            refuse_unsigned_webhooks(arrival.notify)
        answered = asyncio.get_running_loop().create_future()
        self._waiting.append((arrival, answered))
        self._begin_batches()
        receipt: ContestReceipt = await answered
        return receipt

    def _begin_batches(self) -> None:
        most = 1 if self.store.is_file else SERVER_BATCHES
        while len(self._batches) < most:
            batch = [one for one in self._waiting if one[0].contest not in self._under_way]
            if not batch:
                return
            self._waiting = [one for one in self._waiting if one[0].contest in self._under_way]
            self._under_way |= {arrival.contest for arrival, _ in batch}
            task = asyncio.create_task(self._receive_batch(batch))
            self._batches.add(task)
            task.add_done_callback(partial(self._end_batch, {arrival.contest for arrival, _ in batch}))

    async def _receive_batch(self, batch: Sequence[tuple[ContestArrival, asyncio.Future[ContestReceipt]]]) -> None:
        arrivals = [arrival for arrival, _ in batch]
        try:
            answers = await asyncio.to_thread(receive_arrivals_into_store, self.store, arrivals, self._secrets)
        except Exception as error:
            answers = [error] * len(batch)
        for answer, (_, answered) in zip(answers, batch, strict=True):
            if answered.done():  # Whoever waited is gone; it is received all the same.
                continue
            if isinstance(answer, ContestReceipt):
                answered.set_result(answer)
            else:
                answered.set_exception(answer)

    def _end_batch(self, contests: set[str], task: asyncio.Task[None]) -> None:
        self._batches.discard(task)
        self._under_way -= contests
        if not task.cancelled():  # Else the loop ends, and with it whoever waits.
            self._begin_batches()


def receive_arrivals_into_store(
    store: Store, arrivals: Sequence[ContestArrival], secrets: ModelSecrets
) -> list[ArrivalAnswer]:
    """Receive all of them in one transaction: for each its receipt, or why it was refused."""
    answers: dict[int, ArrivalAnswer] = {}
    batches: dict[str, _ReceiveWorkflowBatch] = {}
    for number, arrival in enumerate(arrivals):
        try:
            known = follow_contest(store, arrival.contest)
            _refuse_key_in_address(arrival, secrets)
            text = _hide_for_contest(known, secrets, arrival.text)  # Before anybody has to wait for it.
        except Exception as error:
            answers[number] = error
        else:
            batch = batches.setdefault(known.id, _ReceiveWorkflowBatch(store, known, answers))
            batch.prepared.append((number, partial(arrival.make_row, text=text)))
    if batches:
        received = store.inbox.receive_rows([one.announce_arrivals() for one in batches.values()])
        for id, batch in batches.items():
            batch.answer_all(received.get(id))
    return [answers[number] for number in range(len(arrivals))]


@dataclass(slots=True)
class _ReceiveWorkflowBatch:
    """What came for one contest in one batch: the number of each, and how its row is made once it is its turn."""

    store: Store
    known: FollowContestWorkflow
    answers: dict[int, ArrivalAnswer]
    prepared: list[tuple[int, Callable[[ContestWorkflowForecast, datetime], tuple[Row, ContestWorkflowForecast]]]] = (
        field(default_factory=list)
    )
    _taken: list[int] = field(default_factory=list)
    _before: ContestWorkflowForecast = field(default_factory=ContestWorkflowForecast)
    _after: ContestWorkflowForecast = field(default_factory=ContestWorkflowForecast)

    def announce_arrivals(self) -> ContestArrivals:
        place, id = self.known.place, self.known.id
        return ContestArrivals(contest=id, since=place, make_rows=self._make_rows, refuse=self._refuse_all)

    def answer_all(self, rows: Sequence[Row] | None) -> None:
        """Answer those whose rows are safe now; without rows, the contest is not there any more."""
        if rows is None:
            gone = StoreError(Fault(f"no contest {self.known.id!r}", where=self.store.shown))
            self.answers.update((number, gone) for number, _ in self.prepared)
            return
        for number, row in zip(self._taken, rows, strict=True):
            fields = {name: row[name] for name in ("contest", "kind", "id", "author", "at")}
            self.answers[number] = ContestReceipt(**fields)
        if rows:
            self.known.follow_received(rows, self._before, self._after)

    def _make_rows(self, news: StoredContestNews) -> list[Row]:
        """The rows of those that are not refused, each upon the one before."""
        try:
            self._follow_news(news)
        except Exception as error:
            self._refuse_all(error)
            return []
        rows: list[Row] = []
        for number, make_row in self.prepared:
            try:
                row, after = make_row(self._after, news.read_time_of(len(rows)))
                self._refuse_taken_id(row)
            except Exception as error:  # Whatever it is, it is about this one alone.
                self.answers[number] = error
            else:
                rows.append(row)
                self._taken.append(number)
                self._after = after
        return rows

    def _refuse_all(self, error: Exception) -> None:
        self.answers.update((number, error) for number, _ in self.prepared)

    def _follow_news(self, news: StoredContestNews) -> None:
        if news.contest["hooks"] is None:
            what = f"contest {self.known.id} is played from files: it takes what is in its folder"
            raise ContestError(Fault(what, "evenhand contest create begins one that takes submissions"))
        self.known.follow_news(self.store, news)
        self._before = self._after = self.known.foreseen

    def _refuse_taken_id(self, row: Row) -> None:
        """One that was received before, also where it was refused when it was played."""
        if row["kind"] == "submission" and row["id"] in self.known.waiting:
            what, hint = f"there is a {row['kind']} {row['id']!r} already", "give it an id of its own"
            raise StoreError(Fault(what, hint, where=self.store.shown))


def _receive_arrival_into_store(store: StoreLike, arrival: ContestArrival) -> ContestReceipt:
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        [answer] = receive_arrivals_into_store(opened, [arrival], collect_api_keys_to_hide(os.environ))
    if isinstance(answer, ContestReceipt):
        return answer
    raise answer


def _refuse_key_in_address(arrival: ContestArrival, secrets: ModelSecrets) -> None:
    """An address cannot be called without what is hidden in it, so none is kept that has a key."""
    notify = arrival.notify if isinstance(arrival, SubmitWorkflowArrival) else None
    if notify is not None and secrets.remove_keys(notify) != notify:
        raise ContestError(Fault("a key that is hidden here stands in the address", "name another", where="notify"))


def _hide_for_contest(known: FollowContestWorkflow, secrets: ModelSecrets, text: str) -> str:
    """What others wrote as a contest keeps it: nothing that is to be hidden or masked is received as it came, and
    nothing that cannot be kept.
    """
    if why := explain_unstorable_sample_text(text):
        raise ContestError(Fault(f"it holds {why}"))
    hidden, task = secrets.remove_keys(text), known.state.task
    return mask_personal_data(hidden) if task is not None and task.masked else hidden


def _choose_id_of_received_submission(author: str, own: Sequence[ContestEntry], state: ContestState) -> str:
    """The author's name, and a number from the second on.

    A name that ends like a number has one from the first on: `ann-2` is the second of ann, and nobody else's first,
    or an id would tell an author before the ranking that another took part.
    """
    number = len(own) + 1
    plain = number == 1 and _NUMBERED.search(author) is None
    while (name := author if plain else f"{author}-{number}") in state.entries:  # An operator may have named one so.
        number, plain = number + 1, False
    return name


_NUMBERED = re.compile(r"-[0-9]+$")
