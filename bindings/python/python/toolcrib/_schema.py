"""Type hints as JSON Schema."""

from __future__ import annotations

import enum
import inspect
import json
import types
import typing
from collections.abc import Iterable, Mapping, Set
from typing import Any, Union, get_args, get_origin

from ._hints import ABSENT, Fields, fields_of_class, has_fields, is_array, is_object
from ._pydantic import adapter_of
from ._text_types import text_type

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    None: {"type": "null"},
}
MAX_CLASSES = 500
"""Classes that the schemas of one function describe. Those beyond it are any value: such a schema is too long for a model."""


class Schemas:
    """The schemas of one function, and the definitions that they share.

    ``notes`` are the hints that could not be described: a name, a code and a message each.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.notes: list[tuple[str, str, str]] = []
        self._above: list[Any] = []
        self._names: dict[Any, str] = {}
        self._described = 0
        self._at = ""

    def of_field(self, name: str, hint: Any) -> dict[str, Any]:
        """The schema of one argument. A hint that cannot be described is any value, and noted."""
        self._at, self._above = name, []
        try:
            return self.of(hint)
        except Exception as error:
            self._note("hint-unreadable", f"its type hint cannot be described: {type(error).__name__}: {error}")
            return {}

    def of(self, hint: Any) -> dict[str, Any]:
        """The JSON Schema of a type hint."""
        if hint in (Any, object, ABSENT) or isinstance(hint, typing.TypeVar):
            return self.of(hint.__bound__) if isinstance(hint, typing.TypeVar) and hint.__bound__ else {}
        if (adapter := adapter_of(hint)) is not None:
            return self._hoisted(adapter.json_schema())
        if (known := text_type(hint) or text_type(get_origin(hint))) is not None:
            return dict(known.schema)
        if hasattr(hint, "__supertype__"):
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):
            return self._named(hint, lambda: self.of(hint.__value__))
        origin, inner = get_origin(hint), get_args(hint)
        if origin is None and (isinstance(hint, type) or hint is None):
            return self._of_class(hint)
        if origin is typing.Annotated:
            texts = [text for text in map(_description, hint.__metadata__) if text]
            return {**self.of(inner[0]), **({"description": texts[0]} if texts else {})}
        if origin is typing.Literal:
            return {"enum": [one.value if isinstance(one, enum.Enum) else one for one in inner]}
        if origin in (Union, types.UnionType):
            return _any_of([self.of(one) for one in inner])
        if isinstance(origin, type):
            return self._of_generic(origin, inner)
        return self._unknown(hint)

    def _of_generic(self, origin: type, inner: tuple[Any, ...]) -> dict[str, Any]:
        if has_fields(origin):
            return self._of_class(origin)
        if origin is tuple:
            return self._of_tuple(inner)
        if is_object(origin):
            keys = self.of(inner[0]).get("enum") if inner else None
            names = {"propertyNames": {"enum": keys}} if keys else {}
            values = inner[1] if len(inner) > 1 else int if inner else Any
            return {"type": "object", **names, "additionalProperties": self.of(values)}
        if is_array(origin):
            unique = {"uniqueItems": True} if issubclass(origin, Set) else {}
            return {"type": "array", "items": self.of(inner[0] if inner else Any), **unique}
        return self._unknown(origin)

    def _of_tuple(self, inner: tuple[Any, ...]) -> dict[str, Any]:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return {"type": "array", "items": self.of(inner[0])}
        items = [self.of(one) for one in inner if one != ()]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}

    def _of_class(self, hint: Any) -> dict[str, Any]:
        if (known := _PLAIN.get(hint)) is not None:
            return dict(known)
        if issubclass(hint, enum.Enum):
            return {"type": "integer"} if issubclass(hint, enum.Flag) else {"enum": list(values_of(hint))}
        if has_fields(hint):
            return self._named(hint, lambda: self._of_fields(fields_of_class(hint)))
        if issubclass(hint, tuple):
            return {"type": "array"}
        for plain in (bool, str, int, float):
            if issubclass(hint, plain):
                return dict(_PLAIN[plain])
        if is_object(hint):
            return {"type": "object"}
        if is_array(hint):
            return {"type": "array", **({"uniqueItems": True} if issubclass(hint, Set) else {})}
        return self._unknown(hint)

    def _of_fields(self, found: Fields) -> dict[str, Any]:
        for name, reason in found.unread.items():
            self._note("hint-unreadable", f"the type hint of its `{name}` cannot be read: {reason}")
        properties = {field.name: self.of(field.hint) for field in found.fields}
        required = [field.name for field in found.fields if field.is_required]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _named(self, hint: Any, describe: typing.Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """A schema in its place, or as a definition where it holds itself."""
        if hint in self._above and hint not in self._names:
            self._names[hint] = self._free_name(hint.__name__)
        if hint in self._names:
            return {"$ref": f"#/$defs/{self._names[hint]}"}
        self._described += 1
        if self._described > MAX_CLASSES:
            raise ValueError(f"it has more than {MAX_CLASSES} classes in it")
        self._above.append(hint)
        try:
            schema = describe()
        finally:
            self._above.pop()
        if hint not in self._names:
            return schema
        self.definitions[self._names[hint]] = schema
        return {"$ref": f"#/$defs/{self._names[hint]}"}

    def _free_name(self, name: str) -> str:
        taken = {*self.definitions, *self._names.values()}
        return next(free for free in _numbered(name) if free not in taken)

    def _hoisted(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema whose definitions are those of the function, under names that are free there."""
        definitions = schema.pop("$defs", {})
        new = {name: name for name in definitions}
        for name, definition in definitions.items():
            if self.definitions.get(name, definition) != definition or name in self._names.values():
                new[name] = next(free for free in _numbered(name) if free not in {*self.definitions, *new})
        self.definitions.update({new[name]: _renamed(one, new) for name, one in definitions.items()})
        renamed: dict[str, Any] = _renamed(schema, new)
        return renamed

    def _unknown(self, hint: Any) -> dict[str, Any]:
        told = inspect.formatannotation(hint)
        self._note("hint-unknown", f"nothing in JSON is a `{told}`: any value is accepted, and handed on as it is")
        return {}

    def _note(self, code: str, message: str) -> None:
        if (self._at, code, message) not in self.notes:
            self.notes.append((self._at, code, message))


def values_of(hint: type[enum.Enum]) -> dict[Any, enum.Enum]:
    """The members of an enum by their values in JSON, or by their names where a value is none."""
    members = list(hint)
    if all(isinstance(one.value, (str, int, float, bool, type(None))) for one in members):
        return {one.value: one for one in members}
    return {one.name: one for one in members}


def _numbered(name: str) -> Iterable[str]:
    yield name
    for number in range(2, 1000):
        yield f"{name}_{number}"


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    found = {name: _renamed(one, names) for name, one in value.items()}
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        name = reference.removeprefix("#/$defs/")
        found["$ref"] = f"#/$defs/{names.get(name, name)}"
    return found


def _description(note: Any) -> str | None:
    """The text of ``Annotated``: a string, or ``Doc`` of ``typing_extensions``."""
    text = note if isinstance(note, str) else getattr(note, "documentation", None)
    return text if isinstance(text, str) else None


def _any_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    once = {json.dumps(schema, sort_keys=True, default=repr): schema for schema in schemas}
    schemas = list(once.values())
    if len(schemas) == 1:
        return schemas[0]
    described = [schema for schema in schemas if "description" in schema]
    if len(described) == 1 and len(schemas) == 2 and {"type": "null"} in schemas:
        # The text is that of the argument, wherever `Annotated` stands; Python 3.10 puts it within an `Optional`.
        text, inner = described[0]["description"], {name: one for name, one in described[0].items() if name != "description"}
        kinds = inner.get("type")
        parts = [{"type": kind} for kind in kinds] if isinstance(kinds, list) and len(inner) == 1 else inner.get("anyOf", [inner])
        return {**_any_of([*parts, {"type": "null"}]), "description": text}
    if all(len(schema) == 1 and isinstance(schema.get("type"), str) for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": schemas}
