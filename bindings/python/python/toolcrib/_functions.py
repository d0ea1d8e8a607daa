"""Functions with docstrings and type hints as definitions of tools. Pydantic describes and converts their arguments."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._hints import hints_of, signature, target, typed_dict_of
from .errors import ConversionError

if TYPE_CHECKING:
    from ._arguments import Argument

_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
Note = tuple[str, str, str]
"""A note on an argument: its name, a code and a message."""


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
        """The call with arguments as the type hints say, not made yet. All arguments that do not fit are reported at once."""
        known = {one.name: one for one in self.arguments}
        others = next((one for one in self.arguments if one.kind is inspect.Parameter.VAR_KEYWORD), None)
        given: dict[str, Any] = {}
        errors: list[dict[str, Any]] = []
        for name, value in arguments.items():
            argument = known.get(name, others)
            try:
                given[name] = argument.convert(name, value) if argument else value
            except ConversionError as error:
                errors.extend(error.errors)
        missing = [one.name for one in self.arguments if one.is_required and one.name not in arguments]
        errors.extend({"pointer": f"/{name}", "message": f"`{name}` is required"} for name in missing)
        if errors:
            raise ConversionError(errors)
        return self._bound(given)

    def _bound(self, given: dict[str, Any]) -> functools.partial[Any]:
        many = next((one.name for one in self.arguments if one.kind is inspect.Parameter.VAR_POSITIONAL), None)
        rest = given.pop(many, []) if many else []
        last = inspect.Parameter.POSITIONAL_OR_KEYWORD if rest else inspect.Parameter.POSITIONAL_ONLY
        by_position = [one for one in self.arguments if one.kind in _BY_POSITION and one.kind <= last]
        positional = [given.pop(one.name, one.default) for one in by_position]
        return functools.partial(self.function, *positional, *rest, **given)

    @property
    def arguments(self) -> list[Argument]:
        """The arguments of the function."""
        return self._read[0]

    @functools.cached_property
    def _read(self) -> tuple[list[Argument], list[Note]]:
        """The arguments, and notes on those whose hints cannot be read."""
        from ._arguments import Argument

        try:
            parameters = signature(self.function).parameters
        except (ValueError, TypeError) as error:  # as built-in functions may have none: any arguments are accepted
            anything = Argument("arguments", Any, False, inspect.Parameter.empty, inspect.Parameter.VAR_KEYWORD)
            return [anything], [("arguments", "hint-unreadable", f"the function has no signature: {error}")]
        hints, unread = hints_of(target(self.function))
        bound = _bound_by_name(self.function)
        arguments: list[Argument] = []
        for name, parameter in parameters.items():
            hint = hints.get(name, Any)
            if name in bound:
                continue
            if parameter.kind is parameter.VAR_KEYWORD and (options := typed_dict_of(hint)):
                arguments.extend(Argument(*option, parameter.empty) for option in options)
                continue
            is_many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            hint = list[hint] if parameter.kind is parameter.VAR_POSITIONAL else hint  # type: ignore[valid-type]
            is_required = parameter.default is parameter.empty and not is_many
            arguments.append(Argument(name, hint, is_required, parameter.default, parameter.kind))
        notes = [
            (name, "hint-unreadable", f"its type hint cannot be read: {reason}")
            for name, reason in unread.items() if name in parameters and name not in bound
        ]
        return arguments, notes

    def definition(self) -> tuple[dict[str, Any], list[Note]]:
        """The definition in the native format, and notes on its arguments."""
        parameters, notes = self._parameters()
        settings = {"effect": self.effect, "category": self.category}
        return {
            "name": self.name,
            "description": _docstring(self.function) or self.name.replace("_", " "),
            "parameters": parameters,
            **{name: value for name, value in settings.items() if value is not None},
        }, notes

    def _parameters(self) -> tuple[dict[str, Any], list[Note]]:
        """The schema of the arguments."""
        from ._arguments import schemas_of

        arguments, unread = self._read
        schemas, definitions, unknown = schemas_of(arguments)
        notes = [*unread, *unknown]
        properties: dict[str, Any] = {}
        others: Any = False
        for one in arguments:
            schema = schemas[one.name]
            if one.kind is inspect.Parameter.VAR_KEYWORD:
                others = schema or True
                continue
            try:
                properties[one.name] = {**schema, **one.default_keyword()}
            except (ValueError, TypeError, OverflowError, RecursionError):
                properties[one.name] = schema
                notes.append((one.name, "default-left-out", f"its default is not in the schema, since JSON has no {_shown(one.default)}"))
        required = [one.name for one in arguments if one.is_required]
        parameters = {"type": "object", "properties": properties, "additionalProperties": others}
        more = {"required": required, "$defs": definitions}
        return {**parameters, **{key: value for key, value in more.items() if value}}, notes


def _shown(value: Any) -> str:
    return f"`{value}`" if isinstance(value, float) else f"such `{type(value).__name__}`"


def _function(function: Any) -> Any:
    """The function below partial applications."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _name(function: Any) -> str:
    function = _function(function)
    return str(getattr(function, "__name__", type(function).__name__))


def _bound_by_name(function: Any) -> set[str]:
    """The arguments that partial applications give by name."""
    bound: set[str] = set()
    while isinstance(function, functools.partial):
        bound.update(function.keywords)
        function = function.func
    return bound


def _docstring(function: Any) -> str | None:
    """The docstring of a function; that of a class stands for its ``__call__`` without one."""
    function = _function(function)
    if isinstance(function, type) or hasattr(function, "__name__"):
        return inspect.getdoc(function)
    called = target(function)
    return called.__doc__ and inspect.getdoc(called) or inspect.getdoc(type(function))
