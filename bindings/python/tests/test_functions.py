"""Functions as tools: each hint has a schema, and one that is odd does not take the others with it."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import json
import pathlib
import typing
import uuid
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import pytest
import toolcrib
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from nowhere import Ghost


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


@dataclasses.dataclass
class Node:
    """A node of a tree."""

    name: str
    children: list[Node] = dataclasses.field(default_factory=list)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Shape(enum.Enum):
    LINE = (1, 2)
    POINT = (0, 0)


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Arrival(TypedDict):
    at: datetime.datetime


class Visit(Arrival, total=False):
    note: str


def schema_of(function: Any) -> dict[str, Any]:
    catalog = toolcrib.open([function])
    assert not [finding for finding in catalog.findings if finding.severity == "error"]
    [tool] = catalog.payload("openai", mode="full")["tools"]
    return tool["function"]["parameters"]


def codes_of(catalog: toolcrib.Catalog) -> dict[str, list[toolcrib.Finding]]:
    found: dict[str, list[toolcrib.Finding]] = {}
    for finding in catalog.findings:
        found.setdefault(finding.code, []).append(finding)
    return found


def with_nan(a: float = float("nan"), b: float = float("-inf"), c: int = 10**5000) -> None:
    """Takes numbers that JSON does not have."""


def with_ghost(a: Ghost, b: int) -> None:
    """Takes what a type checker alone knows."""


def with_node(node: Node, other: Node | None = None) -> str:
    """Takes a tree."""
    return node.children[0].name


class Adder:
    """Adds what it is called with."""

    def __call__(self, a: int, ghost: Ghost | None = None) -> int:
        return a + 1


class Unwritable:
    def __repr__(self) -> str:
        raise ValueError("no words")


def with_unwritable(a: Unwritable = Unwritable()) -> None:
    """Takes what cannot be written."""


class Broken:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no attributes")


CYCLE: dict[str, Any] = {"name": "cycle", "description": "Holds itself.", "inputSchema": {"type": "object"}}
CYCLE["inputSchema"]["properties"] = {"all": CYCLE}
DEEP: dict[str, Any] = {"name": "deep", "description": "Is deep.", "inputSchema": functools.reduce(
    lambda below, _: {"type": "object", "properties": {"a": below}}, range(200), {"type": "object"}
)}
NOT_A_NUMBER = {"name": "nan", "description": "Has no number.", "inputSchema": {"default": float("nan")}}
ODD = [
    with_nan, with_ghost, with_node, with_unwritable, Adder(), functools.partial(add, 1), CYCLE, DEEP, NOT_A_NUMBER, 3, None, len, print,
    {"name": "half\ud800", "description": "Has half a pair.", "inputSchema": {"type": "object"}},
    toolcrib.FunctionTool.of(add, name="\udfff"), toolcrib.FunctionTool(3, "three"), lambda x: x, Unwritable(), dict, object(), Broken(),
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_odd_definition_does_not_take_good_ones_with_it(odd):
    def last(text: str) -> str:
        """Gets a text back."""
        return text

    catalog = toolcrib.open([add, odd, last])
    assert [catalog.tools[0].name, catalog.tools[-1].name] == ["add", "last"]
    assert len(catalog.tools) == 3 or not catalog.is_complete and [one for one in catalog.findings if one.severity == "error"]
    agent = toolcrib.Session(catalog)
    assert agent.run(agent.call("add", {"a": 1}))["result"] == 3
    assert agent.run(agent.call("last", {"text": "x"}))["result"] == "x"


def test_a_definition_that_cannot_be_read_is_named():
    found = codes_of(toolcrib.open([CYCLE, DEEP, add, NOT_A_NUMBER, None, toolcrib.FunctionTool(3, "three")]))
    told = "\n".join(map(str, found["definition-invalid"]))
    assert "`cycle`" in told and "`deep`" in told and "`nan`" in told and "`/4`" in told
    assert "three" in found["function-unreadable"][0].message


def test_an_odd_tool_of_a_list_does_not_take_the_others_with_it():
    fine = {"name": "fine", "description": "Is fine.", "inputSchema": {"type": "object"}}
    for tools in ({"tools": [CYCLE, fine, 3]}, SimpleNamespace(tools=[CYCLE, fine, 3])):
        catalog = toolcrib.open([tools, add])
        assert [tool.name for tool in catalog.tools] == ["fine", "add"] and not catalog.is_complete
        places = [finding.place.pointer for finding in catalog.findings if finding.severity == "error"]
        assert places == ["/0/tools/0", "/0/tools/2"]
        assert [one.place.pointer for one in catalog.findings if one.tool == "fine"][0].startswith("/0/tools/1")


def test_a_hint_that_is_not_there_at_run_time_is_any_value():
    assert schema_of(with_ghost)["properties"] == {"a": {}, "b": {"type": "integer"}}
    [finding] = codes_of(toolcrib.open([add, with_ghost]))["hint-unreadable"]
    assert finding.tool == "with_ghost" and "`a`" in finding.message and "Ghost" in finding.message
    assert finding.place.file == __file__ and finding.place.pointer == "/parameters/properties/a"
    assert finding.place.line == with_ghost.__code__.co_firstlineno


def test_findings_on_a_function_have_its_place():
    found = codes_of(toolcrib.open([{"name": "x", "description": "X.", "inputSchema": {}}, add]))
    [finding] = [one for one in found["parameter-undocumented"] if one.tool == "add"]
    assert (finding.place.file, finding.place.line) == (__file__, add.__code__.co_firstlineno)


def test_a_default_that_json_does_not_have_is_left_out():
    properties = schema_of(with_nan)["properties"]
    assert properties == {"a": {"type": "number"}, "b": {"type": "number"}, "c": {"type": "integer"}}
    assert len(codes_of(toolcrib.open([with_nan]))["default-left-out"]) == 3


def test_a_class_that_holds_itself_is_a_definition():
    schema = schema_of(with_node)
    assert schema["properties"]["node"] == {"$ref": "#/$defs/Node"}
    assert schema["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    agent = toolcrib.Session(toolcrib.open([with_node]))
    tree = {"name": "root", "children": [{"name": "leaf"}]}
    assert agent.run(agent.call("with_node", {"node": tree}))["result"] == "leaf"


def test_types_of_the_standard_library_have_their_formats():
    def take(
        a: datetime.datetime, b: datetime.date, c: uuid.UUID, d: decimal.Decimal, e: pathlib.Path, f: bytes, g: Literal["red", 2],
        h: Shape, i: Point, j: Visit, k: Annotated[datetime.date | None, "A day."] = None, l: datetime.date = datetime.date(2024, 5, 17),
        m: Color = Color.RED,
    ) -> None:
        """Takes everything."""

    properties = schema_of(take)["properties"]
    assert [properties[name].get("format") for name in "abcde"] == ["date-time", "date", "uuid", "decimal", "path"]
    assert properties["f"]["contentEncoding"] == "base64"
    assert properties["g"]["enum"] == ["red", 2] and properties["h"] == {}
    assert properties["i"]["required"] == ["x"] and properties["j"]["required"] == ["at"]
    assert properties["k"]["description"] == "A day." and properties["l"]["default"] == "2024-05-17"
    assert properties["m"] == {"enum": ["red", "blue"], "type": "string", "default": "red"}


def test_the_text_of_an_argument_is_told_wherever_it_stands():
    def take(a: Annotated[int | None, "A number."] = None, b: Annotated[int, "A number."] | None = None) -> None:
        """Takes numbers."""

    assert schema_of(take)["properties"] == dict.fromkeys("ab", {"type": ["integer", "null"], "description": "A number."})


def test_a_type_without_a_form_in_json_is_any_value_and_told():
    def take(connection: Adder, callback: typing.Callable[[], int]) -> None:
        """Takes objects."""

    assert schema_of(take)["properties"] == {"connection": {}, "callback": {}}
    assert len(codes_of(toolcrib.open([take]))["hint-unknown"]) == 2


def test_definitions_of_pydantic_models_are_shared():
    pydantic = pytest.importorskip("pydantic")
    Inner = pydantic.create_model("Inner", n=(int, ...))
    Outer = pydantic.create_model("Outer", inner=(Inner, ...), others=(list[Inner], []))
    Other = pydantic.create_model("Inner", text=(str, ...))
    Last = pydantic.create_model("Last", inner=(Other, ...))

    def take(outer, last, count):
        """Takes models."""
        return f"{outer.inner.n} {last.inner.text} {count}"

    take.__annotations__ = {"outer": Outer, "last": Last, "count": Annotated[int, pydantic.Field(ge=1, description="How many.")]}
    schema = schema_of(take)
    assert schema["properties"]["outer"]["properties"]["inner"] == {"$ref": "#/$defs/Inner"}
    assert schema["properties"]["last"]["properties"]["inner"]["properties"] == {"text": {"type": "string"}}
    assert schema["properties"]["count"]["minimum"] == 1 and schema["properties"]["count"]["description"] == "How many."
    agent = toolcrib.Session(toolcrib.open([take]))
    given = {"outer": {"inner": {"n": 1}}, "last": {"inner": {"text": "x"}}, "count": 2}
    assert agent.run(agent.call("take", given))["result"] == "1 x 2"


def test_an_argument_that_is_bound_already_is_not_told():
    def send(token: str, to: str, text: str = "hello") -> str:
        """Sends a text."""
        return f"{token} {to} {text}"

    tool = functools.partial(send, token="secret")
    assert "secret" not in json.dumps(toolcrib.open([tool]).payload("openai", mode="full"))
    assert schema_of(tool)["required"] == ["to"]
    catalog = toolcrib.open([tool])
    agent = toolcrib.Session(catalog)
    assert catalog.tools[0].summary == "Sends a text"
    assert agent.run(agent.call("send", {"to": "Amy"}))["result"] == "secret Amy hello"


def test_functions_of_one_name_are_each_called_by_their_own():
    def made(answer):
        def ask() -> int:
            """Asks for the answer."""
            return answer

        return ask

    given = {"name": "ask", "description": "Asks elsewhere.", "inputSchema": {"type": "object"}}
    agent = toolcrib.Session(toolcrib.open([given, made(1), made(2)]))
    results = [agent.run(agent.call(name, {})) for name in ("ask", "ask_2", "ask_3")]
    assert [result.get("result") for result in results] == [None, 1, 2]


def test_tools_of_langchain_are_definitions_and_run():
    langchain = pytest.importorskip("langchain_core.tools")

    @langchain.tool
    def multiply(a: int, b: int) -> int:
        """Multiplies two numbers."""
        return a * b

    agent = toolcrib.Session(toolcrib.open([multiply, add]))
    assert agent.run(agent.call("multiply", {"a": 2, "b": "3"}))["result"] == 6
    assert agent.run(agent.call("add", {"a": 2}))["result"] == 4


def test_tools_of_agent_frameworks_are_definitions_and_run():
    pytest.importorskip("agents")
    pytest.importorskip("pydantic_ai")
    from agents import function_tool
    from pydantic_ai import RunContext, Tool

    @function_tool
    def divide(a: int, b: int) -> float:
        """Divides two numbers."""
        return a / b

    def whoami(context):
        """Says who asks."""
        return context.deps

    whoami.__annotations__ = {"context": RunContext[str]}
    tools = [divide, Tool(add, name="plus"), Tool(whoami, takes_ctx=True)]
    agent = toolcrib.Session(toolcrib.open(tools))
    assert asyncio.run(agent.arun(agent.call("divide", {"a": 6, "b": 3})))["result"] == 2.0
    assert agent.run(agent.call("plus", {"a": 2}))["result"] == 4
    assert agent.run(agent.call("whoami", {}))["error"]["code"] == "NOT_FOUND"


def test_what_is_no_definition_is_told():
    for thing in ({"id": 3}, {"get": add, "id": 3}, Point(1), Node("x"), [[3]]):
        catalog = toolcrib.open([add, thing])
        assert {one.code for one in catalog.findings if one.severity == "error"} == {"definition-invalid"}, thing
        assert {one.code for one in toolcrib.open([thing]).findings} == {"definition-invalid"}


def test_lists_of_functions_may_be_nested():
    assert [tool.name for tool in toolcrib.open([[add, [with_node]], with_nan])] == ["add", "with_node", "with_nan"]


def test_functions_have_the_names_of_a_dict():
    agent = toolcrib.Session(toolcrib.open({"plus": add, "minus": lambda a, b: a - b}))
    assert [agent.run(agent.call(name, {"a": 3, "b": 1}))["result"] for name in ("plus", "minus")] == [4, 2]


@pytest.mark.parametrize("source", ["https://example.com/openapi.json", '[{"name": "f"}]', 3, None])
def test_a_source_that_cannot_be_opened_says_what_to_give(source):
    with pytest.raises(toolcrib.ArgumentError, match="file|json.loads|list of functions"):
        toolcrib.open(source)
