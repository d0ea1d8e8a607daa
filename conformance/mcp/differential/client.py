"""Makes the calls of a job with the official client for Python, and prints the answers.

    python3 client.py < JOB.json

A job is `{"mode": ..., "connections": [{"command": [...] or "url": ..., "calls": [{"id", "name", "arguments"}]}]}`. An answer
is `{"id", "result" or "error", "notifications", "ms"}`, as the client got it from the wire, with the time since it began to
connect. A connection with `list` gets the list of tools as the answer with this id.
"""

import asyncio
import json
import sys
import time
import warnings

from mcp import MCPError, StdioServerParameters
from mcp.client import Client

# Seconds that a call may take: a server that starts late is waited for.
SECONDS = 90


def plain(message):
    """A message as the JSON that came: fields that were not sent are left out."""
    return message.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def answer(client, call, heard):
    """The answer to one call, with the notifications that came before it."""
    async def progress(*told):
        heard.append(["progress", list(told)])

    del heard[:]
    got = {"id": call["id"]}
    try:
        result = await client.call_tool(call["name"], call["arguments"], progress_callback=progress)
        got["result"] = plain(result)
    except MCPError as problem:
        got["error"] = plain(problem.error)
    except Exception as problem:
        got["error"] = {"client": f"{type(problem).__name__}: {problem}"}
    got["notifications"] = list(heard)
    return got


async def until_ready(client, names):
    """Waits for tools of servers that start late."""
    for name in names or []:
        for _ in range(SECONDS):
            if not (await client.call_tool("read_tool_doc", {"name": name})).is_error:
                break
            await asyncio.sleep(1)


async def list_tools(client):
    """Reads the list, by whose schemas the client checks results."""
    page = await client.list_tools()
    tools = list(page.tools)
    while page.next_cursor:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += page.tools
    return tools


async def answers(connection, mode):
    heard = []

    async def hear(message):
        if type(message).__name__ == "LoggingMessageNotification":
            heard.append(["message", plain(message.params)])

    if "url" in connection:
        server = connection["url"]
    else:
        command, *args = connection["command"]
        server = StdioServerParameters(command=command, args=args, env=connection.get("env"), cwd=connection.get("cwd"))
    got, began = [], time.monotonic()

    def add(answer):
        got.append({**answer, "ms": round((time.monotonic() - began) * 1000)})

    try:
        async with Client(server, mode=mode, message_handler=hear, read_timeout_seconds=SECONDS) as client:
            await until_ready(client, connection.get("ready"))
            tools = await list_tools(client)
            if "list" in connection:
                add({"id": connection["list"], "result": {"tools": [plain(tool) for tool in tools]}})
            for call in connection["calls"]:
                add(await answer(client, call, heard))
    except BaseException as problem:
        while isinstance(problem, BaseExceptionGroup):
            problem = problem.exceptions[0]
        asked = [{"id": connection["list"]}] if "list" in connection else []
        missing = [*asked, *connection["calls"]][len(got):]
        for call in missing:
            add({"id": call["id"], "error": {"client": f"{type(problem).__name__}: {problem}"}})
    return got


async def main():
    job = json.load(sys.stdin)
    got = await asyncio.gather(*(answers(connection, job["mode"]) for connection in job["connections"]))
    json.dump([one for many in got for one in many], sys.stdout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(main())
