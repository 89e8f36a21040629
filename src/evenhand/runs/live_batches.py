"""Batches of questions under way: created once however answers get lost, looked at until they are over, and read.

Each is written down before it is paid for, so that whoever goes on with the run finds it again at its provider.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evenhand.errors import CircuitOpenError
from evenhand.models.budget import BudgetClaim
from evenhand.models.requests import Reply, Request
from evenhand.models.server_answers import AcceptedParameters, ServerProblem
from evenhand.runs.reply_cache import ReplyCache
from evenhand.runs.run_record import RunWork
from evenhand.store.reply_claims import BatchCounts
from evenhand.store.rows import Row, to_stored_json
from evenhand.wording import pluralize_count

if TYPE_CHECKING:
    from evenhand.models.batch_endpoint import BatchView, LineOutcome, ProviderBatchEndpoint

CREATE_TRIES = 5
MOST_FAILED_LOOKS = 30  # In a row, with growing pauses.
PAUSE_GROWTH = 1.5
_UNTOLD = ServerProblem("busy", "the batch ended without an answer to it")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBatchPace:
    """How often a batch is looked at, in seconds."""

    poll: float = 10.0

    @property
    def slowest(self) -> float:
        """The longest pause between two looks at a batch that takes its time."""
        return 30 * self.poll

    @property
    def settle(self) -> float:
        """How long a batch that may have been created can stay out of the provider's list."""
        return 6 * self.poll


@dataclass(slots=True, eq=False)
class RunBatchQuestion:
    """One question in a batch, and who waits for its answer; an exception there ends the waiting."""

    key: str
    work: RunWork
    answer: asyncio.Future[LineOutcome | Exception | None]  # None where it was never sent.
    request: Request | None = None  # None where an earlier sitting asked it.
    tokens: int = 0
    money: Decimal = Decimal(0)
    accepted: AcceptedParameters | None = None  # The parameters that it was sent with.

    def settle(self, outcome: LineOutcome | Exception | None) -> None:
        """Tell whoever waits, if they still do."""
        if not self.answer.done():
            self.answer.set_result(outcome)


@dataclass(slots=True, eq=False)
class LiveRunBatch:
    """A batch under way."""

    mark: str
    run: str
    judge: str
    at: str
    questions: Sequence[RunBatchQuestion]
    claim: BudgetClaim
    provider_id: str | None = None
    answered: int = 0

    @classmethod
    def from_row(cls, row: Row, loop: asyncio.AbstractEventLoop) -> LiveRunBatch:
        """As an earlier sitting has left it."""
        lines = json.loads(row["content"])
        questions = [
            RunBatchQuestion(key, RunWork(position, repeat, variant), loop.create_future())
            for key, position, variant, repeat in lines
        ]
        claim = BudgetClaim(0, row["tokens"], Decimal(row["money"]))
        return cls(
            row["id"], row["run"], row["judge"], row["at"], questions, claim, row["provider_id"], row["answered"]
        )

    def to_row(self) -> Row:
        """As it is written down before it is created."""
        lines = [[one.key, one.work.position, one.work.variant, one.work.repeat] for one in self.questions]
        return {
            "id": self.mark,
            "run": self.run,
            "judge": self.judge,
            "state": "sending",
            "at": self.at,
            "provider_id": None,
            "lines": len(lines),
            "answered": 0,
            "tokens": self.claim.tokens,
            "money": str(self.claim.money),
            "content": to_stored_json(lines),
        }


@dataclass(slots=True, kw_only=True)
class RunBatchFollower:
    """Creates, finds, follows and reads the batches of one run, until the run is left."""

    memory: ReplyCache
    pace: RunBatchPace
    show: Callable[[str], None] = lambda _: None  # What is under way, in words.
    live: dict[str, LiveRunBatch] = field(default_factory=dict)  # By mark.
    left: asyncio.Event = field(default_factory=asyncio.Event)  # Whoever pauses stops then.

    async def send_batch(self, endpoint: ProviderBatchEndpoint, questions: Sequence[RunBatchQuestion]) -> None:
        """Write a batch down, create it, and follow it; what certainly was not created is settled at once."""
        book, remote, mark = self.memory.book, endpoint.remote, secrets.token_hex(12)
        bodies = []
        for one in questions:
            assert one.request is not None
            one.accepted = remote.accepted
            bodies.append(remote.build_body(one.request))
        prepared = await self._try(remote.name, lambda: endpoint.prepare(mark, bodies))
        if isinstance(prepared, ServerProblem):
            settle_run_batch_questions(questions, prepared)
            return
        if self.left.is_set():
            raise asyncio.CancelledError
        sums = BudgetClaim(0, sum(one.tokens for one in questions), sum((one.money for one in questions), Decimal(0)))
        batch = LiveRunBatch(mark, book.hold.run, remote.name, book.now(), questions, sums)
        await asyncio.to_thread(book.store.batches.add_batch, batch.to_row(), book.hold)
        self.live[mark] = batch
        view = await self._create(endpoint, batch, prepared)
        if isinstance(view, ServerProblem):
            await self._give_up(batch, view)
            return
        await self._note_created(batch, view)
        await self._follow(endpoint, batch)

    async def pick_up_batch(self, endpoint: ProviderBatchEndpoint, batch: LiveRunBatch) -> None:
        """Follow a batch of an earlier sitting, if there is one at its provider: it may have died before it was."""
        if batch.provider_id is None:
            now = datetime.fromisoformat(self.memory.book.now())
            silent = (now - datetime.fromisoformat(batch.at)).total_seconds()
            view = await self._find(endpoint, batch, max(0.0, self.pace.settle - silent))
            if view is None:
                await self._give_up(batch, None)
                return
            await self._note_created(batch, view)
        await self._follow(endpoint, batch)

    async def _create(
        self, endpoint: ProviderBatchEndpoint, batch: LiveRunBatch, prepared: bytes
    ) -> BatchView | ServerProblem:
        """The batch, however the answer to creating it got lost; a problem only where it is certainly not there."""
        for _ in range(CREATE_TRIES):
            created = await endpoint.create(prepared)
            if not isinstance(created, ServerProblem) or created.kind not in ("busy", "absent"):
                return created
            found = await self._find(endpoint, batch, self.pace.settle)
            if found is not None:
                return found
        return created

    async def _find(self, endpoint: ProviderBatchEndpoint, batch: LiveRunBatch, seconds: float) -> BatchView | None:
        """The batch at its provider; None where it is certain, after so many seconds, that it was never created."""
        store, at = self.memory.book.store, datetime.fromisoformat(batch.at).timestamp()
        over = asyncio.get_running_loop().time() + seconds
        pauses = _RunBatchPauses(self.pace, batch.judge)
        while True:
            known = await asyncio.to_thread(store.batches.list_provider_ids, batch.judge)
            found = await endpoint.find(batch.mark, len(batch.questions), at, known)
            if isinstance(found, list) and not found and asyncio.get_running_loop().time() >= over:
                return None
            if not isinstance(found, list | ServerProblem):
                return found
            await self.pause(pauses.next_after(found if isinstance(found, ServerProblem) else None))

    async def _follow(self, endpoint: ProviderBatchEndpoint, batch: LiveRunBatch) -> None:
        """Look at a batch until it is over, keep its answers, and tell whoever waits for them."""
        assert batch.provider_id is not None
        pauses, id = _RunBatchPauses(self.pace, batch.judge), batch.provider_id
        while True:
            view = await endpoint.look(id)
            if not isinstance(view, ServerProblem):
                if view.answered != batch.answered:
                    batch.answered = view.answered
                    await self._change(batch, answered=view.answered)
                if view.is_over:
                    break
            await self.pause(pauses.next_after(view if isinstance(view, ServerProblem) else None))
        if view.failure is not None:
            await self._wait_for_room(batch, view.failure)
            await self._keep(endpoint, batch, {}, view.failure)
            return
        while isinstance(outcomes := await endpoint.read(view, len(batch.questions)), ServerProblem):
            await self.pause(pauses.next_after(outcomes))
        await self._keep(endpoint, batch, outcomes, _UNTOLD)

    async def _wait_for_room(self, batch: LiveRunBatch, failure: ServerProblem) -> None:
        """Providers take only so much at once: what was refused for that is asked again when other batches are over."""
        self._forget(batch)
        while failure.kind == "busy" and any(one.judge == batch.judge for one in self.live.values()):
            await self.pause(self.pace.poll)

    async def _keep(
        self,
        endpoint: ProviderBatchEndpoint,
        batch: LiveRunBatch,
        outcomes: Mapping[str, LineOutcome],
        missing: ServerProblem,
    ) -> None:
        """Store every reply, then note that the batch is read: whoever is killed in between reads it again."""
        book, found = self.memory.book, []
        for place, one in enumerate(batch.questions):
            outcome = outcomes.get(endpoint.name_line(batch.mark, place), missing)
            found.append((one, replace(outcome, in_batch=True) if isinstance(outcome, Reply) else outcome))
        keys = [one.key for one in batch.questions]
        before = await asyncio.to_thread(book.store.calls_by_key, book.hold.run, keys)
        replies = [(one, outcome) for one, outcome in found if isinstance(outcome, Reply)]
        kept = [
            self.memory.keep_batch_reply(one.key, batch.judge, one.work, outcome, before.get(one.key), since=batch.at)
            for one, outcome in replies
        ]
        await asyncio.gather(*(one for one in kept if one is not None))
        await self._change(batch, state="read", answered=len(replies), content="[]")
        self._forget(batch)
        for one, outcome in found:
            one.settle(outcome)

    async def _give_up(self, batch: LiveRunBatch, outcome: ServerProblem | None) -> None:
        """Nothing of it was ever created."""
        await self._change(batch, state="unsent", content="[]")
        self._forget(batch)
        settle_run_batch_questions(batch.questions, outcome)

    async def _note_created(self, batch: LiveRunBatch, view: BatchView) -> None:
        batch.provider_id = view.id
        await self._change(batch, state="waiting", provider_id=view.id)

    async def _change(self, batch: LiveRunBatch, **changes: object) -> None:
        book = self.memory.book
        await asyncio.to_thread(partial(book.store.batches.change_batch, batch.mark, book.hold, **changes))
        self._show()

    def _forget(self, batch: LiveRunBatch) -> None:
        self.live.pop(batch.mark, None)
        self._show()

    def _show(self) -> None:
        live = self.live.values()
        lines = sum(len(one.questions) for one in live)
        counts = BatchCounts(batches=len(live), lines=lines, answered=sum(one.answered for one in live))
        self.show(describe_run_batch_counts(counts))

    async def _try(self, judge: str, act: Callable[[], Awaitable[T | ServerProblem]]) -> T | ServerProblem:
        """What is asked for, in a few tries; for what costs nothing to do twice."""
        pauses = _RunBatchPauses(self.pace, judge)
        for _ in range(CREATE_TRIES):
            done = await act()
            if not isinstance(done, ServerProblem) or done.kind not in ("busy", "absent"):
                return done
            await self.pause(pauses.next_after(done))
        return done

    async def pause(self, seconds: float) -> None:
        """Wait, unless the run is left meanwhile."""
        await self.wait_for(asyncio.Event(), seconds)

    async def wait_for(self, event: asyncio.Event, seconds: float | None = None) -> None:
        """Wait for an event, at most so long; a CancelledError where the run is left meanwhile."""
        tasks = [asyncio.ensure_future(one.wait()) for one in (self.left, event)]
        try:
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        if self.left.is_set():
            raise asyncio.CancelledError


@dataclass(slots=True)
class _RunBatchPauses:
    """Growing pauses between looks; too many failures in a row are the end of looking."""

    pace: RunBatchPace
    judge: str
    seconds: float = 0.0
    failures: int = 0

    def next_after(self, problem: ServerProblem | None) -> float:
        """How long to wait before the next look."""
        self.failures = 0 if problem is None else self.failures + 1
        self.seconds = min(max(self.pace.poll, self.seconds * PAUSE_GROWTH), self.pace.slowest)
        if problem is None:
            return self.seconds
        if problem.kind not in ("busy", "absent") or self.failures > MOST_FAILED_LOOKS:
            raise CircuitOpenError(
                f"{self.judge}: a batch is under way, and its server tells nothing of it: {problem.why}; nothing was "
                "asked again (the key must be one of the project that created the batch)"
            )
        return min(max(self.seconds, problem.wait or 0.0), self.pace.slowest)


def describe_run_batch_counts(counts: BatchCounts) -> str:
    """What is under way in batches, in words; "" where nothing is."""
    if not counts.batches:
        return ""
    several = pluralize_count(counts.batches, "batch", "batches")
    return f"{several} under way: {counts.answered:,} of {pluralize_count(counts.lines, 'question')} answered"


def settle_run_batch_questions(questions: Iterable[RunBatchQuestion], outcome: LineOutcome | Exception | None) -> None:
    """Tell all who wait the same."""
    for one in questions:
        one.settle(outcome)
