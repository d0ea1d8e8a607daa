"""Type hints of functions and classes. Each is read alone, so that one that cannot be read does not take the others with it."""

from __future__ import annotations

import collections
import functools
import inspect
import sys
import types
import typing
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, is_dataclass
from typing import Any, get_args, get_origin

ABSENT: Any = inspect.Parameter.empty
"""The default of a field that has none."""


@dataclass(frozen=True)
class Field:
    """An argument of a function or of a constructor, or an item of a ``TypedDict``."""

    name: str
    hint: Any
    is_required: bool
    default: Any
    kind: Any = inspect.Parameter.KEYWORD_ONLY


@dataclass(frozen=True)
class Fields:
    """The fields of a function or a class, and the reasons why some hints could not be read, by name."""

    fields: list[Field]
    unread: dict[str, str]


def fields_of_function(function: Callable[..., Any]) -> Fields:
    """The arguments of a function, a method, a partial application or an object that can be called.

    An argument that a partial application names is bound already: it is none of the fields.
    """
    bound = bound_by_name(function)
    hints, unread = _hints(target(function))
    fields: list[Field] = []
    for name, parameter in signature(function).parameters.items():
        hint = hints.get(name, Any)
        if name in bound:
            continue
        if parameter.kind is parameter.VAR_KEYWORD and _word(get_origin(hint)) == "Unpack":
            fields.extend(_of_typed_dict(get_args(hint)[0]).fields)
            continue
        is_many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        is_required = parameter.default is ABSENT and not is_many
        fields.append(Field(name, hint, is_required, parameter.default, parameter.kind))
    return Fields(fields, {name: reason for name, reason in unread.items() if name not in bound})


def fields_of_class(hint: type) -> Fields:
    """The fields of a class that is made of them; see :func:`has_fields`."""
    if hint not in _known:
        _known[hint] = _of_class(hint)
    return _known[hint]


_known: weakref.WeakKeyDictionary[type, Fields] = weakref.WeakKeyDictionary()


def _of_class(hint: type) -> Fields:
    if is_typed_dict(hint):
        return _of_typed_dict(hint)
    hints, unread = _hints(hint)
    made_with, _ = _hints(target(hint))
    fields = []
    for name, parameter in signature(hint).parameters.items():
        found = hints.get(name, made_with.get(name, Any))
        found = found.type if isinstance(found, InitVar) else found
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            fields.append(Field(name, found, parameter.default is ABSENT, parameter.default))
    return Fields(fields, unread)


def has_fields(hint: Any) -> bool:
    """Whether a class is made of named fields: a dataclass, a class of attrs, a ``NamedTuple`` or a ``TypedDict``."""
    if not isinstance(hint, type):
        return False
    return is_dataclass(hint) or hasattr(hint, "__attrs_attrs__") or is_named_tuple(hint) or is_typed_dict(hint)


def is_typed_dict(hint: Any) -> bool:
    """Whether a class is a ``TypedDict``, of ``typing`` or of ``typing_extensions``."""
    return isinstance(hint, type) and issubclass(hint, dict) and hasattr(hint, "__required_keys__")


def is_named_tuple(hint: Any) -> bool:
    """Whether a class is a ``NamedTuple``."""
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields")


def is_array(kind: type) -> bool:
    """Whether a class is an array in JSON: a list, a set, or an abstract class for them."""
    return issubclass(kind, (list, set, frozenset, collections.deque)) or _is_abstract(kind) and issubclass(kind, Iterable)


def is_object(kind: type) -> bool:
    """Whether a class is an object in JSON: a dict, or an abstract class for it."""
    return issubclass(kind, dict) or _is_abstract(kind) and issubclass(kind, Mapping)


def _is_abstract(kind: type) -> bool:
    return kind.__module__ == "collections.abc"


def target(function: Any) -> Any:
    """The function with the hints and the docstring: below partial applications, and of an object its ``__call__``."""
    while isinstance(function, (functools.partial, functools.partialmethod)):
        function = function.func
    if isinstance(function, type):
        return getattr(function, "__init__")
    return function if hasattr(function, "__name__") else type(function).__call__


def bound_by_name(function: Any) -> set[str]:
    """The arguments that partial applications give by name."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound.update(function.keywords)
        function = function.func
    return bound


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, also where annotations name what is not there at run time."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def _of_typed_dict(hint: type) -> Fields:
    hints, unread = _hints(hint)
    fields = []
    for name, found in hints.items():
        is_required = name in getattr(hint, "__required_keys__")
        while (word := _word(get_origin(found))) in ("Required", "NotRequired", "ReadOnly"):
            is_required = is_required if word == "ReadOnly" else word == "Required"
            found = get_args(found)[0]
        fields.append(Field(name, found, is_required, ABSENT))
    return Fields(fields, unread)


def _word(origin: Any) -> str:
    """The name of a special form, which ``typing`` and ``typing_extensions`` both have."""
    return str(getattr(origin, "_name", None) or getattr(origin, "__name__", ""))


def _hints(thing: Any) -> tuple[dict[str, Any], dict[str, str]]:
    names = _names_around(thing)
    try:
        return typing.get_type_hints(thing, localns=names, include_extras=True), {}
    except Exception:
        pass
    hints: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for owner in reversed(thing.__mro__) if isinstance(thing, type) else [thing]:
        for name, annotation in _annotations(owner).items():
            alone = types.SimpleNamespace(__annotations__={name: annotation})
            try:
                hints.update(typing.get_type_hints(alone, _globals(owner), names, include_extras=True))
                unread.pop(name, None)
            except Exception as error:
                hints[name], unread[name] = Any, f"{type(error).__name__}: {error}"
    hints.pop("return", None)
    unread.pop("return", None)
    return hints, unread


def _annotations(owner: Any) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(owner, format=annotationlib.Format.FORWARDREF)
    found = vars(owner).get("__annotations__") if isinstance(owner, type) else getattr(owner, "__annotations__", None)
    return found if isinstance(found, Mapping) else {}


def _globals(owner: Any) -> dict[str, Any]:
    if isinstance(owner, type):
        return vars(sys.modules.get(owner.__module__, types))
    found: dict[str, Any] = getattr(inspect.unwrap(owner), "__globals__", {})
    return found


def _names_around(thing: Any) -> dict[str, Any] | None:
    """Names that hints may use beside the globals: those that a function encloses, and a class itself."""
    if isinstance(thing, type):
        return {**vars(thing), thing.__name__: thing}
    function = inspect.unwrap(getattr(thing, "__func__", thing))
    cells = getattr(function, "__closure__", None)
    if not cells:
        return None
    names: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, cells):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a name that gets its value later
            continue
    return {**getattr(function, "__globals__", {}), **names}
