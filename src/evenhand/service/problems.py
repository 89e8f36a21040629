"""What a caller is told when something is wrong: one shape, with where, what and what would work (RFC 9457)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from evenhand.errors import EvenhandError, InputError, ModelError, StoreError
from evenhand.service.wrong_requests import find_request_faults

MEDIA_TYPE = "application/problem+json"
TITLES = {
    401: "No token", 403: "Not allowed", 404: "Not found", 405: "Method not allowed",
    409: "Conflict", 413: "Too large", 422: "Wrong content", 429: "Too many requests", 500: "Fault of Evenhand",
    502: "A model could not be asked", 503: "Not now",
}  # fmt: skip


class ProblemError(Exception):
    """A request that is refused, with the status that says so."""

    def __init__(self, status: int, what: str, would_work: str = "", **headers: str) -> None:
        super().__init__(what)
        self.status, self.what, self.would_work = status, what, would_work
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def explain_statuses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides what every route may, for its description."""
    return {status: {"description": TITLES[status]} for status in statuses}


def add_problem_handlers(app: FastAPI) -> None:
    """Every refusal and failure becomes one problem; no traceback leaves the service."""
    app.add_exception_handler(ProblemError, _answer_refusal)
    app.add_exception_handler(EvenhandError, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_wrong_request)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_fault)


def build_problem(status: int, faults: list[dict[str, str]], **headers: str) -> JSONResponse:
    """The answer to a request that cannot be met."""
    detail = "; ".join(one["what"] for one in faults) or TITLES.get(status, "")
    body = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}
    return JSONResponse({**body, "faults": faults}, status_code=status, media_type=MEDIA_TYPE, headers=headers or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProblem:
    """What is wrong with a request: its status, each fault with where, what and what would work, and headers."""

    status: int
    faults: tuple[dict[str, str], ...]
    headers: dict[str, str] = field(default_factory=dict)


def find_problem(error: ProblemError | EvenhandError) -> ServiceProblem:
    """What a caller is told of an error."""
    if isinstance(error, ProblemError):
        fault = {"where": "", "what": error.what, "would_work": error.would_work}
        return ServiceProblem(status=error.status, faults=(fault,), headers=error.headers)
    if isinstance(error, ModelError):
        fault = {"where": "", "what": str(error), "would_work": "try again, or ask another model"}
        return ServiceProblem(status=502, faults=(fault,))
    if not isinstance(error, InputError):
        return ServiceProblem(status=422, faults=({"where": "", "what": str(error), "would_work": ""},))
    if isinstance(error, StoreError) and error.__cause__ is not None:  # The database itself failed.
        fault = {"where": "", "what": "the store does not answer now", "would_work": "try again in 5 s"}
        return ServiceProblem(status=503, faults=(fault,), headers={"Retry-After": "5"})
    faults = tuple(
        # Where the store is, is the operator's business.
        {"where": "" if isinstance(error, StoreError) else _place(one), "what": one.what, "would_work": one.hint}
        for one in error.faults
    )
    missing = isinstance(error, StoreError) and any(one.what.startswith("no ") for one in error.faults)
    status = 404 if missing else 409 if isinstance(error, StoreError) else 422
    return ServiceProblem(status=status, faults=faults)


async def _answer_refusal(_: Request, error: Any) -> JSONResponse:
    found = find_problem(error)
    return build_problem(found.status, list(found.faults), **found.headers)


def _place(fault: Any) -> str:
    from evenhand.errors import format_error_path

    return str(fault.where or (format_error_path(fault.path) if fault.path else ""))


async def _answer_wrong_request(request: Request, error: Any) -> JSONResponse:
    return build_problem(422, find_request_faults(request, error.errors()))


async def _answer_http_error(_: Request, error: Any) -> JSONResponse:
    if error.status_code == 400:  # Like a body that is no JSON, it is wrong content.
        return build_problem(422, [{"where": "body", "what": "cannot be read", "would_work": "send JSON in UTF-8"}])
    fault = {"where": "", "what": str(error.detail), "would_work": "/docs lists what there is"}
    return build_problem(error.status_code, [fault], **(error.headers or {}))


async def _answer_fault(_: Request, error: Any) -> JSONResponse:
    fault = {"where": "", "what": f"{type(error).__name__}: please report it", "would_work": ""}
    return build_problem(500, [fault])
