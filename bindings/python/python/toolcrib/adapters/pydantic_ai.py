"""Pydantic AI: the tools of a catalog as a toolset.

>>> agent = Agent(model, toolsets=[toolset(catalog, profile="core", mode="hybrid")])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from .._catalog import Catalog, Mode
from .._functions import FunctionTool
from .._session import Run, Session
from ._bound import bound

# Arguments are checked by the session, which tells the model more than a validator would.
_ANY = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))


class CatalogToolset(AbstractToolset[Any]):
    """The tools that a mode binds. Their calls are checked and answered in one session."""

    def __init__(self, session: Session, mode: Mode | None = None, id: str = "toolcrib") -> None:
        self.session = session
        self._id = id
        self._payload, self._prompt = bound(session, "openai", mode)

    @property
    def id(self) -> str | None:
        """The id of the toolset."""
        return self._id

    async def get_instructions(self, ctx: RunContext[Any]) -> str | None:
        """The section of the system prompt that tells how the tools are reached."""
        return self._prompt or None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools, by the names that the model sees."""
        functions = [entry["function"] for entry in self._payload.get("tools", [])]
        return {function["name"]: self._tool(function) for function in functions}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Runs a call; an error goes back to the model as the result."""
        envelope = await self.session.arun(self.session.call(name, tool_args))
        return envelope["result"] if envelope["ok"] else {"error": envelope["error"]}

    def _tool(self, function: Mapping[str, Any]) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=function["name"],
            description=function.get("description"),
            parameters_json_schema=dict(function.get("parameters") or {"type": "object", "properties": {}}),
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=1, args_validator=_ANY)


def toolset(
    catalog: Catalog,
    run: Mapping[str, Run | FunctionTool] | None = None,
    *,
    profile: str | None = None,
    mode: Mode | None = None,
    session: Session | None = None,
    id: str = "toolcrib",
) -> CatalogToolset:
    """The tools of a profile as a toolset of an agent. Toolsets of several catalogs each need an ``id``."""
    return CatalogToolset(session or Session(catalog, run, profile=profile), mode, id)
