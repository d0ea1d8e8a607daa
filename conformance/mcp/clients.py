"""Do the official clients for Python work with toolcrib's MCP transport?

    python3 conformance/mcp/clients.py PATH/TO/toolcrib

Every mode of the client, over stdio and over HTTP. Exit code 1 when anything is not as it should be.
"""

import asyncio
import sys
import warnings
from pathlib import Path

from mcp import MCPError, StdioServerParameters
from mcp.client import Client

import serving

MODES = ["auto", "legacy", "2026-07-28"]


def expect(condition, what):
    """Says what is wrong."""
    if not condition:
        raise AssertionError(what)


async def check_tools(client):
    tools = (await client.list_tools()).tools
    # The suite's fixtures may be there as well.
    ours = [tool.name for tool in tools if not tool.name.startswith(("test_", "json_schema_"))]
    expect(ours == ["tool_search", "tool_help", "tool_exec", "tool_batch"], f"tools: {ours}")
    marked = all(tool.annotations.read_only_hint is True for tool in tools if tool.name in ours[:2])
    expect(marked, f"not all of {ours} are marked as reading only")

    good = await client.call_tool("read_tool_doc", {"names": ["tool_0003"]})
    expect(not good.is_error and good.content[0].text.startswith("# tool_0003"), f"a doc: {good}")
    expect(good.structured_content is None, "a doc is sent twice")
    wrong = await client.call_tool("read_tool_doc", {"names": ["tool_003"]})
    expect(wrong.is_error and "tool_0003" in wrong.content[0].text, f"a wrong name: {wrong}")
    empty = await client.call_tool("read_tool_doc", {})
    expect(empty.is_error and empty.structured_content["error"]["code"] == "VALIDATION_ERROR", f"no name: {empty}")
    found = await client.call_tool("tool_search", {"query": "tool_0003"})
    expect(not found.is_error and "tool_0003" in found.content[0].text, f"a search: {found}")
    nothing = await client.call_tool("tool_search", {"query": "qzxv jjkw", "format": "json"})
    expect(nothing.structured_content["verdict"] == "no_match", f"a search for nothing: {nothing}")
    # Functions that are not listed can be called too.
    roots = await client.call_tool("list", {"limit": 50})
    expect(len(roots.structured_content["nodes"]) == 7, f"the roots: {roots}")
    await refused(client.call_tool("no_such_tool", {}), -32602)


async def refused(asked, code):
    """What is asked must be refused with this code."""
    try:
        answer = await asked
    except MCPError as problem:
        expect(problem.code == code, f"refused with {problem.code}, not {code}")
        return
    raise AssertionError(f"answered, not refused with {code}: {answer}")


async def check_resources(client):
    listed, cursor = [], None
    pages = 0
    while True:
        page = await client.list_resources(cursor=cursor)
        listed += page.resources
        pages += 1
        cursor = page.next_cursor
        if cursor is None:
            break
    addresses = [str(resource.uri) for resource in listed]
    expect(pages > 1 and len(set(addresses)) == len(addresses), f"{pages} pages, {len(addresses)} resources")
    expect(sum("/tool_" in address for address in addresses) == serving.TOOLS, "not every doc is listed once")
    first = await client.read_resource(addresses[0])
    expect(addresses[0].endswith("README.md") and first.contents[0].text.startswith("# "), f"the index: {first}")
    last = await client.read_resource(addresses[-1])
    expect(len(last.contents[0].text.encode()) == listed[-1].size, "a size is wrong")
    templates = (await client.list_resource_templates()).resource_templates
    expect(templates[0].uri_template == "toolcrib://tools/{name}.md", f"templates: {templates}")
    older = client.protocol_version < "2026"
    await refused(client.read_resource("toolcrib://tools/nothing.md"), -32002 if older else -32602)
    await refused(client.list_resources(cursor="no cursor"), -32602)


async def check_news(client, catalog, heard, over_http):
    """An edit of the catalog reaches the client, where its wire has a way."""
    doc = "toolcrib://tools/tool_0000.md"
    before = (await client.read_resource(doc)).contents[0].text
    if client.protocol_version >= "2026":
        async with client.listen(resources_list_changed=True, resource_subscriptions=[doc]) as news:
            catalog.write("Does better")
            kinds = {type(await asyncio.wait_for(anext(news), 20)).__name__ for _ in range(2)}
        expect(kinds == {"ResourcesListChanged", "ResourceUpdated"}, f"news: {kinds}")
    elif not over_http:
        await client.subscribe_resource(doc)
        catalog.write("Does better")
        kinds = {await asyncio.wait_for(heard.get(), 20) for _ in range(2)}
        expect(kinds == {"ResourceListChangedNotification", "ResourceUpdatedNotification"}, f"news: {kinds}")
    else:
        return
    after = (await client.read_resource(doc)).contents[0].text
    expect(before != after and "Does better" in after, "the doc is the old one")


async def check(server, mode, catalog, over_http):
    heard = asyncio.Queue()

    async def hear(message):
        name = type(message).__name__
        if name.endswith("Notification"):
            heard.put_nowait(name)

    async with Client(server, mode=mode, message_handler=hear, read_timeout_seconds=30) as client:
        expect((client.protocol_version == "2026-07-28") == (mode != "legacy"), client.protocol_version)
        # A client with a pinned version asks for nothing else beforehand.
        if mode != "2026-07-28":
            told = client.instructions
            expect("tool_help" in told and "Group 0" in told, f"instructions: {told}")
        await check_tools(client)
        await check_resources(client)
        await check_news(client, catalog, heard, over_http)


async def main(program):
    failures = 0
    for mode in MODES:
        for over in ["stdio", "http"]:
            with serving.catalog() as catalog:
                try:
                    if over == "stdio":
                        arguments = serving.stdio_arguments(catalog.path)
                        await check(StdioServerParameters(command=program, args=arguments), mode, catalog, False)
                    else:
                        with serving.served(program, catalog.path) as url:
                            await check(url, mode, catalog, True)
                    print(f"ok      python, {mode}, {over}")
                except BaseException as problem:
                    failures += 1
                    while isinstance(problem, BaseExceptionGroup):
                        problem = problem.exceptions[0]
                    print(f"FAILED  python, {mode}, {over}: {type(problem).__name__}: {problem}")
    return 1 if failures else 0


if __name__ == "__main__":
    # The older revision is what is tested.
    warnings.simplefilter("ignore")
    sys.exit(asyncio.run(main(str(Path(sys.argv[1]).resolve()))))
