"""Functions with docstrings and type hints as definitions of tools. The core takes the docstring apart."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import inspect
import math
import pathlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._convert import converted
from ._hints import ABSENT, Field, Fields, fields_of_function, target
from ._schema import Schemas

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class FunctionTool:
    """A Python function as a tool. ``effect`` is what a call may change; without one, toolcrib guesses by the name."""

    function: Callable[..., Any]
    name: str
    effect: str | None = None
    category: str | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], **settings: Any) -> FunctionTool:
        """The function under its own name; that of a partial application is the name of its function."""
        return cls(function, **{"name": _name(function), **settings})

    def run(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the function with JSON values; of an async function this is an awaitable."""
        return self.bind(arguments)()

    def bind(self, arguments: Mapping[str, Any]) -> functools.partial[Any]:
        """The call with arguments as the type hints say, not made yet."""
        fields = self.fields.fields
        given = converted(fields, arguments)
        many = next((one.name for one in fields if one.kind is inspect.Parameter.VAR_POSITIONAL), None)
        rest = given.pop(many, []) if many else []
        last = inspect.Parameter.POSITIONAL_OR_KEYWORD if rest else inspect.Parameter.POSITIONAL_ONLY
        by_position = [one for one in fields if one.kind in _BY_POSITION and one.kind <= last]
        positional = [given.pop(one.name, one.default) for one in by_position]
        return functools.partial(self.function, *positional, *rest, **given)

    @functools.cached_property
    def fields(self) -> Fields:
        """The arguments of the function. Without a signature, as built-in functions may be, any are taken."""
        try:
            return fields_of_function(self.function)
        except (ValueError, TypeError) as error:
            anything = Field("arguments", Any, False, ABSENT, inspect.Parameter.VAR_KEYWORD)
            return Fields([anything], {"arguments": f"the function has no signature: {error}"})


@dataclass(frozen=True)
class Definition:
    """The definition of a function in the native format, and the notes on it: a name, a code and a message each."""

    definition: dict[str, Any]
    notes: list[tuple[str, str, str]] = field(default_factory=list)


def definition_of(tool: FunctionTool) -> Definition:
    """The definition of a function."""
    parameters, notes = _parameters(tool)
    definition: dict[str, Any] = {
        "name": tool.name,
        "description": _docstring(tool.function) or tool.name.replace("_", " "),
        "parameters": parameters,
    }
    settings = {"effect": tool.effect, "category": tool.category}
    definition.update({name: value for name, value in settings.items() if value is not None})
    return Definition(definition, notes)


def _parameters(tool: FunctionTool) -> tuple[dict[str, Any], list[tuple[str, str, str]]]:
    """The schema of a function's arguments."""
    schemas = Schemas()
    notes = [(name, "hint-unreadable", f"its type hint cannot be read: {reason}") for name, reason in tool.fields.unread.items()]
    properties: dict[str, Any] = {}
    required: list[str] = []
    others: Any = False
    for one in tool.fields.fields:
        schema = schemas.of_field(one.name, one.hint)
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            others = schema or True
            continue
        if one.kind is inspect.Parameter.VAR_POSITIONAL:
            schema = {"type": "array", "items": schema}
        if one.is_required:
            required.append(one.name)
        elif one.default is not ABSENT:
            try:
                schema = {**schema, **_default(one.default)}
            except (ValueError, OverflowError):
                notes.append((one.name, "default-left-out", f"its default is not told, since JSON has no {_shown(one.default)}"))
        properties[one.name] = schema
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": others}
    if schemas.definitions:
        parameters["$defs"] = schemas.definitions
    return parameters, notes + schemas.notes


def _default(value: Any) -> dict[str, Any]:
    """The keyword ``default``, where a value can be told; a ``None`` says that the argument may be left out."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, (datetime.date, datetime.time)):
        # JSON Schema has no time without an offset, so a model could not send such a default.
        is_whole = not isinstance(value, (datetime.datetime, datetime.time)) or value.tzinfo is not None
        return {"default": value.isoformat()} if is_whole else {}
    if isinstance(value, (uuid.UUID, decimal.Decimal, pathlib.PurePath)):
        return {"default": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no number in JSON")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**63:
        raise ValueError("more than 64 bits")
    return {"default": value} if isinstance(value, (str, int, float, bool)) else {}


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, float) else f"`{type(value).__name__}` of this size"


def _name(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


def _docstring(function: Any) -> str | None:
    """The docstring of a function; that of a class stands for its ``__call__`` without one."""
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type) or hasattr(function, "__name__"):
        return inspect.getdoc(function)
    called = target(function)
    return called.__doc__ and inspect.getdoc(called) or inspect.getdoc(type(function))
