"""Refusals of calls: an agent reads the code, the message and the next step."""

from __future__ import annotations

from typing import Any

Envelope = dict[str, Any]


def refusal(code: str, message: str, next_action: str, **hints: Any) -> Envelope:
    """An envelope without a result."""
    return {"ok": False, "error": {"code": code, "message": message, "next_action": next_action, **hints}}
