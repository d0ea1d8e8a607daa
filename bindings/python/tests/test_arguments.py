"""Arguments of functions: they match the type hints, or the model gets an error that names the mismatch."""

import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import typing
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, NewType, Optional, Union

import pytest
import toolcrib
from typing_extensions import TypedDict


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Box:
    width: float
    color: Color = Color.RED

    def __post_init__(self):
        if self.width < 0:
            raise ValueError("the width is negative")


class Point(NamedTuple):
    x: int
    y: int = 0


class Visit(TypedDict):
    at: datetime.date


UserId = NewType("UserId", int)
ID = "12345678-1234-5678-1234-567812345678"
DAY = datetime.date(2024, 5, 17)
FITTING = [
    (datetime.datetime, "2024-05-17T09:30:00.5Z", datetime.datetime(2024, 5, 17, 9, 30, 0, 500_000, datetime.timezone.utc)),
    (datetime.date, "2024-05-17", DAY),
    (datetime.time, "09:30:00Z", datetime.time(9, 30, tzinfo=datetime.timezone.utc)),
    (datetime.timedelta, "P1DT2H", datetime.timedelta(days=1, hours=2)),
    (uuid.UUID, ID, uuid.UUID(ID)),
    (decimal.Decimal, "2.50", decimal.Decimal("2.50")),
    (pathlib.Path, "a/b", pathlib.Path("a/b")),
    (bytes, "aGk=", b"hi"),
    (ipaddress.IPv4Address, "127.0.0.1", ipaddress.IPv4Address("127.0.0.1")),
    (Color, "blue", Color.BLUE),
    (Level, 1, Level.LOW),
    (Access, 3, Access.READ | Access.WRITE),
    (Literal["a", 2], 2, 2),
    (float, 2, 2.0),
    (UserId, 7, 7),
    (Box, {"width": 2, "color": "blue"}, Box(2.0, Color.BLUE)),
    (Point, {"x": 1}, Point(1)),
    (Visit, {"at": "2024-05-17"}, {"at": DAY}),
    (tuple[int, datetime.date], [1, "2024-05-17"], (1, DAY)),
    (tuple[datetime.date, ...], ["2024-05-17"], (DAY,)),
    (set[Color], ["red"], {Color.RED}),
    (frozenset[int], [1], frozenset({1})),
    (collections.deque[int], [1, 2], collections.deque([1, 2])),
    (Sequence[Box], [{"width": 1}], [Box(1.0)]),
    (Mapping[str, datetime.date], {"a": "2024-05-17"}, {"a": DAY}),
    (dict[int, Color], {"5": "red"}, {5: Color.RED}),
    (Optional[datetime.date], None, None),
    (Optional[datetime.date], "2024-05-17", DAY),
    (Union[int, str], "5", "5"),
    (Union[datetime.date, str], "soon", "soon"),
    (list[Optional[Box]], [None, {"width": 1}], [None, Box(1.0)]),
    (Any, [{"a": 1}], [{"a": 1}]),
]


def called(hint: Any, value: Any) -> tuple[dict[str, Any], list[Any]]:
    """The envelope of a call with this argument, and what the function got."""
    got: list[Any] = []

    def take(value):
        """Takes a value."""
        got.append(value)

    take.__annotations__ = {"value": hint}
    agent = toolcrib.Session(toolcrib.open([toolcrib.FunctionTool.of(take, effect="write")]))
    envelope = agent.run(agent.call("take", {"value": value}))
    awaited = asyncio.run(agent.arun(agent.call("take", {"value": value})))
    assert awaited == envelope
    return envelope, got[:1]


@pytest.mark.parametrize(("hint", "value", "expected"), FITTING)
def test_arguments_are_what_the_hints_say(hint, value, expected):
    envelope, got = called(hint, value)
    assert envelope["ok"], envelope
    assert got == [expected] and type(got[0]) is type(expected)


@pytest.mark.parametrize(
    ("hint", "value", "pointer"),
    [
        (decimal.Decimal, "much", "/value"),
        (bytes, "%%", "/value"),
        (Box, {"width": -1}, "/value"),
        (list[Box], [{"width": 1}, {"width": -1}], "/value/1"),
        (dict[int, int], {"five": 5}, "/value/five"),
        (dict[str, decimal.Decimal], {"a/b": "x"}, "/value/a~1b"),
        (Visit, {"at": "2024-13-01"}, "/value/at"),
        (Access, 64, "/value"),
    ],
)
def test_an_argument_that_does_not_fit_its_hint_is_a_refusal(hint, value, pointer):
    envelope, got = called(hint, value)
    assert not envelope["ok"] and not got
    error = envelope["error"]
    assert error["code"] == "SCHEMA" and error["field_errors"][0]["pointer"] == pointer and error["next_action"]


def test_pydantic_tells_what_does_not_fit():
    pydantic = pytest.importorskip("pydantic")

    class Order(pydantic.BaseModel):
        day: datetime.date
        lines: list[int] = []

        @pydantic.field_validator("day")
        def is_workday(cls, day):
            if day.weekday() > 4:
                raise ValueError("no workday")
            return day

    envelope, got = called(Order, {"day": "2024-05-17", "lines": [1]})
    assert envelope["ok"] and got == [Order(day=DAY, lines=[1])]
    error = called(Order, {"day": "2024-05-18"})[0]["error"]
    assert error["field_errors"][0]["pointer"] == "/value/day" and "no workday" in error["message"]


def test_all_kinds_of_parameters_are_given():
    def take(a: int, b: int = 2, /, c: datetime.date = DAY, *rest: Color, d: int = 4, **more: datetime.date) -> Any:
        """Takes all kinds."""
        return [a, b, c == DAY, [one.name for one in rest], d, {name: one.year for name, one in more.items()}]

    catalog = toolcrib.open([take])
    schema = catalog.payload("openai", mode="full")["tools"][0]["function"]["parameters"]
    assert schema["properties"]["rest"] == {"type": "array", "items": {"enum": ["red", "blue"], "type": "string"}}
    assert schema["additionalProperties"] == {"type": "string", "format": "date"} and schema["required"] == ["a"]
    agent = toolcrib.Session(catalog)

    def run(**given):
        return agent.run(agent.call("take", given))["result"]

    assert run(a=1) == [1, 2, True, [], 4, {}]
    assert run(a=1, c="2020-01-01") == [1, 2, False, [], 4, {}]
    assert run(a=1, rest=["red", "blue"], d=5) == [1, 2, True, ["RED", "BLUE"], 5, {}]
    assert run(a=1, b=3, due="2025-01-01") == [1, 3, True, [], 4, {"due": 2025}]


def test_options_of_a_typed_dict_are_arguments():
    unpack = getattr(typing, "Unpack", None) or pytest.importorskip("typing_extensions").Unpack

    def visit(name, **options):
        """Visits somebody."""
        return [name, options["at"].year]

    visit.__annotations__ = {"name": str, "options": unpack[Visit]}
    agent = toolcrib.Session(toolcrib.open([visit]))
    assert agent.run(agent.call("visit", {"name": "Amy", "at": "2024-05-17"}))["result"] == ["Amy", 2024]
    assert not agent.run(agent.call("visit", {"name": "Amy"}))["ok"]


def test_functions_for_definitions_get_arguments_as_they_are():
    definition = {"name": "f", "description": "F.", "inputSchema": {"properties": {"at": {"type": "string", "format": "date"}}}}
    agent = toolcrib.Session(toolcrib.open([definition]), {"f": dict})
    assert agent.run(agent.call("f", {"at": "2024-05-17"}))["result"] == {"at": "2024-05-17"}
