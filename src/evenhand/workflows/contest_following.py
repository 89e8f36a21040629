"""What is known of contests that others hand in to: verified once, then followed event by event, row by row.

Whoever hands in, or looks, would else have the whole log verified and played again. Before anything is paid, and by
`evenhand contest verify`, it is: what is known here decides what is taken and shown, and nothing else.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from evenhand.contest.events import ContestEvent, contest_event_from_json
from evenhand.contest.machine import apply_contest_event, rebuild_contest_state, refuse_submission
from evenhand.contest.state import ContestEntry, ContestState
from evenhand.contest.task import Submission
from evenhand.errors import ContestError
from evenhand.store.contest_queues import ContestPosition, StoredContestNews
from evenhand.store.contest_seals import hash_stored_contest_event, is_contest_sealed, list_sealed_row_parts
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.contests import verify_contest_log_for_user

MOST_FOLLOWED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestWorkflowForecast:
    """A contest once all that was received for it is in its log; nobody is asked for that."""

    state: ContestState = field(default_factory=ContestState)
    challenges: tuple[Row, ...] = ()

    def with_submission(self, given: Submission) -> ContestWorkflowForecast:
        """The same with one more."""
        state = self.state.with_entries(ContestEntry(submission=given))
        return replace(self, state=replace(state, at=given.at))

    def with_row(self, row: Row) -> ContestWorkflowForecast:
        """The same with a row of the inbox; what would be refused changes nothing."""
        if row["kind"] == "challenge":
            return replace(self, challenges=(*self.challenges, row))
        if self.state.phase == "open":
            given = load_inbox_submission(row)
            with suppress(ContestError):
                refuse_submission(self.state, given)
                return self.with_submission(given)
        return self


@dataclass(slots=True)
class FollowContestWorkflow:
    """A contest as far as it was followed: its log, and what was received and is not in the log yet."""

    id: str
    events: list[ContestEvent]
    state: ContestState
    head: str = ""
    place: ContestPosition = field(default_factory=ContestPosition)
    waiting: dict[str, Row] = field(default_factory=dict)  # Submissions, by id.
    foreseen: ContestWorkflowForecast = field(default_factory=ContestWorkflowForecast)
    _sealed: tuple[object, ...] = ()  # What was last found to fit: the head, the seal and what it seals.
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def follow_news(self, store: Store, news: StoredContestNews) -> None:
        """Take in what has happened and come since; where that does not fit, the log is verified from its beginning."""
        with self._lock:
            before = self.state
            fits = all(self._add_event(row) for row in news.events)
            if not fits or not self._is_sealed(news.contest):
                self._verify_all(store)
            if self.state is not before:
                self.waiting = {id: row for id, row in self.waiting.items() if id not in self.state.entries}
                self.foreseen = replace(self.foreseen, state=self.state)
                for row in self.waiting.values():
                    self.foreseen = self.foreseen.with_row(row)
            self._add_rows(news.inbox)
            seal, happened = news.contest["seal"], self.state.at
            self.place = replace(self.place, seal=seal, events=len(self.events), happened=happened)

    def _is_sealed(self, row: Row) -> bool:
        """Whether the row of the contest fits its log; one that is as it was is not hashed again."""
        parts = self.head, row["seal"], list_sealed_row_parts(row)
        if parts != self._sealed and is_contest_sealed(row, self.head):
            self._sealed = parts
        return parts == self._sealed

    def follow_received(
        self, rows: Sequence[Row], before: ContestWorkflowForecast, after: ContestWorkflowForecast
    ) -> None:
        """Take in rows that were just received here, upon what was foreseen before them, and what is since."""
        with self._lock:
            if self.foreseen is before and self.place.inbox == rows[0]["number"]:
                self.waiting |= {row["id"]: row for row in rows if row["kind"] == "submission"}
                self.foreseen = after
                self._note_last(rows[-1])
            else:
                self._add_rows(rows)

    def _add_rows(self, rows: Sequence[Row]) -> None:
        for row in rows:
            if row["number"] < self.place.inbox:  # Somebody else here was faster.
                continue
            if row["kind"] == "challenge" or row["id"] not in self.state.entries:
                self.foreseen = self.foreseen.with_row(row)
            if row["kind"] == "submission" and row["id"] not in self.state.entries:
                self.waiting[row["id"]] = row
            self._note_last(row)

    def _note_last(self, row: Row) -> None:
        self.place = replace(self.place, inbox=row["number"] + 1, last=datetime.fromisoformat(row["at"]))

    def _add_event(self, row: Row) -> bool:
        """Whether an event follows upon the last one, or was known before."""
        if row["number"] < len(self.events):
            return True
        head = hash_stored_contest_event(self.head, row)
        if row["number"] != len(self.events) or row["hash"] != head:
            return False
        event = contest_event_from_json(json.loads(row["content"]))
        self.state, _ = apply_contest_event(self.state, event)
        self.events.append(event)
        self.head = head
        return True

    def _verify_all(self, store: Store) -> None:
        _, self.events, hashes = verify_contest_log_for_user(store, self.id)
        self.state, self.head = rebuild_contest_state(self.events), hashes[-1] if hashes else ""


def load_inbox_submission(row: Row) -> Submission:
    """The submission in a row of the inbox."""
    content, at = json.loads(row["content"]), datetime.fromisoformat(row["at"])
    given = {name: content[name] for name in ("text", "revises")}
    return Submission(id=row["id"], author=row["author"], at=at, **given)


_FOLLOWED: OrderedDict[tuple[str, str], FollowContestWorkflow] = OrderedDict()
_FOLLOWED_LOCK = threading.Lock()


def follow_contest(store: Store, contest: str) -> FollowContestWorkflow:
    """A contest as this process knows it, by its id or whatever else names it; verified when it is met first."""
    known = _load_followed_contest(store, contest)
    if known is not None:
        return known
    id = store.contests.find_contest(contest)["id"]
    known = _load_followed_contest(store, id)
    if known is None:
        row, events, hashes = verify_contest_log_for_user(store, id)
        known = FollowContestWorkflow(id, events, rebuild_contest_state(events), hashes[-1] if hashes else "")
        known.foreseen = ContestWorkflowForecast(state=known.state)
        known.place = ContestPosition(seal=row["seal"], events=len(events), happened=known.state.at)
        with _FOLLOWED_LOCK:
            known = _FOLLOWED.setdefault((str(store.address), id), known)
            while len(_FOLLOWED) > MOST_FOLLOWED:
                _FOLLOWED.popitem(last=False)
    return known


def _load_followed_contest(store: Store, id: str) -> FollowContestWorkflow | None:
    key = str(store.address), id
    with _FOLLOWED_LOCK:
        if key in _FOLLOWED:
            _FOLLOWED.move_to_end(key)
        return _FOLLOWED.get(key)
