"""Plain loops over the SDKs of OpenAI, Anthropic and Google: tools out, calls in, results out, until the model answers in
words.

>>> messages = anthropic_loop(client, catalog, [{"role": "user", "content": "..."}], model="...", max_tokens=1000)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._catalog import Catalog, Payload, Provider, Surface
from .._plain import plain
from .._session import Session
from ..errors import Error
from ._bound import bound

Send = Callable[[list[Any], Payload, str], Any]


class TurnsExceeded(Error):
    """The model still calls tools after the last turn."""


def loop(
    provider: Provider,
    send: Send,
    session: Session,
    messages: list[Any],
    *,
    reply_of: Callable[[Any], list[Any]],
    surface: Surface | None = None,
    max_turns: int = 20,
) -> list[Any]:
    """Sends messages and runs calls until a response has none; gives all messages.

    ``send`` gets the messages, the payload and the section of the system prompt. ``reply_of`` takes the messages of the
    model out of a response.
    """
    messages = list(messages)
    payload, prompt = bound(session, provider, surface)
    for _ in range(max_turns):
        response = send(messages, payload, prompt)
        messages.extend(reply_of(response))
        calls, answer = session.turn(provider, response)
        if not calls:
            return messages
        messages.extend(answer if isinstance(answer, list) else [answer])
    raise TurnsExceeded(f"the model still calls tools after {max_turns} turns", "turns_exceeded")


def openai_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    surface: Surface | None = None,
    max_turns: int = 20,
    **request: Any,
) -> list[Any]:
    """Runs a job on an ``openai.OpenAI`` client with Chat Completions; gives all messages."""

    def send(messages: list[Any], payload: Payload, prompt: str) -> Any:
        system = [{"role": "system", "content": prompt}] if prompt else []
        settings = {**payload, **request, **_tools(payload, request)}
        return client.chat.completions.create(messages=[*system, *messages], **settings)

    def reply_of(response: Any) -> list[Any]:
        return [plain(response.choices[0].message)]

    running = session or Session(catalog)
    return loop("openai", send, running, messages, reply_of=reply_of, surface=surface, max_turns=max_turns)


def anthropic_loop(
    client: Any,
    catalog: Catalog,
    messages: list[Any],
    *,
    session: Session | None = None,
    surface: Surface | None = None,
    max_turns: int = 20,
    system: str | list[dict[str, Any]] = "",
    **request: Any,
) -> list[Any]:
    """Runs a job on an ``anthropic.Anthropic`` client; gives all messages."""

    def send(messages: list[Any], payload: Payload, prompt: str) -> Any:
        texts = _system(system, prompt)
        headers = {**payload.headers, **request.get("extra_headers", {})}
        settings = {**payload, **request, **_tools(payload, request), "extra_headers": headers}
        settings.update({"system": texts} if texts else {})
        return client.messages.create(messages=messages, **settings)

    def reply_of(response: Any) -> list[Any]:
        return [{"role": "assistant", "content": plain(response)["content"]}]

    running = session or Session(catalog)
    return loop("anthropic", send, running, messages, reply_of=reply_of, surface=surface, max_turns=max_turns)


def google_loop(
    client: Any,
    catalog: Catalog,
    contents: list[Any],
    *,
    session: Session | None = None,
    surface: Surface | None = None,
    max_turns: int = 20,
    model: str,
    config: dict[str, Any] | None = None,
) -> list[Any]:
    """Runs a job on a ``google.genai.Client``; gives all contents."""

    def send(contents: list[Any], payload: Payload, prompt: str) -> Any:
        given = dict(config or {})
        instructions = [*_parts(given.pop("system_instruction", None)), *([prompt] if prompt else [])]
        settings = {**given, **_config(payload), **({"system_instruction": instructions} if instructions else {})}
        settings.update(_tools(payload, given))
        settings["automatic_function_calling"] = {"disable": True}
        return client.models.generate_content(model=model, contents=contents, config=settings)

    def reply_of(response: Any) -> list[Any]:
        candidates = plain(response).get("candidates") or [{}]
        content = candidates[0].get("content")
        return [content] if content else []

    running = session or Session(catalog)
    return loop("gemini", send, running, contents, reply_of=reply_of, surface=surface, max_turns=max_turns)


def _tools(payload: Payload, given: dict[str, Any]) -> dict[str, Any]:
    """The tools of the catalog, then those that the caller has beside them."""
    tools = [*payload.get("tools", []), *(given.get("tools") or [])]
    return {"tools": tools} if tools else {}


def _system(system: str | list[dict[str, Any]], prompt: str) -> str | list[dict[str, Any]]:
    """The caller's system prompt, as text or blocks, and the section after it."""
    if isinstance(system, str):
        return "\n\n".join(text for text in (system, prompt) if text)
    return [*system, *([{"type": "text", "text": prompt}] if prompt else [])]


def _parts(instruction: Any) -> list[Any]:
    """The parts of an instruction: text, a list, or content."""
    content = instruction if instruction is None or isinstance(instruction, (str, list)) else plain(instruction)
    parts = content.get("parts", [content]) if isinstance(content, dict) else content
    return list(parts) if isinstance(parts, list) else [parts] if parts else []


def _config(payload: Payload) -> dict[str, Any]:
    """The fields of the body under the names of the SDK's configuration."""
    names = {"toolConfig": "tool_config"}
    return {names.get(name, name): value for name, value in payload.items()}
