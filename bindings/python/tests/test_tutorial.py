"""The code of docs/python.md runs as it stands there, one block after the other, with a scripted client."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import scripted
from scripted import ScriptedApi

ROOT = Path(__file__).resolve().parents[3]


class Client:
    """A client of Anthropic whose model calls a tool that exists."""

    def __init__(self):
        self.messages, self.requests = self, []

    def create(self, **request):
        self.requests.append(request)
        call = {"type": "tool_use", "id": "1", "name": "get_me", "input": {}}
        return {"role": "assistant", "content": [call]}


async def listed():
    definition = {"name": "get_me", "description": "Who I am.", "inputSchema": {"type": "object"}}
    return {"tools": [definition]}


def test_the_code_of_the_tutorial_runs(monkeypatch):
    pytest.importorskip("openai")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    client = Client()
    names = {
        "session": SimpleNamespace(list_tools=listed), "client": client, "model": "m", "messages": [],
        "run": lambda name, arguments: {"login": "octocat"},
    }
    for block in blocks:
        code = compile(block, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        outcome = eval(code, names)
        if inspect.iscoroutine(outcome):
            asyncio.run(outcome)
    assert len(blocks) == 6 and client.requests[0]["tools"]
    assert names["planned"] == "Friday, 13.50, 2 bytes, ('Amy',), {'wine': 'red'}"
    assert names["refused"][0]["pointer"] == "/price"
    with ScriptedApi(scripted.openai([("get_ticket", {"number": 7}), "It is on fire."])) as api:
        monkeypatch.setenv("OPENAI_BASE_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        assert asyncio.run(names["answer"]("What is ticket 7?"))[-1]["content"] == "It is on fire."
    assert names["calls"][0].error is None and names["messages"] and names["message"]
    assert callable(names["test_tools"])
