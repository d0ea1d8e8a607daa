"""Objects of programs and SDKs as JSON. Pydantic writes what the standard library cannot; it is imported only then."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection
from typing import Any

from .errors import ArgumentError


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
        return well_formed(json.dumps(value, default=_default, ensure_ascii=False, separators=(",", ":")))
    except (ValueError, TypeError, RecursionError) as error:
        raise ArgumentError(f"this cannot be written as JSON: {error}", "argument_invalid") from error


def well_formed(text: str) -> str:
    """A text with a replacement character for each half of a surrogate pair, which UTF-8 cannot encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain_result(value: Any) -> Any:
    """Converts any function result to JSON values. The function has run, so its caller always gets an answer."""
    for is_first in (True, False):
        try:
            text = json.dumps(value if is_first else _default(value), default=_default)
            return json.loads(well_formed(text), parse_int=_integer, parse_constant=lambda _: None)
        except Exception:  # of a property, a serializer or a `__str__` of the value; or it holds itself
            continue
    return f"<{type(value).__name__}>"


def _integer(digits: str) -> Any:
    """An integer; as text where JSON's readers would round it."""
    return int(digits) if len(digits) < 19 or abs(int(digits)) < 2**63 else digits


def _default(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, by_alias=True, exclude_none=True, bytes_mode="base64", fallback=_unknown)


def _unknown(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "tolist"):
        listed: Any = value
        return listed.tolist()
    return list(value) if isinstance(value, Collection) else str(value)
