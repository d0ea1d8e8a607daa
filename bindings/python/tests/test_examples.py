"""Each example is run as its reader runs it, and ends with the ticket closed."""

import subprocess
import sys

import pytest
from conftest import EXAMPLES

FRAMEWORKS = {
    "with_anthropic": "anthropic",
    "with_google": "google.genai",
    "with_langchain": "langchain",
    "with_langgraph": "langgraph",
    "with_openai": "openai",
    "with_openai_agents": "agents",
    "with_openai_async": "openai",
    "with_pydantic_ai": "pydantic_ai",
}


def test_every_example_is_here():
    assert {path.stem for path in EXAMPLES.glob("with_*.py")} == set(FRAMEWORKS)


@pytest.mark.parametrize("example", FRAMEWORKS)
def test_an_example_ends_with_the_ticket_closed(example):
    pytest.importorskip(FRAMEWORKS[example])
    code = f"import {example}, tickets; print(tickets.DESK[7]['state'])"
    ran = subprocess.run([sys.executable, "-c", code], cwd=EXAMPLES, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "Ticket 7 is closed.\nclosed as done\n"), ran.stderr
