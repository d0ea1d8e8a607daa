"""Real catalogs: each is opened, bound for every provider, and calls of its tools come back from each wire as they were."""

import json
import typing
from pathlib import Path

import pytest
import toolcrib

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "tests" / "data" / "catalogs"
TOOLS = {
    "bfcl-functions.json": 1853,
    "box-openapi.json": 294,
    "discord-openapi.json": 242,
    "docker-registry-tools.json": 755,
    "livemcpbench-servers.json": 527,
    "notion-openapi.json": 24,
    "toucan-nasty-servers.json": 851,
}
PROVIDERS = typing.get_args(toolcrib.Provider)
# Calls of a catalog that are sent over each wire, of tools from its first to its last.
CALLS = 100


@pytest.fixture(scope="module", params=TOOLS)
def catalog(request):
    file = DATA / request.param
    if not file.exists():
        pytest.skip(f"{file.relative_to(ROOT)} is not in this checkout")
    catalog = toolcrib.open(file)
    assert len(catalog.tools) == TOOLS[request.param] and catalog.is_complete
    return catalog


@pytest.fixture(scope="module")
def made(catalog):
    """Tools that can be called, with the arguments of their ready-made calls."""
    tools = catalog.tools[:: 1 + len(catalog.tools) // CALLS]
    called = [(tool, catalog.help(tool.name).get("call")) for tool in tools]
    return [(tool, call["args"]) for tool, call in called if call]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_catalog_is_bound_for_every_provider(catalog, made, provider):
    payload = catalog.payload(provider)
    assert payload.mode in typing.get_args(toolcrib.Mode)
    assert payload and json.loads(payload.text) in (payload, payload.get("tools"))
    try:
        full = json.dumps(catalog.payload(provider, mode="full"))
        for tool, _ in made:
            names = tool.name, tool.safe_name, tool.safe_name.replace("-", "_")
            # MCP clients put a prefix before names, so that long ones are cut.
            shown = [json.dumps(name)[:38] if provider == "mcp" and len(name) > 49 else json.dumps(name) for name in names]
            assert any(name in full for name in shown), names
    except toolcrib.PayloadError as refused:
        assert "too many" in str(refused)


def openai(calls):
    functions = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
    parts = [{"id": str(at), "type": "function", "function": function} for at, function in enumerate(functions)]
    return {"choices": [{"message": {"role": "assistant", "tool_calls": parts}}]}


def responses(calls):
    parts = [{"name": name, "arguments": json.dumps(given)} for name, given in calls]
    return {"output": [{"type": "function_call", "call_id": str(at), **part} for at, part in enumerate(parts)]}


def anthropic(calls):
    parts = [{"name": name, "input": given} for name, given in calls]
    return {"content": [{"type": "tool_use", "id": str(at), **part} for at, part in enumerate(parts)]}


def gemini(calls):
    parts = [{"functionCall": {"name": name, "args": given}} for name, given in calls]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


def gemini_interactions(calls):
    parts = [{"name": name, "arguments": given} for name, given in calls]
    return {"outputs": [{"type": "function_call", "id": str(at), **part} for at, part in enumerate(parts)]}


def bedrock(calls):
    parts = [{"name": name, "input": given} for name, given in calls]
    content = [{"toolUse": {"toolUseId": str(at), **part}} for at, part in enumerate(parts)]
    return {"output": {"message": {"role": "assistant", "content": content}}}


def ollama(calls):
    parts = [{"function": {"name": name, "arguments": given}} for name, given in calls]
    return {"message": {"role": "assistant", "tool_calls": parts}, "done": True}


def cohere(calls):
    return {"message": openai(calls)["choices"][0]["message"]}


def mcp(calls):
    calls = [{"name": name, "arguments": given} for name, given in calls]
    return [{"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": call} for at, call in enumerate(calls)]


def langchain(calls):
    return {"tool_calls": [{"id": str(at), "name": name, "args": given} for at, (name, given) in enumerate(calls)]}


WIRES = {
    "anthropic": anthropic, "bedrock": bedrock, "cohere": cohere, "gemini": gemini, "langchain": langchain,
    "gemini-interactions": gemini_interactions, "mcp": mcp, "mistral": openai, "ollama": ollama, "openai": openai,
    "openai-responses": responses,
}


@pytest.mark.parametrize("provider", WIRES)
def test_calls_of_tools_come_back_as_they_were(catalog, made, provider):
    assert made
    calls = catalog.parse(provider, WIRES[provider]([(tool.safe_name, given) for tool, given in made]))
    assert [(call.name, call.arguments) for call in calls] == [(tool.name, given) for tool, given in made]
    answered = catalog.results(provider, [(call, {"ok": True, "result": call.name}) for call in calls])
    assert all(tool.name in json.dumps(answered, ensure_ascii=False) for tool, _ in made)
