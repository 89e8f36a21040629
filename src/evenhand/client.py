"""A client of the HTTP API for scripts: typed calls, refusals as errors of ours, and retries where they are safe."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPException
from socket import gaierror
from typing import Any, TypedDict, cast
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener
from uuid import uuid4

from evenhand._version import __version__
from evenhand.errors import Fault, InputError, ServiceBusyError, ServiceError

Json = dict[str, Any]
SERVER_VARIABLE, TOKEN_VARIABLE = "EVENHAND_SERVER", "EVENHAND_TOKEN"
DEFAULT_ADDRESS = "http://127.0.0.1:8321"
MOST_TRIES = 5
LONGEST_PAUSE = 60.0  # Seconds; whoever is told to wait longer is told so, and not kept waiting.
BUSY_STATUSES = (429, 500, 502, 503, 504)  # What may be otherwise later.
RETRIED_STATUSES = (429, 503)  # Those with which a service says that it has done nothing yet.


class ReceiptJson(TypedDict):
    """That something was received for a contest: under which id, of whom, and when."""

    contest: str
    kind: str
    id: str
    author: str
    at: str


class EvenhandClient:
    """A service at an address, called with a token. It holds no connection open, and may be shared by threads."""

    def __init__(
        self,
        address: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 300.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        given = address or os.environ.get(SERVER_VARIABLE, "").strip() or DEFAULT_ADDRESS
        self.address = _check_client_address(given)
        self._token = _check_client_token(token or os.environ.get(TOKEN_VARIABLE, "").strip())
        self._timeout, self._pause = timeout, pause
        self._opener = _build_client_opener(self.address)

    def judge_outputs(
        self,
        rubric: str | Mapping[str, object],
        outputs: Mapping[str, str],
        *,
        input: str = "",
        reference: str = "",
        context: str = "",
        judges: Sequence[str] = (),
    ) -> Json:
        """Ask judges about outputs: scorecards with reasons, evidence and every step."""
        texts = {"input": input, "reference": reference, "context": context}
        return self.post_json("/v1/judge", {"rubric": rubric, "outputs": outputs, **texts, "judges": list(judges)})

    def score_answers(self, rubric: str | Mapping[str, object], answers: Json | Sequence[Json]) -> Json:
        """Turn answers into scorecards."""
        return self.post_json("/v1/score", {"rubric": rubric, "answers": answers})

    def list_rubrics(self) -> Json:
        """The rubrics and methods that ship."""
        return self.get_json("/v1/rubrics")

    def create_contest(
        self,
        task: Mapping[str, object],
        *,
        payment_hook: str | None = None,
        operator_hook: str | None = None,
        again: str | None = None,
    ) -> str:
        """Begin a contest from the fields of a task file; its id."""
        hooks = {"payment_hook": payment_hook, "operator_hook": operator_hook}
        return str(self.post_json("/v1/contests", {"task": task, **hooks, "again": again})["id"])

    def list_contests(self) -> Iterator[Json]:
        """The contests, the newest first."""
        return self.list_pages("/v1/contests", "contests")

    def load_contest(self, contest: str, *, author: str | None = None, public: bool = False) -> Json:
        """A contest: whole for an operator, else what the caller may see; an operator may look as others would."""
        return self.get_json(_build_client_contest_path(contest), author=author, public="true" if public else None)

    def load_contest_log(self, contest: str) -> Json:
        """Every event of a contest, for operators."""
        return self.get_json(_build_client_contest_path(contest, "log"))

    def submit_to_contest(
        self,
        contest: str,
        text: str,
        *,
        author: str | None = None,
        id: str | None = None,
        notify: str | None = None,
        key: str | None = None,
    ) -> ReceiptJson:
        """Hand in a text; it has been received when this returns. Operators name the author, and may choose an id."""
        fields = {"text": text, "author": author, "id": id, "notify": notify}
        return cast(ReceiptJson, self.post_json(_build_client_contest_path(contest, "submissions"), fields, key=key))

    def challenge_contest(
        self, contest: str, reason: str, *, author: str | None = None, key: str | None = None
    ) -> ReceiptJson:
        """Challenge the ranking of a contest."""
        fields = {"reason": reason, "author": author}
        return cast(ReceiptJson, self.post_json(_build_client_contest_path(contest, "challenges"), fields, key=key))

    def list_pages(self, path: str, name: str) -> Iterator[Json]:
        """What a route lists under a name, page by page as it is gone through."""
        cursor: str | None = None
        while True:
            page = self.get_json(path, cursor=cursor)
            yield from page[name]
            cursor = page["next"]
            if cursor is None:
                return

    def get_json(self, path: str, **query: str | None) -> Json:
        """What a route answers; any route of the service can be called so."""
        given = {name: value for name, value in query.items() if value is not None}
        return self._send_request("GET", f"{path}?{urlencode(given)}" if given else path)

    def post_json(self, path: str, fields: Mapping[str, object], *, key: str | None = None) -> Json:
        """What a route answers to these fields. A request that is sent again has the same idempotency key."""
        return self._send_request("POST", path, json.dumps(fields).encode(), key or uuid4().hex)

    def delete_json(self, path: str) -> Json:
        """What a route answers that stops or removes something."""
        return self._send_request("DELETE", path)

    def _send_request(self, method: str, path: str, body: bytes | None = None, key: str = "") -> Json:
        headers = {"accept": "application/json", "user-agent": f"evenhand/{__version__}"}
        headers |= {"authorization": f"Bearer {self._token}"} if self._token else {}
        headers |= {"content-type": "application/json", "idempotency-key": key} if body is not None else {}
        request = Request(f"{self.address}{path}", data=body, headers=headers, method=method)
        for left in reversed(range(MOST_TRIES)):
            status, wait, content = self._exchange_request(request)
            if status < 300:
                return _parse_client_answer(self.address, content)
            if not left or status not in RETRIED_STATUSES or wait is None or wait > LONGEST_PAUSE:
                break
            self._pause(wait)
        raise _read_client_problem(self.address, status, content, has_token=bool(self._token))

    def _exchange_request(self, request: Request) -> tuple[int, float | None, bytes]:
        """The status, the seconds to wait where it names some, and the body of the answer to a request."""
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return answer.status, None, answer.read()
        except HTTPError as refused:
            with refused:
                after = refused.headers.get("retry-after", "")
                return refused.code, float(after) if after.isdecimal() else None, refused.read()
        except (OSError, HTTPException) as problem:
            reason = problem.reason if isinstance(problem, URLError) else problem
            if isinstance(reason, TimeoutError):
                what, hint = f"gave no answer within {self._timeout:g} s", "try again, or allow more time"
            else:
                words = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
                what, hint = f"cannot be reached: {words.lower()}", "is evenhand serve running there?"
            if request.data is not None and not isinstance(reason, (ConnectionRefusedError, gaierror)):
                hint = "whether it was received is not known: look before you send it again"
            raise ServiceBusyError(Fault(what, hint, where=self.address)) from None


class _ClientRedirects(HTTPRedirectHandler):
    """Follows no redirect: the token is for this address, and for no other."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the answer as it is."""


def _build_client_opener(address: str) -> Any:
    host = urlsplit(address).hostname or ""
    # What is on this machine is not asked for through a proxy.
    proxies = [ProxyHandler({})] if host == "localhost" or host.startswith("127.") or host == "::1" else []
    return build_opener(_ClientRedirects(), *proxies)


def _check_client_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) and parts.username is None
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment or not address.isascii() or any(one <= " " for one in address):
        raise InputError(Fault("is not the address of a service", f"as in {DEFAULT_ADDRESS}", where=repr(address)))
    return address.rstrip("/")


def _check_client_token(token: str) -> str:
    if not token.isascii() or any(one <= " " for one in token):
        raise InputError(Fault("the token holds characters that none has", "evenhand token create prints one line"))
    return token


def _build_client_contest_path(contest: str, below: str = "") -> str:
    return f"/v1/contests/{quote(contest, safe='')}" + (f"/{below}" if below else "")


def _parse_client_answer(address: str, content: bytes) -> Json:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise ServiceError(Fault("answered something else than JSON", "is it an Evenhand service?", where=address))
    return answer


def _read_client_problem(address: str, status: int, content: bytes, *, has_token: bool) -> ServiceError:
    """The error that a refusal is: each fault with its place, and with what would work."""
    kind = ServiceBusyError if status in BUSY_STATUSES else ServiceError
    try:
        told = json.loads(content)["faults"]
        faults = [Fault(one["what"], one["would_work"], where=one["where"] or address) for one in told]
    except (ValueError, TypeError, KeyError):
        faults = []
    faults = faults or [Fault(f"answered {status}", "is it an Evenhand service?", where=address)]
    if status == 401 and not has_token:
        faults = [Fault("a token is needed", f"set {TOKEN_VARIABLE} to one of this service", where=address)]
    return kind(*faults, status=status)
