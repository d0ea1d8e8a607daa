"""Objects that are no functions, as frameworks have them: read by their own fields, or refused with what to pass instead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pydantic
import pytest
import toolcrib


class Arguments(pydantic.BaseModel):
    city: str = pydantic.Field(description="The city")


class OfLlamaIndex:
    """A class whose text is no tool's."""

    def __init__(self) -> None:
        self.fn = lambda city: f"sunny in {city}"
        self.metadata = SimpleNamespace(name="weather", description="Weather of a city.", fn_schema=Arguments)

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return "wrapped"


class OfCrewAi(pydantic.BaseModel):
    """A class whose text is no tool's."""

    name: str = "weather"
    description: str = "Weather of a city."
    args_schema: type[pydantic.BaseModel] = Arguments

    def run(self, city: str) -> str:
        return f"sunny in {city}"


class OfSmolagents:
    """A class whose text is no tool's."""

    name = "weather"
    description = "Weather of a city."
    inputs = {"city": {"type": "string", "description": "The city"}, "day": {"type": "string", "description": "The day", "nullable": True}}

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return f"sunny in {kwargs['city']}"


class OfHaystack:
    """A class whose text is no tool's."""

    def __init__(self) -> None:
        self.name, self.description = "weather", "Weather of a city."
        self.parameters = Arguments.model_json_schema()
        self.function = lambda city: f"sunny in {city}"


class WithHints:
    """A class whose text is no tool's."""

    name = "weather"
    description = "Weather of a city."

    def __call__(self, city: str) -> str:
        return f"sunny in {city}"


class Unknown:
    """A class whose text is no tool's."""

    name = "weather"
    description = "Weather of a city."

    def __call__(self, *args: Any, **kwargs: Any) -> str:
        return ""


@pytest.mark.parametrize("kind", [OfLlamaIndex, OfCrewAi, OfSmolagents, OfHaystack, WithHints])
def test_an_object_is_read_by_its_own_fields(kind: Any) -> None:
    catalog = toolcrib.open([kind()])
    assert not [finding for finding in catalog.findings if finding.severity == "error"]
    [tool] = catalog.payload("openai", mode="full")["tools"]
    function = tool["function"]
    assert (function["name"], function["description"]) == ("weather", "Weather of a city.")
    assert function["parameters"]["required"] == ["city"]
    session = toolcrib.Session(catalog, require_docs=False)
    assert session.run(session.call("weather", {"city": "Oslo"}))["result"] == "sunny in Oslo"


def test_an_object_without_arguments_that_can_be_read_is_refused() -> None:
    catalog = toolcrib.open([Unknown()])
    [finding] = [finding for finding in catalog.findings if finding.severity == "error"]
    assert "pass the function that it runs" in finding.message and "`Unknown`" in finding.message
    assert not catalog.tools


def test_an_async_function_in_a_job_that_does_not_await_raises() -> None:
    async def later(text: str) -> str:
        """Answers later."""
        return text

    session = toolcrib.Session(toolcrib.open([later]), require_docs=False)
    with pytest.raises(toolcrib.Error, match="use `arun`"):
        session.run(session.call("later", {"text": "a"}))
