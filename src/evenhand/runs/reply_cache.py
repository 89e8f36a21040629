"""Replies of models kept by the full content of the request, so that nothing is asked twice; and the queue of
calls at a budget.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice
from typing import TypeVar

from evenhand.errors import BudgetError, ModelError
from evenhand.evals.eval_definition import KeepReplies
from evenhand.guards.personal_data import mask_personal_data
from evenhand.model.rubric import IdentityCache
from evenhand.models.middleware import CallNext, ChainedModel
from evenhand.models.recording import reply_from_json, reply_to_json
from evenhand.models.requests import Reply, Request, TokenUsage
from evenhand.runs.run_record import RunRecorder, RunWork
from evenhand.runs.setup import digest_run_parts
from evenhand.store.rows import Row, to_stored_json

ReplyCostFunction = Callable[[str, TokenUsage], Decimal | None]
REPLIES_PER_DROP = 500  # Replies that are let go together: all of a large run would not fit.
# Digests of schemas: all questions about a rubric share one, as long as half of them.
_SCHEMA_DIGESTS: IdentityCache[str] = IdentityCache()


@dataclass(slots=True)
class ReplyCache:
    """Replies by the full content of what was asked. A repeat is another question, and `fresh` asks all anew."""

    book: RunRecorder
    cost: ReplyCostFunction
    turns: RunBudgetQueue
    fresh: bool = False
    spent: BudgetError | None = None  # Set once the budget does not reach: nothing more should be started.
    _under_way: dict[str, asyncio.Future[Reply]] = field(default_factory=dict)
    _has_forgotten: bool = False

    async def ask_once(self, model: ChainedModel, work: RunWork, request: Request, call_next: CallNext) -> Reply:
        """Middleware, bound to a model and a piece of work: passes on only what was never asked."""
        key = reply_key(model, request, work.repeat)
        work.keys.append(key)
        try:
            return await self._find_or_ask(key, model.name, work, lambda: call_next(request))
        except (ModelError, asyncio.CancelledError):  # A deadline cancels what it does not wait for any more.
            work.unanswered += 1
            raise

    async def _find_or_ask(self, key: str, judge: str, work: RunWork, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """The reply of a model: a kept one, one that is on its way to somebody else, or a new one."""
        while (waiting := self._under_way.get(key)) is not None:
            try:
                return await asyncio.shield(waiting)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not waiting.cancelled() or (task is not None and task.cancelling()):
                    raise
                # Whoever asked has given up; we have not.
        found = self.book.store.find_cached_replies([key], run=self.book.run if self.fresh else None).get(key)
        if found is None:
            return await self._ask_and_record(key, judge, work, ask)
        if found["run"] != self.book.run:  # The run keeps its own copy, so that it stands when the other is deleted.
            copy = {**found, **self._work_columns(work), "cost": None, "cached_from": found["run"]}
            await self.book.writer.put("calls", copy)
        return reply_from_json(json.loads(found["reply"]))

    async def drop_finished_replies(self, is_finished: Callable[[int, int], bool], keep: KeepReplies) -> None:
        """Let raw replies go, masked or altogether, by position and repeat of pieces whose results are all kept.

        Only where a sitting ends, or begins after one that was killed: until then an equal question needs its reply.
        """
        self._has_forgotten = True
        raw = (row for row in self.book.store.calls(self.book.run) if row["kept"] == "raw" and row["reply"])
        done = (row for row in raw if is_finished(row["position"], row["repeat"]))
        while some := list(islice(done, REPLIES_PER_DROP)):
            masked = [_mask_cached_reply(row["reply"]) if keep == "masked" else None for row in some]
            drops = [
                {"run": row["run"], "key": row["key"], "reply": reply, "kept": keep}
                for row, reply in zip(some, masked, strict=True)
            ]
            await asyncio.gather(*(self.book.writer.put("drop", drop) for drop in drops))

    async def _ask_and_record(self, key: str, judge: str, work: RunWork, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        # Look at an error, so that nobody is warned of one that whoever asked has been told.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._under_way[key] = answer
        began = loop.time()
        try:
            reply = await ask()
            if self._has_forgotten:
                self._rename_dropped_call(key)
            await self.book.writer.put("calls", self._call_row(key, judge, work, reply))
        except ModelError as error:
            if isinstance(error, BudgetError):
                self.spent = error
            else:
                row = self._call_row(key, judge, work, Reply(text="", seconds=loop.time() - began))
                failed = {**row, "reply": None, "kept": "none", "failed": str(error)}
                await self.book.writer.put("calls", failed)
            answer.set_exception(error)
            raise
        except BaseException:
            answer.cancel()
            raise
        else:
            answer.set_result(reply)
            return reply
        finally:
            del self._under_way[key]

    def _rename_dropped_call(self, key: str) -> None:
        """A call whose reply an earlier sitting let go was paid for too: its row makes room under another key."""
        before = self.book.store.calls_by_key(self.book.run, [key]).get(key)
        if before is not None and before["failed"] is None and before["cached_from"] is None:
            # In the queue before the new one.
            self.book.writer.put("calls", {**before, "key": f"{key} {before['at']}"})

    def _call_row(self, key: str, judge: str, work: RunWork, reply: Reply) -> Row:
        cost = None if reply.recorded else self.cost(judge, reply.usage)
        return {
            **self._work_columns(work),
            "key": key,
            "judge": judge,
            "reply": to_stored_json(reply_to_json(reply)),
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

    def _work_columns(self, work: RunWork) -> Row:
        return {
            "run": self.book.run,
            "position": work.position,
            "variant": work.variant,
            "repeat": work.repeat,
            "at": self.book.now(),
        }


def reply_key(model: ChainedModel, request: Request, repeat: int) -> str:
    """A name for a question to a model: another text, setting, version, server, code or repeat is another name."""
    schema = request.schema
    form = "" if schema is None else _SCHEMA_DIGESTS.get((schema,), lambda: digest_run_parts(schema))
    asked = request if schema is None else replace(request, schema=None)
    parts = (asked.key(model.name), form, model.version, model.origin, model.source, str(repeat))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _mask_cached_reply(reply: str) -> str:
    data = json.loads(reply)
    return to_stored_json({**data, "text": mask_personal_data(data["text"]), "places": []})


A = TypeVar("A")
T = TypeVar("T")


@dataclass(slots=True)
class RunBudgetQueue:
    """A call sets aside the most it may cost, and many are under way at once: the money is spent when none is."""

    _under_way: int = 0
    _freed: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait_for_budget(self, request: A, call_next: Callable[[A], Awaitable[T]]) -> T:
        """Middleware: what a call gives; a BudgetError only where no other call could leave enough for it."""
        while True:
            self._under_way += 1
            refused = False
            try:
                return await call_next(request)
            except BudgetError:
                refused = True
                if self._under_way == 1:
                    raise
            finally:
                self._under_way -= 1
                if not refused:  # Wake those who wait, and have the next ones wait for the next call.
                    self._freed.set()
                    self._freed = asyncio.Event()
            await self._freed.wait()

    async def wait_until_idle(self) -> None:
        """Wait for all that is under way, also where whoever asked has left."""
        while self._under_way:
            await self._freed.wait()
