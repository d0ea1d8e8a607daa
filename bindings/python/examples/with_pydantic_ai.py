"""An agent of Pydantic AI. Without a provider of its own, a model is a name, as in ``Agent("openai:gpt-5")``."""

import scripted
import tickets
import toolcrib
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from toolcrib.adapters.pydantic_ai import toolset

with scripted.ScriptedApi(scripted.openai(tickets.SCRIPT)) as api:
    client = AsyncOpenAI(base_url=api.url, api_key="none")
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, toolsets=[toolset(toolcrib.open(tickets.TOOLS))])
    answer = agent.run_sync(tickets.QUESTION).output

print(answer)
