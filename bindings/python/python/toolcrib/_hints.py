"""Type hints of functions. Each is read alone, so that one that cannot be read does not take the others with it."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin


def target(function: Any) -> Any:
    """The function with the hints and the docstring: below partial applications, and of an object its ``__call__``."""
    while isinstance(function, (functools.partial, functools.partialmethod)):
        function = function.func
    if isinstance(function, type):
        return getattr(function, "__init__")
    return function if hasattr(function, "__name__") else type(function).__call__


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, also where annotations name what is not there at run time."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def hints_of(function: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The hints by name, and the reasons why some cannot be read."""
    hints: dict[str, Any] = {}
    unread: dict[str, str] = {}
    names = _names_around(function)
    for name, annotation in _annotations(function).items():
        alone = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            hints.update(typing.get_type_hints(alone, names, names, include_extras=True))
        except Exception as error:
            unread[name] = f"{type(error).__name__}: {error}"
    return hints, unread


def typed_dict_of(hint: Any) -> list[tuple[str, Any, bool]]:
    """The names, hints and whether required of the options that ``**options: Unpack[...]`` says; of another hint, none."""
    if getattr(get_origin(hint), "_name", None) != "Unpack":
        return []
    [options] = get_args(hint)
    hints = typing.get_type_hints(options, include_extras=True)
    required: frozenset[str] = getattr(options, "__required_keys__", frozenset())
    return [(name, _without_qualifier(one), name in required) for name, one in hints.items()]


def _without_qualifier(hint: Any) -> Any:
    while getattr(get_origin(hint), "_name", None) in ("Required", "NotRequired", "ReadOnly"):
        [hint] = get_args(hint)
    return hint


def _annotations(function: Any) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
    found = getattr(function, "__annotations__", None)
    return found if isinstance(found, Mapping) else {}


def _names_around(function: Any) -> dict[str, Any]:
    """Names that hints may use: the globals, and what the function encloses."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    names: dict[str, Any] = dict(getattr(function, "__globals__", {}))
    for name, cell in zip(getattr(function, "__code__", _name_free).co_freevars, getattr(function, "__closure__", None) or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # a name that gets its value later
            continue
    return names


_name_free = (lambda: None).__code__
