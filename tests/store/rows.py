"""Rows that a store takes; a test names only what it is about."""

from hashlib import sha256
from typing import Any

from evenhand.store.contest_seals import seal_contest_row

RUN = "20261116-051233-ab12cd"
CONTEST = "20261116-071500-c0ffee"
Row = dict[str, Any]


def run_row(**changed: object) -> Row:
    return {
        "id": RUN, "name": "support", "digest": "d1", "state": "running", "started": "2026-11-16T05:12:33+00:00",
        "ended": None, "seed": 7, "fingerprint": "f1", "keep": "raw", "source": "name: support\n", "setup": '{"a":1}',
        "summary": None, "taken_from": None, "holder": None, "imported": None, **changed,
    }  # fmt: skip


def sample_row(position: int = 0, **changed: object) -> Row:
    return {"run": RUN, "position": position, "id": f"s{position}", "content": '{"input":"hé"}', **changed}


def result_row(position: int = 0, variant: str = "control", repeat: int = 0, **changed: object) -> Row:
    return {
        "run": RUN, "position": position, "variant": variant, "repeat": repeat, "key": key(position, variant, repeat),
        "state": "scored", "subject": f"s{position}", "score": "7/3", "composite": None, "number": 7 / 3,
        "content": '{"steps":[]}', "at": "2026-11-16T05:12:40+00:00", **changed,
    }  # fmt: skip


def call_row(position: int = 0, **changed: object) -> Row:
    return {
        "run": RUN, "key": key("call", position), "judge": "openai/gpt", "position": position, "variant": "control",
        "repeat": 0, "reply": '{"text":"7"}', "kept": "raw", "input_tokens": 10, "output_tokens": 2,
        "cached_tokens": None, "cost": "0.00031", "attempts": 1, "seconds": 0.1, "failed": None, "cached_from": None,
        "at": "2026-11-16T05:12:39+00:00", **changed,
    }  # fmt: skip


def made_row(position: int = 0, **changed: object) -> Row:
    return {
        "run": RUN, "key": key("made", position), "position": position, "variant": "live", "repeat": 0,
        "content": '{"text":"out"}', "at": "2026-11-16T05:12:38+00:00", **changed,
    }  # fmt: skip


def label_row(sample: str = "s0", rater: str = "ann", **changed: object) -> Row:
    return {
        "run": RUN, "sample": sample, "variant": "control", "criterion": "accuracy", "rater": rater, "score": "4/1",
        "at": "2026-11-16T06:00:00+00:00", "output": None, "chance": None, "batch": None, "schema": None, **changed,
    }  # fmt: skip


def contest_row(**changed: object) -> Row:
    """A contest in which nothing has happened, with the seal that it has then."""
    row: Row = {
        "id": CONTEST, "name": "slogan", "digest": "d1", "state": "running", "started": "2026-11-16T07:15:00+00:00",
        "ended": None, "touched": "2026-11-16T07:15:00.000+00:00", "holder": None, "summary": None,
        "source": "name: slogan\n", "key": None, "hooks": None, "wakes": None, **changed,
    }  # fmt: skip
    return {"seal": seal_contest_row("", row), **row}


def event_row(number: int = 0, **changed: object) -> Row:
    return {
        "contest": CONTEST, "number": number, "at": f"2026-12-01T18:00:{number:02d}+00:00",
        "content": f'{{"event":"submitted","id":"é{number}"}}', "calls": '[{"reply":"7"}]', **changed,
    }  # fmt: skip


def key(*parts: object) -> str:
    return sha256(repr(parts).encode()).hexdigest()


def evaluation_row(id: str = "20261116-081500-e7a100", **changed: object) -> Row:
    return {
        "id": id, "subject": "release-notes", "at": "2026-11-16T08:15:00.000+00:00", "fingerprint": "f1",
        "digest": "d1", "content": '{"score":"7/1"}', **changed,
    }  # fmt: skip
