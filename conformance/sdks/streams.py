"""Recorded streams (`tests/golden/streams`): each event is one of the official SDK's, and toolcrib reads the calls."""

import json
from pathlib import Path

import payloads

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests/golden/streams"


def typed(kind):
    """A check of one event against a union of an SDK."""
    from pydantic import TypeAdapter

    adapter = TypeAdapter(kind)

    def check(event):
        made = adapter.validate_python(event)
        if getattr(made, "is_unknown", False):
            raise ValueError(f"an unknown event: {event}"[:300])

    return check


def openai():
    from openai.types.chat import ChatCompletionChunk

    return lambda event: payloads.unchanged(ChatCompletionChunk, event)


def openai_responses():
    from openai.types.responses import ResponseStreamEvent

    return typed(ResponseStreamEvent)


def anthropic():
    from anthropic.types import RawMessageStreamEvent

    check = typed(RawMessageStreamEvent)
    # The SDK drops pings before it reads an event.
    return lambda event: event["type"] == "ping" or check(event)


def gemini():
    from google.genai import types

    return types.GenerateContentResponse.model_validate


def gemini_interactions():
    from google.genai.interactions import InteractionSSEEvent

    return typed(InteractionSSEEvent)


def bedrock():
    from botocore.validate import ParamValidator

    shape = payloads.bedrock_shape("ConverseStream", "output_shape").members["stream"]

    def check(event):
        (kind, payload), = event.items()
        report = ParamValidator().validate({k: v for k, v in payload.items() if k != "p"}, shape.members[kind])
        if report.has_errors():
            raise ValueError(report.generate_report()[:300])

    return check


def ollama():
    from ollama import ChatResponse

    return ChatResponse.model_validate


def mistral():
    from mistralai.client.models import CompletionChunk

    return CompletionChunk.model_validate


def cohere():
    from cohere import V2ChatStreamResponse

    return typed(V2ChatStreamResponse)


def mcp():
    from mcp.types import JSONRPCMessage

    return typed(JSONRPCMessage)


def langchain():
    from langchain_core.messages import AIMessageChunk

    return AIMessageChunk.model_validate


CHECKS = {
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "gemini-interactions": gemini_interactions,
    "bedrock": bedrock,
    "ollama": ollama,
    "mistral": mistral,
    "cohere": cohere,
    "mcp": mcp,
    "langchain": langchain,
}


def events(path):
    """The events of a recording, cut apart by something else than toolcrib."""
    content = path.read_bytes()
    if path.suffix == ".frames":
        from botocore.eventstream import EventStreamBuffer

        buffer = EventStreamBuffer()
        buffer.add_data(content)
        return [{frame.headers[":event-type"]: json.loads(frame.payload)} for frame in buffer]
    text = content.decode()
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    from openai._streaming import SSEDecoder

    decoded = SSEDecoder().iter_bytes(iter([content]))
    return [event.json() for event in decoded if event.data != "[DONE]"]


def wrong(command, run, provider, path):
    """What is wrong with one recording; nothing when all of it works."""
    check = CHECKS[provider]()
    for event in events(path):
        refusal = payloads.refusal(check, event)
        if refusal:
            return refusal
    with path.open("rb") as recorded:
        of = ["tests/golden/streams-tools.yaml", "--provider", provider]
        code, calls, errors = run(command, ["parse", "--stream", *of], recorded)
    names = [call.get("name") for call in calls or []]
    if code or names != ["files.read", "ping"] or any("error" in call for call in calls):
        return f"parse --stream reads {calls}: {errors.strip()[-300:]}"
    return None


def check(command, run, provider):
    """One line for the recordings of a provider; how many were refused."""
    refused = 0
    paths = sorted(path for path in RECORDINGS.iterdir() if path.stem == provider)
    for path in paths:
        why = wrong(command, run, provider, path)
        print(f"{provider:20} {'stream':8} {'refused' if why else 'ok'}  {path.name}")
        if why:
            print(f"    {why}")
        refused += int(why is not None)
    return refused
