"""A loop over the OpenAI SDK, with Chat Completions. Without ``base_url`` and ``api_key`` the client asks the real API."""

import openai
import scripted
import tickets
import toolcrib
from toolcrib.adapters.loop import openai_loop

with scripted.ScriptedApi(scripted.openai(tickets.SCRIPT)) as api:
    client = openai.OpenAI(base_url=api.url, api_key="none")
    question = [{"role": "user", "content": tickets.QUESTION}]
    messages = openai_loop(client, toolcrib.open(tickets.TOOLS), question, model="scripted")

print(messages[-1]["content"])
