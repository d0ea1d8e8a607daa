"""Results of an MCP session's ``call_tool``: what a model reads of them, and whether they are errors."""

from __future__ import annotations

from typing import Any

from .errors import Error


class ToolFailed(Error):
    """The server says that the call has failed."""


def is_mcp_result(value: Any) -> bool:
    """Whether a value is a ``CallToolResult``."""
    return type(value).__name__ == "CallToolResult" and isinstance(getattr(value, "content", None), list)


def mcp_result(value: Any) -> Any:
    """The structured content, or the texts, or else all of it; a failure is raised with its text."""
    texts = [part.text for part in value.content if isinstance(getattr(part, "text", None), str)]
    if getattr(value, "isError", getattr(value, "is_error", False)):
        raise ToolFailed("\n".join(texts) or "the server says that the call has failed", "tool_error")
    structured = getattr(value, "structuredContent", getattr(value, "structured_content", None))
    if structured is not None:
        return structured
    return "\n".join(texts) if texts and len(texts) == len(value.content) else value
