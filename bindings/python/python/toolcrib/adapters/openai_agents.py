"""OpenAI Agents SDK: the tools of a catalog as function tools of an agent.

>>> told = instructions(catalog, "You help.", mode="hybrid")
>>> agent = Agent(name="helper", instructions=told, tools=tools(catalog, mode="hybrid"))
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents import FunctionTool, Tool

from .._catalog import Catalog, Mode
from .._functions import FunctionTool as _FunctionTool
from .._session import Run, Session
from ._bound import bound, content


def tools(
    catalog: Catalog,
    run: Mapping[str, Run | _FunctionTool] | None = None,
    *,
    profile: str | None = None,
    mode: Mode | None = None,
    session: Session | None = None,
) -> list[Tool]:
    """The tools that a mode binds. Their calls are checked and answered in one session."""
    running = session or Session(catalog, run, profile=profile)
    payload, _ = bound(running, "openai", mode)
    return [_tool(running, entry["function"]) for entry in payload.get("tools", [])]


def instructions(
    catalog: Catalog, own: str = "", *, profile: str | None = None, mode: Mode | None = None
) -> str:
    """Instructions of an agent with these tools: its own, and the section that tells how the others are reached."""
    _, prompt = bound(Session(catalog, profile=profile), "openai", mode)
    return "\n\n".join(text for text in (own, prompt) if text)


def _tool(session: Session, function: Mapping[str, Any]) -> Tool:
    async def invoke(_context: Any, arguments: str) -> str:
        envelope = await session.arun(session.call(function["name"], arguments))
        return content(envelope)

    return FunctionTool(
        name=function["name"],
        description=function.get("description", ""),
        params_json_schema=dict(function.get("parameters") or {"type": "object", "properties": {}}),
        on_invoke_tool=invoke,
        strict_json_schema=bool(function.get("strict", False)),
    )
