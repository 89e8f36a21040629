"""What a server's answer means: values, an error to retry or report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlsplit

from evenhand.models.hidden_keys import ModelSecrets
from evenhand.models.http_connection import HttpAnswer, HttpFailure
from evenhand.models.limits import parse_provider_retry_after
from evenhand.models.requests import read_provider_object

ProblemKind = Literal["busy", "absent", "refused", "unaccepted", "missing", "denied"]

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_OVERLOADED = frozenset({429, 503, 529})
_MAYBE_UNACCEPTED = frozenset({400, 422, 501})
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "credit balance", "exceeded your current quota")
_STATUS_OF = {"overloaded_error": 529, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
              "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
              "invalid_request_error": 400, "billing_error": 402}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServerProblem:
    """Why there is no reply yet."""

    kind: ProblemKind
    why: str
    wait: float | None = None  # As the server asked.
    overloaded: bool = False
    always: bool = False  # Any other question would be refused too.
    named: str = ""  # The parameter a refusal is about, where it says so.
    said: str = field(default="", repr=False)  # The server's own words, for finding such a parameter only.


def explain_unreadable_model_response(body: bytes, problem: ValueError | RecursionError) -> ServerProblem:
    """Why an answer is no JSON."""
    if not body.strip():
        return ServerProblem("busy", "the answer is empty")
    if isinstance(problem, UnicodeDecodeError):
        return ServerProblem("busy", "the answer is not UTF-8 text")
    if body.lstrip()[:1] == b"<":
        return ServerProblem("busy", "the answer is a web page (is this the address of the API?)")
    return ServerProblem("busy", "the answer is not JSON")


def explain_model_http_failure(cut: HttpFailure, answered: bool) -> ServerProblem:
    """What a missing answer means. A server that never answered is more likely not there than busy."""
    if cut.kind in ("final", "large"):
        return ServerProblem("refused", cut.why, always=cut.kind == "final")
    if cut.kind == "unreached" and not answered:
        return ServerProblem("absent", f"{cut.why}; is the server running, and its address right?")
    return ServerProblem("busy", cut.why, overloaded=cut.kind == "late")


def explain_model_error_status(answer: HttpAnswer, secrets: ModelSecrets, wall: float) -> ServerProblem:
    """What a status that is not 2xx means."""
    if 300 <= answer.status < 400:
        try:
            place = secrets.remove_keys(answer.headers.get("location", ""))
            host = urlsplit(place).hostname or "another path of the same server"
        except ValueError:
            host = "an address that cannot be read"
        why = f"it redirects to {secrets.hide_keys(host)}, and redirects are not followed"
        return ServerProblem("refused", why, always=True)
    try:
        fault = _parse_server_fault(json.loads(answer.body.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        fault = _ServerFault(_read_provider_error_page(answer.body, secrets))
    return _classify_provider_fault(answer.status, fault, secrets, parse_provider_retry_after(answer.headers, wall))


def explain_error_in_model_response(data: object, secrets: ModelSecrets) -> ServerProblem:
    """What an error object inside an answer of status 200 means."""
    fault = _parse_server_fault(data)
    status = int(fault.code) if fault.code.isdecimal() and len(fault.code) == 3 else _STATUS_OF.get(fault.type, 500)
    return _classify_provider_fault(status, fault, secrets, None)


@dataclass(frozen=True, slots=True)
class _ServerFault:
    message: str
    type: str = ""
    code: str = ""
    param: str = ""


def _classify_provider_fault(
    status: int, fault: _ServerFault, secrets: ModelSecrets, wait: float | None
) -> ServerProblem:
    said = secrets.hide_keys(fault.message)
    why = f"{status}: {said}" if said else f"status {status}"
    if any(word in f"{fault.type} {fault.code} {fault.message}".lower() for word in _NO_CREDIT):
        return ServerProblem("refused", f"no credit is left ({why})", always=True)
    if status in (401, 403):
        return ServerProblem("denied", why)
    if status == 404 or fault.code == "model_not_found":
        return ServerProblem("missing", why)
    if status in _BUSY:
        return ServerProblem("busy", why, wait=wait, overloaded=status in _OVERLOADED)
    if status in _MAYBE_UNACCEPTED:
        return ServerProblem("unaccepted", why, named=fault.param, said=fault.message[:2000])
    return ServerProblem("refused", why)


def _parse_server_fault(data: object) -> _ServerFault:
    """The error in the shapes that servers are known to send."""
    if isinstance(data, list) and data:
        data = data[0]
    outer = read_provider_object(data)
    inner = outer.get("error", outer)
    if isinstance(inner, str):
        return _ServerFault(inner, code=_read_provider_fault_text(outer.get("code")))
    found = read_provider_object(inner)
    if "detail" in found:
        return _parse_provider_fault_detail(found["detail"])
    texts = {name: _read_provider_fault_text(value) for name, value in found.items()}
    message = texts.get("message") or texts.get("error") or texts.get("msg") or ""
    return _ServerFault(message, texts.get("type", ""), texts.get("code", ""), texts.get("param", ""))


def _parse_provider_fault_detail(detail: object) -> _ServerFault:
    """Faults as FastAPI lists them: place and message, without the input, which would name every parameter."""
    if not isinstance(detail, list):
        return _ServerFault(
            _read_provider_fault_text(detail) or _read_provider_fault_text(read_provider_object(detail).get("message"))
        )
    entries: list[Mapping[str, object]] = [read_provider_object(entry) for entry in detail[:5]]
    places = [".".join(map(str, place)) if isinstance(place := entry.get("loc"), list) else "" for entry in entries]
    texts = [
        f"{where}: {_read_provider_fault_text(entry.get('msg'))}" for where, entry in zip(places, entries, strict=True)
    ]
    return _ServerFault("; ".join(texts), param=places[0] if len(places) == 1 else "")


def _read_provider_fault_text(value: object) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _read_provider_error_page(body: bytes, secrets: ModelSecrets) -> str:
    """The words of a text or web page, without keys: a title may end in the middle of one."""
    text = secrets.remove_from_beginning(body.decode("utf-8", "replace"))
    if "<" not in text:
        return text
    title = re.search(r"<title[^<>]*>([^<]*)", text, re.IGNORECASE)
    return title.group(1) if title else "a web page"


@dataclass(frozen=True, slots=True)
class AcceptedParameters:
    """The parameters that may be sent. The first of several spellings is the one in use."""

    formats: tuple[str, ...]  # Ways to ask for an answer in a given form, the strictest first.
    limits: tuple[str, ...] = ("max_tokens",)  # Names for the longest reply.
    temperature: bool = True
    seed: bool = True
    logprobs: bool = True


def drop_refused_request_parameter(
    accepted: AcceptedParameters, body: Mapping[str, object], named: str, message: str
) -> AcceptedParameters | None:
    """What is left once the parameter that a refusal names is given up; None where it names none that was sent.

    Each parameter is given up at most once, so that a server that refuses everything is asked a few times only.
    """
    is_unknown = _NOT_KNOWN.search(message)  # And not only its value refused.
    for field_name, words, keys, whatever in _PARAMETERS:
        value = getattr(accepted, field_name)
        sent = len(value) > 1 if field_name == "limits" else bool(value) and not body.keys().isdisjoint(keys)
        if sent and (words.search(named) or words.search(message)) and (whatever or is_unknown):
            less: Any = value[1:] if isinstance(value, tuple) else False
            return replace(accepted, **{field_name: less})
    return None


def merge_accepted_request_parameters(one: AcceptedParameters, other: AcceptedParameters) -> AcceptedParameters:
    """What is accepted after both lessons, whichever came first."""
    return AcceptedParameters(
        formats=min(one.formats, other.formats, key=len),
        limits=min(one.limits, other.limits, key=len),
        temperature=one.temperature and other.temperature,
        seed=one.seed and other.seed,
        logprobs=one.logprobs and other.logprobs,
    )


_NOT_KNOWN = re.compile(
    r"n[o']t support|unsupported|not (?:permitted|allowed|available|implemented|recogni[sz]ed|accepted|valid)|unknown"
    r"|unrecogni[sz]ed|unexpected|extra (?:input|field|param)|deprecated|only the default|cannot be (?:used|set)"
    r"|can't be (?:used|set)|incompatible|requires|must be (?:1|unset|omitted)",
    re.IGNORECASE,
)

# The field of a parameter, words for it, its keys in a body, and whether doing without helps whatever is said of it.
_PARAMETERS = (
    ("logprobs", re.compile(r"logprobs", re.IGNORECASE), ("logprobs",), True),
    ("seed", re.compile(r"\bseed\b", re.IGNORECASE), ("seed",), False),
    ("temperature", re.compile(r"\btemperature\b", re.IGNORECASE), ("temperature",), False),
    ("limits", re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE), (), False),
    ("formats", re.compile(r"response_format|json_schema|json_object|schema|grammar|structured|output_(?:config|format)"
                           r"|\btools?\b|tool_choice", re.IGNORECASE),
     ("response_format", "output_config", "tools"), True),
)  # fmt: skip
