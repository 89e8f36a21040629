"""The server: tools by name, arguments checked, every error told so that the assistant knows what to do next."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from evenhand._version import __version__
from evenhand.errors import (
    EvenhandError,
    find_unreadable_import_error,
    mark_errors_about_imports,
    suggest_close_word_in_error,
)
from evenhand.mcp.tool_results import refuse_tool, refuse_tool_for_error
from evenhand.mcp.tools import AssistantTools
from evenhand.models.connections import Connections
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.models import ConnectionOptions, open_user_connections

INSTRUCTIONS = (
    "Scores work against rubrics. After finishing work that has to meet a standard: list_rubrics, then judge (a judge "
    "answers) or score (you answer per criterion), with a subject to keep its history. Never compute a score yourself. "
    "No score is not a low score: answer what is missing or ask another judge."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
STORES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
READING_TOOLS = ("explain_scorecard", "list_rubrics", "check_rubric", "compare_runs", "trust_run", "labels_next")


class AssistantServer(MCPServer[Any]):
    """A server whose tools answer faults of the input with what would work."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; whatever is wrong with the call comes back as an answer that says so."""
        known = {tool.name: tool.input_schema.get("properties", {}) for tool in await self.list_tools()}
        if name not in known:
            return refuse_tool([f"there is no tool {name[:60]!r}"], f"the tools are {', '.join(known)}")
        unknown = [one for one in arguments if one not in known[name]]
        if unknown:
            hint = suggest_close_word_in_error(unknown[0], known[name]) or f"it takes {', '.join(known[name])}"
            return refuse_tool([f"{name} takes no argument {unknown[0][:60]!r}"], hint)
        try:
            with mark_errors_about_imports():
                return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, EvenhandError):
                return refuse_tool_for_error(error.__cause__)
            if isinstance(error.__cause__, ValidationError):
                return refuse_tool(
                    _tell_wrong_tool_arguments(error.__cause__), f"{name} takes {', '.join(known[name])}"
                )
            if (unreadable := find_unreadable_import_error(error.__cause__)) is not None:
                return refuse_tool_for_error(unreadable)
            raise


def _tell_wrong_tool_arguments(error: ValidationError) -> list[str]:
    found = [(".".join(map(str, one["loc"])), one["msg"].lower()) for one in error.errors(include_url=False)]
    return [f"{where}: {what}" for where, what in found]


def build_assistant_server(project: ConfinedUserProject, connections: Connections) -> AssistantServer:
    """The server with the tools of a project."""
    server = AssistantServer(
        "evenhand", title="Evenhand", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    for name, function in AssistantTools(project, connections).list_functions().items():
        annotations = READS if name in READING_TOOLS else STORES
        server.add_tool(function, name=name, annotations=annotations, structured_output=False)
    return server


async def serve_assistant_over_stdio(project: ConfinedUserProject, connect: ConnectionOptions) -> None:
    """Answer on standard input and output until the assistant closes them."""
    async with open_user_connections(connect) as connections:
        await build_assistant_server(project, connections).run_stdio_async()


@asynccontextmanager
async def open_assistant_over_http(
    project: ConfinedUserProject, connections: Connections
) -> AsyncIterator[Callable[..., Awaitable[None]]]:
    """An ASGI application that answers requests, each for itself. Whoever mounts it has checked who calls."""
    server = build_assistant_server(project, connections)
    checked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, json_response=True, transport_security=checked)
    async with server.session_manager.run():
        yield server.session_manager.handle_request
