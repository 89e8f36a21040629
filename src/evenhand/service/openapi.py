"""The description of the API: every status that each route may answer, and one shape for all that are refusals."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from evenhand.service.idempotency import LONGEST_KEY
from evenhand.service.problems import MEDIA_TYPE, TITLES

Json = dict[str, Any]
# Of every route; others are named where a route is.
EVERYWHERE = (413, 500, 503)
FOR_CALLERS = (401, 403, 422, 429)
_TEXT: Json = {"type": "string"}
_FAULT_FIELDS = {"where": "A place in what was sent.", "what": "What is wrong.", "would_work": "What would be right."}
FAULT_SCHEMA: Json = {
    "type": "object",
    "required": list(_FAULT_FIELDS),
    "properties": {name: {**_TEXT, "description": about} for name, about in _FAULT_FIELDS.items()},
}
PROBLEM_SCHEMA: Json = {
    "type": "object",
    "description": "What is refused or failed (RFC 9457).",
    "required": ["type", "title", "status", "detail", "faults"],
    "properties": {
        **dict.fromkeys(("type", "title", "detail"), _TEXT),
        "status": {"type": "integer"},
        "faults": {"type": "array", "items": {"$ref": "#/components/schemas/Fault"}},
    },
}
KEY_PARAMETER: Json = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A request that is sent again under the same key is done once, and answered alike for 24 hours.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"},
}


class DescribedService(FastAPI):
    """An application whose description names every refusal."""

    def openapi(self) -> Json:
        """The OpenAPI document."""
        if self.openapi_schema is None:
            document = super().openapi()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            schemas |= {"Problem": PROBLEM_SCHEMA, "Fault": FAULT_SCHEMA}
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            for path, operations in document["paths"].items():
                for method, operation in operations.items():
                    _describe_operation(path, method, operation)
            self.openapi_schema = document
        return self.openapi_schema


def _describe_operation(path: str, method: str, operation: Json) -> None:
    responses = operation["responses"]
    for status in (*EVERYWHERE, *(FOR_CALLERS if operation.get("security") else ())):
        responses.setdefault(str(status), {"description": TITLES[status]})
    if path.startswith("/v1/") and method == "post":
        operation.setdefault("parameters", []).append(KEY_PARAMETER)
        responses.setdefault("409", {"description": TITLES[409]})
    for status, response in responses.items():
        if response["description"] == "Successful Response":
            response["description"] = "Done"
        if int(status) >= 400:
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
            response["description"] = TITLES[int(status)]
    operation["responses"] = dict(sorted(responses.items()))
