"""Tools of frameworks as functions with definitions: LangChain, Pydantic AI and the OpenAI Agents SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ._functions import FunctionTool

Framework = tuple[dict[str, Any], FunctionTool | None]
"""A definition, and the function that runs it; a tool that needs the context of an agent has none."""


def tool_of_framework(thing: Any) -> Framework | None:
    """A tool of a framework; of another thing, none."""
    if isinstance(thing, (type, Mapping)):
        return None
    if hasattr(thing, "tool_call_schema") and hasattr(thing, "invoke"):
        return _of_langchain(thing)
    if hasattr(thing, "params_json_schema") and hasattr(thing, "on_invoke_tool"):
        return _of_openai_agents(thing)
    if hasattr(thing, "takes_ctx") and hasattr(thing, "tool_def"):
        return _of_pydantic_ai(thing)
    return None


def _of_langchain(tool: Any) -> Framework:
    schema = tool.tool_call_schema
    parameters = schema if isinstance(schema, Mapping) else schema.model_json_schema()

    def run(**arguments: Any) -> Any:
        is_async = getattr(tool, "func", run) is None
        return tool.ainvoke(arguments) if is_async else tool.invoke(arguments)

    return _made(tool.name, tool.description, parameters, run)


def _of_openai_agents(tool: Any) -> Framework:
    async def run(**arguments: Any) -> Any:
        from agents.tool_context import ToolContext

        text = json.dumps(arguments)
        context = ToolContext(None, tool_name=tool.name, tool_call_id="toolcrib", tool_arguments=text)
        return await tool.on_invoke_tool(context, text)

    return _made(tool.name, tool.description, tool.params_json_schema, run)


def _of_pydantic_ai(tool: Any) -> Framework:
    definition, function = _made(tool.name, tool.description, tool.tool_def.parameters_json_schema, tool.function)
    return definition, None if tool.takes_ctx else function


def _made(name: str, description: str | None, parameters: Any, run: Callable[..., Any]) -> Framework:
    return {"name": name, "description": description or "", "parameters": parameters}, FunctionTool(run, name)
