"""Plain loops over the SDKs of OpenAI, Anthropic and Google: tools out, calls in, results out, until the model answers in
words. Each is there for a client that blocks, and for one that is awaited.

>>> messages = anthropic_loop(client, catalog, [{"role": "user", "content": "..."}], model="...", max_tokens=1000)
>>> messages = await async_anthropic_loop(async_client, catalog, messages, model="...", max_tokens=1000)
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from .._call import Call
from .._catalog import Catalog, Payload, Provider, Mode
from .._session import Session
from ..errors import ArgumentError, Error
from ._bound import bound
from ._wires import Anthropic, Google, OpenAI, Wire

Send = Callable[[list[Any], Payload, str], Any]
AsyncSend = Callable[[list[Any], Payload, str], Awaitable[Any]]


class TurnsExceeded(Error):
    """The model still calls tools after the last turn; ``messages`` are all until then."""

    def __init__(self, message: str, messages: list[Any]) -> None:
        super().__init__(message, "turns_exceeded")
        self.messages = messages


def loop(
    provider: Provider,
    send: Send,
    session: Session,
    messages: list[Any],
    *,
    reply_of: Callable[[Any], list[Any]],
    mode: Mode | None = None,
    max_turns: int = 20,
) -> list[Any]:
    """Sends messages and runs calls until a response has none; gives all messages.

    ``send`` gets the messages, the payload and the section of the system prompt. ``reply_of`` takes the messages of the
    model out of a response.
    """
    job = _Job(bound(session, provider, mode), messages, reply_of)
    for asked in job.requests(max_turns):
        response = send(*asked)
        if inspect.isawaitable(response):
            _close(response)
            raise ArgumentError("this client is async: await the loop of the same name with `async_`", "argument_invalid")
        job.take(response)
        job.answer(*session.turn(provider, response))
    return job.messages


async def async_loop(
    provider: Provider,
    send: AsyncSend,
    session: Session,
    messages: list[Any],
    *,
    reply_of: Callable[[Any], list[Any]],
    mode: Mode | None = None,
    max_turns: int = 20,
) -> list[Any]:
    """The same, awaited: ``send`` is async, and functions among the tools may be."""
    job = _Job(bound(session, provider, mode), messages, reply_of)
    for asked in job.requests(max_turns):
        sent: Any = send(*asked)
        if not inspect.isawaitable(sent):
            raise ArgumentError("this client blocks: give an async one, or take the loop without `async_`", "argument_invalid")
        response = await sent
        job.take(response)
        job.answer(*await session.aturn(provider, response))
    return job.messages


def openai_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    **request: Any,
) -> list[Any]:
    """Runs a job on an ``openai.OpenAI`` client with Chat Completions; gives all messages."""
    send = client.chat.completions.create
    return _run(OpenAI(request), send, session or Session(catalog), messages, mode, max_turns)


async def async_openai_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    **request: Any,
) -> list[Any]:
    """The same on an ``openai.AsyncOpenAI`` client; async functions among the tools are awaited."""
    send = client.chat.completions.create
    return await _arun(OpenAI(request), send, session or Session(catalog), messages, mode, max_turns)


def anthropic_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    system: str | list[dict[str, Any]] = "",
    **request: Any,
) -> list[Any]:
    """Runs a job on an ``anthropic.Anthropic`` client; gives all messages."""
    wire = Anthropic(request, system)
    return _run(wire, client.messages.create, session or Session(catalog), messages, mode, max_turns)


async def async_anthropic_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    system: str | list[dict[str, Any]] = "",
    **request: Any,
) -> list[Any]:
    """The same on an ``anthropic.AsyncAnthropic`` client; async functions among the tools are awaited."""
    wire = Anthropic(request, system)
    return await _arun(wire, client.messages.create, session or Session(catalog), messages, mode, max_turns)


def google_loop(
    client: Any,
    catalog: Catalog,
    contents: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    model: str,
    config: dict[str, Any] | None = None,
) -> list[Any]:
    """Runs a job on a ``google.genai.Client``; gives all contents."""
    wire = Google(model, dict(config or {}))
    return _run(wire, client.models.generate_content, session or Session(catalog), contents, mode, max_turns)


async def async_google_loop(
    client: Any,
    catalog: Catalog,
    contents: list[Any],
    *,
    session: Session | None = None,
    mode: Mode | None = None,
    max_turns: int = 20,
    model: str,
    config: dict[str, Any] | None = None,
) -> list[Any]:
    """The same on the ``aio`` of a ``google.genai.Client``, or on the client; async functions among the tools are awaited."""
    wire = Google(model, dict(config or {}))
    send = getattr(client, "aio", client).models.generate_content
    return await _arun(wire, send, session or Session(catalog), contents, mode, max_turns)


class _Job:
    """The messages of one job, until a response has no calls."""

    def __init__(self, bound: tuple[Payload, str], messages: list[Any], reply_of: Callable[[Any], list[Any]]) -> None:
        self.messages = list(messages)
        self._bound, self._reply_of, self._is_done = bound, reply_of, False

    def requests(self, max_turns: int) -> Iterator[tuple[list[Any], Payload, str]]:
        """What each request has: the messages so far, the payload, and the section of the system prompt."""
        for _ in range(max_turns):
            yield (self.messages, *self._bound)
            if self._is_done:
                return
        raise TurnsExceeded(f"the model still calls tools after {max_turns} turns", self.messages)

    def take(self, response: Any) -> None:
        """Keeps the messages of the model."""
        self.messages.extend(self._reply_of(response))

    def answer(self, calls: list[Call], results: Any) -> None:
        """Keeps the results of calls; without calls, the job is done."""
        self._is_done = not calls
        self.messages.extend([] if self._is_done else results if isinstance(results, list) else [results])


def _run(
    wire: Wire, send: Callable[..., Any], session: Session, messages: list[Any], mode: Mode | None, max_turns: int
) -> list[Any]:
    return loop(
        wire.provider, lambda *asked: send(**wire.request(*asked)), session, messages,
        reply_of=wire.reply_of, mode=mode, max_turns=max_turns,
    )


async def _arun(
    wire: Wire, send: Callable[..., Any], session: Session, messages: list[Any], mode: Mode | None, max_turns: int
) -> list[Any]:
    return await async_loop(
        wire.provider, lambda *asked: send(**wire.request(*asked)), session, messages,
        reply_of=wire.reply_of, mode=mode, max_turns=max_turns,
    )


def _close(awaitable: Any) -> None:
    if inspect.iscoroutine(awaitable):
        awaitable.close()
