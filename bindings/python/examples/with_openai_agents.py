"""An agent of the OpenAI Agents SDK. Without a client of its own, a model is a name, as in ``model="gpt-5"``."""

import scripted
import tickets
import toolcrib
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI
from toolcrib.adapters.openai_agents import tools

set_tracing_disabled(True)
with scripted.ScriptedApi(scripted.openai(tickets.SCRIPT)) as api:
    client = AsyncOpenAI(base_url=api.url, api_key="none")
    model = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    agent = Agent(name="desk", model=model, tools=tools(toolcrib.open(tickets.TOOLS)))
    answer = Runner.run_sync(agent, tickets.QUESTION).final_output

print(answer)
