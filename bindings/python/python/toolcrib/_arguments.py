"""Arguments of functions by pydantic: their JSON Schema, and JSON values as what their type hints say."""

from __future__ import annotations

import collections
import datetime
import enum
import functools
import inspect
import itertools
import json
import re
import typing
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import to_jsonable_python

from .errors import ConversionError, shown

_CONFIG = ConfigDict(extra="forbid", val_json_bytes="base64", ser_json_bytes="base64")
_EMPTY = inspect.Parameter.empty
Schemas = tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]
"""Schemas by name, definitions that they share, and notes on what could not be described."""


@dataclass(frozen=True)
class Argument:
    """An argument of a function."""

    name: str
    hint: Any
    is_required: bool
    default: Any
    kind: Any = inspect.Parameter.KEYWORD_ONLY

    @functools.cached_property
    def converter(self) -> _Converter:
        """The argument in pydantic."""
        try:
            return _cached_converter(self.hint)
        except TypeError:  # the hint has no hash
            return _converter_of(self.hint)

    def convert(self, name: str, value: Any) -> Any:
        """A JSON value as the hint says; ``name`` is its name in the call."""
        if self.converter.adapter is None:
            return value
        at = "/" + _escaped(name)
        try:
            return self.converter.adapter.validate_json(json.dumps([value]))[0]
        except ValidationError as error:
            found = [(_pointer(one["loc"][1:], value, one["type"]), one["msg"]) for one in error.errors(include_url=False)]
            raise ConversionError([{"pointer": at + below, "message": message} for below, message in found]) from None
        except Exception as error:  # of a constructor, or of a validator
            raise ConversionError([{"pointer": at, "message": shown(error)}]) from error

    def default_keyword(self) -> dict[str, Any]:
        """The keyword ``default``, unless it is ``None``, or a time without an offset, which JSON Schema does not have."""
        value = self.default
        is_local = isinstance(value, (datetime.datetime, datetime.time)) and value.tzinfo is None
        if value is None or value is _EMPTY or is_local:
            return {}
        if isinstance(value, int) and abs(value) >= 2**63:
            raise ValueError("more than 64 bits")
        made = to_jsonable_python(value, bytes_mode="base64")
        json.dumps(made, allow_nan=False)
        return {"default": made}


@dataclass(frozen=True)
class _Converter:
    """A hint in pydantic. Without an adapter, any value is accepted.

    Pydantic takes no configuration for a class by itself, so the adapter is that of a list, which holds one value.
    """

    adapter: TypeAdapter[Any] | None
    schema: dict[str, Any]
    note: tuple[str, str] | None = None


def _converter_of(hint: Any) -> _Converter:
    holder: Any = list
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(holder[hint], config=_CONFIG)
        return _Converter(adapter, adapter.json_schema(schema_generator=_Schema, union_format="primitive_type_array"))
    except Exception as error:
        if type(error).__name__ in ("PydanticSchemaGenerationError", "PydanticInvalidForJsonSchema"):
            message = f"nothing in JSON is a `{inspect.formatannotation(hint)}`: any value is accepted, and handed on as it is"
            return _Converter(None, {"items": {}}, ("hint-unknown", message))
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        return _Converter(None, {"items": {}}, ("hint-unreadable", f"its type hint cannot be described: {reason}"))


_cached_converter = functools.lru_cache(maxsize=1024)(_converter_of)


def schemas_of(arguments: Iterable[Argument]) -> Schemas:
    """The schemas of arguments. Definitions that several share have names of their own."""
    converters = {one.name: one.converter for one in arguments}
    schemas: dict[str, Any] = {name: one.schema for name, one in converters.items()}
    definitions: dict[str, Any] = {}
    if any("$defs" in schema for schema in schemas.values()):
        inputs: Any = [(name, "validation", one.adapter) for name, one in converters.items() if one.adapter]
        made, shared = TypeAdapter.json_schemas(inputs, schema_generator=_Schema, union_format="primitive_type_array")
        schemas.update({name: schema for (name, _), schema in made.items()})
        definitions = shared["$defs"]
    texts = {one.name: _text(one.hint) for one in arguments}
    items = {
        name: {**schema["items"], **({"description": texts[name]} if texts[name] else {})} for name, schema in schemas.items()
    }
    items, definitions = _sharing(items, definitions)
    return items, definitions, [(name, *one.note) for name, one in converters.items() if one.note]


def schema_of_model(model: Any) -> dict[str, Any]:
    """The schema of a pydantic model."""
    made = model.model_json_schema(schema_generator=_Schema, union_format="primitive_type_array")
    definitions = made.pop("$defs", {})
    made.pop(_CLASS, None)
    items, definitions = _sharing({"": made}, definitions)
    return {**items[""], **({"$defs": definitions} if definitions else {})}


_CLASS = "x-class"
"""The keyword with the name of the class that a schema describes, until what several places share is known."""


def _sharing(items: dict[str, Any], definitions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schemas with a definition for each class that takes fewer bytes so than in all of its places."""
    while found := _most_saving([items, definitions]):
        part = json.loads(found)
        title = re.sub(r"\W", "_", part.pop(_CLASS))
        names = itertools.chain([title], (f"{title}_{n}" for n in itertools.count(2)))
        name = next(one for one in names if one not in definitions)
        items, definitions = _replaced([items, definitions], lambda one: {"$ref": f"#/$defs/{name}"} if _text_of(one) == found else one)
        definitions[name] = part
    plain_items, plain_definitions = _replaced([items, definitions], lambda one: {key: value for key, value in one.items() if key != _CLASS})
    return plain_items, plain_definitions


def _most_saving(value: Any) -> str | None:
    """The text of the class whose definition saves most bytes, if one does."""
    counts = collections.Counter(_text_of(part) for part in _parts(value) if _CLASS in part)
    savings = {text: (count - 1) * len(text) - (count + 2) * len('{"$ref":"#/$defs/"}' + json.loads(text)[_CLASS]) for text, count in counts.items()}
    best = max(savings, key=lambda text: savings[text], default=None)
    return best if best is not None and savings[best] > 0 else None


def _text_of(part: dict[str, Any]) -> str:
    return json.dumps(part, sort_keys=True, separators=(",", ":"))


def _replaced(value: Any, by: Callable[[dict[str, Any]], Any]) -> Any:
    """A value with another one for each object in it, the outer ones first."""
    if isinstance(value, list):
        return [_replaced(one, by) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _replaced(one, by) for key, one in by(value).items()}


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    """All objects within a value."""
    if isinstance(value, dict):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _parts(one)


class _Schema(GenerateJsonSchema):
    """Schemas as short as models need them: a class is described in place where it is used once, and without titles."""

    def __init__(self, *settings: Any, **more: Any) -> None:
        super().__init__(*settings, **more)
        self._shared: set[str] = set()

    def definitions_schema(self, schema: Any) -> Any:
        self._shared.update(one["ref"] for one in schema["definitions"])
        return super().definitions_schema(schema)

    def generate_inner(self, schema: Any) -> Any:
        if "ref" in schema and schema["ref"] not in self._shared:
            schema = {name: part for name, part in schema.items() if name != "ref"}
        made = super().generate_inner(schema)
        if schema["type"] in ("enum", "model", "dataclass", "typed-dict", "call"):
            title = made.pop("title", None)
            made.update({_CLASS: title} if title and schema["type"] != "call" else {})
        return made

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def enum_schema(self, schema: Any) -> Any:
        """Values of an enum; one with values that JSON does not have could not be read back."""
        if not all(isinstance(one.value, (str, int, float)) for one in schema["members"]):
            return self.handle_invalid_for_json_schema(schema, "an enum with values that JSON does not have")
        made = super().enum_schema(schema)
        return {"type": "integer"} if issubclass(schema["cls"], enum.Flag) else made

    def literal_schema(self, schema: Any) -> Any:
        """Plain values; pydantic reads no member of an enum back from JSON."""
        if any(isinstance(one, enum.Enum) for one in schema["expected"]):
            return self.handle_invalid_for_json_schema(schema, "a member of an enum")
        return super().literal_schema(schema)

    def named_tuple_schema(self, schema: Any) -> Any:
        """A ``NamedTuple`` as an object, whose names tell a model more than places."""
        properties = {field["name"]: self.generate_inner(field) for field in schema["fields"]}
        required = [field["name"] for field in schema["fields"] if field["schema"]["type"] != "default"]
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def decimal_schema(self, schema: Any) -> Any:
        return {"type": "string", "format": "decimal"}

    def bytes_schema(self, schema: Any) -> Any:
        made = super().bytes_schema(schema)
        if made.pop("format", None) == "base64url":
            made["contentEncoding"] = "base64"
        return made


def _text(hint: Any) -> str | None:
    """The text of ``Annotated``, also within an ``Optional``: a string, or ``Doc`` of ``typing_extensions``."""
    notes = hint.__metadata__ if get_origin(hint) is typing.Annotated else ()
    texts = [note if isinstance(note, str) else getattr(note, "documentation", None) for note in notes]
    inner = [_text(one) for one in get_args(hint) if get_origin(one) is typing.Annotated]
    return next((text for text in [*texts, *inner] if isinstance(text, str)), None)


def _pointer(parts: Iterable[Any], value: Any, kind: str) -> str:
    """The place of an error as a JSON Pointer: pydantic's own names, such as those of union members, are not in the value."""
    pointer = ""
    for part in parts:
        is_there = isinstance(value, dict) and part in value or isinstance(value, list) and isinstance(part, int) and part < len(value)
        if is_there or kind == "missing" and isinstance(value, dict):
            pointer += "/" + _escaped(str(part))
            value = value[part] if is_there else None
    return pointer


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
