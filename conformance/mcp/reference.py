"""A server that offers what the scenarios of the official suite ask for, made with the official SDK for Python.

    python3 conformance/mcp/reference.py PORT

`reference.json` is what it offers. Each tool has an `answer`, and may have: `schema`; `progress` and `logs`, sent first;
`asks`, a question to a client of the older revision; `rounds`, questions to one of the newer revision, with `keeps_state` when a
signed state goes with them, and `as_able` when only questions are sent that the client declares to answer; `needs`, the
capabilities without which it refuses; `changes`, the list that it says has changed. In texts, `{name}` stands for an
argument or an answer of that name.
"""

import hashlib
import hmac
import json
import re
import secrets
import sys
import warnings
from pathlib import Path

import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

OFFERED = json.loads((Path(__file__).resolve().parent / "reference.json").read_text())
KEY = secrets.token_bytes(32)
BUS = InMemorySubscriptionBus()
CHANGES = {"tools": ToolsListChanged, "prompts": PromptsListChanged}
ADDED = []
NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
FRESH = {"ttlMs": 300000, "cacheScope": "public"}


def filled(value, words):
    """The value with `{name}` replaced in its texts."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda name: str(words.get(name[1], name[0])), value)
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    return {name: filled(item, words) for name, item in value.items()} if isinstance(value, dict) else value


def signed(done):
    """A state after so many rounds."""
    text = json.dumps({"done": done, "nonce": secrets.token_hex(8)})
    return json.dumps({"text": text, "sign": hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()})


def rounds_done(state):
    """The number of rounds behind a state that is ours."""
    try:
        read = json.loads(state)
        sign = hmac.new(KEY, read["text"].encode(), hashlib.sha256).hexdigest()
        if hmac.compare_digest(sign, read["sign"]):
            return json.loads(read["text"])["done"]
    except (ValueError, KeyError, TypeError):
        pass
    raise MCPError(types.INVALID_PARAMS, "this state is not ours")


def question(entry, context, params):
    """The next questions of an entry, or None when all are answered; and the words of the answers."""
    given = {name: answer.model_dump(by_alias=True, mode="json") for name, answer in (params.input_responses or {}).items()}
    words = {name: next(iter((answer.get("content") or answer).values()), "") for name, answer in given.items()}
    rounds = entry.get("rounds", [])
    done = rounds_done(params.request_state) if params.request_state else 0
    if done < len(rounds):
        asked = rounds[done]
        if entry.get("as_able"):
            able = context.session.client_capabilities
            asked = {name: ask for name, ask in asked.items() if able and getattr(able, NEEDS[ask["method"]]) is not None}
        is_first = entry.get("keeps_state") and not params.request_state
        done = done if is_first or any(name not in given for name in asked) else done + 1
        if done < len(rounds) and asked:
            asked = rounds[done] if done and not entry.get("as_able") else asked
            state = {"requestState": signed(done)} if entry.get("keeps_state") else {}
            fields = {"resultType": "input_required", "inputRequests": asked, **state}
            return types.InputRequiredResult.model_validate(fields), words
    return None, words


async def list_tools(context, params):
    """The tools."""
    empty = {"type": "object", "properties": {}}
    tools = [
        {"name": name, "description": "A tool of the conformance suite", "inputSchema": tool.get("schema", empty)}
        for name, tool in OFFERED["tools"].items()
    ]
    tools += [{"name": name, "description": "A tool that has come later", "inputSchema": empty} for name in ADDED]
    return types.ListToolsResult.model_validate({"tools": tools, **FRESH})


async def call_tool(context, params):
    """Does what the data says."""
    tool = OFFERED["tools"].get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}")
    able = context.session.client_capabilities
    missing = {name: {} for name in tool.get("needs", {}) if not able or getattr(able, name) is None}
    if missing:
        raise MCPError(-32021, "the client cannot do what this needs", {"requiredCapabilities": missing})
    asked, words = question(tool, context, params)
    if asked is not None:
        return asked
    words = {**(params.arguments or {}), **words}
    for done in tool.get("progress", []):
        await context.session.report_progress(done, 100)
    for line in tool.get("logs", []):
        await context.session.send_log_message("info", line, related_request_id=context.request_id)
    if "asks" in tool:
        words["given"] = await ask(context, filled(tool["asks"], words))
    if "changes" in tool:
        ADDED[:] = [] if ADDED else ["test_added"]
        await BUS.publish(CHANGES[tool["changes"]]())
    return types.CallToolResult.model_validate(filled(tool["answer"], words))


async def ask(context, request):
    """The answer of a client of the older revision, as text."""
    request = types.server_request_adapter.validate_python(request)
    related = ServerMessageMetadata(related_request_id=context.request_id)
    kinds = {"elicitation/create": types.ElicitResult, "sampling/createMessage": types.CreateMessageResult}
    answer = await context.session.send_request(request, kinds[request.method], metadata=related)
    return answer.model_dump_json(by_alias=True, exclude_none=True)


async def list_resources(context, params):
    """The resources."""
    listed = [{"uri": uri, "name": uri, "mimeType": it["mimeType"]} for uri, it in OFFERED["resources"].items()]
    return types.ListResourcesResult.model_validate({"resources": listed, **FRESH})


async def list_templates(context, params):
    """The templates."""
    listed = [{"uriTemplate": uri, "name": uri, "mimeType": it["mimeType"]} for uri, it in OFFERED["templates"].items()]
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": listed, **FRESH})


async def read_resource(context, params):
    """A resource, or what a template makes of the URI."""
    uri = str(params.uri)
    contents = OFFERED["resources"].get(uri)
    for template, made in OFFERED["templates"].items():
        found = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template)), uri)
        if found:
            contents = {"uri": uri, **filled(made, found.groupdict())}
    if contents is None:
        is_newer = context.protocol_version >= "2026"
        raise MCPError(types.INVALID_PARAMS if is_newer else -32002, f"there is no resource {uri}", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": [contents], **FRESH})


async def subscribed(context, params):
    """Nothing ever changes."""
    return types.EmptyResult()


async def list_prompts(context, params):
    """The prompts."""
    prompts = []
    for name, prompt in OFFERED["prompts"].items():
        arguments = [{"name": argument, "required": True} for argument in prompt["arguments"]]
        prompts.append({"name": name, "description": "A prompt of the conformance suite", "arguments": arguments})
    return types.ListPromptsResult.model_validate({"prompts": prompts, **FRESH})


async def get_prompt(context, params):
    """A prompt with its arguments filled in."""
    prompt = OFFERED["prompts"].get(params.name)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name}")
    asked, words = question(prompt, context, params)
    words = {**(params.arguments or {}), **words}
    return asked or types.GetPromptResult.model_validate({"messages": filled(prompt["messages"], words)})


async def complete(context, params):
    """Three values that begin with what was typed."""
    values = [f"{params.argument.value}{end}" for end in ("1", "2", "3")]
    return types.CompleteResult.model_validate({"completion": {"values": values, "total": 3, "hasMore": False}})


def server():
    """The server of both revisions."""
    with warnings.catch_warnings():
        # The older revision has levels of log messages.
        warnings.simplefilter("ignore")
        return Server(
            "reference",
            version="1",
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read_resource,
            on_subscribe_resource=subscribed,
            on_unsubscribe_resource=subscribed,
            on_subscriptions_listen=ListenHandler(BUS),
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=subscribed,
        )


if __name__ == "__main__":
    uvicorn.run(server().streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
