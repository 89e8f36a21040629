"""Why a request does not fit its route, in our words: where, what, and what that field takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from fastapi import Request
from pydantic import BaseModel
from pydantic.fields import FieldInfo

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


def find_request_faults(request: Request, errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
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
    fields = list(_walk_fields(_find_body_model(request), place[1:])) if place[0] == "body" else []
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


def _walk_fields(model: type[BaseModel] | None, place: Sequence[Any]) -> Iterator[tuple[list[str], FieldInfo | None]]:
    """Along a place in a body: the fields that there are beside each named one, and what is known of it."""
    for part in place:
        if model is not None and isinstance(part, str) and not _TYPE_PART.fullmatch(part):
            about = model.model_fields.get(part)
            yield list(model.model_fields), about
            model = None if about is None else _find_model_in(about.annotation)


def _find_model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _find_model_in(one)) is not None), None)


def _find_body_model(request: Request) -> type[BaseModel] | None:
    """What the route that was called takes."""
    dependant = getattr(request.scope.get("route"), "dependant", None)
    fields = getattr(dependant, "body_params", ())
    return next((_find_model_in(one.field_info.annotation) for one in fields), None)
