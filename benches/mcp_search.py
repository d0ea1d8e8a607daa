#!/usr/bin/env python3
"""How long does a search through MCP take: the first one after the start of `toolcrib serve --stdio`, and one of many?

    cargo build --release
    python3 benches/mcp_search.py CATALOG... [--program target/release/toolcrib] [--queries FILE...] [--searches 1000]

A first search is timed from the start of the process, five times after one that fills the cache; the others at a server that
runs. Queries are lines of JSON with `query`, as `toolcrib eval` takes them; by default those of `examples/`.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

PACKAGE = pathlib.Path(__file__).parent.parent
CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Server:
    def __init__(self, program, catalog):
        command = [program, "serve", "--stdio", catalog]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self.answers = os.fdopen(self.process.stdout.fileno(), "rb", buffering=1 << 16, closefd=False)
        self.ask(0, "initialize", CLIENT)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, id, method, params):
        self.send({"id": id, "method": method, "params": params})
        while f'"id":{id},'.encode() not in (line := self.answers.readline()) and f'"id":{id}}}'.encode() not in line:
            assert line, "the server has ended"
        return line

    def search(self, id, query):
        answer = self.ask(id, "tools/call", {"name": "tool_search", "arguments": {"query": query}})
        assert b'"result"' in answer, answer[:300]

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


def measure(program, catalog, queries, searches):
    def first():
        start = time.perf_counter()
        server = Server(program, catalog)
        server.search(1, queries[0])
        taken = time.perf_counter() - start
        server.end()
        return taken

    filled = first()
    firsts = [first() for _ in range(5)]
    server = Server(program, catalog)
    taken = []
    for number in range(2 * searches):
        start = time.perf_counter()
        server.search(number + 1, queries[number % len(queries)])
        taken.append(time.perf_counter() - start)
    server.end()
    middle = statistics.median(taken[searches:])
    print(
        f"{catalog}: first search {statistics.median(firsts) * 1e3:.0f} ms after the start"
        f" ({filled * 1e3:.0f} ms without a cache), then {middle * 1e3:.3f} ms at the median"
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("catalogs", nargs="+")
    parser.add_argument("--program", default="target/release/toolcrib")
    parser.add_argument("--queries", nargs="+", default=sorted(PACKAGE.glob("examples/*/queries.jsonl")))
    parser.add_argument("--searches", type=int, default=1000)
    options = parser.parse_args()
    lines = [line for file in options.queries for line in pathlib.Path(file).read_text().splitlines()]
    queries = [json.loads(line)["query"] for line in lines]
    for catalog in options.catalogs:
        measure(options.program, catalog, queries, options.searches)


if __name__ == "__main__":
    main()
