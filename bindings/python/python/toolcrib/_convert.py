"""JSON values as what the type hints of a function say. The schema was checked before: this makes the objects."""

from __future__ import annotations

import collections
import enum
import inspect
import json
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any, Union, get_args, get_origin

from ._hints import Field, fields_of_class, has_fields, is_array, is_named_tuple, is_object, is_typed_dict
from ._pydantic import adapter_of, errors_of, validated
from ._schema import values_of
from ._text_types import text_type
from .errors import ConversionError


def converted(fields: Iterable[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """The given arguments, each as its hint says. All that do not fit are told at once."""
    known = {field.name: field for field in fields}
    many = next((field for field in known.values() if field.kind is inspect.Parameter.VAR_KEYWORD), None)
    made: dict[str, Any] = {}
    errors: list[dict[str, Any]] = []
    for name, value in given.items():
        field = known.get(name)
        field = many if field is None or field is many else field
        hint = field.hint if field else Any
        hint = list[hint] if field and field.kind is inspect.Parameter.VAR_POSITIONAL else hint  # type: ignore[valid-type]
        try:
            made[name] = convert(value, hint, "/" + _escaped(name))
        except ConversionError as error:
            errors.extend(error.errors)
    missing = [field.name for field in known.values() if field.is_required and field.name not in given]
    errors.extend({"pointer": "/" + _escaped(name), "message": f"`{name}` is required"} for name in missing)
    if errors:
        raise ConversionError(errors)
    return made


def convert(value: Any, hint: Any, at: str) -> Any:
    """One value as its hint says; ``at`` is its JSON Pointer."""
    try:
        return _convert(value, hint, at)
    except ConversionError:
        raise
    except Exception as error:  # of a constructor, or of a validator
        if (found := errors_of(error)) is not None:
            raise ConversionError([{"pointer": at + below, "message": message} for below, message in found]) from None
        raise ConversionError([{"pointer": at, "message": told(error)}]) from error


def told(error: BaseException) -> str:
    """The message of an exception; of one that has none that can be read, its class."""
    try:
        text = str(error)
    except Exception:
        text = "its message cannot be read"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _convert(value: Any, hint: Any, at: str) -> Any:
    if (adapter := adapter_of(hint)) is not None:
        return validated(adapter, value)
    if (known := text_type(hint) or text_type(get_origin(hint))) is not None:
        return _read(known.read, known.expected, value, at)
    if hasattr(hint, "__supertype__"):
        return convert(value, hint.__supertype__, at)
    if hasattr(hint, "__value__"):
        return convert(value, hint.__value__, at)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        return convert(value, inner[0], at)
    if origin is typing.Literal:
        return _literal(value, inner, at)
    if origin in (Union, types.UnionType):
        return _one_of(value, inner, at)
    kind = origin if isinstance(origin, type) else hint
    if not isinstance(kind, type):
        return value
    if has_fields(kind):
        return _of_fields(value, kind, at)
    return _of_class(value, kind, inner, at)


def _of_class(value: Any, kind: type[Any], inner: tuple[Any, ...], at: str) -> Any:
    if issubclass(kind, enum.Enum):
        return _member(value, kind, at)
    if kind is type(None):
        return value if value is None else _fail(value, "null", at)
    if isinstance(value, float) and value.is_integer() and issubclass(kind, int) and kind is not bool:
        value = int(value)
    if kind is object:
        return value
    for plain, accepted in _PLAIN.items():
        if issubclass(kind, plain):
            is_bool = isinstance(value, bool) and plain is not bool
            if is_bool or not isinstance(value, accepted):
                return _fail(value, _WORDS[plain], at)
            make: Any = kind
            return value if type(value) is kind else make(value)
    if is_object(kind):
        return _mapping(_checked(value, dict, "an object", at), kind, inner, at)
    if issubclass(kind, tuple):
        return _tuple(_checked(value, list, "an array", at), inner, at)
    if is_array(kind):
        items = _checked(value, list, "an array", at)
        return _collected([convert(one, inner[0] if inner else Any, f"{at}/{index}") for index, one in enumerate(items)], kind)
    return value


_PLAIN: dict[type, tuple[type, ...]] = {bool: (bool,), str: (str,), int: (int,), float: (float, int)}
_WORDS: dict[type, str] = {bool: "a boolean", str: "a string", int: "an integer", float: "a number"}


def _collected(items: list[Any], kind: type[Any]) -> Any:
    """The items as the class says; of an abstract class, as the plain class for it."""
    if inspect.isabstract(kind):
        return set(items) if issubclass(kind, Set) else items
    return items if kind is list else kind(items)


def _tuple(items: list[Any], inner: tuple[Any, ...], at: str) -> tuple[Any, ...]:
    hints = [inner[0]] * len(items) if len(inner) == 2 and inner[1] is Ellipsis else [one for one in inner if one != ()]
    if inner and len(hints) != len(items):
        _fail(items, f"an array of {len(hints)} items", at)
    hints = hints if inner else [Any] * len(items)
    return tuple(convert(one, hint, f"{at}/{index}") for index, (one, hint) in enumerate(zip(items, hints)))


def _mapping(value: dict[str, Any], kind: type, inner: tuple[Any, ...], at: str) -> Any:
    of_key = inner[0] if inner else Any
    of_value = inner[1] if len(inner) > 1 else int if inner else Any
    made = {
        _key(name, of_key, f"{at}/{_escaped(name)}"): convert(one, of_value, f"{at}/{_escaped(name)}")
        for name, one in value.items()
    }
    if issubclass(kind, collections.defaultdict):
        return collections.defaultdict(None, made)
    return kind(made) if issubclass(kind, (collections.OrderedDict, collections.Counter)) else made


def _key(name: str, hint: Any, at: str) -> Any:
    """The key of a mapping, which is text in JSON."""
    if isinstance(hint, type) and issubclass(hint, (int, float)) and not issubclass(hint, (bool, enum.Enum)):
        return _read(hint, _WORDS[int if issubclass(hint, int) else float], name, at)
    try:
        return convert(name, hint, at)
    except ConversionError:
        if name.lstrip("-").isdigit():
            return convert(int(name), hint, at)
        raise


def _of_fields(value: Any, kind: type, at: str) -> Any:
    found = fields_of_class(kind).fields
    if isinstance(value, list) and is_named_tuple(kind):
        value = dict(zip([field.name for field in found], value))
    given = _checked(value, dict, "an object", at)
    try:
        made = converted(found, given)
    except ConversionError as error:
        raise ConversionError([{**one, "pointer": at + one["pointer"]} for one in error.errors]) from None
    if unknown := [name for name in given if name not in {field.name for field in found}]:
        names = ", ".join(f"`{field.name}`" for field in found)
        raise ConversionError([{"pointer": f"{at}/{_escaped(unknown[0])}", "message": f"there is no such field; fields are {names}"}])
    return made if is_typed_dict(kind) else kind(**made)


def _one_of(value: Any, hints: tuple[Any, ...], at: str) -> Any:
    """The first member of a union that the value fits; a plain value that needs no conversion wins."""
    if any(hint is type(value) for hint in hints) and not isinstance(value, (str, list, dict)):
        return value
    errors: list[dict[str, Any]] = []
    for hint in hints:
        try:
            return convert(value, hint, at)
        except ConversionError as error:
            errors = errors if hint is type(None) else error.errors
    raise ConversionError(errors)


def _literal(value: Any, members: tuple[Any, ...], at: str) -> Any:
    for member in members:
        plain = member.value if isinstance(member, enum.Enum) else member
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return member
    return _fail(value, "one of " + ", ".join(map(_shown, members)), at)


def _member(value: Any, kind: type[enum.Enum], at: str) -> enum.Enum:
    if issubclass(kind, enum.Flag):
        return kind(value)
    known = values_of(kind)
    for plain, member in known.items():
        if plain == value and isinstance(plain, bool) == isinstance(value, bool):
            return member
    if isinstance(value, str) and value in kind.__members__:
        return kind[value]
    _fail(value, "one of " + ", ".join(map(_shown, known)), at)


def _read(read: Callable[[str], Any], expected: str, value: Any, at: str) -> Any:
    text = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    try:
        return read(_checked(text, str, expected, at))
    except (ValueError, ArithmeticError, TypeError):
        return _fail(value, expected, at)


def _checked(value: Any, kind: type, expected: str, at: str) -> Any:
    return value if isinstance(value, kind) else _fail(value, expected, at)


def _fail(value: Any, expected: str, at: str) -> typing.NoReturn:
    given = json.dumps(value, ensure_ascii=False, default=repr)
    given = given if len(given) <= 80 else given[:79] + "…"
    message = f"expected {expected}, got {given}"
    raise ConversionError([{"pointer": at, "message": message, "expected": expected}])


def _shown(value: Any) -> str:
    return json.dumps(value.value if isinstance(value, enum.Enum) else value, ensure_ascii=False, default=repr)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
