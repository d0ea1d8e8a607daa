"""The pieces of a catalog: what each command writes, and what the functions answer."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import responses
from program import ROOT

MODES = ["full", "hybrid", "native", "gateway", "files"]
# Of every TAKEN'th tool, its calls are recorded.
TAKEN = 10


@dataclass(frozen=True)
class Catalog:
    name: str
    path: str
    profile: str | None = None  # of payloads and prompts
    whole: bool = False  # an example, with everything that the command line writes
    modes: tuple = ("full", "gateway")


EXAMPLES = [
    Catalog("github", "examples/github", "core", True, tuple(MODES)),
    Catalog("buildos", "examples/buildos", "planner", True, tuple(MODES)),
    Catalog("universal-agent", "examples/universal-agent", "creator", True, tuple(MODES)),
    Catalog("desk", "conformance/baseline/tools.json", None, True, tuple(MODES)),
]
DATA = [
    Catalog("bfcl", "tests/data/catalogs/bfcl-functions.json", modes=("gateway",)),
    Catalog("toucan", "tests/data/catalogs/toucan-nasty-servers.json"),
    Catalog("discord", "tests/data/catalogs/discord-openapi.json"),
    Catalog("box", "tests/data/catalogs/box-openapi.json"),
    Catalog("docker", "tests/data/catalogs/docker-registry-tools.json"),
    Catalog("livemcpbench", "tests/data/catalogs/livemcpbench-servers.json"),
    Catalog("livemcpbench-queries", "tests/data/retrieval/livemcpbench/catalog.json"),
    Catalog("metatool", "tests/data/retrieval/metatool/catalog.json"),
    Catalog("apibank", "tests/data/retrieval/toolret-apibank/catalog.json"),
    Catalog("tau2", "tests/data/tasks/tau2-tools.json", modes=tuple(MODES)),
    Catalog("notion", "tests/data/catalogs/notion-openapi.json", modes=tuple(MODES)),
    Catalog("nested", "tests/golden/nested/tools.json", modes=tuple(MODES)),
    Catalog("hostile", "tests/golden/hostile/tools.json", modes=tuple(MODES)),
]
CATALOGS = [DATA[0], *EXAMPLES, *DATA[1:]]


class Pieces:
    """Writes pieces below a folder, without what no two runs have in common."""

    def __init__(self, folder):
        self.folder = folder
        self.registry = None

    def put(self, name, text):
        if self.registry:
            text = text.replace(self.registry, "REGISTRY")
        text = re.sub(r'"trace_id":( ?)"tr_\w+"', r'"trace_id":\1"TRACE"', text)
        text = re.sub(r'"latency_ms":( ?)[\d.]+', r'"latency_ms":\g<1>0', text)
        # A file has at most 255 bytes of name.
        path = self.folder / "/".join(part[:200] for part in name.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def written(self, name, folder):
        """Puts every file of a folder."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{name}/{path.relative_to(folder).as_posix()}", path.read_bytes().decode())

    def answered(self, name, answer):
        code, output, _ = answer
        self.put(name, output + (f"exit code {code}\n" if code else ""))


def write(program, catalog, folder):
    pieces = Pieces(folder)
    scratch = Path(program.environment["HOME"]) / catalog.name
    site = ["--site"] if catalog.whole or catalog.name in ("notion", "nested", "hostile", "tau2") else []
    program.run("render", catalog.path, "--out", scratch / "render", *site)
    docs = scratch / "render" / "tools" if site else scratch / "render"
    tools = json.loads((docs / "registry.json").read_text())
    pieces.registry = tools["registry_version"]
    tools = tools["tools"]
    pieces.written("render", scratch / "render")
    if catalog.whole:
        commands(program, catalog, tools, pieces, scratch)
    with program.served(catalog.path, catalog.profile) as server:
        for mode in catalog.modes:
            for provider in responses.WIRES:
                body = server.bound("payload", provider, mode)
                pieces.put(f"payload/{mode}/{provider}.json", one_dialect(body))
            pieces.put(f"prompt/{mode}.md", server.bound("prompt", "anthropic", mode))
        for provider, wire in responses.WIRES.items():
            body = {"provider": provider, "response": wire(calls(tools))}
            pieces.put(f"parse/{provider}.json", server.post("/v1/parse", body))
        if catalog.name == "desk":
            recorded(server, pieces)
        for tool in tools:
            op = tool["op"]
            pieces.put(f"help/{op.replace('/', '_')}.json", server.post("/v1/tool_help", {"path": op}))
        for at, (function, arguments) in enumerate(questions(tools, 1 if catalog.whole else 8)):
            pieces.put(f"calls/{at:03}-{function}.json", server.post(f"/v1/{function}", arguments))


def recorded(server, pieces):
    """Reads the recorded and spoilt responses that fuzzing kept; their first byte chose the provider."""
    providers = list(responses.WIRES)
    for path in sorted((ROOT / "fuzz/corpus/responses").iterdir()):
        content = path.read_bytes()
        try:
            body = content[1:].decode()
            json.loads(body)
        except ValueError:
            continue
        provider = providers[content[0] % len(providers)]
        pieces.put(f"recorded/{path.name}.json", server.post("/v1/parse", f'{{"provider": "{provider}", "response": {body}}}'))


def commands(program, catalog, tools, pieces, scratch):
    """What the command line writes, beside `render`."""
    for profile in {None: 0, catalog.profile: 0}:
        workspace = scratch / f"seed-{profile}"
        chosen = ["--profile", profile] if profile else []
        seeded(program, catalog, workspace, chosen)
        pieces.written(f"seed-{profile}" if profile else "seed", workspace)
    chosen = ["--profile", catalog.profile] if catalog.profile else []
    for provider in ("openai", "anthropic", "mcp"):
        options = ["--provider", provider, *program.mode_options("native"), *chosen]
        pieces.answered(f"cli/payload-{provider}.json", program.of(catalog.path, "payload", *options))
    pieces.answered("cli/prompt.md", program.of(catalog.path, "prompt", *program.mode_options("files"), *chosen))
    response = json.dumps(responses.anthropic(calls(tools)))
    pieces.answered("cli/parse.json", program.of(catalog.path, "parse", "--provider", "anthropic", given=response))
    for at, (function, arguments) in enumerate(questions(tools, 12)):
        given = json.dumps(arguments)
        if program.names_catalog:
            answer = program.run("call", function, given, "--catalog", catalog.path)
        else:
            answer = program.run("call", function, given, catalog.path)
        pieces.answered(f"cli/{at:02}-{function}.json", answer)


def seeded(program, catalog, workspace, chosen):
    if program.names_catalog:
        program.run("seed", workspace, "--catalog", catalog.path, *chosen)
    else:
        program.run("seed", workspace, catalog.path, *chosen)


def one_dialect(text):
    """A payload with the words that stay."""
    text = text.replace('"surface":"core"', '"mode":"gateway"', 1).replace('"surface":', '"mode":', 1)
    return text.replace('"notes":["no tool is bound in full; this is the surface gateway"]', '"notes":[]')


def fitting(tool):
    """Arguments for what the schema requires, by its types alone; most fit."""
    schema = tool.get("parameters_schema") or {}
    properties = schema.get("properties") or {}
    return {name: value(properties.get(name)) for name in schema.get("required") or []}


def value(schema):
    if not isinstance(schema, dict):
        return "a"
    for keyword in ("enum", "oneOf", "anyOf"):
        if schema.get(keyword):
            first = schema[keyword][0]
            return first if keyword == "enum" else value(first)
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type")
    values = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return values.get(kind[0] if isinstance(kind, list) else kind, "a")


def broken(tool):
    """Arguments that do not fit: the first as another type, one that is misspelled, one as text."""
    fit = fitting(tool)
    names = list(fit)
    wrong = {name: (given if at else {"wrong": 1}) for at, (name, given) in enumerate(fit.items())}
    if names:
        wrong[names[-1][:-1] or "x"] = wrong.pop(names[-1])
    return wrong


def calls(tools):
    """Calls of a response: arguments that fit, as text, broken ones, and a tool that there is not."""
    made = []
    for tool in tools[:: max(1, len(tools) // 4)]:
        name = tool["safe_name"]
        made += [(name, fitting(tool)), (name, broken(tool)), (name, {"arguments": json.dumps(fitting(tool))})]
    return [*made, (tools[0]["safe_name"] + "s", {})]


def questions(tools, fewer):
    """Calls of functions, and their arguments."""
    sections = ["summary", "arguments", "examples", "policy", "schema", "all"]
    asked = [
        ("tool_help", {"path": "root"}), ("list", {"path": []}), ("list", {"path": ["Nowhere"]}),
        ("tool_exec", {"op": "no.such.op", "args": {}}), ("read_result", {"id": "none"}),
        ("tool_search", {"query": "water the plants on the balcony"}),
        ("tool_search", {"queries": ["create", "list everything", "delete it"], "limit": 3}),
        ("tool_batch", {"ops": [{"op": tools[0]["op"], "args": {}}, {"op": tools[-1]["op"], "args": {"x": 1}}]}),
    ]
    for category in sorted({tuple(tool["categories"][:1]) for tool in tools if tool.get("categories")})[:4]:
        asked += [("list", {"path": list(category)}), ("search_tool_by_category", {"category": category[0], "query": "list"})]
    for at, tool in enumerate(tools[:: max(1, len(tools) // TAKEN)]):
        op, name = tool["op"], tool["tool_name"]
        words = tool.get("short_description") or name.replace("_", " ")
        asked += [
            ("tool_search", {"query": words}),
            ("search_nodes", {"query": words}),
            ("expand_tool", {"tool_id": op}),
            ("read_tool_doc", {"name": name, "section": sections[at % len(sections)]}),
            ("tool_help", {"path": op, "format": "full", "include_schemas": True}),
            ("tool_help", {"path": op.rpartition(".")[0] or "root"}),
            ("tool_exec", {"op": op, "args": {}}),
            ("tool_exec", {"op": op, "args": broken(tool)}),
            ("tool_exec", {"op": op, "args": fitting(tool), "dry_run": True}),
        ]
    return asked[::fewer]
