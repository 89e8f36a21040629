"""A contest played over real HTTP into a real store, in a few words."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from evenhand import Connections, Contest, ContestResult, Limits, Submission, Task, run_contest
from evenhand.contest.task import Challenge
from evenhand.store.store import Store
from tests.contest.answering import answer
from tests.contest.building import hour

Json = dict[str, Any]
QUICK = Limits(retries=0)


def handed_in(*worths: int, **more: str) -> list[Submission]:
    """One submission per author, an hour apart; `more` are texts by id."""
    texts = {f"s{number}": f"It is worth {worth}." for number, worth in enumerate(worths, start=1)} | more
    return [
        Submission(id=id, author=f"author of {id}", at=hour(number / 10), text=text)
        for number, (id, text) in enumerate(texts.items(), start=1)
    ]


def play(
    task: Task,
    submissions: Sequence[Submission],
    store: Store,
    challenges: Sequence[Challenge] = (),
    *,
    until: datetime | None = None,
    again: str | None = None,
    **more: Any,
) -> ContestResult:
    async def go() -> ContestResult:
        async with Connections(os.environ, limits=QUICK) as connections:
            contest = Contest(task=task, submissions=submissions, challenges=challenges, until=until, again=again)
            return await run_contest(contest, connections=connections, store=store, **more)

    return asyncio.run(go())


def statuses(record: Json) -> dict[str, str]:
    return {one["id"]: one["status"] for one in record["submissions"]}


def contrary(body: Json) -> str:
    """A judge who finds 75 better than 81."""
    reply = json.loads(answer(body))
    for said in reply["submissions"].values():
        said["score"] = 156 - said["score"]
    return json.dumps(reply)
