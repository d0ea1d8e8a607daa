"""A plain loop over the Anthropic SDK, with a client that follows a script in place of the API."""

from types import SimpleNamespace

import toolcrib
from toolcrib.adapters.loop import anthropic_loop


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


script = iter(
    [
        {"content": [{"type": "tool_use", "id": "1", "name": "add", "input": {"a": "four"}}]},
        {"content": [{"type": "tool_use", "id": "2", "name": "add", "input": {"a": 4}}]},
        {"content": [{"type": "text", "text": "It is 6."}]},
    ]
)
client = SimpleNamespace(messages=SimpleNamespace(create=lambda **request: next(script)))
question = [{"role": "user", "content": "What is 4 + 2?"}]
for message in anthropic_loop(client, toolcrib.open([add]), question, model="a model", max_tokens=100):
    print(message["role"], message["content"])
