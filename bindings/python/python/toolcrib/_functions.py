"""Functions with docstrings and type hints as definitions of tools. The core takes the docstring apart."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
}


@dataclass(frozen=True)
class FunctionTool:
    """A Python function as a tool. ``effect`` is what a call may change; without one, toolcrib guesses by the name."""

    function: Callable[..., Any]
    name: str
    effect: str | None = None
    category: str | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], **settings: Any) -> FunctionTool:
        """The function under its own name."""
        name = getattr(function, "__name__", type(function).__name__)
        return cls(function, **{"name": name, **settings})

    def run(self, arguments: Mapping[str, Any]) -> Any:
        """Calls the function; of an async function this is an awaitable."""
        return self.function(**arguments)


def definition_of(tool: FunctionTool) -> dict[str, Any]:
    """The definition of a function, in the native format."""
    definition: dict[str, Any] = {
        "name": tool.name,
        "description": inspect.getdoc(tool.function) or tool.name.replace("_", " "),
        "parameters": parameters_of(tool.function),
    }
    settings = {"effect": tool.effect, "category": tool.category}
    definition.update({name: value for name, value in settings.items() if value is not None})
    return definition


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The schema of a function's arguments."""
    hints = typing.get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    is_open = False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            is_open = is_open or parameter.kind is parameter.VAR_KEYWORD
            continue
        schema = schema_of(hints.get(name, Any))
        if parameter.default is parameter.empty:
            required.append(name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            schema = {**schema, "default": parameter.default}
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type hint; of a type that nothing is known about, any value."""
    if hint in (Any, inspect.Parameter.empty):
        return {}
    if (known := _known(hint)) is not None:
        return dict(known)
    if hasattr(hint, "model_json_schema"):
        schema: dict[str, Any] = hint.model_json_schema()
        return schema
    if isinstance(hint, type):
        return _of_class(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        texts = [text for text in hint.__metadata__ if isinstance(text, str)]
        return {**schema_of(inner[0]), **({"description": texts[0]} if texts else {})}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return _any_of([schema_of(one) for one in inner])
    if origin in (typing.Required, typing.NotRequired) if hasattr(typing, "Required") else False:
        return schema_of(inner[0])
    if origin is tuple:
        return _of_tuple(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(origin, type) and issubclass(origin, Iterable):
        unique = {"uniqueItems": True} if issubclass(origin, (set, frozenset)) else {}
        return {"type": "array", "items": schema_of(inner[0]), **unique}
    return {}


def _known(hint: Any) -> dict[str, Any] | None:
    try:
        return _PLAIN.get(hint)
    except TypeError:  # a hint that has no hash
        return None


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    types = [schema.get("type") for schema in schemas]
    if all(len(schema) == 1 and isinstance(schema.get("type"), str) for schema in schemas):
        return {"type": types}
    return {"anyOf": schemas}


def _of_tuple(inner: tuple[Any, ...]) -> dict[str, Any]:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return {"type": "array", "items": schema_of(inner[0])}
    return {"type": "array", "prefixItems": [schema_of(one) for one in inner], "minItems": len(inner), "maxItems": len(inner)}


def _of_class(hint: type) -> dict[str, Any]:
    if issubclass(hint, enum.Enum):
        return {"enum": [member.value for member in hint]}
    if dataclasses.is_dataclass(hint):
        fields = dataclasses.fields(hint)
        lacks = dataclasses.MISSING
        required = [one.name for one in fields if one.default is lacks and one.default_factory is lacks]
        return _of_fields(hint, required)
    if typing.is_typeddict(hint):
        return _of_fields(hint, [name for name in hint.__annotations__ if name in getattr(hint, "__required_keys__")])
    if issubclass(hint, (set, frozenset)):
        return {"type": "array", "uniqueItems": True}
    return {}


def _of_fields(hint: type, required: list[str]) -> dict[str, Any]:
    fields = typing.get_type_hints(hint, include_extras=True)
    properties = {name: schema_of(field) for name, field in fields.items()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
