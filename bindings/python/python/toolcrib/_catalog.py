"""The catalog and its jobs, as Python objects. The work is done by the core, which gives and takes JSON text."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from . import _toolcrib
from ._call import Call, calls_of
from ._definitions import Definitions
from ._finding import Finding, Place, findings_of
from ._functions import FunctionTool
from ._plain import json_text, plain_result
from .errors import ArgumentError, FindingsError

Provider = Literal[
    "openai", "openai-responses", "anthropic", "gemini", "gemini-interactions", "bedrock", "ollama", "mistral",
    "cohere", "mcp", "langchain",
]
Mode = Literal["auto", "full", "hybrid", "native", "gateway", "files"]


@dataclass(frozen=True)
class Tool:
    """A tool of a catalog, in short."""

    name: str
    safe_name: str
    op: str
    summary: str
    effect: Literal["read", "write", "destructive"]


@dataclass(frozen=True)
class FoundTool(Tool):
    """A tool that a search found."""

    confidence: float = 0.0
    reason: str = ""


@dataclass(frozen=True)
class Found:
    """The tools that fit a query, best first; without a match, the nearest."""

    verdict: str
    unmet: list[str]
    hits: list[FoundTool]


@dataclass(frozen=True)
class Written:
    """The files that a run wrote or left alone."""

    created: int
    updated: int
    removed: int
    unchanged: int
    kept: list[str]
    replaced: list[str]


class Payload(dict[str, Any]):
    """The part of a request body with the tools, as a plain dict, and the facts beside it.

    Where the wire is a list, as that of LangChain's ``bind_tools``, it is under ``tools``.
    """

    mode: str
    """The mode that it has."""
    headers: dict[str, str]
    """Headers that the request needs for what is bound."""
    notes: list[str]
    """Notes for a person."""
    findings: list[Finding]
    """Findings on what this provider's schemas cannot say."""
    text: str
    """The same body as the JSON text that ``toolcrib payload`` prints."""


class Catalog:
    """A checked catalog of tools. It never changes: open it again after an edit. Threads may share it."""

    def __init__(self, core: _toolcrib.Catalog, definitions: Definitions | None = None) -> None:
        self._core = core
        self._definitions = definitions or Definitions()
        found = findings_of(json.loads(core.findings())) if self._definitions.functions else []
        self.functions: dict[str, FunctionTool] = self._definitions.names(found)
        """The Python functions among the tools, by canonical name."""

    def __repr__(self) -> str:
        return f"<toolcrib.Catalog of {len(self.tools)} tools, version {self.version}>"

    @property
    def version(self) -> str:
        """The hash of all content; the same content has the same version."""
        return self._core.version()

    @property
    def is_complete(self) -> bool:
        """Whether all input could be read."""
        return self._core.is_complete() and self._definitions.is_complete

    @property
    def tools(self) -> list[Tool]:
        """The tools, in the order of their sources."""
        return list(self._tools.values())

    @cached_property
    def _tools(self) -> dict[str, Tool]:
        return {tool["name"]: Tool(**tool) for tool in json.loads(self._core.tools())}

    def get(self, name: str) -> Tool | None:
        """The tool of this canonical name."""
        return self._tools.get(name)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __contains__(self, name: object) -> bool:
        """Whether there is a tool of this canonical name."""
        return name in self._tools or name in self._tools.values()

    @property
    def profiles(self) -> list[str]:
        """The names of the profiles."""
        return self._core.profiles()

    @property
    def findings(self) -> list[Finding]:
        """Findings on the definitions, the worst first."""
        return self._definitions.merged(findings_of(json.loads(self._core.findings())))

    def check(self) -> None:
        """Raises :class:`FindingsError` where a definition has an error."""
        if errors := [finding for finding in self.findings if finding.severity == "error"]:
            raise FindingsError("\n".join(str(error) for error in errors), errors)

    def payload(
        self,
        provider: Provider,
        *,
        profile: str | None = None,
        mode: Mode | None = None,
    ) -> Payload:
        """The part of a request body with the tools: ``client.messages.create(..., **payload)``."""
        text, facts = self._core.payload(provider, mode, profile)
        body = json.loads(text)
        payload = Payload(body if isinstance(body, dict) else {"tools": body})
        found = json.loads(facts)
        payload.text, payload.mode = text, found["mode"]
        payload.headers, payload.notes = found["headers"], found["notes"]
        payload.findings = findings_of(found["findings"])
        return payload

    def prompt(
        self,
        provider: Provider,
        *,
        profile: str | None = None,
        mode: Mode | None = None,
    ) -> str:
        """The section of the system prompt that goes with a payload of the same options."""
        return self._core.prompt(provider, mode, profile)

    def parse(
        self, provider: Provider, response: Any, *, profile: str | None = None, from_text: bool = False
    ) -> list[Call]:
        """The calls of a response, each with arguments that fit or with what is wrong with it.

        ``response`` is JSON text, a dict, or an object of the provider's SDK: of a stream, the final message. With
        ``from_text``, calls that the model left in its text are read too; without it, a warning says that there are some.
        """
        if hasattr(response, "__aiter__") or inspect.isawaitable(response):
            message = "this is async: await it, and pass the final message of a stream"
            raise ArgumentError(message, "argument_invalid")
        text = json_text(response)
        calls = calls_of(self._core.parse(provider, text, profile, from_text))
        if not from_text and (left := self._core.left_in_text(provider, text, profile)):
            warnings.warn(f"the text holds calls that are not read ({left}); read them with from_text=True", stacklevel=2)
        return calls

    def results(
        self,
        provider: Provider,
        results: Iterable[tuple[Call, Any] | Mapping[str, Any]],
        *,
        profile: str | None = None,
    ) -> Any:
        """The message, or the list of messages, that takes results back to the model.

        Each result is a call of :meth:`parse` and its answer: any JSON value, or an envelope ``{"ok": False, "error":
        ...}``. For a call with an error, the error is sent and the answer is ignored. Entries of
        ``toolcrib results`` are accepted too.
        """
        answered = [entry if isinstance(entry, Mapping) else _answered(*entry) for entry in results]
        return json.loads(self._core.results(provider, json_text(answered), profile))

    def search(self, query: str, limit: int = 5, *, profile: str | None = None) -> Found:
        """The tools that fit what somebody wants, by words. The first search makes the index."""
        found = json.loads(self._core.search(query, max(limit, 0), profile))
        return Found(found["verdict"], found["unmet"], [FoundTool(**hit) for hit in found["hits"]])

    def doc(self, name: str, *, profile: str | None = None) -> str:
        """The doc of one tool, in markdown, by any name that means one tool."""
        return self._core.doc(name, profile)

    def receipt(self, name: str) -> tuple[bool, str]:
        """Whether the doc of a tool has to be read before a call, and the receipt that only its readers know."""
        return self._core.receipt(name)

    def help(self, name: str, *, profile: str | None = None) -> dict[str, Any]:
        """Help on one tool: ``summary``, ``usage``, ``args``, and a ``call`` that fits.

        On a group of tools, such as ``issues``: its ``groups`` and ``ops``, one line each; ``root`` has all.
        """
        help: dict[str, Any] = json.loads(self._core.help(name, profile))
        return help

    def tokens(
        self,
        provider: Provider = "openai",
        *,
        profile: str | None = None,
        mode: Mode | None = None,
        budget: int | None = None,
    ) -> dict[str, Any]:
        """The tokens that tools cost, as ``toolcrib tokens --json`` prints them; all profiles unless one is named."""
        report: dict[str, Any] = json.loads(self._core.tokens(provider, profile, mode, budget))
        return report

    def render(self, folder: str | PathLike[str], *, profile: str | None = None) -> Written:
        """Writes docs into a folder, which must be toolcrib's or not exist."""
        return Written(**json.loads(self._core.render(folder, profile)))

    def seed(
        self,
        workspace: str | PathLike[str],
        *,
        profile: str | None = None,
        template: str | PathLike[str] | None = None,
        vars: Mapping[str, Any] | None = None,
    ) -> Written:
        """Seeds the workspace of an agent: docs below ``tools/``, and an ``AGENTS.md``.

        ``vars`` are the values of the job that files of the template name.
        """
        return Written(**json.loads(self._core.seed(workspace, profile, template, json_text(dict(vars or {})))))


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _answered(call: Call, answer: Any) -> dict[str, Any]:
    return call.entry if call.error else {**call.entry, "envelope": plain_result(answer)}


def open(
    source: str | PathLike[str] | Iterable[Any] | Callable[..., Any] | FunctionTool,
    *,
    config: str | PathLike[str] | None = None,
) -> Catalog:
    """Opens a catalog.

    ``source`` is a path (a folder, a ``toolcrib.toml``, or a file of definitions), or what a program has: dicts of
    definitions in any known format, functions with docstrings and type hints, tools of LangChain, Pydantic AI and the
    OpenAI Agents SDK, and results of an MCP session's ``list_tools()``, also mixed; or one of these; or a dict of functions
    by name. One that cannot be read is a finding, and the others are there. ``config`` is a ``toolcrib.toml`` with settings for the latter, such as profiles.
    """
    if isinstance(source, (str, PathLike)):
        return Catalog(_toolcrib.Catalog.open(_path(fspath(source))))
    return Catalog(*_opened(source, config))


def _opened(source: Any, config: str | PathLike[str] | None) -> tuple[_toolcrib.Catalog, Definitions]:
    if inspect.iscoroutine(source):
        source.close()
        raise ArgumentError("this is a coroutine: await it, as in `toolcrib.open(await session.list_tools())`", "argument_invalid")
    is_named = isinstance(source, Mapping) and bool(source) and all(map(callable, source.values()))
    is_one = not is_named and isinstance(source, (Mapping, FunctionTool)) or hasattr(source, "tools") or callable(source)
    given: Any = [source] if is_one else source
    if not isinstance(given, Iterable):
        message = f"a `{type(source).__name__}` has no tools: give a path, or a list of functions and definitions"
        raise ArgumentError(message, "argument_invalid")
    if config is not None and Path(config).suffix == ".toml" and Path(config).name != "toolcrib.toml":
        message = f"`config` is a `toolcrib.toml`, or a folder with one, and no `{Path(config).name}`"
        raise ArgumentError(message, "argument_invalid", place=Place(fspath(config), ""))
    definitions = Definitions.of(given)
    return _toolcrib.Catalog.from_json(json_text(definitions.values), config), definitions


def _path(path: str) -> Path:
    if re.match(r"\w[\w+.-]+://", path):
        message = f"`{path}` is an address, and the library reads files only: {_AT_ADDRESS}"
        raise ArgumentError(message, "argument_invalid")
    if path.lstrip()[:1] in ("[", "{") and not Path(path[:100]).exists():
        raise ArgumentError("this is JSON text, and no path: give what `json.loads` makes of it", "argument_invalid")
    return Path(path)


_AT_ADDRESS = (
    "save what is there to a file and open that, give what the `list_tools()` of an MCP session returns, or use the command, "
    "which takes addresses: `toolcrib serve ADDRESS`"
)
