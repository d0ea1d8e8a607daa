"""Definitions that a program has: functions, dicts, and what SDKs list. One that cannot be read is a finding, and left out."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ._convert import told
from ._finding import SEVERITIES, Finding, Place
from ._functions import FunctionTool, definition_of
from ._hints import target
from ._plain import plain, well_formed

FILE = "definitions.json"
"""The name of definitions without a file in findings of the core."""
MAX_DEPTH = 120
"""Levels of one definition; the core reads 128, and the list around it is one."""

_HELP = {
    "hint-unreadable": "use a type that is there at run time: a name that is only imported under `if TYPE_CHECKING` is not",
    "hint-unknown": "use a dataclass, a TypedDict, an Enum, a pydantic model or a plain type",
    "default-left-out": "use None as the default, and decide in the function",
}


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
    def of(cls, given: Iterable[Any]) -> Definitions:
        """Reads what was given, each thing alone."""
        found = cls()
        for index, thing in enumerate(given):
            listed = thing.get("tools") if isinstance(thing, Mapping) else getattr(thing, "tools", None)
            is_list = isinstance(listed, list) and not callable(thing)
            for at, one in enumerate(listed) if is_list and listed else [(None, thing)]:
                found._try(one, f"/{index}" if at is None else f"/{index}/tools/{at}")
        return found

    def _try(self, thing: Any, pointer: str) -> None:
        try:
            self._add(thing, pointer)
        except Exception as error:
            is_function = callable(thing) or isinstance(thing, FunctionTool)
            code = "function-unreadable" if is_function else "definition-invalid"
            place = _place(thing, "") if is_function else Place(FILE, pointer)
            message = f"{_named(thing, pointer)} was left out: {told(error)}"
            self.findings.append(Finding(code, "error", message, None, place, "correct it, or give the list without it"))
            self.is_complete = False

    def _add(self, thing: Any, pointer: str) -> None:
        if isinstance(thing, FunctionTool) or _is_function(thing):
            self._add_function(thing if isinstance(thing, FunctionTool) else FunctionTool.of(thing), pointer)
        elif _is_langchain(thing):
            self._add_langchain(thing, pointer)
        elif isinstance(schema := getattr(thing, "params_json_schema", None), Mapping):  # of the OpenAI Agents SDK
            self._append(_checked({"name": thing.name, "description": thing.description, "parameters": schema}), pointer)
        else:
            found = plain(thing)
            if not isinstance(found, (dict, list)):
                raise TypeError(f"a `{type(thing).__name__}` is no definition of a tool")
            self._append(_checked(found), pointer)

    def _add_function(self, tool: FunctionTool, pointer: str) -> None:
        if not callable(tool.function):
            raise TypeError(f"a `{type(tool.function).__name__}` cannot be called")
        made = definition_of(tool)
        for name, code, message in made.notes:
            severity: Any = "info" if code == "default-left-out" else "warning"
            place = _place(tool.function, f"/parameters/properties/{name}")
            self.findings.append(Finding(code, severity, f"`{name}`: {message}", tool.name, place, _HELP[code]))
        try:
            definition = _checked(made.definition)
        except (ValueError, TypeError, RecursionError) as error:
            message = f"its arguments cannot be described, and any are accepted: {told(error)}"
            place = _place(tool.function, "/parameters")
            self.findings.append(Finding("hint-unreadable", "warning", message, tool.name, place, _HELP["hint-unreadable"]))
            definition = _checked({**made.definition, "parameters": {"type": "object", "properties": {}}})
        self.functions[len(self.values)] = tool
        self._append(definition, pointer)

    def _add_langchain(self, tool: Any, pointer: str) -> None:
        schema = tool.tool_call_schema
        parameters = schema if isinstance(schema, Mapping) else schema.model_json_schema()
        definition = _checked({"name": tool.name, "description": tool.description, "parameters": parameters})

        def run(**arguments: Any) -> Any:
            is_async = getattr(tool, "func", run) is None
            return tool.ainvoke(arguments) if is_async else tool.invoke(arguments)

        self.functions[len(self.values)] = FunctionTool(run, tool.name)
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
        return {renamed.get(index, tool.name): tool for index, tool in self.functions.items()}

    def merged(self, found: list[Finding]) -> list[Finding]:
        """All findings, the worst first; those on a function have the place of the function in its file."""
        placed = [self._placed(finding) for finding in found]
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


def _is_function(thing: Any) -> bool:
    is_other = isinstance(thing, Mapping) or hasattr(thing, "model_dump") or hasattr(thing, "params_json_schema")
    return callable(thing) and not is_other


def _is_langchain(thing: Any) -> bool:
    return not isinstance(thing, type) and hasattr(thing, "tool_call_schema") and hasattr(thing, "invoke")


def _checked(definition: Any) -> Any:
    """A definition as JSON values, which the core can read."""
    made = json.loads(json.dumps(plain(definition), allow_nan=False))
    if _is_deeper(made, MAX_DEPTH):
        raise ValueError(f"it has more than {MAX_DEPTH} levels")
    return made


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (dict, list)):
        return False
    below = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(one, levels - 1) for one in below)


def _named(thing: Any, pointer: str) -> str:
    name = thing.get("name") if isinstance(thing, Mapping) else getattr(thing, "name", None) or getattr(thing, "__name__", None)
    return f"`{well_formed(name)}`" if isinstance(name, str) else f"`{pointer}` of the definitions"


def _place(function: Any, pointer: str) -> Place | None:
    """The place of a function: its file and its first line."""
    function = function.function if isinstance(function, FunctionTool) else function
    code = getattr(inspect.unwrap(target(function)), "__code__", None)
    # The constructor of a dataclass is made, and has no file.
    return Place(code.co_filename, pointer, code.co_firstlineno) if code and code.co_filename != "<string>" else None
