"""An awaited loop over the OpenAI SDK. Functions may be async; those of ``anthropic`` and ``google`` are awaited the same way."""

import asyncio

import openai
import scripted
import tickets
import toolcrib
from toolcrib.adapters.loop import async_openai_loop


async def get_ticket(number: int) -> dict[str, object]:
    """Gets a ticket with its title and its state.

    Args:
        number: The number of the ticket.
    """
    return tickets.get_ticket(number)


async def main() -> None:
    with scripted.ScriptedApi(scripted.openai(tickets.SCRIPT)) as api:
        client = openai.AsyncOpenAI(base_url=api.url, api_key="none")
        catalog = toolcrib.open([get_ticket, tickets.close_ticket])
        question = [{"role": "user", "content": tickets.QUESTION}]
        messages = await async_openai_loop(client, catalog, question, model="scripted")
    print(messages[-1]["content"])


asyncio.run(main())
