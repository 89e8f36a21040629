"""A client of the protocol's own SDK: it starts `evenhand mcp` in a folder, calls tools, and keeps what comes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

Json = dict[str, Any]
SECONDS = 120.0


@dataclass
class Asked:
    """What a server offers, and what it answered to each call."""

    tools: dict[str, Json] = field(default_factory=dict)
    answers: dict[str, CallToolResult] = field(default_factory=dict)
    progress: list[tuple[float, float | None]] = field(default_factory=list)

    def text(self, name: str) -> str:
        """The text of an answer."""
        (content,) = self.answers[name].content
        assert isinstance(content, TextContent)
        return content.text

    def data(self, name: str) -> Json:
        """The data of an answer."""
        found = self.answers[name].structured_content
        assert isinstance(found, dict)
        return found


def ask_over_stdio(folder: Path, calls: Mapping[str, tuple[str, Json]], *options: str) -> Asked:
    """Start the command in a folder, and make the calls in their order."""
    started = StdioServerParameters(command=sys.executable, args=["-m", "evenhand", "mcp", *options], cwd=folder)
    return asyncio.run(asyncio.wait_for(_ask(stdio_client(started), calls), SECONDS))


async def _ask(server: Any, calls: Mapping[str, tuple[str, Json]]) -> Asked:
    asked = Asked()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        asked.progress.append((progress, total))

    async with Client(server) as client:
        asked.tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        for name, (tool, arguments) in calls.items():
            filled = {key: _fill_in(asked, value) for key, value in arguments.items()}
            asked.answers[name] = await client.call_tool(tool, filled, progress_callback=note)
    return asked


def _fill_in(asked: Asked, value: object) -> object:
    """ "NAME:FIELD" stands for a field of an earlier answer."""
    name, colon, key = value.partition("::") if isinstance(value, str) else ("", "", "")
    return asked.data(name)[key] if colon else value
