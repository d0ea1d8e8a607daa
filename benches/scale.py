"""What toolcrib costs at 100 to 100,000 tools, beside programs that do less, in one run.

    cargo build --profile dist --bin toolcrib && cargo build --profile dist -p toolcrib-benches --bin bare_mcp
    python3 benches/scale.py [--programs target/dist] [--peers FOLDER] [--catalogs FOLDER] [--rounds 7] [SIZE ...]

A catalog is `tSIZE.json` in the folder of catalogs, a list of definitions; one that is missing is made here. The other
programs are `bare_mcp` (`benches/scale/bare.rs`), mcp-compressor, FastMCP and mcp2cli, as far as the folders have them; the first
line names those that are missing. Programs take turns; figures are medians of the rounds. Rendering is measured where temporary files are: `TMPDIR=/dev/shm` takes
the disk out of it.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

QUERIES = ["open an issue", "list users", "send a message", "delete a file", "what is the weather", "create invoice"]


def tool(index):
    """One tool of a catalog that is made here."""
    about = "Argument {} of the operation, which says how thing {} is looked up"
    properties = {
        f"argument_{number}": {"type": "string", "description": about.format(number, index)} for number in range(8)
    }
    return {
        "name": f"look_up_{index}",
        "description": f"Looks up thing {index} in the records of group {index % 40}. Use it when a question is about such"
        " a thing and nothing more particular is at hand.",
        "category": f"Group {index % 40}",
        "parameters": {"type": "object", "properties": properties, "required": ["argument_0", "argument_1"]},
    }


class Client:
    """One server over stdio."""

    def __init__(self, command):
        self.began, self.id = time.perf_counter(), 0
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **pipes)
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self.write({"method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params=None):
        self.id += 1
        self.write({"id": self.id, "method": method, **({"params": params} if params is not None else {})})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError(f"{self.process.args[0]} has ended")
            if b'"id":%d' % self.id in line[:60] or b'"id":%d' % self.id in line[-60:] or json.loads(line).get("id") == self.id:
                return line

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(timeout=60)


def served(catalog):
    """The catalog as toolcrib takes it: above 10,000 tools in several files, since one of 64 MiB is refused."""
    folder = catalog.with_name("tools")
    return str(folder if folder.exists() else catalog)


def start(command, settles):
    """Milliseconds to the list of tools, and MiB then and later."""
    client = Client(command)
    client.ask("tools/list")
    took, memory = 1000 * (time.perf_counter() - client.began), client.memory()
    time.sleep(settles)
    later = client.memory()
    client.end()
    return took, memory, later


def starts(arguments, catalog, size):
    serve = [arguments.toolcrib, "serve", "--stdio", served(catalog)]
    bare = [arguments.bare, str(catalog)]
    commands = {"toolcrib": serve}
    if arguments.bare:
        commands["bare rmcp"] = bare
    if arguments.bare and arguments.compressor:
        commands["mcp-compressor"] = [arguments.compressor, "--", *bare]
    if arguments.python and size <= 10_000:
        commands["FastMCP"] = [arguments.python, str(Path(__file__).parent / "scale/fastmcp_server.py"), str(catalog)]
    start(serve, 1)
    runs = {name: [] for name in commands}
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            # A server makes its search indexes after its first answers.
            runs[name].append(start(command, 1 + size / 5_000))
    for name, figures in runs.items():
        took, memory, later = (statistics.median(column) for column in zip(*figures))
        print(f"{size:7}  {name:21} {took:8.1f} ms to tools/list {memory:7.0f} MiB then {later:7.0f} MiB later", flush=True)


def timed(command, rounds, **more):
    """Median milliseconds of the wall and of the processor."""
    walls, processors = [], []
    for _ in range(rounds):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, capture_output=True, **more)
        walls.append(1000 * (time.perf_counter() - began))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processors.append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return statistics.median(walls), statistics.median(processors)


def one_shots(arguments, catalog, size):
    name = json.loads(catalog.read_text())[size // 2]["name"]
    on = [served(catalog)]
    commands = {
        "toolcrib call": [arguments.toolcrib, "call", "read_tool_doc", json.dumps({"name": name}), *on],
        "toolcrib search": [arguments.toolcrib, "search", QUERIES[0], *on],
    }
    if arguments.bare and arguments.mcp2cli and size <= 10_000:
        commands["mcp2cli --search"] = [arguments.mcp2cli, "--mcp-stdio", f"{arguments.bare} {catalog}", "--search", "issue"]
    for name, command in commands.items():
        wall, processor = timed(command, arguments.rounds)
        print(f"{size:7}  {name:21} {wall:8.1f} ms, {processor:.1f} ms of processor", flush=True)


def renders(arguments, catalog, size):
    """Each round has a folder of its own: a file system that has just deleted thousands of files is slow to make new ones."""
    script = str(Path(__file__).parent / "scale/pages.py")
    with tempfile.TemporaryDirectory() as place:

        def render(to, rounds=1):
            return timed([arguments.toolcrib, "render", "--out", f"{place}/{to}", served(catalog)], rounds)

        ways = {
            "render": render,
            "a script in Python": lambda to: timed(["python3", script, str(catalog), f"{place}/{to}"], 1),
        }
        figures = {way: [] for way in ways}
        for number in range(arguments.rounds):
            for place_of_way, (way, work) in enumerate(ways.items()):
                figures[way].append(work(f"docs{place_of_way}-{number}"))
        out = Path(place) / "docs0-0"
        again, of_processor = render(out.name, rounds=arguments.rounds)
        walked = []
        for _ in range(arguments.rounds):
            began = time.perf_counter()
            files = [entry for folder, _, names in os.walk(out) for entry in map(Path(folder).joinpath, names)]
            total = sum(os.stat(file).st_size for file in files)
            walked.append(1000 * (time.perf_counter() - began))
        contents = {file.relative_to(out): file.read_bytes() for file in files}
        figures["the same bytes alone"] = []
        for number in range(arguments.rounds):
            copy = Path(place) / f"copy{number}"
            for folder in {copy / name.parent for name in contents}:
                folder.mkdir(parents=True, exist_ok=True)
            began = time.perf_counter(), time.process_time()
            for name, content in contents.items():
                with open(copy / name, "wb") as file:
                    file.write(content)
            took = time.perf_counter() - began[0], time.process_time() - began[1]
            figures["the same bytes alone"].append([1000 * seconds for seconds in took])
    for way, columns in figures.items():
        wall, processor = (statistics.median(column) for column in zip(*columns))
        print(f"{size:7}  {way:21} {wall:8.1f} ms, {processor:.1f} ms of processor", flush=True)
    walk = f"a walk takes {statistics.median(walked):.1f} ms, {total / 1e6:.1f} MB"
    print(f"{size:7}  nothing changed       {again:8.1f} ms, {of_processor:.1f} ms of processor; {walk}", flush=True)


def searches(arguments, catalog, size):
    def tool_search(query):
        return {"name": "tool_search", "arguments": {"query": query}}

    serve = [arguments.toolcrib, "serve", "--stdio", "--mode", "gateway", served(catalog)]
    clients = {"toolcrib": (serve, tool_search)}
    if arguments.bare:
        clients["bare rmcp"] = ([arguments.bare, str(catalog)], lambda query: {"name": "search", "arguments": {"query": query}})
    if arguments.python and size <= 10_000:
        command = [arguments.python, str(Path(__file__).parent / "scale/fastmcp_server.py"), str(catalog), "--search"]
        clients["FastMCP"] = (command, lambda query: {"name": "search_tools", "arguments": {"query": query}})
    for name, (command, asked) in clients.items():
        client = Client(command)
        began = time.perf_counter()
        client.ask("tools/call", asked(QUERIES[0]))
        first, later = 1000 * (time.perf_counter() - began), []
        for number in range(60 if name == "FastMCP" else 600):
            began = time.perf_counter()
            client.ask("tools/call", asked(f"{QUERIES[number % len(QUERIES)]} {number}"))
            later.append(1000 * (time.perf_counter() - began))
        client.end()
        print(f"{size:7}  search, {name:13} {first:8.1f} ms at first, then {statistics.median(later):.3f} ms, at worst 1 % {statistics.quantiles(later, n=100)[-1]:.3f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[100, 1_000, 10_000])
    parser.add_argument("--programs", type=Path, default=Path("target/dist"))
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--catalogs", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    arguments.toolcrib = str((arguments.programs / "toolcrib").resolve())
    bare = (arguments.programs / "bare_mcp").resolve()
    arguments.bare = str(bare) if bare.exists() else None

    def peer(name):
        return shutil.which(name, path=str(arguments.peers.absolute())) if arguments.peers else None

    arguments.compressor, arguments.mcp2cli = peer("mcp-compressor"), peer("mcp2cli")
    arguments.python = peer("python3") if peer("fastmcp") else None
    peers = {"bare_mcp": arguments.bare, "mcp-compressor": arguments.compressor, "FastMCP": arguments.python, "mcp2cli": arguments.mcp2cli}
    print("missing:", ", ".join(name for name, at in peers.items() if not at) or "none", flush=True)
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as place:
            catalog = Path(place) / "tools.json"
            known = arguments.catalogs and arguments.catalogs / f"t{size}.json"
            tools = json.loads(known.read_text()) if known and known.exists() else [tool(index) for index in range(size)]
            tools = tools["tools"] if isinstance(tools, dict) else tools
            catalog.write_text(json.dumps(tools))
            if size > 10_000:
                catalog.with_name("tools").mkdir()
                for part in range(0, size, 10_000):
                    (catalog.with_name("tools") / f"{part:07}.json").write_text(json.dumps(tools[part:part + 10_000]))
            for part in [starts, one_shots, searches, renders]:
                part(arguments, catalog, size)


if __name__ == "__main__":
    main()
