"""Calls of a response, checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class FieldError:
    """An error of one argument."""

    pointer: str
    message: str
    expected: str | None = None
    given: Any = None
    nearest: str | None = None


@dataclass(frozen=True)
class CallError:
    """The reason why a call cannot be run. ``entry`` is what goes back to the model."""

    code: str
    message: str
    field_errors: list[FieldError]
    nearest: list[str]
    entry: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Call:
    """One call of a response: with ``arguments`` that fit the schema of the tool, or with an ``error``."""

    name: str | None
    call_id: str | None
    arguments: dict[str, Any] | None
    error: CallError | None
    repaired: list[dict[str, Any]]
    entry: dict[str, Any] = field(repr=False)
    """The entry as ``toolcrib parse`` prints it."""

    @property
    def is_search(self) -> bool:
        """Whether the call is the provider's own form of a search for tools."""
        return bool(self.entry.get("search"))


def calls_of(text: str) -> list[Call]:
    """The calls that the core has parsed."""
    return [_call(entry) for entry in json.loads(text)]


def _call(entry: dict[str, Any]) -> Call:
    error = None
    if found := entry.get("error"):
        errors = [FieldError(**one) for one in found["field_errors"]]
        error = CallError(found["code"], found["message"], errors, found["nearest"], found)
    return Call(entry["name"], entry["call_id"], entry.get("args"), error, entry.get("repaired", []), entry)
