"""Do chained calls and long results work through toolcrib for the official Python client?

    python3 conformance/mcp/results.py PATH/TO/toolcrib

A shop is an MCP server behind toolcrib. A task of five calls, each with a value from the result before it, is one request in a
batch. And a result beyond the limit is read whole in both ways: by `read_result` with its cursor, and as the resource of its link.
Exit code 1 when anything is not as it should be.
"""

import asyncio
import json
import sys
import tempfile
import warnings
from pathlib import Path

SERVER = len(sys.argv) > 1 and sys.argv[1] == "--shop"
LIMIT = 2000
ROWS = 3000


def shop():
    """The tools, each with its arguments and what it does."""
    state = {}

    def put(kind, value):
        state[f"{kind}-{len(state) + 17}"] = value
        return list(state)[-1]

    text = {"type": "string"}
    return {
        "find_customer": ({"name": text}, lambda a: {"found": [{"id": put("customer", a["name"]), "name": a["name"]}]}),
        "create_cart": ({"customer": text}, lambda a: {"cart": {"key": put("cart", state[a["customer"]])}}),
        "add_item": ({"cart": text, "item": text}, lambda a: {"line": put("line", [state[a["cart"]], a["item"]])}),
        "create_order": ({"line": text}, lambda a: {"order": {"number": put("order", state[a["line"]])}}),
        "get_order": ({"order": text}, lambda a: {"order": a["order"], "of": state[a["order"]][0], "item": state[a["order"]][1]}),
        "list_rows": ({}, lambda a: {"rows": [{"number": number, "text": f"row {number}"} for number in range(ROWS)]}),
    }


def serve():
    """Speaks MCP over the standard streams."""
    tools = shop()
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        answer, params = {}, asked.get("params", {})
        if asked["method"] == "initialize":
            answer["result"] = {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"},
            }
        elif asked["method"] == "tools/list":
            answer["result"] = {"tools": [
                {
                    "name": name, "description": name.replace("_", " ").capitalize() + ".",
                    "inputSchema": {"type": "object", "properties": fields, "required": list(fields)},
                }
                for name, (fields, _) in tools.items()
            ]}
        elif asked["method"] == "tools/call":
            result = tools[params["name"]][1](params.get("arguments", {}))
            answer["result"] = {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
        else:
            answer["error"] = {"code": -32601, "message": "there is no such method"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)


def expect(condition, what):
    """Says what is wrong."""
    if not condition:
        raise AssertionError(what)


async def check_chain(client):
    def source(place):
        return {"$from": place}

    calls = [
        {"op": "find_customer", "args": {"name": "Ada"}},
        {"op": "create_cart", "args": {"customer": source("0.result.found[0].id")}},
        {"op": "add_item", "args": {"cart": source("1.result.cart.key"), "item": "lamp"}},
        {"op": "create_order", "args": {"line": source("2.result.line")}},
        {"op": "get_order", "args": {"order": source("3.result.order.number")}},
    ]
    done = await client.call_tool("tool_batch", {"calls": calls})
    expect(not done.is_error and done.structured_content["failed"] == 0, f"the batch: {done}")
    last = done.structured_content["results"][4]["result"]
    expect((last["of"], last["item"]) == ("Ada", "lamp"), f"the last call: {last}")


async def check_rest(client):
    """All rows, by the cursor and by the link."""
    begun = await client.call_tool("tool_exec", {"op": "list_rows", "args": {}})
    shown = begun.structured_content["result"]["rows"]
    whole = [{"number": number, "text": f"row {number}"} for number in range(ROWS)]
    expect(0 < len(shown) < ROWS and shown == whole[: len(shown)], f"the beginning: {len(shown)} rows")
    expect(len(begun.content[0].text) <= LIMIT, f"the beginning has {len(begun.content[0].text)} characters")
    links = [block for block in begun.content if block.type == "resource_link"]
    expect(len(links) == 1, f"the links: {links}")
    rest = (await client.read_resource(links[0].uri)).contents[0]
    expect(rest.mime_type == "application/json" and shown + json.loads(rest.text) == whole, "the link has other rows")
    cursor, rows, parts = str(links[0].uri).rsplit("/", 1)[1], list(shown), 0
    while cursor:
        part = await client.call_tool("read_result", {"cursor": cursor})
        rows += json.loads(part.content[0].text)
        end = part.content[-1].text
        cursor, parts = end.removeprefix("next ") if end.startswith("next ") else None, parts + 1
    expect(rows == whole, f"{parts} parts have {len(rows)} rows")
    return parts


async def main(program):
    from mcp import StdioServerParameters
    from mcp.client import Client

    failures = 0
    for mode in ["auto", "legacy"]:
        with tempfile.TemporaryDirectory() as folder:
            command = json.dumps([sys.executable, str(Path(__file__).resolve()), "--shop"])
            (Path(folder) / "toolcrib.toml").write_text(
                f'[exec]\nallow = "write"\nresult_bytes = {LIMIT}\n\n[[source]]\nserver = "shop"\nmcp = {{ command = {command} }}\n'
            )
            server = StdioServerParameters(command=program, args=["serve", "--stdio", "--mode", "gateway", folder])
            try:
                async with Client(server, mode=mode, read_timeout_seconds=60) as client:
                    await client.list_tools()
                    await check_chain(client)
                    parts = await check_rest(client)
                print(f"ok      results, {mode}: five calls in one batch; the rest by one link and in {parts} parts")
            except BaseException as problem:
                failures += 1
                while isinstance(problem, BaseExceptionGroup):
                    problem = problem.exceptions[0]
                print(f"FAILED  results, {mode}: {type(problem).__name__}: {problem}")
    return 1 if failures else 0


if __name__ == "__main__":
    if SERVER:
        serve()
    else:
        # The older revision is what is tested.
        warnings.simplefilter("ignore")
        sys.exit(asyncio.run(main(str(Path(sys.argv[1]).resolve()))))
