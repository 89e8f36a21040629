"""What judges have answered before: nothing is asked twice, and what is asked is kept before it counts."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from evenhand.errors import BudgetError, ModelError
from evenhand.guards import masked
from evenhand.judging import Model, Reply, Request, Usage, version_of
from evenhand.judging.models import reply_from, reply_json
from evenhand.model import Kept
from evenhand.runs._book import Book
from evenhand.runs._eval import Keep
from evenhand.runs._setup import digest_of
from evenhand.runs._turns import Turns
from evenhand.runs._work import Work
from evenhand.runs.store import Row, compact

Cost = Callable[[str, Usage], Decimal | None]
AT_ONCE = 500  # Replies that are let go together: all of a large run would not fit.
_FORMS: Kept[str] = Kept()  # Digests of schemas: all questions about a rubric share one, as long as half of them.


class Memory:
    """Replies by the full content of what was asked. A repeat is another question, and `fresh` asks all anew."""

    def __init__(self, book: Book, cost: Cost, turns: Turns, *, fresh: bool = False) -> None:
        self._book = book
        self._cost = cost
        self._turns = turns
        self._fresh = fresh
        self._under_way: dict[str, asyncio.Future[Reply]] = {}
        self._has_forgotten = False
        self.spent: BudgetError | None = None  # Set once the budget does not reach: nothing more should be started.

    async def ask(self, model: Model, request: Request, work: Work) -> Reply:
        """The reply of a model: a kept one, one that is on its way to somebody else, or a new one."""
        key = key_of_call(model, request, work.repeat)
        work.keys.append(key)
        try:
            return await self._answer(key, model, request, work)
        except (ModelError, asyncio.CancelledError):  # A deadline cancels what it does not wait for any more.
            work.unanswered += 1
            raise

    async def settle(self) -> None:
        """Wait for calls that a piece left behind when another of its calls was cancelled: they are paid for."""
        await self._turns.settle()

    async def forget_finished(self, is_finished: Callable[[int, int], bool], keep: Keep) -> None:
        """Let raw replies go, masked or altogether, by position and repeat of pieces whose results are all kept.

        Only where a sitting ends, or begins after one that was killed: until then an equal question needs its reply.
        """
        self._has_forgotten = True
        raw = (row for row in self._book.store.calls(self._book.run) if row["kept"] == "raw" and row["reply"])
        done = (row for row in raw if is_finished(row["position"], row["repeat"]))
        while some := list(islice(done, AT_ONCE)):
            await self._drop(some, keep)

    async def _drop(self, rows: Iterable[Row], keep: Keep) -> None:
        drops = (
            {"run": row["run"], "key": row["key"], "reply": _masked(row["reply"]) if keep == "masked" else None}
            for row in rows
        )
        await asyncio.gather(*(self._book.keep("drop", {**drop, "kept": keep}) for drop in drops))

    async def _answer(self, key: str, model: Model, request: Request, work: Work) -> Reply:
        while (waiting := self._under_way.get(key)) is not None:
            try:
                return await asyncio.shield(waiting)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not waiting.cancelled() or (task is not None and task.cancelling()):
                    raise
                # Whoever asked has given up; we have not.
        kept = await self._kept(key, work)
        if kept is not None:
            return kept
        return await self._asked(key, model, request, work)

    async def _kept(self, key: str, work: Work) -> Reply | None:
        found = self._book.store.cached([key], run=self._book.run if self._fresh else None).get(key)
        if found is None:
            return None
        if found["run"] != self._book.run:  # The run keeps its own copy, so that it stands when the other is deleted.
            copy = {**found, **self._place(work), "cost": None, "cached_from": found["run"]}
            await self._book.keep("calls", copy)
        return reply_from(json.loads(found["reply"]))

    async def _asked(self, key: str, model: Model, request: Request, work: Work) -> Reply:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Reply] = loop.create_future()
        answer.add_done_callback(_seen)
        self._under_way[key] = answer
        began = loop.time()
        try:
            reply = await self._turns.take(lambda: model.ask(request))
            self._set_forgotten_aside(key)
            await self._book.keep("calls", self._row(key, model.name, work, reply))
        except ModelError as error:
            if isinstance(error, BudgetError):
                self.spent = error
            else:
                await self._book.keep("calls", self._failed(key, model.name, work, error, loop.time() - began))
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

    def _set_forgotten_aside(self, key: str) -> None:
        """A call whose reply an earlier sitting let go was paid for too: its row makes room under another key."""
        before = self._book.store.calls_by_key(self._book.run, [key]).get(key) if self._has_forgotten else None
        if before is not None and before["failed"] is None and before["cached_from"] is None:
            self._book.keep("calls", {**before, "key": f"{key} {before['at']}"})  # In the queue before the new one.

    def _row(self, key: str, judge: str, work: Work, reply: Reply) -> Row:
        cost = None if reply.recorded else self._cost(judge, reply.usage)
        return {
            **self._place(work),
            "key": key,
            "judge": judge,
            "reply": compact(reply_json(reply)),
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

    def _failed(self, key: str, judge: str, work: Work, error: ModelError, seconds: float) -> Row:
        row = self._row(key, judge, work, Reply(text="", seconds=seconds))
        return {**row, "reply": None, "kept": "none", "failed": str(error)}

    def _place(self, work: Work) -> Row:
        return {
            "run": self._book.run,
            "position": work.position,
            "variant": work.variant,
            "repeat": work.repeat,
            "at": self._book.now(),
        }


class Remembered:
    """A model that is asked through the memory, for one piece of work."""

    def __init__(self, model: Model, memory: Memory, work: Work) -> None:
        self.name = model.name
        self._model = model
        self._memory = memory
        self._work = work

    @property
    def version(self) -> str:
        """That of the model behind it."""
        return version_of(self._model)

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        return await self._memory.ask(self._model, request, self._work)


def key_of_call(model: Model, request: Request, repeat: int) -> str:
    """A name for a question to a model: another text, setting, version, server, code or repeat is another name."""
    schema = request.schema
    form = "" if schema is None else _FORMS.get((schema,), lambda: digest_of(schema))
    asked = request if schema is None else replace(request, schema=None)
    behind = (str(getattr(model, name, "")) for name in ("origin", "source"))
    parts = (asked.key(model.name), form, version_of(model), *behind, str(repeat))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _masked(reply: str) -> str:
    data = json.loads(reply)
    return compact({**data, "text": masked(data["text"]), "places": []})


def _seen(answer: asyncio.Future[Reply]) -> None:
    """Look at an error, so that nobody is warned of one that whoever asked has been told."""
    if not answer.cancelled():
        answer.exception()
