"""Measures import, payload and parse beside the conversion alone, and where it is installed beside LangChain's own.

    python bindings/python/measure.py
"""

import json
import subprocess
import sys
import time

import toolcrib


def milliseconds(work, times=20):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[times // 2] * 1000


def started(code):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "A value."} for n in range(6)}}
definitions = [
    {"name": f"get_thing_{n}", "description": f"Gets thing {n}.", "inputSchema": schema} for n in range(1000)
]
catalog = toolcrib.open(definitions)
text = catalog.payload("anthropic", surface="full").text
part = {"type": "tool_use", "id": "1", "name": "get_thing_7", "input": {"p1": "x"}}
response = json.dumps({"content": [part]})
imports = min(started("import toolcrib") for _ in range(5)) - min(started("pass") for _ in range(5))
print(f"import toolcrib                     {imports:9.2f} ms")
print(f"open 1,000 definitions              {milliseconds(lambda: toolcrib.open(definitions), 5):9.2f} ms")
print(f"payload of 1,000 tools              {milliseconds(lambda: catalog.payload('anthropic', surface='full')):9.2f} ms")
core = milliseconds(lambda: catalog._core.payload("anthropic", "full", None, []))
print(f"  of that Rust                      {core:9.2f} ms")
print(f"  of that the conversion            {milliseconds(lambda: json.loads(text)):9.2f} ms")
print(f"parse of one call                   {milliseconds(lambda: catalog.parse('anthropic', response), 200):9.3f} ms")
core = milliseconds(lambda: catalog._core.parse("anthropic", response), 200)
print(f"  of that Rust                      {core:9.3f} ms")
try:
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ImportError:
    sys.exit()
tools = [
    StructuredTool(name=one["name"], description=one["description"], args_schema=schema, func=print)
    for one in definitions
]
converted = milliseconds(lambda: [convert_to_openai_tool(tool) for tool in tools], 5)
print(f"LangChain's conversion of 1,000     {converted:9.2f} ms")
