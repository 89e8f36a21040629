"""What others are told of a contest: its payment, its state for the operator, and feedback for its authors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from evenhand.contest.events import CloseContest, NotifySubmitter, PaymentReleased
from evenhand.contest.play import AppendedContestEvent
from evenhand.store.rows import Row, to_stored_json

Json = dict[str, Any]
# What an operator is told of as it happens; what happens to one submission is told to its author.
_TOLD_EVENTS = ("created", "deadline_reached", "ranked", "challenged", "resolved")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestHooks:
    """Where to send what is told: addresses of the operator, and of authors by submission."""

    payment: str | None = None
    operator: str | None = None
    authors: Mapping[str, str] = field(default_factory=dict)  # By id of the submission.

    def to_json(self) -> Json:
        """What is kept with the contest; authors' addresses come with their submissions."""
        return {"payment": self.payment, "operator": self.operator}

    @classmethod
    def from_json(cls, text: str | None, authors: Mapping[str, str]) -> ContestHooks:
        """As a contest keeps them."""
        kept = json.loads(text) if text else {}
        return cls(payment=kept.get("payment"), operator=kept.get("operator"), authors=authors)


NO_HOOKS = ContestHooks()


def build_contest_messages(
    contest: str, appended: AppendedContestEvent, hooks: ContestHooks, at: datetime, sent: Mapping[str, int]
) -> list[Row]:
    """The rows of the outbox that an event brings; the id of each is the same however often it is written.

    `sent` has how many messages of the contest each address was sent before. They are numbered by that: the number of
    the event would tell an author how much others do.
    """
    rows, now, numbers = [], at.isoformat(), dict(sent)
    for place, (kind, target, key, about) in enumerate(_list_contest_messages(appended, hooks)):
        number = numbers[target] = numbers.get(target, 0) + 1
        order = {"sequence": number, "at": appended.event.at.isoformat()}
        body = {"type": f"contest.{kind}", "contest": contest, **order, **about}
        plain = f"{contest}-{appended.number}-{place}"
        if kind == "feedback":
            plain = f"{contest}-{sha256(target.encode()).hexdigest()[:12]}-{number}"
        id = key or plain
        times = {"made": now, "due": now, "delivered": None, "failure": None, "attempts": 0}
        rows.append(
            {"id": id, "kind": kind, "target": target, "state": "pending", **times, "body": to_stored_json(body)}
        )
    return rows


def _list_contest_messages(
    appended: AppendedContestEvent, hooks: ContestHooks
) -> Iterator[tuple[str, str, str | None, Json]]:
    """Kind, target, key where it has one of its own, and body of each message."""
    event, state = appended.event, appended.state
    if isinstance(event, PaymentReleased) and hooks.payment and state.winner is not None:
        winner = state.entries[state.winner].submission
        about = {"submission": winner.id, "author": winner.author, "reward": state.required_task.reward}
        yield "payment", hooks.payment, event.payment, {"payment": event.payment, **about}
    if hooks.operator and (
        event.kind in _TOLD_EVENTS or any(isinstance(one, CloseContest) for one in appended.effects)
    ):
        yield "state", hooks.operator, None, {"event": event.kind, "state": state.phase, "winner": state.winner}
    for effect in appended.effects:
        if isinstance(effect, NotifySubmitter) and (target := hooks.authors.get(effect.submission)):
            told = {"submission": effect.submission, "author": effect.author, "status": effect.status}
            yield "feedback", target, None, {**told, "feedback": list(effect.feedback)}
