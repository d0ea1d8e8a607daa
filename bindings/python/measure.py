"""Measures import, open, payload and parse beside the conversion alone, and beside what frameworks and SDKs need to convert as
many tools. With a wheel, also its parts, and the time from its installation to the first payload.

    python bindings/python/measure.py [WHEEL]
"""

import json
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import toolcrib

ROOT = Path(__file__).resolve().parents[2]


def milliseconds(work, times=20):
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return sorted(taken)[times // 2] * 1000


def started(code, python=sys.executable):
    began = time.perf_counter()
    subprocess.run([python, "-c", code], check=True)
    return (time.perf_counter() - began) * 1000


def told(subject, value, note=""):
    print(f"{subject:44}{value:10.3f} ms  {note}".rstrip())


schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "A value."} for n in range(6)}}
definitions = [{"name": f"get_thing_{n}", "description": f"Gets thing {n}.", "inputSchema": schema} for n in range(1000)]


def function(number):
    def get_thing(p0: str, p1: str, p2: str, p3: str, p4: str, p5: str) -> str:
        """Gets the thing."""
        return p0

    get_thing.__name__ = get_thing.__qualname__ = f"get_thing_{number}"
    return get_thing


functions = [function(number) for number in range(1000)]


def ours():
    imports = min(started("import toolcrib") for _ in range(7)) - min(started("pass") for _ in range(7))
    told("import toolcrib", imports)
    told("open 1,000 definitions", milliseconds(lambda: toolcrib.open(definitions), 5))
    told("open 1,000 functions", milliseconds(lambda: toolcrib.open(functions), 5))
    catalog = toolcrib.open(definitions)
    text = catalog.payload("anthropic", mode="full").text
    part = {"type": "tool_use", "id": "1", "name": "get_thing_7", "input": {"p1": "x"}}
    response = json.dumps({"content": [part]})
    beside(
        "payload of 1,000 tools",
        lambda: catalog.payload("anthropic", mode="full"),
        lambda: catalog._core.payload("anthropic", "full", None),
        lambda: json.loads(text),
    )
    entries = catalog._core.parse("anthropic", response)
    beside(
        "parse of one call",
        lambda: catalog.parse("anthropic", response),
        lambda: catalog._core.parse("anthropic", response),
        lambda: json.loads(entries),
    )


def beside(subject, whole, rust, conversion):
    took, core, converted = (milliseconds(work, 200) for work in (whole, rust, conversion))
    times = took / (core + converted)
    told(subject, took, f"{times:.2f} times Rust ({core:.3f}) and the conversion of the result ({converted:.3f})")


def langchain():
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    def structured(one):
        fields = {"name": one["name"], "description": one["description"]}
        return StructuredTool(**fields, args_schema=schema, func=print)

    tools = [structured(one) for one in definitions]
    told("LangChain: convert 1,000 tools", milliseconds(lambda: [convert_to_openai_tool(tool) for tool in tools], 5))
    told("LangChain: convert 1,000 functions", milliseconds(lambda: list(map(convert_to_openai_tool, functions)), 3))


def anthropic():
    from anthropic import beta_tool

    told("Anthropic SDK: 1,000 functions", milliseconds(lambda: [beta_tool(one).to_dict() for one in functions], 3))


def openai():
    import openai
    import pydantic

    fields = {f"p{n}": (str, pydantic.Field(description="A value.")) for n in range(6)}
    models = [pydantic.create_model(one["name"], **fields) for one in definitions]
    told("OpenAI SDK: 1,000 models", milliseconds(lambda: list(map(openai.pydantic_function_tool, models)), 3))


def google():
    from google.genai.types import FunctionDeclaration

    def convert():
        return [FunctionDeclaration.from_callable_with_api_option(callable=one) for one in functions]

    told("Google SDK: 1,000 functions", milliseconds(convert, 3))


def agents():
    from agents import function_tool

    told("OpenAI Agents SDK: 1,000 functions", milliseconds(lambda: list(map(function_tool, functions)), 3))


def pydantic_ai():
    from pydantic_ai import Tool

    told("Pydantic AI: 1,000 functions", milliseconds(lambda: [Tool(one).tool_def for one in functions], 3))


def installed(wheel):
    with zipfile.ZipFile(wheel) as parts:
        for part in sorted(parts.infolist(), key=lambda part: -part.compress_size)[:2]:
            sizes = f"{part.compress_size / 1e6:.1f} MB in the wheel, {part.file_size / 1e6:.1f} MB installed"
            print(f"{Path(part.filename).name:44}{sizes}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        first = f"import toolcrib; toolcrib.open({str(ROOT / 'examples/github')!r}).payload('anthropic', profile='core')"
        began = time.perf_counter()
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True)
        install = (time.perf_counter() - began) * 1000
        told("install the wheel", install)
        told("and to the first payload", install + started(first, python))


ours()
for measure in (langchain, anthropic, openai, google, agents, pydantic_ai):
    try:
        measure()
    except ImportError as missing:
        print(f"{measure.__name__}: not measured, {missing}")
if sys.argv[1:]:
    installed(sys.argv[1])
