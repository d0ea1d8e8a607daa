"""A turn with each official SDK: a response as the SDK writes it is read, and the SDK takes the results that go back."""

import json
from typing import List

import payloads

CATALOG = "examples/github"
NAME = "list_branches"
ARGUMENTS = {"owner": "octo", "repo": "hello", "page": 2}
TEXT = json.dumps(ARGUMENTS)
RESULT = {"branches": ["main"]}


def openai_call():
    from openai.types.chat import ChatCompletion

    call = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": TEXT}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choices = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    return ChatCompletion.model_validate(body).model_dump_json()


def openai_messages(messages):
    from openai.types.chat import ChatCompletionMessageParam

    payloads.strictly(List[ChatCompletionMessageParam], messages)


def responses_call():
    from openai.types.responses import Response

    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": NAME, "arguments": TEXT, "status": "completed"}
    body = {
        "id": "r", "object": "response", "created_at": 1, "model": "m", "output": [call], "tools": [],
        "parallel_tool_calls": True, "tool_choice": "auto",
    }
    return Response.model_validate(body).model_dump_json()


def responses_items(items):
    from openai.types.responses import ResponseInputItemParam

    payloads.strictly(List[ResponseInputItemParam], items)


def anthropic_call():
    from anthropic.types import Message

    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use", "stop_sequence": None,
        "content": [
            {"type": "text", "text": "I look.", "citations": None},
            {"type": "tool_use", "id": "toolu_1", "name": NAME, "input": ARGUMENTS},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return Message.model_validate(body).model_dump_json()


def anthropic_messages(messages):
    from anthropic.types import MessageParam

    payloads.strictly(List[MessageParam], messages)


def gemini_call():
    from google.genai import types

    part = types.Part(function_call=types.FunctionCall(name=NAME, args=ARGUMENTS), thought_signature=b"abc")
    content = types.Content(role="model", parts=[part])
    response = types.GenerateContentResponse(candidates=[types.Candidate(content=content)])
    return response.model_dump_json(by_alias=True, exclude_none=True)


def gemini_contents(contents):
    from google.genai import types

    for content in contents:
        types.Content.model_validate(content)


def interactions_call():
    from google.genai.interactions import FunctionCallStep

    step = FunctionCallStep.model_validate({"type": "function_call", "id": "f1", "name": NAME, "arguments": ARGUMENTS})
    return json.dumps({"id": "i", "status": "requires_action", "steps": [step.model_dump(mode="json", exclude_none=True)]})


def interactions_steps(steps):
    from google.genai.interactions import FunctionResultStep

    for step in steps:
        payloads.unchanged(FunctionResultStep, step)


def bedrock_call():
    content = [{"toolUse": {"toolUseId": "tooluse_1", "name": NAME, "input": ARGUMENTS}}]
    return json.dumps({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"})


def bedrock_messages(messages):
    payloads.bedrock({}, messages)


def ollama_call():
    from ollama import ChatResponse

    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": NAME, "arguments": ARGUMENTS}}]}
    return ChatResponse.model_validate({"model": "m", "done": True, "message": message}).model_dump_json()


def ollama_messages(messages):
    from ollama import Message

    for message in messages:
        payloads.unchanged(Message, message)


def mistral_call():
    from mistralai.client.models import ChatCompletionResponse

    call = {"id": "abcdefghi", "function": {"name": NAME, "arguments": TEXT}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    body = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
    }
    return ChatCompletionResponse.model_validate(body).model_dump_json()


def mistral_messages(messages):
    from mistralai.client.models import ToolMessage

    for message in messages:
        payloads.unchanged(ToolMessage, message)


def cohere_call():
    from cohere import V2ChatResponse

    call = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": TEXT}}
    message = {"role": "assistant", "tool_plan": "I look.", "tool_calls": [call]}
    return V2ChatResponse.model_validate({"id": "c", "finish_reason": "TOOL_CALL", "message": message}).model_dump_json()


def cohere_messages(messages):
    from cohere import ToolChatMessageV2

    for message in messages:
        payloads.unchanged(ToolChatMessageV2, message)


def mcp_call():
    from mcp.types import CallToolRequestParams

    params = CallToolRequestParams(name=NAME, arguments=ARGUMENTS).model_dump(by_alias=True, exclude_none=True)
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})


def mcp_results(answers):
    from mcp.types import CallToolResult

    for answer in answers:
        payloads.unchanged(CallToolResult, answer.get("result", answer))


def langchain_call():
    from langchain_core.messages import AIMessage

    call = {"name": NAME, "args": ARGUMENTS, "id": "call_1", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call]).model_dump_json()


def langchain_messages(messages):
    from langchain_core.messages import ToolMessage

    for message in messages:
        payloads.unchanged(ToolMessage, message)


TURNS = {
    "openai": (openai_call, openai_messages),
    "openai-responses": (responses_call, responses_items),
    "anthropic": (anthropic_call, anthropic_messages),
    "gemini": (gemini_call, gemini_contents),
    "gemini-interactions": (interactions_call, interactions_steps),
    "bedrock": (bedrock_call, bedrock_messages),
    "ollama": (ollama_call, ollama_messages),
    "mistral": (mistral_call, mistral_messages),
    "cohere": (cohere_call, cohere_messages),
    "mcp": (mcp_call, mcp_results),
    "langchain": (langchain_call, langchain_messages),
}


def turn(command, run, provider):
    """What is wrong with one turn; nothing when all of it works."""
    write, take = TURNS[provider]
    of = [CATALOG, "--provider", provider]
    code, calls, errors = run(command, ["parse", *of], write())
    if code:
        return f"parse: {errors.strip()[-300:]} {calls}"
    if len(calls) != 1 or calls[0].get("name") != NAME or calls[0].get("args") != ARGUMENTS:
        return f"parse reads {calls}"
    answered = [{**call, "envelope": {"op": NAME, "ok": True, "result": RESULT}} for call in calls]
    code, messages, errors = run(command, ["results", *of], json.dumps(answered))
    if code:
        return f"reply: {errors.strip()[-300:]}"
    if "main" not in json.dumps(messages):
        return f"reply loses the result: {messages}"
    return payloads.refusal(take, messages if isinstance(messages, list) else [messages])


def check(command, run, provider):
    """One line for calls in and results out; how many were refused."""
    try:
        why = turn(command, run, provider)
    except Exception as error:  # an SDK that refuses what we think it writes
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]
    print(f"{provider:20} {'turn':8} {'refused' if why else 'ok'}  a call in, a result out")
    if why:
        print(f"    {why}")
    return int(why is not None)
