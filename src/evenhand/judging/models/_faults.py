"""What an answer that is no reply means: try again, do without a parameter, or give up and say why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from evenhand.judging.models._answer import Answer, Cut
from evenhand.judging.models._secrets import Secrets
from evenhand.judging.models._values import mapping
from evenhand.judging.models._waiting import asked_wait

Kind = Literal["busy", "absent", "refused", "unaccepted", "missing", "denied"]

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_OVERLOADED = frozenset({429, 503, 529})
_MAYBE_UNACCEPTED = frozenset({400, 422, 501})
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "credit balance", "exceeded your current quota")
_STATUS_OF = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
              "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
              "invalid_request_error": 400, "billing_error": 402}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no reply yet."""

    kind: Kind
    why: str
    wait: float | None = None  # As the server asked.
    overloaded: bool = False
    always: bool = False  # Any other question would be refused too.
    named: str = ""  # The parameter a refusal is about, where it says so.
    said: str = field(default="", repr=False)  # The server's own words, for finding such a parameter only.


def data_in(body: bytes) -> object | Problem:
    """The JSON of an answer."""
    if not body.strip():
        return Problem("busy", "the answer is empty")
    try:
        data: object = json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Problem("busy", "the answer is not UTF-8 text")
    except (ValueError, RecursionError):
        if body.lstrip()[:1] == b"<":
            return Problem("busy", "the answer is a web page (is this the address of the API?)")
        return Problem("busy", "the answer is not JSON")
    return data


def problem_of_cut(cut: Cut, answered: bool) -> Problem:
    """What a missing answer means. A server that never answered is more likely not there than busy."""
    if cut.kind == "final":
        return Problem("refused", cut.why, always=True)
    if cut.kind == "unreached" and not answered:
        return Problem("absent", f"{cut.why}; is the server running, and its address right?")
    return Problem("busy", cut.why, overloaded=cut.kind == "late")


def problem_of_answer(answer: Answer, secrets: Secrets, wall: float) -> Problem:
    """What a status that is not 2xx means."""
    if 300 <= answer.status < 400:
        host = _host(answer.headers.get("location", ""))
        return Problem(
            "refused", f"it redirects to {secrets.hidden(host)}, and redirects are not followed", always=True
        )
    data = data_in(answer.body)
    fault = _fault_in(data) if not isinstance(data, Problem) else _Fault(_words(answer.body))
    return _problem(answer.status, fault, secrets, asked_wait(answer.headers, wall))


def problem_inside(data: object, secrets: Secrets) -> Problem | None:
    """What an error object inside an answer of status 200 means."""
    if not mapping(data).get("error"):
        return None
    fault = _fault_in(data)
    status = int(fault.code) if fault.code.isdecimal() and len(fault.code) == 3 else _STATUS_OF.get(fault.type, 500)
    return _problem(status, fault, secrets, None)


@dataclass(frozen=True, slots=True)
class _Fault:
    message: str
    type: str = ""
    code: str = ""
    param: str = ""


def _problem(status: int, fault: _Fault, secrets: Secrets, wait: float | None) -> Problem:
    said = secrets.hidden(fault.message)
    why = f"{status}: {said}" if said else f"status {status}"
    if any(word in f"{fault.type} {fault.code} {fault.message}".lower() for word in _NO_CREDIT):
        return Problem("refused", f"no credit is left ({why})", always=True)
    if status in (401, 403):
        return Problem("denied", why)
    if status == 404 or fault.code == "model_not_found":
        return Problem("missing", why)
    if status in _BUSY:
        return Problem("busy", why, wait=wait, overloaded=status in _OVERLOADED)
    if status in _MAYBE_UNACCEPTED:
        return Problem("unaccepted", why, named=fault.param, said=fault.message[:2000])
    return Problem("refused", why)


def _fault_in(data: object) -> _Fault:
    """The error in the shapes that servers are known to send."""
    if isinstance(data, list) and data:
        data = data[0]
    outer = mapping(data)
    inner = outer.get("error", outer)
    if isinstance(inner, str):
        return _Fault(inner, code=_plain(outer.get("code")))
    found = mapping(inner)
    if "detail" in found:
        return _detail(found["detail"])
    return _Fault(
        message=_plain(found.get("message")) or _plain(found.get("error")) or _plain(found.get("msg")),
        type=_plain(found.get("type")),
        code=_plain(found.get("code")),
        param=_plain(found.get("param")),
    )


def _detail(detail: object) -> _Fault:
    """Faults as FastAPI lists them: place and message, without the input, which would name every parameter."""
    if not isinstance(detail, list):
        return _Fault(_plain(detail) or _plain(mapping(detail).get("message")))
    entries: list[Mapping[str, object]] = [mapping(entry) for entry in detail[:5]]
    places = [".".join(map(str, place)) if isinstance(place := entry.get("loc"), list) else "" for entry in entries]
    texts = [f"{where}: {_plain(entry.get('msg'))}" for where, entry in zip(places, entries, strict=True)]
    return _Fault("; ".join(texts), param=places[0] if len(places) == 1 else "")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _words(body: bytes) -> str:
    """The words of a text or web page."""
    text = body[:20_000].decode("utf-8", "replace")
    if "<" not in text:
        return text
    title = re.search(r"<title[^<>]*>([^<]*)", text, re.IGNORECASE)
    return title.group(1) if title else "a web page"


def _host(location: str) -> str:
    try:
        return urlsplit(location).hostname or "another path of the same server"
    except ValueError:
        return "an address that cannot be read"
