"""What a caller is told when something is wrong: one shape, with where, what and what would work (RFC 9457)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, get_args

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from evenhand.errors import EvenhandError, InputError, ModelError, StoreError

CallerGoneError = ClientDisconnect  # Raised where a request breaks off before its body is there.
MEDIA_TYPE = "application/problem+json"
# Raised on purpose: whoever asks is told each in its own words.
TOLD_ERRORS = (EvenhandError, RequestValidationError, HTTPException, CallerGoneError)
RUN_ROUTE = re.compile(r"/v1/runs/([^/]+)")
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


def explain_http_statuses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route may answer besides what every route may, for its description."""
    return {status: {"description": TITLES[status]} for status in statuses}


def add_problem_handlers(app: FastAPI) -> None:
    """Every refusal and failure becomes one problem; no traceback leaves the service."""
    app.add_exception_handler(ProblemError, _answer_http_refusal)
    app.add_exception_handler(EvenhandError, _answer_http_refusal)
    app.add_exception_handler(RequestValidationError, _answer_wrong_http_request)
    app.add_exception_handler(HTTPException, _answer_http_error)
    app.add_exception_handler(Exception, _answer_http_fault)


def show_missing_pages(app: FastAPI, render: Callable[[Request, ServiceProblem], Response]) -> None:
    """Have people who mistype an address see a page; programs, and all who call the API, are told as ever."""

    async def answer(request: Request, error: Any) -> Response:
        is_page = not request.url.path.startswith("/v1") and "text/html" in request.headers.get("accept", "")
        if error.status_code == 404 and is_page:
            fault = {"where": request.url.path, "what": "there is no such page", "would_work": ""}
            return await asyncio.to_thread(render, request, ServiceProblem(status=404, faults=(fault,)))
        return await _answer_http_error(request, error)

    app.add_exception_handler(HTTPException, answer)


def build_http_problem(status: int, faults: list[dict[str, str]], **headers: str) -> JSONResponse:
    """The answer to a request that cannot be met."""
    return _build_http_answer(status, faults, headers)


def _build_http_answer(
    status: int, faults: list[dict[str, str]], headers: Mapping[str, str], *, imported: bool = False
) -> JSONResponse:
    """The same, marked where it may quote a run that was imported."""
    detail = "; ".join(one["what"] for one in faults) or TITLES.get(status, "")
    body = {"type": "about:blank", "title": TITLES.get(status, "Error"), "status": status, "detail": detail}
    content = {**body, "faults": faults, **({"imported": True} if imported else {})}
    return JSONResponse(content, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers) or None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProblem:
    """What is wrong with a request: its status, each fault with where, what and what would work, and headers."""

    status: int
    faults: tuple[dict[str, str], ...]
    headers: dict[str, str] = field(default_factory=dict)


def find_http_problem(error: ProblemError | EvenhandError) -> ServiceProblem:
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
        {
            "where": "" if isinstance(error, StoreError) else _place_of_request_fault(one),
            "what": one.what,
            "would_work": one.hint,
        }
        for one in error.faults
    )
    missing = isinstance(error, StoreError) and any(one.what.startswith("no ") for one in error.faults)
    status = 404 if missing else 409 if isinstance(error, StoreError) else 422
    return ServiceProblem(status=status, faults=faults)


async def _answer_http_refusal(request: Request, error: Any) -> JSONResponse:
    found = find_http_problem(error)
    imported = found.status in (409, 422) and (
        bool(getattr(error, "imported_runs", ())) or await asyncio.to_thread(_is_about_imported_run, request)
    )
    return _build_http_answer(found.status, list(found.faults), found.headers, imported=imported)


def _is_about_imported_run(request: Request) -> bool:
    """Whether a request names a run that was imported, and whoever asks may know that."""
    caller = getattr(request.state, "caller", None)
    if caller is None or caller.role != "operator":
        return False
    for named in (*RUN_ROUTE.findall(request.url.path), *getattr(request.state, "compared_runs", ())):
        with suppress(EvenhandError):
            if request.app.state.store.find_run(named)["imported"] is not None:
                return True
    return False


def _place_of_request_fault(fault: Any) -> str:
    from evenhand.errors import format_error_path

    return str(fault.where or (format_error_path(fault.path) if fault.path else ""))


async def _answer_wrong_http_request(request: Request, error: Any) -> JSONResponse:
    return build_http_problem(422, find_http_request_faults(request, error.errors()))


async def _answer_http_error(_: Request, error: Any) -> JSONResponse:
    if error.status_code == 400:  # Like a body that is no JSON, it is wrong content.
        return build_http_problem(
            422, [{"where": "body", "what": "cannot be read", "would_work": "send JSON in UTF-8"}]
        )
    fault = {"where": "", "what": str(error.detail), "would_work": "/docs lists what there is"}
    return build_http_problem(error.status_code, [fault], **(error.headers or {}))


async def _answer_http_fault(_: Request, error: Any) -> JSONResponse:
    fault = {"where": "", "what": f"{type(error).__name__}: please report it", "would_work": ""}
    return build_http_problem(500, [fault])


Json = dict[str, Any]
SEE_DOCS = "/docs has the fields of each route"
JSON_TYPE = re.compile(r"application/(?:[\w.-]+\+)?json\b", re.IGNORECASE)
# What pydantic adds to a place where one of several types would do.
_TYPE_PART = re.compile(r"(?:str|int|float|bool|none)|(?:dict|list)\[.*\]")
_MUST_BE = {
    "dict_type": "an object", "model_attributes_type": "an object", "model_type": "an object", "list_type": "a list",
    "string_type": "a text", "bool_type": "true or false", "bool_parsing": "true or false",
    "int_type": "a whole number", "int_parsing": "a whole number", "int_from_float": "a whole number",
    "float_type": "a number", "float_parsing": "a number",
}  # fmt: skip


def find_http_request_faults(request: Request, errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """One fault for each place; where several types would do, they are named together."""
    content_type = request.headers.get("content-type", "")
    if any(tuple(one["loc"]) == ("body",) for one in errors) and not JSON_TYPE.match(content_type):
        what = f"it came as {content_type[:80]}" if content_type else "it does not say what it is"
        return [{"where": "body", "what": what, "would_work": "send it as application/json"}]
    found: dict[str, dict[str, str]] = {}
    for one in errors:
        fault = _describe_request_error(request, one)
        known = found.setdefault(fault["where"], fault)
        if known is not fault:
            known["what"] += " or " + fault["what"].removeprefix("must be ")
    return list(found.values())


def _describe_request_error(request: Request, error: Mapping[str, Any]) -> dict[str, str]:
    place, kind = tuple(error["loc"]), error["type"]
    if kind == "json_invalid":
        why = str(error.get("ctx", {}).get("error", "")).lower()
        what = f"it is no JSON: {why}, at character {place[-1]}"
        return {"where": "body", "what": what, "would_work": "send JSON in UTF-8"}
    named = [str(part) for part in place if not (isinstance(part, str) and _TYPE_PART.fullmatch(part))]
    fields = list(_walk_request_body_fields(_find_request_body_model(request), place[1:])) if place[0] == "body" else []
    hint = SEE_DOCS
    if kind == "extra_forbidden" and fields:
        what, hint = "is no field of this route", f"there are {', '.join(fields[-1][0])}"
    elif kind == "missing":
        what = "is missing"
    else:
        said = str(error["msg"])
        what = f"must be {_MUST_BE[kind]}" if kind in _MUST_BE else said[:1].lower() + said[1:]
    about = fields[-1][1] if fields else None
    if kind != "extra_forbidden" and about is not None and about.description:
        hint = about.description.rstrip(".")
    return {"where": ".".join(named), "what": what, "would_work": hint}


def _walk_request_body_fields(
    model: type[BaseModel] | None, place: Sequence[Any]
) -> Iterator[tuple[list[str], FieldInfo | None]]:
    """Along a place in a body: the fields that there are beside each named one, and what is known of it."""
    for part in place:
        if model is not None and isinstance(part, str) and not _TYPE_PART.fullmatch(part):
            about = model.model_fields.get(part)
            yield list(model.model_fields), about
            model = None if about is None else _find_request_model_in(about.annotation)


def _find_request_model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _find_request_model_in(one)) is not None), None)


def _find_request_body_model(request: Request) -> type[BaseModel] | None:
    """What the route that was called takes."""
    dependant = getattr(request.scope.get("route"), "dependant", None)
    fields = getattr(dependant, "body_params", ())
    return next((_find_request_model_in(one.field_info.annotation) for one in fields), None)
