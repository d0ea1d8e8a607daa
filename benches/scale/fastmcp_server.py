"""The same tools behind FastMCP, with its own search. Takes the path of a JSON array of definitions."""

import json
import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.server.transforms.search import BM25SearchTransform
from fastmcp.tools import Tool


class Listed(Tool):
    async def run(self, arguments):
        return {}


server = FastMCP("tools", transforms=[BM25SearchTransform()] if "--search" in sys.argv else [])
for definition in json.loads(Path(sys.argv[1]).read_text()):
    schema = definition.get("parameters") or {"type": "object"}
    server.add_tool(Listed(name=definition["name"], description=definition["description"], parameters=schema))
server.run(show_banner=False)
