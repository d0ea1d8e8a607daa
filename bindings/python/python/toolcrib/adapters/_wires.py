"""Requests and replies of the SDKs of OpenAI, Anthropic and Google, as the loops send and keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._catalog import Payload, Provider
from .._plain import plain


@dataclass(frozen=True)
class OpenAI:
    """Chat Completions of OpenAI; ``given`` are the caller's own arguments."""

    given: dict[str, Any]
    provider: Provider = "openai"

    def request(self, messages: list[Any], payload: Payload, prompt: str) -> dict[str, Any]:
        """The section of the prompt is the first message."""
        system = [{"role": "system", "content": prompt}] if prompt else []
        return {**payload, **self.given, **_tools(payload, self.given), "messages": [*system, *messages]}

    def reply_of(self, response: Any) -> list[Any]:
        """The message of the first choice."""
        return [plain(response.choices[0].message)]


@dataclass(frozen=True)
class Anthropic:
    """Messages of Anthropic; ``given`` are the caller's own arguments."""

    given: dict[str, Any]
    system: str | list[dict[str, Any]] = ""
    provider: Provider = "anthropic"

    def request(self, messages: list[Any], payload: Payload, prompt: str) -> dict[str, Any]:
        """The section of the prompt follows the caller's system prompt."""
        texts = _system(self.system, prompt)
        headers = {**payload.headers, **self.given.get("extra_headers", {})}
        settings = {**payload, **self.given, **_tools(payload, self.given), "extra_headers": headers}
        return {**settings, **({"system": texts} if texts else {}), "messages": messages}

    def reply_of(self, response: Any) -> list[Any]:
        """The content of the response."""
        return [{"role": "assistant", "content": plain(response)["content"]}]


@dataclass(frozen=True)
class Google:
    """``generate_content`` of Google; ``config`` is the caller's own."""

    model: str
    config: dict[str, Any]
    provider: Provider = "gemini"

    def request(self, messages: list[Any], payload: Payload, prompt: str) -> dict[str, Any]:
        """The section of the prompt follows the caller's instruction. The SDK calls no functions itself."""
        given = dict(self.config)
        instructions = [*_parts(given.pop("system_instruction", None)), *([prompt] if prompt else [])]
        settings = {**given, **_config(payload), **({"system_instruction": instructions} if instructions else {})}
        settings.update(_tools(payload, given))
        settings["automatic_function_calling"] = {"disable": True}
        return {"model": self.model, "contents": messages, "config": settings}

    def reply_of(self, response: Any) -> list[Any]:
        """The content of the first candidate."""
        candidates = plain(response).get("candidates") or [{}]
        content = candidates[0].get("content")
        return [content] if content else []


Wire = OpenAI | Anthropic | Google
"""What a loop has to know of an SDK."""


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
