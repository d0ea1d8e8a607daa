"""LangChain and LangGraph: a middleware that binds tools by mode, and checks and answers their calls.

>>> agent = create_agent(model, middleware=[ToolcribMiddleware(catalog, profile="core", mode="hybrid")])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from .._call import Call
from .._catalog import Catalog, Mode
from .._functions import FunctionTool
from .._session import Envelope, Run, Session
from ._bound import bound, content


def tools(catalog: Catalog, *, profile: str | None = None, session: Session | None = None) -> list[BaseTool]:
    """The tools of a profile, bound in full, for ``create_agent(tools=...)`` and a ``ToolNode`` of LangGraph."""
    running = session or Session(catalog, profile=profile)
    payload = catalog.payload("langchain", profile=profile, mode="full")
    return [_tool(running, entry.get("function", entry)) for entry in payload.get("tools", [])]


def _tool(session: Session, function: Mapping[str, Any]) -> BaseTool:
    name = function["name"]

    def run(**arguments: Any) -> str:
        return content(session.run(session.call(name, arguments)))

    async def arun(**arguments: Any) -> str:
        return content(await session.arun(session.call(name, arguments)))

    return StructuredTool(
        name=name,
        description=function.get("description", ""),
        args_schema=dict(function.get("parameters") or {"type": "object", "properties": {}}),
        func=run,
        coroutine=arun,
    )


class ToolcribMiddleware(AgentMiddleware[Any, Any, Any]):
    """Binds the tools of a catalog for each request, and runs their calls in a session.

    Tools of the agent itself stay bound, and are run by the agent.
    """

    def __init__(
        self,
        catalog: Catalog,
        run: Mapping[str, Run | FunctionTool] | None = None,
        *,
        profile: str | None = None,
        mode: Mode | None = None,
        session: Session | None = None,
    ) -> None:
        super().__init__()
        self.session = session or Session(catalog, run, profile=profile)
        self._payload, self._prompt = bound(self.session, "langchain", mode)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Binds the tools and adds their section to the system prompt."""
        return handler(self._with_tools(request))

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same, awaited."""
        return await handler(self._with_tools(request))

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Answers a call of a tool of the catalog."""
        if request.tool is not None:
            return handler(request)
        return _message(request.tool_call, self.session.run(self._call(request.tool_call)))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same, awaited."""
        if request.tool is not None:
            return await handler(request)
        return _message(request.tool_call, await self.session.arun(self._call(request.tool_call)))

    def _with_tools(self, request: Any) -> Any:
        system = "\n\n".join(text for text in (request.system_prompt, self._prompt) if text)
        return request.override(tools=[*request.tools, *self._payload.get("tools", [])], system_prompt=system)

    def _call(self, call: Mapping[str, Any]) -> Call:
        return self.session.call(call["name"], call["args"])


def _message(call: Mapping[str, Any], envelope: Envelope) -> ToolMessage:
    status = "success" if envelope["ok"] else "error"
    return ToolMessage(content(envelope), tool_call_id=call["id"], name=call["name"], status=status)
