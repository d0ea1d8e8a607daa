"""One job of an agent: the core checks and answers its calls, and asks for the functions that are run here."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from . import _toolcrib
from ._call import Call, calls_of
from ._catalog import Catalog, Provider
from ._functions import FunctionTool
from ._hints import target
from ._plain import json_text, plain, plain_result, well_formed
from .errors import AsyncFunctionError, ConversionError, Error, shown

Run = Callable[[Mapping[str, Any]], Any]
Envelope = dict[str, Any]


class ToolFailed(Error):
    """The MCP server says that the call has failed."""


class Session:
    """Runs the calls of one agent.

    A call runs only with arguments that fit. The doc of a tool that ``[exec] require_doc`` covers has to be read first: the
    error carries it, and the next call passes. The functions
    ``read_tool_doc``, ``tool_search``, ``tool_help``, ``tool_exec`` and ``tool_batch`` are answered here.

    ``run`` has functions for tools that are not Python functions of the catalog, by name. Each takes the arguments as one
    dict; a :class:`FunctionTool` takes them by name, as its type hints say. ``require_docs`` decides in place of the
    configuration.
    """

    def __init__(
        self,
        catalog: Catalog,
        run: Mapping[str, Run | FunctionTool] | None = None,
        *,
        profile: str | None = None,
        require_docs: bool | None = None,
    ) -> None:
        self.catalog = catalog
        self.profile = profile
        given = {catalog._core.runnable(name): function for name, function in (run or {}).items()}
        self._runs: dict[str, Run | FunctionTool] = {**catalog.functions, **given}
        self._core = _toolcrib.Session(catalog._core, list(self._runs), profile, require_docs)

    def turn(self, provider: Provider, response: Any) -> tuple[list[Call], Any]:
        """The calls of a response, and the message or messages with their results; without calls, none."""
        calls = self.catalog.parse(provider, response, profile=self.profile)
        return calls, self._drive(self._answer(provider, calls)) if calls else None

    async def aturn(self, provider: Provider, response: Any) -> tuple[list[Call], Any]:
        """The same, with async functions among the tools."""
        calls = self.catalog.parse(provider, response, profile=self.profile)
        return calls, await self._adrive(self._answer(provider, calls)) if calls else None

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Call:
        """A call of a tool by name, checked; ``arguments`` may be the JSON text of a model."""
        text = (arguments or "{}") if isinstance(arguments, str) else json.dumps(plain(dict(arguments)))
        return calls_of(f"[{self._core.call(well_formed(name), well_formed(text))}]")[0]

    def run(self, call: Call) -> Envelope:
        """The envelope of a call: ``{"ok": True, "result": ...}``, or ``{"ok": False, "error": ...}``."""
        envelope: Envelope = self._drive(self._core.run(json_text(call.entry)))
        return envelope

    async def arun(self, call: Call) -> Envelope:
        """The same for functions that may be async. Others run in a thread of their own, so that nothing waits for them."""
        envelope: Envelope = await self._adrive(self._core.run(json_text(call.entry)))
        return envelope

    def _answer(self, provider: Provider, calls: list[Call]) -> _toolcrib.Job:
        return self._core.answer(provider, json_text([call.entry for call in calls]))

    def _drive(self, job: _toolcrib.Job) -> Any:
        """Runs the functions that a job asks for, until it is done."""
        step = json.loads(job.next())
        while asked := step.get("run"):
            try:
                answer = {"result": _result(_run(self._bound(**asked), asked["name"]))}
            except AsyncFunctionError:
                raise
            except Exception as error:
                answer = {"error": _failure(error)}
            step = json.loads(job.next(json_text(answer)))
        return step["done"]

    async def _adrive(self, job: _toolcrib.Job) -> Any:
        step = json.loads(job.next())
        while asked := step.get("run"):
            try:
                answer = {"result": _result(await _arun(self._bound(**asked)))}
            except Exception as error:
                answer = {"error": _failure(error)}
            step = json.loads(job.next(json_text(answer)))
        return step["done"]

    def _bound(self, name: str, arguments: Mapping[str, Any]) -> partial[Any]:
        function = self._runs[name]
        return function.bind(arguments) if isinstance(function, FunctionTool) else partial(function, arguments)


def _run(function: partial[Any], name: str) -> Any:
    result = function()
    if inspect.isawaitable(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()
        message = f"`{name}` is an async function, and this job is not: use `arun`, `aturn`, or what your framework awaits"
        raise AsyncFunctionError(message, "async_function")
    return list(result) if inspect.isgenerator(result) else result


async def _arun(function: partial[Any]) -> Any:
    called = inspect.unwrap(target(function))
    is_async = inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called)
    result = function() if is_async else await _in_thread(function)
    result = await result if inspect.isawaitable(result) else result
    return [one async for one in result] if inspect.isasyncgen(result) else result


async def _in_thread(function: Callable[[], Any]) -> Any:
    """Runs a function in a thread, with the context of its caller; without a loop of asyncio, here."""
    import asyncio

    def outcome() -> tuple[Any, Exception | None]:
        try:
            result = function()
            return (list(result) if inspect.isgenerator(result) else result), None
        except Exception as error:  # a future of asyncio cannot carry every exception
            return None, error

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        result, error = outcome()
    else:
        result, error = await asyncio.to_thread(outcome)
    if error is not None:
        raise error
    return result


def _result(value: Any) -> Any:
    """A result as JSON values; of a ``CallToolResult`` of MCP its structured content, or its texts, or else all of it."""
    if type(value).__name__ != "CallToolResult" or not isinstance(getattr(value, "content", None), list):
        return plain_result(value)
    texts = [part.text for part in value.content if isinstance(getattr(part, "text", None), str)]
    if getattr(value, "isError", getattr(value, "is_error", False)):
        raise ToolFailed("\n".join(texts) or "the server says that the call has failed", "tool_error")
    structured = getattr(value, "structuredContent", getattr(value, "structured_content", None))
    if structured is not None:
        return plain_result(structured)
    return plain_result("\n".join(texts) if texts and len(texts) == len(value.content) else value)


def _failure(error: Exception) -> dict[str, Any]:
    if isinstance(error, ConversionError):
        return {"code": error.code, "message": f"the arguments do not fit: {error}", "field_errors": error.errors, "nearest": []}
    if isinstance(error, Error):
        return {"code": error.code, "message": str(error), **({"nearest": error.nearest} if error.nearest else {})}
    return {"code": "tool_error", "message": shown(error)}
