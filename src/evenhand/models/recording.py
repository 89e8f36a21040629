"""Replies recorded in a file, one per line, and replayed later without asking any model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from evenhand.errors import Fault, InputError, JudgeError, RefusedError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape, read_json_string
from evenhand.files.private_files import open_private_bytes_file
from evenhand.models.model_names import is_local_model_file
from evenhand.models.requests import EMBEDDED, CallNext, Reply, Request, TokenLogprobs, read_provider_object

_BEGINNING = b'{"key": "'


class ModelReplyRecorder:
    """Writes replies to the end of a file, whole lines only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.hide: Callable[[Reply], Reply] | None = None  # What every reply is put through before it is written.
        with suppress(OSError), path.open("rb") as file:
            # A record is written on; anything else is not ours to write on.
            if not _BEGINNING.startswith(file.read(len(_BEGINNING))):
                raise JudgeError(Fault("it exists and is not a record", "name another file", where=str(path)))
        try:
            # Unbuffered and appending: a line is in the file before the next question, whoever else writes there.
            self._file = open_private_bytes_file(path, "ab", buffering=0)
            with path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - 1))
                self._unfinished = file.read(1) not in (b"", b"\n")
        except OSError as problem:
            raise JudgeError(
                Fault(f"cannot be written: {_explain_model_recording_error(problem)}", where=str(path))
            ) from None

    def write_reply_line(self, name: str, request: Request, reply: Reply) -> None:
        """Write one reply down."""
        if self.hide is not None:
            reply = replace(self.hide(reply), places=())
        entry = {
            "key": request.key(name),
            "model": name,
            "dialogue": request.dialogue,
            "reply": reply_to_json(reply),
        }
        line = (b"\n" if self._unfinished else b"") + json.dumps(entry).encode() + b"\n"
        try:
            written = self._file.write(line)
        except OSError as problem:
            raise RefusedError(
                f"the record {self._path} cannot be written: {_explain_model_recording_error(problem)}", always=True
            ) from None
        self._unfinished = written != len(line)
        if self._unfinished:
            raise RefusedError(f"the record {self._path} cannot be written: the disk is full", always=True)

    async def ask_and_record_reply(self, name: str, request: Request, call_next: CallNext) -> Reply:
        """Middleware that writes every reply down."""
        reply = await call_next(request)
        self.write_reply_line(name, request, reply)
        return reply

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ModelReplyRecord:
    """The replies of a file, found by what was asked. Of two to the same request the first counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._replies: dict[str, Reply] = {}
        self._models: dict[str, str] = {}
        self._cut: Fault | None = None  # The last line that breaks off.
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    self._take(number, line)
        except OSError as problem:
            raise JudgeError(
                Fault(f"cannot be read: {_explain_model_recording_error(problem)}", where=str(path))
            ) from None
        if not self._replies:
            hint = "is this a file that --record wrote?"
            raise JudgeError(self._cut or Fault("there is no reply in this record", hint, where=str(path)))

    @property
    def cut(self) -> str:
        """Which line breaks off, in words; empty where none does."""
        return f"{self._cut.where}: {self._cut.what}" if self._cut else ""

    @property
    def models(self) -> tuple[str, ...]:
        """Whose replies these are."""
        return tuple(self._models)

    def version(self, name: str) -> str:
        """What the first reply of a model calls it, beyond its name."""
        return self._models.get(name, "").removeprefix(name).strip()

    def find(self, request: Request, model: str | None = None) -> Reply | None:
        """The reply to a request: of the model named, or of whichever has answered it."""
        names: Iterable[str] = self._models if model is None else (model,)
        return next((reply for name in names if (reply := self._replies.get(request.key(name)))), None)

    def _take(self, number: int, line: bytes) -> None:
        line = line.strip()
        if not line:
            return
        try:
            entry = read_provider_object(json.loads(line))
            key, model = read_json_string(entry["key"]), read_json_string(entry["model"])
            reply = model_reply_from_json(entry["reply"])
        except (ValueError, KeyError, RecursionError, InputError) as problem:
            if isinstance(problem, json.JSONDecodeError) and line.startswith(_BEGINNING[: len(line)]):
                # Whoever wrote this line was stopped in the middle of it: what was recorded before and after it counts.
                self._cut = Fault(
                    f"the line breaks off at column {len(line.decode('utf-8', 'replace')) + 1}",
                    "record again: whoever wrote it was stopped",
                    where=f"{self.path}:{number}",
                )
                return
            hint = "is this a file that --record wrote?"
            what, where = "this line is not a recorded reply", f"{self.path}:{number}"
            raise JudgeError(Fault(what, hint, where=where)) from None
        self._models.setdefault(model, reply.model)
        self._replies.setdefault(key, reply)


class ReplayModel:
    """A model whose replies are all in a record. `strict` takes only replies recorded under its own name."""

    def __init__(self, name: str, record: ModelReplyRecord, *, strict: bool) -> None:
        self.name = name
        self._record = record
        self._model = name if strict else None

    @property
    def version(self) -> str:
        """That of a judge which ran here; servers name their models as they like, which says nothing."""
        here = self.name == EMBEDDED or is_local_model_file(self.name)
        return self._record.version(self.name) if here else ""

    async def ask(self, request: Request) -> Reply:
        """The recorded reply."""
        reply = self._record.find(request, self._model)
        if reply is None:
            whose = f" of {self._model}" if self._model else ""
            cut = f" ({self._record.cut})" if self._record.cut else ""
            missing = RefusedError(
                f"{self.name}: the record {self._record.path} has no reply{whose} to this request (dialogue "
                f"{request.dialogue!r}): rubric, texts, prompts and settings must be those of the recording{cut}",
                always=True,
            )
            missing.attempts = 0
            raise missing
        return reply


REPLY_JSON = Codec(
    error=JudgeError,
    lenient=True,  # Records of all versions are replayed.
    shapes={
        Reply: JsonShape(only=("text", "stop", "model", "usage", "places", "request_id", "attempts", "seconds")),
        TokenLogprobs: JsonShape(row=True, fields={"likely": JsonField(plain=True)}),
    },
)

reply_to_json = REPLY_JSON.writer(Reply)


def model_reply_from_json(data: object) -> Reply:
    """A reply out of plain data; it came from a record and costs nothing."""
    return REPLY_JSON.from_json(Reply, data, recorded=True)


def _explain_model_recording_error(problem: OSError) -> str:
    return (problem.strerror or str(problem)).lower()
