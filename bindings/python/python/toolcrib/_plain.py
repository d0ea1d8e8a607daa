"""Objects of SDKs as plain JSON values."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON values: what SDKs make of pydantic, dataclasses, and mappings too."""
    return json.loads(json_text(value)) if not isinstance(value, (str, int, float, bool, type(None))) else value


def json_text(value: Any) -> str:
    """A value as JSON text; text and bytes are JSON already."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode()
    if hasattr(value, "model_dump_json"):
        text: str = value.model_dump_json(by_alias=True, exclude_none=True)
        return text
    return json.dumps(value, default=_default, ensure_ascii=False, separators=(",", ":"))


def is_response(value: Any) -> bool:
    """Whether a value is a whole response, and not an iterable of events."""
    if isinstance(value, (str, bytes, bytearray, Mapping, list)):
        return True
    return hasattr(value, "model_dump_json") or not hasattr(value, "__iter__")


def _default(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, (bytes, bytearray)):
        import base64

        return base64.b64encode(value).decode()
    return str(value)
