"""Questions of a run that are answered in batches: gathered while nobody is busy, and asked again where a batch left
them out. It stands behind the same door as a direct call: dialogues, panels and the executor do not know of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from evenhand.errors import BusyError
from evenhand.models.budget import ModelBudgetLedger
from evenhand.models.requests import CallNext, ChainedModel, Reply, Request, estimate_input_tokens
from evenhand.models.server_answers import ServerProblem
from evenhand.runs.live_batches import LiveRunBatch, RunBatchFollower, RunBatchQuestion, settle_run_batch_questions
from evenhand.runs.reply_cache import run_reply_key
from evenhand.runs.run_record import RunWork
from evenhand.wording import pluralize_count

if TYPE_CHECKING:
    from evenhand.models.batch_endpoint import LineOutcome, ProviderBatchEndpoint

PIECES_AT_ONCE = 10_000  # Samples whose questions may be in batches together.
QUIET_SECONDS = 0.3  # Without a new question, and nobody at work, after which a round of them is complete.
LINE_BYTES = 4_000  # Of a question beside its texts: the schema of its answer, mostly.
MOST_TRIES = 3  # Batches that a question is sent in before it counts as unanswered.
END_SECONDS = 30.0  # For what a process has begun when it ends; whoever goes on finds the rest again.


@dataclass(slots=True, kw_only=True)
class RunBatches:
    """The batches of one run. `direct` creates none, and waits for those that are under way from before."""

    follower: RunBatchFollower
    ledger: ModelBudgetLedger
    endpoints: Mapping[str, ProviderBatchEndpoint]  # By the name of the judge.
    direct: bool = False
    _pending: dict[str, list[RunBatchQuestion]] = field(default_factory=dict)  # By judge.
    _adopted: dict[str, tuple[LiveRunBatch, RunBatchQuestion]] = field(default_factory=dict)  # By key.
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _came: asyncio.Event = field(default_factory=asyncio.Event)
    _asked: int = 0
    _waiting: int = 0

    async def __aenter__(self) -> Self:
        memory, loop = self.follower.memory, asyncio.get_running_loop()
        for row in await asyncio.to_thread(memory.book.store.batches.list_live):
            own = row["run"] == memory.book.hold.run
            if row["judge"] not in self.endpoints or (memory.fresh and not own):
                continue
            batch = LiveRunBatch.from_row(row, loop)
            for one in batch.questions:
                self._adopted.setdefault(one.key, (batch, one))
            if own:
                self._follow_adopted(batch)
        self._spawn(self._send_rounds(), ())
        return self

    async def __aexit__(self, *_: object) -> None:
        self.follower.left.set()  # Whoever pauses leaves; what is being sent or read may end.
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=END_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def stop(self) -> None:
        """Wait for nothing any more. Batches go on at their providers, and the run can be picked up."""
        self.follower.left.set()
        waiting = [one for several in self._pending.values() for one in several]
        waiting += [one for batch in self.follower.live.values() for one in batch.questions]
        for one in waiting:
            one.answer.cancel()
        self._pending.clear()

    async def ask_in_batch(self, model: ChainedModel, work: RunWork, request: Request, call_next: CallNext) -> Reply:
        """Middleware, bound to a model and a piece of work: the reply of a batch, in a few tries."""
        key = run_reply_key(model, request, work.repeat)
        question = self._make_question(key, work, request)
        outcome = await self._await_adopted(model, key)
        tries = 0 if outcome is None else 1
        while not isinstance(outcome, Reply):
            if outcome is not None:
                await self._refuse_final(model, question, outcome, tries)
            if self.direct:
                return await call_next(request)
            question = self._make_question(key, work, request)
            outcome = await self._submit(model, question, request)
            tries += outcome is not None
        return outcome

    async def _await_adopted(self, model: ChainedModel, key: str) -> LineOutcome | None:
        """The outcome of a question that is under way from before; None where it is not."""
        batch, question = self._adopted.pop(key, (None, None))
        if batch is None or question is None:
            return None
        memory, live = self.follower.memory, self.follower.live
        if batch.mark not in live and not question.answer.done():
            if not await asyncio.to_thread(memory.book.store.batches.take_batch, batch.mark, memory.book.hold):
                return memory.find_kept_reply(key)  # Its own run has read it, or is about to.
            if batch.mark not in live and not question.answer.done():
                batch.run = memory.book.hold.run
                self._follow_adopted(batch)
        outcome = await self._await_answer(question)
        if isinstance(outcome, Reply):
            self.ledger.count_reply(model.name, outcome, None)
        return outcome

    async def _submit(self, model: ChainedModel, question: RunBatchQuestion, request: Request) -> LineOutcome | None:
        """Hand a question to the next batch, and wait for what comes of it."""
        claim = self.ledger.claim_request(model.name, request, in_batch=True)
        question.tokens, question.money = claim.tokens, claim.money
        try:
            if self.follower.left.is_set():
                raise asyncio.CancelledError
            self._pending.setdefault(model.name, []).append(question)
            self._asked += 1
            self._came.set()
            outcome = await self._await_answer(question)
            if isinstance(outcome, Reply):
                self.ledger.count_reply(model.name, outcome, claim)
            return outcome
        finally:
            self.ledger.release_claim(claim)

    async def _await_answer(self, question: RunBatchQuestion) -> LineOutcome | None:
        self._waiting += 1
        try:
            outcome = await question.answer
        finally:
            self._waiting -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _refuse_final(
        self, model: ChainedModel, question: RunBatchQuestion, problem: ServerProblem, tries: int
    ) -> None:
        """The error for what another batch would not change, as a direct call has it."""
        remote = self.endpoints[model.name].remote
        if problem.kind == "unaccepted" and question.request is not None:
            sent = question.accepted or remote.accepted
            if remote.drop_parameter(sent, remote.build_body(question.request, sent), problem) is not None:
                return
        if problem.kind not in ("busy", "absent"):
            await remote.refuse(problem)
        if tries >= MOST_TRIES:
            raise BusyError(f"{model.name}: {problem.why}, in {pluralize_count(tries, 'batch', 'batches')}")

    def _make_question(self, key: str, work: RunWork, request: Request) -> RunBatchQuestion:
        place = RunWork(work.position, work.repeat, work.variant)
        return RunBatchQuestion(key, place, asyncio.get_running_loop().create_future(), request)

    async def _send_rounds(self) -> None:
        """Send what has come whenever a round is complete: nothing new for a while, and nobody is at work."""
        while True:
            await self.follower.wait_for(self._came)
            seen = -1
            while (seen != self._asked or self._is_anybody_at_work()) and not self._is_batch_full():
                seen = self._asked
                await self.follower.pause(QUIET_SECONDS)
            self._came.clear()
            pending, self._pending = self._pending, {}
            for judge, questions in pending.items():
                endpoint = self.endpoints[judge]
                for part in _cut_run_questions_into_batches(
                    endpoint, [one for one in questions if not one.answer.done()]
                ):
                    self._spawn(self.follower.send_batch(endpoint, part), part)

    def _is_anybody_at_work(self) -> bool:
        """Whether calls are under way that wait for no batch, such as those that make outputs."""
        return self.follower.memory.turns.under_way > self._waiting

    def _is_batch_full(self) -> bool:
        return any(len(several) >= self.endpoints[judge].most_lines for judge, several in self._pending.items())

    def _follow_adopted(self, batch: LiveRunBatch) -> None:
        """Follow a batch of an earlier sitting; what it may cost stays set aside until that is known."""
        self.follower.live[batch.mark] = batch
        self.ledger.set_aside(batch.claim)
        self._spawn(self._pick_up(batch), batch.questions)

    async def _pick_up(self, batch: LiveRunBatch) -> None:
        try:
            await self.follower.pick_up_batch(self.endpoints[batch.judge], batch)
        finally:
            self.ledger.release_claim(batch.claim)

    def _spawn(self, work: Coroutine[Any, Any, None], questions: Iterable[RunBatchQuestion]) -> None:
        task = asyncio.get_running_loop().create_task(_guard_run_batch_questions(work, questions))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _guard_run_batch_questions(work: Coroutine[Any, Any, None], questions: Iterable[RunBatchQuestion]) -> None:
    """However following a batch ends, nobody may wait for ever."""
    try:
        await work
    except asyncio.CancelledError:
        for one in questions:
            one.answer.cancel()
    except Exception as error:  # Whoever waits raises it.
        settle_run_batch_questions(questions, error)


def _cut_run_questions_into_batches(
    endpoint: ProviderBatchEndpoint, questions: Sequence[RunBatchQuestion]
) -> list[list[RunBatchQuestion]]:
    """Questions in their order, cut so that each part fits into one batch."""
    parts: list[list[RunBatchQuestion]] = []
    size = 0
    for one in questions:
        assert one.request is not None
        more = 3 * estimate_input_tokens(one.request) + LINE_BYTES
        if not parts or len(parts[-1]) >= endpoint.most_lines or size + more > endpoint.most_bytes:
            parts.append([])
            size = 0
        parts[-1].append(one)
        size += more
    return parts
