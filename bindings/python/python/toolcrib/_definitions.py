"""Definitions that a program has: functions, dicts, and what SDKs list. One that cannot be read is a finding, and left out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import _toolcrib
from ._finding import SEVERITIES, Finding, Place
from ._frameworks import tool_of_framework
from ._functions import FunctionTool
from ._hints import target
from ._plain import json_text, plain, well_formed
from .errors import shown

FILE = "definitions.json"
"""The name of definitions without a file in findings of the core."""
MAX_DEPTH = 120
"""Levels of one definition; the core reads 128, and the list around it is one."""
MAX_LISTS = 10
"""Lists within lists that are followed."""

_KNOWN_BY = {"description", "parameters", "inputSchema", "input_schema", "function", "tools", "functions", "openapi", "swagger", "paths"}
"""Fields of definitions and of files with them; a dict without any is looked at alone, since the core passes over it."""

_HELP = {
    "hint-unreadable": "use a type that is there at run time: a name that is only imported under `if TYPE_CHECKING` is not",
    "hint-unknown": "use a dataclass, a TypedDict, an Enum, a pydantic model or a plain type",
    "default-left-out": "use None as the default, and decide in the function",
}


class _Unreadable(ValueError):
    """A thing that is no definition, with the reason for a person."""


@dataclass
class Definitions:
    """The definitions of a catalog as JSON values, the functions among them by their index, and findings."""

    values: list[Any] = field(default_factory=list)
    pointers: list[str] = field(default_factory=list)
    """The place of each in what was given."""
    functions: dict[int, FunctionTool] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    is_complete: bool = True

    @classmethod
    def of(cls, given: Iterable[Any] | Mapping[str, Any]) -> Definitions:
        """Reads what was given, each thing alone. A mapping has functions by their names."""
        found = cls()
        if isinstance(given, Mapping):
            given = [FunctionTool.of(function, name=str(name)) for name, function in given.items()]
        for index, thing in enumerate(given):
            found._try(thing, f"/{index}")
        return found

    def _try(self, thing: Any, pointer: str, depth: int = 0) -> None:
        try:
            listed, below = _listed(thing) if depth < MAX_LISTS else ((), "")
            for index, one in enumerate(listed):
                self._try(one, f"{pointer}{below}/{index}", depth + 1)
            if not listed:
                self._add(thing, pointer)
        except Exception as error:
            is_function = callable(thing) or isinstance(thing, FunctionTool)
            code = "function-unreadable" if is_function else "definition-invalid"
            place = _place(thing, "") if is_function else Place(FILE, pointer)
            reason = str(error) if isinstance(error, _Unreadable) else shown(error)
            message = f"{_named(thing, pointer)} was left out: {reason}"
            self.findings.append(Finding(code, "error", message, None, place, "correct it, or give the list without it"))
            self.is_complete = False

    def _add(self, thing: Any, pointer: str) -> None:
        if isinstance(thing, FunctionTool) or _is_function(thing):
            self._add_function(thing if isinstance(thing, FunctionTool) else FunctionTool.of(thing), pointer)
        elif (found := tool_of_framework(thing)) is not None:
            definition, function = found
            definition = _checked(definition)
            if function is not None:
                self.functions[len(self.values)] = function
            self._append(definition, pointer)
        else:
            value = plain(thing)
            if not isinstance(value, (dict, list)):
                raise _Unreadable(f"a `{type(thing).__name__}` is no definition of a tool")
            value = _checked(value)
            if isinstance(value, dict) and not _KNOWN_BY.intersection(value) and _is_nothing(value):
                raise _Unreadable("it is no definition of a tool in a known format")
            self._append(value, pointer)

    def _add_function(self, tool: FunctionTool, pointer: str) -> None:
        if not callable(tool.function):
            raise _Unreadable(f"a `{type(tool.function).__name__}` cannot be called")
        made, notes = tool.definition()
        for name, code, message in notes:
            severity: Any = "info" if code == "default-left-out" else "warning"
            place = _place(tool.function, f"/parameters/properties/{name}")
            self.findings.append(Finding(code, severity, f"`{name}`: {message}", tool.name, place, _HELP[code]))
        try:
            definition = _checked(made)
        except (ValueError, TypeError, RecursionError) as error:
            message = f"its arguments cannot be described, and any are accepted: {shown(error)}"
            place = _place(tool.function, "/parameters")
            self.findings.append(Finding("hint-unreadable", "warning", message, tool.name, place, _HELP["hint-unreadable"]))
            definition = _checked({**made, "parameters": {"type": "object", "properties": {}}})
        self.functions[len(self.values)] = tool
        self._append(definition, pointer)

    def _append(self, definition: Any, pointer: str) -> None:
        name = definition.get("name") if isinstance(definition, dict) else None
        if isinstance(name, str) and well_formed(name) != name:
            message = "a name held half of a surrogate pair, which was replaced"
            place = Place(FILE, f"{pointer}/name")
            self.findings.append(Finding("name-cleaned", "warning", message, well_formed(name), place))
        self.values.append(definition)
        self.pointers.append(pointer)

    def names(self, found: list[Finding]) -> dict[str, FunctionTool]:
        """The functions by the names that the core gave them: it numbers equal ones, and says so."""
        renamed: dict[int, str] = {}
        for finding in found:
            index = _index(finding.place)
            if index is not None and finding.tool:
                renamed.setdefault(index, finding.tool)
        return {renamed.get(index, well_formed(tool.name)): tool for index, tool in self.functions.items()}

    def merged(self, found: list[Finding]) -> list[Finding]:
        """All findings, the worst first; those on a function have the place of the function in its file."""
        # Where everything was left out, the core sees an empty list.
        is_left_out = not self.values and bool(self.findings)
        placed = [self._placed(finding) for finding in found if not (is_left_out and finding.code == "format-unknown")]
        return sorted([*placed, *self.findings], key=lambda finding: SEVERITIES.index(finding.severity))

    def _placed(self, finding: Finding) -> Finding:
        index = _index(finding.place)
        if index is None or finding.place is None or index >= len(self.pointers):
            return finding
        pointer = finding.place.pointer.removeprefix(f"/{index}")
        of_function = _place(self.functions[index].function, pointer) if index in self.functions else None
        return replace(finding, place=of_function or replace(finding.place, pointer=self.pointers[index] + pointer))


def _index(place: Place | None) -> int | None:
    head = place.pointer.split("/")[1:2] if place and place.file == FILE else []
    return int(head[0]) if head and head[0].isdigit() else None


def _listed(thing: Any) -> tuple[Sequence[Any], str]:
    """The things in a list, or in the list of an SDK, and where they are in it."""
    if isinstance(thing, (list, tuple)):
        return thing, ""
    tools = thing.get("tools") if isinstance(thing, Mapping) else None if callable(thing) else getattr(thing, "tools", None)
    return (tools, "/tools") if isinstance(tools, (list, tuple)) else ((), "")


def _is_function(thing: Any) -> bool:
    is_other = isinstance(thing, Mapping) or hasattr(thing, "model_dump")
    return callable(thing) and not is_other and tool_of_framework(thing) is None


def _is_nothing(value: dict[str, Any]) -> bool:
    """Whether the core sees no definition in a value, not even a wrong one."""
    alone = _toolcrib.Catalog.from_json(json_text([value]))
    return {finding["code"] for finding in json.loads(alone.findings())["findings"]} == {"format-unknown"}


def _checked(definition: Any) -> Any:
    """A definition as JSON values, which the core can read."""
    made = json.loads(json.dumps(plain(definition), allow_nan=False))
    if _is_deeper(made, MAX_DEPTH):
        raise _Unreadable(f"it has more than {MAX_DEPTH} levels")
    return made


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    below = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in below)


def _named(thing: Any, pointer: str) -> str:
    name = thing.get("name") if isinstance(thing, Mapping) else None
    for attribute in ("name", "__name__"):
        name = name or inspect.getattr_static(thing, attribute, None)
    return f"`{well_formed(name)}`" if isinstance(name, str) else f"`{pointer}` of the definitions"


def _place(function: Any, pointer: str) -> Place | None:
    """The place of a function: its file and its first line."""
    try:
        function = function.function if isinstance(function, FunctionTool) else function
        code = getattr(inspect.unwrap(target(function)), "__code__", None)
    except Exception:  # of an attribute of an object
        return None
    # The constructor of a dataclass is made, and has no file.
    return Place(code.co_filename, pointer, code.co_firstlineno) if code and code.co_filename != "<string>" else None
