"""Does a client observe the same of a server behind toolcrib as of the server itself?

    python3 conformance/mcp/parity/run.py PATH/TO/toolcrib [--show]

A raw client asks `server.py` directly, and through toolcrib in each mode: lists, calls by name and through `tool_exec`, resources,
prompts, completions, questions, notifications, and a tool that appears later. So it does for each transport of the client and of
the server, in both revisions; and over stdio the official clients for Python and TypeScript, where they are installed. Each value is
one observable. A difference passes only if `KNOWN` has it, with a sentence of `docs/mcp.md`. Exit code 1 when another one is found,
or an entry matches nothing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs/mcp.md"
sys.path[:0] = [str(HERE), str(HERE.parent)]

import server as own
from clients import NEWER, OLDER, PATIENCE, OverHttp, OverStdio
from serving import served

# Places of differences, and the words of docs/mcp.md that explain them.
KNOWN = [
    (r"/call/ask_.*/(message|systemPrompt|includeContext)$", "A question begins with the server that asks"),
    (r"ask_roots/heard/roots/list/0$|error_42/error/data$", "A value that means the same as none is left out"),
    (r"/call/(arguments|repaired)/", "Arguments that do not fit"),
    (r"/tool_exec//call/(error_|failed)", "an error is its envelope"),
    (r"/tool_exec//call/structured.*/content", "data is text too"),
    (r"/tool_exec//call/(blocks|structured)/result/xOwn", "unknown keys of the result are dropped"),
    (r"/about/icons/0/xOwn", "the fields of the protocol alone"),
]

CHECKS = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parents[2] / "target")) / "checks"


def without_ours(value):
    """A value without the keys that toolcrib adds to `_meta`, and without an empty `_meta`."""
    if isinstance(value, list):
        return [without_ours(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: without_ours(item) for key, item in value.items() if not key.startswith("toolcrib/")}
    if kept.get("_meta") == {}:
        del kept["_meta"]
    return kept


def flat(value, place=""):
    """Each observable of a value, by its place."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flat(item, f"{place}/{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from flat(item, f"{place}/{index}")
    else:
        yield place, value


def observed(client, run):
    """What a client observes; `run` calls a tool."""
    names = [tool["name"] for tool in own.tools() if tool["name"] not in ("typed", "appear")]
    seen = {f"call/{name}": run(client, name, {}) for name in names}
    seen["call/arguments"] = run(client, "echo", {"a": None, "b": [1, 2.0, 1e30], "c": {"d": ""}, "é": "\u2028"})
    seen["call/repaired"] = run(client, "typed", {"n": "7", "when": "soon"})
    return seen


def lists(client):
    seen = {}
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        result = client.ask(method).get("result", {})
        for key, items in result.items():
            if isinstance(items, list):
                theirs = [item for item in items if not str(item.get("uri", item.get("uriTemplate", ""))).startswith(("toolcrib://", "skill://"))]
                seen[f"{method}/{key}"] = theirs
    reference = {"type": "ref/prompt", "name": "p"}
    seen["resources/read"] = client.ask("resources/read", {"uri": "own://a"})
    seen["prompts/get"] = client.ask("prompts/get", {"name": "p", "arguments": {"x": "1"}})
    seen["completion/complete"] = client.ask("completion/complete", {"ref": reference, "argument": {"name": "x", "value": ""}})
    return {**seen, **said(client)}


def said(client):
    """What the server says of itself, and whether its words for models reach the client."""
    begun = (client.ask("server/discover") if client.revision == NEWER else client.begun)["result"]
    about = begun.get("_meta", {}).get("io.modelcontextprotocol/serverInfo") or begun["serverInfo"]
    return {
        "instructions": "Ask before you write." in begun.get("instructions", ""),
        "extensions": begun["capabilities"].get("extensions", {}).get(own.APPS),
        **{f"about/{key}": about.get(key) for key in own.OF_THE_SERVER},
    }


def listed(client):
    deadline = time.time() + PATIENCE
    while time.time() < deadline:
        all_tools, cursor = [], None
        while True:
            page = client.ask("tools/list", {"cursor": cursor} if cursor else {})["result"]
            all_tools += page["tools"]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        if all_tools:
            return {tool["name"]: tool for tool in all_tools}
        time.sleep(0.2)
    return {}


def compare(route, direct, behind):
    """The differences of a route, and the number of observables."""
    direct, behind = dict(flat(without_ours(direct))), dict(flat(without_ours(behind)))
    places = [place for place in {**direct, **behind}]
    missing = object()
    differ = [place for place in places if direct.get(place, missing) != behind.get(place, missing)]
    return [(f"{route}{place}", direct.get(place, "(absent)"), behind.get(place, "(absent)")) for place in differ], len(places)


def by_name(client, name, arguments):
    return client.call(name, arguments)


def by_exec(client, name, arguments):
    return client.call("tool_exec", {"op": name, "args": arguments})


def appeared(client, lists_tools):
    """What a client observes of a tool that comes during its session."""
    client.call("appear", {})
    announced = client.hears("notifications/tools/list_changed") if client.revision == OLDER and lists_tools else None
    deadline = time.time() + PATIENCE
    while "result" not in (called := client.call("late", {"a": 1})) and time.time() < deadline:
        time.sleep(0.2)
    return {"announced": announced, "called": called, "listed": listed(client).get("late") if lists_tools else None}


@contextmanager
def server(transport, revision):
    """Its command or address, and how toolcrib gets it."""
    command = [sys.executable, str(HERE / "server.py"), *(["--newer"] if revision == NEWER else [])]
    if transport == "stdio":
        yield command, f"{{ command = {json.dumps(command)} }}"
        return
    with subprocess.Popen([*command, "--http"], stdout=subprocess.PIPE, text=True) as process:
        address = f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        yield address, f"{{ url = {json.dumps(address)} }}"
        process.kill()


@contextmanager
def client(transport, target, revision):
    client = OverStdio(target, revision) if transport == "stdio" else OverHttp(target, revision)
    yield client
    client.end()


@contextmanager
def toolcrib(program, transport, folder, mode):
    if transport == "stdio":
        yield [program, "serve", "--stdio", folder, "--mode", mode]
    else:
        with served(program, folder, mode=mode) as address:
            yield address


def column(program, clients, servers, revision, modes):
    """The differences of one way to the server, and the number of observables."""
    with server(servers, revision) as (target, _), client(servers, target, revision) as direct:
        tools = listed(direct)
        expected = {**observed(direct, by_name), **lists(direct)}
        late = appeared(direct, True)
    ours = f"{clients}-{servers}-{revision[:4]}"
    differences, count = [], 0

    def check(route, wanted, seen):
        nonlocal differences, count
        found, number = compare(f"{ours}/{route}/", wanted, seen)
        differences, count = differences + found, count + number

    for mode in modes:
        with server(servers, revision) as (_, place), tempfile.TemporaryDirectory() as folder:
            toml = f"[[source]]\nserver = 'own'\nmcp = {place}\n[exec]\nallow = 'destructive'\n[exec.trust_hints]\nown = 'always'\n"
            Path(folder, "toolcrib.toml").write_text(toml)
            with toolcrib(program, clients, folder, mode) as target, client(clients, target, revision) as behind:
                theirs = listed(behind)
                check(mode, expected, {**observed(behind, by_name), **lists(behind)})
                if mode == "full":
                    check("full/tools", tools, theirs)
                if mode == "hybrid":
                    check("hybrid/tools", shown(tools), {name: tool for name, tool in shown(theirs).items() if name in tools})
                if mode == modes[-1]:
                    wanted = {name: seen for name, seen in expected.items() if name.startswith("call/")}
                    check("tool_exec", wanted, observed(behind, by_exec))
                lists_tools = mode == "full"
                check(f"{mode}/appeared", {name: seen if lists_tools or name == "called" else None for name, seen in late.items()}, appeared(behind, lists_tools))
    return ours, differences, count


def shown(tools):
    """What clients show people of these tools."""
    return {name: {key: tool.get(key) for key in ("title", "icons", "_meta")} for name, tool in tools.items()}


def observers():
    """The official clients, each with whether it speaks the newer revision: a program that is given the command of a server."""
    python = [sys.executable, str(HERE / "sdk.py")]
    if subprocess.run([*python[:1], "-c", "import mcp.client"], stderr=subprocess.DEVNULL).returncode == 0:
        yield "python-legacy", False, [*python, "legacy"]
        yield "python-auto", True, [*python, "auto"]
    node = shutil.which("node")
    if node and (CHECKS / "mcp/node_modules/.installed").exists():
        script = shutil.copy(HERE / "sdk.mjs", CHECKS / "mcp")
        asked = json.dumps({"calls": own.QUIET, "about": own.OF_THE_SERVER})
        yield "typescript-1", False, [node, script, "1", asked]
        yield "typescript-2", True, [node, script, "2", asked]


def by_sdk(program, name, is_newer, observer):
    """The same for an official client over stdio, in the mode `full`."""
    command = [sys.executable, str(HERE / "server.py"), *(["--newer"] if is_newer else [])]

    def seen(command):
        run = subprocess.run([*observer, *command], capture_output=True, text=True, timeout=4 * PATIENCE)
        return json.loads(run.stdout) if run.returncode == 0 else {"failed": run.stderr[-2000:]}

    def comparable(places):
        # A client of the newer revision may be greeted before the server behind toolcrib has started.
        return {place: value for place, value in places.items() if not (is_newer and place.startswith("about/"))}

    with tempfile.TemporaryDirectory() as folder:
        toml = f"[[source]]\nserver = 'own'\nmcp = {{ command = {json.dumps(command)} }}\n[exec]\nallow = 'destructive'\n[exec.trust_hints]\nown = 'always'\n"
        Path(folder, "toolcrib.toml").write_text(toml)
        differences, count = compare(f"{name}/", comparable(seen(command)), comparable(seen([program, "serve", "--stdio", folder, "--mode", "full"])))
    return name, differences, count


def main():
    program = str(Path(sys.argv[1]).resolve())
    columns = [
        (clients, servers, revision, ["full", "hybrid", "gateway"] if (clients, servers, revision) == ("stdio", "stdio", OLDER) else ["full"])
        for revision in (OLDER, NEWER) for clients in ("stdio", "http") for servers in ("stdio", "http")
    ]
    with ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(by_sdk, program, *observer) for observer in observers()]
        done = list(pool.map(lambda each: column(program, *each), columns)) + [client.result() for client in clients]
    for name, differences, count in done:
        print(f"{name}: {count} observables, {len(differences)} differ")
    return report([each for _, found, _ in done for each in found], sum(count for _, _, count in done))


def report(differences, count):
    docs = " ".join(DOCS.read_text().split())
    undocumented = [words for _, words in KNOWN if words not in docs]
    used, left = set(), []
    for place, was, now in differences:
        known = next((entry for entry in KNOWN if re.search(entry[0], place)), None)
        if known:
            used.add(known)
        else:
            left.append((place, was, now))
    for place, was, now in left if "--show" in sys.argv else left[:40]:
        print(f"differs: {place}: {json.dumps(was)[:160]} -> {json.dumps(now)[:160]}")
    for words in undocumented:
        print(f"docs/mcp.md does not say: {words}")
    unused = [entry[0] for entry in KNOWN if entry not in used]
    for place in unused:
        print(f"no difference is like this any longer: {place}")
    documented = len(differences) - len(left)
    print(f"parity: {count} observables, {count - len(differences)} equal, {documented} documented, {len(left)} different")
    return 1 if left or undocumented or unused else 0


if __name__ == "__main__":
    sys.exit(main())
