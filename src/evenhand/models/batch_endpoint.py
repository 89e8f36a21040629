"""The batch endpoints of OpenAI and Anthropic: create a batch, look at it, find it again, and read its answers.

A batch carries a mark of ours. OpenAI keeps it as metadata of the batch. Anthropic keeps nothing beside the requests,
so the id of every request begins with it, and a batch can be recognised once its results are there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

from evenhand.errors import Fault, JudgeError
from evenhand.files.parsing import decode_plain_json, encode_plain_json
from evenhand.models.http_connection import HttpAnswer
from evenhand.models.remote_model import LOGPROBS_SIZE, RemoteModel
from evenhand.models.requests import Reply, read_provider_object, read_provider_text, read_token_count
from evenhand.models.server_answers import ServerProblem

FIND_WINDOW = 1800.0  # Seconds that a batch may have been created before or after we meant to: clocks differ.
_MOST_PAGES = 50
_METADATA = "evenhand"  # The key of our mark in the metadata of a batch.
_OVER = ("completed", "failed", "expired", "cancelled")
_TRY_LATER = ("token_limit_exceeded", "rate_limit_exceeded", "request_limit_exceeded")  # Of a batch that was refused.
_UNANSWERED = {
    "expired": ServerProblem("busy", "the batch expired before it was answered"),
    "batch_expired": ServerProblem("busy", "the batch expired before it was answered"),
    "canceled": ServerProblem("refused", "the batch was cancelled before it was answered"),
    "batch_cancelled": ServerProblem("refused", "the batch was cancelled before it was answered"),
}

LineOutcome = Reply | ServerProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchView:
    """A batch as its server tells of it."""

    id: str
    is_over: bool
    total: int | None = None  # Requests in it; None while the server has not counted them.
    answered: int = 0  # Of them, as far as it tells.
    created: float | None = None  # Seconds since 1970.
    mark: str | None = None  # Ours, where the server keeps it.
    files: tuple[str, ...] = ()  # Paths of what it answered.
    failure: ServerProblem | None = None  # Why none of it was answered.


class ProviderBatchEndpoint:
    """The batches of one model. Problems are values: whoever follows a batch decides what to do about them."""

    most_lines = 10_000  # Of one batch. The providers take 50,000 and 100,000; all of a batch is read at once.
    most_bytes = 50_000_000  # Of one batch; they take 200 MB and 256 MB.

    def __init__(self, remote: RemoteModel) -> None:
        self.remote = remote
        self._openai = remote.wire == "openai"
        self._path = "/batches" if self._openai else "/messages/batches"
        # Others that speak this format may drop the metadata.
        self._keeps_marks = remote.name.startswith("openai/")

    @staticmethod
    def name_line(mark: str, place: int) -> str:
        """The id of a request in a batch: letters, digits and a dash, at most 64."""
        return f"{mark}-{place}"

    async def refuse_missing(self) -> None:
        """A JudgeError where the server has no batches."""
        page = await self._fetch("GET", f"{self._path}?limit=1")
        if isinstance(page, dict) and isinstance(page.get("data"), list):
            return
        hint = "leave out --batch, and it is asked directly at its full price"
        if isinstance(page, ServerProblem) and page.kind in ("busy", "absent", "denied"):
            raise JudgeError(Fault(f"its batches cannot be reached: {page.why}", hint, where=self.remote.name))
        raise JudgeError(Fault("its server has no batch endpoint", hint, where=self.remote.name))

    async def prepare(self, mark: str, bodies: Sequence[Mapping[str, object]]) -> bytes | ServerProblem:
        """What `create` sends. The lines are uploaded where the server wants a file of them; that costs nothing."""
        named = [(self.name_line(mark, place), body) for place, body in enumerate(bodies)]
        if not self._openai:
            return encode_plain_json({"requests": [{"custom_id": id, "params": body} for id, body in named]}).encode()
        call = {"method": "POST", "url": "/v1/chat/completions"}
        lines = "".join(f"{encode_plain_json({'custom_id': id, **call, 'body': body})}\n" for id, body in named)
        content, form = _build_provider_upload(mark, lines.encode())
        file = await self._fetch("POST", "/files", form, content=content)
        if isinstance(file, ServerProblem):
            return file
        wanted = {
            "input_file_id": read_provider_text(file.get("id")),
            "endpoint": call["url"],
            "completion_window": "24h",
            "metadata": {_METADATA: mark},
        }
        return encode_plain_json(wanted).encode()

    async def create(self, prepared: bytes) -> BatchView | ServerProblem:
        """Create a batch. After a problem that a retry may help, it may be there all the same: `find` tells."""
        return self._view(await self._fetch("POST", self._path, prepared))

    async def look(self, id: str) -> BatchView | ServerProblem:
        """A batch as it stands."""
        return self._view(await self._fetch("GET", f"{self._path}/{quote(id, safe='')}"))

    async def find(
        self, mark: str, total: int, at: float, known: Collection[str]
    ) -> BatchView | ServerProblem | list[BatchView]:
        """The batch that was created under a mark around a time; else those of which only time tells whether one is.

        `known` are the ids of batches that are known to be others.
        """
        unsure: list[BatchView] = []
        views = await self._list_since(at - FIND_WINDOW)
        if isinstance(views, ServerProblem):
            return views
        for view in views:
            if view.mark == mark:
                return view
            near = view.created is None or abs(view.created - at) <= FIND_WINDOW
            alike = view.mark is None and not self._keeps_marks and view.total in (None, total)
            if not near or not alike or view.id in known:
                continue
            if not view.is_over:
                unsure.append(view)
                continue
            lines = await self.read(view, total)
            if isinstance(lines, ServerProblem):
                return lines
            if any(id.startswith(f"{mark}-") for id in lines):
                return view
        return unsure

    async def read(self, view: BatchView, total: int) -> dict[str, LineOutcome] | ServerProblem:
        """The outcome of each request that the server tells of, by its id; of two for one id the first counts."""
        found: dict[str, LineOutcome] = {}
        for path in view.files:
            answer = await self.remote.exchange("GET", path, times_as_large=LOGPROBS_SIZE * max(1, total))
            if isinstance(answer, ServerProblem):
                return answer
            for id, outcome in await asyncio.to_thread(self._read_lines, answer.body):
                found.setdefault(id, outcome)
        return found

    async def _fetch(
        self, method: str, path: str, body: bytes | None = None, *, content: str = ""
    ) -> dict[str, object] | ServerProblem:
        answer = await self.remote.exchange(method, path, body, content=content)
        if isinstance(answer, ServerProblem):
            return answer
        try:
            data = decode_plain_json(answer.body)
        except (ValueError, RecursionError):
            data = None
        return data if isinstance(data, dict) else ServerProblem("busy", "the answer on a batch is not a JSON object")

    def _view(self, data: dict[str, object] | ServerProblem) -> BatchView | ServerProblem:
        if isinstance(data, ServerProblem):
            return data
        if not isinstance(data.get("id"), str) or not data["id"]:
            return ServerProblem("busy", "the answer about a batch has no id")
        view = _view_openai_batch(data) if self._openai else _view_anthropic_batch(data)
        if self.remote.hide_keys(view.id) != view.id:
            return ServerProblem("refused", "the id of the batch has a key in it, and cannot be kept")
        why = view.failure and self.remote.hide_keys(view.failure.why)
        return replace(view, failure=replace(view.failure, why=why)) if view.failure and why else view

    async def _list_since(self, since: float) -> list[BatchView] | ServerProblem:
        """The batches of the server that were created after a time; it lists the newest first."""
        found: list[BatchView] = []
        cursor, after = "after" if self._openai else "after_id", ""
        for _ in range(_MOST_PAGES):
            page = await self._fetch("GET", f"{self._path}?limit=100{after}")
            if isinstance(page, ServerProblem):
                return page
            entries = page.get("data")
            told = entries if isinstance(entries, list) else []
            views = [self._view(dict(read_provider_object(one))) for one in told]
            readable = [view for view in views if isinstance(view, BatchView)]
            new = [view for view in readable if view.created is None or view.created >= since]
            found += new
            if not readable or len(new) < len(readable) or not page.get("has_more"):
                break
            after = f"&{cursor}={quote(readable[-1].id, safe='')}"
        return found

    def _read_lines(self, body: bytes) -> list[tuple[str, LineOutcome]]:
        """The lines of a file of answers that can be read; one that cannot has no outcome."""
        found = []
        for line in body.splitlines():
            try:
                entry = read_provider_object(decode_plain_json(line))
            except (ValueError, RecursionError):
                continue
            id = entry.get("custom_id")
            if isinstance(id, str):
                read = self._read_openai_line if self._openai else self._read_anthropic_line
                found.append((id, read(entry)))
        return found

    def _read_openai_line(self, entry: Mapping[str, object]) -> LineOutcome:
        response, error = read_provider_object(entry.get("response")), read_provider_object(entry.get("error"))
        code = read_provider_text(error.get("code"))
        if code in _UNANSWERED:
            return _UNANSWERED[code]
        status = read_token_count(response.get("status_code"))
        if status is None:
            said = self.remote.hide_keys(read_provider_text(error.get("message"))) or "without a reason"
            return ServerProblem("busy", f"it was not answered in the batch: {said}")
        told = read_provider_text(response.get("request_id"))
        return self._read_body(status, response.get("body"), told)

    def _read_anthropic_line(self, entry: Mapping[str, object]) -> LineOutcome:
        result = read_provider_object(entry.get("result"))
        kind = read_provider_text(result.get("type"))
        if kind in _UNANSWERED:
            return _UNANSWERED[kind]
        body = result.get("message") if kind == "succeeded" else result.get("error")
        return self._read_body(200, body, "")

    def _read_body(self, status: int, body: object, request_id: str) -> LineOutcome:
        headers = {"x-request-id": request_id} if request_id else {}
        return self.remote.read_answer(HttpAnswer(status, headers, json.dumps(body).encode()))


def _view_openai_batch(data: Mapping[str, object]) -> BatchView:
    counts, status = read_provider_object(data.get("request_counts")), data.get("status")
    ids = [data.get(name) for name in ("output_file_id", "error_file_id")]
    errors = read_provider_object(data.get("errors")).get("data")
    first = read_provider_object(errors[0]) if isinstance(errors, list) and errors else {}
    why = f"the batch was refused: {read_provider_text(first.get('message')) or 'without a reason'}"
    refused = ServerProblem("busy" if first.get("code") in _TRY_LATER else "refused", why)
    created = read_token_count(data.get("created_at"))
    mark = read_provider_object(data.get("metadata")).get(_METADATA)
    return BatchView(
        id=str(data["id"]),
        is_over=status in _OVER,
        total=read_token_count(counts.get("total")) or None,
        answered=sum(read_token_count(counts.get(name)) or 0 for name in ("completed", "failed")),
        created=None if created is None else float(created),
        mark=mark if isinstance(mark, str) else None,
        files=tuple(f"/files/{quote(id, safe='')}/content" for id in ids if isinstance(id, str) and id),
        failure=refused if status == "failed" else None,
    )


def _view_anthropic_batch(data: Mapping[str, object]) -> BatchView:
    counts = {name: read_token_count(n) or 0 for name, n in read_provider_object(data.get("request_counts")).items()}
    id, over = str(data["id"]), data.get("processing_status") == "ended"
    gone = ServerProblem("busy", "the results of the batch are not kept any more") if data.get("archived_at") else None
    # Its own address is in `results_url`; the key goes to no other host than the one it was meant for.
    files = (f"/messages/batches/{quote(id, safe='')}/results",) if over and gone is None else ()
    total = sum(counts.values()) or None
    return BatchView(
        id=id,
        is_over=over,
        total=total,
        answered=(total or 0) - counts.get("processing", 0),
        created=_read_provider_time(data.get("created_at")),
        files=files,
        failure=gone,
    )


def _read_provider_time(value: object) -> float | None:
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


def _build_provider_upload(mark: str, lines: bytes) -> tuple[str, bytes]:
    """The type and the body of a form with a file of requests; the mark is in no line break, so it can bound them."""
    edge = f"--{mark}"
    head = (
        f'{edge}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'{edge}\r\nContent-Disposition: form-data; name="file"; filename="evenhand-{mark}.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return f"multipart/form-data; boundary={mark}", head.encode() + lines + f"\r\n{edge}--\r\n".encode()
