"""Hints that pydantic reads, where it is installed: models, its dataclasses, and ``Annotated`` with its constraints."""

from __future__ import annotations

import json
import typing
from typing import Any, get_origin

_CONSTRAINTS = ("pydantic", "annotated_types")


MOST_ADAPTERS = 1024
"""Adapters that are kept; making one takes a millisecond."""


def adapter_of(hint: Any) -> Any:
    """The ``TypeAdapter`` of a hint that is pydantic's; of others, none."""
    if not _is_of_pydantic(hint):
        return None
    try:
        return _known[hint] if hint in _known else _kept(hint)
    except TypeError:  # a hint that has no hash
        return _adapter(hint)


_known: dict[Any, Any] = {}


def _kept(hint: Any) -> Any:
    if len(_known) >= MOST_ADAPTERS:
        _known.clear()
    return _known.setdefault(hint, _adapter(hint))


def _is_of_pydantic(hint: Any) -> bool:
    if isinstance(hint, type):
        return hasattr(hint, "__pydantic_core_schema__") or hasattr(hint, "__get_pydantic_core_schema__")
    if get_origin(hint) is not typing.Annotated:
        return False
    return any(_package(type(one)) in _CONSTRAINTS for one in hint.__metadata__)


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


def _adapter(hint: Any) -> Any:
    try:
        from pydantic import TypeAdapter
    except ImportError:
        return None
    return TypeAdapter(hint)


def validated(adapter: Any, value: Any) -> Any:
    """A JSON value as what the hint says; raises pydantic's ``ValidationError``."""
    return adapter.validate_json(json.dumps(value))


def errors_of(error: Exception) -> list[tuple[str, str]] | None:
    """The mistakes that a ``ValidationError`` tells, each as a JSON Pointer and a message; of another error, none."""
    errors: Any = getattr(error, "errors", None)
    if not callable(errors) or _package(type(error)) not in ("pydantic", "pydantic_core"):
        return None
    found: Any = errors()
    return [("".join(f"/{part}" for part in one["loc"]), str(one["msg"])) for one in found]
