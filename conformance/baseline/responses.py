"""Responses of each provider that hold the same calls, in the forms that they are recorded in."""

import json


def openai(calls):
    made = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": text(given)}}
        for at, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}


def openai_responses(calls):
    made = [
        {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "name": name, "arguments": text(given), "status": "completed"}
        for at, (name, given) in enumerate(calls)
    ]
    searched = {"type": "tool_search_call", "call_id": "call_s", "execution": "client", "arguments": {"query": "read"}, "status": "completed"}
    return {"id": "resp_1", "object": "response", "output": [{"type": "reasoning", "id": "rs_1", "summary": []}, searched, *made]}


def anthropic(calls):
    made = [{"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": given} for at, (name, given) in enumerate(calls)]
    return {"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [{"type": "text", "text": "I look."}, *made]}


def gemini(calls):
    made = [{"functionCall": {"name": name, "args": given}, "thoughtSignature": "c2ln"} for name, given in calls]
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": "I look.", "thought": True}, *made]}, "finishReason": "STOP"}]}


def gemini_interactions(calls):
    made = [{"type": "function_call", "id": f"f{at}", "name": name, "arguments": given} for at, (name, given) in enumerate(calls)]
    return {"id": "i", "outputs": [{"type": "thought", "signature": "c2ln"}, *made]}


def bedrock(calls):
    made = [{"toolUse": {"toolUseId": f"t{at}", "name": name, "input": given}} for at, (name, given) in enumerate(calls)]
    return {"output": {"message": {"role": "assistant", "content": [{"text": "I look."}, *made]}}, "stopReason": "tool_use"}


def ollama(calls):
    made = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    return {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": made}, "done": True}


def mcp(calls):
    return [{"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": {"name": name, "arguments": given}} for at, (name, given) in enumerate(calls)]


def cohere(calls):
    made = openai(calls)["choices"][0]["message"]["tool_calls"]
    return {"id": "c", "finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_plan": "I look.", "tool_calls": made}}


def langchain(calls):
    made = [{"name": name, "args": given, "id": f"t{at}", "type": "tool_call"} for at, (name, given) in enumerate(calls)]
    return {"content": "", "type": "ai", "tool_calls": made, "invalid_tool_calls": []}


def text(given):
    return given if isinstance(given, str) else json.dumps(given)


WIRES = {
    "openai": openai, "openai-responses": openai_responses, "anthropic": anthropic, "gemini": gemini,
    "gemini-interactions": gemini_interactions, "bedrock": bedrock, "ollama": ollama, "mistral": openai, "cohere": cohere,
    "mcp": mcp, "langchain": langchain,
}
