"""The loops over the SDKs of providers, against a scripted API: blocking and awaited, with functions of both kinds."""

import asyncio

import pytest
import scripted
import toolcrib
from scripted import ScriptedApi
from toolcrib.adapters import loop

SCRIPT = [("read_clock", {"zone": "Rome"}), ("add", {"a": "4"}), ("read_clock", {}), "6 at noon"]


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


async def read_clock(zone: str) -> str:
    """Reads the clock of a zone."""
    await asyncio.sleep(0)
    return f"noon in {zone}"


def openai_client(url, is_async):
    openai = pytest.importorskip("openai")
    return (openai.AsyncOpenAI if is_async else openai.OpenAI)(base_url=url, api_key="none")


def anthropic_client(url, is_async):
    anthropic = pytest.importorskip("anthropic")
    return (anthropic.AsyncAnthropic if is_async else anthropic.Anthropic)(base_url=url, api_key="none")


def google_client(url, is_async):
    genai = pytest.importorskip("google.genai")
    return genai.Client(api_key="none", http_options={"base_url": url})


GOOGLE = [{"role": "user", "parts": [{"text": "?"}]}]
PLAIN = [{"role": "user", "content": "?"}]
SDKS = {
    "openai": (scripted.openai, openai_client, loop.openai_loop, loop.async_openai_loop, PLAIN, {}),
    "anthropic": (scripted.anthropic, anthropic_client, loop.anthropic_loop, loop.async_anthropic_loop, PLAIN, {"max_tokens": 10}),
    "google": (scripted.gemini, google_client, loop.google_loop, loop.async_google_loop, GOOGLE, {}),
}


def run(sdk, is_async, script, tools, **settings):
    """All messages of a job, and the requests that the API got."""
    bodies, client_of, blocking, awaited, question, more = SDKS[sdk]
    with ScriptedApi(bodies(script)) as api:
        client = client_of(api.url, is_async)
        arguments = (client, toolcrib.open(tools), question)

        async def job():
            return await awaited(*arguments, model="m", **more, **settings)

        messages = asyncio.run(job()) if is_async else blocking(*arguments, model="m", **more, **settings)
        return messages, api.requests


@pytest.mark.parametrize("sdk", SDKS)
def test_an_awaited_loop_awaits_functions(sdk):
    messages, requests = run(sdk, True, SCRIPT, [add, read_clock], mode="full")
    told = [str(message) for message in messages]
    assert len(requests) == 4 and len(messages) == 8
    assert "noon in Rome" in told[2] and "6" in told[4] and "zone" in told[6] and "6 at noon" in told[7]
    with pytest.raises(toolcrib.errors.AsyncFunctionError, match="arun"):
        run(sdk, False, SCRIPT, [add, read_clock], mode="full")


def test_a_client_of_the_wrong_kind_says_so():
    openai = pytest.importorskip("openai")
    catalog = toolcrib.open([add])
    with ScriptedApi(scripted.openai(["done"])) as api:
        client = openai.OpenAI(base_url=api.url, api_key="none")
        with pytest.raises(toolcrib.ArgumentError, match="blocks"):
            asyncio.run(loop.async_openai_loop(client, catalog, PLAIN, model="m"))

        async def blocking():
            return loop.openai_loop(openai.AsyncOpenAI(base_url=api.url, api_key="none"), catalog, PLAIN, model="m")

        with pytest.raises(toolcrib.ArgumentError, match="async_"):
            asyncio.run(blocking())
