"""One job of an agent: its calls are checked, run, and answered in envelopes, as the gateway answers them."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._batch import batched
from ._call import Call
from ._catalog import Catalog, Provider
from ._functions import FunctionTool
from ._mcp import is_mcp_result, mcp_result
from ._plain import plain, plain_result, well_formed
from ._refusal import Envelope, refusal
from ._waiting import in_thread, is_async
from .errors import ConversionError, Error, UnknownTool, shown

Run = Callable[[Mapping[str, Any]], Any]


class Session:
    """Runs the calls of one agent.

    A call runs only with arguments that fit. The doc of a tool that ``[exec] require_doc`` covers has to be read first: the
    refusal carries it, and the next call passes. The functions
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
        if profile is not None and profile not in catalog.profiles:
            catalog.payload("openai", profile=profile)  # says which there are
        self._runs: dict[str, Run] = {}
        self._functions = dict(catalog.functions)
        self._require_docs = require_docs
        self._read: dict[str, str] = {}
        self._ours: dict[str, Run] = {
            "read_tool_doc": self._read_tool_doc,
            "tool_search": self._tool_search,
            "tool_help": lambda given: self.catalog.help(str(given.get("path", "")), profile=self.profile),
            "tool_batch": self._batch,
        }
        for name, function in (run or {}).items():
            self._add(name, function)

    def _add(self, name: str, function: Run | FunctionTool) -> None:
        safe = {tool.safe_name: tool.name for tool in self.catalog}
        known = name if name in self.catalog or name in self._ours else safe.get(name)
        if known is None:
            nearest = difflib.get_close_matches(name, [*safe, *safe.values()])
            raise UnknownTool(f"`run` has a function for `{name}`, and there is no such tool", "unknown_tool", nearest)
        self._functions.pop(known, None)
        if isinstance(function, FunctionTool):
            self._functions[known] = function
        else:
            self._runs[known] = function

    def turn(self, provider: Provider, response: Any) -> tuple[list[Call], Any]:
        """The calls of a response, and the message or messages with their results; without calls, none."""
        calls = self.catalog.parse(provider, response, profile=self.profile)
        answered = [(call, self.run(call)) for call in calls]
        return calls, self._reply(provider, answered)

    async def aturn(self, provider: Provider, response: Any) -> tuple[list[Call], Any]:
        """The same, with async functions among the tools."""
        calls = self.catalog.parse(provider, response, profile=self.profile)
        answered = [(call, await self.arun(call)) for call in calls]
        return calls, self._reply(provider, answered)

    def _reply(self, provider: Provider, answered: list[tuple[Call, Envelope]]) -> Any:
        if not answered:
            return None
        entries = [
            {**{name: value for name, value in call.entry.items() if name != "error"}, "envelope": envelope}
            for call, envelope in answered
        ]
        return self.catalog.results(provider, entries, profile=self.profile)

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> Call:
        """A call of a tool by name, checked; ``arguments`` may be the JSON text of a model."""
        text = (arguments or "{}") if isinstance(arguments, str) else json.dumps(plain(dict(arguments)))
        call = {"id": "call", "type": "function", "function": {"name": name, "arguments": text}}
        response = {"choices": [{"message": {"tool_calls": [call]}}]}
        return self.catalog.parse("openai", response, profile=self.profile)[0]

    def run(self, call: Call) -> Envelope:
        """The envelope of a call: ``{"ok": True, "result": ...}``, or ``{"ok": False, "error": ...}``."""
        answer = self._begin(call)
        if not isinstance(answer, _Running):
            return answer
        try:
            result = answer.run()
            if inspect.isawaitable(result) or inspect.isasyncgen(result):
                _close(result)
                raise TypeError(f"`{answer.name}` is an async function, and this job is not: use `arun`, `aturn`, or what your framework awaits")
            return _succeeded(list(result) if inspect.isgenerator(result) else result)
        except Exception as error:
            return _failed(error)

    async def arun(self, call: Call) -> Envelope:
        """The same for functions that may be async. Others run in a thread of their own, so that nothing waits for them."""
        answer = self._begin(call)
        if not isinstance(answer, _Running):
            return answer
        try:
            if answer.run.func == self._batch:
                result = await self._abatch(answer.arguments)
            elif is_async(answer.run.func) or answer.name in self._ours:
                result = answer.run()
            else:
                result = await in_thread(answer.run)
            result = await result if inspect.isawaitable(result) else result
            result = [one async for one in result] if inspect.isasyncgen(result) else result
            return _succeeded(list(result) if inspect.isgenerator(result) else result)
        except Exception as error:
            return _failed(error)

    def _begin(self, call: Call, receipt: str | None = None) -> Envelope | _Running:
        name = call.name or ""
        if name == "tool_exec" and call.error is None:
            given = call.arguments or {}
            return self._begin(self.call(str(given.get("op", "")), given.get("args") or {}), given.get("receipt"))
        if call.error is not None:
            hints = {**call.error.entry}
            code, message = str(hints.pop("code")).upper(), str(hints.pop("message"))
            return refusal(code, message, "correct the call, and send it again", **hints)
        arguments = call.arguments or {}
        if name in self._ours and name not in self._runs and name not in self._functions:
            return _Running(name, arguments, partial(self._ours[name], arguments))
        tool = self.catalog.get(name)
        if tool is None:
            return self._without_function(name)
        unread = self._without_doc(name, receipt)
        if unread:
            return unread
        if name in self._functions:
            try:
                return _Running(name, arguments, self._functions[name].bind(arguments))
            except ConversionError as error:
                return _unfit(error)
        if name not in self._runs:
            return self._without_function(name)
        return _Running(name, arguments, partial(self._runs[name], arguments))

    def _without_function(self, name: str) -> Envelope:
        return refusal("NOT_FOUND", f"nothing runs `{name}` here", _another_way(name))

    def _without_doc(self, name: str, receipt: str | None) -> Envelope | None:
        is_required, current = self.catalog.receipt(name)
        if not (is_required if self._require_docs is None else self._require_docs):
            return None
        if current in (receipt, self._read.get(name)):
            return None
        self._read[name] = current
        message = f"the doc of `{name}` has to be read before it is called"
        return refusal("DOC_REQUIRED", message, "read `help` here, then send the call again", help=self.catalog.help(name, profile=self.profile))

    def _read_tool_doc(self, given: Mapping[str, Any]) -> Any:
        names = [name for name in [given.get("name"), *(given.get("names") or [])] if name]
        docs = []
        for name in names:
            docs.append(self.catalog.doc(name, profile=self.profile))
            self._read[self.call(name, {}).name or name] = self.catalog.receipt(name)[1]
        return "\n\n".join(docs)

    def _batch(self, given: Mapping[str, Any]) -> Any:
        batch = batched(given["calls"])
        try:
            asked = next(batch)
            while True:
                asked = batch.send(self.run(self.call(*asked)))
        except StopIteration as done:
            return done.value

    async def _abatch(self, given: Mapping[str, Any]) -> Any:
        batch = batched(given["calls"])
        try:
            asked = next(batch)
            while True:
                asked = batch.send(await self.arun(self.call(*asked)))
        except StopIteration as done:
            return done.value

    def _tool_search(self, given: Mapping[str, Any]) -> Any:
        if given.get("queries"):
            return {"results": [{"query": query, **self._found(query, given)} for query in given["queries"]]}
        return self._found(given.get("query", ""), given)

    def _found(self, query: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        found = self.catalog.search(str(query), int(given.get("limit") or 5), profile=self.profile)
        hits = [{"name": hit.name, "op": hit.op, "summary": hit.summary, "reason": hit.reason} for hit in found.hits]
        return {"results": hits} if found.is_match else {"no_match": True, "nearest": hits, "unmet": found.unmet}


@dataclass(frozen=True)
class _Running:
    """A call that may be run."""

    name: str
    arguments: Mapping[str, Any]
    run: partial[Any]


def _succeeded(result: Any) -> Envelope:
    return {"ok": True, "result": plain_result(mcp_result(result) if is_mcp_result(result) else result)}


def _failed(error: Exception) -> Envelope:
    code = error.code.upper() if isinstance(error, Error) else "TOOL_ERROR"
    hints = {"nearest": error.nearest} if isinstance(error, Error) and error.nearest else {}
    message = str(error) if isinstance(error, Error) else shown(error)
    return refusal(code, well_formed(message), "correct the call, or try another way", **hints)


def _unfit(error: ConversionError) -> Envelope:
    message = f"the arguments do not fit: {well_formed(str(error))}"
    return refusal("SCHEMA", message, "correct the call, and send it again", field_errors=error.errors, nearest=[])


def _another_way(name: str) -> str:
    return f"do not send it again. Try another way, or tell the user that `{name}` does not work, and its error"


def _close(awaitable: Any) -> None:
    if inspect.iscoroutine(awaitable):
        awaitable.close()
