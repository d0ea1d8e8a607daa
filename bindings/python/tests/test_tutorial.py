"""The code of docs/python.md runs as it stands there, one block after the other, with a scripted client."""

import ast
import asyncio
import inspect
import re
from pathlib import Path
from types import SimpleNamespace

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
    assert len(blocks) == 4 and client.requests[0]["tools"]
    assert names["calls"][0].error is None and names["messages"] and names["message"]
    assert callable(names["test_tools"])
