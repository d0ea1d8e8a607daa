"""Tools of frameworks as functions with definitions: LangChain, Pydantic AI, the OpenAI Agents SDK, and other objects with a
name, a description and arguments of their own, as LlamaIndex, CrewAI, smolagents, DSPy and Haystack have them."""

from __future__ import annotations

import functools
import inspect
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
    return _of_object(thing)


def _of_langchain(tool: Any) -> Framework:
    parameters = _schema_of(tool.tool_call_schema)

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


_FUNCTIONS = ("fn", "func", "function", "entrypoint")
"""Fields in which objects keep the function that they run."""
_RUNS = ("run", "invoke", "call", "forward")
"""Methods by which objects run that cannot be called themselves."""


def _of_object(thing: Any) -> Framework | None:
    """An object that runs, by the name, the description and the arguments that its fields have."""
    if inspect.isroutine(thing) or isinstance(thing, (functools.partial, FunctionTool)):
        return None
    about = getattr(thing, "metadata", None) if not isinstance(getattr(thing, "name", None), str) else thing
    name = getattr(about, "name", None)
    description = getattr(about, "description", None) or getattr(about, "desc", None)
    run = _run_of(thing)
    if not isinstance(name, str) or not isinstance(description, str) or run is None:
        return None
    parameters = _parameters_of(about) or _parameters_of(thing)
    function = FunctionTool(run, name)
    if parameters is None:
        if any(one.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) for one in function.arguments):
            raise ValueError(
                f"a `{type(thing).__name__}` is no function, and its arguments cannot be read: pass the function that it"
                " runs, or a dict with `name`, `description` and `parameters`"
            )
        parameters = function.definition()[0]["parameters"]
    return {"name": name, "description": description, "parameters": parameters}, function


def _run_of(thing: Any) -> Callable[..., Any] | None:
    functions = (getattr(thing, name, None) for name in _FUNCTIONS)
    function: Callable[..., Any] | None = next((one for one in functions if inspect.isroutine(one)), None)
    if function is None and callable(thing):
        function = thing
    methods = (getattr(thing, name, None) for name in _RUNS)
    return function or next((one for one in methods if inspect.isroutine(one)), None)


def _schema_of(schema: Any) -> Any:
    """The schema that a pydantic model stands for, without what the tool itself says; another schema as it is."""
    if not isinstance(schema, type) or not hasattr(schema, "model_json_schema"):
        return schema
    from ._arguments import schema_of_model

    return {key: value for key, value in schema_of_model(schema).items() if key not in ("title", "description")}


def _parameters_of(thing: Any) -> dict[str, Any] | None:
    """The schema of the arguments in the fields of an object: a schema, a pydantic model, or a dict of arguments."""
    for name in ("parameters", "input_schema", "inputSchema", "schema", "args_schema", "fn_schema"):
        found = getattr(thing, name, None)
        found = _schema_of(found)
        if isinstance(found, Mapping) and ("properties" in found or found.get("type") == "object"):
            return dict(found)
    for name in ("inputs", "args"):
        found = getattr(thing, name, None)
        if isinstance(found, Mapping) and all(isinstance(one, Mapping) for one in found.values()):
            required = [key for key, one in found.items() if not one.get("nullable") and "default" not in one]
            return {"type": "object", "properties": {key: dict(one) for key, one in found.items()}, "required": required}
    return None


def _made(name: str, description: str | None, parameters: Any, run: Callable[..., Any]) -> Framework:
    return {"name": name, "description": description or "", "parameters": parameters}, FunctionTool(run, name)
