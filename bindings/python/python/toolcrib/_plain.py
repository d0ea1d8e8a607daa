"""Objects of SDKs as plain JSON values."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import enum
import json
import math
from collections import deque
from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from typing import Any

from ._text_types import duration_text
from .errors import ArgumentError

MAX_DEPTH = 64
"""Levels of a result; what lies deeper is left out."""


def plain(value: Any) -> Any:
    """A value as JSON values: what SDKs make of pydantic, dataclasses, and mappings too."""
    return json.loads(json_text(value)) if not isinstance(value, (str, int, float, bool, type(None))) else value


def json_text(value: Any) -> str:
    """A value as JSON text; text and bytes are JSON already."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode(errors="replace")
    if hasattr(value, "model_dump_json") and not isinstance(value, type):
        dumped: str = value.model_dump_json(by_alias=True, exclude_none=True)
        return dumped
    try:
        text = json.dumps(value, default=_default, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise ArgumentError(f"this cannot be written as JSON: {error}", "argument_invalid") from error
    return well_formed(text)


def well_formed(text: str) -> str:
    """A text without halves of surrogate pairs, which are no characters in UTF-8: a replacement character for each."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain_result(value: Any, above: tuple[int, ...] = ()) -> Any:
    """What a function has returned as JSON values, whatever it is: the function has run, and its caller is told."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return plain_result(value.value, above)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, (bytes, bytearray)):
        return _text_of(bytes(value))
    if id(value) in above or len(above) > MAX_DEPTH:
        return "..."
    above = (*above, id(value))
    try:
        return _plain_parts(value, above)
    except Exception:  # of a property, a serializer or a `__str__` of the value
        return f"<{type(value).__name__}>"


def _plain_parts(value: Any, above: tuple[int, ...]) -> Any:
    if isinstance(value, tuple) and (names := getattr(value, "_fields", None)):
        return {name: plain_result(one, above) for name, one in zip(names, value)}
    if isinstance(value, Mapping):
        return {str(plain_result(name, above)): plain_result(one, above) for name, one in value.items()}
    if isinstance(value, (list, tuple, KeysView, ValuesView, ItemsView, deque)):
        return [plain_result(one, above) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain_result(one, above) for one in value), key=repr)
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "model_dump"):
        return {one.name: plain_result(getattr(value, one.name), above) for one in dataclasses.fields(value)}
    if type(value).__module__.partition(".")[0] == "numpy" and (listed := getattr(value, "tolist", None)):
        return plain_result(listed(), above)
    return plain_result(_default(value), above)


def _integer(value: int) -> Any:
    """An integer; as text where JSON's readers would round it, and in hexadecimal where Python writes it in no other way."""
    if abs(value) < 2**63:
        return int(value)
    try:
        return str(int(value))
    except ValueError:
        return hex(value)


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


def _default(value: Any) -> Any:
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, datetime.timedelta):
        return duration_text(value)
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
