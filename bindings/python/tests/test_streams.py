"""Streams as the SDKs of the providers give them: each SDK reads the bytes of a scripted API, and its events are parsed."""

import asyncio

import pytest
import toolcrib
from scripted import ScriptedApi


def add(a: int, b: int = 2) -> int:
    """Adds two numbers."""
    return a + b


CATALOG = toolcrib.open([add])
QUESTION = [{"role": "user", "content": "4 + 2?"}]


def assert_is_added(calls):
    [call] = calls
    assert (call.name, call.arguments, call.error) == ("add", {"a": 4}, None)


def anthropic_events():
    def delta(text):
        part = {"type": "input_json_delta", "partial_json": text}
        return {"type": "content_block_delta", "index": 0, "delta": part}

    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": None, "stop_sequence": None}
    block = {"type": "tool_use", "id": "1", "name": "add", "input": {}}
    ended = {"stop_reason": "tool_use", "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**head, "content": [], "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        delta('{"a"'),
        delta(": 4}"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def openai_events():
    def chunk(delta, reason=None):
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}

    def call(**fields):
        return {"tool_calls": [{"index": 0, **fields}]}

    named = call(id="1", type="function", function={"name": "add", "arguments": ""})
    parts = [call(function={"arguments": text}) for text in ('{"a"', ": 4}")]
    return [chunk({"role": "assistant", **named}), *map(chunk, parts), chunk({}, "tool_calls"), "[DONE]"]


def responses_events():
    call = {"type": "function_call", "id": "f", "call_id": "1", "name": "add", "arguments": "", "status": "in_progress"}
    done = {**call, "arguments": '{"a": 4}', "status": "completed"}
    head = {"id": "r", "object": "response", "created_at": 0, "model": "m", "parallel_tool_calls": True}
    settings = {"tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None, "instructions": None}
    response = {**head, **settings, "metadata": {}, "temperature": 1.0, "top_p": 1.0}
    at = {"item_id": "f", "output_index": 0}
    events = [
        {"type": "response.created", "response": {**response, "output": [], "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": call},
        {"type": "response.function_call_arguments.delta", **at, "delta": '{"a"'},
        {"type": "response.function_call_arguments.delta", **at, "delta": ": 4}"},
        {"type": "response.function_call_arguments.done", **at, "name": "add", "arguments": '{"a": 4}'},
        {"type": "response.output_item.done", "output_index": 0, "item": done},
        {"type": "response.completed", "response": {**response, "output": [done], "status": "completed"}},
    ]
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def gemini_events():
    def chunk(part, **end):
        return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **end}]}

    return [chunk({"text": "Adding."}), chunk({"functionCall": {"name": "add", "args": {"a": 4}}}, finishReason="STOP")]


def test_events_of_the_anthropic_sdk():
    anthropic = pytest.importorskip("anthropic")
    request = {"model": "m", "max_tokens": 10, "messages": QUESTION, "stream": True}
    with ScriptedApi([anthropic_events(), anthropic_events(), anthropic_events()]) as api:
        client = anthropic.Anthropic(base_url=api.url, api_key="none")
        assert_is_added(CATALOG.parse("anthropic", client.messages.create(**request)))
        with client.messages.stream(model="m", max_tokens=10, messages=QUESTION) as stream:
            assert_is_added(CATALOG.parse("anthropic", stream.get_final_message()))

        async def awaited():
            client = anthropic.AsyncAnthropic(base_url=api.url, api_key="none")
            return await CATALOG.parse_stream("anthropic", await client.messages.create(**request))

        assert_is_added(asyncio.run(awaited()))


def test_events_of_the_openai_sdk():
    openai = pytest.importorskip("openai")
    request = {"model": "m", "messages": QUESTION, "stream": True}
    with ScriptedApi([openai_events(), openai_events()]) as api:
        client = openai.OpenAI(base_url=api.url, api_key="none")
        assert_is_added(CATALOG.parse("openai", client.chat.completions.create(**request)))

        async def awaited():
            client = openai.AsyncOpenAI(base_url=api.url, api_key="none")
            return await CATALOG.parse_stream("openai", await client.chat.completions.create(**request))

        assert_is_added(asyncio.run(awaited()))


def test_events_of_the_openai_sdk_for_responses():
    openai = pytest.importorskip("openai")
    with ScriptedApi([responses_events()]) as api:
        client = openai.OpenAI(base_url=api.url, api_key="none")
        stream = client.responses.create(model="m", input="4 + 2?", stream=True)
        assert_is_added(CATALOG.parse("openai-responses", stream))


def test_events_of_the_google_sdk():
    genai = pytest.importorskip("google.genai")
    with ScriptedApi([gemini_events()]) as api:
        client = genai.Client(api_key="none", http_options={"base_url": api.url})
        stream = client.models.generate_content_stream(model="m", contents="4 + 2?")
        assert_is_added(CATALOG.parse("gemini", stream))


def test_a_stream_that_was_cut_short_is_an_error():
    openai = pytest.importorskip("openai")
    with ScriptedApi([openai_events()[:2]]) as api:
        client = openai.OpenAI(base_url=api.url, api_key="none")
        stream = client.chat.completions.create(model="m", messages=QUESTION, stream=True)
        with pytest.raises(toolcrib.ResponseError):
            CATALOG.parse("openai", stream)
