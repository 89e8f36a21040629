"""Whether a contest can be gone on with: only where judges are asked the same questions in the same way."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from evenhand.contest import Task, task_json
from evenhand.errors import ContestError, Fault
from evenhand.judging import How
from evenhand.runs.store import Row, Store, compact

Json = dict[str, Any]
LONGEST = 80


def to_resume(store: Store, task: Task, how: How) -> Row | None:
    """The last contest of the same task; None where there is none. One with other terms is not gone on with."""
    rows, digest = store.contests.all(task.name), digest_of(task, how)
    found = next((row for row in rows if row["digest"] == digest), None)
    if rows and found is None:
        differing = _differing(next(store.contests.events(rows[0]["id"], calls=True), None), task, how)
        what = f"the last contest of {task.name!r}, {rows[0]['id']}, has other terms: {', '.join(differing)}"
        raise ContestError(Fault(what, "leave --resume out to begin a new one"))
    return found


def digest_of(task: Task, how: How) -> str:
    """A name for all that decides what judges are asked: answers to other questions are not ranked together."""
    return sha256(compact([task_json(task), how_json(how)]).encode()).hexdigest()


def how_json(how: How) -> Json:
    """How judges are asked, as far as their answers depend on it; kept beside the first event."""
    settings = asdict(how.settings)
    return {**settings, "model_seed": settings["seed"], "language": how.language, "seed": how.seed}


def _differing(first: Row | None, task: Task, how: How) -> list[str]:
    """In what the terms of a contest differ from those given; a task that names no dimensions leaves them open."""
    if first is None:
        return ["it never began"]
    before = {**json.loads(first["content"])["task"], **json.loads(first["calls"])["how"]}
    now = {**task_json(task), **how_json(how)}
    names = [name for name in now if before.get(name) != now[name] and (name != "dimensions" or now[name] is not None)]
    return [f"{name} {_short(before.get(name))}, not {_short(now[name])}" for name in names] or ["dimensions"]


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
