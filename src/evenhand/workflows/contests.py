"""What is stored of contests: events and record, what was refused and spent, whether one can be resumed; and their
housekeeping: loaded and deleted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from evenhand._version import __version__
from evenhand.contest.events import (
    ContestCreated,
    ContestEvent,
    contest_event_from_json,
    contest_event_json,
    contest_task_json,
)
from evenhand.contest.intake import SubmissionSetAside
from evenhand.contest.machine import RefusedEntry, apply_contest_event, explain_refused_entries, rebuild_contest_state
from evenhand.contest.play import AppendedContestEvent, ContestEventLog
from evenhand.contest.record import encode_contest_state
from evenhand.contest.state import PAYMENT_ID_START, ContestState
from evenhand.contest.task import Task, find_contest_author_fault, normalize_contest_author_name
from evenhand.errors import ContestError, Fault, InputError, StoreError
from evenhand.judging.results import JudgeCall, spending_to_json
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.budget import Spending, sum_reply_spending
from evenhand.models.connections import Connections
from evenhand.models.requests import Reply
from evenhand.store.contest_seals import hash_stored_contest_event, is_contest_sealed
from evenhand.store.contest_store import explain_clock_jump
from evenhand.store.database import NO_CONTESTS
from evenhand.store.queries import parse_stored_time
from evenhand.store.row_types import CHANGED_STORE_HINT, parse_stored_object
from evenhand.store.rows import Row, to_stored_json
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.wording import format_whole_duration
from evenhand.workflows.contest_replay import contest_call_json, replay_contest_answers
from evenhand.workflows.stores import StoreLike, open_user_store
from evenhand.workflows.webhooks import NO_HOOKS, ContestHooks, build_contest_webhook_messages

__all__ = [
    "NO_CONTESTS",
    "UserContestSession",
    "VerifiedContest",
    "build_contest_record_for_user",
    "build_user_contest_key",
    "delete_contests",
    "digest_user_contest_terms",
    "find_user_contest_to_resume",
    "find_user_rehearsal_to_resume",
    "load_contest",
    "load_contest_record_for_user",
    "merge_refusals_for_user",
    "open_contest_log_for_user",
    "read_repeated_contest_name",
    "set_aside_json_for_user",
    "verify_contest",
    "verify_contest_log_for_user",
]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class UserContestSession:
    """One process at work on one contest. What earlier ones refused and spent is taken over."""

    store: Store
    row: Row
    how: JudgeOptions
    connections: Connections
    holder: str = ""  # This process, unless it plays several contests at once.
    hooks: ContestHooks = NO_HOOKS
    longest_gap: timedelta | None = None  # That the clock may be away from the last sign of the contest.
    begins: bool = False  # The contest is written down with its first event, or not at all.
    calls: list[JudgeCall] = field(default_factory=list)  # That were made for the events of this session.

    def record_event(self, appended: AppendedContestEvent) -> None:
        """Write an event down with the calls that it rests on; beside the first, how judges are asked and of which
        task it is the contest.
        """
        event = appended.event
        said: object = [contest_call_json(one) for one in appended.calls]
        if isinstance(event, ContestCreated):
            how = requested_judge_options_json(self.how)
            said = {"how": how, "key": self.row["key"], "evenhand": __version__}
        self.calls.extend(appended.calls)
        texts = {"content": to_stored_json(contest_event_json(event)), "calls": to_stored_json(said)}
        row = {"contest": self.row["id"], "number": appended.number, "at": event.at.isoformat(), **texts}
        messages = self._build_messages(appended)
        if self.begins:
            self.store.contests.begin_contest(self.row, first=row, messages=messages)
        else:
            holder = self.holder or name_lock_process()
            gap = self.longest_gap
            self.store.contests.append_event(row, holder=holder, longest_gap=gap, messages=messages)

    def _build_messages(self, appended: AppendedContestEvent) -> list[Row]:
        """What others are told of an event; nobody else writes messages of a contest that is held."""
        if self.hooks == NO_HOOKS:
            return []
        sent = {} if self.begins else self.store.outbox.count_messages(self.row["id"])
        return build_contest_webhook_messages(self.row["id"], appended, self.hooks, self.store.now(), sent)

    def end_session(
        self, log: ContestEventLog, why: str, set_aside: Sequence[SubmissionSetAside] = (), *, waits: bool = False
    ) -> Json:
        """Let go of the contest; what it did not take, what was spent, why it stopped, whether it ran ahead of time."""
        more = self.summarize_session(log, why, set_aside)
        state, ended = "stopped" if why else "finished", self._read_moment().isoformat(timespec="milliseconds")
        kept, holder = to_stored_json({**more, "ended": ended, "waits": waits}), self.holder or name_lock_process()
        self.store.contests.release_contest(self.row["id"], state, ended, kept, holder=holder, seen=len(log.events))
        return more

    def summarize_session(self, log: ContestEventLog, why: str, set_aside: Sequence[SubmissionSetAside] = ()) -> Json:
        """What is kept beside the log of a contest that is let go."""
        last, ahead, clock = log.state.at, log.state.rehearsal, self._read_moment()
        # What all sittings together have spent; a cost is known where it is known of each.
        earlier = json.loads(self.row["summary"]) if self.row["summary"] else {}
        before, now = earlier.get("spent") or {}, spending_to_json(self._measure_spending())
        pairs = {name: (before.get(name, 0), now[name]) for name in now}
        return {
            "winner": log.state.winner,
            "ahead": last.isoformat() if last is not None and (ahead or last > clock) else None,
            "refused": merge_refusals_for_user(
                earlier.get("refused", []), explain_refused_entries(log.events, log.left_out), log.state
            ),
            "set_aside": set_aside_json_for_user(set_aside),
            "spent": {name: None if None in pair else sum(pair) for name, pair in pairs.items()},
            "spent_now": now,
            "stopped": why or None,
            **({"unchallengeable": True} if self._passed_over_challenges(log.state, earlier) else {}),
        }

    def _read_moment(self) -> datetime:
        """The time of the clock, or that of the last sign of the contest where the clock has jumped since."""
        now = self.store.now()
        if self.longest_gap is None:
            return now
        last = self.store.contests.find_contest(self.row["id"])["touched"]
        return parse_stored_time(last) if explain_clock_jump("", last, now, self.longest_gap) else now

    def _passed_over_challenges(self, state: ContestState, earlier: Json) -> bool:
        """Whether ranking and end came in one call, after the period: nobody had time to doubt the ranking."""
        at_once = state.phase == "closed" and not self.holder and not earlier.get("winner")
        doubtable = state.period_ends and state.required_task.challenge_period and not state.challenge
        return bool(earlier.get("unchallengeable") or (at_once and doubtable and not state.rehearsal))

    def _measure_spending(self) -> Spending:
        """All that this process spent, or where it plays several contests, what the events of this one rest on."""
        if not self.holder and not self.begins:
            return self.connections.spent
        replies = [(one.judge, one.reply) for one in self.calls if isinstance(one.reply, Reply)]
        return sum_reply_spending(replies, self.connections.price)


def merge_refusals_for_user(before: Sequence[Json], now: Sequence[RefusedEntry], state: ContestState) -> list[Json]:
    """What was refused in any sitting and not taken since; of the same one the first reason."""
    new = [{"id": one.id, "author": one.author, "at": one.at.isoformat(), "why": one.why} for one in now]
    found: dict[tuple[Any, ...], Json] = {}
    for one in (*before, *new):
        if one["id"] not in state.entries:
            found.setdefault((one["id"], one["author"], one["at"]), one)
    return list(found.values())


def set_aside_json_for_user(set_aside: Sequence[SubmissionSetAside]) -> list[Json]:
    """What came and could not be taken, for its author and for the operator."""
    return [{"file": one.file, "author": one.author, "why": one.why} for one in set_aside]


def load_contest_record_for_user(store: Store, id: str) -> Json:
    """The stable JSON of a kept contest."""
    row, events, _ = verify_contest_log_for_user(store, id)
    if not events:
        raise ContestError(Fault(f"contest {row['id']} was stopped before it began", "run it again"))
    if row["state"] == "running":
        stopped = None if store.contests.is_contest_held(row) else "it was killed"
        more: Json = {"ahead": None, "refused": [], "set_aside": [], "spent": None, "stopped": stopped}
    else:
        left_out = ("ended", "waits", "spent_now")  # For lists, but for what was told when it was spent.
        more = {name: value for name, value in json.loads(row["summary"]).items() if name not in left_out}
        more.setdefault("set_aside", [])  # Kept since submissions are set aside one by one.
    return build_contest_record_for_user(row, events, more)


def build_contest_record_for_user(row: Row, events: Sequence[ContestEvent], more: Json, *, newly: bool = False) -> Json:
    """The stable JSON of a contest: what its events say first, then what is kept beside them."""
    id: str = row["id"]
    again = read_repeated_contest_name(row["key"])
    record = {"id": id, **({} if again is None else {"again": again}), **encode_contest_state(events)}
    if record["payment"] is not None:
        is_rehearsal = record["payment"]["state"] == "rehearsal"
        known = {} if is_rehearsal else {"id": f"{PAYMENT_ID_START}{id}"}  # Older logs do not name it.
        record["payment"] |= {**known, "newly_released": newly}
    return record | {name: value for name, value in more.items() if name not in record}


def open_contest_log_for_user(store: Store, id: str) -> list[ContestEvent]:
    """The log of a contest, verified and played again; where it was changed or damaged, the event is named."""
    return verify_contest_log_for_user(store, id)[1]


def verify_contest_log_for_user(store: Store, id: str) -> tuple[Row, list[ContestEvent], list[str]]:
    """A contest, its events and their hashes; refused where anything does not fit what was written."""
    row, stored = store.contests.load_log(id)
    events: list[ContestEvent] = []
    state, head = ContestState(), ""
    for number, kept in enumerate(stored):
        name = f"event {kept['number']} of contest {row['id']}"
        if kept["number"] != number or kept["hash"] != (head := hash_stored_contest_event(head, kept)):
            raise _build_user_verification_error(store, f"{name} is not what was written, or one before it is missing")
        try:
            event = contest_event_from_json(json.loads(kept["content"]))
            state, _ = apply_contest_event(state, event)
        except (ContestError, ValueError) as problem:
            raise _build_user_verification_error(store, f"{name} cannot be read: {problem}") from None
        events.append(event)
    if state.contest not in ("", row["id"]):
        raise _build_user_verification_error(
            store, f"the log of contest {row['id']} is that of contest {state.contest}"
        )
    told = json.loads(stored[0]["calls"]) if stored else {}
    key = told.get("key", row["key"]) if isinstance(told, dict) else row["key"]  # Older logs do not say it.
    named = not events or (key, state.required_task.name) == (row["key"], row["name"])
    ended = row["state"] != "finished" or state.phase == "closed"
    if not is_contest_sealed(row, head) or not named or not ended:
        what = f"what is kept of contest {row['id']} beside its log was changed, or events at its end are missing"
        raise _build_user_verification_error(store, what)
    return row, events, [kept["hash"] for kept in stored]


def refuse_changed_payment_message(store: Store, message: Row) -> None:
    """A message says who is paid only if the verified log says the same; a StoreError where it does not.

    So does one under the id of a payment: whoever had heard it would take the payment's own for the same again.
    """
    body = parse_stored_object(message["body"]) or {}
    plain = to_stored_json(body) == message["body"]  # No key twice, of which another reader takes another value.
    tells = body.get("type") == "contest.payment" or message["kind"] == "payment"
    if plain and not tells and not message["id"].startswith(PAYMENT_ID_START):
        return
    row, events, _ = verify_contest_log_for_user(store, message["contest"])
    hooks = ContestHooks(payment=ContestHooks.from_json(row["hooks"], {}).payment)
    state = rebuild_contest_state(events)
    for number, event in enumerate(events):
        appended = AppendedContestEvent(number=number, event=event, calls=(), effects=(), state=state)
        for true in build_contest_webhook_messages(row["id"], appended, hooks, event.at, {}):
            same = all(true[name] == message[name] for name in ("id", "kind", "target"))
            if plain and same and {**json.loads(true["body"]), "sequence": body.get("sequence")} == body:
                return
    raise _build_user_verification_error(
        store, f"message {message['id']} tells of a payment that the log does not have"
    )


def _build_user_verification_error(store: Store, what: str) -> StoreError:
    return StoreError(Fault(what, CHANGED_STORE_HINT, where=store.shown))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedContest:
    """A contest whose log is what was written: how many events it has, the hash of the last, and what follows."""

    id: str
    events: int
    head: str
    state: str
    winner: str | None
    payment: str | None
    replayed: int  # Events whose answers are what their replies say.
    not_replayed: tuple[int, ...]  # Numbers of those that rest on replies which cannot be read again here.


def verify_contest(store: StoreLike, contest: str, head: str | None = None) -> VerifiedContest:
    """Play the log of a contest again, hash by hash, and read the replies behind it again; with `head`, hold its
    hashes against one noted elsewhere.
    """
    if head is not None and not _EVENT_HASH.fullmatch(head):
        hint = "64 characters of 0–9 and a–f, as contest verify prints it behind head"
        raise InputError(Fault(f"{head[:80]!r} is not the hash of an event", hint, where="--head"))
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        row, events, hashes = verify_contest_log_for_user(opened, contest)
        if head is not None and head not in hashes:
            raise _build_user_verification_error(opened, f"no event of contest {row['id']} has the hash {head}")
        replay = replay_contest_answers(events, [kept["calls"] for kept in opened.contests.load_log(row["id"])[1]])
        if replay.differing:
            numbers = ", ".join(map(str, replay.differing))
            what = f"the answers in event {numbers} of contest {row['id']} are not what the replies behind them say"
            raise _build_user_verification_error(opened, what)
        state = rebuild_contest_state(events)
        return VerifiedContest(
            id=row["id"],
            events=len(events),
            head=hashes[-1] if hashes else "",
            state=state.phase,
            winner=state.winner,
            payment=f"{PAYMENT_ID_START}{row['id']}" if state.released else None,
            replayed=replay.replayed,
            not_replayed=replay.left_out,
        )


LONGEST_TERM = 80
_EVENT_HASH = re.compile(r"[0-9a-f]{64}")


def find_user_contest_to_resume(store: Store, task: Task, how: JudgeOptions, again: str | None = None) -> Row | None:
    """The contest of a task; None where it has not begun. With other terms it is not gone on with."""
    key = build_user_contest_key(task, again)
    row = store.contests.find_contest_by_key(key)
    if row is None:
        store.contests.refuse_damaged_task(key)
    if row is not None and row["digest"] != digest_user_contest_terms(task, how):
        verify_contest_log_for_user(store, row["id"])  # Before anything is told of its terms.
        first = next(store.contests.stream_events(row["id"], calls=True), None)
        if first is None:  # It was killed before anything happened in it: nobody was asked on its terms.
            what = f"contest {row['id']} of {task.name!r} was begun on other terms, and nothing has happened in it"
            raise ContestError(Fault(what, f"evenhand contest delete {row['id']} lets it begin on these"))
        differing = _list_terms_changed_by_user(first, task, how)
        what = f"the contest of {task.name!r}, {row['id']}, has other terms: {', '.join(differing)}"
        hint = "--again NAME begins another one, with a payment of its own; another task needs another name"
        raise ContestError(Fault(what, hint))
    return row


def find_user_rehearsal_to_resume(store: Store, task: Task, how: JudgeOptions) -> Row | None:
    """The last rehearsal on the same terms."""
    digest = digest_user_contest_terms(task, how)
    rows = store.contests.list_contests(task.name)
    return next((row for row in rows if row["key"] is None and row["digest"] == digest), None)


def build_user_contest_key(task: Task, again: str | None) -> str:
    """What a task is known by: its name, and the name of a deliberate repetition."""
    if again is not None and (why := find_contest_author_fault(again)):
        raise ContestError(Fault(f"the name of another contest {why}", "as in --again second"))
    return to_stored_json([task.name, None if again is None else normalize_contest_author_name(again)])


def read_repeated_contest_name(key: str | None) -> str | None:
    """The name of a deliberate repetition, where a key has one."""
    name = None if key is None else json.loads(key)[1]
    return None if name is None else str(name)


def digest_user_contest_terms(task: Task, how: JudgeOptions) -> str:
    """A name for all that decides what judges are asked: answers to other questions are not ranked together."""
    return sha256(to_stored_json([contest_task_json(task), requested_judge_options_json(how)]).encode()).hexdigest()


def requested_judge_options_json(how: JudgeOptions) -> Json:
    """How judges are asked, as far as their answers depend on it; kept beside the first event."""
    settings = asdict(how.settings)
    return {**settings, "model_seed": settings["seed"], "language": how.language, "seed": how.seed}


def _list_terms_changed_by_user(first: Row | None, task: Task, how: JudgeOptions) -> list[str]:
    """In what the terms of a contest differ from those given; a task that names no dimensions leaves them open."""
    if first is None:
        return ["it never began"]
    before = {**json.loads(first["content"])["task"], **json.loads(first["calls"])["how"]}
    now = {**contest_task_json(task), **requested_judge_options_json(how)}
    names = [name for name in now if before.get(name) != now[name] and (name != "dimensions" or now[name] is not None)]
    differing = [
        f"{name} {_shorten_term_changed_by_user(name, before.get(name))}, "
        f"not {_shorten_term_changed_by_user(name, now[name])}"
        for name in names
    ]
    return differing or ["dimensions"]


def _shorten_term_changed_by_user(name: str, value: object) -> str:
    if name == "challenge_period" and isinstance(value, (int, float)):
        return format_whole_duration(value)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_TERM else f"{text[: LONGEST_TERM - 1]}…"


def load_contest(store: StoreLike, contest: str) -> Json:
    """The stable JSON of a contest: by its id, the beginning of one, "latest" or "latest:NAME"."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        return load_contest_record_for_user(opened, contest)


def delete_contests(store: StoreLike, contests: Sequence[str]) -> Iterator[str]:
    """Remove contests with all that belongs to them; the id of each as soon as it is gone."""
    with open_user_store(store, empty=NO_CONTESTS) as opened:
        for id in [opened.contests.find_contest(contest)["id"] for contest in contests]:
            opened.contests.delete_contest(id)
            opened.overwrite_removed()
            yield id
