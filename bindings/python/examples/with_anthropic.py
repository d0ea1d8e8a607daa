"""A loop over the Anthropic SDK. Without ``base_url`` and ``api_key`` the client asks the real API."""

import anthropic
import scripted
import tickets
import toolcrib
from toolcrib.adapters.loop import anthropic_loop

with scripted.ScriptedApi(scripted.anthropic(tickets.SCRIPT)) as api:
    client = anthropic.Anthropic(base_url=api.url, api_key="none")
    question = [{"role": "user", "content": tickets.QUESTION}]
    messages = anthropic_loop(client, toolcrib.open(tickets.TOOLS), question, model="scripted", max_tokens=1000)

print(messages[-1]["content"][0]["text"])
