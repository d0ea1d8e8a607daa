"""A schema has no more bytes than the source's own converter makes of the same function. Descriptions may be longer: some
converters leave out what a function returns."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import random
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, Optional, Union

import pydantic
import pytest
import toolcrib


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(pydantic.BaseModel):
    """Where somebody lives."""

    street: str = pydantic.Field(description="The street")
    city: str
    zip_code: str | None = None


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int = 3
    address: Address
    tags: list[str] = pydantic.Field(default_factory=list, description="Tags of the person")


@dataclasses.dataclass
class Point:
    """A point."""

    x: float
    y: float = 0.0


HINTS = [
    "int", "str", "float", "bool", "list[str]", "dict[str, int]", "Optional[int]", "int | None", "Literal['a', 'b']", "Color",
    "Address", "Person", "Point", "list[Person]", "datetime.date", "datetime.datetime", "list[list[int]]", "tuple[int, str]",
    "Annotated[str, pydantic.Field(description='The text')]", "Annotated[int, pydantic.Field(ge=1, le=9)]", "set[int]", "Any",
    "Union[int, str]", "dict[str, Any]",
]
DEFAULTS = {"int": "3", "str": "'x'", "float": "1.5", "bool": "True", "Optional[int]": "None", "Color": "Color.RED"}
NAMES = ["alpha", "beta_count", "userName", "city", "x", "query_text", "items", "value"]
FUNCTIONS = 300


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions with hints, defaults and docstrings of every kind, and the source of each."""
    chance = random.Random(20)
    for index in range(FUNCTIONS):
        arguments, optional, texts = [], [], []
        for name in chance.sample(NAMES, chance.randint(0, 5)):
            hint = chance.choice(HINTS)
            if hint in DEFAULTS and chance.random() < 0.5:
                optional.append(f"{name}: {hint} = {DEFAULTS[hint]}")
            else:
                arguments.append(f"{name}: {hint}")
            if chance.random() < 0.6:
                texts.append(f"    {name}: About {name.replace('_', ' ')}, which is needed.\n")
        doc = f"Does the thing number {index}.\n"
        doc += "\nIt does it well, and then again.\n" if chance.random() < 0.4 else ""
        doc += "\nArgs:\n" + "".join(texts) if texts and chance.random() < 0.7 else ""
        doc += "\nReturns:\n    The result of it.\n" if chance.random() < 0.3 else ""
        source = f"def do_thing_{index}({', '.join(arguments + optional)}) -> str:\n    {doc!r}\n    return ''\n"
        names = dict(globals())
        exec(source, names)
        yield source, names[f"do_thing_{index}"]


def langchain(function: Callable[..., Any]) -> dict[str, Any]:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    made: dict[str, Any] = convert_to_openai_tool(function)["function"]
    return made


def openai_agents(function: Callable[..., Any]) -> dict[str, Any]:
    from agents import function_tool

    tool = function_tool(function, strict_mode=False)
    return {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}


def pydantic_ai(function: Callable[..., Any]) -> dict[str, Any]:
    from pydantic_ai import Tool

    tool: Any = Tool(function)
    return {"name": tool.name, "description": tool.description or "", "parameters": tool.tool_def.parameters_json_schema}


def size(value: Any) -> int:
    """The bytes of a schema or a tool, without what is said here alone: that further arguments are refused, and that the items
    of an array are anything, which OpenAI requires."""

    def counted(part: Any) -> Any:
        if isinstance(part, dict):
            own = {"additionalProperties": False, "items": {}}
            return {key: counted(one) for key, one in part.items() if key not in own or own[key] != one}
        return [counted(one) for one in part] if isinstance(part, list) else part

    return len(json.dumps(counted(value), separators=(",", ":"), ensure_ascii=False).encode())


def is_unwrapped(parameters: dict[str, Any], function: Callable[..., Any]) -> bool:
    """Whether the only argument was left out of the schema in favour of its fields, as Pydantic AI does."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return len(names) == 1 and list(parameters["properties"]) != list(names)


@pytest.mark.parametrize("convert", [langchain, openai_agents, pydantic_ai])
def test_no_schema_is_larger_than_that_of_the_converter(convert: Callable[..., dict[str, Any]]) -> None:
    larger = []
    for source, function in functions():
        [tool] = toolcrib.open([function]).payload("openai", mode="full")["tools"]
        ours, theirs = tool["function"]["parameters"], convert(function)["parameters"]
        if not is_unwrapped(theirs, function) and size(ours) > size(theirs):
            larger.append(f"{source}{ours}\n{theirs}")
    assert not larger, f"{len(larger)} of {FUNCTIONS}:\n" + "\n\n".join(larger[:3])


@pytest.mark.parametrize("model", [Address, Person])
def test_no_tool_of_langchain_is_larger_than_langchain_makes_it(model: type[pydantic.BaseModel]) -> None:
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    tool = StructuredTool.from_function(lambda **given: "", name="save", description="Saves it.", args_schema=model)
    [ours] = toolcrib.open([tool]).payload("openai", mode="full")["tools"]
    theirs = convert_to_openai_tool(tool)
    assert size(ours["function"]) <= size(theirs["function"]), f"{ours}\n{theirs}"
