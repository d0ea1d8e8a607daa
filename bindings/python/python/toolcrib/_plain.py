"""Objects of SDKs as plain JSON values."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
from collections.abc import Mapping
from typing import Any


MAX_DEPTH = 64
"""Levels of a result; what lies deeper is left out."""


def plain(value: Any) -> Any:
    """A value as JSON values: what SDKs make of pydantic, dataclasses, and mappings too."""
    return json.loads(json_text(value)) if not isinstance(value, (str, int, float, bool, type(None))) else value


def json_text(value: Any) -> str:
    """A value as JSON text; text and bytes are JSON already."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(errors="replace")
    if hasattr(value, "model_dump_json"):
        text: str = value.model_dump_json(by_alias=True, exclude_none=True)
        return text
    return json.dumps(value, default=_default, ensure_ascii=False, separators=(",", ":"))


def plain_result(value: Any, above: tuple[int, ...] = ()) -> Any:
    """What a function has returned as JSON values, whatever it is: the function has run, and its caller is told."""
    if value is None or isinstance(value, (bool, int)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, (bytes, bytearray)):
        return _text_of(bytes(value))
    if id(value) in above or len(above) > MAX_DEPTH:
        return "..."
    above = (*above, id(value))
    if isinstance(value, Mapping):
        return {str(plain_result(name, above)): plain_result(one, above) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_result(one, above) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain_result(one, above) for one in value), key=repr)
    return plain_result(_default(value), above)


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


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
        return base64.b64encode(value).decode()
    return str(value)
