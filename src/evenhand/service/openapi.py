"""The description of the API as an OpenAPI document, and as a page without a script or a foreign host."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

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


HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
STYLE = """
:root{color-scheme:light dark}
body{background:light-dark(#fff,#111216);color:light-dark(#16181d,#eceef3)}a{color:light-dark(#2f4fbf,#a3b6ff)}
body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;padding:1.5rem;max-width:62rem}
h1{margin:0}h2{margin:2.5rem 0 .5rem;text-transform:capitalize}
details{border:1px solid #8886;border-radius:.4rem;margin:.4rem 0;padding:.5rem .8rem}
summary{cursor:pointer;display:flex;gap:.2rem .7rem;flex-wrap:wrap;align-items:baseline;position:relative;
padding-right:1.5rem}
summary::after{content:"+";position:absolute;right:0;top:0;opacity:.6}details[open]>summary::after{content:"−"}
.verb{font:600 .8rem/1.6 ui-monospace,monospace;min-width:4.2rem;text-align:center;border-radius:.25rem;
background:#0a58ca;color:#fff}
.post{background:#146c43}.delete{background:#b02a37}
code,.path{font-family:ui-monospace,monospace;overflow-wrap:anywhere}.path{font-weight:600}
.path{max-width:calc(100% - 5.5rem)}.says{flex:1 1 20rem}td{overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;border-top:1px solid #8884}
h3{font-size:1rem;margin:1rem 0 0}
"""


def add_api_page(app: FastAPI) -> None:
    """Serve the page at /docs."""

    @app.get("/docs", include_in_schema=False)
    def get_api_page() -> HTMLResponse:
        return HTMLResponse(render_api_page(app.openapi()), headers=HEADERS)


def render_api_page(document: Json) -> str:
    """The page of an OpenAPI document."""
    info, groups = document["info"], _group_api_operations(document)
    parts = [
        f"<section><h2>{escape(tag)}</h2>{''.join(_render_api_operation(document, *one) for one in some)}</section>"
        for tag, some in groups.items()
    ]
    title = f"{escape(info['title'])} API"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{STYLE}</style></head><body>'
        f"<header><h1>{title} <small>{escape(info['version'])}</small></h1><p>{escape(info.get('description', ''))}</p>"
        '<p>For programs: <a href="openapi.json">openapi.json</a>. Where tokens are asked for, send '
        "<code>Authorization: Bearer TOKEN</code>. What is refused is <code>application/problem+json</code> "
        "with <code>faults</code>, each with where, what and what would work.</p></header>"
        f"<main>{''.join(parts)}</main></body></html>"
    )


def _group_api_operations(document: Json) -> dict[str, list[tuple[str, str, Json]]]:
    groups: dict[str, list[tuple[str, str, Json]]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            groups.setdefault((operation.get("tags") or ["other"])[0], []).append((method, path, operation))
    return groups


def _render_api_operation(document: Json, method: str, path: str, operation: Json) -> str:
    shown = escape(path).replace("/", "/<wbr>")  # A path breaks between its parts, not within them.
    head = (
        f'<span class="verb {method}">{method.upper()}</span><span class="path">{shown}</span>'
        f'<span class="says">{escape(operation.get("description", "").replace("`", ""))}</span>'
    )
    parameters = [
        (one["name"], f"{one['in']}, {_describe_api_type(one['schema'])}", one.get("description", ""))
        for one in operation.get("parameters", ())
    ]
    answers = [(status, one.get("description", ""), ", ".join(one.get("content", ()))) for status, one in
               operation["responses"].items()]  # fmt: skip
    return (
        f"<details><summary>{head}</summary>"
        f"{_render_api_table('Parameters', ('name', 'where', 'is'), parameters)}"
        f"{_render_api_table('Body', ('field', 'type', 'is'), list(_list_api_body_fields(document, operation)))}"
        f"{_render_api_table('Answers', ('status', 'is', 'as'), answers)}</details>"
    )


def _list_api_body_fields(document: Json, operation: Json) -> Iterator[tuple[str, str, str]]:
    """The fields of what is sent, those that must be there first told so."""
    content = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema = media["schema"]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            needed = ", required" if name in required else ""
            yield name, f"{_describe_api_type(field)}{needed}", field.get("description", "")


def _describe_api_type(schema: Json) -> str:
    if "anyOf" in schema:
        kinds = [_describe_api_type(one) for one in schema["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in schema:
        return " | ".join(str(one) for one in schema["enum"])
    kind = str(schema.get("type", "any"))
    return f"list of {_describe_api_type(schema['items'])}" if kind == "array" and "items" in schema else kind


def _render_api_table(title: str, heads: tuple[str, ...], rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{one}</th>" for one in heads)
    body = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td><td>{escape(about)}</td></tr>"
        for name, kind, about in rows
    )
    return f"<h3>{title}</h3><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
