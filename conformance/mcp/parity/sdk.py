"""What the official Python client observes of the server that a command starts, as JSON by place.

    python3 sdk.py MODE COMMAND...
"""

import asyncio
import json
import sys

from mcp import MCPError, StdioServerParameters
from mcp.client import Client

import server as own


async def seen(asked):
    """An answer as the client understands it, or the error that it raises."""
    try:
        return (await asked).model_dump(mode="json", by_alias=True, exclude_none=True)
    except MCPError as problem:
        return {"raised": type(problem).__name__, "code": problem.code, "message": str(problem)}
    except Exception as problem:
        return {"raised": type(problem).__name__}


async def observe(mode, command):
    async with Client(StdioServerParameters(command=command[0], args=command[1:]), mode=mode) as client:
        listed = await seen(client.list_tools())
        places = {f"tools/{tool['name']}": tool for tool in listed["tools"]}
        for name in own.QUIET:
            places[f"call/{name}"] = await seen(client.call_tool(name, {}))
        places["resources/read"] = await seen(client.read_resource("own://a"))
        places["prompts/get"] = await seen(client.get_prompt("p", {"x": "1"}))
        about = client.server_info.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {**places, **{f"about/{key}": about.get(key) for key in own.OF_THE_SERVER}}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(observe(sys.argv[1], sys.argv[2:]))))
