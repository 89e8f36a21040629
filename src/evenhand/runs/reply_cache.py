"""Replies of models kept by the full content of the request, so that nothing is asked twice; and the queue of
calls at a budget.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from evenhand.errors import BudgetError, CircuitOpenError, EvenhandError, ModelError
from evenhand.evals.eval_schema import KeepReplies
from evenhand.files.parsing import encode_plain_json
from evenhand.model.rubric import RubricIdentityCache
from evenhand.models.prices import Price
from evenhand.models.recording import model_reply_from_json, reply_to_json
from evenhand.models.requests import EMBEDDED, CallNext, ChainedModel, Reply, Request, read_model_version
from evenhand.runs.kept_texts import is_output_of_run_kept_raw, reduce_kept_reply, reduce_output_kept_by_run
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.runs.setup import digest_run_parts
from evenhand.store.rows import Row

CLAIM_SECONDS = 0.2  # Between two looks whether another run, which asks the same question, has its reply.
_FREE_TO_ASK = (EMBEDDED, "replay:")  # Nobody pays for them: each run asks for itself.
REPLIES_PER_DROP = 500  # Replies that are let go together: all of a large run would not fit.
# Digests of schemas: all questions about a rubric share one, as long as half of them.
_SCHEMA_DIGESTS: RubricIdentityCache[str] = RubricIdentityCache()


A = TypeVar("A")
T = TypeVar("T")


@dataclass(slots=True)
class RunBudgetQueue:
    """A call sets aside the most it may cost, and many are under way at once: the money is spent when none is."""

    under_way: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)

    async def wait_until_idle(self) -> None:
        """Wait until no call is under way."""
        while self.under_way:
            await self._wait_for_end_of_call()

    async def wait_for_budget(self, request: A, call_next: Callable[[A], Awaitable[T]]) -> T:
        """Middleware: what a call gives; a BudgetError only where no other call could leave enough for it."""
        while True:
            self.under_way += 1
            refused = False
            try:
                return await call_next(request)
            except BudgetError:
                refused = self.under_way > 1
                if not refused:
                    raise
            finally:
                self.under_way -= 1
                if self._waiting and not refused:
                    self._wake_waiting()
            await self._wait_for_end_of_call()

    async def _wait_for_end_of_call(self) -> None:
        ended = asyncio.get_running_loop().create_future()
        self._waiting.append(ended)
        await ended

    def _wake_waiting(self) -> None:
        woken, self._waiting = self._waiting, []
        for one in woken:
            if not one.done():  # Whoever waited may have been cancelled.
                one.set_result(None)


@dataclass(slots=True)
class ReplyCache:
    """Replies by the full content of what was asked. A repeat is another question, and `fresh` asks all anew."""

    book: RunRecorder
    price: Callable[[str], Price | None]  # Of a model, where it is known.
    fresh: bool = False
    is_stopping: Callable[[], bool] = lambda: False  # Whether somebody has stopped the run.
    turns: RunBudgetQueue = field(default_factory=RunBudgetQueue)
    spent: BudgetError | None = None  # Set once the budget does not reach: nothing more should be started.
    silent: CircuitOpenError | None = None  # Set once a model is asked no more: the same.
    asks_no_more: bool = False  # Either of them.
    _under_way: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)
    _has_forgotten: bool = False

    async def ask_once(self, model: ChainedModel, work: RunWork, request: Request, call_next: CallNext) -> Reply:
        """Middleware, bound to a model and a piece of work: passes on only what was never asked."""
        key = run_reply_key(model, request, work.repeat)
        work.keys.append(key)
        try:
            while (waiting := self._under_way.get(key)) is not None:  # On its way to somebody else.
                try:
                    return await asyncio.shield(waiting)
                except asyncio.CancelledError:
                    task = asyncio.current_task()
                    if not waiting.cancelled() or (task is not None and task.cancelling()):
                        raise
                    # Whoever asked has given up; we have not.
            return await self._ask_and_record(key, model, work, request, call_next)
        except (ModelError, asyncio.CancelledError):  # A deadline cancels what it does not wait for any more.
            work.unanswered += 1
            raise

    def note_end_of_asking(self, error: EvenhandError) -> None:
        """Remember an error after which nothing more should be started."""
        self.spent = error if isinstance(error, BudgetError) else self.spent
        self.silent = error if isinstance(error, CircuitOpenError) else self.silent
        self.asks_no_more = self.spent is not None or self.silent is not None

    async def drop_finished_replies(self, is_finished: Callable[[int, int], bool], keep: KeepReplies) -> None:
        """Let raw replies and outputs go, masked or altogether, where all results of their piece are kept.

        Only where a sitting ends, or begins after one that was killed: until then an equal question needs its reply.
        """
        self._has_forgotten = True
        store, run = self.book.store, self.book.hold.run
        raw = (row for row in store.calls(run) if row["kept"] == "raw" and row["reply"])
        done = (row for row in raw if is_finished(row["position"], row["repeat"]))
        while some := list(islice(done, REPLIES_PER_DROP)):
            drops = []
            for row in some:
                reply = reduce_kept_reply(row["reply"], keep)
                drops.append({"run": row["run"], "key": row["key"], "reply": reply, "kept": keep})
            await asyncio.gather(*(self.book.put_row("drop", drop) for drop in drops))
        outputs = (row for row in store.list_outputs(run) if is_output_of_run_kept_raw(row["content"]))
        made = (row for row in outputs if is_finished(row["position"], row["repeat"]))
        while some := list(islice(made, REPLIES_PER_DROP)):
            reduced = [{**row, "content": reduce_output_kept_by_run(row["content"], keep)} for row in some]
            await asyncio.gather(*(self.book.put_row("made", row) for row in reduced))

    def keep_batch_reply(
        self, key: str, judge: str, work: RunWork, reply: Reply, before: Row | None, *, since: str
    ) -> asyncio.Future[None] | None:
        """Store a reply that came in a batch of a time; None where that was done. `before` is the call of that key."""
        if before is not None and before["failed"] is None and before["cached_from"] is None:
            if before["at"] >= since:
                return None
            # Its reply was let go, but it was paid for too.
            self.book.leave_row("calls", {**before, "key": f"{key} {before['at']}"})
        return self.book.put_row("calls", self._call_row(key, judge, work, reply))

    def find_kept_reply(self, key: str) -> Reply | None:
        """The reply to a question as it is stored, where it is."""
        found = self._find_reply(key)
        return None if found is None else model_reply_from_json(json.loads(found["reply"]))

    def _find_reply(self, key: str) -> Row | None:
        return self.book.store.find_cached_replies([key], run=self.book.hold.run if self.fresh else None).get(key)

    async def _copy_reply(self, found: Row, work: RunWork) -> Reply:
        """The run keeps its own copy of another's reply, so that it stands when the other is deleted."""
        work.kept += 1
        if found["run"] != self.book.hold.run:
            copy = {**found, **work.place_in_run(self.book), "cost": None, "cached_from": found["run"]}
            await self.book.put_row("calls", copy)
        return model_reply_from_json(json.loads(found["reply"]))

    async def _wait_for_reply_or_claim(self, key: str) -> Row | None:
        """The reply to a question that somebody asks or has asked; None once this run has claimed it after all."""
        while (found := self._find_reply(key)) is None:
            if self.book.store.claims.claim_reply(key, self.book.hold):
                found = self._find_reply(key)  # It may have come between the look and the claim.
                if found is not None:
                    self.book.writer.release(key)
                return found
            if self.is_stopping():
                raise asyncio.CancelledError
            await asyncio.sleep(CLAIM_SECONDS)
        return found

    async def _ask_and_record(
        self, key: str, model: ChainedModel, work: RunWork, request: Request, call_next: CallNext
    ) -> Reply:
        judge, is_shared = model.name, not self.fresh and not model.name.startswith(_FREE_TO_ASK)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        self._under_way[key] = answer
        began = loop.time()
        try:
            if is_shared and await self.book.writer.put("claims", key):  # As nearly every question, in their order.
                found = None
            else:
                found = await self._wait_for_reply_or_claim(key) if is_shared else self._find_reply(key)
            if found is not None:
                reply = await self._copy_reply(found, work)
            else:
                work.asked += 1
                reply = await call_next(request)
                written = self._keep_reply(key, judge, work, reply)
                if written is not None and await written:  # Another worker's came first, and counts for all.
                    reply = self.find_kept_reply(key) or reply
        except ModelError as error:
            self.note_end_of_asking(error)
            if not isinstance(error, BudgetError):
                row = self._call_row(key, judge, work, Reply(text="", seconds=loop.time() - began))
                failed = {**row, "reply": None, "kept": "none", "failed": str(error)}
                await self.book.put_row("calls", failed)
            elif is_shared:
                self.book.writer.release(key)
            answer.set_exception(error)
            answer.exception()  # Seen, so that nobody is warned of what whoever asked is told here.
            raise
        except BaseException:
            if is_shared:
                self.book.writer.release(key)
            answer.cancel()
            raise
        else:
            answer.set_result(reply)
            return reply
        finally:
            del self._under_way[key]

    def _keep_reply(self, key: str, judge: str, work: RunWork, reply: Reply) -> asyncio.Future[bool] | None:
        """Write a reply; only where there are other workers is it waited for, and true where one of them has it too.

        It is in the queue before the result that rests on it.
        """
        if reply.in_batch:  # All replies of a batch are stored together, before anybody has them.
            return None
        if self._has_forgotten:
            self._rename_dropped_call(key)
        row = self._call_row(key, judge, work, reply)
        if self.book.has_other_workers:
            return self.book.put_row("calls", row)
        self.book.leave_row("calls", row)
        return None

    def _rename_dropped_call(self, key: str) -> None:
        """A call whose reply an earlier sitting let go was paid for too: its row makes room under another key."""
        before = self.book.store.calls_by_key(self.book.hold.run, [key]).get(key)
        if before is not None and before["failed"] is None and before["cached_from"] is None:
            # In the queue before the new one.
            self.book.leave_row("calls", {**before, "key": f"{key} {before['at']}"})

    def _call_row(self, key: str, judge: str, work: RunWork, reply: Reply) -> Row:
        price = None if reply.recorded else self.price(judge)
        price = price.in_batch() if price is not None and reply.in_batch else price
        cost = price.cost(reply.usage) if price else None
        return {
            **work.place_in_run(self.book),
            "key": key,
            "judge": judge,
            "reply": encode_plain_json(reply_to_json(reply)),
            "kept": "raw",
            "input_tokens": reply.usage.input,
            "output_tokens": reply.usage.output,
            "cached_tokens": reply.usage.cached,
            "cost": None if cost is None else str(cost),
            "attempts": reply.attempts,
            "seconds": reply.seconds,
            "failed": None,
            "cached_from": None,
        }


def run_reply_key(model: ChainedModel, request: Request, repeat: int) -> str:
    """A name for a question to a model: another text, setting, version, server, code or repeat is another name."""
    schema = request.schema
    form = "" if schema is None else _SCHEMA_DIGESTS.get((schema,), lambda: digest_run_parts(schema))
    asked = request.key(model.name, with_schema=False)
    parts = (asked, form, read_model_version(model), model.origin, model.source, str(repeat))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
